use pointful::prelude::*;

#[pointful]
fn f(x: f64, y: f32) -> f64 { x + y }

fn main() {}
