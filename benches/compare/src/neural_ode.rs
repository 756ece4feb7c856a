//! A neural network as a vector field: steps of Runge and Kutta's method from a batch of
//! beginnings, and the mean squared error of where they lead.

use std::sync::Arc;

use pointful::prelude::*;
use rayon::prelude::*;

use crate::{Failure, Inputs, Task};

/// A trajectory of the batch.
#[derive(Clone, Copy, IndexSet)]
pub struct Sample(usize);

/// A number of its state.
#[derive(Clone, Copy, IndexSet)]
pub struct Dimension(usize);

/// A unit of the hidden layer.
#[derive(Clone, Copy, IndexSet)]
pub struct Unit(usize);

/// The length of a step.
const STEP: f32 = 0.05;

/// What is learnt.
#[pointful]
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// From a state to the hidden layer.
    pub w1: Table<(Unit, Dimension), f32>,
    /// How the hidden layer inclines.
    pub b1: Table<Unit, f32>,
    /// From there to the rates of change.
    pub w2: Table<(Dimension, Unit), f32>,
    /// What they are at rest.
    pub b2: Table<Dimension, f32>,
}

/// The rates of change at a place.
#[pointful]
fn field(network: &Network, x: &Table<Dimension, f32>) -> Table<Dimension, f32> {
    let hidden = for u in Unit {
        (sum(network.w1[u] * x) + network.b1[u]).tanh()
    };
    for d in Dimension {
        sum(network.w2[d] * hidden) + network.b2[d]
    }
}

/// The mean squared distance of where trajectories are after `steps` steps from the targets.
#[pointful]
pub fn loss(
    network: &Network,
    start: &Table<(Sample, Dimension), f32>,
    targets: &Table<(Sample, Dimension), f32>,
    steps: usize,
) -> f32 {
    mean(for n in Sample {
        let mut x = start[n];
        for _step in 0..steps {
            let a = field(network, x);
            let b = field(network, x + 0.5 * STEP * a);
            let c = field(network, x + 0.5 * STEP * b);
            let d = field(network, x + STEP * c);
            x = x + STEP / 6.0 * (a + 2.0 * b + 2.0 * c + d);
        }
        sum((x - targets[n]).powi(2))
    })
}

/// Four trajectories of two numbers, five units, three steps.
pub(crate) fn small() -> Inputs {
    let (n, d, u) = (4, 2, 5);
    Inputs::made()
        .noise("w1", Extent::<(Dyn, Dyn)>::new((u, d)), 1, single)
        .noise("b1", Extent::<Dyn>::new(u), 2, single)
        .noise("w2", Extent::<(Dyn, Dyn)>::new((d, u)), 3, single)
        .noise("b2", Extent::<Dyn>::new(d), 4, single)
        .noise("start", Extent::<(Dyn, Dyn)>::new((n, d)), 5, single)
        .noise("targets", Extent::<(Dyn, Dyn)>::new((n, d)), 6, single)
        .steps(3)
}

fn single(x: f64) -> f32 {
    x as f32
}

struct Input {
    network: Network,
    start: Table<(Sample, Dimension), f32>,
    targets: Table<(Sample, Dimension), f32>,
    steps: usize,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let input = Arc::new(Input {
        network: Network {
            w1: inputs.table("w1")?,
            b1: inputs.table("b1")?,
            w2: inputs.table("w2")?,
            b2: inputs.table("b2")?,
        },
        start: inputs.table("start")?,
        targets: inputs.table("targets")?,
        steps: inputs.number("steps")?,
    });
    let [a, b, c] = [(); 3].map(|()| Arc::clone(&input));
    let slopes = &["value", "w1", "b1", "w2", "b2"];
    Ok(vec![
        Task::pointful("value", &["value"], move || {
            loss(&a.network, &a.start, &a.targets, a.steps)
        }),
        Task::pointful("gradient", slopes, move || {
            let slope = value_and_grad!(loss, wrt = network);
            let (value, s) = slope(&b.network, &b.start, &b.targets, b.steps);
            (value, s.w1, s.b1, s.w2, s.b2)
        }),
        Task::hand("value", &["value"], move || by_hand(&c)),
    ])
}

fn by_hand(input: &Input) -> f32 {
    let net = &input.network;
    let (samples, dimensions) = input.start.extent().size();
    let units = net.b1.len();
    let layer = |weights: &[f32], bias: &[f32], given: &[f32], into: &mut [f32]| {
        let rows = weights.chunks_exact(given.len()).zip(bias);
        for (into, (row, b)) in into.iter_mut().zip(rows) {
            *into = b + row.iter().zip(given).map(|(w, x)| w * x).sum::<f32>();
        }
    };
    let starts = input.start.as_slice().par_chunks_exact(dimensions);
    let total: f32 = starts
        .zip(input.targets.as_slice().par_chunks_exact(dimensions))
        .map(|(start, target)| {
            let mut hidden = vec![0.0; units];
            let mut x = start.to_vec();
            let (mut at, mut rates, mut sum) = (x.clone(), x.clone(), x.clone());
            for _step in 0..input.steps {
                sum.fill(0.0);
                for (forward, weight) in [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)] {
                    for d in 0..dimensions {
                        at[d] = x[d] + forward * STEP * if forward > 0.0 { rates[d] } else { 0.0 };
                    }
                    layer(net.w1.as_slice(), net.b1.as_slice(), &at, &mut hidden);
                    hidden.iter_mut().for_each(|h| *h = h.tanh());
                    layer(net.w2.as_slice(), net.b2.as_slice(), &hidden, &mut rates);
                    sum.iter_mut().zip(&rates).for_each(|(s, r)| *s += weight * r);
                }
                x.iter_mut().zip(&sum).for_each(|(x, s)| *x += STEP / 6.0 * s);
            }
            x.iter().zip(target).map(|(x, t)| (x - t) * (x - t)).sum::<f32>()
        })
        .sum();
    total / samples as f32
}
