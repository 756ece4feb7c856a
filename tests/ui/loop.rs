//! A `loop` has no trip count.

use pointful::prelude::*;

#[pointful]
fn f(x: f64) -> f64 {
    let mut y = x;
    loop {
        y = y / 2.0;
    }
}

fn main() {
    f(1.0);
}
