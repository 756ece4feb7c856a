//! A function that calls itself.

use pointful::prelude::*;

#[pointful]
fn f(n: i64) -> i64 {
    if n < 2 { 1 } else { n * f(n - 1) }
}

fn main() {
    f(3);
}
