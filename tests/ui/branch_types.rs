use pointful::prelude::*;

#[pointful]
fn f(x: f64) -> f64 { if x > 0.0 { x } else { true } }

fn main() {}
