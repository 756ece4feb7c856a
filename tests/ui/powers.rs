//! There is no `**`, `^` is no power, and a number is no reference.

use pointful::prelude::*;

#[pointful]
fn squared(x: f64) -> f64 {
    x ** 2.0
}

#[pointful]
fn square<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(x ^ 2)
}

#[pointful]
fn root(x: f64) -> f64 {
    x ** 0.5
}

#[pointful]
fn same(x: f64) -> f64 {
    1.0 + *x
}

fn main() {
    squared(grad!(root)(same(2.0)));
}
