//! Polynomials, and the function that all distributions of errors share.

use crate::prelude::*;

/// A polynomial by Horner's rule, the constant coefficient first.
#[pointful]
pub(super) fn polynomial<const K: usize>(x: f64, coefficients: &Table<Fin<K>, f64>) -> f64 {
    let mut value = 0.0;
    for k in Fin::<K>.rev() {
        value = value * x + coefficients[k];
    }
    value
}

/// `exp(-c x²)`, also where the rounding of `x²` would show.
///
/// `c` is a power of two. Derivatives of any order are right as they come: the part of `x` that has
/// few enough bits for an exact square counts as constant, and the rest has all of the slope.
#[pointful]
pub(super) fn gaussian(x: f64, #[constant] c: f64) -> f64 {
    // Zero long before this; infinity less infinity would be NaN.
    let x = if x.abs() > 45.0 { 45.0 } else { x };
    let high = f64::from_bits(x.to_bits() & 0xffff_ffff_f800_0000);
    let low = -c * ((x - high) * (x + high));
    let beyond = low * (1.0 + low * (0.5 + low * (1.0 / 6.0 + low / 24.0)));
    let e = (-c * (high * high)).exp();
    e + e * beyond
}

/// A polynomial at `x`, and what it differs by at `y`, divided by `x - y`.
///
/// With `y = x` that is the derivative.
#[pointful]
pub(super) fn polynomial_and_quotient<const K: usize>(
    x: f64,
    y: f64,
    coefficients: &Table<Fin<K>, f64>,
) -> (f64, f64) {
    let mut value = 0.0;
    let mut quotient = 0.0;
    for k in Fin::<K>.rev() {
        quotient = quotient * y + value;
        value = value * x + coefficients[k];
    }
    (value, quotient)
}

/// A polynomial and its derivative.
#[pointful]
pub(super) fn polynomial_and_slope<const K: usize>(
    x: f64,
    coefficients: &Table<Fin<K>, f64>,
) -> (f64, f64) {
    polynomial_and_quotient(x, x, coefficients)
}
