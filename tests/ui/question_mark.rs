//! There are no errors to pass on.

use pointful::prelude::*;

#[pointful]
fn f(x: f64) -> f64 {
    g(x)?
}

fn main() {
    f(1.0);
}
