//! Means and how far numbers are from them.

use crate::prelude::*;

/// The mean and the variance, the mean of squared distances from it: `I` to two numbers. Of nothing
/// both are NaN.
#[pointful]
pub fn mean_variance<I: IndexSet, T: Float>(x: &Table<I, T>) -> (T, T) {
    let middle = mean(x);
    let spread = mean(for i in I {
        (x[i] - middle).powi(2)
    });
    (middle, spread)
}

/// The mean of squared differences: `I`, `I` to a number. Of nothing it is NaN.
#[pointful]
pub fn mean_squared_error<I: IndexSet, T: Float>(a: &Table<I, T>, b: &Table<I, T>) -> T {
    mean(for i in I {
        (a[i] - b[i]).powi(2)
    })
}
