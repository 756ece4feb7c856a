//! Systems of equations with triangular matrices.

use crate::prelude::*;

#[pointful]
pub(super) fn lower_solved<I: IndexSet, T: Float>(
    l: &Table<(I, I), T>,
    b: &Table<I, T>,
) -> Table<I, T> {
    let mut x = for _i in I {
        0.0
    };
    for i in I {
        x[i] = (b[i]
            - sum(for j in ..i {
                l[i][j] * x[j]
            }))
            / l[i][i];
    }
    x
}

#[pointful]
pub(super) fn upper_solved<I: IndexSet, T: Float>(
    u: &Table<(I, I), T>,
    b: &Table<I, T>,
) -> Table<I, T> {
    let mut x = for _i in I {
        0.0
    };
    for i in I.rev() {
        x[i] = (b[i]
            - sum(for j in (i..).skip(1) {
                u[i][j] * x[j]
            }))
            / u[i][i];
    }
    x
}

/// With the transposed matrix, whose columns are rows of this one: what is known is subtracted at
/// once, so that rows are read from end to end.
#[pointful]
pub(super) fn lower_t_solved<I: IndexSet, T: Float>(
    l: &Table<(I, I), T>,
    b: &Table<I, T>,
) -> Table<I, T> {
    let mut x = b;
    for i in I.rev() {
        let known = x[i] / l[i][i];
        x[i] = known;
        for j in ..i {
            x[j] -= l[i][j] * known;
        }
    }
    x
}

#[pointful]
pub(super) fn upper_t_solved<I: IndexSet, T: Float>(
    u: &Table<(I, I), T>,
    b: &Table<I, T>,
) -> Table<I, T> {
    let mut x = b;
    for i in I {
        let known = x[i] / u[i][i];
        x[i] = known;
        for j in (i..).skip(1) {
            x[j] -= u[i][j] * known;
        }
    }
    x
}

/// Solves `l · x = b` for a lower triangular matrix: `(I, I)`, `I` to `I`. What is above the
/// diagonal is not read.
///
/// Each component is divided by an element of the diagonal, so it is an infinity or NaN from a zero
/// there on. The solution is that of a matrix that differs from `l` by some `n ε` of each element
/// (Higham 2002, theorem 8.5). Derivative: Giles (2008).
///
/// ```
/// use pointful::lib::solve_lower;
/// use pointful::prelude::*;
///
/// let l = Table::<(Fin<2>, Fin<2>), f64>::from([[2.0, 0.0], [1.0, 4.0]]);
/// assert_eq!(solve_lower(&l, &Table::from([2.0, 9.0])).as_slice(), [1.0, 2.0]);
/// ```
#[pointful(jvp = solve_lower_jvp)]
pub fn solve_lower<I: IndexSet, T: Float>(l: &Table<(I, I), T>, b: &Table<I, T>) -> Table<I, T> {
    lower_solved(l, b)
}

#[pointful]
fn solve_lower_jvp<I: IndexSet, T: Float>(
    l: &Table<(I, I), T>,
    b: &Table<I, T>,
    dl: &Table<(I, I), T>,
    db: &Table<I, T>,
) -> Table<I, T> {
    let x = lower_solved(l, b);
    let moved = for i in I {
        db[i]
            - sum(for j in ..=i {
                dl[i][j] * x[j]
            })
    };
    lower_solved(l, moved)
}

/// Solves `u · x = b` for an upper triangular matrix: `(I, I)`, `I` to `I`. What is below the
/// diagonal is not read. Otherwise it is as [`solve_lower`](fn@solve_lower).
///
/// ```
/// use pointful::lib::solve_upper;
/// use pointful::prelude::*;
///
/// let u = Table::<(Fin<2>, Fin<2>), f64>::from([[2.0, 1.0], [0.0, 4.0]]);
/// assert_eq!(solve_upper(&u, &Table::from([4.0, 8.0])).as_slice(), [1.0, 2.0]);
/// ```
#[pointful(jvp = solve_upper_jvp)]
pub fn solve_upper<I: IndexSet, T: Float>(u: &Table<(I, I), T>, b: &Table<I, T>) -> Table<I, T> {
    upper_solved(u, b)
}

#[pointful]
fn solve_upper_jvp<I: IndexSet, T: Float>(
    u: &Table<(I, I), T>,
    b: &Table<I, T>,
    du: &Table<(I, I), T>,
    db: &Table<I, T>,
) -> Table<I, T> {
    let x = upper_solved(u, b);
    let moved = for i in I {
        db[i]
            - sum(for j in i.. {
                du[i][j] * x[j]
            })
    };
    upper_solved(u, moved)
}

/// Solves `lᵀ · x = b` for a lower triangular matrix, without transposing it: `(I, I)`, `I` to `I`.
/// Otherwise it is as [`solve_lower`](fn@solve_lower).
///
/// ```
/// use pointful::lib::{cholesky, solve_lower, solve_lower_t};
/// use pointful::prelude::*;
///
/// let a = Table::<(Fin<2>, Fin<2>), f64>::from([[4.0, 2.0], [2.0, 10.0]]);
/// let l = cholesky(&a);
/// let x = solve_lower_t(&l, &solve_lower(&l, &Table::from([6.0, 12.0])));
/// assert_eq!(x.as_slice(), [1.0, 1.0]);
/// ```
#[pointful(jvp = solve_lower_t_jvp)]
pub fn solve_lower_t<I: IndexSet, T: Float>(l: &Table<(I, I), T>, b: &Table<I, T>) -> Table<I, T> {
    lower_t_solved(l, b)
}

#[pointful]
fn solve_lower_t_jvp<I: IndexSet, T: Float>(
    l: &Table<(I, I), T>,
    b: &Table<I, T>,
    dl: &Table<(I, I), T>,
    db: &Table<I, T>,
) -> Table<I, T> {
    let x = lower_t_solved(l, b);
    let moved = for j in I {
        db[j]
            - sum(for i in j.. {
                dl[i][j] * x[i]
            })
    };
    lower_t_solved(l, moved)
}

/// Solves `uᵀ · x = b` for an upper triangular matrix, without transposing it: `(I, I)`, `I` to
/// `I`. Otherwise it is as [`solve_lower`](fn@solve_lower).
///
/// ```
/// use pointful::lib::solve_upper_t;
/// use pointful::prelude::*;
///
/// let u = Table::<(Fin<2>, Fin<2>), f64>::from([[2.0, 1.0], [0.0, 4.0]]);
/// assert_eq!(solve_upper_t(&u, &Table::from([2.0, 9.0])).as_slice(), [1.0, 2.0]);
/// ```
#[pointful(jvp = solve_upper_t_jvp)]
pub fn solve_upper_t<I: IndexSet, T: Float>(u: &Table<(I, I), T>, b: &Table<I, T>) -> Table<I, T> {
    upper_t_solved(u, b)
}

#[pointful]
fn solve_upper_t_jvp<I: IndexSet, T: Float>(
    u: &Table<(I, I), T>,
    b: &Table<I, T>,
    du: &Table<(I, I), T>,
    db: &Table<I, T>,
) -> Table<I, T> {
    let x = upper_t_solved(u, b);
    let moved = for j in I {
        db[j]
            - sum(for i in ..=j {
                du[i][j] * x[i]
            })
    };
    upper_t_solved(u, moved)
}
