//! What running sums and products are for other operators.

use crate::prelude::*;

/// The largest element so far: `N` to `N`. NaN is ignored; where nothing else has been, it is minus
/// infinity. Of equal elements the first has the derivative.
///
/// ```
/// use pointful::lib::cummax;
/// use pointful::prelude::*;
///
/// let x = Table::<Dyn, f64>::from(vec![1.0, 3.0, 2.0, 4.0]);
/// assert_eq!(cummax(&x).as_slice(), [1.0, 3.0, 3.0, 4.0]);
/// let ct = Table::from(vec![1.0; 4]);
/// assert_eq!(vjp!(cummax)(&x, &ct).1.as_slice(), [1.0, 2.0, 0.0, 1.0]);
/// ```
#[pointful]
pub fn cummax<N: IndexSet, T: Float>(x: &Table<N, T>) -> Table<N, T> {
    scan(T::NEG_INFINITY, |a, b| a.max(b), x)
}

/// The smallest element so far: `N` to `N`. NaN is ignored; where nothing else has been, it is
/// infinity. Of equal elements the first has the derivative.
///
/// ```
/// use pointful::lib::cummin;
/// use pointful::prelude::*;
///
/// let x = Table::<Dyn, f64>::from(vec![3.0, 1.0, 2.0, 0.0]);
/// assert_eq!(cummin(&x).as_slice(), [3.0, 1.0, 1.0, 0.0]);
/// ```
#[pointful]
pub fn cummin<N: IndexSet, T: Float>(x: &Table<N, T>) -> Table<N, T> {
    scan(T::INFINITY, |a, b| a.min(b), x)
}

/// `ln(exp(a) + exp(b))`
#[pointful]
fn logaddexp<T: Float>(a: T, b: T) -> T {
    // It cancels, so it has no derivative.
    let largest = stop_gradient(a.max(b));
    if a.is_nan() || b.is_nan() {
        T::NAN
    } else if largest.is_finite() {
        largest + ((a - largest).exp() + (b - largest).exp()).ln()
    } else {
        largest
    }
}

/// The logarithm of the sum of exponentials so far, without overflow: `N` to `N`. As long as there
/// is nothing but minus infinity, it is minus infinity with derivative zero.
///
/// Each is as exact as [`logsumexp`](fn@super::logsumexp) of what has been. The derivative is that of
/// the scan: parts of sums of exponentials, as those of [`softmax`](fn@super::softmax).
///
/// ```
/// use pointful::lib::logcumsumexp;
/// use pointful::prelude::*;
///
/// let x = Table::<Dyn, f64>::from(vec![1000.0, 1000.0, f64::NEG_INFINITY]);
/// let twice = 1000.0 + 2.0_f64.ln();
/// assert_eq!(logcumsumexp(&x).as_slice(), [1000.0, twice, twice]);
/// ```
#[pointful]
pub fn logcumsumexp<N: IndexSet, T: Float>(x: &Table<N, T>) -> Table<N, T> {
    scan(T::NEG_INFINITY, logaddexp, x)
}
