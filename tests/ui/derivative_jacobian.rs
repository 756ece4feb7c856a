//! Jacobians of and with respect to what has no axes: one mistake a function, in bodies.

use pointful::prelude::*;

#[pointful]
struct Line {
    slope: f64,
    offset: f64,
}

#[pointful]
fn at(line: &Line, x: f64) -> f64 {
    line.slope * x + line.offset
}

#[pointful]
fn line(x: f64) -> Line {
    Line { slope: x, offset: x }
}

#[pointful]
fn parts(p: (f64, f64)) -> f64 {
    p.0 * p.1
}

#[pointful]
fn by_a_struct(l: &Line) -> f64 {
    jacobian!(at, wrt = line)(l, 1.0).slope
}

#[pointful]
fn of_a_struct(x: f64) -> f64 {
    jacobian!(line)(x).slope
}

#[pointful]
fn by_a_tuple(x: f64) -> f64 {
    jacobian!(parts)((x, x)).0
}

#[pointful]
fn curvature_by_a_struct(l: &Line) -> f64 {
    hessian!(at)(l, 1.0).0
}

fn main() {}
