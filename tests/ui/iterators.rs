//! A `for` over a table, over a range in a product, and over an adaptor.

use pointful::prelude::*;

#[pointful]
fn f<N: IndexSet>(a: &Table<N, f64>) -> f64 {
    let s = sum(for x in a.iter() { x });
    let t = sum(for (i, j) in (0..3, 0..4) { 1.0 });
    let u = sum(for i in N.step_by(2) { a[i] });
    s + t + u
}

fn main() {}
