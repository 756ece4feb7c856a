//! A block of self-attention with several heads on a batch of sequences, and its mean squared
//! error.

use std::sync::Arc;

use pointful::lib::softmax;
use pointful::prelude::*;
use rayon::prelude::*;

use crate::{Failure, Inputs, Task};

/// A sequence of the batch.
#[derive(Clone, Copy, IndexSet)]
pub struct Sequence(usize);

/// A place in a sequence.
#[derive(Clone, Copy, IndexSet)]
pub struct Token(usize);

/// A number of what stands there.
#[derive(Clone, Copy, IndexSet)]
pub struct Feature(usize);

/// A head, which looks for something of its own.
#[derive(Clone, Copy, IndexSet)]
pub struct Head(usize);

/// A number of a head's queries, keys and values.
#[derive(Clone, Copy, IndexSet)]
pub struct Channel(usize);

/// What is learnt.
#[pointful]
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// What is looked for.
    pub queries: Table<(Head, Channel, Feature), f32>,
    /// What may be found.
    pub keys: Table<(Head, Channel, Feature), f32>,
    /// What is taken from there.
    pub values: Table<(Head, Channel, Feature), f32>,
    /// What becomes of all heads' findings.
    pub output: Table<(Feature, Head, Channel), f32>,
}

/// What the block makes of a sequence.
#[pointful]
pub fn attended(
    block: &Block,
    x: &Table<(Token, Feature), f32>,
) -> Table<(Token, Feature), f32> {
    let scale = (size(Channel) as f32).sqrt();
    let heads = for h in Head {
        let query = for (t, c) in _ {
            sum(x[t] * block.queries[h][c])
        };
        let key = for (t, c) in _ {
            sum(x[t] * block.keys[h][c])
        };
        let value = for (t, c) in _ {
            sum(x[t] * block.values[h][c])
        };
        for t in Token {
            let weight = softmax(
                for s in Token {
                    sum(query[t] * key[s]) / scale
                },
            );
            sum(for s in Token { weight[s] * value[s] })
        }
    };
    for (t, f) in (Token, Feature) {
        sum(for (h, c) in (Head, Channel) {
            block.output[f][h][c] * heads[h][t][c]
        })
    }
}

/// The mean squared difference between what the block makes of the sequences and the targets.
#[pointful]
pub fn loss(
    block: &Block,
    x: &Table<(Sequence, Token, Feature), f32>,
    targets: &Table<(Sequence, Token, Feature), f32>,
) -> f32 {
    mean(for s in Sequence {
        let y = attended(block, x[s]);
        mean((y - targets[s]).powi(2))
    })
}

/// Three sequences of five tokens with six numbers; two heads with four.
pub(crate) fn small() -> Inputs {
    let (n, t, f, h, c) = (3, 5, 6, 2, 4);
    let inwards = Extent::<(Dyn, Dyn, Dyn)>::new((h, c, f));
    let sequences = Extent::<(Dyn, Dyn, Dyn)>::new((n, t, f));
    Inputs::made()
        .noise("queries", inwards, 1, single)
        .noise("keys", inwards, 2, single)
        .noise("values", inwards, 3, single)
        .noise("output", Extent::<(Dyn, Dyn, Dyn)>::new((f, h, c)), 4, single)
        .noise("x", sequences, 5, single)
        .noise("targets", sequences, 6, single)
}

fn single(x: f64) -> f32 {
    x as f32
}

struct Input {
    block: Block,
    x: Table<(Sequence, Token, Feature), f32>,
    targets: Table<(Sequence, Token, Feature), f32>,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let input = Arc::new(Input {
        block: Block {
            queries: inputs.table("queries")?,
            keys: inputs.table("keys")?,
            values: inputs.table("values")?,
            output: inputs.table("output")?,
        },
        x: inputs.table("x")?,
        targets: inputs.table("targets")?,
    });
    let [a, b, c] = [(); 3].map(|()| Arc::clone(&input));
    Ok(vec![
        Task::pointful("value", &["value"], move || loss(&a.block, &a.x, &a.targets)),
        Task::pointful(
            "gradient",
            &["value", "queries", "keys", "values", "output"],
            move || {
                let slope = value_and_grad!(loss, wrt = block);
                let (value, s) = slope(&b.block, &b.x, &b.targets);
                (value, s.queries, s.keys, s.values, s.output)
            },
        ),
        Task::hand("value", &["value"], move || by_hand(&c)),
    ])
}

/// Each row times each row of the other.
fn products(a: &[f32], b: &[f32], width: usize) -> Vec<f32> {
    a.chunks_exact(width)
        .flat_map(|a| b.chunks_exact(width).map(move |b| dot(a, b)))
        .collect()
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn by_hand(input: &Input) -> f32 {
    let (_, tokens, features) = input.x.extent().size();
    let (heads, channels, _) = input.block.queries.extent().size();
    let scale = (channels as f32).sqrt();
    let sequences = input.x.as_slice().par_chunks(tokens * features);
    let targets = input.targets.as_slice().par_chunks(tokens * features);
    let total: f32 = sequences
        .zip(targets)
        .map(|(x, target)| {
            // For each token what all heads have found, one after the other.
            let mut found = vec![0.0f32; tokens * heads * channels];
            for h in 0..heads {
                let of_head = |weights: &[f32]| {
                    let weights = &weights[h * channels * features..][..channels * features];
                    products(x, weights, features)
                };
                let query = of_head(input.block.queries.as_slice());
                let key = of_head(input.block.keys.as_slice());
                let value = of_head(input.block.values.as_slice());
                let mut scores = products(&query, &key, channels);
                for (t, row) in scores.chunks_exact_mut(tokens).enumerate() {
                    let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                    row.iter_mut().for_each(|s| *s = ((*s - top) / scale).exp());
                    let all: f32 = row.iter().sum();
                    let found = &mut found[(t * heads + h) * channels..][..channels];
                    for (weight, value) in row.iter().zip(value.chunks_exact(channels)) {
                        let terms = found.iter_mut().zip(value);
                        terms.for_each(|(f, v)| *f += weight / all * v);
                    }
                }
            }
            let y = products(&found, input.block.output.as_slice(), heads * channels);
            y.iter().zip(target).map(|(y, t)| (y - t) * (y - t)).sum::<f32>()
        })
        .sum();
    total / input.x.len() as f32
}
