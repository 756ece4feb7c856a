//! Layer normalization of a batch of rows, and its mean squared error.

use std::sync::Arc;

use pointful::lib::mean_variance;
use pointful::prelude::*;
use rayon::prelude::*;

pub(crate) use crate::batchnorm::small;
use crate::batchnorm::{Feature, Input, Row};
use crate::{Failure, Inputs, Task};

/// Keeps apart from zero what is divided by.
const EPSILON: f32 = 1e-5;

/// Each row with mean zero and variance one, then scaled and shifted.
#[pointful]
pub fn normalized(
    x: &Table<(Row, Feature), f32>,
    scale: &Table<Feature, f32>,
    shift: &Table<Feature, f32>,
) -> Table<(Row, Feature), f32> {
    for n in Row {
        let (middle, variance) = mean_variance(x[n]);
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

fn by_hand(input: &Input) -> f32 {
    let features = input.scale.len();
    let rows = input.x.as_slice().par_chunks_exact(features);
    let targets = input.targets.as_slice().par_chunks_exact(features);
    let total: f32 = rows
        .zip(targets)
        .map(|(x, target)| {
            let middle = x.iter().sum::<f32>() / features as f32;
            let variance = x.iter().map(|x| (x - middle).powi(2)).sum::<f32>() / features as f32;
            let spread = (variance + EPSILON).sqrt();
            let terms = x.iter().zip(target);
            let terms = terms.zip(input.scale.as_slice()).zip(input.shift.as_slice());
            terms
                .map(|(((x, t), a), b)| (a * (x - middle) / spread + b - t).powi(2))
                .sum::<f32>()
        })
        .sum();
    total / input.x.len() as f32
}
