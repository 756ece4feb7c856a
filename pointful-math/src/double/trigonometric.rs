//! Sine, cosine and tangent of any finite angle.

use crate::parts::{low_bits, polynomial, product, sum_of_ordered};
use crate::two_over_pi::{Angle, reduced_double, reduced_near};

/// `(sin r - r) / r³` in powers of `r²`.
const SIN: [f64; 6] = [
    -0.166_666_666_666_666_32,
    0.008_333_333_333_322_413,
    -0.000_198_412_698_298_078_65,
    2.755_731_369_194_156e-6,
    -2.505_075_811_915_671_7e-8,
    1.589_679_587_397_245e-10,
];

/// `(cos r - 1 + r²/2) / r⁴` in powers of `r²`.
const COS: [f64; 6] = [
    0.041_666_666_666_666_6,
    -0.001_388_888_888_887_412_5,
    2.480_158_728_948_234_7e-5,
    -2.755_731_435_237_81e-7,
    2.087_572_327_910_352e-9,
    -1.135_964_808_928_497_9e-11,
];

/// Angles below this are their own sine and tangent.
const SMALL: f64 = 1e-8;

/// The sine and the cosine of a remainder, each as a sum.
#[inline(always)]
fn of_remainder(angle: Angle) -> ((f64, f64), (f64, f64)) {
    let (r, r_error) = (angle.r, angle.r_error);
    let z = r * r;
    let half = 0.5 * z;
    let sin = r * (z * polynomial(z, &SIN)) + (r_error - r_error * half);
    let (one, error) = sum_of_ordered(1.0, -half);
    let cos = error + (z * z * polynomial(z, &COS) - r * r_error);
    ((r, sin), (one, cos))
}

/// `x` where it is finite, else NaN.
#[inline(always)]
fn finite(x: f64, value: f64) -> f64 {
    if x.abs() <= f64::MAX { value } else { f64::NAN }
}

/// The sign bit where bit 1 of a quadrant is set.
#[inline(always)]
fn sign(quadrant: u64) -> u64 {
    (quadrant & 2) << 62
}

/// The sine of `x`, of which `angle` is the absolute value, reduced.
#[inline(always)]
fn sin_of(x: f64, angle: Angle) -> f64 {
    let quadrant = low_bits(angle.n);
    let (sin, cos) = of_remainder(angle);
    let (high, low) = if quadrant & 1 == 0 { sin } else { cos };
    let negative = sign(quadrant) ^ (x.to_bits() & (1 << 63));
    let result = f64::from_bits((high + low).to_bits() ^ negative);
    if x.abs() < SMALL {
        x
    } else {
        finite(x, result)
    }
}

/// The cosine of `x`, of which `angle` is the absolute value, reduced.
#[inline(always)]
fn cos_of(x: f64, angle: Angle) -> f64 {
    let quadrant = low_bits(angle.n + 1.0);
    let (sin, cos) = of_remainder(angle);
    let (high, low) = if quadrant & 1 == 0 { sin } else { cos };
    finite(x, f64::from_bits((high + low).to_bits() ^ sign(quadrant)))
}

/// The tangent of `x`, of which `angle` is the absolute value, reduced.
#[inline(always)]
fn tan_of(x: f64, angle: Angle) -> f64 {
    let quadrant = low_bits(angle.n);
    let (sin, cos) = of_remainder(angle);
    let even = quadrant & 1 == 0;
    let (n, d) = if even { (sin, cos) } else { (cos, sin) };
    let (n, n_error) = sum_of_ordered(n.0, n.1);
    let (d, d_error) = sum_of_ordered(d.0, d.1);
    let inverse = 1.0 / d;
    let quotient = n * inverse;
    let (back, back_error) = product(quotient, d);
    let missing = ((n - back) - back_error) + (n_error - quotient * d_error);
    let result = quotient + missing * inverse;
    // The cotangent of the remainder has the opposite sign.
    let turned = if even { 0 } else { 1 << 63 };
    let result = f64::from_bits(result.to_bits() ^ (x.to_bits() & (1 << 63)) ^ turned);
    if x.abs() < SMALL {
        x
    } else {
        finite(x, result)
    }
}

#[inline(always)]
pub(crate) fn sin(x: f64) -> f64 {
    sin_of(x, reduced_double(x))
}

#[inline(always)]
pub(crate) fn cos(x: f64) -> f64 {
    cos_of(x, reduced_double(x))
}

#[inline(always)]
pub(crate) fn tan(x: f64) -> f64 {
    tan_of(x, reduced_double(x))
}

#[inline(always)]
pub(crate) fn near_sin(x: f64) -> f64 {
    sin_of(x, reduced_near(x.abs()))
}

#[inline(always)]
pub(crate) fn near_cos(x: f64) -> f64 {
    cos_of(x, reduced_near(x.abs()))
}

#[inline(always)]
pub(crate) fn near_tan(x: f64) -> f64 {
    tan_of(x, reduced_near(x.abs()))
}
