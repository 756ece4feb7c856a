//! Constructs of the language that meet in one program: against plain Rust, and derivatives against
//! differences.
#![deny(warnings)]
#![forbid(unsafe_code)]

use pointful::prelude::*;

fn rnd(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64 * 2.0 - 1.0
    };
    (0..n).map(next).collect()
}

#[track_caller]
fn near(a: f64, b: f64) {
    let scale = 1.0 + a.abs().max(b.abs());
    assert!((a - b).abs() <= 1e-6 * scale, "{a} is not {b}");
}

#[track_caller]
fn all_near(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        near(*a, *b);
    }
}

/// The gradient by differences.
fn diff(f: impl Fn(&[f64]) -> f64, x: &[f64]) -> Vec<f64> {
    let slope = |k: usize| {
        let moved = |by: f64| {
            let mut y = x.to_vec();
            y[k] += by;
            f(&y)
        };
        (moved(1e-5) - moved(-1e-5)) / 2e-5
    };
    (0..x.len()).map(slope).collect()
}

fn vect(x: &[f64]) -> Table<Dyn, f64> {
    Table::from(x.to_vec())
}

fn mat(n: usize, m: usize, x: &[f64]) -> Table<(Dyn, Dyn), f64> {
    Table::from_vec(Extent::<(Dyn, Dyn)>::new((n, m)), x.to_vec()).expect("as many")
}

