//! A table of tables in a signature shows the flat form.

use pointful::prelude::*;

#[pointful]
fn f<N: IndexSet, M: IndexSet>(a: &Table<N, Table<M, f64>>) -> f64 {
    sum(for (i, j) in _ { a[i][j] })
}

fn main() {}
