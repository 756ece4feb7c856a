//! Derivatives of the logarithm of the gamma function (Bernardo 1976).

use std::f64::consts::PI;

use super::polynomial::{polynomial, polynomial_and_quotient};
use crate::prelude::*;

/// The zero of digamma that is positive.
const ZERO: (f64, f64) = (1.461_632_144_968_362_2, 9.549_995_429_965_697e-17);

/// `ψ(z + 1)`, divided by the distance from its zero, for `z` from 0 to 2.
const DIGAMMA_NEAR_ABOVE: [f64; 8] = [
    1.250_380_137_503_405_4,
    2.007_998_352_106_005_4,
    1.174_160_411_603_372_1,
    0.316_499_336_325_507_14,
    0.040_493_508_265_671_44,
    0.002_235_289_521_967_761,
    3.911_765_166_568_312_5e-5,
    4.097_361_930_526_724e-8,
];
const DIGAMMA_NEAR_BELOW: [f64; 8] = [
    1.0,
    2.289_457_123_354_213_6,
    1.902_202_274_882_464_3,
    0.747_049_500_232_858_7,
    0.148_108_329_045_946_73,
    0.014_396_602_345_897_333,
    0.000_600_000_411_210_030_2,
    7.377_847_624_347_886_5e-6,
];

/// `ψ(z + 3)` for `z` from 0 to 9.
const DIGAMMA_MIDDLE_ABOVE: [f64; 10] = [
    0.922_784_335_098_467_1,
    1.415_089_349_843_065_4,
    0.811_583_541_948_758_7,
    0.231_719_367_699_265_02,
    0.036_077_793_403_135_19,
    0.003_112_308_007_860_359_3,
    0.000_143_493_070_028_228_97,
    3.213_651_129_170_515e-6,
    2.859_318_603_189_994_2e-8,
    6.134_596_122_330_171e-11,
];
const DIGAMMA_MIDDLE_BELOW: [f64; 10] = [
    1.0,
    1.105_518_639_830_380_5,
    0.489_858_199_267_524_44,
    0.112_293_070_007_490_4,
    0.014_347_004_689_400_67,
    0.001_026_644_984_776_185_5,
    3.931_873_722_435_411e-5,
    7.243_383_267_958_734e-7,
    5.142_106_939_333_532_5e-9,
    7.979_407_541_497_801e-12,
];

/// `ln x - 1/2x - ψ(x)`, times `x²`, by `1/x²`, for `x` from 12.
const DIGAMMA_FAR: [f64; 6] = [
    0.083_333_333_333_333_33,
    -0.008_333_333_333_290_808,
    0.003_968_253_896_627_573,
    -0.004_166_622_424_431_87,
    0.007_563_344_817_693_168,
    -0.019_468_874_284_284_995,
];

/// `ψ'(z + 1)` for `z` from 0 to 2.
const TRIGAMMA_NEAR_ABOVE: [f64; 9] = [
    1.644_934_066_848_226_4,
    4.919_627_314_795_46,
    6.391_180_443_569_778,
    4.649_396_489_394_546,
    2.043_072_279_748_239_2,
    0.542_923_115_528_237,
    0.081_004_624_081_031_85,
    0.005_255_688_055_125_877_5,
    6.765_219_010_076_212e-13,
];
const TRIGAMMA_NEAR_BELOW: [f64; 9] = [
    1.0,
    4.452_300_714_488_388,
    8.418_603_905_842_998,
    8.863_518_704_792_327,
    5.712_794_076_218_58,
    2.321_065_188_881_707,
    0.583_863_406_726_733_6,
    0.083_632_467_679_920_66,
    0.005_255_688_079_467_927,
];

/// `ψ'(z + 3)` for `z` from 0 to 9.
const TRIGAMMA_MIDDLE_ABOVE: [f64; 9] = [
    0.394_934_066_848_226_46,
    0.704_712_709_757_311_8,
    0.544_527_870_109_411_4,
    0.236_441_671_611_647_59,
    0.062_392_653_233_583_825,
    0.010_021_921_562_351_353,
    0.000_909_040_207_048_117_4,
    3.600_007_095_838_881e-5,
    1.127_662_218_086_862e-20,
];
const TRIGAMMA_MIDDLE_BELOW: [f64; 9] = [
    1.0,
    2.174_607_328_586_187,
    2.076_790_154_315_096,
    1.139_155_919_036_433,
    0.393_087_031_485_593_76,
    0.087_515_710_475_219_01,
    0.012_297_522_085_886_843,
    0.000_999_040_384_444_028_6,
    3.600_007_095_839_004e-5,
];

