//! A model that guesses a word from the words around it: embeddings, their mean, and mean cross
//! entropy over a whole vocabulary.

use std::sync::Arc;

use pointful::lib::logsumexp;
use pointful::prelude::*;
use rayon::prelude::*;

use crate::{Failure, Inputs, Task};

/// A gap in a text.
#[derive(Clone, Copy, IndexSet)]
pub struct Sample(usize);

/// A place beside a gap.
#[derive(Clone, Copy, IndexSet)]
pub struct Place(usize);

/// A word of the vocabulary.
#[derive(Clone, Copy, IndexSet)]
pub struct Word(usize);

/// A number of an embedding.
#[derive(Clone, Copy, IndexSet)]
pub struct Feature(usize);

/// What is learnt.
#[pointful]
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// What a word says of its neighbours.
    pub embedding: Table<(Word, Feature), f32>,
    /// What speaks for a word.
    pub output: Table<(Word, Feature), f32>,
    /// How frequent words are.
    pub bias: Table<Word, f32>,
}

/// The loss on a batch.
#[pointful]
pub fn loss(
    model: &Model,
    around: &Table<(Sample, Place), Word>,
    missing: &Table<Sample, Word>,
) -> f32 {
    mean(for n in Sample {
        let hidden = mean(for p in Place { model.embedding[around[n][p]] });
        let scores = for w in Word {
            model.bias[w] + sum(model.output[w] * hidden)
        };
        logsumexp(&scores) - scores[missing[n]]
    })
}

/// Five gaps with two neighbours each, seven words, three features.
pub(crate) fn small() -> Inputs {
    let (n, p, w, f) = (5, 2, 7, 3);
    let around = vec![0, 2, 6, 6, 1, 3, 2, 4, 0, 6];
    let extent = Extent::<(Dyn, Dyn)>::new((n, p));
    let around = Table::from_vec(extent, around).expect("as many as there are");
    let missing = Table::<Dyn, i32>::from(vec![3, 0, 5, 3, 6]);
    Inputs::made()
        .noise("embedding", Extent::<(Dyn, Dyn)>::new((w, f)), 1, single)
        .noise("output", Extent::<(Dyn, Dyn)>::new((w, f)), 2, single)
        .noise("bias", Extent::<Dyn>::new(w), 3, single)
        .with("around", &around)
        .with("missing", &missing)
}

fn single(x: f64) -> f32 {
    x as f32
}

struct Input {
    model: Model,
    around: Table<(Sample, Place), Word>,
    missing: Table<Sample, Word>,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let bias: Table<Word, f32> = inputs.table("bias")?;
    let input = Arc::new(Input {
        around: inputs.indices("around", bias.extent())?,
        missing: inputs.indices("missing", bias.extent())?,
        model: Model {
            embedding: inputs.table("embedding")?,
            output: inputs.table("output")?,
            bias,
        },
    });
    let [a, b, c] = [(); 3].map(|()| Arc::clone(&input));
    let slopes = &["value", "embedding", "output", "bias"];
    Ok(vec![
        Task::pointful("value", &["value"], move || {
            loss(&a.model, &a.around, &a.missing)
        }),
        Task::pointful("gradient", slopes, move || {
            let slope = value_and_grad!(loss, wrt = model);
            let (value, s) = slope(&b.model, &b.around, &b.missing);
            (value, s.embedding, s.output, s.bias)
        }),
        Task::hand("value", &["value"], move || by_hand(&c)),
    ])
}

fn by_hand(input: &Input) -> f32 {
    let (_, features) = input.model.embedding.extent().size();
    let (_, places) = input.around.extent().size();
    let embedding = input.model.embedding.as_slice();
    let (around, missing) = (input.around.ordinals(), input.missing.ordinals());
    let total: f32 = around
        .par_chunks(places)
        .zip(&missing[..])
        .map(|(around, &missing)| {
            let mut hidden = vec![0.0f32; features];
            for word in around {
                let row = &embedding[word * features..][..features];
                let terms = hidden.iter_mut().zip(row);
                terms.for_each(|(h, e)| *h += e / places as f32);
            }
            let rows = input.model.output.as_slice().chunks_exact(features);
            let scores: Vec<f32> = rows
                .zip(input.model.bias.as_slice())
                .map(|(row, b)| b + row.iter().zip(&hidden).map(|(w, h)| w * h).sum::<f32>())
                .collect();
            let top = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let all = scores.iter().map(|s| (s - top).exp()).sum::<f32>().ln();
            top + all - scores[missing]
        })
        .sum();
    total / missing.len() as f32
}
