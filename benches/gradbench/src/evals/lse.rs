//! The logarithm of a sum of exponentials.

use pointful::prelude::*;
use serde::Deserialize;

use crate::protocol::{Answer, Failure, Request};
use crate::tables::vector;

/// The logarithm of the sum of the exponentials of `x`, none of which overflows.
#[pointful]
pub fn log_sum_exp<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let top = max(for i in N {
        x[i]
    });
    top + sum(for i in N {
        (x[i] - top).exp()
    })
    .ln()
}

/// Its gradient.
#[pointful]
pub fn gradient<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    grad!(log_sum_exp)(x)
}

#[derive(Deserialize)]
struct Input {
    x: Vec<f64>,
}

/// `primal` and `gradient`.
pub fn evaluate(request: &Request<'_>) -> Result<Answer, Failure> {
    let Input { x } = request.input()?;
    let x: Table<Dyn, f64> = vector(x)?;
    match request.function {
        "primal" => request.repeat(|| log_sum_exp(&x), |value| value),
        "gradient" => request.repeat(|| gradient(&x), Table::into_vec),
        _ => request.unknown(),
    }
}
