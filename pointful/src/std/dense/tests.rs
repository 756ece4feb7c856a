//! Rules against the derivatives of the bodies that they replace, forwards and backwards, in both
//! floats.

use super::det::{of_pivots, signed_logarithm};
use super::lu::{eliminated, inverted, lower_of, solved_with, upper_of};
use super::qr::reflected;
use super::triangular::{lower_solved, lower_t_solved, upper_solved, upper_t_solved};
use super::{
    cholesky, det, inverse, lstsq, lu, qr, slogdet, solve, solve_columns, solve_lower,
    solve_lower_t, solve_upper, solve_upper_t,
};
use crate::prelude::*;

/// Numbers in -1/2..1/2 without a pattern.
fn number(k: usize, seed: usize) -> f64 {
    ((k * k * 7919 + k * 104_729 + seed * 1_299_709 + 13) % 1009) as f64 / 1009.0 - 0.5
}

fn vector(n: usize, seed: usize) -> Table<Dyn, f64> {
    (0..n).map(|k| number(k, seed)).collect()
}

/// A matrix with a large diagonal.
fn matrix(rows: usize, columns: usize, seed: usize) -> Table<(Dyn, Dyn), f64> {
    Table::from_fn((rows, columns).into(), |(Dyn(i), Dyn(j))| {
        number(i * columns + j, seed) + if i == j { columns as f64 } else { 0.0 }
    })
}

trait Numbers {
    fn numbers(&self) -> Vec<f64>;
}

impl<I: IndexSet> Numbers for Table<I, f64> {
    fn numbers(&self) -> Vec<f64> {
        self.as_slice().to_vec()
    }
}

impl<I: IndexSet> Numbers for Table<I, f32> {
    fn numbers(&self) -> Vec<f64> {
        self.iter().map(|&x| f64::from(x)).collect()
    }
}

fn single<I: IndexSet>(t: &Table<I, f64>) -> Table<I, f32> {
    Table::from_fn(t.extent(), |i| t[i] as f32)
}

#[track_caller]
fn close(found: &impl Numbers, expected: &impl Numbers, within: f64) {
    let (found, expected) = (found.numbers(), expected.numbers());
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().fold(1.0, |size: f64, x| size.max(x.abs()));
    for (found, expected) in found.iter().zip(&expected) {
        let near = (found - expected).abs() <= within * size;
        assert!(near, "{found} is not {expected}, of at most {size}");
    }
}

#[pointful]
fn lu_by_rule<I: IndexSet, T: Float>(a: &Table<(I, I), T>) -> Table<(I, I), T> {
    let (l, u, p) = lu(a);
    for (i, j) in (I, I) {
        l[i][j] * (1.0 + p[j].ordinal() as T) + 2.0 * u[i][j]
    }
}

#[pointful]
fn lu_by_body<I: IndexSet>(a: &Table<(I, I), f64>) -> Table<(I, I), f64> {
    let (w, p, _sign) = eliminated(a);
    let (l, u) = (lower_of(w), upper_of(w));
    for (i, j) in (I, I) {
        l[i][j] * (1.0 + p[j].ordinal() as f64) + 2.0 * u[i][j]
    }
}

#[pointful]
fn solve_by_body<I: IndexSet>(a: &Table<(I, I), f64>, b: &Table<I, f64>) -> Table<I, f64> {
    let (w, p, _sign) = eliminated(a);
    solved_with(w, p, b)
}

/// Three right-hand sides.
#[pointful]
fn columns_by_rule<I: IndexSet, T: Float>(
    a: &Table<(I, I), T>,
    b: &Table<I, T>,
) -> Table<(I, Fin<3>), T> {
    solve_columns(
        a,
        for (i, k) in (I, Fin::<3>) {
            b[i] * (1.0 + k.ordinal() as T) + a[i][i]
        },
    )
}

#[pointful]
fn columns_by_body<I: IndexSet>(
    a: &Table<(I, I), f64>,
    b: &Table<I, f64>,
) -> Table<(I, Fin<3>), f64> {
    let x = for k in Fin::<3> {
        solve(
            a,
            for i in I {
                b[i] * (1.0 + k.ordinal() as f64) + a[i][i]
            },
        )
    };
    for (i, k) in (I, Fin::<3>) {
        x[k][i]
    }
}

#[pointful]
fn of_det<I: IndexSet, T: Float>(a: &Table<(I, I), T>) -> Table<I, T> {
    let (sign, logarithm) = slogdet(a);
    for i in I {
        det(a) + sign * logarithm * i.ordinal() as T
    }
}

#[pointful]
fn of_det_by_body<I: IndexSet>(a: &Table<(I, I), f64>) -> Table<I, f64> {
    let (sign, logarithm) = signed_logarithm(a);
    for i in I {
        of_pivots(a) + sign * logarithm * i.ordinal() as f64
    }
}

#[pointful]
fn q_by_rule<I: IndexSet, J: IndexSet, T: Float>(a: &Table<(I, J), T>) -> Table<(I, J), T> {
    qr(a).0
}

#[pointful]
fn q_by_body<I: IndexSet, J: IndexSet>(a: &Table<(I, J), f64>) -> Table<(I, J), f64> {
    let (q, _r) = reflected(a);
    for (i, j) in (I, J) {
        q[j][i]
    }
}

