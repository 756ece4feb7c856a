//! Exponentials of scores, without overflow.

use crate::prelude::*;

/// What to subtract from scores so that none of their exponentials is too large: it cancels, so it
/// has no derivative.
#[pointful]
fn shift<I: IndexSet, T: Float>(x: &Table<I, T>) -> T {
    let largest = stop_gradient(max(x));
    // Infinity less infinity would be NaN.
    if largest.is_finite() { largest } else { 0.0 }
}

/// The logarithm of the sum of exponentials: `I` to a number.
///
/// Of nothing, and of scores that are all minus infinity, it is minus infinity with derivative
/// zero.
#[pointful]
pub fn logsumexp<I: IndexSet, T: Float>(x: &Table<I, T>) -> T {
    let shift = shift(x);
    let total = sum(for i in I {
        (x[i] - shift).exp()
    });
    // No branch, which would ignore the sum.
    let (one, least) = if total == 0.0 {
        (1.0, stop_gradient(max(x)))
    } else {
        (0.0, 0.0)
    };
    (total + one).ln() + shift + least
}

/// Exponentials of scores, as parts of their sum: `I` to `I`. A score of minus infinity gives 0; if
/// all are, the result is NaN.
#[pointful]
pub fn softmax<I: IndexSet, T: Float>(x: &Table<I, T>) -> Table<I, T> {
    let shift = shift(x);
    let e = for i in I {
        (x[i] - shift).exp()
    };
    let total = sum(e);
    for i in I {
        e[i] / total
    }
}

/// The logarithms of what [`softmax`](fn@softmax) gives: `I` to `I`.
#[pointful]
pub fn log_softmax<I: IndexSet, T: Float>(x: &Table<I, T>) -> Table<I, T> {
    let total = logsumexp(x);
    for i in I {
        x[i] - total
    }
}
