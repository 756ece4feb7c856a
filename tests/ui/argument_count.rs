use pointful::prelude::*;

#[pointful]
fn add(a: f64, b: f64) -> f64 { a + b }

#[pointful]
fn f(x: f64) -> f64 { add(x) }

fn main() {}
