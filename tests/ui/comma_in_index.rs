//! An index of two axes as other languages write it. The first error is rustc's own.

use pointful::prelude::*;

#[pointful]
fn trace<N: IndexSet>(x: &Table<(N, N), f64>) -> f64 {
    sum(for i in N { x[i, i] })
}

#[pointful]
fn of_half<N: IndexSet>(x: &Table<(N, N), f64>) -> f64 {
    trace(x) / 2.0
}

fn main() {}
