//! Sets and members by number, asked for in another way than they can be.

use pointful::prelude::*;

#[pointful]
fn sizes<N: IndexSet>(x: &Table<N, f64>) -> usize {
    size() + size(x) + size(bool, N)
}

#[pointful]
fn numbers<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, n: Extent<N>, m: Extent<M>, k: i64) -> f64 {
    x[N::from_ordinal()] + x[N::from_ordinal(k, n)] + x[N::from_ordinal(1, m)] + x[M::from_ordinal(1, m)]
}

#[pointful]
fn unknown<N: IndexSet>(x: &Table<N, f64>) -> usize {
    Dyn::from_ordinal(1).ordinal() + x.ordinal()
}

fn main() {}
