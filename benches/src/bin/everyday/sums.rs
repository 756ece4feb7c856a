//! Sums over pairs, neighbours and rows, some of them with conditions.

use pointful::prelude::*;

use crate::report::{Report, noise, places};

/// Pairs in the wrong order.
#[pointful]
fn ranked<N: IndexSet>(s: &Table<N, f32>, y: &Table<N, f32>) -> f32 {
    sum(for (i, j) in (N, N) {
        if y[i] > y[j] {
            (1.0 + (s[j] - s[i]).exp()).ln()
        } else {
            0.0
        }
    })
}

/// Pairs that are near each other.
#[pointful]
fn attracted<N: IndexSet>(x: &Table<N, f64>, reach: f64) -> f64 {
    sum(for (i, j) in (N, N) {
        let d = (x[i] - x[j]).abs();
        if d < reach { (-d * d).exp() } else { 0.0 }
    })
}

#[pointful]
fn density<N: IndexSet, M: IndexSet>(
    x: &Table<N, f64>,
    at: &Table<M, f64>,
    h: f64,
) -> Table<M, f64> {
    for m in M {
        sum(for n in N {
            (-0.5 * ((at[m] - x[n]) / h).powi(2)).exp()
        })
    }
}

/// The energy of springs between points.
#[pointful]
fn springs<N: IndexSet, E: IndexSet>(
    p: &Table<(N, Fin<3>), f32>,
    a: &Table<E, N>,
    b: &Table<E, N>,
    rest: &Table<E, f32>,
) -> f32 {
    sum(for e in E {
        let d = sum(for k in _ {
            (p[a[e]][k] - p[b[e]][k]).powi(2)
        })
        .sqrt()
            - rest[e];
        0.5 * d * d
    })
}

/// Rows of a matrix of which only what is not zero is there.
#[pointful]
fn rows_times<B: IndexSet, E: IndexSet, C: IndexSet, R: IndexSet>(
    bounds: &Table<B, usize>,
    column: &Table<E, C>,
    v: &Table<E, f64>,
    x: &Table<C, f64>,
    rows: Extent<R>,
) -> Table<R, f64> {
    for r in rows {
        sum(for e in bounds[r.ordinal()]..bounds[r.ordinal() + 1] {
            v[e] * x[column[e]]
        })
    }
}

/// What neighbours send.
#[pointful]
fn messages<N: IndexSet, E: IndexSet, D: IndexSet>(
    from: &Table<E, N>,
    to: &Table<E, N>,
    w: &Table<E, f32>,
    h: &Table<(N, D), f32>,
) -> Table<(N, D), f32> {
    let mut out = for (_n, _d) in (N, D) {
        0.0
    };
    for e in E {
        for d in D {
            out[to[e]][d] += w[e] * h[from[e]][d];
        }
    }
    out
}

/// Inverses of matrices of three, by minors.
#[pointful]
fn inverses<N: IndexSet>(a: &Table<(N, Fin<3>, Fin<3>), f64>) -> Table<(N, Fin<3>, Fin<3>), f64> {
    for n in N {
        let m = |i: usize, j: usize| a[n][i % 3][j % 3];
        let minor = |i: usize, j: usize| {
            m(i + 1, j + 1) * m(i + 2, j + 2) - m(i + 1, j + 2) * m(i + 2, j + 1)
        };
        let det = m(0, 0) * minor(0, 0) + m(0, 1) * minor(0, 1) + m(0, 2) * minor(0, 2);
        for (i, j) in (Fin::<3>, Fin::<3>) {
            minor(j.ordinal(), i.ordinal()) / det
        }
    }
}

fn small_matrices(report: &mut Report) {
    const N: usize = 50_000;
    let mut a = noise::<f64>(1, 9 * N);
    a.chunks_exact_mut(9)
        .for_each(|a| [0, 4, 8].into_iter().for_each(|at| a[at] += 4.0));
    let matrices: Table<(Dyn, Fin<3>, Fin<3>), f64> =
        Table::from_vec(Extent::new((N, (), ())), a.clone()).expect("as many numbers");
    let plain = || {
        let mut inverses = vec![0.0; 9 * N];
        for (a, inverse) in a.chunks_exact(9).zip(inverses.chunks_exact_mut(9)) {
            let m = |i: usize, j: usize| a[i % 3 * 3 + j % 3];
            let minor = |i: usize, j: usize| {
                m(i + 1, j + 1) * m(i + 2, j + 2) - m(i + 1, j + 2) * m(i + 2, j + 1)
            };
            let det = m(0, 0) * minor(0, 0) + m(0, 1) * minor(0, 1) + m(0, 2) * minor(0, 2);
            for (at, inverse) in inverse.iter_mut().enumerate() {
                *inverse = minor(at % 3, at / 3) / det;
            }
        }
        inverses
    };
    report.row("50 000 inverses, 3 × 3", || inverses(&matrices), plain);
}

