//! `reduce` and `scan` over the rows of a matrix, which begin with a row.
#![deny(warnings)]

mod common;

use common::{close, list, matrix};
use pointful::prelude::*;

#[pointful]
fn largest<N: IndexSet, M: IndexSet>(
    a: &Table<(N, M), f64>,
    least: &Table<M, f64>,
) -> Table<M, f64> {
    reduce(
        least,
        |x, y| {
            for m in M {
                x[m].max(y[m])
            }
        },
        a,
    )
}

#[pointful]
fn sums<N: IndexSet, M: IndexSet>(a: &Table<(N, M), f64>) -> Table<(N, M), f64> {
    scan(
        for _ in M {
            0.0
        },
        |x, y| x + y,
        a,
    )
}

#[pointful]
fn product<N: IndexSet>(a: &Table<(N, Fin<2>, Fin<2>), f64>) -> Table<(Fin<2>, Fin<2>), f64> {
    let one = [[1.0, 0.0], [0.0, 1.0]];
    reduce(
        one,
        |x, y| {
            for (i, j) in _ {
                sum(for k in _ {
                    x[i][k] * y[k][j]
                })
            }
        },
        a,
    )
}

#[pointful]
fn trace<N: IndexSet>(a: &Table<(N, Fin<2>, Fin<2>), f64>) -> f64 {
    let p = product(a);
    p[0][0] + p[1][1]
}

#[test]
fn reductions_begin_with_a_row() {
    for (n, m) in [(0, 3), (1, 1), (5, 4), (300, 7)] {
        let a = matrix(n, m);
        let least = Table::<Dyn, f64>::from(vec![-1.0; m]);
        let column = |j: usize| (0..n).map(move |k| k * m + j);
        let found = largest(&a, &least);
        for j in 0..m {
            let want = column(j).map(|k| a.as_slice()[k]).fold(-1.0, f64::max);
            assert_eq!(found.as_slice()[j], want);
            let mut sum = 0.0;
            for k in column(j) {
                sum += a.as_slice()[k];
                close(sums(&a).as_slice()[k], sum);
            }
        }
    }
    let steps: Table<(Dyn, Fin<2>, Fin<2>), f64> = Table::from_vec(
        Extent::new((2, (), ())),
        vec![1.0, 2.0, 3.0, 4.0, 0.0, 1.0, 1.0, 1.0],
    )
    .expect("its length");
    assert_eq!(product(&steps).as_slice(), [2.0, 3.0, 4.0, 7.0]);
    assert_eq!(trace(&steps), 9.0);
    // Of the trace of A B by A the transpose of B, by B that of A.
    let want = [0.0, 1.0, 1.0, 1.0, 1.0, 3.0, 2.0, 4.0];
    assert_eq!(grad!(trace)(&steps).as_slice(), want);
    let a = matrix(4, 3);
    let (_, (by_a, by_least)) = vjp!(largest)(&a, &list(&[-1.0; 3]), &list(&[1.0; 3]));
    close(by_a.iter().sum::<f64>() + by_least.iter().sum::<f64>(), 3.0);
}
