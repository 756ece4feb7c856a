//! Functions of numbers.

use crate::prelude::*;

/// `x` if it is positive, else 0, where the derivative is 0 as well.
#[pointful]
pub fn relu<T: Float>(x: T) -> T {
    if x <= 0.0 { 0.0 } else { x }
}

/// The logistic function `1 / (1 + exp(-x))`, without overflow.
#[pointful]
pub fn sigmoid<T: Float>(x: T) -> T {
    if x < 0.0 {
        let e = x.exp();
        e / (1.0 + e)
    } else {
        1.0 / (1.0 + (-x).exp())
    }
}

/// `ln(1 + exp(x))`, without overflow.
#[pointful]
pub fn softplus<T: Float>(x: T) -> T {
    if x > 0.0 {
        x + (-x).exp().ln_1p()
    } else {
        x.exp().ln_1p()
    }
}

/// `a` for `t = 0`, `b` for `t = 1`, and what lies between.
#[pointful]
pub fn lerp<T: Float>(a: T, b: T, t: T) -> T {
    a + t * (b - a)
}

/// Numbers at equal distances from `low` to `high`, both included; one number is `low`.
#[pointful]
pub fn linspace<N: IndexSet, T: Float>(n: Extent<N>, low: T, high: T) -> Table<N, T> {
    let steps = size(n).max(2) - 1;
    for i in n {
        lerp(low, high, i.ordinal() as T / steps as T)
    }
}