/// `ψ'(x) - 1/x - 1/2x²`, times `x³`, by `1/x²`, for `x` from 12.
const TRIGAMMA_FAR: [f64; 6] = [
    0.166_666_666_666_666_6,
    -0.033_333_333_332_746_774,
    0.023_809_522_821_211_352,
    -0.033_332_722_414_358_223,
    0.075_585_927_433_203_28,
    -0.230_588_097_950_173_46,
];

/// The Bernoulli numbers `B₂, B₄, …`, each divided by the factorial of its index.
const BERNOULLI: [f64; 10] = [
    0.083_333_333_333_333_33,
    -0.001_388_888_888_888_889,
    3.306_878_306_878_307e-5,
    -8.267_195_767_195_768e-7,
    2.087_675_698_786_81e-8,
    -5.284_190_138_687_493e-10,
    1.338_253_653_068_467_9e-11,
    -3.389_680_296_322_582_7e-13,
    8.586_062_056_277_845e-15,
    -2.174_868_698_558_062e-16,
];

/// What is smaller than 1 brought to the right of it: `1 - x` if it is negative, else `1 + x`.
#[pointful]
fn beyond_one(x: f64) -> f64 {
    if x < 0.0 {
        1.0 - x
    } else if x < 1.0 {
        1.0 + x
    } else {
        x
    }
}

/// The angle that `x` is from the nearest integer, in turns of `π`.
#[pointful]
fn angle(x: f64) -> f64 {
    PI * (x - x.round())
}

/// `ln x - ψ(x)` for `x ≥ 12`.
#[pointful]
pub(super) fn ln_less_digamma(x: f64) -> f64 {
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    0.5 * inverse + square * polynomial(square, DIGAMMA_FAR)
}

/// `ψ(a + b) - ψ(a)` for `a > 0` and `b ≥ 0`, small with `b`.
#[pointful]
pub(super) fn digamma_step(a: f64, b: f64) -> f64 {
    let mut y = a;
    let mut total = 0.0;
    for _k in 0..12 {
        total += b / y / (y + b);
        y += 1.0;
    }
    let (inverse, next) = (1.0 / y, 1.0 / (y + b));
    let difference = b / y * next;
    let (square, next_square) = (inverse * inverse, next * next);
    let (rest, quotient) = polynomial_and_quotient(square, next_square, DIGAMMA_FAR);
    let rests = difference * (inverse + next) * (rest + next_square * quotient);
    total + (b / y).ln_1p() + (0.5 * difference + rests)
}

#[pointful]
pub(super) fn digamma_of(x: f64) -> f64 {
    let right = beyond_one(x);
    let z = right - 1.0;
    let near = polynomial(z, DIGAMMA_NEAR_ABOVE) / polynomial(z, DIGAMMA_NEAR_BELOW);
    let near = ((right - ZERO.0) - ZERO.1) * near;
    let z = right - 3.0;
    let middle = polynomial(z, DIGAMMA_MIDDLE_ABOVE) / polynomial(z, DIGAMMA_MIDDLE_BELOW);
    let far = right.ln() - ln_less_digamma(right);
    let value = if right < 3.0 {
        near
    } else if right < 12.0 {
        middle
    } else {
        far
    };
    let angle = angle(x);
    if x < 0.0 {
        // At poles the signs of both sides differ.
        if angle == 0.0 {
            f64::NAN
        } else {
            value - PI / angle.tan()
        }
    } else if x < 1.0 {
        value - 1.0 / x
    } else {
        value
    }
}

