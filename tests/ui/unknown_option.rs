//! Options that do not exist, or are written otherwise.

use pointful::prelude::*;

#[pointful(inline, vjp)]
fn f(x: f64) -> f64 {
    x
}

fn main() {
    f(1.0);
}
