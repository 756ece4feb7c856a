//! The normal distribution, and the inverse of the error function, which is its quantile (Wichura
//! 1988).

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

use super::error_function::{erf_near_zero, scaled_erfc};
use super::polynomial::{gaussian, polynomial};
use crate::prelude::*;

/// `1 / √(2π)`
const DENSITY_OF_ZERO: f64 = 0.398_942_280_401_432_7;

/// `√(2π)`
const ROOT_OF_TAU: f64 = 2.506_628_274_631_000_7;

/// `½ √π`
const HALF_ROOT_OF_PI: f64 = 0.886_226_925_452_758;

/// `erfinv(x)`, divided by `½ √π x`, less 1, by `0.180625 - x²/4`.
const CENTRAL_ABOVE: [f64; 10] = [
    0.351_270_512_296_038_4,
    13.372_599_350_491_283,
    175.211_559_335_737_38,
    739.963_933_704_315_3,
    -2_601.972_077_139_996,
    -31_935.458_470_808_34,
    -94_009.745_227_589_91,
    -101_090.814_562_198_69,
    -31_146.304_892_118_937,
    -297.562_764_961_098_3,
];
const CENTRAL_BELOW: [f64; 9] = [
    1.0,
    49.629_884_061_274_88,
    987.694_673_149_439_8,
    10_114.955_232_895_682,
    56_982.566_327_762_61,
    175_411.244_845_727_23,
    276_361.754_197_820_03,
    191_723.984_082_169_25,
    40_633.496_316_116_034,
];

/// `erfinv(1 - 2t)` less `r = √(-ln t)`, by `r - 1.6`, up to 3.4.
const TAIL_ABOVE: [f64; 10] = [
    -0.593_477_966_396_312_1,
    -1.134_005_265_746_471_2,
    -0.879_814_537_484_612_1,
    -0.360_892_807_327_816_15,
    -0.084_082_580_084_977_88,
    -0.010_759_041_997_826_412,
    -0.000_658_679_574_901_916,
    -1.407_112_070_684_781_2e-5,
    -2.134_087_501_331_247e-8,
    8.674_306_089_619_62e-11,
];
const TAIL_BELOW: [f64; 9] = [
    1.0,
    2.260_515_167_350_140_7,
    2.126_426_823_054_452_5,
    1.086_863_830_098_072_6,
    0.328_638_987_575_264_5,
    0.059_144_698_883_159_68,
    0.005_938_417_515_136_005_6,
    0.000_284_505_284_583_840_9,
    4.535_329_850_899_031_5e-6,
];

/// The same by `r - 5`, up to the least number of the format.
const FAR_TAIL_ABOVE: [f64; 11] = [
    -0.292_150_478_086_966_4,
    -0.206_623_873_420_492_46,
    -0.059_543_204_685_160_5,
    -0.009_011_543_315_065_616,
    -0.000_771_233_532_562_199_7,
    -3.760_528_508_971_42e-5,
    -1.008_031_443_546_378_8e-6,
    -1.368_572_060_086_771e-8,
    -8.026_458_669_344_73e-11,
    -1.420_270_020_211_409e-13,
    -1.000_756_529_368_346_8e-17,
];
const FAR_TAIL_BELOW: [f64; 11] = [
    1.0,
    0.842_659_816_267_429_5,
    0.296_884_111_623_098_1,
    0.056_774_056_778_444_21,
    0.006_407_393_379_960_71,
    0.000_435_555_782_000_561_8,
    1.752_783_776_952_730_5e-5,
    3.967_830_365_790_865_5e-7,
    4.594_218_654_900_383e-9,
    2.281_150_285_228_908_3e-11,
    3.251_122_460_869_917e-14,
];

#[pointful]
fn cdf_of(x: f64) -> f64 {
    let u = if x.abs() > 45.0 { 45.0 } else { x.abs() };
    let scaled = u * FRAC_1_SQRT_2;
    let near = 0.5 * erf_near_zero(scaled);
    let near = 0.5 + near.copysign(x);
    let beyond = gaussian(u, 0.5) * (0.5 * scaled_erfc(scaled));
    let far = if x < 0.0 { beyond } else { 1.0 - beyond };
    if u < 0.9 { near } else { far }
}

/// `outside` times the inverse of the error function at `x`, where `tail` is half of what `x` is
/// away from the nearer of -1 and 1, and `middle` is `outside` times `½ √π`.
///
/// Quotients of polynomials are added to what is larger, so that their roundings show less.
#[pointful]
fn inverse_of(x: f64, tail: f64, middle: f64, outside: f64) -> f64 {
    let r = 0.180_625 - 0.25 * (x * x);
    let excess = polynomial(r, CENTRAL_ABOVE) / polynomial(r, CENTRAL_BELOW);
    let central = middle * (x + x * excess);
    let r = (-tail.ln()).sqrt();
    let z = r - 1.6;
    let near = polynomial(z, TAIL_ABOVE) / polynomial(z, TAIL_BELOW);
    let z = r - 5.0;
    let far = polynomial(z, FAR_TAIL_ABOVE) / polynomial(z, FAR_TAIL_BELOW);
    let beyond = outside * (r + if r <= 5.0 { near } else { far });
    let beyond = if tail == 0.0 { f64::INFINITY } else { beyond };
    if x.abs() <= 0.85 {
        central
    } else {
        beyond.copysign(x)
    }
}

