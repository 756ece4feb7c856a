//! Functions of `f32`, most of them computed as `f64` with polynomials as long as `f32` needs them.
//!
//! A double has more than twice the bits, so nothing needs compensation, the exponents of single
//! results never overflow on the way, and the one rounding that counts is the last, to `f32`: every
//! result is within 0.51 ulp.
//!
//! What programs call most is computed in singles, of which vectors hold twice as many, in half to
//! two thirds of the time: `exp`, `tanh`, `ln`, sine and cosine. Each ends with the addition of
//! something that is exact and something smaller, so that what is rounded before the last addition
//! is small too: results are within 0.93 ulp. Coefficients minimise the greatest error in ulp, and
//! each was rounded before those after it were chosen.

use std::f64::consts::{FRAC_PI_2, LN_2, LOG2_E, LOG10_E, SQRT_2};

use crate::double::{halley, power_everywhere, root_of_cube};
use crate::parts::{SINGLE_SHIFT, exponent_and_mantissa, nearest, polynomial, power_of_two};
use crate::two_over_pi::{SingleAngle, reduced_near_single, reduced_single, reduced_single_widely};

/// `(eʳ - 1 - r) / r²`
const EXP: [f64; 6] = [
    0.500_000_004_641_216,
    0.166_666_668_171_879_58,
    0.041_666_354_666_043_647,
    0.008_333_273_044_058_344,
    0.001_394_100_826_955_033_9,
    0.000_199_141_673_005_617_2,
];

/// The same to the 28 bits that `exp` and `tanh` in singles need.
const SINGLE_EXP: [f32; 5] = [
    0.499_999_9,
    0.166_665_21,
    0.041_668_9,
    0.008_368_692,
    0.001_378_893_6,
];

/// ln 2 to 16 bits, so that its product with any exponent of a single is exact, and what is
/// missing.
const SINGLE_LN_2: (f32, f32) = (0.693_145_75, 1.428_606_8e-6);

/// The numerator of `(tanh a - a) / a³ + ¼` in powers of `a²`, up to [`FAR_TANH`], and what its
/// denominator has beyond one.
const TANH: ([f32; 3], f32) = ([-0.083_333_28, 0.099_568_66, 5.637_978_4e-5], 0.405_169_28);

/// From here on `tanh a = 1 - 2 / (e²ᵃ + 1)` is the more accurate.
const FAR_TANH: f32 = 1.0;

/// `(2 artanh s - 2 s) / s³` in powers of `s²`.
const LOG: [f64; 4] = [
    0.666_666_656_450_181_7,
    0.400_003_353_016_724_74,
    0.285_373_009_798_780_8,
    0.235_823_032_150_107_78,
];

/// `(ln (1 + f) - f + f²/2) / f³` in powers of `f`, from √½ - 1 to √2 - 1.
const SINGLE_LOG: [f32; 8] = [
    0.333_333_28,
    -0.250_007_2,
    0.200_014_17,
    -0.166_269_75,
    0.142_005_88,
    -0.131_257_98,
    0.127_516_75,
    -0.077_056_244,
];

/// The same to 43 bits, for powers.
const LONG_LOG: [f64; 5] = [
    2.0 / 3.0,
    0.399_999_981_752_020_84,
    0.285_718_737_609_897_2,
    0.221_850_168_522_998_71,
    0.194_678_112_748_423_3,
];

/// `(r - sin r) / r³` in powers of `r²`.
const SIN: [f32; 3] = [0.166_666_54, -0.008_332_143, 1.951_466_3e-4];

/// `(cos r - 1 + r²/2) / r⁴` in powers of `r²`.
const COS: [f32; 3] = [0.041_666_646, -0.001_388_731, 2.443_234_4e-5];

/// The first of these to the 40 bits that a tangent needs.
const LONG_SIN: [f64; 4] = [
    -0.166_666_666_416_074_78,
    0.008_333_329_383_632_595,
    -0.000_198_393_340_969_547_43,
    2.718_304_341_302_505e-6,
];

const LONG_COS: [f64; 3] = [
    0.041_666_646_858_586_634,
    -0.001_388_736_709_400_734_8,
    2.443_839_848_581_888_2e-5,
];

