//! Items and macros in a body.

use pointful::prelude::*;

#[pointful]
fn f(x: f64) -> f64 {
    const HALF: f64 = 0.5;
    fn g(x: f64) -> f64 {
        x
    }
    println!("{x}");
    x
}

fn main() {
    f(1.0);
}
