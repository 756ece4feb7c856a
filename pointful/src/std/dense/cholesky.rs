//! Cholesky's factorization.

use crate::prelude::*;

/// The lower triangular matrix, with a positive diagonal, whose product with its transpose is `a`:
/// `(I, I)` to `(I, I)`.
///
/// `a` is symmetric: what is above its diagonal is not read, and the derivative by it is zero. Where
/// it is not positive definite the factor is NaN, from the row and column on at which that shows,
/// and nothing panics: so a line search can step back. The product is that of a matrix which differs
/// from `a` by some `n ε` of its diagonal (Higham 2002, theorem 10.3).
///
/// The derivative is that of the loops, which keeps nothing but the factor and is faster than by
/// triangular solutions with whole matrices (Murray 2016 compares both).
///
/// ```
/// use pointful::lib::cholesky;
/// use pointful::prelude::*;
///
/// let a = Table::<(Fin<2>, Fin<2>), f64>::from([[4.0, 2.0], [2.0, 10.0]]);
/// assert_eq!(cholesky(&a).as_slice(), [2.0, 0.0, 1.0, 3.0]);
/// let indefinite = Table::<(Fin<2>, Fin<2>), f64>::from([[4.0, 2.0], [2.0, 1.0]]);
/// assert!(cholesky(&indefinite).as_slice()[3].is_nan());
/// ```
#[pointful]
pub fn cholesky<I: IndexSet, T: Float>(a: &Table<(I, I), T>) -> Table<(I, I), T> {
    let mut l = for (_i, _j) in (I, I) {
        0.0
    };
    for j in I {
        let rest = a[j][j]
            - sum(for k in ..j {
                l[j][k] * l[j][k]
            });
        let pivot = if rest > 0.0 { rest.sqrt() } else { T::NAN };
        l[j][j] = pivot;
        for i in (j..).skip(1) {
            l[i][j] = (a[i][j]
                - sum(for k in ..j {
                    l[i][k] * l[j][k]
                }))
                / pivot;
        }
    }
    l
}
