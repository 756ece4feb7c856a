//! The incomplete gamma functions: a series below, a continued fraction above, and Temme's uniform
//! expansion between them for large `a` (Gil, Segura and Temme 2012).
//!
//! Derivatives by `a` are those of the series, the fraction and the expansion, term by term (Moore
//! 1982). Each is a sum whose largest terms have one sign.

use std::f64::consts::TAU;

use super::error_function::scaled_erfc;
use super::gamma::{ln_gamma_after_one, right_ln_gamma, stirling_rest};
use super::polynomial::{polynomial, polynomial_and_slope};
use super::powers::{curvature, excess, ln_ratio, ln_slope, lost_by_difference, parts};
use super::psi::{digamma_of, ln_less_digamma};
use crate::prelude::*;

// The coefficients of `1 / aᵏ` in Temme's expansion, by `η`, for `η` from -0.41 to 0.32.
const TEMME_0: [f64; 13] = [
    -0.333_333_333_333_333_3,
    0.083_333_333_333_333_33,
    -0.014_814_814_814_816_389,
    0.001_157_407_407_407_825_8,
    0.000_352_733_686_232_048_8,
    -0.000_178_755_143_991_653_87,
    3.919_262_539_248_273e-5,
    -2.185_452_653_436_071e-6,
    -1.853_948_699_107_918_7e-6,
    8.297_823_658_492_677e-7,
    -1.776_077_422_832_332_3e-7,
    5.525_771_030_875_722e-9,
    1.338_200_691_630_010_8e-8,
];
const TEMME_1: [f64; 12] = [
    -0.001_851_851_851_851_854_5,
    -0.003_472_222_222_221_207_6,
    0.002_645_502_645_504_366,
    -0.000_990_226_337_632_356,
    0.000_205_761_316_633_981_1,
    -4.018_682_190_896_735_6e-7,
    -1.809_853_752_322_264_7e-5,
    7.648_965_367_505_334e-6,
    -1.612_392_029_475_962_6e-6,
    6.449_813_594_360_598_6e-9,
    1.410_095_549_231_803_8e-7,
    -6.361_451_715_543_436e-8,
];
const TEMME_2: [f64; 11] = [
    0.004_133_597_883_598_032_6,
    -0.002_681_327_160_493_116_5,
    0.000_771_604_938_201_356_8,
    2.009_387_809_077_015e-6,
    -0.000_107_366_526_981_836_87,
    5.292_344_967_353_823_4e-5,
    -1.276_077_793_231_563_3e-5,
    3.422_812_970_206_762_4e-8,
    1.373_886_312_486_616_6e-6,
    -6.298_205_394_822_398e-7,
    1.341_551_045_962_655e-7,
];
const TEMME_3: [f64; 10] = [
    0.000_649_434_156_372_832,
    0.000_229_472_094_081_634_72,
    -0.000_469_189_492_309_046_2,
    0.000_267_720_574_356_976_2,
    -7.561_815_610_656_689e-5,
    -2.376_960_531_771_758_6e-7,
    1.108_630_960_510_413_1e-5,
    -5.699_987_997_596_304_5e-6,
    1.381_358_067_235_376_7e-6,
    1.159_541_337_919_631_9e-7,
];
const TEMME_4: [f64; 9] = [
    -0.000_861_888_291_310_364_7,
    0.000_784_039_216_980_517_6,
    -0.000_299_072_358_543_811,
    -1.463_339_907_912_31e-6,
    6.640_918_803_465_05e-5,
    -3.969_972_403_984_12e-5,
    1.146_446_466_640_322e-5,
    2.033_726_629_931_458_4e-7,
    -2.142_169_740_815_444e-6,
];
const TEMME_5: [f64; 8] = [
    -0.000_336_798_550_463_321_3,
    -6.972_823_476_425_5e-5,
    0.000_277_274_590_350_368_1,
    -0.000_199_318_201_057_061_5,
    6.800_947_959_534_578e-5,
    -3.111_153_523_796_034e-10,
    -1.406_254_363_106_071_5e-5,
    8.781_741_916_032_37e-6,
];
const TEMME_6: [f64; 7] = [
    0.000_531_307_918_609_681_6,
    -0.000_592_166_687_499_141_1,
    0.000_270_882_191_648_085_8,
    8.008_649_718_426_779e-7,
    -8.166_785_488_969_779e-5,
    5.601_851_325_309_748_5e-5,
    -1.708_262_714_376_926e-5,
];
const TEMME_7: [f64; 6] = [
    0.000_344_369_460_540_635_87,
    5.168_870_738_420_728e-5,
    -0.000_335_174_148_049_643_93,
    0.000_282_576_887_403_177_35,
    -0.000_104_716_129_198_939_26,
    -1.246_882_712_688_806_9e-5,
];
const TEMME_8: [f64; 5] = [
    -0.000_652_591_678_298_628_4,
    0.000_840_114_470_949_104_4,
    -0.000_441_461_701_767_130_55,
    -1.986_997_654_383_082_5e-5,
    0.000_203_909_831_557_980_03,
];
const TEMME_9: [f64; 4] = [
    -0.000_597_272_399_891_162_9,
    -6.905_627_699_681_809e-5,
    0.000_710_408_362_465_095_3,
    -0.000_685_435_678_134_028_6,
];
const TEMME_10: [f64; 3] = [
    0.001_332_979_795_697_066,
    -0.001_905_630_748_490_798,
    0.001_039_675_480_115_991_6,
];