/// `(asin s - s) / s³` in powers of `s²`, up to ¼.
const ASIN: [f64; 6] = [
    0.166_666_598_527_766_02,
    0.075_005_121_468_323_64,
    0.044_515_468_487_827_21,
    0.031_819_836_716_003_57,
    0.014_393_754_877_012_542,
    0.037_578_208_874_884_37,
];

/// `(atan t - t) / t³` in powers of `t²`, up to tan² π/8.
const ATAN: [f64; 6] = [
    -0.333_333_325_100_150_3,
    0.199_999_047_526_926_5,
    -0.142_820_289_414_686_02,
    0.110_449_223_090_231_1,
    -0.084_774_031_499_061_11,
    0.047_461_085_814_981_01,
];

/// `x`, but no further from zero than where the result has long been infinite or zero. NaN stays.
#[inline(always)]
fn limited(x: f64) -> f64 {
    let x = if x > 500.0 { 500.0 } else { x };
    if x < -500.0 { -500.0 } else { x }
}

/// `k`, and `eʳ - 1` with `x = k ln 2 + r`.
#[inline(always)]
fn exp_parts(x: f64) -> (f64, f64) {
    let k = nearest(x * LOG2_E);
    let r = x - k * LN_2;
    (k, r + r * r * polynomial(r, &EXP))
}

#[inline(always)]
fn exp_of(x: f64) -> f64 {
    let (k, part) = exp_parts(limited(x));
    let power = power_of_two(k);
    power + power * part
}

#[inline(always)]
fn exp_m1_of(x: f64) -> f64 {
    let (k, part) = exp_parts(limited(x));
    let power = power_of_two(k);
    power * part + (power - 1.0)
}

/// `k + offset` in the low bits of a number, and `eʳ - 1` with `x = k ln 2 + r`.
///
/// What is left of `x` without the first bits of `k ln 2` is exact. It is added last, so that the
/// rounding of `r` does not count.
#[inline(always)]
fn single_exp_parts(x: f32, offset: f32) -> (u32, f32) {
    const LOG2_E: f32 = std::f32::consts::LOG2_E;
    let shift = SINGLE_SHIFT + offset;
    let shifted = x * LOG2_E + shift;
    let k = shifted - shift;
    let high = x - k * SINGLE_LN_2.0;
    let low = k * SINGLE_LN_2.1;
    let r = high - low;
    let [a, b, c, d, e] = SINGLE_EXP;
    let square = r * r;
    let beyond = square * ((a + r * b) + square * ((c + r * d) + square * e));
    (shifted.to_bits(), high + (beyond - low))
}

/// 2 to the power of what the low bits are beyond 127, which must be in `-126..=127`. Of anything
/// else some number.
#[inline(always)]
fn single_power_of_two(low_bits: u32) -> f32 {
    f32::from_bits(low_bits << 23)
}

#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // Beyond these the result is infinite or zero. NaN stays.
    let x = if x > 89.0 { 89.0 } else { x };
    let x = if x < -104.0 { -104.0 } else { x };
    // The exponents of results and of what becomes a subnormal one are more than singles have. So the power that is made of bits is
    // nearer to one, and the rest is multiplied last, where the result overflows or is rounded to a subnormal number.
    let small = x.is_sign_negative();
    let offset = if small { 127.0 + 64.0 } else { 127.0 - 1.0 };
    let rest = if small {
        f32::from_bits((127 - 64) << 23)
    } else {
        2.0
    };
    let (power, part) = single_exp_parts(x, offset);
    (1.0 + part) * single_power_of_two(power) * rest
}

#[inline(always)]
pub(crate) fn exp2(x: f32) -> f32 {
    let x = limited(f64::from(x));
    let k = nearest(x);
    let r = (x - k) * LN_2;
    let power = power_of_two(k);
    (power + power * (r + r * r * polynomial(r, &EXP))) as f32
}

#[inline(always)]
pub(crate) fn exp_m1(x: f32) -> f32 {
    let result = exp_m1_of(f64::from(x)) as f32;
    // Zero keeps its sign.
    if x == 0.0 { x } else { result }
}

/// The logarithm of a positive finite number; `f` is the mantissa less one, where that is known
/// better.
#[inline(always)]
fn ln_parts<const N: usize>(f: f64, log: &[f64; N]) -> f64 {
    let s = f / (2.0 + f);
    let z = s * s;
    2.0 * s + s * (z * polynomial(z, log))
}

