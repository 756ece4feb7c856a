//! Hyperbolic functions and their inverses.

use super::exponential::{limited, reduced};
use super::logarithm::ln_1p_with;
use crate::parts::{polynomial, power_of_two, product, sum, sum_of_ordered};

/// `(sinh r - r) / r³` in powers of `r²`.
const SINH: [f64; 5] = [
    0.166_666_666_666_666_77,
    0.008_333_333_333_321_615,
    0.000_198_412_698_861_603_65,
    2.755_724_418_005_977e-6,
    2.510_904_553_885_518_4e-8,
];

/// `(cosh r - 1 - r²/2) / r⁴` in powers of `r²`.
const COSH: [f64; 5] = [
    0.041_666_666_666_666_685,
    0.001_388_888_888_887_346_8,
    2.480_158_734_877_914_3e-5,
    2.755_725_221_913_528_6e-7,
    2.092_163_653_239_258_6e-9,
];

/// Where the inverse functions have long been `ln 2x`, and squares do not overflow yet.
const LARGE: f64 = 1e100;

/// `sinh |x|` and `cosh |x|` from the same of the remainder `r` by the theorems of addition, both a
/// quarter as large, with error terms.
#[inline(always)]
fn quarters(x: f64) -> ((f64, f64), (f64, f64)) {
    let reduced = reduced(limited(x.abs(), 0.0, 711.0), 0.0);
    let (k, r) = (reduced.k, reduced.r);
    let z = r * r;
    let sinh = r * (z * polynomial(z, &SINH)) + reduced.r_error;
    let cosh = z * (0.5 + z * polynomial(z, &COSH)) + r * reduced.r_error;
    // An eighth of 2ᵏ, and of 2⁻ᵏ while that is not lost.
    let grown = power_of_two(k - 3.0);
    let shrunk = if k < 60.0 {
        power_of_two(-3.0 - k)
    } else {
        0.0
    };
    let (difference, lost) = sum_of_ordered(grown, -shrunk);
    let (total, gained) = sum_of_ordered(grown, shrunk);
    let (s, s_error) = sum(difference, grown * r);
    let (c, c_error) = sum_of_ordered(total, grown * r);
    (
        (
            s,
            (s_error + lost) + (shrunk * r + (difference * cosh + total * sinh)),
        ),
        (
            c,
            (c_error + gained) + (total * cosh + difference * sinh - shrunk * r),
        ),
    )
}

#[inline(always)]
pub(crate) fn sinh(x: f64) -> f64 {
    let (high, low) = quarters(x).0;
    let result = (4.0 * (high + low)).copysign(x);
    if x.abs() < 1e-8 { x } else { result }
}

#[inline(always)]
pub(crate) fn cosh(x: f64) -> f64 {
    let (high, low) = quarters(x).1;
    4.0 * (high + low)
}

#[inline(always)]
pub(crate) fn tanh(x: f64) -> f64 {
    // tanh x = h / (1 + h) with h = ½ (e²ˣ - 1)
    let twice = limited(2.0 * x.abs(), 0.0, 50.0);
    let (high, low) = reduced(twice, 0.0).half_exp_m1();
    let (h, h_error) = sum_of_ordered(high, low);
    let (d, d_error) = sum(1.0, h);
    let inverse = 1.0 / d;
    let quotient = h * inverse;
    let (back, back_error) = product(quotient, d);
    let missing = ((h - back) - back_error) + (h_error - quotient * (d_error + h_error));
    let result = (quotient + missing * inverse).copysign(x);
    if x.abs() < 1e-8 { x } else { result }
}

#[inline(always)]
pub(crate) fn asinh(x: f64) -> f64 {
    let a = x.abs();
    let large = a > LARGE;
    let square = if large { 0.0 } else { a * a };
    let beyond = square / (1.0 + (1.0 + square).sqrt());
    let (y, error) = sum(a, beyond);
    let result = ln_1p_with(y, error, if large { 1.0 } else { 0.0 }).copysign(x);
    // Also infinities and NaN.
    let done = (a < 1e-8) | !a.is_finite();
    if done { x } else { result }
}

#[inline(always)]
pub(crate) fn acosh(x: f64) -> f64 {
    let large = x > LARGE;
    let t = x - 1.0;
    let (square, square_error) = product(if large { 0.0 } else { t }, x + 1.0);
    let root = square.sqrt();
    let (back, back_error) = product(root, root);
    // What the root misses; nothing of a root of zero.
    let missing = ((square - back) - back_error + square_error) / (2.0 * root);
    let missing = if root > 0.0 { missing } else { 0.0 };
    let (y, error) = sum(t, root);
    let result = ln_1p_with(y, error + missing, if large { 1.0 } else { 0.0 });
    let result = if x > f64::MAX { x } else { result };
    if x >= 1.0 { result } else { f64::NAN }
}

#[inline(always)]
pub(crate) fn atanh(x: f64) -> f64 {
    let a = x.abs();
    let (difference, lost) = sum_of_ordered(1.0, -a);
    let inverse = 1.0 / difference;
    let y = 2.0 * a * inverse;
    // What the quotient misses.
    let (back, back_error) = product(y, difference);
    let error = (((2.0 * a - back) - back_error) - y * lost) * inverse;
    let result = (0.5 * ln_1p_with(y, error, 0.0)).copysign(x);
    let result = if a == 1.0 {
        f64::INFINITY.copysign(x)
    } else {
        result
    };
    let result = if a < 1e-8 { x } else { result };
    if a <= 1.0 { result } else { f64::NAN }
}
