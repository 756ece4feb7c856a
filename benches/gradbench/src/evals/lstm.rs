//! Recurrent layers with gates, whose weights are diagonal, predicting the next character of a text.

use pointful::prelude::*;
use serde::Deserialize;

use crate::protocol::{Answer, Failure, Request};
use crate::tables::{matrix, width};

/// A layer.
#[derive(Clone, Copy, IndexSet)]
pub struct Layer(usize);

/// A bit of a character, and the unit that sees it.
#[derive(Clone, Copy, IndexSet)]
pub struct Bit(usize);

/// A character of the text.
#[derive(Clone, Copy, IndexSet)]
pub struct Time(usize);

/// What a gate has.
#[derive(Clone, Copy, IndexSet)]
pub enum Affine {
    /// Its factor.
    Weight,
    /// What is added.
    Bias,
}

/// The parts of a unit.
#[derive(Clone, Copy, IndexSet)]
pub enum Gate {
    /// How much of the cell is kept.
    Forget,
    /// How much comes in.
    In,
    /// How much goes out.
    Out,
    /// What comes in.
    Change,
}

/// The parameters before and after all layers.
#[derive(Clone, Copy, IndexSet)]
pub enum Around {
    /// The factor of the input.
    InWeight,
    /// The factor of the output.
    OutWeight,
    /// What is added to the output.
    OutBias,
}

/// What a unit remembers.
#[derive(Clone, Copy, IndexSet)]
pub enum Memory {
    /// What it gave last.
    Hidden,
    /// Its cell.
    Cell,
}

#[pointful]
fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The mean cross entropy of the predictions of all characters but the first.
#[pointful]
pub fn loss(
    main: &Table<(Layer, Affine, Gate, Bit), f64>,
    extra: &Table<(Around, Bit), f64>,
    state: &Table<(Layer, Memory, Bit), f64>,
    text: &Table<(Time, Bit), f64>,
) -> f64 {
    let mut hidden = for (l, b) in (Layer, Bit) {
        state[l][Memory::Hidden][b]
    };
    let mut cell = for (l, b) in (Layer, Bit) {
        state[l][Memory::Cell][b]
    };
    let mut total = 0.0;
    for t in 0..size(Time) - 1 {
        let mut signal = for b in Bit {
            text[t][b] * extra[Around::InWeight][b]
        };
        for l in Layer {
            let gate = |g: Gate, x: f64, b: Bit| {
                x * main[l][Affine::Weight][g][b] + main[l][Affine::Bias][g][b]
            };
            let next = for b in Bit {
                let kept = sigmoid(gate(Gate::Forget, signal[b], b)) * cell[l][b];
                let came = sigmoid(gate(Gate::In, hidden[l][b], b))
                    * gate(Gate::Change, hidden[l][b], b).tanh();
                kept + came
            };
            let shown = for b in Bit {
                sigmoid(gate(Gate::Out, signal[b], b)) * next[b].tanh()
            };
            cell[l] = next;
            hidden[l] = shown;
            signal = shown;
        }
        let prediction = for b in Bit {
            signal[b] * extra[Around::OutWeight][b] + extra[Around::OutBias][b]
        };
        let normaliser = (2.0
            + sum(for b in Bit {
                prediction[b].exp()
            }))
        .ln();
        total += sum(for b in Bit {
            text[t + 1][b] * (prediction[b] - normaliser)
        });
    }
    -total / ((size(Time) - 1) * size(Bit)) as f64
}

/// The gradient with respect to the parameters.
#[pointful]
pub fn gradient(
    main: &Table<(Layer, Affine, Gate, Bit), f64>,
    extra: &Table<(Around, Bit), f64>,
    state: &Table<(Layer, Memory, Bit), f64>,
    text: &Table<(Time, Bit), f64>,
) -> (
    Table<(Layer, Affine, Gate, Bit), f64>,
    Table<(Around, Bit), f64>,
) {
    grad!(loss, wrt = (main, extra))(main, extra, state, text)
}

#[derive(Deserialize)]
struct Input {
    main_params: Vec<Vec<f64>>,
    extra_params: Vec<Vec<f64>>,
    state: Vec<Vec<f64>>,
    sequence: Vec<Vec<f64>>,
}

/// `objective` and `jacobian`.
pub fn evaluate(request: &Request<'_>) -> Result<Answer, Failure> {
    let input: Input = request.input()?;
    let bits = width::<Bit>(&input.sequence);
    if bits.is_empty() || input.sequence.len() < 2 {
        return Err("a text of two characters at least is needed".into());
    }
    let (b, l) = (bits.len(), input.state.len() / 2);
    let text: Table<(Time, Bit), f64> = matrix("sequence", bits, &input.sequence)?;
    let main = Table::from_vec(Extent::new((l, (), (), b)), input.main_params.concat())?;
    let extra = Table::from_vec(Extent::new(((), b)), input.extra_params.concat())?;
    let state = Table::from_vec(Extent::new((l, (), b)), input.state.concat())?;
    match request.function {
        "objective" => request.repeat(|| loss(&main, &extra, &state, &text), |value| value),
        "jacobian" => request.repeat(
            || gradient(&main, &extra, &state, &text),
            |(main, extra)| [main.into_vec(), extra.into_vec()].concat(),
        ),
        _ => request.unknown(),
    }
}