/// `k`, and the logarithm of the mantissa.
#[inline(always)]
fn ln_of<const N: usize>(x: f64, log: &[f64; N]) -> (f64, f64) {
    let (k, m) = exponent_and_mantissa(x);
    (k, ln_parts(m - 1.0, log))
}

/// The result for positive finite arguments, put right for all others.
#[inline(always)]
fn everywhere(x: f32, of_positive: f32) -> f32 {
    let result = if x > f32::MAX { x } else { of_positive };
    let result = if x == 0.0 { f32::NEG_INFINITY } else { result };
    // NaN fails the comparison.
    if x >= 0.0 { result } else { f32::NAN }
}

#[inline(always)]
pub(crate) fn ln(x: f32) -> f32 {
    // `x = (1 + f) 2ᵏ`, where what is subnormal is made normal first.
    const SQRT_HALF: u32 = 0x3f35_04f3;
    let small = x < f32::MIN_POSITIVE;
    let normal = if small { x * 8_388_608.0 } else { x };
    let missing = if small { 23 } else { 0 };
    let beyond = normal.to_bits().wrapping_sub(SQRT_HALF);
    let k = (((beyond as i32) >> 23) - missing) as f32;
    let f = f32::from_bits((beyond & 0x7f_ffff) + SQRT_HALF) - 1.0;
    let z = f * f;
    let [a, b, c, d, e, g, h, i] = SINGLE_LOG;
    let first = (a + f * b) + z * (c + f * d);
    let p = first + (z * z) * ((e + f * g) + z * (h + f * i));
    let curved = (f * z * p + k * SINGLE_LN_2.1) - 0.5 * z;
    everywhere(x, k * SINGLE_LN_2.0 + (f + curved))
}

#[inline(always)]
pub(crate) fn log2(x: f32) -> f32 {
    let (k, part) = ln_of(f64::from(x), &LOG);
    everywhere(x, (k + part * LOG2_E) as f32)
}

#[inline(always)]
pub(crate) fn log10(x: f32) -> f32 {
    const LOG10_2: f64 = std::f64::consts::LOG10_2;
    let (k, part) = ln_of(f64::from(x), &LOG);
    everywhere(x, (k * LOG10_2 + part * LOG10_E) as f32)
}

/// `ln (1 + x)` of what is above -1 and finite, and below 2¹⁰⁰⁰.
#[inline(always)]
fn ln_1p_of(x: f64) -> f64 {
    let (k, m) = exponent_and_mantissa(1.0 + x);
    // Near one the sum has lost what matters.
    let f = if k == 0.0 { x } else { m - 1.0 };
    k * LN_2 + ln_parts(f, &LOG)
}

#[inline(always)]
pub(crate) fn ln_1p(x: f32) -> f32 {
    let result = ln_1p_of(f64::from(x)) as f32;
    let result = if x > f32::MAX { x } else { result };
    let result = if x == -1.0 { f32::NEG_INFINITY } else { result };
    let result = if x == 0.0 { x } else { result };
    if x >= -1.0 { result } else { f32::NAN }
}

/// Sine and cosine of a remainder. A zero keeps its sign because the sine is a difference.
#[inline(always)]
fn of_remainder(angle: SingleAngle) -> (f32, f32) {
    let (r, r_excess) = (angle.r, angle.r_excess);
    let z = r * r;
    let sin = r - (r * (z * (SIN[0] + z * (SIN[1] + z * SIN[2]))) + r_excess);
    let beyond = (z * z) * (COS[0] + z * (COS[1] + z * COS[2])) + r * r_excess;
    let half = 0.5 * z;
    let most = 1.0 - half;
    let cos = most + (((1.0 - most) - half) + beyond);
    (sin, cos)
}

/// The first in even quadrants, in odd ones the second; negative in the third and fourth.
#[inline(always)]
fn in_quadrant(quadrant: u32, even: f32, odd: f32) -> f32 {
    let value = if quadrant & 1 == 0 { even } else { odd };
    f32::from_bits(value.to_bits() ^ quadrant << 30 & (1 << 31))
}

#[inline(always)]
fn sin_of(angle: SingleAngle) -> f32 {
    let (sin, cos) = of_remainder(angle);
    in_quadrant(angle.quadrant, sin, cos)
}

