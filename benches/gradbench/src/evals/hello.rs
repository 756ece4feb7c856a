//! A square and its derivative.

use pointful::prelude::*;

use crate::protocol::{Answer, Failure, Request};

/// The square of a number.
#[pointful]
pub fn square(x: f64) -> f64 {
    x * x
}

/// The derivative of the square.
#[pointful]
pub fn double(x: f64) -> f64 {
    grad!(square)(x)
}

/// `square` and `double`.
pub fn evaluate(request: &Request<'_>) -> Result<Answer, Failure> {
    let x: f64 = request.input()?;
    match request.function {
        "square" => request.once(|| square(x)),
        "double" => request.once(|| double(x)),
        _ => request.unknown(),
    }
}
