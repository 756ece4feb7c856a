//! Transformations of functions that are not marked, in bodies and in ordinary Rust.

use pointful::prelude::*;

fn unmarked(x: f64) -> f64 {
    x
}

#[pointful]
fn slope(x: f64) -> f64 {
    grad!(unmarked)(x)
}

fn main() {
    let _ = grad!(unmarked)(1.0);
    let _ = grad!(unknown)(1.0);
}
