use pointful::prelude::*;

#[pointful]
fn f(x: f64) -> f64 { x.sine() }

fn main() {}
