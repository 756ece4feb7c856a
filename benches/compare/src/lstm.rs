//! A layer with a long short-term memory over a batch of sequences, and its mean squared error.

use std::sync::Arc;

use pointful::prelude::*;
use rayon::prelude::*;

use crate::{Failure, Inputs, Task};

/// A step in time.
#[derive(Clone, Copy, IndexSet)]
pub struct Time(usize);

/// A sequence of the batch.
#[derive(Clone, Copy, IndexSet)]
pub struct Sequence(usize);

/// A number that comes in.
#[derive(Clone, Copy, IndexSet)]
pub struct Feature(usize);

/// A memory cell.
#[derive(Clone, Copy, IndexSet)]
pub struct Cell(usize);

/// What is decided about a cell.
#[derive(Clone, Copy, IndexSet)]
pub enum Gate {
    /// How much is written to it.
    Write,
    /// How much of it is kept.
    Keep,
    /// What is written.
    Content,
    /// How much of it is shown.
    Show,
}

/// What is learnt.
#[pointful]
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// How a feature acts on a gate.
    pub input: Table<(Gate, Cell, Feature), f32>,
    /// How what is seen of a cell, the last index, acts on a gate.
    pub feedback: Table<(Gate, Cell, Cell), f32>,
    /// How a gate inclines.
    pub bias: Table<(Gate, Cell), f32>,
}

/// Between 0 and 1.
#[pointful]
fn open_by(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// The mean squared difference between what is seen of the cells at each step and the targets.
#[pointful]
pub fn loss(
    network: &Network,
    features: &Table<(Time, Sequence, Feature), f32>,
    targets: &Table<(Time, Sequence, Cell), f32>,
) -> f32 {
    let mut memory = for (_s, _c) in (Sequence, Cell) {
        0.0
    };
    let mut seen = for (_s, _c) in (Sequence, Cell) {
        0.0
    };
    let mut total = 0.0;
    for t in Time {
        let gates = for (s, g, c) in (Sequence, Gate, Cell) {
            let forward = sum(for f in Feature {
                network.input[g][c][f] * features[t][s][f]
            });
            let back = sum(for other in Cell {
                network.feedback[g][c][other] * seen[s][other]
            });
            network.bias[g][c] + forward + back
        };
        memory = for (s, c) in _ {
            let kept = open_by(gates[s][Gate::Keep][c]) * memory[s][c];
            kept + open_by(gates[s][Gate::Write][c]) * gates[s][Gate::Content][c].tanh()
        };
        seen = for (s, c) in _ {
            open_by(gates[s][Gate::Show][c]) * memory[s][c].tanh()
        };
        total += sum(for (s, c) in _ {
            (seen[s][c] - targets[t][s][c]).powi(2)
        });
    }
    total / (size(Time) * size(Sequence) * size(Cell)) as f32
}

/// Four steps of three sequences of five features, to six cells.
pub(crate) fn small() -> Inputs {
    let (t, s, f, c) = (4, 3, 5, 6);
    Inputs::made()
        .noise("input", Extent::<(Gate, Dyn, Dyn)>::new(((), c, f)), 1, single)
        .noise("feedback", Extent::<(Gate, Dyn, Dyn)>::new(((), c, c)), 2, single)
        .noise("bias", Extent::<(Gate, Dyn)>::new(((), c)), 3, single)
        .noise("features", Extent::<(Dyn, Dyn, Dyn)>::new((t, s, f)), 4, single)
        .noise("targets", Extent::<(Dyn, Dyn, Dyn)>::new((t, s, c)), 5, single)
}

fn single(x: f64) -> f32 {
    x as f32
}

struct Input {
    network: Network,
    features: Table<(Time, Sequence, Feature), f32>,
    targets: Table<(Time, Sequence, Cell), f32>,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let input = Arc::new(Input {
        network: Network {
            input: inputs.table("input")?,
            feedback: inputs.table("feedback")?,
            bias: inputs.table("bias")?,
        },
        features: inputs.table("features")?,
        targets: inputs.table("targets")?,
    });
    let [a, b, c] = [(); 3].map(|()| Arc::clone(&input));
    Ok(vec![
        Task::pointful("value", &["value"], move || {
            loss(&a.network, &a.features, &a.targets)
        }),
        Task::pointful(
            "gradient",
            &["value", "input", "feedback", "bias"],
            move || {
                let slope = value_and_grad!(loss, wrt = network);
                let (value, slope) = slope(&b.network, &b.features, &b.targets);
                (value, slope.input, slope.feedback, slope.bias)
            },
        ),
        Task::hand("value", &["value"], move || by_hand(&c)),
    ])
}

fn by_hand(input: &Input) -> f32 {
    let axes = input.features.extent().axes().to_vec();
    let (steps, sequences, features) = (axes[0], axes[1], axes[2]);
    let cells = input.targets.extent().axes()[2];
    let (weights, feedback) = (input.network.input.as_slice(), input.network.feedback.as_slice());
    let (bias, given) = (input.network.bias.as_slice(), input.features.as_slice());
    let targets = input.targets.as_slice();
    let sigmoid = |x: f32| 1.0 / (1.0 + (-x).exp());
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    // The sequences do not know of each other.
    let total: f32 = (0..sequences)
        .into_par_iter()
        .map(|s| {
            let (mut memory, mut seen) = (vec![0.0; cells], vec![0.0; cells]);
            let mut gates = vec![0.0; 4 * cells];
            let mut total = 0.0;
            for t in 0..steps {
                let at = t * sequences + s;
                let given = &given[at * features..][..features];
                for (g, gate) in gates.iter_mut().enumerate() {
                    *gate = bias[g]
                        + dot(&weights[g * features..][..features], given)
                        + dot(&feedback[g * cells..][..cells], &seen);
                }
                for c in 0..cells {
                    let [write, keep, content, show] = [0, 1, 2, 3].map(|g| gates[g * cells + c]);
                    memory[c] = sigmoid(keep) * memory[c] + sigmoid(write) * content.tanh();
                    seen[c] = sigmoid(show) * memory[c].tanh();
                    total += (seen[c] - targets[at * cells + c]).powi(2);
                }
            }
            total
        })
        .sum();
    total / (steps * sequences * cells) as f32
}
