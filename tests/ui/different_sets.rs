use pointful::prelude::*;

#[pointful]
fn f<N: IndexSet, M: IndexSet>(a: &Table<N, f64>, b: &Table<M, f64>) -> f64 {
    sum(for i in N { a[i] * b[i] })
}

fn main() {}
