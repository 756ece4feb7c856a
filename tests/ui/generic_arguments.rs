//! Generic arguments of calls that are not those of the function.

use pointful::prelude::*;

#[pointful]
fn total<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(x)
}

#[pointful]
fn applied<F: Fn(f64) -> f64>(f: F, x: f64) -> f64 {
    f(x)
}

// Another set than the argument's.
#[pointful]
fn other(x: &Table<Fin<3>, f64>) -> f64 {
    total::<Fin<2>>(x)
}

// Too many.
#[pointful]
fn many(x: &Table<Fin<3>, f64>) -> f64 {
    total::<Fin<3>, f64>(x)
}

// A function has no name for its type.
#[pointful]
fn named(x: f64) -> f64 {
    applied::<f64>(|y| y, x)
}

// Words are generic in nothing.
#[pointful]
fn word(x: &Table<Fin<3>, f64>) -> f64 {
    sum::<f64>(x)
}

// The bits of a float of either width.
#[pointful]
fn bits<T: Float>(x: T) -> T {
    if x.to_bits() > 3 { x } else { -x }
}

fn main() {}
