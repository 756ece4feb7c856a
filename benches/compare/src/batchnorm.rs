//! Batch normalization of rows, and its mean squared error.

use std::sync::Arc;

use pointful::lib::mean_variance;
use pointful::prelude::*;
use rayon::prelude::*;

use crate::{Failure, Inputs, Task};

/// A row of the batch.
#[derive(Clone, Copy, IndexSet)]
pub struct Row(usize);

/// A number of a row.
#[derive(Clone, Copy, IndexSet)]
pub struct Feature(usize);

/// Keeps apart from zero what is divided by.
const EPSILON: f32 = 1e-5;

/// Each feature with mean zero and variance one over the batch, then scaled and shifted.
#[pointful]
pub fn normalized(
    x: &Table<(Row, Feature), f32>,
    scale: &Table<Feature, f32>,
    shift: &Table<Feature, f32>,
) -> Table<(Row, Feature), f32> {
    let (middle, variance) = for f in Feature {
        mean_variance(for n in Row { x[n][f] })
    };
    for n in Row {
        scale * (x[n] - middle) / (variance + EPSILON).sqrt() + shift
    }
}

/// The mean squared difference from the targets.
#[pointful]
pub fn loss(
    x: &Table<(Row, Feature), f32>,
    scale: &Table<Feature, f32>,
    shift: &Table<Feature, f32>,
    targets: &Table<(Row, Feature), f32>,
) -> f32 {
    mean((normalized(x, scale, shift) - targets).powi(2))
}

/// Five rows of four numbers.
pub(crate) fn small() -> Inputs {
    let (n, f) = (5, 4);
    Inputs::made()
        .noise("x", Extent::<(Dyn, Dyn)>::new((n, f)), 1, single)
        .noise("scale", Extent::<Dyn>::new(f), 2, single)
        .noise("shift", Extent::<Dyn>::new(f), 3, single)
        .noise("targets", Extent::<(Dyn, Dyn)>::new((n, f)), 4, single)
}

fn single(x: f64) -> f32 {
    x as f32
}

/// What is normalized, here and by layers.
pub(crate) struct Input {
    pub(crate) x: Table<(Row, Feature), f32>,
    pub(crate) scale: Table<Feature, f32>,
    pub(crate) shift: Table<Feature, f32>,
    pub(crate) targets: Table<(Row, Feature), f32>,
}

impl Input {
    pub(crate) fn of(inputs: &Inputs) -> Result<Self, Failure> {
        Ok(Self {
            x: inputs.table("x")?,
            scale: inputs.table("scale")?,
            shift: inputs.table("shift")?,
            targets: inputs.table("targets")?,
        })
    }
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let input = Arc::new(Input::of(inputs)?);
    let [a, b, c] = [(); 3].map(|()| Arc::clone(&input));
    let slopes = &["value", "x", "scale", "shift"];
    Ok(vec![
        Task::pointful("value", &["value"], move || {
            loss(&a.x, &a.scale, &a.shift, &a.targets)
        }),
        Task::pointful("gradient", slopes, move || {
            let slope = value_and_grad!(loss, wrt = (x, scale, shift));
            let (value, (x, scale, shift)) = slope(&b.x, &b.scale, &b.shift, &b.targets);
            (value, x, scale, shift)
        }),
        Task::hand("value", &["value"], move || by_hand(&c)),
    ])
}

/// The mean over the rows of what is made of a number and its feature's.
fn means(x: &[f32], features: usize, f: impl Fn(usize, f32) -> f32 + Sync) -> Vec<f32> {
    /// How many rows are summed up by one thread.
    const ROWS: usize = 256;
    let mut sums = x
        .par_chunks(ROWS * features)
        .map(|rows| {
            let mut sums = vec![0.0; features];
            for row in rows.chunks_exact(features) {
                let terms = sums.iter_mut().zip(row).enumerate();
                terms.for_each(|(k, (sum, x))| *sum += f(k, *x));
            }
            sums
        })
        .reduce(
            || vec![0.0; features],
            |mut all, one| {
                all.iter_mut().zip(one).for_each(|(all, one)| *all += one);
                all
            },
        );
    let rows = (x.len() / features) as f32;
    sums.iter_mut().for_each(|sum| *sum /= rows);
    sums
}

fn by_hand(input: &Input) -> f32 {
    let (x, features) = (input.x.as_slice(), input.scale.len());
    let middle = means(x, features, |_, x| x);
    let variance = means(x, features, |k, x| (x - middle[k]).powi(2));
    let scale = input.scale.as_slice().iter().zip(&variance);
    let scale: Vec<f32> = scale.map(|(a, v)| a / (v + EPSILON).sqrt()).collect();
    let shift = input.shift.as_slice();
    let rows = x.par_chunks_exact(features);
    let total: f32 = rows
        .zip(input.targets.as_slice().par_chunks_exact(features))
        .map(|(x, targets)| {
            let each = (0..features).map(|k| scale[k] * (x[k] - middle[k]) + shift[k] - targets[k]);
            each.map(|apart| apart * apart).sum::<f32>()
        })
        .sum();
    total / x.len() as f32
}
