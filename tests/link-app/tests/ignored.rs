//! What a result ignores contributes nothing to its derivative, not even NaN, wherever it was
//! computed: at every order and in both modes.

#![allow(clippy::float_cmp, reason = "zero is zero, and these roots are exact")]

use pointful::prelude::*;

#[pointful]
fn root(x: f64) -> f64 {
    let r = x.sqrt();
    if x > 0.0 { r } else { 0.0 }
}
#[pointful]
fn root_by_itself(x: f64) -> f64 {
    let r = x.sqrt();
    if r > 0.5 { r } else { 0.0 }
}
#[pointful]
fn d_root(x: f64) -> f64 {
    grad!(root)(x)
}
#[pointful]
fn t_root(x: f64) -> f64 {
    let (_, t) = jvp!(root)(x, 1.0);
    t
}
#[pointful]
fn dd_root(x: f64) -> f64 {
    grad!(d_root)(x)
}
#[pointful]
fn roots<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let r = for i in N {
        x[i].sqrt()
    };
    sum(for i in N {
        if x[i] > 0.0 { r[i] } else { 0.0 }
    })
}
#[pointful]
fn logs_and<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let r = for i in N {
        x[i].ln()
    };
    sum(for i in N {
        if x[i] > 0.0 && r[i] < 5.0 { r[i] } else { 0.0 }
    })
}
#[pointful]
fn shifted<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let r = for i in N {
        x[i].sqrt()
    };
    sum(for i in N {
        r.get(i + 1).unwrap_or(0.0)
    })
}
#[pointful]
fn clamped(x: f64) -> f64 {
    x.sqrt().max(0.5) + (1.0 / x).min(3.0) + x.ln().clamp(-1.0, 1.0)
}
#[pointful]
fn greatest<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    max(for i in N {
        x[i].sqrt()
    })
}
#[pointful]
fn place<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let r = for i in N {
        x[i].sqrt()
    };
    let k = argmax(x);
    r[k] * r[k] * r[k]
}
#[pointful]
fn picked<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, at: &Table<M, N>) -> f64 {
    let r = for i in N {
        x[i].sqrt()
    };
    sum(for j in M {
        r[at[j]] * 2.0
    })
}
#[pointful]
fn overwritten<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut t = for i in N {
        x[i].sqrt()
    };
    for i in N {
        if x[i] <= 0.0 {
            t[i] = 3.0;
        }
    }
    sum(for i in N {
        t[i] * t[i]
    })
}
#[pointful]
fn in_turn<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut s = 1.0;
    for i in N {
        let r = x[i].sqrt();
        if x[i] > 0.0 {
            s = s * 0.5 * r + r;
        }
    }
    s
}
#[pointful]
fn last<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut s = 1.0;
    for i in N {
        s = x[i].sqrt();
    }
    s
}
#[pointful]
fn layer<N: IndexSet, K: IndexSet, J: IndexSet>(
    x: &Table<(N, K), f64>,
    w: &Table<(K, J), f64>,
) -> f64 {
    let y = for (n, j) in _ {
        sum(for k in K {
            x[n][k] * w[k][j]
        })
    };
    sum(for (n, j) in _ {
        y[n][j].max(0.0)
    })
}
#[pointful]
fn weighted(x: f64, w: f64) -> f64 {
    let u = x.sqrt() * w;
    if x > 0.0 { u } else { w }
}
#[pointful]
fn either_root<N: IndexSet>(x: f64, a: &Table<N, f64>) -> f64 {
    let r = x.sqrt();
    sum(for i in N {
        if a[i] > 0.0 { r * a[i] } else { a[i] }
    })
}
#[pointful]
fn two_readers(x: f64, a: f64, b: f64) -> f64 {
    let r = x.sqrt();
    (if a > 0.0 { r } else { a }) + (if b > 0.0 { r * r } else { b * 3.0 })
}
#[pointful]
fn running<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let t = scan(
        1.0,
        |a, b| {
            let r = b.sqrt();
            if b > 0.0 { a * r } else { a }
        },
        x,
    );
    sum(t)
}
#[pointful]
fn twice<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(for i in N {
        let g = grad!(root)(x[i]);
        g * g
    })
}
#[pointful]
fn grad_roots<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    grad!(roots)(x)
}
#[pointful]
fn sum_grad_roots<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(grad!(roots)(x))
}
#[pointful]
fn sum_grad_shifted<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(grad!(shifted)(x))
}
#[pointful]
fn sum_grad_picked<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, at: &Table<M, N>) -> f64 {
    sum(grad!(picked, wrt = x)(x, at))
}
#[pointful]
fn sum_grad_greatest<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(grad!(greatest)(x))
}
#[pointful]
fn sum_grad_in_turn<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let g = grad!(in_turn)(x);
    sum(for i in N {
        g[i] * g[i]
    })
}

