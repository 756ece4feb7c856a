//! Powers and roots.

use super::exponential::{limited, reduced};
use crate::parts::{
    LN_2, exponent_and_mantissa, is_integer, nearest, normalised, polynomial, power_of_two,
    product, small_integer, sum_of_ordered,
};

/// `((2 artanh s - 2 s) / s³ - 2/3) / s²` in powers of `s²`.
const LOG: [f64; 8] = [
    0.399_999_999_999_999_8,
    0.285_714_285_714_451_07,
    0.222_222_222_175_369_63,
    0.181_818_188_702_614_32,
    0.153_845_568_741_660_22,
    0.133_363_173_125_556_46,
    0.116_748_203_962_099_8,
    0.119_889_994_110_656_69,
];

/// The product of two sums, to about 100 bits.
#[inline(always)]
fn product_of_sums(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let (high, error) = product(a.0, b.0);
    sum_of_ordered(high, error + (a.0 * b.1 + a.1 * b.0))
}

/// The logarithm of a positive finite number to about 66 bits: `y ln x` up to 745 then has 56
/// behind the point.
#[inline(always)]
fn ln_as_sum(x: f64) -> (f64, f64) {
    const TWO_THIRDS: (f64, f64) = (2.0 / 3.0, 3.700_743_415_417_188e-17);
    let (x, scaled) = normalised(x);
    let (k, m) = exponent_and_mantissa(x);
    let k = k + scaled;
    let f = m - 1.0;
    // s = f / (2 + f)
    let (d, d_error) = sum_of_ordered(2.0, f);
    let inverse = 1.0 / d;
    let s = f * inverse;
    let (back, back_error) = product(s, d);
    let s_error = (((f - back) - back_error) - s * d_error) * inverse;
    let s = (s, s_error);
    // ln m = 2 s + s³ (2/3 + s² Q)
    let z = product_of_sums(s, s);
    let (c, c_error) = sum_of_ordered(TWO_THIRDS.0, z.0 * polynomial(z.0, &LOG));
    let cube = product_of_sums(s, product_of_sums(z, (c, c_error + TWO_THIRDS.1)));
    let (high, error) = sum_of_ordered(2.0 * s.0, cube.0);
    let low = error + (2.0 * s.1 + cube.1);
    let (total, carried) = sum_of_ordered(k * LN_2.0, high);
    sum_of_ordered(total, carried + (low + k * LN_2.1))
}

/// `xʸ` from `|x|ʸ` of what is neither zero nor infinite: signs, zeros, infinities and NaN as IEEE
/// 754 has them.
#[inline(always)]
pub(crate) fn power_everywhere(x: f64, y: f64, of_positive: f64) -> f64 {
    let a = x.abs();
    let extreme = (a == 0.0) | (a > f64::MAX);
    let vanishes = (a == 0.0) ^ (y < 0.0);
    let limit = if vanishes { 0.0 } else { f64::INFINITY };
    let result = if extreme { limit } else { of_positive };
    let integer = is_integer(y);
    let odd = integer & !is_integer(0.5 * y);
    let negative = x.is_sign_negative();
    let result = if negative & odd { -result } else { result };
    let result = if (x < 0.0) & !extreme & !integer {
        f64::NAN
    } else {
        result
    };
    let result = if x.is_nan() | y.is_nan() {
        f64::NAN
    } else {
        result
    };
    if (x == 1.0) | (y == 0.0) { 1.0 } else { result }
}

#[inline(always)]
pub(crate) fn powf(x: f64, y: f64) -> f64 {
    // Beyond this every power but those of one overflows or vanishes.
    let bounded = limited(y, -1e20, 1e20);
    let a = x.abs();
    let a = if (a > 0.0) & (a <= f64::MAX) { a } else { 1.0 };
    let (ln, ln_error) = ln_as_sum(a);
    let (high, error) = product(bounded, ln);
    let exponent = limited(high, -760.0, 720.0);
    let error = if exponent == high {
        error + bounded * ln_error
    } else {
        0.0
    };
    power_everywhere(x, y, reduced(exponent, error).exp())
}

