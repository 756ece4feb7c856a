//! In how many pieces sums are done, and what they keep meanwhile: exact counts.

use pointful::prelude::*;
use pointful::stats::measure;

#[pointful]
fn kmeans_cost<N: IndexSet, K: IndexSet, D: IndexSet>(
    points: &Table<(N, D), f64>,
    centres: &Table<(K, D), f64>,
) -> f64 {
    sum(for n in N {
        min(for k in K {
            sum(for d in D {
                (points[n][d] - centres[k][d]).powi(2)
            })
        })
    })
}

#[pointful]
fn range<N: IndexSet, K: IndexSet>(p: &Table<N, f64>, c: &Table<K, f64>) -> f64 {
    sum(for n in N {
        let squares = for k in K {
            (p[n] - c[k]).powi(2)
        };
        max(squares) - min(squares)
    })
}

#[pointful]
fn total<Q: IndexSet, X: IndexSet>(u: &Table<(Q, X), f64>) -> f64 {
    sum(for (q, x) in (Q, X) {
        u[q][x].sin()
    })
}

#[pointful]
fn image<H: IndexSet, W: IndexSet>(x: &Table<(H, W), f64>, bias: &Table<W, f64>) -> f64 {
    sum(for (h, w) in (H, W) {
        (x[h][w] * bias[w]).sin()
    })
}

#[pointful]
fn spread<B: IndexSet, F: IndexSet>(x: &Table<(B, F), f64>) -> Table<F, f64> {
    for f in F {
        mean(for b in B {
            x[b][f].powi(2)
        })
        .sqrt()
    }
}

#[pointful]
fn nest<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut s = 1.0;
    for a in N {
        let mut t = s;
        for b in N {
            t = (t * x[b]).sin();
        }
        s = (s + t * x[a]).sin();
    }
    s
}

#[pointful]
fn three<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut s = 1.0;
    for a in N {
        for b in N {
            let mut t = s * x[b];
            for c in N {
                t = (t + x[c]).cos();
            }
            s = s.sin() + t * x[a];
        }
    }
    s
}

/// The outer loop carries a table, which is no row of the inner one.
#[pointful]
fn fitted<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut p = for k in Fin::<3> {
        0.2 + 0.1 * k.ordinal() as f64
    };
    for a in N {
        let mut t = x[a];
        for b in N {
            t = sum(for k in Fin::<3> {
                (p[k] * t + x[b]).sin()
            });
        }
        p = for k in Fin::<3> {
            (p[k] + t * x[a]).cos()
        };
    }
    sum(p)
}

/// A nest for each of some points, of which the inner loop has as many rounds as there are before.
#[pointful]
fn nests<M: IndexSet, N: IndexSet>(w: &Table<M, f64>, x: &Table<N, f64>) -> f64 {
    sum(for m in M {
        let mut s = w[m];
        for a in N {
            let mut t = s;
            for b in ..a {
                t = (t * x[b] + w[m]).sin();
            }
            s = t - x[a];
        }
        s
    })
}

fn row(length: usize) -> Table<Dyn, f64> {
    let values: Vec<f64> = (0..length).map(|k| (k as f64 * 0.7).sin()).collect();
    values.into()
}

fn rows(count: usize, length: usize) -> Table<(Dyn, Dyn), f64> {
    let extent = Extent::<(Dyn, Dyn)>::new((count, length));
    Table::from_vec(extent, row(count * length).as_slice().to_vec()).expect("as many values")
}

#[pointful]
fn smoothed<N: IndexSet>(x: &Table<N, f64>, steps: usize) -> Table<N, f64> {
    let mut x = x;
    for _ in 0..steps {
        x = for i in N {
            (x[(i - 1).clamp()] + x[(i + 1).clamp()]) / 2.0
        };
    }
    x
}

#[pointful]
fn sines<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(for i in N {
        x[i].sin()
    })
}

#[test]
fn a_gradient_by_both_tables_keeps_no_table_of_pairs() {
    let (points, centres) = (rows(1000, 8), rows(100, 8));
    let peak = |run: &dyn Fn()| measure(run).1.peak_bytes;
    let one = peak(&|| drop(grad!(kmeans_cost, wrt = points)(&points, &centres)));
    let both = peak(&|| drop(grad!(kmeans_cost)(&points, &centres)));
    assert!(both < 2 * one, "{both} bytes, {one} by one");
    let (p, c) = (row(1000), row(500));
    let both = peak(&|| drop(grad!(range)(&p, &c)));
    assert!(both < 100_000, "{both} bytes");
}

#[test]
fn one_long_row_is_shared() {
    let (value, stats) = measure(|| total(&rows(1, 200_000)));
    assert!(stats.pieces > 4, "{stats:?}");
    let expected: f64 = rows(1, 200_000).as_slice().iter().map(|x| x.sin()).sum();
    assert!((value - expected).abs() < 1e-8);
}

