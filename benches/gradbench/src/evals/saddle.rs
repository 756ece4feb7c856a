//! A saddle point: the least of the greatest heights, by descents inside of a descent.

use pointful::prelude::*;
use serde::Deserialize;

use super::descent::{descend, forward};
use crate::protocol::{Answer, Failure, Request};

/// The height over two points of the plane.
#[pointful]
fn height(x: &Table<Fin<2>, f64>, y: &Table<Fin<2>, f64>) -> f64 {
    sum(for d in _ {
        x[d].powi(2)
    }) - sum(for d in _ {
        y[d].powi(2)
    })
}

/// The greatest height over `x`, found by reverse mode.
#[pointful]
fn top_by_reverse(x: &Table<Fin<2>, f64>, start: &Table<Fin<2>, f64>) -> f64 {
    let depth = |y: &Table<Fin<2>, f64>| -height(x, y);
    let y = descend(depth, |y| grad!(depth)(y), start);
    height(x, &y)
}

/// The greatest height over `x`, found by forward mode.
#[pointful]
fn top_by_forward(x: &Table<Fin<2>, f64>, start: &Table<Fin<2>, f64>) -> f64 {
    let depth = |y: &Table<Fin<2>, f64>| -height(x, y);
    let y = descend(depth, |y| forward(depth, y), start);
    height(x, &y)
}

/// Both points, by reverse mode; `top` gives the greatest height over a point.
#[pointful]
fn by_reverse(
    top: impl Fn(&Table<Fin<2>, f64>) -> f64,
    start: &Table<Fin<2>, f64>,
) -> (Table<Fin<2>, f64>, Table<Fin<2>, f64>) {
    let x = descend(top, |x| grad!(top)(x), start);
    let depth = |y: &Table<Fin<2>, f64>| -height(&x, y);
    let y = descend(depth, |y| grad!(depth)(y), start);
    (x, y)
}

/// Both points, by forward mode; `top` gives the greatest height over a point.
#[pointful]
fn by_forward(
    top: impl Fn(&Table<Fin<2>, f64>) -> f64,
    start: &Table<Fin<2>, f64>,
) -> (Table<Fin<2>, f64>, Table<Fin<2>, f64>) {
    let x = descend(top, |x| forward(top, x), start);
    let depth = |y: &Table<Fin<2>, f64>| -height(&x, y);
    let y = descend(depth, |y| forward(depth, y), start);
    (x, y)
}

/// Reverse mode around reverse mode.
#[pointful]
pub fn rr(start: &Table<Fin<2>, f64>) -> (Table<Fin<2>, f64>, Table<Fin<2>, f64>) {
    by_reverse(|x| top_by_reverse(x, start), start)
}

/// Reverse mode around forward mode.
#[pointful]
pub fn rf(start: &Table<Fin<2>, f64>) -> (Table<Fin<2>, f64>, Table<Fin<2>, f64>) {
    by_reverse(|x| top_by_forward(x, start), start)
}

/// Forward mode around reverse mode.
#[pointful]
pub fn fr(start: &Table<Fin<2>, f64>) -> (Table<Fin<2>, f64>, Table<Fin<2>, f64>) {
    by_forward(|x| top_by_reverse(x, start), start)
}

/// Forward mode around forward mode.
#[pointful]
pub fn ff(start: &Table<Fin<2>, f64>) -> (Table<Fin<2>, f64>, Table<Fin<2>, f64>) {
    by_forward(|x| top_by_forward(x, start), start)
}

#[derive(Deserialize)]
struct Input {
    start: Vec<f64>,
}

/// `rr`, `rf`, `fr` and `ff`.
pub fn evaluate(request: &Request<'_>) -> Result<Answer, Failure> {
    let Input { start } = request.input()?;
    let start = Table::from_vec(Extent::<Fin<2>>::new(()), start)?;
    let both =
        |(x, y): (Table<Fin<2>, f64>, Table<Fin<2>, f64>)| [x.into_vec(), y.into_vec()].concat();
    match request.function {
        "rr" => request.repeat(|| rr(&start), both),
        "rf" => request.repeat(|| rf(&start), both),
        "fr" => request.repeat(|| fr(&start), both),
        "ff" => request.repeat(|| ff(&start), both),
        _ => request.unknown(),
    }
}
