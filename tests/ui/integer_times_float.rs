use pointful::prelude::*;

#[pointful]
fn f(x: f64) -> f64 { 2 * x }

fn main() {}
