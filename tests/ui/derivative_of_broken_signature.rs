//! Of a function whose signature has a mistake nothing is known: one error for the mistake, and one where it is transformed.

use pointful::prelude::*;

#[pointful]
fn broken(x: &Table<usize, f64>) -> f64 {
    sum(x)
}

fn main() {
    grad!(broken);
}
