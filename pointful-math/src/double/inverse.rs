//! Inverses of sine, cosine and tangent.

use crate::parts::{polynomial, product, sum, sum_of_ordered};

/// π/2, and what is missing.
const HALF_PI: (f64, f64) = (std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17);

/// `(asin s - s) / s³` in powers of `s²`, up to ¼.
const ASIN: [f64; 13] = [
    0.166_666_666_666_667_63,
    0.074_999_999_999_700_88,
    0.044_642_857_175_295_945,
    0.030_381_942_674_853_07,
    0.022_372_215_916_618_306,
    0.017_351_595_329_307_284,
    0.013_981_020_347_953_312,
    0.011_397_279_929_945_818,
    0.010_789_386_247_967_282,
    0.003_671_967_070_658_271,
    0.021_791_118_225_128_643,
    -0.021_117_312_185_229_154,
    0.032_702_492_132_525_39,
];

/// `(atan t - t) / t³` in powers of `t²`, up to tan² π/8.
const ATAN: [f64; 11] = [
    -0.333_333_333_333_332,
    0.199_999_999_999_536_66,
    -0.142_857_142_802_041_93,
    0.111_111_107_838_198_87,
    -0.090_908_977_671_805_81,
    0.076_920_603_630_269_87,
    -0.066_631_054_662_493_15,
    0.058_478_974_558_205_79,
    -0.050_393_310_878_542_846,
    0.038_064_961_226_220_835,
    -0.017_907_350_650_552_153,
];

/// Where `|x| > ½`, `asin |x| = π/2 - 2 asin √((1 - |x|) / 2)`: whether it is so, and `asin` of
/// what remains as a sum.
#[inline(always)]
fn asin_of_small(x: f64) -> (bool, f64, f64) {
    let a = x.abs();
    let far = a > 0.5;
    let z = if far { (1.0 - a) * 0.5 } else { a * a };
    let root = z.sqrt();
    let (square, square_error) = product(root, root);
    let root_error = ((z - square) - square_error) / (root + root);
    let root_error = if far & (z > 0.0) { root_error } else { 0.0 };
    let s = if far { root } else { a };
    (far, s, s * (z * polynomial(z, &ASIN)) + root_error)
}

#[inline(always)]
pub(crate) fn asin(x: f64) -> f64 {
    let (far, s, rest) = asin_of_small(x);
    let (high, error) = sum_of_ordered(HALF_PI.0, -2.0 * s);
    let turned = high + (error + (HALF_PI.1 - 2.0 * rest));
    let result = if far { turned } else { s + rest };
    let result = result.copysign(x);
    if x.abs() < 1e-8 { x } else { result }
}

#[inline(always)]
pub(crate) fn acos(x: f64) -> f64 {
    let (far, s, rest) = asin_of_small(x);
    let (s, rest) = if far | (x > 0.0) {
        (s, rest)
    } else {
        (-s, -rest)
    };
    let (high, error) = sum_of_ordered(HALF_PI.0, -s);
    let turned = high + (error + (HALF_PI.1 - rest));
    let positive = s + rest;
    let twice = if x > 0.0 { positive } else { turned };
    if far { 2.0 * twice } else { turned }
}

/// 2⁴⁰⁰
const UP: f64 = 2.582_249_878_086_908_6e120;

/// `atan (n / d)` as a sum, for `0 ≤ n ≤ d` and `d` far from overflow and underflow.
#[inline(always)]
fn atan_of_ratio(n: f64, d: f64) -> (f64, f64) {
    // Above tan π/8 it is π/4 + atan ((n - d) / (n + d)).
    let far = n > std::f64::consts::SQRT_2 * d - d;
    let (difference, difference_error) = sum(n, -d);
    let (total, total_error) = sum_of_ordered(d, n);
    let (n, n_error) = if far {
        (difference, difference_error)
    } else {
        (n, 0.0)
    };
    let (d, d_error) = if far { (total, total_error) } else { (d, 0.0) };
    // The quotient of a tiny number is found further up, where what it misses does not underflow.
    let tiny = n.abs() < 1e-200;
    let up = if tiny { UP } else { 1.0 };
    let down = if tiny { 1.0 / UP } else { 1.0 };
    let n = n * up;
    let inverse = 1.0 / d;
    let quotient = n * inverse;
    let (back, back_error) = product(quotient, d);
    let missing = ((n - back) - back_error) + (n_error - quotient * d_error);
    // What is lost on the way down, where the quotient is subnormal, is missing, too.
    let t = quotient * down;
    let t_error = ((quotient - t * up) + missing * inverse) * down;
    let z = t * t;
    let rest = t * (z * polynomial(z, &ATAN)) + (t_error - t_error * z);
    let (base, base_error) = if far {
        (0.5 * HALF_PI.0, 0.5 * HALF_PI.1)
    } else {
        (0.0, 0.0)
    };
    let (high, error) = sum(base, t);
    sum_of_ordered(high, error + (base_error + rest))
}

#[inline(always)]
pub(crate) fn atan(x: f64) -> f64 {
    let a = x.abs();
    let a = if a > 1e30 { 1e30 } else { a };
    let inverted = a > 1.0;
    let (n, d) = if inverted { (1.0, a) } else { (a, 1.0) };
    let (high, low) = atan_of_ratio(n, d);
    let (turned, error) = sum_of_ordered(HALF_PI.0, -high);
    let turned = turned + (error + (HALF_PI.1 - low));
    let result = if inverted { turned } else { high + low };
    let result = result.copysign(x);
    if x.abs() < 1e-8 { x } else { result }
}

#[inline(always)]
pub(crate) fn atan2(y: f64, x: f64) -> f64 {
    let (a, b) = (y.abs(), x.abs());
    let steep = a > b;
    let (n, d) = if steep { (b, a) } else { (a, b) };
    // Nothing and infinity are as good as other numbers of the same ratio.
    let (n, d) = if d == 0.0 { (0.0, 1.0) } else { (n, d) };
    let both = n > f64::MAX;
    let (n, d) = if d > f64::MAX {
        (if both { 1.0 } else { 0.0 }, 1.0)
    } else {
        (n, d)
    };
    let factor = if d < 1e-180 { UP } else { 1.0 };
    let factor = if d > 1e180 { 1.0 / UP } else { factor };
    let (high, low) = atan_of_ratio(n * factor, d * factor);
    // Turned by none, one or two right angles, and to or fro.
    let left = x.is_sign_negative();
    let back = steep ^ left;
    let turns = if left { 2.0 } else { 0.0 };
    let turns = if steep { 1.0 } else { turns };
    let (high, low) = if back { (-high, -low) } else { (high, low) };
    let (total, error) = sum_of_ordered(turns * HALF_PI.0, high);
    let result = total + (error + (turns * HALF_PI.1 + low));
    let result = result.copysign(y);
    if x.is_nan() | y.is_nan() {
        f64::NAN
    } else {
        result
    }
}
