//! Types and generics that mean nothing.

use pointful::prelude::*;

#[pointful]
fn f<T>(x: Vec<f64>, y: &[f64], (_a, _b): (f64, f64), z: i128) -> f64 {
    z
}

fn main() {}