/// `xᵃ e⁻ˣ / Γ(a + 1)` times `√(2πa)` and the exponential of what Stirling's formula leaves, which
/// is `(x/a)ᵃ eᵃ⁻ˣ`, for `a ≥ 3`.
///
/// Far from `a` the power and the exponential are large or small, and so are taken in parts. What
/// rounding takes from their arguments is given back, since the exponents would multiply it.
#[pointful]
fn decay(a: f64, x: f64) -> f64 {
    let ratio = x / a;
    let difference = a - x;
    let energy = a * excess(-difference / a, ratio);
    let larger = (a * ratio.ln()).abs().max(difference.abs());
    let parts = parts(larger);
    let lost = a * ((-ratio).mul_add(a, x) / x) + lost_by_difference(a, x);
    let part = ratio.powf(a / parts) * (difference / parts).exp();
    let power = (part + part * (lost / parts)).powf(parts);
    if energy > 800.0 {
        0.0
    } else if energy < parts {
        (-energy).exp()
    } else {
        power
    }
}

/// `xᵃ e⁻ˣ / Γ(a + 1)`
#[pointful]
fn front_of(a: f64, x: f64) -> f64 {
    if a < 3.0 {
        let ln_gamma = if a < 1.0 {
            ln_gamma_after_one(a)
        } else {
            right_ln_gamma(1.0 + a)
        };
        // The exponential alone may be too small.
        let half = (-0.5 * x).exp();
        x.powf(a) * half * (-ln_gamma).exp() * half
    } else {
        decay(a, x) * (-stirling_rest(a)).exp() / (TAU * a).sqrt()
    }
}

#[pointful(jvp = front_jvp)]
fn front(a: f64, x: f64) -> f64 {
    front_of(a, x)
}

#[pointful]
fn front_jvp(a: f64, x: f64, by_a: f64, by_x: f64) -> f64 {
    front_of(a, x) * (by_a * ln_less_psi(a, x) + by_x * ((a - x) / x))
}

/// `ln x - ψ(a + 1)`
#[pointful]
fn ln_less_psi(a: f64, x: f64) -> f64 {
    if a < 12.0 {
        x.ln() - digamma_of(a + 1.0)
    } else {
        ln_ratio((x - a) / a, x / a) + (ln_less_digamma(a) - 1.0 / a)
    }
}

/// `P(a, x)`, divided by `front`.
#[pointful]
fn series(a: f64, x: f64) -> f64 {
    let mut n = a;
    let mut term = 1.0;
    let mut total = 1.0;
    while term > 1e-17 * total {
        n += 1.0;
        term *= x / n;
        total += term;
    }
    total
}

/// The series and its derivative by `a`.
#[pointful]
fn series_by_a(a: f64, x: f64) -> (f64, f64) {
    let mut n = a;
    let mut term = 1.0;
    let mut harmonic = 0.0;
    let mut total = 1.0;
    let mut slope = 0.0;
    while term > 1e-18 * total {
        n += 1.0;
        term *= x / n;
        harmonic -= 1.0 / n;
        total += term;
        slope += term * harmonic;
    }
    (total, slope)
}

/// `Q(a, x)` for `a` and `x` next to zero, where `1 - P(a, x)` would cancel.
#[pointful]
fn small_upper(a: f64, x: f64) -> f64 {
    let mut n = 0.0;
    let mut power = 1.0;
    let mut total = 0.0;
    while power.abs() > 1e-18 {
        n += 1.0;
        power *= -x / n;
        total += power / (a + n);
    }
    let exponent = a * x.ln() - ln_gamma_after_one(a);
    -(exponent.exp_m1() + exponent.exp() * a * total)
}

