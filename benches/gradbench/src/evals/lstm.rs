//! Recurrent layers with gates, whose weights are diagonal, predicting the next character of a
//! text.

use pointful::prelude::*;
use pointful_adbench::lstm::{self, Bit, Network};
use serde::Deserialize;

use crate::protocol::{Answer, Failure, Request};
use crate::tables::{matrix, width};

#[derive(Deserialize)]
struct Input {
    main_params: Vec<Vec<f64>>,
    extra_params: Vec<Vec<f64>>,
    state: Vec<Vec<f64>>,
    sequence: Vec<Vec<f64>>,
}

impl TryFrom<Input> for lstm::Input {
    type Error = Failure;

    fn try_from(input: Input) -> Result<Self, Failure> {
        let bits = width::<Bit>(&input.sequence);
        if bits.is_empty() || input.sequence.len() < 2 {
            return Err("a text of two characters at least is needed".into());
        }
        let (b, l) = (bits.len(), input.state.len() / 2);
        Ok(lstm::Input {
            network: Network {
                main: Table::from_vec(Extent::new((l, (), (), b)), input.main_params.concat())?,
                extra: Table::from_vec(Extent::new(((), b)), input.extra_params.concat())?,
            },
            state: Table::from_vec(Extent::new((l, (), b)), input.state.concat())?,
            text: matrix("sequence", bits, &input.sequence)?,
        })
    }
}

/// `objective` and `jacobian`.
pub fn evaluate(request: &Request<'_>) -> Result<Answer, Failure> {
    let input = lstm::Input::try_from(request.input::<Input>()?)?;
    match request.function {
        "objective" => request.repeat(|| input.objective(), |value| value),
        "jacobian" => request.repeat(
            || input.gradient(),
            |slope| [slope.main.into_vec(), slope.extra.into_vec()].concat(),
        ),
        _ => request.unknown(),
    }
}
