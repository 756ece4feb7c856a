//! Transformed functions called with something else than they take: one mistake a function, in bodies.

use pointful::prelude::*;

#[pointful]
fn times(x: f64, y: f64) -> f64 {
    x * y
}

#[pointful]
fn scaled<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<N, f64> {
    a * x
}

#[pointful]
fn too_few(x: f64) -> f64 {
    grad!(times, wrt = x)(x)
}

#[pointful]
fn too_many(x: f64) -> f64 {
    grad!(times, wrt = x)(x, x, 1.0)
}

#[pointful]
fn no_cotangent<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    vjp!(scaled, wrt = a)(x, 1.0).1
}

#[pointful]
fn one_tangent(x: f64) -> f64 {
    jvp!(times)(x, x, 1.0).1
}

#[pointful]
fn tangent_of_another_float<N: IndexSet>(x: &Table<N, f64>, y: f32) -> f64 {
    sum(jvp!(scaled, wrt = a)(x, 1.0, y).1)
}

#[pointful]
fn cotangent_of_another_float<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f32>) -> f64 {
    vjp!(scaled, wrt = a)(x, 1.0, y).1
}

#[pointful]
fn cotangent_over_another_set<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, y: &Table<M, f64>) -> f64 {
    vjp!(scaled, wrt = a)(x, 1.0, y).1
}

#[pointful]
fn cotangent_is_an_integer<N: IndexSet>(x: &Table<N, f64>, k: i64) -> f64 {
    vjp!(times, wrt = x)(1.0, 2.0, k).1
}

#[pointful]
fn scalar_for_a_table<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    vjp!(scaled, wrt = a)(x, 1.0, 1.0).1
}

#[pointful]
fn gives_something_else<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    grad!(total)(x)
}

#[pointful]
fn total<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(x)
}

#[pointful]
fn a_map_of_two(x: f64) -> f64 {
    let (_, map) = linearize!(times)(x, x);
    map(1.0)
}

#[pointful]
fn stops_two(x: f64) -> f64 {
    stop_gradient(x, x)
}

fn main() {}
