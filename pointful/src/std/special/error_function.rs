//! The error function (Cody 1969; Shepherd and Laframboise 1981).

use std::f64::consts::FRAC_2_SQRT_PI;

use super::polynomial::{gaussian, polynomial};
use crate::prelude::*;

/// `erf(√s) / √s - 1`
const ERF: [f64; 13] = [
    0.128_379_167_095_512_6,
    -0.376_126_389_031_837_5,
    0.112_837_916_709_548_79,
    -0.026_866_170_645_076_792,
    0.005_223_977_624_818_014_5,
    -0.000_854_832_698_083_379,
    0.000_120_553_311_116_427_1,
    -1.492_559_526_683_118_2e-5,
    1.646_100_048_412_136_8e-6,
    -1.635_031_270_105_469_5e-7,
    1.465_977_527_404_743_6e-8,
    -1.137_284_885_679_167_4e-9,
    5.957_176_147_748_911e-11,
];

/// `(1 + 2x) exp(x²) erfc(x)` by `(x - 4) / (x + 4)`: one polynomial for all of `0..∞`.
const SCALED_ERFC: [f64; 25] = [
    1.232_995_118_625_552_6,
    -0.139_621_116_840_562_28,
    0.015_379_652_102_619_974,
    0.068_097_054_254_668_39,
    -0.101_039_066_036_318_11,
    0.093_732_834_999_112_64,
    -0.066_330_365_811_860_58,
    0.037_167_515_526_338_006,
    -0.016_197_734_062_934_77,
    0.005_031_970_069_102_255,
    -0.000_757_773_243_594_259_6,
    -0.000_199_257_152_472_650_06,
    0.000_150_621_426_086_526_66,
    -2.439_773_114_302_805_6e-5,
    -1.122_113_566_598_363_7e-5,
    5.706_578_299_249_335e-6,
    2.917_342_557_599_687_7e-7,
    -8.210_647_933_398_188e-7,
    7.771_943_237_941_97e-8,
    1.063_181_759_455_951_7e-7,
    -2.072_580_246_662_976e-8,
    -1.233_873_140_689_851_8e-8,
    3.232_397_336_032_163_8e-9,
    9.297_625_269_335_235e-10,
    -2.764_120_219_164_429_4e-10,
];

/// `exp(x²) erfc(x)` for `x ≥ 0`.
#[pointful]
pub(super) fn scaled_erfc(x: f64) -> f64 {
    polynomial((x - 4.0) / (x + 4.0), SCALED_ERFC) / (1.0 + 2.0 * x)
}

/// `erf(x)`, well below 1.
#[pointful]
pub(super) fn erf_near_zero(x: f64) -> f64 {
    x + x * polynomial(x * x, ERF)
}

/// `erfc(x)` for `x ≥ 0`.
#[pointful]
fn right_of_zero(x: f64) -> f64 {
    // There both factors are as good as their limits, and infinity would be none.
    let x = if x > 45.0 { 45.0 } else { x };
    gaussian(x, 1.0) * scaled_erfc(x)
}

#[pointful]
fn erf_of(x: f64) -> f64 {
    let near = erf_near_zero(x);
    let far = (1.0 - right_of_zero(x.abs())).copysign(x);
    if x.abs() < 1.0 { near } else { far }
}

#[pointful]
fn erfc_of(x: f64) -> f64 {
    let near = 1.0 - erf_near_zero(x);
    let right = right_of_zero(x.abs());
    if x.abs() < 0.65 {
        near
    } else if x < 0.0 {
        2.0 - right
    } else {
        right
    }
}

/// The error function: 2/√π times the integral of `exp(-t²)` from 0 to `x`.
///
/// It is odd and goes from -1 to 1; of NaN it is NaN. The error is at most 1 ulp.
///
/// ```
/// use pointful::lib::erf;
/// use pointful::prelude::*;
///
/// assert_eq!([erf(0.0), erf(0.5), erf(f64::INFINITY)], [0.0, 0.5204998778130465, 1.0]);
/// assert_eq!(grad!(erf)(0.0), std::f64::consts::FRAC_2_SQRT_PI);
/// ```
#[pointful(jvp = erf_jvp)]
pub fn erf<T: Float>(x: T) -> T {
    erf_of(x as f64) as T
}

#[pointful]
fn erf_jvp<T: Float>(x: T, tangent: T) -> T {
    tangent * ((FRAC_2_SQRT_PI * gaussian(x as f64, 1.0)) as T)
}

/// `1 - erf(x)`, also where that is small.
///
/// It goes from 2 to 0; beyond 27 it is too small for an `f64`. The error is at most 3 ulp.
///
/// ```
/// use pointful::lib::erfc;
/// use pointful::prelude::*;
///
/// assert_eq!([erfc(0.0), erfc(f64::NEG_INFINITY)], [1.0, 2.0]);
/// assert!((erfc(10.0) / 2.088487583762545e-45 - 1.0).abs() < 1e-15);
/// ```
#[pointful(jvp = erfc_jvp)]
pub fn erfc<T: Float>(x: T) -> T {
    erfc_of(x as f64) as T
}

#[pointful]
fn erfc_jvp<T: Float>(x: T, tangent: T) -> T {
    -tangent * ((FRAC_2_SQRT_PI * gaussian(x as f64, 1.0)) as T)
}
