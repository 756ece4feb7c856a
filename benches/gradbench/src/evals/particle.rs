//! A charged particle, to be steered through the origin by where a charge stands: a gradient in a
//! loop in a gradient.

use pointful::prelude::*;
use serde::Deserialize;

use super::descent::{descend, forward};
use crate::protocol::{Answer, Failure, Request};

/// The time step of Euler's method.
const STEP: f64 = 0.1;

#[pointful]
fn distance(a: &Table<Fin<2>, f64>, b: &Table<Fin<2>, f64>) -> f64 {
    sum(for d in _ {
        (a[d] - b[d]).powi(2)
    })
    .sqrt()
}

/// The potential at `x` of two charges, one of them `w` below the point (10, 10).
#[pointful]
fn potential(x: &Table<Fin<2>, f64>, w: f64) -> f64 {
    1.0 / distance(x, &[10.0, 10.0 - w]) + 1.0 / distance(x, &[10.0, 0.0])
}

/// The square of how far from the origin the particle crosses the axis; `slope` is the gradient of
/// the potential.
#[pointful]
fn miss(slope: impl Fn(&Table<Fin<2>, f64>) -> Table<Fin<2>, f64>) -> f64 {
    let mut x = [0.0, 8.0];
    let mut v = [0.75, 0.0];
    while x[1] + STEP * v[1] > 0.0 {
        let force = slope(&x);
        x = for d in _ {
            x[d] + STEP * v[d]
        };
        v = for d in _ {
            v[d] - STEP * force[d]
        };
    }
    (x[0] - x[1] / v[1] * v[0]).powi(2)
}

/// How far the particle misses by when the field is found by reverse mode.
#[pointful]
fn miss_by_reverse(w: &Table<Fin<1>, f64>) -> f64 {
    let field = |x: &Table<Fin<2>, f64>| potential(x, w[0]);
    miss(|x| grad!(field)(x))
}

/// How far the particle misses by when the field is found by forward mode.
#[pointful]
fn miss_by_forward(w: &Table<Fin<1>, f64>) -> f64 {
    let field = |x: &Table<Fin<2>, f64>| potential(x, w[0]);
    miss(|x| forward(field, x))
}

/// Reverse mode around reverse mode.
#[pointful]
pub fn rr(w: &Table<Fin<1>, f64>) -> Table<Fin<1>, f64> {
    descend(|w| miss_by_reverse(w), |w| grad!(miss_by_reverse)(w), w)
}

/// Reverse mode around forward mode.
#[pointful]
pub fn rf(w: &Table<Fin<1>, f64>) -> Table<Fin<1>, f64> {
    descend(|w| miss_by_forward(w), |w| grad!(miss_by_forward)(w), w)
}

/// Forward mode around reverse mode.
#[pointful]
pub fn fr(w: &Table<Fin<1>, f64>) -> Table<Fin<1>, f64> {
    descend(|w| miss_by_reverse(w), |w| forward(miss_by_reverse, w), w)
}

/// Forward mode around forward mode.
#[pointful]
pub fn ff(w: &Table<Fin<1>, f64>) -> Table<Fin<1>, f64> {
    descend(|w| miss_by_forward(w), |w| forward(miss_by_forward, w), w)
}

#[derive(Deserialize)]
struct Input {
    w: f64,
}

/// `rr`, `rf`, `fr` and `ff`.
pub fn evaluate(request: &Request<'_>) -> Result<Answer, Failure> {
    let Input { w } = request.input()?;
    let w = Table::full(Extent::<Fin<1>>::new(()), w);
    let only = |w: Table<Fin<1>, f64>| w.as_slice()[0];
    match request.function {
        "rr" => request.repeat(|| rr(&w), only),
        "rf" => request.repeat(|| rf(&w), only),
        "fr" => request.repeat(|| fr(&w), only),
        "ff" => request.repeat(|| ff(&w), only),
        _ => request.unknown(),
    }
}
