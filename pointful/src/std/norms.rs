//! Lengths.

use crate::prelude::*;

/// The Euclidean norm: `I` to a number. Its derivative at zero is zero.
#[pointful]
pub fn norm<I: IndexSet, T: Float>(x: &Table<I, T>) -> T {
    let squares = sum(for i in I {
        x[i] * x[i]
    });
    // The root has no derivative at zero; a branch would ignore the sum.
    let one = if squares == 0.0 { 1.0 } else { 0.0 };
    (squares + one).sqrt() - one
}

/// The sum of absolute values: `I` to a number. The derivative by what is zero is zero.
#[pointful]
pub fn norm_l1<I: IndexSet, T: Float>(x: &Table<I, T>) -> T {
    sum(for i in I {
        x[i].abs()
    })
}

/// The largest absolute value: `I` to a number, of nothing 0. The first one that is as large has
/// the derivative.
#[pointful]
pub fn norm_max<I: IndexSet, T: Float>(x: &Table<I, T>) -> T {
    let largest = max(for i in I {
        x[i].abs()
    });
    // The maximum of nothing is minus infinity.
    if largest < 0.0 { 0.0 } else { largest }
}

/// A vector in the direction of another one, of length 1: `I` to `I`. What is zero stays zero, with
/// derivative zero.
#[pointful]
pub fn normalize<I: IndexSet, T: Float>(x: &Table<I, T>) -> Table<I, T> {
    let length = norm(x);
    for i in I {
        if length == 0.0 { 0.0 } else { x[i] / length }
    }
}

/// The Euclidean distance of two points: `I`, `I` to a number. Its derivative where they are equal
/// is zero.
#[pointful]
pub fn distance<I: IndexSet, T: Float>(a: &Table<I, T>, b: &Table<I, T>) -> T {
    norm(for i in I {
        a[i] - b[i]
    })
}