/// `Γ(a, x)`, divided by `xᵃ e⁻ˣ`: Legendre's continued fraction, as the sum of the differences of
/// its convergents.
#[pointful]
fn fraction(a: f64, x: f64) -> f64 {
    let mut n = 0.0;
    let mut below = x + 1.0 - a;
    let mut inverse = 1.0 / below;
    let mut difference = inverse;
    let mut total = inverse;
    while difference.abs() > 1e-17 * total {
        n += 1.0;
        below += 2.0;
        let above = n * (a - n);
        let next = 1.0 / (below + above * inverse);
        difference *= -above * inverse * next;
        inverse = next;
        total += difference;
    }
    total
}

/// The fraction and its derivative by `a`.
#[pointful]
fn fraction_by_a(a: f64, x: f64) -> (f64, f64) {
    let mut n = 0.0;
    let mut below = x + 1.0 - a;
    let mut inverse = 1.0 / below;
    let mut of_inverse = inverse * inverse;
    let mut difference = inverse;
    let mut of_difference = of_inverse;
    let mut total = inverse;
    let mut slope = of_inverse;
    // Of whole `a` one difference is zero, but its derivative is not.
    while difference.abs() + of_difference.abs() > 1e-18 * (total + slope.abs()) {
        n += 1.0;
        below += 2.0;
        let above = n * (a - n);
        let next = 1.0 / (below + above * inverse);
        let of_next = next * next * (1.0 - n * inverse - above * of_inverse);
        let factor = -above * inverse * next;
        let of_factor = -(n * inverse * next + above * (of_inverse * next + inverse * of_next));
        of_difference = of_factor * difference + factor * of_difference;
        difference *= factor;
        inverse = next;
        of_inverse = of_next;
        total += difference;
        slope += of_difference;
    }
    (total, slope)
}

/// `±√(2 (m - ln(1 + m)))` with the sign of `m`.
#[pointful]
fn eta(m: f64) -> f64 {
    m * (2.0 * curvature(m)).sqrt()
}

/// Temme's expansion: `P` and `Q`.
#[pointful]
fn expansion(a: f64, x: f64) -> (f64, f64) {
    let m = (x - a) / a;
    let eta = eta(m);
    let terms = [
        polynomial(eta, TEMME_0),
        polynomial(eta, TEMME_1),
        polynomial(eta, TEMME_2),
        polynomial(eta, TEMME_3),
        polynomial(eta, TEMME_4),
        polynomial(eta, TEMME_5),
        polynomial(eta, TEMME_6),
        polynomial(eta, TEMME_7),
        polynomial(eta, TEMME_8),
        polynomial(eta, TEMME_9),
        polynomial(eta, TEMME_10),
    ];
    let rest = polynomial(1.0 / a, terms) / (TAU * a).sqrt();
    let normal = 0.5 * scaled_erfc(eta.abs() * (0.5 * a).sqrt());
    let tail = decay(a, x) * (normal + if eta < 0.0 { -rest } else { rest });
    if eta < 0.0 {
        (tail, 1.0 - tail)
    } else {
        (1.0 - tail, tail)
    }
}

/// The derivative of the expansion of `P` by `a`.
#[pointful]
fn expansion_by_a(a: f64, x: f64) -> f64 {
    let m = (x - a) / a;
    let eta_of_m = (2.0 * curvature(m)).sqrt();
    let eta = m * eta_of_m;
    let (c0, s0) = polynomial_and_slope(eta, TEMME_0);
    let (c1, s1) = polynomial_and_slope(eta, TEMME_1);
    let (c2, s2) = polynomial_and_slope(eta, TEMME_2);
    let (c3, s3) = polynomial_and_slope(eta, TEMME_3);
    let (c4, s4) = polynomial_and_slope(eta, TEMME_4);
    let (c5, s5) = polynomial_and_slope(eta, TEMME_5);
    let (c6, s6) = polynomial_and_slope(eta, TEMME_6);
    let (c7, s7) = polynomial_and_slope(eta, TEMME_7);
    let (c8, s8) = polynomial_and_slope(eta, TEMME_8);
    let (c9, s9) = polynomial_and_slope(eta, TEMME_9);
    let (c10, s10) = polynomial_and_slope(eta, TEMME_10);
    let inverse = 1.0 / a;
    let (rest, by_inverse) =
        polynomial_and_slope(inverse, [c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10]);
    let by_eta = polynomial(inverse, [s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10]);
    // η dη/da = -m/a and d(½ a η²)/da = -ln(x/a)
    let slope = ln_slope(m);
    let bracket = slope / eta_of_m + rest * (m * slope - 0.5 * inverse)
        - by_inverse * inverse * inverse
        - by_eta * inverse / eta_of_m;
    -front(a, x) * stirling_rest(a).exp() * bracket
}

