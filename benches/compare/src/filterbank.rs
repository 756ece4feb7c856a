//! A bank of filters over a signal: how loud what passes each of them is, and how far that is from
//! what was wanted.

use std::sync::Arc;

use pointful::prelude::*;
use rayon::prelude::*;

use crate::{Failure, Inputs, Task};

/// A moment.
#[derive(Clone, Copy, IndexSet)]
pub struct Time(usize);

/// A filter.
#[derive(Clone, Copy, IndexSet)]
pub struct Band(usize);

/// How far a filter looks back.
#[derive(Clone, Copy, IndexSet)]
pub struct Tap(usize);

/// The mean over the filters of the squared difference between the logarithm of the power of what
/// they let through and its target. Before the signal there is silence.
#[pointful]
pub fn loss(
    filters: &Table<(Band, Tap), f32>,
    signal: &Table<Time, f32>,
    targets: &Table<Band, f32>,
) -> f32 {
    mean(for b in Band {
        let power = mean(for t in Time {
            let passed = sum(for k in Tap {
                filters[b][k] * signal.get(t - k.ordinal()).unwrap_or(0.0)
            });
            passed.powi(2)
        });
        (power.ln() - targets[b]).powi(2)
    })
}

/// Three filters of four taps over twelve moments.
pub(crate) fn small() -> Inputs {
    Inputs::made()
        .noise("filters", Extent::<(Dyn, Dyn)>::new((3, 4)), 1, single)
        .noise("signal", Extent::<Dyn>::new(12), 2, single)
        .noise("targets", Extent::<Dyn>::new(3), 3, single)
}

fn single(x: f64) -> f32 {
    x as f32
}

struct Input {
    filters: Table<(Band, Tap), f32>,
    signal: Table<Time, f32>,
    targets: Table<Band, f32>,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let input = Arc::new(Input {
        filters: inputs.table("filters")?,
        signal: inputs.table("signal")?,
        targets: inputs.table("targets")?,
    });
    let [a, b, c] = [(); 3].map(|()| Arc::clone(&input));
    Ok(vec![
        Task::pointful("value", &["value"], move || {
            loss(&a.filters, &a.signal, &a.targets)
        }),
        Task::pointful("gradient", &["value", "filters", "signal"], move || {
            let slope = value_and_grad!(loss, wrt = (filters, signal));
            let (value, (filters, signal)) = slope(&b.filters, &b.signal, &b.targets);
            (value, filters, signal)
        }),
        Task::hand("value", &["value"], move || by_hand(&c)),
    ])
}

fn by_hand(input: &Input) -> f32 {
    /// How many moments are next to each other.
    const BLOCK: usize = 256;
    let (bands, taps) = input.filters.extent().size();
    let signal = input.signal.as_slice();
    let mut padded = vec![0.0; taps - 1];
    padded.extend_from_slice(signal);
    let filters = input.filters.as_slice().par_chunks_exact(taps);
    let total: f32 = filters
        .zip(input.targets.as_slice())
        .map(|(filter, target)| {
            let mut power = 0.0;
            for start in (0..signal.len()).step_by(BLOCK) {
                let length = BLOCK.min(signal.len() - start);
                let mut passed = [0.0f32; BLOCK];
                for (k, weight) in filter.iter().enumerate() {
                    let from = &padded[start + taps - 1 - k..][..length];
                    let terms = passed.iter_mut().zip(from);
                    terms.for_each(|(p, x)| *p += weight * x);
                }
                power += passed.iter().map(|p| p * p).sum::<f32>();
            }
            ((power / signal.len() as f32).ln() - target).powi(2)
        })
        .sum();
    total / bands as f32
}
