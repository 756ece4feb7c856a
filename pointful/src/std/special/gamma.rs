//! The logarithm of the gamma function, by quotients of polynomials about its zeros and in the
//! middle, by Stirling's series beyond, and by reflection for negative arguments.

use std::f64::consts::{FRAC_1_PI, PI};

use super::polynomial::{polynomial, polynomial_and_quotient};
use super::psi::digamma;
use crate::prelude::*;

/// `½ ln 2π - ½`
const SHIFT: f64 = 0.418_938_533_204_672_7;

/// `ln Γ(x) / ((x - 1) (x - 2))` with `x = z + ¾`, for `z` from 0 to 1¾: what is left without both zeros.
const LN_GAMMA_NEAR_ABOVE: [f64; 10] = [
    0.650_499_044_580_145_2,
    3.009_619_167_474_261,
    5.606_162_340_212_989,
    5.401_220_469_807_979,
    2.880_717_269_155_762_3,
    0.846_221_831_820_904_5,
    0.128_615_413_746_293_8,
    0.008_767_187_064_933_691,
    0.000_192_328_804_748_623_28,
    2.853_903_281_643_086_3e-7,
];
const LN_GAMMA_NEAR_BELOW: [f64; 10] = [
    1.0,
    5.168_306_697_477_493,
    10.965_701_619_770_966,
    12.350_635_136_810_608,
    7.984_097_182_522_821,
    2.996_813_512_047_896_5,
    0.631_777_625_564_375_1,
    0.068_853_725_722_195_03,
    0.003_279_516_831_473_496,
    4.593_136_575_384_861e-5,
];

/// `ln Γ(z + 2½)` for `z` from 0 to 5½.
const LN_GAMMA_MIDDLE_ABOVE: [f64; 10] = [
    0.284_682_870_472_919_2,
    1.089_232_521_670_067,
    1.407_798_337_362_817_6,
    0.867_316_838_374_172_2,
    0.287_713_368_614_932_1,
    0.053_323_327_863_989_33,
    0.005_431_668_589_719_001,
    0.000_283_633_994_895_090_7,
    6.510_744_057_505_204e-6,
    4.530_670_346_331_677e-8,
];
const LN_GAMMA_MIDDLE_BELOW: [f64; 10] = [
    1.0,
    1.356_161_262_472_409_3,
    0.734_240_389_919_355_9,
    0.203_370_429_096_891_04,
    0.030_739_185_780_718_32,
    0.002_509_011_169_502_319,
    0.000_102_784_885_250_797_03,
    1.783_587_044_120_098_7e-6,
    8.447_527_965_698_783e-9,
    -3.625_133_331_905_419_5e-12,
];

/// What Stirling's formula leaves of `ln Γ(x)`, times `x`, by `1/x²`, for `x` from 3.
const STIRLING_ABOVE: [f64; 9] = [
    0.083_333_333_333_333_33,
    2.546_785_015_625_559,
    26.321_100_703_586_346,
    114.539_717_799_830_87,
    212.827_067_379_485_02,
    150.448_968_369_475_44,
    27.728_079_473_015_69,
    -0.378_767_121_475_038_77,
    0.018_038_977_323_866_97,
];
const STIRLING_BELOW: [f64; 7] = [
    1.0,
    30.594_753_520_840_04,
    316.863_509_750_873_7,
    1_384.754_494_841_848,
    2_597.273_976_947_032,
    1_880.752_564_800_381_2,
    378.010_298_117_377_6,
];

/// `ln Γ(x)` less Stirling's `(x - ½) ln x - x + ½ ln 2π`, for `x ≥ 3`.
#[pointful]
pub(super) fn stirling_rest(x: f64) -> f64 {
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    inverse * polynomial(square, STIRLING_ABOVE) / polynomial(square, STIRLING_BELOW)
}

/// `ln Γ(1 + x)` for `x` from 0 to 1¾, small with `x`.
#[pointful]
pub(super) fn ln_gamma_after_one(x: f64) -> f64 {
    let z = x + 0.25;
    let near = polynomial(z, LN_GAMMA_NEAR_ABOVE) / polynomial(z, LN_GAMMA_NEAR_BELOW);
    x * (x - 1.0) * near
}