#[pointful]
fn trigamma_of(x: f64) -> f64 {
    let right = beyond_one(x);
    let z = right - 1.0;
    let near = polynomial(z, TRIGAMMA_NEAR_ABOVE) / polynomial(z, TRIGAMMA_NEAR_BELOW);
    let z = right - 3.0;
    let middle = polynomial(z, TRIGAMMA_MIDDLE_ABOVE) / polynomial(z, TRIGAMMA_MIDDLE_BELOW);
    let inverse = 1.0 / right;
    let square = inverse * inverse;
    let far = inverse + square * (0.5 + inverse * polynomial(square, TRIGAMMA_FAR));
    let value = if right < 3.0 {
        near
    } else if right < 12.0 {
        middle
    } else {
        far
    };
    if x < 0.0 {
        (PI / angle(x).sin()).powi(2) - value
    } else if x < 1.0 {
        value + 1.0 / (x * x)
    } else {
        value
    }
}

/// The sum of `1 / (x + k)ⁿ⁺¹` over all `k ≥ 0`, for `x > 0` and `n ≥ 1`: its beginning, and the
/// series of Euler and Maclaurin for the rest.
#[pointful]
fn sum_of_powers(n: usize, x: f64) -> f64 {
    let order = n as f64;
    let power = n as i32 + 1;
    let mut y = x;
    let mut total = 0.0;
    while y < 15.0 + order {
        total += 1.0 / y.powi(power);
        y += 1.0;
    }
    let inverse = 1.0 / y;
    let mut rest = 0.0;
    // (n + 1) … (n + 2k - 1) / y²ᵏ⁻¹
    let mut rising = (order + 1.0) * inverse;
    for k in Fin::<10> {
        rest += BERNOULLI[k] * rising;
        let last = order + 2.0 * k.ordinal() as f64;
        rising *= (last + 2.0) * inverse * ((last + 3.0) * inverse);
    }
    total + 1.0 / (order * y.powi(n as i32)) + (0.5 + rest) / y.powi(power)
}

/// The derivative of order `n` of digamma.
#[pointful]
fn polygamma_of(n: usize, x: f64) -> f64 {
    let mut factorial = if n % 2 == 0 { -1.0 } else { 1.0 };
    for k in 0..n {
        factorial *= (k + 1) as f64;
    }
    if n == 0 {
        digamma_of(x)
    } else if x > 0.0 {
        factorial * sum_of_powers(n, x)
    } else if x == 0.0 {
        factorial * f64::INFINITY
    } else {
        f64::NAN
    }
}

/// The derivative of [`ln_gamma`](fn@super::ln_gamma), `Γ'(x) / Γ(x)`.
///
/// At zero it is an infinity of the other sign than the zero has, at negative integers NaN. For
/// positive arguments the error is at most 4.5 ulp, about the zero at 1.46 as well. For negative
/// ones it is small beside the larger of 1 and the result.
///
/// ```
/// use pointful::lib::{digamma, polygamma};
/// use pointful::prelude::*;
///
/// assert!((digamma(1.0) + 0.5772156649015329).abs() < 1e-15);
/// assert!((grad!(digamma)(2.5) - polygamma(1, 2.5)).abs() < 1e-15);
/// ```
#[pointful(jvp = digamma_jvp)]
pub fn digamma<T: Float>(x: T) -> T {
    digamma_of(x as f64) as T
}

#[pointful]
fn digamma_jvp<T: Float>(x: T, tangent: T) -> T {
    tangent * (trigamma(x as f64) as T)
}

#[pointful(jvp = trigamma_jvp)]
fn trigamma(x: f64) -> f64 {
    trigamma_of(x)
}

#[pointful]
fn trigamma_jvp(x: f64, tangent: f64) -> f64 {
    tangent * polygamma_of(2, x)
}

/// The derivative of order `n` of [`digamma`](fn@digamma), which is the one of order 0.
///
/// It is taken for `x > 0` and `n` up to 100; of negative numbers it is NaN. The error is at most 8
/// ulp up to the fourth, and some `n` ulp beyond.
///
/// ```
/// use pointful::lib::polygamma;
///
/// assert!((polygamma(1, 1.0) - std::f64::consts::PI.powi(2) / 6.0).abs() < 1e-15);
/// ```
#[pointful(jvp = polygamma_jvp)]
pub fn polygamma<T: Float>(n: usize, x: T) -> T {
    polygamma_of(n, x as f64) as T
}

#[pointful]
fn polygamma_jvp<T: Float>(n: usize, x: T, tangent: T) -> T {
    tangent * (polygamma_of(n + 1, x as f64) as T)
}