#[pointful]
fn answered<N: IndexSet, K: IndexSet, J: IndexSet>(
    x: &Table<(N, K), f64>,
    w: &Table<(K, J), f64>,
    known: &Table<N, bool>,
) -> f64 {
    let y = for (n, j) in _ {
        sum(for k in K {
            x[n][k] * w[k][j]
        })
    };
    sum(for (n, j) in _ {
        if known[n] { y[n][j] * y[n][j] } else { 0.0 }
    })
}
fn t(x: &[f64]) -> Table<Dyn, f64> {
    Table::from(x.to_vec())
}
fn s(x: &Table<Dyn, f64>) -> Vec<f64> {
    x.as_slice().to_vec()
}
#[test]
fn a_root_before_its_guard() {
    for x in [-1.0, 0.0] {
        assert_eq!(grad!(root)(x), 0.0);
        assert_eq!(grad!(d_root)(x), 0.0);
        assert_eq!(grad!(t_root)(x), 0.0);
        assert_eq!(grad!(dd_root)(x), 0.0);
        assert_eq!(jvp!(root)(x, 1.0).1, 0.0);
        assert_eq!(jvp!(d_root)(x, 1.0).1, 0.0);
        assert_eq!(jvp!(t_root)(x, 1.0).1, 0.0);
        assert_eq!(hessian!(root)(x), 0.0);
        assert_eq!(grad!(root_by_itself)(x), 0.0);
    }
    assert_eq!(grad!(root)(4.0), 0.25);
    assert_eq!(grad!(d_root)(4.0), -1.0 / 32.0);
}
#[test]
fn roots_of_a_table() {
    let x = t(&[0.0, -1.0, 4.0]);
    assert_eq!(s(&grad!(roots)(&x)), [0.0, 0.0, 0.25]);
    assert_eq!(s(&grad!(sum_grad_roots)(&x)), [0.0, 0.0, -1.0 / 32.0]);
    assert_eq!(s(&hvp!(roots)(&x, &x)), [0.0, 0.0, -0.125]);
}
#[test]
fn lazy_conjunctions() {
    let x = t(&[0.0, -1.0, 4.0]);
    assert_eq!(s(&grad!(logs_and)(&x)), [0.0, 0.0, 0.25]);
}
#[test]
fn reads_out_of_range() {
    let x = t(&[0.0, 1.0, 4.0]);
    assert_eq!(s(&grad!(shifted)(&x)), [0.0, 0.5, 0.25]);
    assert_eq!(s(&grad!(sum_grad_shifted)(&x)), [0.0, -0.25, -1.0 / 32.0]);
}
#[test]
fn kinks() {
    assert_eq!(grad!(clamped)(0.0), 0.0);
}
#[test]
fn an_extremum() {
    let x = t(&[0.0, -1.0, 4.0]);
    assert_eq!(s(&grad!(greatest)(&x)), [0.0, 0.0, 0.25]);
    assert_eq!(s(&grad!(sum_grad_greatest)(&x)), [0.0, 0.0, -1.0 / 32.0]);
}
#[test]
fn the_place_of_an_extremum() {
    let x = t(&[0.0, -1.0, 4.0]);
    assert_eq!(s(&grad!(place)(&x)), [0.0, 0.0, 3.0]);
}
#[test]
fn what_is_not_looked_up() {
    let x = t(&[0.0, 1.0, 4.0]);
    let at = Table::<Dyn, Dyn>::from_indices(Extent::new(3), x.extent(), vec![2, 1, 2]).unwrap();
    assert_eq!(s(&grad!(picked, wrt = x)(&x, &at)), [0.0, 1.0, 1.0]);
    assert_eq!(
        s(&grad!(sum_grad_picked, wrt = x)(&x, &at)),
        [0.0, -0.5, -0.125]
    );
}
#[test]
fn what_is_overwritten() {
    let x = t(&[0.0, -1.0, 4.0]);
    assert_eq!(s(&grad!(overwritten)(&x)), [0.0, 0.0, 1.0]);
}
#[test]
fn in_a_sequential_loop() {
    let x = t(&[0.0, -1.0, 4.0]);
    assert_eq!(s(&grad!(in_turn)(&x)), [0.0, 0.0, 0.375]);
    let g = s(&grad!(sum_grad_in_turn)(&x));
    assert_eq!(g[..2], [0.0, 0.0]);
    assert!(g[2].is_finite());
}
#[test]
fn all_values_but_the_last() {
    let x = t(&[0.0, -1.0, 4.0]);
    assert_eq!(s(&grad!(last)(&x)), [0.0, 0.0, 0.25]);
}
#[test]
fn factors_of_what_is_ignored() {
    let g = grad!(weighted)(0.0, f64::INFINITY);
    assert_eq!(g, (0.0, 1.0));
    let g = grad!(weighted)(-1.0, f64::INFINITY);
    assert_eq!(g, (0.0, 1.0));
}
#[test]
fn what_all_branches_of_a_loop_ignore() {
    assert_eq!(grad!(either_root, wrt = x)(0.0, &t(&[-1.0, 0.0])), 0.0);
    assert_eq!(grad!(either_root, wrt = x)(4.0, &t(&[-1.0, 2.0])), 0.5);
}
#[test]
fn several_readers() {
    assert_eq!(grad!(two_readers)(0.0, -1.0, -1.0), (0.0, 1.0, 3.0));
    assert_eq!(grad!(two_readers)(4.0, -1.0, 1.0).0, 1.0);
}
#[test]
fn in_an_operator() {
    let x = t(&[0.0, -1.0, 4.0, 1.0]);
    assert_eq!(s(&grad!(running)(&x)), [0.0, 0.0, 0.5, 1.0]);
}
#[test]
fn in_a_derivative() {
    let x = t(&[0.0, -1.0, 4.0]);
    assert_eq!(s(&grad!(twice)(&x)), [0.0, 0.0, -1.0 / 64.0]);
}

