//! Functions that call each other: it is told once, at the first.

use pointful::prelude::*;

#[pointful]
fn even(n: i64) -> bool {
    if n == 0 { true } else { odd(n - 1) }
}

#[pointful]
fn odd(n: i64) -> bool {
    if n == 0 { false } else { even(n - 1) }
}

fn main() {}
