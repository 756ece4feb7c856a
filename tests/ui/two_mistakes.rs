use pointful::prelude::*;

#[pointful]
fn f(x: f64, y: f32) -> f64 {
    let a = x + y;
    let b = x.sine();
    a * b
}

fn main() {}