/// `stirling_rest(x + b) - stirling_rest(x)` for `x ≥ 3` and `b ≥ 0`, small with `b`.
#[pointful]
fn stirling_rest_step(x: f64, b: f64) -> f64 {
    let (inverse, next) = (1.0 / x, 1.0 / (x + b));
    let (square, next_square) = (inverse * inverse, next * next);
    let (above, of_above) = polynomial_and_quotient(next_square, square, STIRLING_ABOVE);
    let (below, of_below) = polynomial_and_quotient(next_square, square, STIRLING_BELOW);
    let quotient = polynomial(square, STIRLING_ABOVE) / polynomial(square, STIRLING_BELOW);
    let of_quotient = (of_above - quotient * of_below) / below;
    -(b / x * next) * (above / below + inverse * (inverse + next) * of_quotient)
}

/// `ln(cᵇ Γ(a + b) / Γ(a))` for `a > 0` and `0 ≤ b ≤ 1`, small with `b`.
///
/// Both arguments are moved to where Stirling's formula holds, by the product that `Γ` gains.
#[pointful]
pub(super) fn ln_gamma_step(a: f64, b: f64, c: f64) -> f64 {
    let mut y = a;
    let mut excess = 0.0;
    for _k in 0..12 {
        excess += b / y * (1.0 + excess);
        y += 1.0;
    }
    let far = (y + b - 0.5) * (b / y).ln_1p() + b * ((c * y).ln() - 1.0);
    far + stirling_rest_step(y, b) - excess.ln_1p()
}

/// `ln Γ(x)` for `x ≥ ¾`.
#[pointful]
pub(super) fn right_ln_gamma(x: f64) -> f64 {
    let z = x - 0.75;
    let near = polynomial(z, LN_GAMMA_NEAR_ABOVE) / polynomial(z, LN_GAMMA_NEAR_BELOW);
    let near = (x - 1.0) * (x - 2.0) * near;
    let z = x - 2.5;
    let middle = polynomial(z, LN_GAMMA_MIDDLE_ABOVE) / polynomial(z, LN_GAMMA_MIDDLE_BELOW);
    let far = (x - 0.5) * (x.ln() - 1.0) + (SHIFT + stirling_rest(x));
    if x < 2.5 {
        near
    } else if x < 8.0 {
        middle
    } else {
        far
    }
}

/// `sin πx`, exactly zero of integers.
#[pointful]
fn sine_of_turns(x: f64) -> f64 {
    (PI * (x - x.round())).sin()
}

#[pointful]
fn ln_gamma_of(x: f64) -> f64 {
    let reflected = x <= -0.25;
    let small = x < 0.75;
    // What is less than ¾ is brought to the right of it: 1 - x, or 1 + x.
    let right = if small {
        1.0 + if reflected { -x } else { x }
    } else {
        x
    };
    let value = right_ln_gamma(right);
    let factor = if reflected {
        sine_of_turns(x) * FRAC_1_PI
    } else {
        x
    };
    let factor = if small { factor.abs() } else { 1.0 };
    let value = (if reflected { -value } else { value }) - factor.ln();
    if x.is_infinite() {
        f64::INFINITY
    } else {
        value
    }
}

/// The logarithm of the absolute value of the gamma function.
///
/// It is infinity of infinities, of zero and of negative integers. For positive arguments the error
/// is at most 4.5 ulp. For negative ones there are zeros between integers, about which it is small
/// beside 1.
///
/// The derivative is [`digamma`](fn@digamma).
///
/// ```
/// use pointful::lib::{digamma, ln_gamma};
/// use pointful::prelude::*;
///
/// assert_eq!([ln_gamma(1.0), ln_gamma(2.0), ln_gamma(0.0)], [0.0, 0.0, f64::INFINITY]);
/// assert!((ln_gamma(5.0) - 24.0_f64.ln()).abs() < 1e-15);
/// assert_eq!(grad!(ln_gamma)(3.5), digamma(3.5));
/// ```
#[pointful(jvp = ln_gamma_jvp)]
pub fn ln_gamma<T: Float>(x: T) -> T {
    ln_gamma_of(x as f64) as T
}

#[pointful]
fn ln_gamma_jvp<T: Float>(x: T, tangent: T) -> T {
    tangent * digamma(x)
}
