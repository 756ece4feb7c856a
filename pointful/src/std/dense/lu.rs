//! Gauss's elimination, and what is solved with it.

use super::triangular::{lower_solved, upper_solved};
use crate::prelude::*;

/// Both factors in one matrix, which row of `a` is each row of their product, and whether that is
/// an even permutation, as 1 or -1.
#[pointful]
pub(crate) fn eliminated<I: IndexSet, T: Float>(
    a: &Table<(I, I), T>,
) -> (Table<(I, I), T>, Table<I, I>, T) {
    let mut w = a;
    let mut rows = for i in I {
        i
    };
    let mut sign = 1.0;
    for k in I {
        let best = argmax(for i in I {
            let size = w[i][k].abs();
            // NaN becomes the pivot, so that it comes into all that follows.
            if i < k {
                -1.0
            } else if size.is_nan() {
                T::INFINITY
            } else {
                size
            }
        });
        if best != k {
            // Number by number: rows that change places whole are copied with the matrix.
            for j in I {
                let upper = w[k][j];
                w[k][j] = w[best][j];
                w[best][j] = upper;
            }
            let upper = rows[k];
            rows[k] = rows[best];
            rows[best] = upper;
            sign = -sign;
        }
        let pivot = w[k][k];
        for i in (k..).skip(1) {
            // Under a pivot of zero there are zeros.
            let factor = if pivot == 0.0 { 0.0 } else { w[i][k] / pivot };
            w[i][k] = factor;
            for j in (k..).skip(1) {
                w[i][j] -= factor * w[k][j];
            }
        }
    }
    (w, rows, sign)
}

#[pointful]
pub(super) fn lower_of<I: IndexSet, T: Float>(w: &Table<(I, I), T>) -> Table<(I, I), T> {
    for (i, j) in (I, I) {
        if j < i {
            w[i][j]
        } else if i == j {
            1.0
        } else {
            0.0
        }
    }
}

#[pointful]
pub(super) fn upper_of<I: IndexSet, T: Float>(w: &Table<(I, I), T>) -> Table<(I, I), T> {
    for (i, j) in (I, I) {
        if i <= j { w[i][j] } else { 0.0 }
    }
}

/// Solves with what [`eliminated`](fn@eliminated) gives.
#[pointful]
pub(crate) fn solved_with<I: IndexSet, T: Float>(
    w: &Table<(I, I), T>,
    rows: &Table<I, I>,
    b: &Table<I, T>,
) -> Table<I, T> {
    let half = lower_solved(
        lower_of(w),
        for i in I {
            b[rows[i]]
        },
    );
    upper_solved(w, half)
}

#[pointful]
pub(super) fn inverted<I: IndexSet, T: Float>(a: &Table<(I, I), T>) -> Table<(I, I), T> {
    let (w, rows, _sign) = eliminated(a);
    let columns = for j in I {
        solved_with(
            w,
            rows,
            for i in I {
                if i == j { 1.0 } else { 0.0 }
            },
        )
    };
    for (i, j) in (I, I) {
        columns[j][i]
    }
}

/// The factorization by Gauss's elimination with partial pivoting: `(I, I)` to `(I, I)`, `(I, I)`
/// and `I` to members of `I`.
///
/// `(l, u, p) = lu(a)`: `l` is lower triangular with ones on its diagonal and no element above 1 in
/// magnitude, `u` upper triangular, and row `i` of their product is row `p[i]` of `a`. The largest
/// element of a column becomes the pivot, of equal ones the first. A singular matrix has factors,
/// too, of which `u` has a zero on its diagonal. The error of the product is some `n ε` of `|l| |u|`
/// (Higham 2002, theorem 9.3). Derivative: Giles (2008), as if the pivots stayed where they are; it
/// is not finite where a pivot but the last one is zero.
///
/// ```
/// use pointful::lib::lu;
/// use pointful::prelude::*;
///
/// let a = Table::<(Fin<2>, Fin<2>), f64>::from([[1.0, 2.0], [4.0, 4.0]]);
/// let (l, u, p) = lu(&a);
/// assert_eq!(l.as_slice(), [1.0, 0.0, 0.25, 1.0]);
/// assert_eq!(u.as_slice(), [4.0, 4.0, 0.0, 1.0]);
/// assert_eq!(p.ordinals().as_ref(), [1, 0]);
/// ```
#[pointful(jvp = lu_jvp)]
pub fn lu<I: IndexSet, T: Float>(
    a: &Table<(I, I), T>,
) -> (Table<(I, I), T>, Table<(I, I), T>, Table<I, I>) {
    let (w, rows, _sign) = eliminated(a);
    (lower_of(w), upper_of(w), rows)
}

/// With `X = L⁻¹ P Ȧ` and `G` the strictly lower triangle of `X U⁻¹`: `L G` and `X - G U`. Both
/// come of one elimination of `X` by `U`, which does not divide by the last pivot.
#[pointful]
fn lu_jvp<I: IndexSet, T: Float>(
    a: &Table<(I, I), T>,
    da: &Table<(I, I), T>,
) -> (Table<(I, I), T>, Table<(I, I), T>) {
    let (w, rows, _sign) = eliminated(a);
    let l = lower_of(w);
    let x = for j in I {
        lower_solved(
            l,
            for i in I {
                da[rows[i]][j]
            },
        )
    };
    let g = for i in I {
        let mut row = for j in I {
            x[j][i]
        };
        for k in ..i {
            let factor = row[k] / w[k][k];
            row[k] = factor;
            for j in (k..).skip(1) {
                row[j] -= factor * w[k][j];
            }
        }
        row
    };
    let dl = for (i, j) in (I, I) {
        sum(for k in ..=i {
            if j < k { l[i][k] * g[k][j] } else { 0.0 }
        })
    };
    (dl, upper_of(g))
}

