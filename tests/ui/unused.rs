//! Real warnings are kept: parameters, locals and loop variables that nothing reads.

#![deny(warnings)]

use pointful::prelude::*;

#[pointful]
fn f<N: IndexSet>(a: &Table<N, f64>, y: f64, _z: f64) -> Table<N, f64> {
    let w = 2.0;
    for i in N { 1.0 }
}

#[pointful]
fn used<N: IndexSet>(a: &Table<N, f64>) -> Table<N, f64> {
    for i in N { a[i] }
}

fn main() {
    let _ = f::<Dyn>;
    let _ = used::<Dyn>;
}
