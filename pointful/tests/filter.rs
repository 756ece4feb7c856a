//! `filter`: the elements of a table for which something holds.
#![deny(warnings)]

mod common;

use common::{close, list, matrix, noise};
use pointful::prelude::*;

#[pointful]
fn positive(x: f64) -> bool {
    x > 0.0
}

#[pointful]
fn kept<N: IndexSet, T: Float>(x: &Table<N, T>) -> Table<Dyn, T> {
    filter(|x| x > 0.0, x)
}

#[pointful]
fn total<N: IndexSet>(x: &Table<N, f64>, least: f64) -> f64 {
    let some = filter(|x| x > least, x);
    sum(for i in _ {
        some[i] * some[i] * some.len() as f64
    })
}

#[pointful]
fn named<N: IndexSet>(x: &Table<N, f64>) -> (usize, Table<Dyn, f64>) {
    let some = filter(positive, x);
    (
        some.len(),
        for i in _ {
            some[i].sqrt()
        },
    )
}

#[pointful]
fn places<N: IndexSet>(x: &Table<N, f64>) -> Table<Dyn, usize> {
    let found = filter(
        |i| x[i] > 0.0,
        for i in N {
            i
        },
    );
    for k in _ {
        found[k].ordinal()
    }
}

#[pointful]
fn pairs<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, i64>) -> (Table<Dyn, f64>, Table<Dyn, i64>) {
    filter(
        |(x, y)| x > y as f64,
        for i in N {
            (x[i], y[i])
        },
    )
}

#[pointful]
fn rows<N: IndexSet, M: IndexSet>(a: &Table<(N, M), f64>) -> Table<(Dyn, M), f64> {
    filter(
        |row| sum(row) > 0.0,
        for n in N {
            a[n]
        },
    )
}

#[pointful]
fn of_all<N: IndexSet, M: IndexSet>(a: &Table<(N, M), f64>) -> Table<Dyn, f64> {
    filter(|x| x > 0.0, a)
}

#[pointful]
fn in_loops<N: IndexSet, M: IndexSet>(a: &Table<(N, M), f64>) -> Table<N, f64> {
    for n in N {
        let some = filter(|x| x > 0.0, a[n]);
        let few = filter(|x| x < 2.5, some);
        if few.len() > 0 {
            max(few) * sum(some)
        } else {
            0.0
        }
    }
}

#[pointful]
fn stepped<N: IndexSet>(x: &Table<N, f64>, steps: usize) -> f64 {
    let mut least = 0.0;
    for _ in 0..steps {
        let some = filter(|x| x >= least, x);
        if some.len() > 0 {
            least = mean(some);
        }
    }
    least
}

#[test]
fn what_is_kept_stands_in_order() {
    for n in [0, 1, 2, 7, 64, 1000, 30_000] {
        let x = noise(n, 0.0);
        let want: Vec<f64> = x.iter().copied().filter(|x| *x > 0.0).collect();
        assert_eq!(kept(&list(&x)).as_slice(), want);
        let single = Table::<Dyn, f32>::from(x.iter().map(|x| *x as f32).collect::<Vec<_>>());
        assert_eq!(kept(&single).len(), want.len());
        let (count, roots) = named(&list(&x));
        assert_eq!(count, want.len());
        assert!(roots.iter().zip(&want).all(|(r, x)| *r == x.sqrt()));
        let at: Vec<usize> = (0..n).filter(|&k| x[k] > 0.0).collect();
        let found = places(&list(&x));
        assert!(found.iter().copied().eq(at));
        let y = Table::<Dyn, i64>::from((0..n as i64).map(|k| k % 3 - 1).collect::<Vec<_>>());
        let (left, right) = pairs(&list(&x), &y);
        let want: Vec<(f64, i64)> = x
            .iter()
            .copied()
            .zip(y.iter().copied())
            .filter(|(x, y)| *x > *y as f64)
            .collect();
        assert!(left.iter().copied().zip(right.iter().copied()).eq(want));
    }
}

#[test]
fn rows_and_elements_of_matrices() {
    for (n, m) in [(0, 3), (3, 0), (1, 1), (5, 4), (40, 30)] {
        let a = matrix(n, m);
        let values = a.as_slice();
        let row = |k: usize| &values[k * m..(k + 1) * m];
        let want: Vec<f64> = (0..n)
            .filter(|&k| row(k).iter().sum::<f64>() > 0.0)
            .flat_map(|k| row(k).to_vec())
            .collect();
        assert_eq!(rows(&a).as_slice(), want);
        let want: Vec<f64> = values.iter().copied().filter(|x| *x > 0.0).collect();
        assert_eq!(of_all(&a).as_slice(), want);
        for (k, found) in in_loops(&a).iter().enumerate() {
            let some: Vec<f64> = row(k).iter().copied().filter(|x| *x > 0.0).collect();
            let most = some
                .iter()
                .copied()
                .filter(|x| *x < 2.5)
                .fold(f64::NEG_INFINITY, f64::max);
            let want = if most.is_finite() {
                most * some.iter().sum::<f64>()
            } else {
                0.0
            };
            close(*found, want);
        }
    }
}

#[test]
fn cotangents_go_back_where_elements_came_from() {
    let x = list(&[1.0, -2.0, 3.0, 0.5]);
    assert_eq!(total(&x, 0.7), 20.0);
    assert_eq!(
        grad!(total, wrt = x)(&x, 0.7).as_slice(),
        [4.0, 0.0, 12.0, 0.0]
    );
    let v = list(&[1.0, 1.0, 1.0, 1.0]);
    assert_eq!(jvp!(total, wrt = x)(&x, 0.7, &v).1, 16.0);
    assert_eq!(
        hvp!(total, wrt = x)(&x, 0.7, &v).as_slice(),
        [4.0, 0.0, 4.0, 0.0]
    );
    let (value, by_x) = vjp!(kept)(&x, &list(&[1.0, 2.0, 3.0]));
    assert_eq!(value.as_slice(), [1.0, 3.0, 0.5]);
    assert_eq!(by_x.as_slice(), [1.0, 0.0, 2.0, 3.0]);
    let h = 1e-6;
    let values = noise(9, 2.0);
    for steps in [0, 1, 3] {
        let gradient = grad!(stepped, wrt = x)(&list(&values), steps);
        for k in 0..values.len() {
            let at = |d: f64| {
                let mut moved = values.clone();
                moved[k] += d;
                stepped(&list(&moved), steps)
            };
            close(gradient.as_slice()[k], (at(h) - at(-h)) / (2.0 * h));
        }
    }
    let a = matrix(3, 4);
    let (_, by_a) = vjp!(in_loops)(&a, &list(&[1.0, 2.0, 3.0]));
    for k in 0..12 {
        let at = |d: f64| {
            let mut values = a.as_slice().to_vec();
            values[k] += d;
            let moved = Table::from_vec(a.extent(), values).expect("its length");
            in_loops(&moved)
                .iter()
                .zip([1.0, 2.0, 3.0])
                .map(|(y, c)| y * c)
                .sum::<f64>()
        };
        close(by_a.as_slice()[k], (at(h) - at(-h)) / (2.0 * h));
    }
}
