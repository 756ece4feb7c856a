//! Determinants.

use super::lu::{eliminated, inverted, lower_of};
use super::triangular::{lower_t_solved, upper_solved};
use crate::prelude::*;

/// The derivatives of the determinant by each element, also where it is zero.
///
/// The transposed adjugate of `P⁻¹ L U`. That of `U` is `det U · U⁻¹`, but where one pivot is zero: it
/// is then a column times a row of the inverse of a matrix with another pivot there, times all other
/// pivots. With two pivots of zero it is zero.
#[pointful]
fn cofactors_of<I: IndexSet, T: Float>(a: &Table<(I, I), T>) -> Table<(I, I), T> {
    let (w, rows, sign) = eliminated(a);
    let zeros = count(for i in I {
        w[i][i] == 0.0
    });
    let others = sign
        * prod(for i in I {
            if w[i][i] == 0.0 && zeros < 2 {
                1.0
            } else {
                w[i][i]
            }
        });
    let u = for (i, j) in (I, I) {
        if i == j && w[i][i] == 0.0 {
            1.0
        } else {
            w[i][j]
        }
    };
    // Row `j` is column `j` of the inverse.
    let inverse = for j in I {
        upper_solved(
            u,
            for i in I {
                if i == j { 1.0 } else { 0.0 }
            },
        )
    };
    // Column by column, as it was eliminated.
    let adjugate = for i in I {
        for j in I {
            if zeros == 0 {
                others * inverse[j][i]
            } else {
                others
                    * sum(for k in I {
                        if w[k][k] == 0.0 {
                            inverse[k][i] * inverse[j][k]
                        } else {
                            0.0
                        }
                    })
            }
        }
    };
    let l = lower_of(w);
    let solved = for i in I {
        lower_t_solved(l, adjugate[i])
    };
    let mut cofactors = for (_i, _j) in (I, I) {
        0.0
    };
    for k in I {
        for i in I {
            cofactors[rows[k]][i] += solved[i][k];
        }
    }
    cofactors
}

#[pointful(jvp = cofactors_jvp)]
fn cofactors<I: IndexSet, T: Float>(a: &Table<(I, I), T>) -> Table<(I, I), T> {
    cofactors_of(a)
}

/// Of `det A · A⁻ᵀ`, so for what is not singular.
#[pointful]
fn cofactors_jvp<I: IndexSet, T: Float>(
    a: &Table<(I, I), T>,
    da: &Table<(I, I), T>,
) -> Table<(I, I), T> {
    let x = inverted(a);
    let c = cofactors_of(a);
    let half = for (i, j) in (I, I) {
        sum(for k in I {
            x[i][k] * da[k][j]
        })
    };
    let share = sum(for i in I {
        half[i][i]
    });
    for (i, j) in (I, I) {
        share * c[i][j]
            - sum(for k in I {
                half[j][k] * c[i][k]
            })
    }
}

#[pointful]
pub(super) fn of_pivots<I: IndexSet, T: Float>(a: &Table<(I, I), T>) -> T {
    let (w, _rows, sign) = eliminated(a);
    sign * prod(for i in I {
        w[i][i]
    })
}

/// The determinant: `(I, I)` to a number, for no rows 1.
///
/// It is the product of the pivots of [`lu`](fn@super::lu), whose error is some `n ε` of it for each
/// factor of the condition number; where it may be too large or too small for the type, there is
/// [`slogdet`](fn@slogdet). The derivative is the matrix of cofactors, also where the determinant is
/// zero (Giles 2008); second derivatives are those of matrices that are not singular.
///
/// ```
/// use pointful::lib::det;
/// use pointful::prelude::*;
///
/// let a = Table::<(Fin<2>, Fin<2>), f64>::from([[1.0, 2.0], [2.0, 4.0]]);
/// assert_eq!(det(&a), 0.0);
/// assert_eq!(grad!(det)(&a).as_slice(), [4.0, -2.0, -2.0, 1.0]);
/// ```
#[pointful(jvp = det_jvp)]
pub fn det<I: IndexSet, T: Float>(a: &Table<(I, I), T>) -> T {
    of_pivots(a)
}

#[pointful]
fn det_jvp<I: IndexSet, T: Float>(a: &Table<(I, I), T>, da: &Table<(I, I), T>) -> T {
    let c = cofactors(a);
    sum(for (i, j) in (I, I) {
        c[i][j] * da[i][j]
    })
}

#[pointful]
pub(super) fn signed_logarithm<I: IndexSet, T: Float>(a: &Table<(I, I), T>) -> (T, T) {
    let (w, _rows, sign) = eliminated(a);
    let signs = prod(for i in I {
        if w[i][i] == 0.0 {
            0.0
        } else {
            w[i][i].signum()
        }
    });
    (
        sign * signs,
        sum(for i in I {
            w[i][i].abs().ln()
        }),
    )
}

/// The sign of the determinant and the logarithm of its magnitude: `(I, I)` to two numbers.
///
/// The sign is 1, -1 or 0. Of a singular matrix they are 0 and minus infinity, and the derivative
/// is NaN; else it is the transposed inverse (Giles 2008).
///
/// ```
/// use pointful::lib::slogdet;
/// use pointful::prelude::*;
///
/// let a = Table::<(Fin<2>, Fin<2>), f64>::from([[0.0, 1e200], [1e200, 0.0]]);
/// let (sign, logarithm) = slogdet(&a);
/// assert!(sign == -1.0 && (logarithm - 400.0 * 10.0_f64.ln()).abs() < 1e-12);
/// ```
#[pointful(jvp = slogdet_jvp)]
pub fn slogdet<I: IndexSet, T: Float>(a: &Table<(I, I), T>) -> (T, T) {
    signed_logarithm(a)
}

#[pointful]
fn slogdet_jvp<I: IndexSet, T: Float>(a: &Table<(I, I), T>, da: &Table<(I, I), T>) -> (T, T) {
    let (sign, _logarithm) = signed_logarithm(a);
    let x = inverted(a);
    let share = sum(for (i, j) in (I, I) {
        let slope = if sign == 0.0 { T::NAN } else { x[j][i] };
        slope * da[i][j]
    });
    (0.0, share)
}
