//! Transformations that cannot be made.

use pointful::prelude::*;

#[pointful]
fn f(x: f64, k: i64) -> f64 {
    x * k as f64
}

#[pointful]
fn pair(x: f64) -> (f64, f64) {
    (x, x)
}

#[pointful]
fn counted(k: i64) -> i64 {
    k + 1
}

define! { fn of_two = grad!(pair); }
define! { fn reserved = 1; }

fn main() {
    grad!(f, over = x)(1.0, 1);
    vmap!(1);
    explain!(1);
    let _ = grad!(f, wrt = k)(1.0, 1);
    let _ = grad!(f, wrt = y)(1.0, 1);
    let _ = grad!(counted)(1);
    let _ = jvp!(grad!(f), wrt = (x, x));
    let _ = hvp!(|x: f64| x * x)(1.0, 1.0);
}
