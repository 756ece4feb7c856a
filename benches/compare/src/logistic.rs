//! Logistic regression: the mean of the negative logarithms of how likely the labels are.

use std::sync::Arc;

use pointful::lib::softplus;
use pointful::prelude::*;
use rayon::prelude::*;

use crate::{Failure, Inputs, Task};

/// An observation.
#[derive(Clone, Copy, IndexSet)]
pub struct Sample(usize);

/// What is known of an observation.
#[derive(Clone, Copy, IndexSet)]
pub struct Feature(usize);

/// The loss of the weights; a label is 0 or 1.
#[pointful]
pub fn loss(
    weights: &Table<Feature, f64>,
    features: &Table<(Sample, Feature), f64>,
    labels: &Table<Sample, f64>,
) -> f64 {
    mean(for n in Sample {
        let z = sum(for f in Feature {
            features[n][f] * weights[f]
        });
        softplus(z) - labels[n] * z
    })
}

/// Twenty samples of three features.
pub(crate) fn small() -> Inputs {
    Inputs::made()
        .noise("weights", Extent::<Dyn>::new(3), 1, |x| x)
        .noise("features", Extent::<(Dyn, Dyn)>::new((20, 3)), 2, |x| x)
        .noise("labels", Extent::<Dyn>::new(20), 3, |x| {
            if x > 0.0 { 1.0 } else { 0.0 }
        })
}

struct Input {
    weights: Table<Feature, f64>,
    features: Table<(Sample, Feature), f64>,
    labels: Table<Sample, f64>,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let input = Arc::new(Input {
        weights: inputs.table("weights")?,
        features: inputs.table("features")?,
        labels: inputs.table("labels")?,
    });
    let [a, b, c] = [(); 3].map(|()| Arc::clone(&input));
    Ok(vec![
        Task::pointful("value", &["value"], move || {
            loss(&a.weights, &a.features, &a.labels)
        }),
        Task::pointful("gradient", &["value", "weights"], move || {
            value_and_grad!(loss, wrt = weights)(&b.weights, &b.features, &b.labels)
        }),
        Task::hand("value", &["value"], move || {
            let weights = c.weights.as_slice();
            let rows = c.features.as_slice().par_chunks(weights.len());
            let total: f64 = rows
                .zip(c.labels.as_slice())
                .with_min_len(256)
                .map(|(row, label)| {
                    let z: f64 = row.iter().zip(weights).map(|(x, w)| x * w).sum();
                    z.max(0.0) + (-z.abs()).exp().ln_1p() - label * z
                })
                .sum();
            total / c.labels.len() as f64
        }),
    ])
}