/// A product of matrices, of which rows are ignored that are no numbers: the library multiplies,
/// and a tile with what is no number is computed again.
#[test]
fn rows_of_no_numbers() {
    for (n, k, j) in [(3, 2, 3), (9, 17, 8), (130, 33, 70)] {
        let x = |bad: f64| {
            Table::<(Dyn, Dyn), f64>::from_fn(Extent::new((n, k)), |(a, b): (Dyn, Dyn)| {
                if a.0 % 3 == 1 {
                    bad
                } else {
                    (a.0 + 2 * b.0) as f64 * 0.01
                }
            })
        };
        let w = Table::<(Dyn, Dyn), f64>::from_fn(Extent::new((k, j)), |(a, b): (Dyn, Dyn)| {
            (a.0 * b.0) as f64 * 0.1 - 0.3
        });
        let known = Table::<Dyn, bool>::from_fn(Extent::new(n), |a: Dyn| a.0 % 3 != 1);
        let [numbers, none, infinite] = [0.0, f64::NAN, f64::INFINITY]
            .map(|bad| grad!(answered, wrt = (x, w))(&x(bad), &w, &known));
        assert_eq!(numbers.0.as_slice(), none.0.as_slice());
        assert_eq!(numbers.1.as_slice(), none.1.as_slice());
        assert_eq!(numbers.1.as_slice(), infinite.1.as_slice());
    }
    // A unit whose weights are infinite is never reached.
    let x = Table::<(Dyn, Dyn), f64>::from_fn(Extent::new((9, 8)), |_: (Dyn, Dyn)| 1.0);
    let w = Table::<(Dyn, Dyn), f64>::from_fn(Extent::new((8, 16)), |(_, b): (Dyn, Dyn)| {
        if b.0 == 3 { f64::NEG_INFINITY } else { 0.5 }
    });
    let (dx, dw) = grad!(layer)(&x, &w);
    assert!(dx.iter().all(|&d| d == 7.5));
    assert!(
        dw.as_slice()
            .iter()
            .enumerate()
            .all(|(k, &d)| d == if k % 16 == 3 { 0.0 } else { 9.0 })
    );
}
