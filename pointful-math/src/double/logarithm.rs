//! Logarithms: `ln x = k ln 2 + ln m` with `m` in `√½..√2`, and a polynomial in `s = f / (2 + f)`,
//! `f = m - 1`, for `ln (1 + f) = 2 artanh s = f - f²/2 + s (f²/2 + R(s²))`.

use crate::parts::{LN_2, exponent_and_mantissa, halves, normalised, polynomial, sum_of_ordered};

/// `(2 artanh s - 2 s) / s³` in powers of `s²`.
const LOG: [f64; 7] = [
    0.666_666_666_666_673_4,
    0.399_999_999_994_143_26,
    0.285_714_287_424_759_1,
    0.222_221_985_632_580_5,
    0.181_835_648_820_604_18,
    0.153_140_353_863_139_54,
    0.147_961_102_906_573_66,
];

/// `f²/2`, and `ln (1 + f) - f + f²/2`.
#[inline(always)]
fn beyond_linear(f: f64) -> (f64, f64) {
    let s = f / (2.0 + f);
    let z = s * s;
    let half_square = 0.5 * f * f;
    (half_square, s * (half_square + z * polynomial(z, &LOG)))
}

/// The result for positive finite arguments, put right for all others.
#[inline(always)]
fn everywhere(x: f64, of_positive: f64) -> f64 {
    let result = if x > f64::MAX { x } else { of_positive };
    let result = if x == 0.0 { f64::NEG_INFINITY } else { result };
    // NaN fails the comparison.
    if x >= 0.0 { result } else { f64::NAN }
}

#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    let (positive, scaled) = normalised(x);
    let (k, m) = exponent_and_mantissa(positive);
    let k = k + scaled;
    let f = m - 1.0;
    let (half_square, rest) = beyond_linear(f);
    let (high, error) = sum_of_ordered(f, -half_square);
    let low = error + rest;
    // Where k is not zero its term is the larger one; zero plus anything is exact.
    let (total, carried) = sum_of_ordered(k * LN_2.0, high);
    everywhere(x, total + (carried + (low + k * LN_2.1)))
}

/// `k · unit + ln m · factor`: a logarithm to another base. The factor is in two parts, the first
/// of 26 bits.
#[inline(always)]
fn to_base(x: f64, unit: (f64, f64), factor: (f64, f64)) -> f64 {
    let (positive, scaled) = normalised(x);
    let (k, m) = exponent_and_mantissa(positive);
    let k = k + scaled;
    let f = m - 1.0;
    let (half_square, rest) = beyond_linear(f);
    let (high, _) = halves(f - half_square);
    let low = ((f - high) - half_square) + rest;
    let product = high * factor.0;
    let missing = (high + low) * factor.1 + low * factor.0;
    let whole = k * unit.0;
    let (total, carried) = sum_of_ordered(whole, product);
    everywhere(x, total + (carried + (missing + k * unit.1)))
}

#[inline(always)]
pub(crate) fn log2(x: f64) -> f64 {
    const FACTOR: (f64, f64) = (1.442_695_021_629_333_5, 1.925_962_991_126_617_5e-8);
    to_base(x, (1.0, 0.0), FACTOR)
}

#[inline(always)]
pub(crate) fn log10(x: f64) -> f64 {
    const UNIT: (f64, f64) = (0.301_029_995_663_952_83, 2.836_339_455_104_496_4e-14);
    const FACTOR: (f64, f64) = (0.434_294_477_105_140_7, 4.798_111_141_615_973e-9);
    to_base(x, UNIT, FACTOR)
}

/// `ln (1 + x + error) + twos ln 2` for `x` above -1 and finite.
#[inline(always)]
pub(super) fn ln_1p_with(x: f64, error: f64, twos: f64) -> f64 {
    let u = 1.0 + x;
    let lost = if x > 1.0 {
        1.0 - (u - x)
    } else {
        x - (u - 1.0)
    };
    let (k, m) = exponent_and_mantissa(u);
    // Near one nothing need be lost.
    let near = k == 0.0;
    let f = if near { x } else { m - 1.0 };
    let lost = if near { error } else { lost + error };
    let (half_square, rest) = beyond_linear(f);
    let (high, rounding) = sum_of_ordered(f, -half_square);
    let k = k + twos;
    let low = rounding + (rest + lost / u);
    let (total, carried) = sum_of_ordered(k * LN_2.0, high);
    total + (carried + (low + k * LN_2.1))
}

#[inline(always)]
pub(crate) fn ln_1p(x: f64) -> f64 {
    let result = ln_1p_with(x, 0.0, 0.0);
    let result = if x > f64::MAX { x } else { result };
    let result = if x == -1.0 { f64::NEG_INFINITY } else { result };
    let result = if x.abs() < f64::EPSILON / 4.0 {
        x
    } else {
        result
    };
    if x >= -1.0 { result } else { f64::NAN }
}