#[inline(always)]
fn cos_of(angle: SingleAngle) -> f32 {
    let (sin, cos) = of_remainder(angle);
    in_quadrant(angle.quadrant.wrapping_add(1), sin, cos)
}

#[inline(always)]
fn tan_of((quadrant, r): (u32, f64)) -> f32 {
    let z = r * r;
    // As a product it has the sign of a zero.
    let sin = r * (1.0 + z * polynomial(z, &LONG_SIN));
    let cos = (1.0 - 0.5 * z) + z * z * polynomial(z, &LONG_COS);
    let odd = quadrant & 1;
    let (n, d) = if odd == 0 { (sin, cos) } else { (cos, sin) };
    // The cotangent of the remainder has the opposite sign.
    f32::from_bits(((n / d) as f32).to_bits() ^ odd << 31)
}

#[inline(always)]
pub(crate) fn sin(x: f32) -> f32 {
    sin_of(reduced_single(x))
}

#[inline(always)]
pub(crate) fn cos(x: f32) -> f32 {
    cos_of(reduced_single(x))
}

#[inline(always)]
pub(crate) fn tan(x: f32) -> f32 {
    tan_of(reduced_single_widely(x))
}

#[inline(always)]
pub(crate) fn near_sin(x: f32) -> f32 {
    sin_of(reduced_near_single(x))
}

#[inline(always)]
pub(crate) fn near_cos(x: f32) -> f32 {
    cos_of(reduced_near_single(x))
}

#[inline(always)]
pub(crate) fn near_tan(x: f32) -> f32 {
    tan_of(reduced_near_single(x).widely())
}

/// Where `|x| > ½`, `asin |x| = π/2 - 2 asin √((1 - |x|) / 2)`: whether it is so, and `asin` of
/// what remains.
#[inline(always)]
fn asin_of_small(x: f64) -> (bool, f64) {
    let a = x.abs();
    let far = a > 0.5;
    let z = if far { (1.0 - a) * 0.5 } else { a * a };
    let root = z.sqrt();
    let s = if far { root } else { a };
    (far, s + s * (z * polynomial(z, &ASIN)))
}

#[inline(always)]
pub(crate) fn asin(x: f32) -> f32 {
    let (far, small) = asin_of_small(f64::from(x));
    let result = if far { FRAC_PI_2 - 2.0 * small } else { small };
    (result as f32).copysign(x)
}

#[inline(always)]
pub(crate) fn acos(x: f32) -> f32 {
    let (far, small) = asin_of_small(f64::from(x));
    let positive = x > 0.0;
    let signed = if far | positive { small } else { -small };
    let turned = FRAC_PI_2 - signed;
    let result = if far & positive { 2.0 * small } else { turned };
    let result = if far & !positive {
        2.0 * turned
    } else {
        result
    };
    result as f32
}

/// `atan (n / d)` for `0 ≤ n ≤ d`.
#[inline(always)]
fn atan_of_ratio(n: f64, d: f64) -> f64 {
    // Above tan π/8 it is π/4 + atan ((n - d) / (n + d)).
    let far = n > (SQRT_2 - 1.0) * d;
    let (numerator, denominator) = if far { (n - d, n + d) } else { (n, d) };
    let base = if far { FRAC_PI_2 * 0.5 } else { 0.0 };
    let t = numerator / denominator;
    let z = t * t;
    base + (t + t * (z * polynomial(z, &ATAN)))
}

#[inline(always)]
pub(crate) fn atan(x: f32) -> f32 {
    let a = f64::from(x).abs();
    let a = if a > 1e30 { 1e30 } else { a };
    let inverted = a > 1.0;
    let (n, d) = if inverted { (1.0, a) } else { (a, 1.0) };
    let angle = atan_of_ratio(n, d);
    let result = if inverted { FRAC_PI_2 - angle } else { angle };
    (result as f32).copysign(x)
}

#[inline(always)]
pub(crate) fn atan2(y: f32, x: f32) -> f32 {
    let (a, b) = (f64::from(y).abs(), f64::from(x).abs());
    let steep = a > b;
    let (n, d) = if steep { (b, a) } else { (a, b) };
    // Nothing and infinity are as good as other numbers of the same ratio.
    let d = if d == 0.0 { 1.0 } else { d };
    let both = n > f64::MAX;
    let (n, d) = if d > f64::MAX {
        (if both { 1.0 } else { 0.0 }, 1.0)
    } else {
        (n, d)
    };
    let angle = atan_of_ratio(n, d);
    let left = x.is_sign_negative();
    let turns = if left { 2.0 } else { 0.0 };
    let turns = if steep { 1.0 } else { turns };
    let angle = if steep ^ left { -angle } else { angle };
    let result = ((turns * FRAC_PI_2 + angle) as f32).copysign(y);
    if x.is_nan() | y.is_nan() {
        f32::NAN
    } else {
        result
    }
}