#[test]
fn sums_into_long_rows_are_columns_without_copies() {
    let (x, bias) = (rows(4, 100_000), row(100_000));
    let (gradient, stats) = measure(|| grad!(image, wrt = bias)(&x, &bias));
    assert!(stats.pieces > 8, "{stats:?}");
    assert_eq!(stats.accumulator_bytes, 800_000);
    let (x, bias) = (x.as_slice(), bias.as_slice());
    for (w, found) in gradient.as_slice().iter().enumerate() {
        let terms = (0..4).map(|h| x[h * 100_000 + w]);
        let expected: f64 = terms.map(|x| x * (x * bias[w]).cos()).sum();
        assert!((found - expected).abs() < 1e-12, "{w}");
    }
}

#[test]
fn rows_are_summed_up_one_after_the_other() {
    for (count, length) in [(512, 1024), (3, 7), (1, 40), (0, 5)] {
        let x = rows(count, length);
        let found = spread(&x);
        let at = |b: usize, f: usize| x.as_slice()[b * length + f];
        for (f, found) in found.as_slice().iter().enumerate() {
            let sum: f64 = (0..count).map(|b| at(b, f) * at(b, f)).sum();
            let expected = (sum / count as f64).sqrt();
            assert!(found.to_bits() == expected.to_bits() || (found - expected).abs() < 1e-12);
        }
    }
}

#[test]
fn a_nest_keeps_the_states_of_one_loop_at_a_time() {
    let peak = |gradient: &dyn Fn(&Table<Dyn, f64>) -> Table<Dyn, f64>, n: usize| {
        measure(|| gradient(&row(n))).1.peak_bytes
    };
    let two = |x: &Table<Dyn, f64>| grad!(nest)(x);
    let three = |x: &Table<Dyn, f64>| grad!(three)(x);
    assert!(peak(&two, 200) < 3 * peak(&two, 100));
    assert!(peak(&three, 60) < 3 * peak(&three, 30));
    let fitted = |x: &Table<Dyn, f64>| grad!(fitted)(x);
    assert!(peak(&fitted, 200) < 3 * peak(&fitted, 100));
}

#[test]
fn nests_have_the_derivatives_of_their_tangents() {
    for n in [0, 1, 2, 7, 33] {
        let (x, w) = (row(n), row(3));
        for k in 0..n {
            let mut unit = Table::<Dyn, f64>::from(vec![0.0; n]);
            unit[k] = 1.0;
            let agree = |a: f64, b: f64| {
                assert!(
                    (a - b).abs() <= 1e-12 * b.abs().max(1.0),
                    "{n}, {k}: {a} and {b}"
                );
            };
            agree(grad!(nest)(&x)[k], jvp!(nest)(&x, &unit).1);
            agree(grad!(three)(&x)[k], jvp!(three)(&x, &unit).1);
            agree(grad!(fitted)(&x)[k], jvp!(fitted)(&x, &unit).1);
            let tangent = jvp!(nests, wrt = x)(&w, &x, &unit).1;
            agree(grad!(nests, wrt = x)(&w, &x)[k], tangent);
        }
    }
}

#[pointful]
fn plus_one<N: IndexSet>(a: &Table<N, f64>) -> Table<N, f64> {
    for i in N {
        a[i] + 1.0
    }
}

#[pointful]
fn chain<N: IndexSet>(a: &Table<N, f64>) -> f64 {
    let mut s = 1.0;
    for i in N {
        s = (s * a[i]).sin();
    }
    s
}

#[pointful]
fn product<I: IndexSet, J: IndexSet, K: IndexSet>(
    a: &Table<(I, K), f64>,
    b: &Table<(K, J), f64>,
) -> Table<(I, J), f64> {
    for (i, j) in (I, J) {
        sum(for k in K {
            a[i][k] * b[k][j]
        })
    }
}

/// An operation is one wherever it runs; memory and indices are none.
#[test]
fn operations() {
    for n in [0, 1, 7, 1000, 300_000] {
        let a = Table::<Dyn, f64>::from(vec![0.5; n]);
        assert_eq!(measure(|| plus_one(&a)).1.operations, n as u64);
        // A sine is 20.
        assert_eq!(measure(|| chain(&a)).1.operations, 21 * n as u64);
    }
    let [a, b] = [(3, 50), (50, 40)].map(Table::<(Dyn, Dyn), f64>::zeros);
    let (_, one) = measure(|| product(&a, &b));
    assert_eq!(one.operations, 2 * 3 * 40 * 50);
    // A measurement around others counts what these do.
    let inside = || measure(|| product(&a, &b)).1.operations;
    assert_eq!(measure(inside), (one.operations, one));
}

/// A result's memory becomes the `Vec`'s, whether it was written once, by turns or on the way back.
#[test]
fn results_become_vecs_without_a_copy() {
    let becomes = |table: Table<Dyn, f64>| {
        let (start, len) = (table.as_slice().as_ptr(), table.as_slice().len());
        let vec = table.into_vec();
        assert_eq!((vec.as_ptr(), vec.len()), (start, len));
    };
    for len in [1, 10, 100_000] {
        let x = Table::<Dyn, f64>::from(vec![0.5; len]);
        for steps in 0..4 {
            becomes(smoothed(&x, steps));
        }
        becomes(grad!(sines)(&x));
    }
}
