//! `Ragged<I, T>`: rows of different lengths as parameters and results, mapped, reduced and
//! differentiated.

use pointful::prelude::*;

/// The sum of each row.
#[pointful]
fn sums<N: IndexSet>(a: &Ragged<N, f64>) -> Table<N, f64> {
    for i in _ { sum(a[i]) }
}

/// The same by elements.
#[pointful]
fn weighted<N: IndexSet>(a: &Ragged<N, f64>, w: &Table<N, f64>) -> f64 {
    sum(for i in _ { sum(for j in _ { w[i] * a[i][j].powi(2) }) })
}

#[pointful]
fn lengths<N: IndexSet>(a: &Ragged<N, f64>) -> Table<N, usize> {
    for i in _ { a[i].len() }
}

fn rows() -> Ragged<Dyn, f64> {
    Ragged::from_rows([vec![1.0, 2.0], vec![], vec![3.0, 4.0, 5.0]])
}

#[test]
fn reduced() {
    assert_eq!(sums(&rows()).as_slice(), [3.0, 0.0, 12.0]);
    assert_eq!(lengths(&rows()).as_slice(), [2, 0, 3]);
    assert_eq!(weighted(&rows(), &Table::from(vec![1.0, 10.0, 100.0])), 5005.0);
}

#[test]
fn gradient() {
    let by = grad!(weighted, wrt = a)(&rows(), &Table::from(vec![1.0, 10.0, 100.0]));
    assert_eq!(by, Ragged::from_rows([vec![2.0, 4.0], vec![], vec![600.0, 800.0, 1000.0]]));
}
