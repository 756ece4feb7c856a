//! Exponentials: `eˣ = 2ᵏ eʳ` with `|r| ≤ ½ ln 2`, and a polynomial for `eʳ`.

use crate::parts::{
    LN_2, halves, nearest, nearest_and_bits, polynomial, power_of_two, scale, scale_by_bits, sum,
    sum_of_ordered,
};

/// `(eʳ - 1 - r) / r²`, to 2⁻⁶⁴ of `eʳ`.
const EXP: [f64; 11] = [
    0.5,
    0.166_666_666_666_666_85,
    0.041_666_666_666_666_73,
    0.008_333_333_333_316_737,
    0.001_388_888_888_885_867_8,
    0.000_198_412_698_970_612_02,
    2.480_158_737_331_346_2e-5,
    2.755_723_423_488_625e-6,
    2.755_723_371_888_131_5e-7,
    2.511_224_042_280_208_3e-8,
    2.092_683_190_378_004_8e-9,
];

/// The same to 2⁻⁵⁷.
const SHORT_EXP: [f64; 10] = [
    0.5,
    0.166_666_666_666_664_33,
    0.041_666_666_666_603_94,
    0.008_333_333_333_500_077,
    0.001_388_888_892_680_530_4,
    0.000_198_412_694_661_581_7,
    2.480_150_867_078_757_8e-5,
    2.755_764_089_818_118_6e-6,
    2.762_519_170_488_924_6e-7,
    2.497_837_692_282_491e-8,
];

/// An argument reduced: `x = k ln 2 + r`, the remainder with its rounding error.
#[derive(Clone, Copy)]
pub(super) struct Reduced {
    pub(super) k: f64,
    pub(super) r: f64,
    pub(super) r_error: f64,
}

/// `x + error` reduced, for `|x|` below 2¹⁰ or so.
#[inline(always)]
pub(super) fn reduced(x: f64, error: f64) -> Reduced {
    let k = nearest(x * std::f64::consts::LOG2_E);
    let high = x - k * LN_2.0;
    let low = error - k * LN_2.1;
    let r = high + low;
    Reduced {
        k,
        r,
        r_error: (high - r) + low,
    }
}

impl Reduced {
    /// `eʳ - 1 - r`
    #[inline(always)]
    fn beyond_linear(self) -> f64 {
        self.r * self.r * polynomial(self.r, &EXP) + self.r_error
    }

    /// `2ᵏ eʳ`
    #[inline(always)]
    pub(super) fn exp(self) -> f64 {
        let (one, error) = sum_of_ordered(1.0, self.r);
        scale(one + (error + self.beyond_linear()), self.k)
    }

    /// Half of `2ᵏ eʳ - 1`, with an error term: halves do not overflow early.
    #[inline(always)]
    pub(super) fn half_exp_m1(self) -> (f64, f64) {
        let half = power_of_two(self.k - 1.0);
        let (high, error) = sum(half * self.r, half - 0.5);
        (high, error + half * self.beyond_linear())
    }
}

/// `x`, but no further from zero than where the result has long been infinite or zero. NaN stays.
#[inline(always)]
pub(super) fn limited(x: f64, low: f64, high: f64) -> f64 {
    let x = if x > high { high } else { x };
    if x < low { low } else { x }
}

/// What other functions are made of needs more digits than a result has; here the remainder's own
/// rounding is at most a sixth of the last place.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    let x = limited(x, -760.0, 720.0);
    let (k, bits) = nearest_and_bits(x * std::f64::consts::LOG2_E);
    let r = (x - k * LN_2.0) - k * LN_2.1;
    let (one, error) = sum_of_ordered(1.0, r);
    scale_by_bits(one + (error + r * r * polynomial(r, &SHORT_EXP)), bits)
}

#[inline(always)]
pub(crate) fn exp2(x: f64) -> f64 {
    // ln 2 to 26 bits, so that its product with as many is exact.
    const LN_2: (f64, f64) = (0.693_147_167_563_438_4, 1.299_650_689_388_988_9e-8);
    let x = limited(x, -1100.0, 1030.0);
    let k = nearest(x);
    let part = x - k;
    let (head, tail) = halves(part);
    let (r, error) = sum_of_ordered(head * LN_2.0, tail * LN_2.0 + part * LN_2.1);
    Reduced {
        k,
        r,
        r_error: error,
    }
    .exp()
}

#[inline(always)]
pub(crate) fn exp_m1(x: f64) -> f64 {
    let (high, low) = reduced(limited(x, -50.0, 710.0), 0.0).half_exp_m1();
    let result = 2.0 * (high + low);
    if x.abs() < f64::EPSILON / 4.0 {
        x
    } else {
        result
    }
}