#[pointful]
fn quantile_of_probability(p: f64) -> f64 {
    let tail = if p < 0.5 { p } else { 1.0 - p };
    inverse_of(2.0 * (p - 0.5), tail, 0.5 * ROOT_OF_TAU, SQRT_2)
}

#[pointful]
fn inverse_of_erf(x: f64) -> f64 {
    inverse_of(x, 0.5 * (1.0 - x.abs()), HALF_ROOT_OF_PI, 1.0)
}

/// The probability that a standard normal number is at most `x`: `½ erfc(-x / √2)`, without the
/// rounding of the argument, which would show in the lower tail.
///
/// It goes from 0 to 1; below -38.5 it is too small for an `f64`. The error is at most 3.5 ulp.
///
/// ```
/// use pointful::lib::normal_cdf;
/// use pointful::prelude::*;
///
/// /// The value of a call by Black and Scholes, without interest.
/// #[pointful]
/// fn call(spot: f64, strike: f64, deviation: f64) -> f64 {
///     let d = (spot / strike).ln() / deviation + 0.5 * deviation;
///     spot * normal_cdf(d) - strike * normal_cdf(d - deviation)
/// }
///
/// let delta = grad!(call, wrt = spot)(100.0, 100.0, 0.2);
/// assert!((delta - normal_cdf(0.1)).abs() < 1e-15);
/// let gamma = hessian!(call, wrt = spot)(100.0, 100.0, 0.2);
/// assert!((gamma - 0.01984762737385059).abs() < 1e-16);
/// ```
#[pointful(jvp = normal_cdf_jvp)]
pub fn normal_cdf<T: Float>(x: T) -> T {
    cdf_of(x as f64) as T
}

#[pointful]
fn normal_cdf_jvp<T: Float>(x: T, tangent: T) -> T {
    tangent * ((DENSITY_OF_ZERO * gaussian(x as f64, 0.5)) as T)
}

/// The number that a standard normal one is below with probability `p`: the inverse of
/// [`normal_cdf`](fn@normal_cdf).
///
/// It is minus infinity of 0, infinity of 1, and NaN outside of `0..=1`. The error is at most 3.5
/// ulp, for the smallest probabilities, too.
///
/// ```
/// use pointful::lib::normal_quantile;
///
/// assert_eq!(normal_quantile(0.5), 0.0);
/// assert!((normal_quantile(0.975_f64) - 1.959963984540054).abs() < 1e-15);
/// ```
#[pointful(jvp = normal_quantile_jvp)]
pub fn normal_quantile<T: Float>(p: T) -> T {
    quantile_of_probability(p as f64) as T
}

// The rule's own derivative wants one of the quantile in turn.
#[pointful(jvp = quantile_again_jvp)]
fn quantile_again(p: f64) -> f64 {
    quantile_of_probability(p)
}

#[pointful]
fn quantile_again_jvp(p: f64, tangent: f64) -> f64 {
    tangent * (ROOT_OF_TAU / gaussian(quantile_of_probability(p), 0.5))
}

#[pointful]
fn normal_quantile_jvp<T: Float>(p: T, tangent: T) -> T {
    tangent * ((ROOT_OF_TAU / gaussian(quantile_again(p as f64), 0.5)) as T)
}

/// The inverse of [`erf`](fn@super::erf).
///
/// It is minus infinity of -1, infinity of 1, and NaN outside of `-1..=1`. The error is at most 3
/// ulp.
///
/// ```
/// use pointful::lib::{erf, erfinv};
///
/// assert!((erfinv(0.5_f64) - 0.4769362762044699).abs() < 1e-16);
/// assert!((erf(erfinv(0.25_f64)) - 0.25).abs() < 1e-16);
/// ```
#[pointful(jvp = erfinv_jvp)]
pub fn erfinv<T: Float>(x: T) -> T {
    inverse_of_erf(x as f64) as T
}

#[pointful(jvp = erfinv_again_jvp)]
fn erfinv_again(x: f64) -> f64 {
    inverse_of_erf(x)
}

#[pointful]
fn erfinv_again_jvp(x: f64, tangent: f64) -> f64 {
    tangent * (HALF_ROOT_OF_PI / gaussian(inverse_of_erf(x), 1.0))
}

#[pointful]
fn erfinv_jvp<T: Float>(x: T, tangent: T) -> T {
    tangent * ((HALF_ROOT_OF_PI / gaussian(erfinv_again(x as f64), 1.0)) as T)
}
