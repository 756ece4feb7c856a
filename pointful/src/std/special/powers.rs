//! Powers whose exponents are large where their product is not: what densities of the gamma and
//! the beta distribution begin with.

use super::polynomial::polynomial;
use crate::prelude::*;

/// `artanh(√s) / √s - 1`, divided by `s`.
const ARTANH: [f64; 13] = [
    1.0 / 3.0,
    1.0 / 5.0,
    1.0 / 7.0,
    1.0 / 9.0,
    1.0 / 11.0,
    1.0 / 13.0,
    1.0 / 15.0,
    1.0 / 17.0,
    1.0 / 19.0,
    1.0 / 21.0,
    1.0 / 23.0,
    1.0 / 25.0,
    1.0 / 27.0,
];

/// `(m - ln(1 + m)) / m²` for `m` within 0.36 of zero, where the difference would cancel.
#[pointful]
pub(super) fn curvature(m: f64) -> f64 {
    // ln(1 + m) = 2 artanh(u)
    let u = m / (2.0 + m);
    let less = 1.0 - u;
    0.5 * less * (1.0 - u * less * polynomial(u * u, ARTANH))
}

/// `ln(1 + m) / m` for `m` within 0.36 of zero.
#[pointful]
pub(super) fn ln_slope(m: f64) -> f64 {
    let u = m / (2.0 + m);
    (1.0 - u) * (1.0 + u * u * polynomial(u * u, ARTANH))
}

/// `m - ln(1 + m)`, where `one_more` is `1 + m`, also where `m` is next to -1.
#[pointful]
pub(super) fn excess(m: f64, one_more: f64) -> f64 {
    if m.abs() < 0.35 {
        m * m * curvature(m)
    } else {
        m - one_more.ln()
    }
}

/// `ln(1 + m)`, where `one_more` is `1 + m`, also where `m` is next to -1.
#[pointful]
pub(super) fn ln_ratio(m: f64, one_more: f64) -> f64 {
    if m.abs() < 0.35 {
        m.ln_1p()
    } else {
        one_more.ln()
    }
}

/// The parts to take powers in, so that the exponent of none is above 600: a power of two.
#[pointful]
pub(super) fn parts(exponent: f64) -> f64 {
    let m = exponent.abs() / 600.0;
    let above = f64::from_bits((m.to_bits() + 0x0010_0000_0000_0000) & 0x7ff0_0000_0000_0000);
    if m < 1.0 { 1.0 } else { above }
}

/// What rounding takes from `a - b`.
#[pointful]
pub(super) fn lost_by_difference(a: f64, b: f64) -> f64 {
    let difference = a - b;
    let of_b = difference - a;
    (a - (difference - of_b)) - (b + of_b)
}
