//! Operators that are not associative are found where they run, in builds with debug assertions.
#![cfg(debug_assertions)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use pointful::prelude::*;

fn panics<T>(f: impl FnOnce() -> T) -> Option<String> {
    let payload = catch_unwind(AssertUnwindSafe(f)).err()?;
    match payload.downcast_ref::<String>() {
        Some(text) => Some(text.clone()),
        None => payload.downcast_ref::<&str>().map(|&text| text.to_owned()),
    }
}

fn counted(n: usize) -> Table<Dyn, f64> {
    Table::from((0..n).map(|k| (k % 7) as f64 + 0.25).collect::<Vec<_>>())
}

#[pointful]
fn ewma<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<N, f64> {
    scan(0.0, |s, v| (1.0 - a) * s + a * v, x)
}

#[pointful]
fn squares<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    reduce(0.0, |s, v| s + v * v, x)
}

#[pointful]
fn squares_of_halves<N: IndexSet>(x: &Table<N, f32>) -> f32 {
    reduce(0.0, |s, v| s + v * v, x)
}

#[pointful]
fn hashed<N: IndexSet>(x: &Table<N, i64>) -> i64 {
    reduce(7, |s, v| 31 * s + v, x)
}

#[pointful]
fn step(s: f64, v: f64) -> f64 {
    s - 0.5 * v
}

#[pointful]
fn rows<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> Table<N, f64> {
    for i in N {
        reduce(0.0, step, x[i])
    }
}

#[pointful]
fn vectors<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> Table<M, f64> {
    let zero = for _j in M {
        0.0
    };
    let rows = for i in N {
        x[i]
    };
    reduce(
        zero,
        |s, v| {
            for j in M {
                0.5 * s[j] + v[j]
            }
        },
        rows,
    )
}

#[pointful]
fn put<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut acc = Accum::monoid(0.0, |a, b| a + b * b);
    for i in N {
        acc.put(x[i]);
    }
    acc.get()
}

#[pointful]
fn from_one<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut acc = Accum::monoid(1.0, |a, b| (a + b) - 0.0 * a);
    for i in N {
        acc.put(x[i]);
    }
    acc.get()
}

#[pointful(associative)]
fn trusted<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    reduce(0.0, |s, v| s + v * v, x)
}

#[test]
fn what_is_a_loop_is_no_reduction() {
    let x = counted(10);
    let text = panics(|| ewma(&x, 0.1)).expect("a scan");
    assert!(text.contains("the operator of `scan` at "), "{text}");
    assert!(text.contains("associative.rs:22:15"), "{text}");
    assert!(text.contains("for i in _ { s = f(s, t[i]); }"), "{text}");
    let table = Table::<(Dyn, Dyn), _>::from_vec(
        Extent::<(Dyn, Dyn)>::new((3, 5)),
        counted(15).as_slice().to_vec(),
    )
    .unwrap();
    let halves = Table::<Dyn, f32>::from(vec![1.0, 2.0, 3.0]);
    let whole = Table::<Dyn, i64>::from(vec![1, 2, 3, 4]);
    for text in [
        panics(|| squares(&x)),
        panics(|| squares(&counted(3))),
        panics(|| squares(&counted(100_000))),
        panics(|| squares_of_halves(&halves)),
        panics(|| hashed(&whole)),
        panics(|| rows(&table)),
        panics(|| vectors(&table)),
        panics(|| put(&x)),
    ] {
        assert!(text.expect("a panic").contains("is not associative"));
    }
    assert!(
        panics(|| from_one(&x))
            .expect("no identity")
            .contains("the identity of `Accum::monoid` at ")
    );
    // Of fewer than three elements there is nothing to group.
    assert_eq!(panics(|| squares(&counted(2))), None);
    assert_eq!(panics(|| squares(&counted(0))), None);
    // Nor is anything tried in derivatives, or where the author answers for it.
    assert_eq!(panics(|| grad!(squares)(&x)), None);
    assert_eq!(panics(|| trusted(&x)), None);
    assert!(panics(|| vmap!(squares)(&table)).is_some());
    assert!(panics(|| try_call!(squares)(&x)).is_some());
}

