//! Functions that are not mapped: one mistake a function, in bodies.

use pointful::prelude::*;

#[pointful]
struct Line {
    slope: f64,
}

#[pointful]
fn at(line: &Line, x: f64) -> f64 {
    line.slope * x
}

#[pointful]
fn nothing() -> f64 {
    1.0
}

#[pointful]
fn times(x: f64, y: f64) -> f64 {
    x * y
}

#[pointful]
fn of_a_struct<N: IndexSet>(line: &Line, x: &Table<N, f64>) -> Table<N, f64> {
    vmap!(at)(line, x)
}

#[pointful]
fn without_parameters() -> f64 {
    sum(vmap!(nothing)())
}

#[pointful]
fn over_another<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    vmap!(times, over = z)(x, x)
}

#[pointful]
fn over_one_twice<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    vmap!(times, over = (x, x))(x, x)
}

#[pointful]
fn not_over_it<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    vmap!(times, over = x)(1.0, 2.0)
}

#[pointful]
fn with_respect<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    vmap!(times, wrt = x)(x, 1.0)
}

#[pointful]
fn over_two_sets<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, y: &Table<M, f64>) -> Table<N, f64> {
    vmap!(times)(x, y)
}

fn main() {}
