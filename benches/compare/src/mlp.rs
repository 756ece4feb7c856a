//! A network of three dense layers on a batch: mean cross entropy of its guesses.

use std::sync::Arc;

use pointful::lib::logsumexp;
use pointful::prelude::*;
use rayon::prelude::*;

use crate::{Failure, Inputs, Task};

/// A member of the batch.
#[derive(Clone, Copy, IndexSet)]
pub struct Sample(usize);

/// What is seen of it.
#[derive(Clone, Copy, IndexSet)]
pub struct Pixel(usize);

/// A unit of the first hidden layer.
#[derive(Clone, Copy, IndexSet)]
pub struct First(usize);

/// A unit of the second.
#[derive(Clone, Copy, IndexSet)]
pub struct Second(usize);

/// What it may be.
#[derive(Clone, Copy, IndexSet)]
pub struct Class(usize);

/// What is learnt.
#[pointful]
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// From the pixels on.
    pub w1: Table<(First, Pixel), f32>,
    /// How the first layer inclines.
    pub b1: Table<First, f32>,
    /// Between the hidden layers.
    pub w2: Table<(Second, First), f32>,
    /// How the second layer inclines.
    pub b2: Table<Second, f32>,
    /// To the classes.
    pub w3: Table<(Class, Second), f32>,
    /// How likely classes are before anything is seen.
    pub b3: Table<Class, f32>,
}

/// The loss on a batch.
#[pointful]
pub fn loss(
    network: &Network,
    images: &Table<(Sample, Pixel), f32>,
    labels: &Table<Sample, Class>,
) -> f32 {
    mean(for n in Sample {
        let first = for u in First {
            let reached = sum(for p in Pixel {
                network.w1[u][p] * images[n][p]
            });
            (network.b1[u] + reached).max(0.0)
        };
        let second = for u in Second {
            let reached = sum(for v in First {
                network.w2[u][v] * first[v]
            });
            (network.b2[u] + reached).max(0.0)
        };
        let votes = for c in Class {
            let reached = sum(for u in Second {
                network.w3[c][u] * second[u]
            });
            network.b3[c] + reached
        };
        logsumexp(&votes) - votes[labels[n]]
    })
}

/// Four samples of six pixels, through five and four units to three classes.
pub(crate) fn small() -> Inputs {
    let (n, p, f, s, c) = (4, 6, 5, 4, 3);
    let labels = Table::<Dyn, i32>::from(vec![0, 2, 1, 2]);
    Inputs::made()
        .noise("w1", Extent::<(Dyn, Dyn)>::new((f, p)), 1, single)
        .noise("b1", Extent::<Dyn>::new(f), 2, single)
        .noise("w2", Extent::<(Dyn, Dyn)>::new((s, f)), 3, single)
        .noise("b2", Extent::<Dyn>::new(s), 4, single)
        .noise("w3", Extent::<(Dyn, Dyn)>::new((c, s)), 5, single)
        .noise("b3", Extent::<Dyn>::new(c), 6, single)
        .noise("images", Extent::<(Dyn, Dyn)>::new((n, p)), 7, single)
        .with("labels", &labels)
}

fn single(x: f64) -> f32 {
    x as f32
}

struct Input {
    network: Network,
    images: Table<(Sample, Pixel), f32>,
    labels: Table<Sample, Class>,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let b3: Table<Class, f32> = inputs.table("b3")?;
    let input = Arc::new(Input {
        images: inputs.table("images")?,
        labels: inputs.indices("labels", b3.extent())?,
        network: Network {
            w1: inputs.table("w1")?,
            b1: inputs.table("b1")?,
            w2: inputs.table("w2")?,
            b2: inputs.table("b2")?,
            w3: inputs.table("w3")?,
            b3,
        },
    });
    let [a, b, c] = [(); 3].map(|()| Arc::clone(&input));
    Ok(vec![
        Task::pointful("value", &["value"], move || {
            loss(&a.network, &a.images, &a.labels)
        }),
        Task::pointful(
            "gradient",
            &["value", "w1", "b1", "w2", "b2", "w3", "b3"],
            move || {
                let slope = value_and_grad!(loss, wrt = network);
                let (value, s) = slope(&b.network, &b.images, &b.labels);
                (value, s.w1, s.b1, s.w2, s.b2, s.w3, s.b3)
            },
        ),
        Task::hand("value", &["value"], move || by_hand(&c)),
    ])
}

fn by_hand(input: &Input) -> f32 {
    let net = &input.network;
    let layer = |weights: &[f32], bias: &[f32], given: &[f32]| -> Vec<f32> {
        let rows = weights.chunks_exact(given.len()).zip(bias);
        rows.map(|(row, b)| b + row.iter().zip(given).map(|(w, x)| w * x).sum::<f32>())
            .collect()
    };
    let bent = |mut x: Vec<f32>| {
        x.iter_mut().for_each(|x| *x = x.max(0.0));
        x
    };
    let labels = input.labels.ordinals();
    let pixels = net.w1.extent().axes()[1];
    let total: f32 = input
        .images
        .as_slice()
        .par_chunks(pixels)
        .zip(&labels[..])
        .map(|(image, label)| {
            let first = bent(layer(net.w1.as_slice(), net.b1.as_slice(), image));
            let second = bent(layer(net.w2.as_slice(), net.b2.as_slice(), &first));
            let votes = layer(net.w3.as_slice(), net.b3.as_slice(), &second);
            let top = votes.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let all = votes.iter().map(|v| (v - top).exp()).sum::<f32>().ln();
            top + all - votes[*label]
        })
        .sum();
    total / input.labels.len() as f32
}