#[pointful]
fn recurrence<N: IndexSet>(a: &Table<N, f64>, b: &Table<N, f64>) -> f64 {
    let pairs = for i in N {
        (a[i], b[i])
    };
    let (_, y) = reduce((1.0, 0.0), |x, y| (x.0 * y.0, y.0 * x.1 + y.1), pairs);
    y
}

#[pointful]
fn products<N: IndexSet>(m: &Table<(N, Fin<3>, Fin<3>), f64>) -> Table<(Fin<3>, Fin<3>), f64> {
    let matrices = for n in N {
        m[n]
    };
    let one = for i in Fin::<3> {
        for j in Fin::<3> {
            if i == j { 1.0 } else { 0.0 }
        }
    };
    reduce(
        one,
        |a, b| {
            for i in _ {
                for j in _ {
                    sum(for k in Fin::<3> {
                        a[i][k] * b[k][j]
                    })
                }
            }
        },
        matrices,
    )
}

#[pointful]
fn moments<N: IndexSet>(x: &Table<N, f64>) -> (f64, f64, f64) {
    let each = for i in N {
        (1.0, x[i], 0.0)
    };
    reduce(
        (0.0, 0.0, 0.0),
        |a, b| {
            let n = a.0 + b.0;
            let d = b.1 - a.1;
            if a.0 == 0.0 {
                b
            } else if b.0 == 0.0 {
                a
            } else {
                (n, a.1 + d * b.0 / n, a.2 + b.2 + d * d * a.0 * b.0 / n)
            }
        },
        each,
    )
}

#[pointful]
fn first_largest<N: IndexSet>(x: &Table<N, f64>) -> (f64, usize) {
    let mut best = Accum::monoid((f64::NEG_INFINITY, 0), |a, b| if b.0 > a.0 { b } else { a });
    for i in N {
        best.put((x[i], i.ordinal()));
    }
    best.get()
}

#[pointful]
fn last_where<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    scan(f64::NAN, |a, b| if b.is_nan() { a } else { b }, x)
}

#[pointful]
fn log_sum<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    reduce(
        f64::NEG_INFINITY,
        |a, b| {
            let m = a.max(b);
            if m == f64::NEG_INFINITY {
                m
            } else {
                m + ((a - m).exp() + (b - m).exp()).ln()
            }
        },
        x,
    )
}

#[test]
fn operators_that_are_associative_run() {
    for n in [
        0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 129, 1000,
    ] {
        let x = counted(n);
        let y = Table::from((0..n).map(|k| 0.5 - (k % 3) as f64).collect::<Vec<f64>>());
        let mut by_loop = 0.0;
        for (a, b) in y.iter().zip(x.iter()) {
            by_loop = a * by_loop + b;
        }
        let found = recurrence(&y, &x);
        assert!(
            (found - by_loop).abs() <= 1e-9 * by_loop.abs().max(1.0),
            "{n}"
        );
        let entries = (0..9 * n).map(|k| ((k * k) % 11) as f64 * 1e-1 - 0.5);
        let extent = Extent::<(Dyn, Fin<3>, Fin<3>)>::new((n, (), ()));
        products(&Table::from_vec(extent, entries.collect()).unwrap());
        assert_eq!(moments(&x).0, n as f64);
        let best = x.iter().cloned().fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(first_largest(&x).0, best);
        last_where(&Table::from(
            (0..n)
                .map(|k| if k % 3 == 1 { f64::NAN } else { k as f64 })
                .collect::<Vec<_>>(),
        ));
        let all = log_sum(&x);
        let by_loop = x.iter().map(|x| x.exp()).sum::<f64>().ln();
        assert!(n == 0 || (all - by_loop).abs() < 1e-9);
    }
    let huge = Table::<Dyn, _>::from(vec![1e300; 9]);
    recurrence(&huge, &huge);
}
