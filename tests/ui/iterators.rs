//! A `for` over a table, over a range in a product, and over an adaptor.

use pointful::prelude::*;

#[pointful]
fn f<N: IndexSet>(a: &Table<N, f64>) -> f64 {
    let s = sum(for x in a.iter() { x });
    let t = sum(for (i, j) in (0..3, 0..4) { 1.0 });
    let u = sum(for i in N.step_by(2) { a[i] });
    let v = sum(for x in &a { x });
    let w = sum(for x in a.rows(2) { x });
    s + t + u + v + w
}

#[pointful]
fn no_rows<N: IndexSet>(n: usize, pair: (f64, f64), a: &Table<N, f64>) -> f64 {
    let s = sum(for x in n { 1.0 });
    let t = sum(for x in pair.0 { x });
    let u = sum(for (x, y) in (a, a) { x * y });
    s + t + u
}

fn main() {}
