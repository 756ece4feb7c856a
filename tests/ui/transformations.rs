//! Arguments of transformations.

use pointful::prelude::*;

#[pointful]
fn f(x: f64) -> f64 {
    x * x
}

fn main() {
    grad!(f)(1.0);
    grad!(f, over = x)(1.0);
    vmap!(1);
    explain!(1);
}
