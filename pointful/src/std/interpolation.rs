//! Places among sorted numbers, and what lies between values at them.

use crate::prelude::*;

/// How many of some ascending numbers are less than `x`: `N`, a number to a `usize`. It is the place
/// of the first that is not less, if there is one, by bisection.
///
/// NaN counts as more than all numbers. Where the numbers do not ascend, the result is some place.
/// There is no derivative.
///
/// ```
/// use pointful::lib::searchsorted;
/// use pointful::prelude::*;
///
/// let sorted = Table::<Dyn, f64>::from(vec![1.0, 2.0, 2.0, 5.0]);
/// assert_eq!([0.0, 2.0, 3.0, 9.0].map(|x| searchsorted(&sorted, x)), [0, 1, 3, 4]);
/// ```
#[pointful]
pub fn searchsorted<N: IndexSet, T: Float>(sorted: &Table<N, T>, x: T) -> usize {
    let mut low = 0;
    let mut rest = size(N);
    while rest > 0 {
        let half = rest / 2;
        if sorted[low + half] < x || x.is_nan() && !sorted[low + half].is_nan() {
            low += half + 1;
            rest -= half + 1;
        } else {
            rest = half;
        }
    }
    low
}

/// The value at `t` of the line from each point to the next one: `N`, `N`, a number to a number.
/// Before the first point and behind the last one it stays what it is there.
///
/// The places `x` ascend, none occurs twice. The place of `t` among them is found by bisection, so
/// it takes some `log n` steps. The error is a few `ε` of the two values between which it lies. It
/// has derivatives by places, values and `t`; at a point that of the line before it.
///
/// # Panics
/// If there is no point.
///
/// ```
/// use pointful::lib::interp;
/// use pointful::prelude::*;
///
/// let x = Table::<Dyn, f64>::from(vec![0.0, 1.0, 3.0]);
/// let y = Table::from(vec![10.0, 20.0, 0.0]);
/// assert_eq!([-1.0, 0.5, 2.0, 9.0].map(|t| interp(&x, &y, t)), [10.0, 15.0, 10.0, 0.0]);
/// assert_eq!(grad!(interp, wrt = t)(&x, &y, 2.0), -10.0);
/// ```
#[pointful]
pub fn interp<N: IndexSet, T: Float>(x: &Table<N, T>, y: &Table<N, T>, t: T) -> T {
    let n = size(N);
    assert!(n > 0, "there is no point to interpolate");
    let after = searchsorted(x, t).clamp(1, n.max(2) - 1);
    if t <= x[0] {
        y[0]
    } else if t > x[n - 1] {
        y[n - 1]
    } else if n == 1 {
        // Only NaN is neither before the point nor behind it.
        t
    } else {
        let (low, high) = (x[after - 1], x[after]);
        let share = (t - low) / (high - low);
        // This way the values at both points are exact.
        (1.0 - share) * y[after - 1] + share * y[after]
    }
}
