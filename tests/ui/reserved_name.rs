//! A function by the name of a word.

use pointful::prelude::*;

#[pointful]
fn sum(x: f64) -> f64 {
    x
}

fn main() {
    sum(1.0);
}
