//! Least squares: a polynomial through the signs of equidistant points of [-1, 1].

use pointful::prelude::*;
use serde::Deserialize;

use crate::protocol::{Answer, Failure, Request};
use crate::tables::vector;

/// Half the sum of the squared residuals of the polynomial with the coefficients `x` at `n` points.
#[pointful]
pub fn cost<N: IndexSet, M: IndexSet>(n: Extent<N>, x: &Table<M, f64>) -> f64 {
    0.5 * sum(for i in n {
        let t = -1.0 + i.ordinal() as f64 * 2.0 / (n.len() as f64 - 1.0);
        let sign = if t > 0.0 {
            1.0
        } else if t < 0.0 {
            -1.0
        } else {
            0.0
        };
        let mut value = 0.0;
        for j in M.rev() {
            value = value * t + x[j];
        }
        (sign - value).powi(2)
    })
}

/// Its gradient.
#[pointful]
pub fn gradient<N: IndexSet, M: IndexSet>(n: Extent<N>, x: &Table<M, f64>) -> Table<M, f64> {
    grad!(cost)(n, x)
}

#[derive(Deserialize)]
struct Input {
    x: Vec<f64>,
    n: usize,
}

/// `primal` and `gradient`.
pub fn evaluate(request: &Request<'_>) -> Result<Answer, Failure> {
    let Input { x, n } = request.input()?;
    let x: Table<Dyn, f64> = vector(x)?;
    let n = Extent::<Dyn>::try_new(n)?;
    match request.function {
        "primal" => request.repeat(|| cost(n, &x), |value| value),
        "gradient" => request.repeat(|| gradient(n, &x), Table::into_vec),
        _ => request.unknown(),
    }
}