/// Solves `a · x = b`: `(I, I)`, `I` to `I`.
///
/// Several right-hand sides for one matrix are [`solve_columns`](fn@solve_columns). Of a singular
/// matrix the solution has infinities or NaN. It is that of a
/// matrix which differs from `a` by some `n ε` of `|l| |u|` of [`lu`](fn@lu). Derivative: Giles
/// (2008), by the same factors.
///
/// ```
/// use pointful::lib::solve;
/// use pointful::prelude::*;
///
/// let a = Table::<(Fin<2>, Fin<2>), f64>::from([[1.0, 2.0], [4.0, 4.0]]);
/// assert_eq!(solve(&a, &Table::from([5.0, 12.0])).as_slice(), [1.0, 2.0]);
/// ```
#[pointful(jvp = solve_jvp)]
pub fn solve<I: IndexSet, T: Float>(a: &Table<(I, I), T>, b: &Table<I, T>) -> Table<I, T> {
    let (w, rows, _sign) = eliminated(a);
    solved_with(w, rows, b)
}

#[pointful]
fn solve_jvp<I: IndexSet, T: Float>(
    a: &Table<(I, I), T>,
    b: &Table<I, T>,
    da: &Table<(I, I), T>,
    db: &Table<I, T>,
) -> Table<I, T> {
    let (w, rows, _sign) = eliminated(a);
    let x = solved_with(w, rows, b);
    let moved = for i in I {
        db[i]
            - sum(for j in I {
                da[i][j] * x[j]
            })
    };
    solved_with(w, rows, moved)
}

/// Solves `a · x = b` for each column of a matrix: `(I, I)`, `(I, K)` to `(I, K)`. The matrix `a` is
/// factored once, in derivatives too. Otherwise it is as [`solve`](fn@solve).
///
/// ```
/// use pointful::lib::solve_columns;
/// use pointful::prelude::*;
///
/// let a = Table::<(Fin<2>, Fin<2>), f64>::from([[1.0, 2.0], [4.0, 4.0]]);
/// let b = Table::<(Fin<2>, Fin<2>), f64>::from([[5.0, 3.0], [12.0, 8.0]]);
/// assert_eq!(solve_columns(&a, &b).as_slice(), [1.0, 1.0, 2.0, 1.0]);
/// ```
#[pointful(jvp = solve_columns_jvp)]
pub fn solve_columns<I: IndexSet, K: IndexSet, T: Float>(
    a: &Table<(I, I), T>,
    b: &Table<(I, K), T>,
) -> Table<(I, K), T> {
    let (w, rows, _sign) = eliminated(a);
    columns_solved_with(w, rows, b)
}

#[pointful]
pub(super) fn columns_solved_with<I: IndexSet, K: IndexSet, T: Float>(
    w: &Table<(I, I), T>,
    rows: &Table<I, I>,
    b: &Table<(I, K), T>,
) -> Table<(I, K), T> {
    let columns = for k in K {
        solved_with(
            w,
            rows,
            for i in I {
                b[i][k]
            },
        )
    };
    for (i, k) in (I, K) {
        columns[k][i]
    }
}

#[pointful]
fn solve_columns_jvp<I: IndexSet, K: IndexSet, T: Float>(
    a: &Table<(I, I), T>,
    b: &Table<(I, K), T>,
    da: &Table<(I, I), T>,
    db: &Table<(I, K), T>,
) -> Table<(I, K), T> {
    let (w, rows, _sign) = eliminated(a);
    let x = columns_solved_with(w, rows, b);
    let moved = for (i, k) in (I, K) {
        db[i][k]
            - sum(for j in I {
                da[i][j] * x[j][k]
            })
    };
    columns_solved_with(w, rows, moved)
}

/// The inverse of a matrix: `(I, I)` to `(I, I)`. To solve, [`solve`](fn@solve) is faster and more
/// exact.
///
/// Of a singular matrix it has infinities or NaN. Column by column it is as exact as `solve`.
/// Derivative: Giles (2008).
///
/// ```
/// use pointful::lib::inverse;
/// use pointful::prelude::*;
///
/// let a = Table::<(Fin<2>, Fin<2>), f64>::from([[1.0, 2.0], [4.0, 4.0]]);
/// assert_eq!(inverse(&a).as_slice(), [-1.0, 0.5, 1.0, -0.25]);
/// ```
#[pointful(jvp = inverse_jvp)]
pub fn inverse<I: IndexSet, T: Float>(a: &Table<(I, I), T>) -> Table<(I, I), T> {
    inverted(a)
}

#[pointful]
fn inverse_jvp<I: IndexSet, T: Float>(
    a: &Table<(I, I), T>,
    da: &Table<(I, I), T>,
) -> Table<(I, I), T> {
    let x = inverted(a);
    let half = for (i, j) in (I, I) {
        sum(for k in I {
            x[i][k] * da[k][j]
        })
    };
    for (i, j) in (I, I) {
        -sum(for k in I {
            half[i][k] * x[k][j]
        })
    }
}