#[inline(always)]
pub(crate) fn sinh(x: f32) -> f32 {
    let h = exp_m1_of(f64::from(x.abs()));
    let result = 0.5 * (h + h / (h + 1.0));
    (result as f32).copysign(x)
}

#[inline(always)]
pub(crate) fn cosh(x: f32) -> f32 {
    let e = exp_of(f64::from(x.abs()));
    (0.5 * (e + 1.0 / e)) as f32
}

#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    let a = x.abs();
    let far = a > FAR_TANH;
    // Beyond this the result is one.
    let twice = 2.0 * a;
    let twice = if twice > 20.0 { 20.0 } else { twice };
    let (power, part) = single_exp_parts(twice, 127.0);
    let power = single_power_of_two(power);
    // Up to there it is `a - a³/4` and a quotient that vanishes towards one, because a quotient that were all of `tanh a - a`
    // would be rounded five times where it is large. Both cases share the division.
    let z = a * a;
    let cube = a * z;
    let ([n0, n1, n2], d) = TANH;
    let numerator = cube * (n0 + z * (n1 + z * n2));
    let denominator = 1.0 + z * d;
    let numerator = if far { -2.0 } else { numerator };
    let denominator = if far {
        (1.0 + power) + power * part
    } else {
        denominator
    };
    let quarter = if far { 0.0 } else { 0.25 * cube };
    let base = if far { 1.0 } else { a };
    (base + (numerator / denominator - quarter)).copysign(x)
}

#[inline(always)]
pub(crate) fn asinh(x: f32) -> f32 {
    let a = f64::from(x).abs();
    let square = a * a;
    let result = ln_1p_of(a + square / (1.0 + (1.0 + square).sqrt()));
    let result = (result as f32).copysign(x);
    if x.abs() <= f32::MAX { result } else { x }
}

#[inline(always)]
pub(crate) fn acosh(x: f32) -> f32 {
    let t = f64::from(x) - 1.0;
    let result = ln_1p_of(t + (t * (t + 2.0)).sqrt()) as f32;
    let result = if x > f32::MAX { x } else { result };
    if x >= 1.0 { result } else { f32::NAN }
}

#[inline(always)]
pub(crate) fn atanh(x: f32) -> f32 {
    let a = f64::from(x).abs();
    let result = (0.5 * ln_1p_of(2.0 * a / (1.0 - a))) as f32;
    let result = if a == 1.0 { f32::INFINITY } else { result };
    if a <= 1.0 {
        result.copysign(x)
    } else {
        f32::NAN
    }
}

#[inline(always)]
pub(crate) fn powf(x: f32, y: f32) -> f32 {
    let (x, y) = (f64::from(x), f64::from(y));
    let a = x.abs();
    let a = if (a > 0.0) & (a <= f64::MAX) { a } else { 1.0 };
    let (k, part) = ln_of(a, &LONG_LOG);
    // An infinite power of one would be NaN; a large one is one.
    let bounded = if y > 1e30 { 1e30 } else { y };
    let bounded = if bounded < -1e30 { -1e30 } else { bounded };
    power_everywhere(x, y, exp_of(bounded * (k * LN_2 + part))) as f32
}

#[inline(always)]
pub(crate) fn cbrt(x: f32) -> f32 {
    let wide = f64::from(x).abs();
    let (k, m, root) = root_of_cube(wide);
    let result = ((halley(m, root) * power_of_two(k)) as f32).copysign(x);
    let special = (x == 0.0) | !x.is_finite();
    if special { x } else { result }
}

#[inline(always)]
pub(crate) fn hypot(x: f32, y: f32) -> f32 {
    let (a, b) = (f64::from(x), f64::from(y));
    let result = (a * a + b * b).sqrt() as f32;
    let infinite = (a.abs() > f64::MAX) | (b.abs() > f64::MAX);
    if infinite { f32::INFINITY } else { result }
}