/// `k`, `m` and ∛m with `x = m · 8ᵏ` and `m` in `1..8`, of a positive normal number; the root to 13
/// bits.
#[inline(always)]
pub(crate) fn root_of_cube(x: f64) -> (f64, f64, f64) {
    // ∛m on 1..2
    const ROOT: [f64; 4] = [
        0.552_770_829_910_556_8,
        0.587_208_730_789_421_7,
        -0.163_023_357_560_670_18,
        0.023_114_557_300_975_887,
    ];
    const MANTISSA: u64 = (1 << 52) - 1;
    let bits = x.to_bits();
    let exponent = small_integer(bits >> 52) - 1023.0;
    let mantissa = f64::from_bits(bits & MANTISSA | 1.0_f64.to_bits());
    let k = nearest((exponent - 1.0) * (1.0 / 3.0));
    let left = exponent - 3.0 * k;
    let (factor, root) = if left == 0.0 {
        (1.0, 1.0)
    } else {
        (2.0, 1.259_921_049_894_873_2)
    };
    let (factor, root) = if left == 2.0 {
        (4.0, 1.587_401_051_968_199_6)
    } else {
        (factor, root)
    };
    (k, mantissa * factor, polynomial(mantissa, &ROOT) * root)
}

/// Halley's step towards ∛m, which triples the number of right bits.
#[inline(always)]
pub(crate) fn halley(m: f64, root: f64) -> f64 {
    let cube = root * root * root;
    root * ((cube + 2.0 * m) / (2.0 * cube + m))
}

#[inline(always)]
pub(crate) fn cbrt(x: f64) -> f64 {
    let a = x.abs();
    let (normal, scaled) = normalised(a);
    let (k, m, root) = root_of_cube(normal);
    let root = halley(m, root);
    // The last step adds a small correction to a number whose square is exact.
    let short = f64::from_bits(root.to_bits().wrapping_add(1 << 26) & !0x7ff_ffff);
    let quotient = m / (short * short);
    let root = short + short * ((quotient - short) / (2.0 * short + quotient));
    let result = (root * power_of_two(k + scaled / 3.0)).copysign(x);
    let special = (a == 0.0) | !a.is_finite();
    if special { x } else { result }
}

#[inline(always)]
pub(crate) fn hypot(x: f64, y: f64) -> f64 {
    const UP: f64 = 4.149_515_568_880_993e180; // 2⁶⁰⁰
    let (a, b) = (x.abs(), y.abs());
    let (a, b) = if a < b { (b, a) } else { (a, b) };
    let factor = if a > 1e150 { 1.0 / UP } else { 1.0 };
    let factor = if a < 1e-130 { UP } else { factor };
    let back = if a > 1e150 { UP } else { 1.0 };
    let back = if a < 1e-130 { 1.0 / UP } else { back };
    let ((aa, aa_error), (bb, bb_error)) = {
        let (a, b) = (a * factor, b * factor);
        (product(a, a), product(b, b))
    };
    let (total, error) = sum_of_ordered(aa, bb);
    let root = total.sqrt();
    // One step of Newton with what the root of the sum misses.
    let (square, square_error) = product(root, root);
    let missing = ((total - square) - square_error) + (error + (aa_error + bb_error));
    let correction = missing / (root + root);
    let correction = if total > 0.0 { correction } else { 0.0 };
    let (high, low) = sum_of_ordered(root, correction);
    let result = high * back;
    // Where that is subnormal, what was lost is added, so that it is rounded once.
    let lost = high - result * factor;
    let once = result + (lost + low) * back;
    let result = if (a < 1e-130) & (lost != 0.0) {
        once
    } else {
        result
    };
    let result = if x.is_nan() | y.is_nan() {
        f64::NAN
    } else {
        result
    };
    if (a > f64::MAX) | (b > f64::MAX) {
        f64::INFINITY
    } else {
        result
    }
}
