use pointful::prelude::*;

#[pointful]
fn f<N: IndexSet, M: IndexSet>(a: &Table<N, f64>, b: &Table<M, f64>) -> Table<N, f64> { a + b }

fn main() {}
