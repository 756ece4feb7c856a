//! `try_call!` of what cannot be called so.

use pointful::prelude::*;

#[pointful]
fn inner<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f64>) -> f64 {
    sum(x * y)
}

#[pointful]
fn applied(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    f(x)
}

#[pointful]
fn within<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    try_call!(inner)(x, x)
}

#[pointful]
fn broken(x: f64) -> f64 {
    x.nothing()
}

fn main() {
    let x = Table::<Dyn, _>::from(vec![1.0]);
    let _ = try_call!(inner, wrt = x)(&x, &x);
    let _ = try_call!(linearize!(inner))(&x, &x);
    let _ = try_call!()(&x, &x);
    let _ = try_call!(applied)(|x| x, 1.0);
    println!("{}", try_call!(broken)(1.0).unwrap() + 1.0);
}
