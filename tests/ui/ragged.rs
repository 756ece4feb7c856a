//! What is asked of rows of different lengths that they are not, or cannot be.

use pointful::prelude::*;

#[pointful]
pub fn rows_of_a_product<N: IndexSet, M: IndexSet>(a: &Ragged<(N, M), f64>) -> f64 {
    sum(a)
}

#[pointful]
pub fn rows_of_tuples<N: IndexSet>(a: &Ragged<N, (N, N)>) -> f64 {
    1.0
}

#[pointful]
pub fn in_an_option<N: IndexSet>(a: &Option<Ragged<N, f64>>) -> f64 {
    1.0
}

#[pointful]
pub fn changed<N: IndexSet>(a: &mut Ragged<N, f64>) {}

#[pointful]
pub fn assigned<N: IndexSet>(a: &Ragged<N, f64>) -> Ragged<N, f64> {
    let mut b = a;
    for i in N {
        for j in _ {
            b[i][j] += 1.0;
        }
    }
    b
}

#[pointful]
pub fn by_a_table<N: IndexSet>(a: &Ragged<N, f64>, order: &Table<N, N>) -> f64 {
    sum(a[order])
}

#[pointful]
pub fn of_other_lengths<N: IndexSet>(a: &Ragged<N, f64>, order: &Table<N, N>) -> Ragged<N, f64> {
    for i in N { a[order[i]] }
}

#[pointful]
pub fn of_no_parameter<N: IndexSet>(a: &Table<N, f64>) -> Ragged<N, f64> {
    for i in N { for j in ..i { a[j] } }
}

#[pointful]
pub fn of_two_rows<N: IndexSet>(a: &Ragged<N, f64>, i: N, k: N) -> f64 {
    sum(for j in _ { a[i][j] * a[k][j] })
}

#[pointful]
pub fn behind<N: IndexSet>(a: &Ragged<N, f64>, next: &Table<N, N>, i: N) -> f64 {
    sum(for j in _ {
        let k = next[i];
        a[k][j]
    })
}

#[pointful]
pub fn of_a_closure<N: IndexSet>(a: &Ragged<N, f64>, k: N) -> f64 {
    let row = |i: N| a[i];
    sum(row(k))
}

#[pointful]
pub fn sums<N: IndexSet>(a: &Ragged<N, f64>) -> Table<N, f64> {
    for i in N { sum(a[i]) }
}

#[pointful]
pub fn all_derivatives<N: IndexSet>(a: &Ragged<N, f64>) -> Table<(N, N), f64> {
    jacobian!(sums)(a)
}

#[pointful]
pub fn mapped<N: IndexSet>(a: &Ragged<N, f64>) -> f64 {
    sum(vmap!(sums)(a))
}

fn main() {}
