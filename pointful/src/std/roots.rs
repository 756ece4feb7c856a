//! Derivatives of roots and fixed points, by the implicit function theorem.
//!
//! A root found by any means is improved by three steps of Newton's method whose Jacobian stays that
//! of the root. What the steps start from is constant. If they start `ε` beside the root of other
//! parameters, as far as parameters are varied by some `ε`, the first ends some `ε²` beside it, the
//! second `ε³` and the third `ε⁴`: so derivatives up to the third are those of the root.

use super::dense::{eliminated, solved_with};
use crate::prelude::*;

const STEPS: usize = 3;

/// A root of `f` with its derivatives: `N` to `N`, from a root `x` that was found by any means.
///
/// `f` is a closure; the root depends on what it captures, by the implicit function theorem
/// (Blondel et al. 2022). Derivatives up to the third are right; how `x` was found has no part in
/// them, and no loop that found it is kept. The root is `x` after three steps of Newton's method
/// with the Jacobian at `x`, so that derivatives are as good as `x`, and to some `κ ε` at best with
/// the condition `κ` of that Jacobian. Where it is singular the root is infinite or NaN.
///
/// Like all functions of functions of tables it is called from `#[pointful]` functions.
///
/// ```
/// use pointful::lib::{implicit, solve};
/// use pointful::prelude::*;
///
/// /// Where a circle of radius `r` meets a line of slope `m` through its centre.
/// #[pointful]
/// fn meeting(r: f64, m: f64) -> Table<Fin<2>, f64> {
///     let off = |p: &Table<Fin<2>, f64>| [p[0] * p[0] + p[1] * p[1] - r * r, p[1] - m * p[0]];
///     let mut found = [r, r];
///     for _step in 0..20 {
///         found = found - solve(jacobian!(off)(found), off(found));
///     }
///     implicit(off, found)
/// }
///
/// let place = meeting(5.0, 0.75);
/// assert!((place[0] - 4.0).abs() < 1e-14 && (place[1] - 3.0).abs() < 1e-14);
/// let (by_r, by_m) = jacobian!(meeting)(5.0, 0.75);
/// assert!((by_r[0] - 0.8).abs() < 1e-14 && (by_m[0] + 1.92).abs() < 1e-14);
/// ```
#[pointful]
pub fn implicit<N: IndexSet, T: Float>(
    f: impl Fn(&Table<N, T>) -> Table<N, T>,
    x: &Table<N, T>,
) -> Table<N, T> {
    let found = stop_gradient(x);
    let (w, rows, _sign) = eliminated(stop_gradient(jacobian!(f)(found)));
    let mut root = found;
    for _step in 0..STEPS {
        root = root - solved_with(w, rows, f(root));
    }
    root
}

/// The same as [`implicit`](fn@implicit) for one number: a root `x` of `f`, with its derivatives.
///
/// ```
/// use pointful::lib::implicit_scalar;
/// use pointful::prelude::*;
///
/// /// The eccentric anomaly of an orbit of eccentricity `e`, by Kepler's equation.
/// #[pointful]
/// fn anomaly(mean: f64, e: f64) -> f64 {
///     let mut found = mean;
///     for _step in 0..60 {
///         found = mean + e * found.sin();
///     }
///     implicit_scalar(|x: f64| x - e * x.sin() - mean, found)
/// }
///
/// let (by_mean, by_e) = grad!(anomaly)(1.0, 0.3);
/// let x = anomaly(1.0, 0.3);
/// assert!((by_mean - 1.0 / (1.0 - 0.3 * x.cos())).abs() < 1e-14);
/// assert!((by_e - x.sin() * by_mean).abs() < 1e-14);
/// ```
#[pointful]
pub fn implicit_scalar<T: Float>(f: impl Fn(T) -> T, x: T) -> T {
    let found = stop_gradient(x);
    let slope = stop_gradient(grad!(f)(found));
    let mut root = found;
    for _step in 0..STEPS {
        root = root - f(root) / slope;
    }
    root
}

/// A fixed point of `f` with its derivatives: `N` to `N`, from an `x` with `f(x) = x` that was found
/// by any means. It is [`implicit`](fn@implicit) of `x - f(x)`.
///
/// ```
/// use pointful::lib::fixed_point;
/// use pointful::prelude::*;
///
/// /// Activities of neurons that excite each other.
/// #[pointful]
/// fn at_rest<N: IndexSet>(w: &Table<(N, N), f64>, input: &Table<N, f64>) -> Table<N, f64> {
///     let next = |x: &Table<N, f64>| for i in N { (sum(for j in N { w[i][j] * x[j] }) + input[i]).tanh() };
///     let mut found = input;
///     for _step in 0..100 {
///         found = next(found);
///     }
///     fixed_point(next, found)
/// }
///
/// let w = Table::<(Fin<1>, Fin<1>), f64>::from([[0.5]]);
/// let slope = jacobian!(at_rest, wrt = input)(&w, &Table::from([0.0]));
/// assert!((slope.as_slice()[0] - 2.0).abs() < 1e-14);
/// ```
#[pointful]
pub fn fixed_point<N: IndexSet, T: Float>(
    f: impl Fn(&Table<N, T>) -> Table<N, T>,
    x: &Table<N, T>,
) -> Table<N, T> {
    implicit(|x: &Table<N, T>| x - f(x), x)
}
