//! Householder's factorization, and least squares by it.

use super::triangular::{upper_solved, upper_t_solved};
use crate::prelude::*;

/// `Q`, transposed, and `R`.
#[pointful]
pub(super) fn reflected<I: IndexSet, J: IndexSet, T: Float>(
    a: &Table<(I, J), T>,
) -> (Table<(J, I), T>, Table<(J, J), T>) {
    assert!(
        size(I) >= size(J),
        "a matrix of {} rows and {} columns has less rows than columns",
        size(I),
        size(J)
    );
    // Columns as rows. From the diagonal on they become the vectors of reflections.
    let mut w = for (j, i) in (J, I) {
        a[i][j]
    };
    let mut ends = for _j in J {
        0.0
    };
    let mut scales = for _j in J {
        0.0
    };
    for j in J {
        let k = I::from_ordinal(j.ordinal());
        let length = sum(for i in k.. {
            w[j][i] * w[j][i]
        })
        .sqrt();
        let first = w[j][k];
        let end = if first > 0.0 { -length } else { length };
        ends[j] = end;
        w[j][k] = first - end;
        let scale = if length == 0.0 {
            0.0
        } else {
            1.0 / (length * (length + first.abs()))
        };
        scales[j] = scale;
        for c in (j..).skip(1) {
            let share = scale
                * sum(for i in k.. {
                    w[j][i] * w[c][i]
                });
            for i in k.. {
                w[c][i] -= share * w[j][i];
            }
        }
    }
    let q = for c in J {
        let mut column = for i in I {
            if i.ordinal() == c.ordinal() { 1.0 } else { 0.0 }
        };
        for j in (..=c).rev() {
            let k = I::from_ordinal(j.ordinal());
            let share = scales[j]
                * sum(for i in k.. {
                    w[j][i] * column[i]
                });
            for i in k.. {
                column[i] -= share * w[j][i];
            }
        }
        for i in I {
            if ends[c] < 0.0 { -column[i] } else { column[i] }
        }
    };
    let r = for (j, c) in (J, J) {
        let k = I::from_ordinal(j.ordinal());
        if j < c {
            if ends[j] < 0.0 { -w[c][k] } else { w[c][k] }
        } else if j == c {
            ends[c].abs()
        } else {
            0.0
        }
    };
    (q, r)
}

/// The factorization of a matrix with orthogonal columns, by Householder's reflections: `(I, J)` to
/// `(I, J)` and `(J, J)`.
///
/// `(q, r) = qr(a)`: `a` is `q · r`, the columns of `q` are orthogonal and of length 1, `r` is upper
/// triangular. The diagonal of `r` is not negative, so that both are determined where the columns of
/// `a` are independent. The error of the product is some `m n ε` of the length of each column (Higham
/// 2002, theorem 19.4). Derivative: Walter and Lehmann (2012); it is not finite where columns are
/// dependent.
///
/// Squares of elements are summed as they are, so elements are to be less than the root of the
/// largest number of the type.
///
/// # Panics
/// If there are less rows than columns.
///
/// ```
/// use pointful::lib::qr;
/// use pointful::prelude::*;
///
/// let a = Table::<(Fin<3>, Fin<2>), f64>::from([[0.0, 1.0], [-2.0, 3.0], [0.0, 4.0]]);
/// let (q, r) = qr(&a);
/// let near = |x: &[f64], y: &[f64]| x.iter().zip(y).all(|(x, y)| (x - y).abs() < 1e-15);
/// assert!(near(r.as_slice(), &[2.0, -3.0, 0.0, 17.0_f64.sqrt()]));
/// assert!(near(&q.as_slice()[..4], &[0.0, 1.0 / 17.0_f64.sqrt(), -1.0, 0.0]));
/// ```
#[pointful(jvp = qr_jvp)]
pub fn qr<I: IndexSet, J: IndexSet, T: Float>(
    a: &Table<(I, J), T>,
) -> (Table<(I, J), T>, Table<(J, J), T>) {
    let (q, r) = reflected(a);
    (
        for (i, j) in (I, J) {
            q[j][i]
        },
        r,
    )
}

/// With `B = Ȧ R⁻¹`, `C = Qᵀ B` and `E` the upper triangle of `C` plus the transposed lower one:
/// `B - Q E` and `E R`.
#[pointful]
fn qr_jvp<I: IndexSet, J: IndexSet, T: Float>(
    a: &Table<(I, J), T>,
    da: &Table<(I, J), T>,
) -> (Table<(I, J), T>, Table<(J, J), T>) {
    let (q, r) = reflected(a);
    let b = for i in I {
        upper_t_solved(r, da[i])
    };
    let c = for (j, k) in (J, J) {
        sum(for i in I {
            q[j][i] * b[i][k]
        })
    };
    let e = for (j, k) in (J, J) {
        if j < k {
            c[j][k] + c[k][j]
        } else if j == k {
            c[j][k]
        } else {
            0.0
        }
    };
    let dq = for (i, j) in (I, J) {
        b[i][j]
            - sum(for k in ..=j {
                q[k][i] * e[k][j]
            })
    };
    let dr = for (j, k) in (J, J) {
        let inner = sum(for m in ..=k {
            e[j][m] * r[m][k]
        });
        if j <= k { inner } else { 0.0 }
    };
    (dq, dr)
}

/// The vector `x` for which `a · x` is nearest to `b`: `(I, J)`, `I` to `J`.
///
/// By [`qr`](fn@qr), so the columns are independent; if not, the result has infinities, NaN or
/// numbers without meaning. It solves the problem of a matrix that differs from `a` by some `m n ε` of
/// the length of each column (Higham 2002, theorem 20.3). Derivative: Golub and Pereyra (1973).
///
/// # Panics
/// If there are less rows than columns.
///
/// ```
/// use pointful::lib::lstsq;
/// use pointful::prelude::*;
///
/// // The line through three points.
/// let a = Table::<(Fin<3>, Fin<2>), f64>::from([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]);
/// let line = lstsq(&a, &Table::from([1.0, 3.0, 2.0]));
/// assert!((line.as_slice()[0] - 1.5).abs() < 1e-14 && (line.as_slice()[1] - 0.5).abs() < 1e-14);
/// ```
#[pointful(jvp = lstsq_jvp)]
pub fn lstsq<I: IndexSet, J: IndexSet, T: Float>(
    a: &Table<(I, J), T>,
    b: &Table<I, T>,
) -> Table<J, T> {
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

/// `A⁺(ḃ - Ȧ x) + (Aᵀ A)⁻¹ Ȧᵀ (b - A x)`
#[pointful]
fn lstsq_jvp<I: IndexSet, J: IndexSet, T: Float>(
    a: &Table<(I, J), T>,
    b: &Table<I, T>,
    da: &Table<(I, J), T>,
    db: &Table<I, T>,
) -> Table<J, T> {
    let (q, r) = reflected(a);
    let x = upper_solved(
        r,
        for j in J {
            sum(for i in I {
                q[j][i] * b[i]
            })
        },
    );
    let rest = for i in I {
        b[i] - sum(for j in J {
            a[i][j] * x[j]
        })
    };
    let moved = for i in I {
        db[i]
            - sum(for j in J {
                da[i][j] * x[j]
            })
    };
    let turned = upper_t_solved(
        r,
        for j in J {
            sum(for i in I {
                da[i][j] * rest[i]
            })
        },
    );
    upper_solved(
        r,
        for j in J {
            turned[j]
                + sum(for i in I {
                    q[j][i] * moved[i]
                })
        },
    )
}