fn pairs(report: &mut Report) {
    const N: usize = 2000;
    let (s, y) = (noise::<f32>(1, N), noise::<f32>(2, N));
    let (scores, truth): (Table<Dyn, f32>, Table<Dyn, f32>) = (s.clone().into(), y.clone().into());
    let plain = || {
        let mut total = 0.0_f32;
        for i in 0..N {
            let mut own = 0.0;
            for j in 0..N {
                if y[i] > y[j] {
                    own += (1.0 + (s[j] - s[i]).exp()).ln();
                }
            }
            total += own;
        }
        total
    };
    report.row(
        "pairs in the wrong order, 2000²",
        || ranked(&scores, &truth),
        plain,
    );
    let gradient = || {
        let mut g = vec![0.0_f32; N];
        for i in 0..N {
            for j in 0..N {
                if y[i] > y[j] {
                    let e = (s[j] - s[i]).exp();
                    let slope = e / (1.0 + e);
                    g[i] -= slope;
                    g[j] += slope;
                }
            }
        }
        g
    };
    let ours = || grad!(ranked, wrt = s)(&scores, &truth);
    report.row("their gradient", ours, gradient);
    let x = noise::<f64>(3, N);
    let points: Table<Dyn, f64> = x.clone().into();
    for (what, reach) in [("pairs nearer than 0.01", 0.01), ("than 1", 1.0)] {
        let plain = || {
            let mut total = 0.0;
            for a in &x {
                for b in &x {
                    let d = (a - b).abs();
                    if d < reach {
                        total += (-d * d).exp();
                    }
                }
            }
            total
        };
        report.row(what, || attracted(&points, reach), plain);
    }
    let at = noise::<f64>(4, 500);
    let grid: Table<Dyn, f64> = at.clone().into();
    let plain = || {
        let each = at.iter().map(|a| {
            x.iter()
                .map(|x| (-0.5 * ((a - x) / 0.1_f64).powi(2)).exp())
                .sum()
        });
        each.collect::<Vec<f64>>()
    };
    report.row(
        "density, 500 of 2000",
        || density(&points, &grid, 0.1),
        plain,
    );
}

fn meshes(report: &mut Report) {
    const N: usize = 20_000;
    const E: usize = 100_000;
    let (p, rest) = (noise::<f32>(1, 3 * N), noise::<f32>(2, E));
    let (a, b) = (places(1, E, N), places(7, E, N));
    let ends = [&a, &b].map(|ends| -> Table<Dyn, Dyn> {
        Table::from_indices(Extent::new(E), Extent::new(N), ends.clone()).expect("indices")
    });
    let points: Table<(Dyn, Fin<3>), f32> =
        Table::from_vec(Extent::new((N, ())), p.clone()).expect("as many numbers");
    let lengths: Table<Dyn, f32> = rest.clone().into();
    let apart = |e: usize| {
        let d = [0, 1, 2].map(|k| p[3 * a[e] + k] - p[3 * b[e] + k]);
        (d, (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt())
    };
    let plain = || {
        (0..E)
            .map(|e| 0.5 * (apart(e).1 - rest[e]).powi(2))
            .sum::<f32>()
    };
    let [from, to] = &ends;
    report.row(
        "springs, 100 000",
        || springs(&points, from, to, &lengths),
        plain,
    );
    let gradient = || {
        let mut g = vec![0.0; 3 * N];
        for e in 0..E {
            let (d, length) = apart(e);
            let slope = if length > 0.0 {
                (length - rest[e]) / length
            } else {
                0.0
            };
            for k in 0..3 {
                g[3 * a[e] + k] += slope * d[k];
                g[3 * b[e] + k] -= slope * d[k];
            }
        }
        g
    };
    let ours = || grad!(springs, wrt = p)(&points, from, to, &lengths);
    report.row("their gradient by the points", ours, gradient);
    let h = noise::<f32>(3, N * 32);
    let state: Table<(Dyn, Dyn), f32> =
        Table::from_vec(Extent::new((N, 32)), h.clone()).expect("as many numbers");
    let plain = || {
        let mut out = vec![0.0; N * 32];
        for e in 0..E {
            let (out, h) = (&mut out[32 * b[e]..][..32], &h[32 * a[e]..][..32]);
            out.iter_mut()
                .zip(h)
                .for_each(|(out, h)| *out += rest[e] * h);
        }
        out
    };
    let ours = || messages(from, to, &lengths, &state);
    report.row("messages of 32 numbers", ours, plain);
}

fn sparse(report: &mut Report) {
    const COLUMNS: usize = 20_000;
    const ENTRIES: usize = 600_000;
    let (v, x) = (noise::<f64>(1, ENTRIES), noise::<f64>(2, COLUMNS));
    let column = places(3, ENTRIES, COLUMNS);
    let (values, vector): (Table<Dyn, f64>, Table<Dyn, f64>) = (v.clone().into(), x.clone().into());
    let columns: Table<Dyn, Dyn> =
        Table::from_indices(Extent::new(ENTRIES), Extent::new(COLUMNS), column.clone())
            .expect("indices");
    for row in [5, 30, 200] {
        let rows = ENTRIES / row;
        let begin = |r: usize| (r * row + r % 7 * row / 14).min(ENTRIES);
        let bounds: Vec<usize> = (0..=rows).map(begin).collect();
        let begins: Table<Dyn, usize> = bounds.clone().into();
        let plain = || {
            let entries = |r: usize| (bounds[r]..bounds[r + 1]).map(|e| v[e] * x[column[e]]);
            (0..rows).map(|r| entries(r).sum()).collect::<Vec<f64>>()
        };
        let ours = || {
            rows_times(
                &begins,
                &columns,
                &values,
                &vector,
                Extent::<Dyn>::new(rows),
            )
        };
        report.row(&format!("sparse rows of {row}"), ours, plain);
    }
}

pub(crate) fn rows(report: &mut Report) {
    small_matrices(report);
    pairs(report);
    meshes(report);
    sparse(report);
}
