//! Types that no signature has: one error each.

use pointful::prelude::*;

#[pointful]
fn maybe<N: IndexSet>(x: &Table<N, Option<f64>>) -> f64 {
    0.0
}

#[pointful]
fn pairs<N: IndexSet>(x: &Table<N, (f64, f64)>) -> f64 {
    0.0
}

#[pointful]
fn unbounded<N>(x: &Table<N, f64>) -> f64 {
    sum(x)
}

#[pointful]
fn text<N: IndexSet>(x: &Table<N, String>) -> f64 {
    0.0
}

fn main() {
    let _ = maybe(&Table::from(vec![1.0]));
}
