//! Functions that are not mapped: one mistake a function, in bodies.

use pointful::prelude::*;

#[pointful]
fn ones<N: IndexSet>(n: Extent<N>, x: f64) -> Table<N, f64> {
    for _i in n { x }
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
fn over_an_extent<N: IndexSet, M: IndexSet>(n: Extent<N>, m: Extent<M>) -> Table<(M, N), f64> {
    vmap!(ones, over = n)(n, 1.0)
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
fn over_another_tangent<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    vmap!(jvp!(times), over = (d_x, dy))(1.0, 1.0, x, x).1
}

#[pointful]
fn over_another_cotangent<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    vmap!(vjp!(times, wrt = x), over = d_x)(1.0, 1.0, x).1
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
