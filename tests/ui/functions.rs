//! Functions that take and give functions.

use pointful::prelude::*;

#[pointful]
fn apply(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    f(x)
}

#[pointful]
fn once(f: impl FnOnce(f64) -> f64, x: f64) -> f64 {
    f(x)
}

#[pointful]
fn changing<F: FnMut(f64) -> f64>(f: F, x: f64) -> f64 {
    f(x)
}

#[pointful]
fn changed(mut u: &mut Table<Dyn, f64>) -> impl Fn(f64) -> f64 {
    u[0] = 1.0;
    |x| x * u[0]
}

#[pointful]
fn methods_by_their_type(x: f64) -> f64 {
    f64::max(x, 1.0)
}

#[pointful]
fn conversions<T: Float>(x: T, k: i32) -> T {
    x + T::from_f64(2.0) * (f64::from(k) as T)
}

fn main() {
    let slope = grad!(apply, wrt = x);
}
