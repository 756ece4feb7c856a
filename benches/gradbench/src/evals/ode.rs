//! A chain of linear differential equations, solved by Runge-Kutta's method of the fourth order.

use pointful::prelude::*;
use serde::Deserialize;

use crate::protocol::{Answer, Failure, Request};
use crate::tables::vector;

/// When the solution is asked for.
const END: f64 = 2.0;

/// How fast each component changes: by what is in front of it, the first by itself.
#[pointful]
fn slope<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f64>) -> Table<N, f64> {
    for i in _ {
        x[i] * y.get(i - 1).unwrap_or(1.0)
    }
}

/// The components at the end, after `steps` steps from zero.
#[pointful]
pub fn solve<N: IndexSet>(x: &Table<N, f64>, steps: usize) -> Table<N, f64> {
    let h = END / steps as f64;
    let mut y = for _i in N {
        0.0
    };
    for _step in 0..steps {
        let k1 = slope(x, &y);
        let k2 = slope(
            x,
            &for i in N {
                y[i] + h * k1[i] / 2.0
            },
        );
        let k3 = slope(
            x,
            &for i in N {
                y[i] + h * k2[i] / 2.0
            },
        );
        let k4 = slope(
            x,
            &for i in N {
                y[i] + h * k3[i]
            },
        );
        y = for i in N {
            y[i] + h * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]) / 6.0
        };
    }
    y
}

/// The last component at the end.
#[pointful]
pub fn last<N: IndexSet>(x: &Table<N, f64>, steps: usize) -> f64 {
    let y = solve(x, steps);
    y[size(N) - 1]
}

/// The gradient of the last component at the end.
#[pointful]
pub fn gradient<N: IndexSet>(x: &Table<N, f64>, steps: usize) -> Table<N, f64> {
    grad!(last)(x, steps)
}

#[derive(Deserialize)]
struct Input {
    x: Vec<f64>,
    s: usize,
}

/// `primal` and `gradient`.
pub fn evaluate(request: &Request<'_>) -> Result<Answer, Failure> {
    let Input { x, s } = request.input()?;
    let x: Table<Dyn, f64> = vector(x)?;
    match request.function {
        "primal" => request.repeat(|| solve(&x, s), Table::into_vec),
        "gradient" => request.repeat(|| gradient(&x, s), Table::into_vec),
        _ => request.unknown(),
    }
}