#[pointful]
fn r_by_rule<I: IndexSet, J: IndexSet, T: Float>(a: &Table<(I, J), T>) -> Table<(J, J), T> {
    qr(a).1
}

#[pointful]
fn r_by_body<I: IndexSet, J: IndexSet>(a: &Table<(I, J), f64>) -> Table<(J, J), f64> {
    reflected(a).1
}

#[pointful]
fn lstsq_by_body<I: IndexSet, J: IndexSet>(
    a: &Table<(I, J), f64>,
    b: &Table<I, f64>,
) -> Table<J, f64> {
    let (q, r) = reflected(a);
    upper_solved(
        r,
        for j in J {
            sum(for i in I {
                q[j][i] * b[i]
            })
        },
    )
}

#[pointful(jvp = cholesky_by_rule_jvp)]
fn cholesky_by_rule<I: IndexSet, T: Float>(a: &Table<(I, I), T>) -> Table<(I, I), T> {
    cholesky(a)
}

/// `L Φ(L⁻¹ Ȧ L⁻ᵀ)`, where `Φ` is the lower triangle with half of the diagonal.
#[pointful]
fn cholesky_by_rule_jvp<I: IndexSet, T: Float>(
    a: &Table<(I, I), T>,
    da: &Table<(I, I), T>,
) -> Table<(I, I), T> {
    let l = cholesky(a);
    let half = for j in I {
        lower_solved(
            l,
            for i in I {
                if j <= i { da[i][j] } else { da[j][i] }
            },
        )
    };
    let both = for i in I {
        lower_solved(
            l,
            for j in I {
                half[j][i]
            },
        )
    };
    let part = for (i, j) in (I, I) {
        let share = if i == j { 0.5 } else { 1.0 };
        if j <= i { share * both[i][j] } else { 0.0 }
    };
    for (i, j) in (I, I) {
        sum(for k in ..=i {
            l[i][k] * part[k][j]
        })
    }
}

macro_rules! agree {
    ($f:ident, $body:ident, $rows:expr, $columns:expr) => {{
        let (a, da) = (matrix($rows, $columns, 1), matrix($rows, $columns, 2));
        let (value, tangent) = jvp!($body)(&a, &da);
        let (found, by_rule) = jvp!($f)(&a, &da);
        close(&found, &value, 1e-14);
        close(&by_rule, &tangent, 1e-11);
        let ct = value.map(|x| (3.0 * x).cos());
        let back = vjp!($body)(&a, &ct).1;
        close(&vjp!($f)(&a, &ct).1, &back, 1e-11);
        let (a, da, ct) = (single(&a), single(&da), single(&ct));
        close(&jvp!($f)(&a, &da).1, &tangent, 1e-4);
        close(&vjp!($f)(&a, &ct).1, &back, 1e-4);
    }};
    ($f:ident, $body:ident, $rows:expr, $columns:expr, and a vector) => {{
        let (a, da) = (matrix($rows, $columns, 1), matrix($rows, $columns, 2));
        let (b, db) = (vector($rows, 3), vector($rows, 4));
        let (value, tangent) = jvp!($body)(&a, &b, &da, &db);
        let (found, by_rule) = jvp!($f)(&a, &b, &da, &db);
        close(&found, &value, 1e-14);
        close(&by_rule, &tangent, 1e-11);
        let ct = value.map(|x| (3.0 * x).cos());
        let (by_a, by_b) = vjp!($body)(&a, &b, &ct).1;
        let back = vjp!($f)(&a, &b, &ct).1;
        close(&back.0, &by_a, 1e-11);
        close(&back.1, &by_b, 1e-11);
        let (a, b, da, db) = (single(&a), single(&b), single(&da), single(&db));
        close(&jvp!($f)(&a, &b, &da, &db).1, &tangent, 1e-4);
        let back = vjp!($f)(&a, &b, &single(&ct)).1;
        close(&back.0, &by_a, 1e-4);
        close(&back.1, &by_b, 1e-4);
    }};
}

const SIZES: [usize; 6] = [0, 1, 2, 3, 7, 17];

#[test]
fn of_triangular_solutions() {
    for n in SIZES {
        agree!(solve_lower, lower_solved, n, n, and a vector);
        agree!(solve_upper, upper_solved, n, n, and a vector);
        agree!(solve_lower_t, lower_t_solved, n, n, and a vector);
        agree!(solve_upper_t, upper_t_solved, n, n, and a vector);
    }
}

#[test]
fn of_factorizations() {
    for n in SIZES {
        agree!(cholesky_by_rule, cholesky, n, n);
        agree!(lu_by_rule, lu_by_body, n, n);
        agree!(q_by_rule, q_by_body, n + 2, n);
        agree!(r_by_rule, r_by_body, n + 2, n);
        agree!(r_by_rule, r_by_body, n, n);
    }
}

#[test]
fn of_solutions() {
    for n in SIZES {
        agree!(solve, solve_by_body, n, n, and a vector);
        agree!(columns_by_rule, columns_by_body, n, n, and a vector);
        agree!(inverse, inverted, n, n);
        agree!(lstsq, lstsq_by_body, n + 2, n, and a vector);
        // A determinant of more rows is beyond all singles.
        if n < 17 {
            agree!(of_det, of_det_by_body, n, n);
        }
    }
}
