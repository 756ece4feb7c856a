//! Jumps out of a loop or function; each is named, and nothing else.

use pointful::prelude::*;

#[pointful]
fn f(x: f64, n: usize) -> f64 {
    let mut y = x;
    for k in 0..n {
        if y < 1.0 {
            break;
        }
        if y > 2.0 {
            continue;
        }
        y = y / 2.0;
    }
    return y;
}

fn main() {
    f(1.0, 3);
}