// Structs nested in loop state in parallel loops, with grad.
#[pointful]
#[derive(Clone, Debug)]
struct Inner {
    v: f64,
    hits: usize,
}
#[pointful]
#[derive(Clone, Debug)]
struct Body<D: IndexSet> {
    pos: Table<D, f64>,
    inner: Inner,
    pair: (f64, bool),
}
#[pointful]
fn orbit<N: IndexSet, D: IndexSet>(
    start: &Table<(N, D), f64>,
    k: f64,
    steps: usize,
) -> Table<N, f64> {
    for n in N {
        let mut b = Body {
            pos: for d in D {
                start[n][d]
            },
            inner: Inner { v: 0.5, hits: 0 },
            pair: (1.0, true),
        };
        for t in 0..steps {
            let r = sum(for d in D {
                b.pos[d] * b.pos[d]
            })
            .sqrt()
                + 1.0;
            b = Body {
                inner: Inner {
                    v: b.inner.v * 0.9 + r,
                    hits: b.inner.hits + t,
                },
                ..b
            };
            for d in D {
                b.pos[d] -= k * b.pos[d] / r;
            }
            b.pair = (b.pair.0 * 1.01, !b.pair.1);
            if b.pair.1 {
                b.inner.v += 0.1;
            }
        }
        b.inner.v * b.pair.0 + sum(b.pos) + b.inner.hits as f64
    }
}
#[pointful]
fn orbit_sum<N: IndexSet, D: IndexSet>(start: &Table<(N, D), f64>, k: f64, steps: usize) -> f64 {
    sum(orbit(start, k, steps))
}
fn orbit_plain(s: &[f64], d: usize, k: f64, steps: usize) -> f64 {
    s.chunks(d)
        .map(|c| {
            let mut p = c.to_vec();
            let (mut v, mut h, mut a, mut q) = (0.5, 0, 1.0, true);
            for t in 0..steps {
                let r = p.iter().map(|x| x * x).sum::<f64>().sqrt() + 1.0;
                v = v * 0.9 + r;
                h += t;
                p.iter_mut().for_each(|x| *x -= k * *x / r);
                a *= 1.01;
                q = !q;
                if q {
                    v += 0.1
                }
            }
            v * a + p.iter().sum::<f64>() + h as f64
        })
        .sum()
}
#[test]
fn structs_in_states_of_parallel_loops() {
    for n in [1, 2, 7] {
        for steps in [0, 1, 5] {
            let x = rnd(n * 3, n as u64 + 5);
            let tb = |x: &[f64]| {
                Table::<(Dyn, Fin<3>), f64>::from_vec(
                    Extent::<(Dyn, Fin<3>)>::new((n, ())),
                    x.to_vec(),
                )
                .expect("it is right")
            };
            near(
                orbit_sum(&tb(&x), 0.3, steps),
                orbit_plain(&x, 3, 0.3, steps),
            );
            let (gs, gk) = grad!(orbit_sum)(&tb(&x), 0.3, steps);
            all_near(gs.as_slice(), &diff(|y| orbit_plain(y, 3, 0.3, steps), &x));
            near(gk, diff(|k| orbit_plain(&x, 3, k[0], steps), &[0.3])[0]);
        }
    }
}
// Either index sets in Accum.
#[pointful]
fn both<A: IndexSet, B: IndexSet, N: IndexSet>(
    at: &Table<N, Either<A, B>>,
    w: &Table<N, f64>,
    a: Extent<A>,
    b: Extent<B>,
) -> (Table<Either<A, B>, f64>, Table<A, f64>, f64) {
    let mut acc = Accum::zeros(Either::<A, B>);
    let mut only = Accum::zeros(a);
    for n in N {
        acc[at[n]] += w[n] * w[n];
        match at[n] {
            Either::Left(i) => {
                only[i] += w[n];
            }
            Either::Right(j) if j.ordinal() > 0 => {
                acc[Either::<A, B>::from_ordinal(0)] += 1.0;
            }
            _ => {}
        }
    }
    let all = acc.get();
    let left = only.get();
    (
        all,
        left,
        sum(for e in Either::<A, B> {
            all[e] * (e.ordinal() as f64)
        }) + sum(left * left)
            + size(b) as f64,
    )
}
#[pointful]
fn both_sum<A: IndexSet, B: IndexSet, N: IndexSet>(
    at: &Table<N, Either<A, B>>,
    w: &Table<N, f64>,
    a: Extent<A>,
    b: Extent<B>,
) -> f64 {
    let (_x, _y, z) = both(at, w, a, b);
    z
}
#[test]
fn accumulators_over_unions() {
    let (a, b) = (Extent::<Fin<2>>::default(), Extent::<Dyn>::new(3));
    let ids = vec![0usize, 4, 2, 1, 3, 4, 0];
    let w = rnd(7, 3);
    let e = Extent::<Either<Fin<2>, Dyn>>::new(((), 3));
    let at = Table::<Dyn, Either<Fin<2>, Dyn>>::from_indices(Extent::new(7), e, ids.clone())
        .expect("it is right");
    let plain = |w: &[f64]| {
        let mut acc = [0.0; 5];
        let mut left = [0.0; 2];
        for (i, w) in ids.iter().zip(w) {
            acc[*i] += w * w;
            if *i < 2 {
                left[*i] += w
            } else if *i > 2 {
                acc[0] += 1.0
            }
        }
        (
            acc,
            left,
            acc.iter()
                .enumerate()
                .map(|(k, x)| k as f64 * x)
                .sum::<f64>()
                + left.iter().map(|x| x * x).sum::<f64>()
                + 3.0,
        )
    };
    let (x, y, z) = both(&at, &Table::from(w.clone()), a, b);
    let p = plain(&w);
    all_near(x.as_slice(), &p.0);
    all_near(y.as_slice(), &p.1);
    near(z, p.2);
    let g = grad!(both_sum)(&at, &Table::from(w.clone()), a, b);
    all_near(g.as_slice(), &diff(|w| plain(w).2, &w));
}
// Dependent ranges inside vmap.
#[pointful]
fn lower<N: IndexSet>(x: &Table<N, f64>, c: f64) -> f64 {
    sum(for i in N {
        c * x[i]
            * sum(for j in ..i {
                x[j] * x[j]
            })
            + max(for j in i.. {
                x[j]
            })
    })
}
#[test]
fn dependent_ranges_along_one_more_axis() {
    for n in [0, 1, 2, 5] {
        for b in [0, 1, 3] {
            let x = rnd(n * b, 9);
            let c = rnd(b, 4);
            let xt =
                Table::<(Dyn, Dyn), f64>::from_vec(Extent::<(Dyn, Dyn)>::new((b, n)), x.clone())
                    .expect("it is right");
            let ct = Table::<Dyn, f64>::from(c.clone());
            let plain = |x: &[f64], c: f64| {
                (0..n)
                    .map(|i| {
                        c * x[i] * (0..i).map(|j| x[j] * x[j]).sum::<f64>()
                            + (i..n).map(|j| x[j]).fold(f64::NEG_INFINITY, f64::max)
                    })
                    .sum::<f64>()
            };
            let got = vmap!(lower)(&xt, &ct);
            let want: Vec<f64> = (0..b)
                .map(|k| plain(&x[k * n..(k + 1) * n], c[k]))
                .collect();
            all_near(got.as_slice(), &want);
            let (gx, gc) = vmap!(grad!(lower))(&xt, &ct);
            for k in 0..b {
                let row = &x[k * n..(k + 1) * n];
                all_near(
                    &gx.as_slice()[k * n..(k + 1) * n],
                    &diff(|y| plain(y, c[k]), row),
                );
                near(gc.as_slice()[k], diff(|y| plain(row, y[0]), &[c[k]])[0]);
            }
            if n > 0 {
                let over = vmap!(lower, over = c)(
                    &Table::from(x[..if b > 0 { n } else { 0 }].to_vec()),
                    &ct,
                );
                if b > 0 {
                    near(over.as_slice()[0], plain(&x[..n], c[0]));
                }
            }
        }
    }
}
// Function tables.
#[pointful]
fn table_of_functions<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 {
    let fs = [
        |y: f64| y * y * a,
        |y: f64| y.sin() + a,
        |y: f64| (a * y).exp(),
    ];
    let gs = for n in N {
        move |y: f64| y * x[n] + a
    };
    let hs = for k in Fin::<2> {
        |y: f64| fs[k.ordinal()](y) + 1.0
    };
    sum(for n in N {
        fs[n.ordinal() % 3](x[n])
            + gs[n](x[n])
            + sum(for k in _ {
                hs[k](x[n])
            })
    })
}
#[test]
fn tables_of_functions() {
    for n in [0, 1, 2, 7] {
        let x = rnd(n, 11);
        let plain = |x: &[f64], a: f64| {
            x.iter()
                .enumerate()
                .map(|(n, &y)| {
                    let fs: [f64; 3] = [y * y * a, y.sin() + a, (a * y).exp()];
                    fs[n % 3] + y * y + a + fs[0] + fs[1] + 2.0
                })
                .sum::<f64>()
        };
        near(
            table_of_functions(&Table::<Dyn, _>::from(x.clone()), 0.7),
            plain(&x, 0.7),
        );
        let (gx, ga) = grad!(table_of_functions)(&Table::<Dyn, _>::from(x.clone()), 0.7);
        all_near(gx.as_slice(), &diff(|x| plain(x, 0.7), &x));
        near(ga, diff(|a| plain(&x, a[0]), &[0.7])[0]);
    }
}
// While per lane with grad.
#[pointful]
fn lanes<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, tol: f64) -> Table<N, f64> {
    for n in N {
        let mut total = 1.0;
        let mut u = for m in M {
            x[n][m]
        };
        let mut steps = 0;
        while sum(for m in M {
            u[m].abs()
        }) > tol
            && steps < 20
        {
            for m in M {
                u[m] = u[m] * 0.5 + 0.01 * total;
            }
            total += max(u) * x[n][M::from_ordinal(0)];
            steps += 1;
        }
        total * total + steps as f64
    }
}
#[pointful]
fn lanes_sum<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, #[constant] tol: f64) -> f64 {
    sum(lanes(x, tol))
}
#[test]
fn whiles_in_lanes() {
    for n in [0, 1, 2, 7] {
        let x: Vec<f64> = rnd(n * 3, 21).iter().map(|x| x * 3.0 + 0.5).collect();
        let tb = |x: &[f64]| {
            Table::<(Dyn, Dyn), f64>::from_vec(Extent::<(Dyn, Dyn)>::new((n, 3)), x.to_vec())
                .expect("it is right")
        };
        let plain = |x: &[f64]| {
            x.chunks(3)
                .map(|c| {
                    let mut t = 1.0;
                    let mut u = c.to_vec();
                    let mut s = 0;
                    while u.iter().map(|x| x.abs()).sum::<f64>() > 0.3 && s < 20 {
                        u.iter_mut().for_each(|u| *u = *u * 0.5 + 0.01 * t);
                        t += u.iter().copied().fold(f64::NEG_INFINITY, f64::max) * c[0];
                        s += 1;
                    }
                    t * t + s as f64
                })
                .sum::<f64>()
        };
        near(lanes_sum(&tb(&x), 0.3), plain(&x));
        all_near(grad!(lanes_sum)(&tb(&x), 0.3).as_slice(), &diff(plain, &x));
    }
}
// Monoid accumulations of struct values.
#[pointful]
#[derive(Clone, Debug)]
struct Stat {
    n: usize,
    mean: f64,
    m2: f64,
}
#[pointful]
fn merged(a: Stat, b: Stat) -> Stat {
    let n = a.n + b.n;
    let d = b.mean - a.mean;
    if n == 0 {
        a
    } else {
        let w = b.n as f64 / n as f64;
        Stat {
            n,
            mean: a.mean + d * w,
            m2: a.m2 + b.m2 + d * d * a.n as f64 * w,
        }
    }
}
#[pointful]
fn by_bin<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, bin: &Table<N, K>) -> (Table<K, f64>, Stat) {
    let mut acc = Accum::monoid(
        Stat {
            n: 0,
            mean: 0.0,
            m2: 0.0,
        },
        |a, b| merged(a, b),
    );
    let mut all = Accum::monoid(
        Stat {
            n: 0,
            mean: 0.0,
            m2: 0.0,
        },
        merged,
    );
    for i in N {
        let one = Stat {
            n: 1,
            mean: x[i],
            m2: 0.0,
        };
        acc[bin[i]].put(one);
        all.put(one);
    }
    let bins = acc.get();
    (
        for k in K {
            bins[k].m2 + bins[k].mean * 2.0
        },
        all.get(),
    )
}
#[pointful]
fn by_bin_sum<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, bin: &Table<N, K>) -> f64 {
    let (t, s) = by_bin(x, bin);
    sum(t) + s.m2 * s.mean
}
#[test]
fn monoids_of_structs() {
    for n in [0, 1, 2, 7, 1000] {
        let x = rnd(n, 31);
        let ids: Vec<usize> = (0..n).map(|k| k * 7 % 3).collect();
        let bin =
            Table::<Dyn, Fin<4>>::from_indices(Extent::new(n), Extent::default(), ids.clone())
                .expect("it is right");
        let stat = |v: Vec<f64>| {
            let n = v.len();
            if n == 0 {
                return (0, 0.0, 0.0);
            }
            let m = v.iter().sum::<f64>() / n as f64;
            (n, m, v.iter().map(|x| (x - m).powi(2)).sum::<f64>())
        };
        let plain = |x: &[f64]| {
            let bins: Vec<f64> = (0..4)
                .map(|k| {
                    let s = stat(
                        (0..x.len())
                            .filter(|i| ids[*i] == k)
                            .map(|i| x[i])
                            .collect(),
                    );
                    s.2 + 2.0 * s.1
                })
                .collect();
            (bins, stat(x.to_vec()))
        };
        let (b, s) = by_bin(&vect(&x), &bin);
        let p = plain(&x);
        all_near(b.as_slice(), &p.0);
        assert_eq!(s.n, n);
        near(s.mean, p.1.1);
        near(s.m2, p.1.2);
        if n <= 7 {
            all_near(
                grad!(by_bin_sum)(&vect(&x), &bin).as_slice(),
                &diff(
                    |y| {
                        let p = plain(y);
                        p.0.iter().sum::<f64>() + p.1.2 * p.1.1
                    },
                    &x,
                ),
            );
        }
    }
}
#[pointful]
fn checked<N: IndexSet, M: IndexSet>(
    x: &Table<(N, M), f64>,
    y: &Table<M, f64>,
    limit: f64,
) -> Table<N, f64> {
    for n in N {
        let mut s = 0.0;
        for m in M {
            s += x[n][m] * y[m];
            assert!(
                s.abs() < limit,
                "row {} is {s:.2} at {}",
                n.ordinal(),
                m.ordinal()
            );
        }
        assert!(s.is_finite() || size(M) == 0);
        s
    }
}
#[test]
fn assertions_in_loops() {
    let x = mat(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let y = vect(&[1.0, 1.0, 1.0]);
    let e = std::panic::catch_unwind(|| checked(&x, &y, 10.0)).unwrap_err();
    let text = e.downcast_ref::<String>().expect("it is right").clone();
    assert!(text.contains("row 1 is 15.00 at 2"), "{text}");
    let e =
        std::panic::catch_unwind(|| vjp!(checked)(&x, &y, 10.0, &vect(&[1.0, 1.0]))).unwrap_err();
    assert!(
        e.downcast_ref::<String>()
            .expect("it is right")
            .contains("row 1")
    );
}
// Rank polymorphism with cells of rank 1 and 2.
#[pointful]
fn normed<M: IndexSet>(v: &Table<M, f64>) -> Table<M, f64> {
    v / (sum(v * v) + 1.0).sqrt()
}
#[pointful]
fn outer_trace<A: IndexSet>(m: &Table<(A, A), f64>, s: f64) -> f64 {
    sum(for a in A {
        m[a][a] * s
    }) - max(m)
}
#[pointful]
fn lifted<P: IndexSet, Q: IndexSet, A: IndexSet>(
    x: &Table<(P, Q, A, A), f64>,
    s: &Table<P, f64>,
    b: &Table<A, f64>,
) -> (Table<(P, Q), f64>, Table<(P, Q, A, A), f64>) {
    let rows = for (p, q, a) in (P, Q, A) {
        normed(x[p][q][a])
    };
    (
        outer_trace(x, s),
        for (p, q, c, a) in (P, Q, A, A) {
            rows[p][q][c][a] + b[a]
        },
    )
}
#[pointful]
fn lifted_sum<P: IndexSet, Q: IndexSet, A: IndexSet>(
    x: &Table<(P, Q, A, A), f64>,
    s: &Table<P, f64>,
    b: &Table<A, f64>,
) -> f64 {
    let (u, v) = lifted(x, s, b);
    sum(u * u) + sum(v.sin())
}
#[test]
fn cells_of_rank_one_and_two() {
    for (p, q, a) in [(1, 1, 1), (2, 3, 2), (0, 2, 2), (2, 1, 3)] {
        let x = rnd(p * q * a * a, 5);
        let s = rnd(p, 6);
        let b = rnd(a, 7);
        let tb = |x: &[f64]| {
            Table::<(Dyn, Dyn, Dyn, Dyn), f64>::from_vec(
                Extent::<(Dyn, Dyn, Dyn, Dyn)>::new((p, q, a, a)),
                x.to_vec(),
            )
            .expect("it is right")
        };
        let plain = |x: &[f64], s: &[f64], b: &[f64]| {
            let mut t = 0.0;
            for (k, m) in x.chunks(a * a).enumerate() {
                let tr = (0..a).map(|i| m[i * a + i] * s[k / q]).sum::<f64>()
                    - m.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                t += tr * tr;
                for r in m.chunks(a) {
                    let n = (r.iter().map(|x| x * x).sum::<f64>() + 1.0).sqrt();
                    t += r.iter().zip(b).map(|(r, b)| (r / n + b).sin()).sum::<f64>();
                }
            }
            t
        };
        near(lifted_sum(&tb(&x), &vect(&s), &vect(&b)), plain(&x, &s, &b));
        let (gx, gs, gb) = grad!(lifted_sum)(&tb(&x), &vect(&s), &vect(&b));
        all_near(gx.as_slice(), &diff(|y| plain(y, &s, &b), &x));
        all_near(gs.as_slice(), &diff(|y| plain(&x, y, &b), &s));
        all_near(gb.as_slice(), &diff(|y| plain(&x, &s, y), &b));
    }
}
// Generic over float and index set called with tuples.
#[pointful]
fn spread<T: Float, N: IndexSet>(x: &Table<N, T>, w: T) -> (T, Table<N, T>) {
    let m = mean(x);
    (
        sum(for i in N {
            (x[i] - m).powi(2) * w
        }),
        for i in N {
            x[i] - m
        },
    )
}
#[pointful]
fn uses<T: Float, A: IndexSet, B: IndexSet>(
    x: &Table<(A, B, bool), T>,
    y: &Table<(A, Fin<2>), T>,
    w: T,
) -> T {
    let (u, v) = spread(x, w);
    let (p, q) = spread(y, 0.5 + w);
    u * p
        + sum(for (a, b) in (A, B) {
            v[a][b][true] * v[a][b][false] * q[a][0]
        })
}
#[pointful]
fn uses64<A: IndexSet, B: IndexSet>(
    x: &Table<(A, B, bool), f64>,
    y: &Table<(A, Fin<2>), f64>,
    w: f64,
) -> f64 {
    uses(x, y, w)
}
#[test]
fn floats_and_sets_that_are_generic() {
    let (a, b) = (2, 3);
    let x = rnd(a * b * 2, 41);
    let y = rnd(a * 2, 42);
    let tx = |x: &[f64]| {
        Table::<(Dyn, Dyn, bool), f64>::from_vec(
            Extent::<(Dyn, Dyn, bool)>::new((a, b, ())),
            x.to_vec(),
        )
        .expect("it is right")
    };
    let ty = |x: &[f64]| {
        Table::<(Dyn, Fin<2>), f64>::from_vec(Extent::<(Dyn, Fin<2>)>::new((a, ())), x.to_vec())
            .expect("it is right")
    };
    let sp = |x: &[f64], w: f64| {
        let m = x.iter().sum::<f64>() / x.len() as f64;
        (
            x.iter().map(|x| (x - m).powi(2) * w).sum::<f64>(),
            x.iter().map(|x| x - m).collect::<Vec<_>>(),
        )
    };
    let plain = |x: &[f64], y: &[f64], w: f64| {
        let (u, v) = sp(x, w);
        let (p, q) = sp(y, 0.5 + w);
        u * p
            + (0..a * b)
                .map(|k| v[2 * k] * v[2 * k + 1] * q[2 * (k / b)])
                .sum::<f64>()
    };
    near(uses(&tx(&x), &ty(&y), 0.3), plain(&x, &y, 0.3));
    let (gx, gy, gw) = grad!(uses64)(&tx(&x), &ty(&y), 0.3);
    all_near(gx.as_slice(), &diff(|x| plain(x, &y, 0.3), &x));
    all_near(gy.as_slice(), &diff(|y| plain(&x, y, 0.3), &y));
    near(gw, diff(|w| plain(&x, &y, w[0]), &[0.3])[0]);
    let (hx, _, _) = grad!(uses)(&tx(&x), &ty(&y), 0.3);
    assert_eq!(hx, gx);
    let f: Vec<f32> = x.iter().map(|x| *x as f32).collect();
    let g: Vec<f32> = y.iter().map(|x| *x as f32).collect();
    let v = uses(
        &Table::<(Dyn, Dyn, bool), f32>::from_vec(Extent::<(Dyn, Dyn, bool)>::new((a, b, ())), f)
            .expect("it is right"),
        &Table::<(Dyn, Fin<2>), f32>::from_vec(Extent::<(Dyn, Fin<2>)>::new((a, ())), g)
            .expect("it is right"),
        0.3f32,
    );
    assert!((v as f64 - plain(&x, &y, 0.3)).abs() < 1e-3);
}
// Scan of structs/tuples under a parallel loop, offsets with clamp/mirror/wrap and get on products.
#[pointful]
fn walk<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> Table<(N, M), f64> {
    let run = for n in N {
        scan(
            (0.0, 1.0),
            |a, b| (a.0 * b.1 + b.0, a.1 * b.1),
            for m in M {
                (x[n][m], 0.5 + 0.1 * x[n][m])
            },
        )
    };
    for (n, m) in (N, M) {
        let (s, p) = run[n][m];
        s + p * x[(n + 1).wrap()][(m - 1).mirror()]
            + x[(n - 2).clamp()][m]
            + x.get((n, m + 1)).unwrap_or(0.25)
            + match x.get(n + 1) {
                Some(row) => row[m],
                None => -1.0,
            }
    }
}
#[pointful]
fn walk_sum<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> f64 {
    let t = walk(x);
    sum(t * t)
}
#[test]
fn scans_of_pairs_and_neighbours() {
    for (n, m) in [(1, 2), (2, 2), (3, 4), (0, 3), (3, 1)] {
        let x = rnd(n * m, 51);
        let plain = |x: &[f64]| {
            let mut t = 0.0;
            for i in 0..n {
                let (mut s, mut p) = (0.0, 1.0);
                for j in 0..m {
                    let at = |i: usize, j: usize| x[i * m + j];
                    let (b0, b1) = (at(i, j), 0.5 + 0.1 * at(i, j));
                    s = s * b1 + b0;
                    p *= b1;
                    let mir = if j == 0 {
                        if m == 1 { 0 } else { 1 }
                    } else {
                        j - 1
                    };
                    let v = s
                        + p * at((i + 1) % n, mir)
                        + at(i.saturating_sub(2), j)
                        + if i * m + j + 1 < n * m && j + 1 < m {
                            at(i, j + 1)
                        } else {
                            0.25
                        }
                        + if i + 1 < n { at(i + 1, j) } else { -1.0 };
                    t += v * v;
                }
            }
            t
        };
        near(walk_sum(&mat(n, m, &x)), plain(&x));
        all_near(grad!(walk_sum)(&mat(n, m, &x)).as_slice(), &diff(plain, &x));
    }
}
// Accum row slices in a function-free nested loop, min/max/prod accumulators of tables, with grad.
#[pointful]
fn rows<N: IndexSet, M: IndexSet, K: IndexSet>(
    x: &Table<(N, M), f64>,
    at: &Table<N, K>,
) -> Table<(K, M), f64> {
    let mut acc = Accum::zero();
    let mut top = Accum::max();
    let mut pr = Accum::prod();
    for n in N {
        let row = &mut acc[at[n]];
        for m in M {
            row[m] += x[n][m] * x[n][m];
            top[at[n]][m].put(x[n][m]);
            pr[m][at[n]].put(1.0 + 0.1 * x[n][m]);
        }
    }
    let (a, t, p) = (acc.get(), top.get(), pr.get());
    for (k, m) in (K, M) {
        a[k][m] + (if t[k][m] > -5.0 { t[k][m] } else { 0.0 }) * p[m][k]
    }
}
#[pointful]
fn rows_sum<N: IndexSet, M: IndexSet, K: IndexSet>(
    x: &Table<(N, M), f64>,
    at: &Table<N, K>,
) -> f64 {
    let r = rows(x, at);
    sum(for (k, m) in _ {
        r[k][m] * (1.0 + m.ordinal() as f64 + 2.0 * k.ordinal() as f64)
    })
}
#[test]
fn slices_of_accumulators() {
    for (n, m) in [(0, 2), (1, 1), (2, 3), (7, 2)] {
        let x = rnd(n * m, 61);
        let ids: Vec<usize> = (0..n).map(|i| i * 5 % 3).collect();
        let at = Table::<Dyn, Fin<3>>::from_indices(Extent::new(n), Extent::default(), ids.clone())
            .expect("it is right");
        let plain = |x: &[f64]| {
            let mut s = 0.0;
            for k in 0..3 {
                for j in 0..m {
                    let (mut a, mut t, mut p) = (0.0, f64::NEG_INFINITY, 1.0);
                    for i in 0..n {
                        if ids[i] == k {
                            let v = x[i * m + j];
                            a += v * v;
                            t = t.max(v);
                            p *= 1.0 + 0.1 * v;
                        }
                    }
                    s += (a + if t > -5.0 { t } else { 0.0 } * p)
                        * (1.0 + j as f64 + 2.0 * k as f64);
                }
            }
            s
        };
        near(rows_sum(&mat(n, m, &x), &at), plain(&x));
        all_near(
            grad!(rows_sum)(&mat(n, m, &x), &at).as_slice(),
            &diff(plain, &x),
        );
    }
}
// A struct with a table of tuples, map of grad inside a body, hvp of it, a match on enum with guards.
#[derive(Clone, Copy, Debug, IndexSet)]
enum Mode {
    Lin,
    Quad,
    Wave,
}
#[pointful]
#[derive(Clone, Debug)]
struct Net<H: IndexSet> {
    w: Table<(H, Fin<2>), f64>,
    b: Table<H, f64>,
    scale: (f64, f64),
}
#[pointful]
fn unit(mode: Mode, x: f64, s: f64) -> f64 {
    match mode {
        Mode::Lin if x > 0.0 => s * x,
        Mode::Lin => 0.1 * s * x,
        Mode::Quad | Mode::Wave if s < -3.0 => x,
        Mode::Quad => s * x * x,
        Mode::Wave => (s * x).sin(),
    }
}
#[pointful]
fn net<H: IndexSet>(net: &Net<H>, modes: &Table<H, Mode>, x: &Table<Fin<2>, f64>) -> f64 {
    let hidden = for h in H {
        unit(
            modes[h],
            sum(for i in _ {
                net.w[h][i] * x[i]
            }) + net.b[h],
            net.scale.0,
        )
    };
    sum(hidden * hidden) * net.scale.1
}
#[pointful]
fn sharp<H: IndexSet>(n: &Net<H>, modes: &Table<H, Mode>, x: &Table<Fin<2>, f64>) -> f64 {
    let g = grad!(net, wrt = x)(n, modes, x);
    let (v, gn) = value_and_grad!(net, wrt = net)(n, modes, x);
    sum(g * g) + v * gn.scale.0 + sum(gn.b)
}
#[test]
fn derivatives_inside_of_derivatives() {
    let h = 4;
    let modes =
        Table::<Dyn, Mode>::from_indices(Extent::new(h), Extent::default(), vec![0, 1, 2, 0])
            .expect("it is right");
    let p = rnd(2 * h + h + 2, 71);
    let x = rnd(2, 72);
    let make = |p: &[f64]| Net {
        w: Table::<(Dyn, Fin<2>), f64>::from_vec(
            Extent::<(Dyn, Fin<2>)>::new((h, ())),
            p[..2 * h].to_vec(),
        )
        .expect("it is right"),
        b: vect(&p[2 * h..3 * h]),
        scale: (p[3 * h], p[3 * h + 1]),
    };
    let tx = |x: &[f64]| Table::<Fin<2>, f64>::from([x[0], x[1]]);
    let u = |m: usize, x: f64, s: f64| match m {
        0 => {
            if x > 0.0 {
                s * x
            } else {
                0.1 * s * x
            }
        }
        1 => s * x * x,
        _ => (s * x).sin(),
    };
    let plain = |p: &[f64], x: &[f64]| {
        (0..h)
            .map(|k| {
                u(
                    [0, 1, 2, 0][k],
                    p[2 * k] * x[0] + p[2 * k + 1] * x[1] + p[2 * h + k],
                    p[3 * h],
                )
                .powi(2)
            })
            .sum::<f64>()
            * p[3 * h + 1]
    };
    near(net(&make(&p), &modes, &tx(&x)), plain(&p, &x));
    let g = grad!(net, wrt = net)(&make(&p), &modes, &tx(&x));
    all_near(&g.flatten(), &diff(|p| plain(p, &x), &p));
    let sharp_plain = |p: &[f64], x: &[f64]| {
        let gx = grad!(net, wrt = x)(&make(p), &modes, &tx(x));
        let gn = grad!(net, wrt = net)(&make(p), &modes, &tx(x));
        gx.iter().map(|g| g * g).sum::<f64>()
            + net(&make(p), &modes, &tx(x)) * gn.scale.0
            + gn.b.iter().sum::<f64>()
    };
    near(sharp(&make(&p), &modes, &tx(&x)), sharp_plain(&p, &x));
    let (gs, gx) = grad!(sharp)(&make(&p), &modes, &tx(&x));
    all_near(&gs.flatten(), &diff(|p| sharp_plain(p, &x), &p));
    all_near(gx.as_slice(), &diff(|x| sharp_plain(&p, x), &x));
    let hv = hvp!(net, wrt = x)(&make(&p), &modes, &tx(&x), &tx(&[1.0, -0.5]));
    let hd: Vec<f64> = {
        let gr = |h: f64| grad!(net, wrt = x)(&make(&p), &modes, &tx(&[x[0] + h, x[1] - 0.5 * h]));
        let (a, b) = (gr(1e-5), gr(-1e-5));
        a.iter()
            .zip(b.iter())
            .map(|(a, b)| (a - b) / 2e-5)
            .collect()
    };
    all_near(hv.as_slice(), &hd);
}
// Sequential loops backwards over ranges with reads of final tables; triangular solve; linearize reuse; jacobian.
#[pointful]
fn solve<N: IndexSet>(l: &Table<(N, N), f64>, b: &Table<N, f64>) -> Table<N, f64> {
    let mut x = for _n in N {
        0.0
    };
    for i in N {
        let s = sum(for j in ..i {
            l[i][j] * x[j]
        });
        x[i] = (b[i] - s) / (2.0 + l[i][i]);
    }
    let mut y = x;
    for i in N.rev() {
        let s = sum(for j in i.. {
            if j > i { l[j][i] * y[j] } else { 0.0 }
        });
        y[i] = (x[i] - s) / (2.0 + l[i][i]);
    }
    y
}
#[test]
fn substitution_both_ways() {
    for n in [0, 1, 2, 5] {
        let l = rnd(n * n, 81);
        let b = rnd(n, 82);
        let plain = |l: &[f64], b: &[f64]| {
            let mut x = vec![0.0; n];
            for i in 0..n {
                let s: f64 = (0..i).map(|j| l[i * n + j] * x[j]).sum();
                x[i] = (b[i] - s) / (2.0 + l[i * n + i]);
            }
            let mut y = x.clone();
            for i in (0..n).rev() {
                let s: f64 = (i + 1..n).map(|j| l[j * n + i] * y[j]).sum();
                y[i] = (x[i] - s) / (2.0 + l[i * n + i]);
            }
            y
        };
        all_near(solve(&mat(n, n, &l), &vect(&b)).as_slice(), &plain(&l, &b));
        let ct = rnd(n, 83);
        let dot =
            |l: &[f64], b: &[f64]| plain(l, b).iter().zip(&ct).map(|(a, b)| a * b).sum::<f64>();
        let (_, (gl, gb)) = vjp!(solve)(&mat(n, n, &l), &vect(&b), &vect(&ct));
        all_near(gl.as_slice(), &diff(|l| dot(l, &b), &l));
        all_near(gb.as_slice(), &diff(|b| dot(&l, b), &b));
        let j = jacobian!(solve, wrt = b)(&mat(n, n, &l), &vect(&b));
        let (_, map) = linearize!(solve, wrt = b)(&mat(n, n, &l), &vect(&b));
        for k in 0..n {
            let mut e = vec![0.0; n];
            e[k] = 1.0;
            let col = map(&vect(&e));
            for i in 0..n {
                near(j.as_slice()[i * n + k], col.as_slice()[i]);
                near(col.as_slice()[i], plain(&l, &e)[i]);
            }
        }
    }
}
// Integers of many kinds, wrapping, shifts, bits, casts, bool tables, count/any/all, argmax of bools in loops.
#[pointful]
fn bits<N: IndexSet>(
    x: &Table<N, u8>,
    y: &Table<N, i32>,
    s: u32,
) -> (Table<N, u8>, i32, u32, usize, bool, usize, i64) {
    let z = for n in N {
        (x[n] << 1) ^ (x[n] >> 3) | 0b101u8
    };
    let w = sum(for n in N {
        y[n] * 1_000_003 - (x[n] as i32)
    });
    let mut h = s;
    for n in N {
        h = (h ^ x[n] as u32) * 16777619;
    }
    let c = count(for n in N {
        y[n] % 3 == 1
    });
    let all_ = all(for n in N {
        z[n] & 1 == 1
    }) && !any(for n in N {
        y[n] == i32::MAX
    });
    let first = if size(N) > 0 {
        argmax(for n in N {
            y[n] < 0
        })
        .ordinal()
    } else {
        99
    };
    (
        z,
        w,
        h,
        c,
        all_,
        first,
        sum(for n in N {
            (y[n] as i64).abs() / 2 - !(x[n] as i64)
        }),
    )
}
#[test]
fn integers_of_many_kinds() {
    for n in [0usize, 1, 2, 7, 1000] {
        let x: Vec<u8> = rnd(n, 91)
            .iter()
            .map(|x| (x * 1000.0) as i32 as u8)
            .collect();
        let y: Vec<i32> = rnd(n, 92).iter().map(|x| (x * 1e9) as i32).collect();
        let (z, w, h, c, a, f, t) = bits(
            &Table::<Dyn, _>::from(x.clone()),
            &Table::from(y.clone()),
            2166136261,
        );
        let pz: Vec<u8> = x.iter().map(|&x| (x << 1) ^ (x >> 3) | 5).collect();
        assert_eq!(z.as_slice(), pz);
        assert_eq!(
            w,
            x.iter().zip(&y).fold(0i32, |a, (x, y)| a
                .wrapping_add(y.wrapping_mul(1_000_003).wrapping_sub(*x as i32)))
        );
        assert_eq!(
            h,
            x.iter()
                .fold(2166136261u32, |h, x| (h ^ *x as u32).wrapping_mul(16777619))
        );
        assert_eq!(c, y.iter().filter(|y| **y % 3 == 1).count());
        assert!(a);
        assert_eq!(
            f,
            if n == 0 {
                99
            } else {
                y.iter().position(|y| *y < 0).unwrap_or(0)
            }
        );
        assert_eq!(
            t,
            x.iter()
                .zip(&y)
                .map(|(x, y)| (*y as i64).abs() / 2 - !(*x as i64))
                .sum::<i64>()
        );
    }
}
// Own rules under vmap and second derivatives, checkpointed loops over struct states, stop_gradient, constants, returned closures.
#[pointful(vjp = soft_vjp)]
fn soft(x: f64, k: f64) -> f64 {
    (1.0 + (k * x).exp()).ln() / k
}
#[pointful]
fn soft_vjp(x: f64, k: f64, ct: f64) -> (f64, f64) {
    let s = 1.0 / (1.0 + (-k * x).exp());
    (
        ct * s,
        ct * (s * x / k - (1.0 + (k * x).exp()).ln() / (k * k)),
    )
}
#[pointful]
#[derive(Clone)]
struct State<N: IndexSet> {
    u: Table<N, f64>,
    t: f64,
}
#[pointful]
fn stepper(dt: f64) -> impl Fn(f64, f64) -> f64 {
    move |a, b| a + dt * soft(b, 2.0)
}
#[pointful]
fn simulate<N: IndexSet>(u0: &Table<N, f64>, #[constant] dt: f64, k: f64, steps: usize) -> f64 {
    let mut s = State { u: u0, t: 0.0 };
    let step = stepper(dt);
    #[checkpoint(every = 2)]
    for _q in 0..steps {
        s = State {
            u: for n in N {
                step(s.u[n], s.u[(n + 1).wrap()] - k * s.u[n])
            },
            t: s.t + dt * mean(s.u),
        };
    }
    sum(s.u * s.u) + s.t * stop_gradient(s.t)
}
#[test]
fn checkpointed_structs_and_own_rules() {
    for n in [1, 2, 5] {
        for steps in [0, 1, 5] {
            let x = rnd(n, 95);
            let soft = |x: f64, k: f64| (1.0 + (k * x).exp()).ln() / k;
            let run = |x: &[f64], k: f64| {
                let (mut u, mut t) = (x.to_vec(), 0.0);
                for _ in 0..steps {
                    let m = u.iter().sum::<f64>() / n as f64;
                    u = (0..n)
                        .map(|i| u[i] + 0.1 * soft(u[(i + 1) % n] - k * u[i], 2.0))
                        .collect();
                    t += 0.1 * m;
                }
                (u, t)
            };
            let (u, t) = run(&x, 0.7);
            near(
                simulate(&vect(&x), 0.1, 0.7, steps),
                u.iter().map(|u| u * u).sum::<f64>() + t * t,
            );
            let t0 = t;
            let f = |x: &[f64], k: f64| {
                let (u, t) = run(x, k);
                u.iter().map(|u| u * u).sum::<f64>() + t * t0
            };
            let (gu, gk) = grad!(simulate)(&vect(&x), 0.1, 0.7, steps);
            all_near(gu.as_slice(), &diff(|x| f(x, 0.7), &x));
            near(gk, diff(|k| f(&x, k[0]), &[0.7])[0]);
            let many = vmap!(grad!(simulate, wrt = k), over = k)(
                &vect(&x),
                0.1,
                &vect(&[0.7, 0.2]),
                steps,
            );
            near(many.as_slice()[0], gk);
            let second = grad!(grad!(simulate, wrt = k), wrt = k)(&vect(&x), 0.1, 0.7, steps);
            let gkd = |k: f64| grad!(simulate, wrt = k)(&vect(&x), 0.1, k, steps);
            if t0 == 0.0 || steps <= 1 {
                near(second, (gkd(0.7 + 1e-5) - gkd(0.7 - 1e-5)) / 2e-5);
            }
        }
    }
}

/// How far away each of three directions comes from, its opposite, and a weight.
const DOWN: [usize; 3] = [0, 1, 2];
const BACK: [usize; 3] = [0, 2, 1];
const WEIGHT: [usize; 3] = [4, 1, 2];

#[pointful]
fn streamed<N: IndexSet>(f: &Table<(N, Fin<3>), f64>) -> Table<(N, Fin<3>), f64> {
    for (n, q) in _ {
        WEIGHT[q] as f64 * f[(n - DOWN[q]).wrap()][BACK[q]] + DOWN[q] as f64
    }
}

#[test]
fn elements_of_constants_are_offsets_indices_and_numbers() {
    for n in [1, 2, 7] {
        let all: Vec<f64> = (0..3 * n).map(|k| (k * k % 11) as f64).collect();
        let f = Table::<(Dyn, Fin<3>), f64>::from_vec(Extent::new((n, ())), all.clone())
            .expect("as many values");
        let found = streamed(&f);
        for (at, found) in found.as_slice().iter().enumerate() {
            let (n_at, q) = (at / 3, at % 3);
            let from = (n_at + 2 * n - DOWN[q]) % n;
            let expected = WEIGHT[q] as f64 * all[from * 3 + BACK[q]] + DOWN[q] as f64;
            near(*found, expected);
        }
    }
}

/// Tables of results of loops of unequal lengths, written down side by side.
#[pointful]
fn beside<P: IndexSet, L: IndexSet>(
    bounds: &Table<P, usize>,
    x: &Table<L, f64>,
) -> Table<(L, Fin<2>), f64> {
    for l in L {
        sum(for p in 0..bounds[l.ordinal()] {
            let a = sum(for k in 0..bounds[p] {
                x[l] / (k as f64 + 1.0)
            });
            let both = [a, x[l]];
            for r in Fin::<2> {
                x[l] * both[r]
            }
        })
    }
}

#[test]
fn loops_of_unequal_lengths_side_by_side() {
    let bounds = [2_usize, 0, 3];
    let x = [0.5, -1.0, 2.0];
    let found = beside(&Table::<Dyn, usize>::from(bounds.to_vec()), &vect(&x));
    for l in 0..3 {
        let inverses = |n: usize| (1..=n).map(|k| x[l] / k as f64).sum::<f64>();
        let a: f64 = (0..bounds[l]).map(|p| x[l] * inverses(bounds[p])).sum();
        near(found.as_slice()[2 * l], a);
        near(found.as_slice()[2 * l + 1], bounds[l] as f64 * x[l] * x[l]);
    }
}

/// A product of matrices, one after the other, and all its elements added up.
#[pointful]
fn chain<N: IndexSet, D: IndexSet>(x: &Table<(N, D, D), f64>) -> f64 {
    let one = for (i, j) in (D, D) {
        if i == j { 1.0 } else { 0.0 }
    };
    sum(reduce(
        one,
        |a, b| pointful::lib::matmul(a, b),
        for n in N {
            x[n]
        },
    ))
}

#[test]
fn the_gradient_of_a_chain_of_matrices() {
    let table = |n: usize, d: usize, x: &[f64]| {
        let extent = Extent::<(Dyn, Dyn, Dyn)>::new((n, d, d));
        Table::<(Dyn, Dyn, Dyn), f64>::from_vec(extent, x.to_vec()).unwrap()
    };
    for (n, d) in [(1, 1), (1, 3), (2, 2), (3, 2), (5, 3), (0, 2)] {
        let x = rnd(n * d * d, 7);
        let slope = grad!(chain)(&table(n, d, &x));
        for (at, &found) in slope.as_slice().iter().enumerate() {
            let moved = |by: f64| {
                let mut moved = x.clone();
                moved[at] += by;
                chain(&table(n, d, &moved))
            };
            near(found, (moved(1e-6) - moved(-1e-6)) / 2e-6);
        }
    }
}
