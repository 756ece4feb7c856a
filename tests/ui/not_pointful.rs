//! A call of a function without the attribute.

use pointful::prelude::*;

fn g(x: f64) -> f64 {
    x
}

#[pointful]
fn f(x: f64) -> f64 {
    g(x)
}

fn main() {}