/// Whether `x` is where the expansion is good.
#[pointful]
fn is_between(a: f64, x: f64) -> bool {
    a >= 20.0 && (x - a).abs() < 0.35 * a
}

/// Whether `x` is where the series is good.
#[pointful]
fn is_below(a: f64, x: f64) -> bool {
    x < a || (a < 1.0 && x <= 1.1)
}

/// `P` and `Q`.
#[pointful]
fn both_of(a: f64, x: f64) -> (f64, f64) {
    if !(a >= 0.0 && x >= 0.0) || (a == 0.0 && x == 0.0) || (a.is_infinite() && x.is_infinite()) {
        (f64::NAN, f64::NAN)
    } else if x == 0.0 || a.is_infinite() {
        (0.0, 1.0)
    } else if a == 0.0 || x.is_infinite() {
        (1.0, 0.0)
    } else if is_between(a, x) {
        expansion(a, x)
    } else if is_below(a, x) {
        let lower = front(a, x) * series(a, x);
        (
            lower,
            if a < 1.0 {
                small_upper(a, x)
            } else {
                1.0 - lower
            },
        )
    } else {
        let upper = front(a, x) * a * fraction(a, x);
        (1.0 - upper, upper)
    }
}

/// The derivative of `P` by `a`.
#[pointful]
fn by_a_of(a: f64, x: f64) -> f64 {
    if !(a >= 0.0 && x >= 0.0) || (a == 0.0 && x == 0.0) {
        f64::NAN
    } else if x == 0.0 || a.is_infinite() || x.is_infinite() {
        0.0
    } else if is_between(a, x) {
        expansion_by_a(a, x)
    } else if is_below(a, x) {
        let (total, slope) = series_by_a(a, x);
        front(a, x) * (total * ln_less_psi(a, x) + slope)
    } else {
        let (total, slope) = fraction_by_a(a, x);
        -front(a, x) * (total + a * (total * ln_less_psi(a, x) + slope))
    }
}

/// The derivative of `P` by `x`, `xᵃ⁻¹ e⁻ˣ / Γ(a)`.
#[pointful]
fn density(a: f64, x: f64) -> f64 {
    if !(a >= 0.0 && x >= 0.0) {
        f64::NAN
    } else if x == 0.0 {
        if a < 1.0 {
            f64::INFINITY
        } else if a == 1.0 {
            1.0
        } else {
            0.0
        }
    } else if a.is_infinite() || x.is_infinite() {
        0.0
    } else {
        front(a, x) * (a / x)
    }
}

/// The regularised lower incomplete gamma function `P(a, x)`: the integral of `tᵃ⁻¹ e⁻ᵗ` from 0 to
/// `x`, divided by `Γ(a)`.
///
/// ```
/// use pointful::lib::gammainc;
/// use pointful::prelude::*;
///
/// assert!((gammainc(1.0, 2.0) - (1.0 - (-2.0_f64).exp())).abs() < 1e-15);
/// assert_eq!([gammainc(3.0, 0.0), gammainc(3.0, f64::INFINITY)], [0.0, 1.0]);
/// let (by_a, by_x) = grad!(gammainc)(5.0, 3.0);
/// assert!((by_a + 0.13305676070192263).abs() < 1e-15);
/// assert!((by_x - 0.16803135574154082).abs() < 1e-15);
/// ```
#[pointful(jvp = gammainc_jvp)]
pub fn gammainc<T: Float>(a: T, x: T) -> T {
    let (lower, _upper) = both_of(a as f64, x as f64);
    lower as T
}

#[pointful]
fn gammainc_jvp<T: Float>(a: T, x: T, by_a: T, by_x: T) -> T {
    let (p, y) = (a as f64, x as f64);
    by_a * (by_a_of(p, y) as T) + by_x * (density(p, y) as T)
}

/// The regularised upper incomplete gamma function `Q(a, x)`, which is `1 - P(a, x)`, also where
/// that is small.
///
/// ```
/// use pointful::lib::gammaincc;
///
/// assert!((gammaincc(1.0, 700.0) / (-700.0_f64).exp() - 1.0).abs() < 1e-14);
/// ```
#[pointful(jvp = gammaincc_jvp)]
pub fn gammaincc<T: Float>(a: T, x: T) -> T {
    let (_lower, upper) = both_of(a as f64, x as f64);
    upper as T
}

#[pointful]
fn gammaincc_jvp<T: Float>(a: T, x: T, by_a: T, by_x: T) -> T {
    -gammainc_jvp(a, x, by_a, by_x)
}
