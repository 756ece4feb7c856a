use pointful::prelude::*;

#[pointful]
fn f<N: IndexSet>(a: &Table<N, f64>) -> f64 {
    sum(for (i, j) in (N, N) { a[i][j] })
}

fn main() {}
