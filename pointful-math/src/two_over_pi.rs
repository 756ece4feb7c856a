//! Reduction of angles: `|x| = n π/2 + r` for every finite `x`.
//!
//! After Payne and Hanek: of the product of `x` and 2/π only the fraction and two bits of the
//! integer matter, so those digits of 2/π that contribute multiples of four are left out. Which
//! ones they are depends on the exponent; there are rows of digits for groups of exponents, so
//! short that their products with (halves of) `x` are exact. What is left out at the other end is
//! too small to matter even where `x` is as close to a multiple of π/2 as a float can be.
//!
//! For `f32` four rows serve all exponents, and a row is chosen by selections: a table would be
//! memory, and loops that write memory are not vectorised over reading it. For `f64` there are 125
//! rows, so this is done apart, for far angles only.
//!
//! Near angles are reduced after Cody and Waite: multiples of π/2 are subtracted in parts so short
//! that the products are exact.

use crate::parts::{SINGLE_SHIFT, halves, low_bits, nearest, product, sum, sum_of_ordered};

/// The bits of 2/π behind the point.
const TWO_OVER_PI: [u64; 20] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
    0xf0cf_bc20_9af4_361d,
];

/// Exponents that share a row, and the first that leaves the row of all small numbers.
const BUCKET: u64 = 8;
const FIRST: u64 = 24;
const EXPONENT_BIAS: u64 = 1023;

/// `count` bits of 2/π, the first of which has the weight 2⁻ᶠⁱʳˢᵗ; bits before the point are zero.
const fn bits(first: i64, count: i64) -> u64 {
    let mut value = 0;
    let mut i = first;
    while i < first + count {
        value <<= 1;
        if i >= 1 {
            let at = (i - 1) as usize;
            value |= (TWO_OVER_PI[at / 64] >> (63 - at % 64)) & 1;
        }
        i += 1;
    }
    value
}

/// 2ᵏ for a `k` of moderate size.
const fn power(k: i64) -> f64 {
    f64::from_bits(((EXPONENT_BIAS as i64 + k) as u64) << 52)
}

/// Digits of a row in the table for doubles: five of 26 bits with a sign, and what follows in 53
/// bits.
const DIGITS: usize = 6;
const WIDTH: i64 = 26;

/// Bits before which a double of the row's exponents contributes multiples of four only.
const fn start(row: i64, mantissa: i64) -> i64 {
    (FIRST + BUCKET * row as u64) as i64 - mantissa - 1
}

/// A row holds 2/π · 2⁸ʳᵒʷ without its first bits, as digits.
const fn row_of_doubles(row: i64) -> [f64; DIGITS] {
    let start = start(row, 52);
    let mut digits = [0.0; DIGITS];
    let tail = start + WIDTH * (DIGITS as i64 - 1);
    digits[DIGITS - 1] = bits(tail, 53) as f64 * power(BUCKET as i64 * row - tail - 52);
    let mut carry = 0;
    let mut k = DIGITS as i64 - 1;
    while k > 0 {
        k -= 1;
        let first = start + WIDTH * k;
        let mut digit = bits(first, WIDTH) as i64 + carry;
        // Signed digits are a bit shorter, which is what makes sums of two products exact.
        carry = 0;
        if digit >= 1 << (WIDTH - 1) {
            digit -= 1 << WIDTH;
            carry = 1;
        }
        digits[k as usize] = digit as f64 * power(BUCKET as i64 * row - first - (WIDTH - 1));
    }
    digits
}

/// As many rows as an index of seven bits can tell apart: the last exponents of doubles are in row
/// 124.
static DOUBLES: [[f64; DIGITS]; 128] = {
    let mut table = [[0.0; DIGITS]; 128];
    let mut row = 0;
    while row < 125 {
        table[row as usize] = row_of_doubles(row);
        row += 1;
    }
    table
};

/// Exponents that share a row of digits for singles.
const WIDE: i64 = 32;

/// The same for a single's exponents: three digits of 29 bits, and what follows.
const fn row_of_singles(row: i64) -> [f64; 4] {
    let start = WIDE * row - 24;
    let unit = WIDE * row - start - 28;
    [
        bits(start, 29) as f64 * power(unit),
        bits(start + 29, 29) as f64 * power(unit - 29),
        bits(start + 58, 29) as f64 * power(unit - 58),
        bits(start + 87, 53) as f64 * power(unit - 111),
    ]
}

const SINGLES: [[f64; 4]; 4] = [
    row_of_singles(0),
    row_of_singles(1),
    row_of_singles(2),
    row_of_singles(3),
];

/// The row for a positive number, and the number in units of 2⁸ʳᵒʷ.
#[inline(always)]
fn row(x: f64) -> (u64, f64) {
    const LEAST: u64 = EXPONENT_BIAS + FIRST;
    let exponent = x.to_bits() >> 52;
    let beyond = if x < 16_777_216.0 { LEAST } else { exponent } - LEAST;
    let row = beyond / BUCKET;
    (
        row,
        x * f64::from_bits((EXPONENT_BIAS - BUCKET * row) << 52),
    )
}

/// `v` less the nearest multiple of four.
#[inline(always)]
fn modulo_four(v: f64) -> f64 {
    // Doubles of this size are multiples of four.
    const SHIFT: f64 = 27_021_597_764_222_976.0;
    v - ((v + SHIFT) - SHIFT)
}

/// An angle: `n` right angles, up to multiples of four, and the remainder, at most π/4, with an
/// error term.
#[derive(Clone, Copy)]
pub(crate) struct Angle {
    pub(crate) n: f64,
    pub(crate) r: f64,
    pub(crate) r_error: f64,
}

/// `|x|` reduced; of infinities and NaN some numbers.
#[inline(always)]
pub(crate) fn reduced_double(x: f64) -> Angle {
    let x = x.abs();
    if x < NEAR {
        reduced_near(x)
    } else {
        reduced_far(x)
    }
}

/// Angles below this are near: they are reduced by subtracting multiples of π/2.
const NEAR: f64 = 1_048_576.0;

/// Whether an angle is far. Infinities and NaN are not.
#[inline(always)]
pub(crate) fn is_far_double(x: f64) -> bool {
    (NEAR..=f64::MAX).contains(&x.abs())
}

/// After Cody and Waite: π/2 is in parts so short that their products with `n` are exact.
#[inline(always)]
pub(crate) fn reduced_near(x: f64) -> Angle {
    const PARTS: [f64; 4] = [
        1.5707963267341256,
        6.077100506303966e-11,
        2.0222662487111665e-21,
        8.4784276603689e-32,
    ];
    let n = nearest(x * std::f64::consts::FRAC_2_PI);
    let (s, e1) = sum(x - n * PARTS[0], -n * PARTS[1]);
    let (s, e2) = sum(s, -n * PARTS[2]);
    let (r, r_error) = sum(s, (e1 + e2) - n * PARTS[3]);
    Angle { n, r, r_error }
}

#[cold]
#[inline(never)]
fn reduced_far(x: f64) -> Angle {
    let (row, x) = row(x);
    let digits = &DOUBLES[(row & 127) as usize];
    let (a, b) = halves(x);
    let product_of = |k: usize| b * digits[k] + a * digits[k + 1];
    // Each of the first is exact, and so is the difference from the integer next to their sum.
    let (g0, g1) = (modulo_four(product_of(0)), modulo_four(product_of(1)));
    let n = nearest(g0 + g1);
    let (s, e1) = sum(g0 - n, g1);
    let (s, e2) = sum(s, product_of(2));
    let (s, e3) = sum(s, product_of(3));
    let (s, e4) = sum(s, product_of(4));
    let (f, f_error) = sum(s, (((e1 + e2) + e3) + e4) + b * digits[5]);
    // π/2
    const HIGH: f64 = std::f64::consts::FRAC_PI_2;
    const LOW: f64 = 6.123_233_995_736_766e-17;
    let (r, error) = product(f, HIGH);
    let (r, r_error) = sum_of_ordered(r, error + (f * LOW + f_error * HIGH));
    Angle { n, r, r_error }
}

/// Of one value for each group of a single's exponents, that for this number.
#[inline(always)]
fn of_group(x: f64, values: [f64; 4]) -> f64 {
    const LIMITS: [f64; 3] = [power(WIDE), power(2 * WIDE), power(3 * WIDE)];
    let early = if x < LIMITS[0] { values[0] } else { values[1] };
    let late = if x < LIMITS[2] { values[2] } else { values[3] };
    if x < LIMITS[1] { early } else { late }
}

/// What `x` contributes with one digit of its group; `scaled` is `x` in units of the group.
#[inline(always)]
fn contribution(x: f64, scaled: f64, digit: usize) -> f64 {
    scaled
        * of_group(
            x,
            [
                SINGLES[0][digit],
                SINGLES[1][digit],
                SINGLES[2][digit],
                SINGLES[3][digit],
            ],
        )
}

/// The number of right angles in a single, in the low bits, and the remainder, with the sign of the
/// single.
#[inline(always)]
fn reduced_far_single(x: f32) -> (u32, f64) {
    const UNITS: [f64; 4] = [1.0, power(-WIDE), power(-2 * WIDE), power(-3 * WIDE)];
    let wide = f64::from(x);
    let x = wide.abs();
    let scaled = x * of_group(x, UNITS);
    let a = modulo_four(contribution(x, scaled, 0));
    let b = modulo_four(contribution(x, scaled, 1));
    let (a_whole, b_whole) = (nearest(a), nearest(b));
    let (s, e1) = sum(a - a_whole, b - b_whole);
    let (s, e2) = sum(s, contribution(x, scaled, 2));
    let s_whole = nearest(s);
    let fraction = (s - s_whole) + ((e1 + e2) + contribution(x, scaled, 3));
    let n = (a_whole + b_whole) + s_whole;
    let r = fraction * std::f64::consts::FRAC_PI_2;
    let negative = wide.to_bits() & (1 << 63);
    (
        low_bits(f64::from_bits(n.to_bits() ^ negative)) as u32,
        f64::from_bits(r.to_bits() ^ negative),
    )
}

/// The angle of a single, with its sign: the number of right angles, up to multiples of four, and
/// the remainder `r - r_excess`.
#[derive(Clone, Copy)]
pub(crate) struct SingleAngle {
    pub(crate) quadrant: u32,
    pub(crate) r: f32,
    pub(crate) r_excess: f32,
}

impl SingleAngle {
    /// With the remainder as a double.
    #[inline(always)]
    pub(crate) fn widely(self) -> (u32, f64) {
        let r = f64::from(self.r) - f64::from(self.r_excess);
        (self.quadrant, r)
    }
}

/// A single's magnitude as an integer, so that greater numbers have greater ones; those of
/// infinities and NaN are less than any.
#[inline(always)]
pub(crate) const fn magnitude(x: f32) -> u32 {
    // Without the sign; the last exponent becomes the first.
    (x.to_bits() << 1).wrapping_add(1 << 24)
}

/// Singles from 2¹² on are far: neighbours there are 2⁻¹¹ and more apart, so that such angles are
/// seldom meant.
pub(crate) const FAR_MAGNITUDE: u32 = magnitude(4096.0);

/// A near angle reduced, in singles alone. Of infinities and NaN the remainder is NaN.
///
/// Multiples of π/2 have at most 12 bits, and so have the parts. What is left by the first two is a
/// multiple of 2⁻²⁴ below one, thus exact. Zero keeps its sign because the parts are positive.
#[inline(always)]
pub(crate) fn reduced_near_single(x: f32) -> SingleAngle {
    const PARTS: [f32; 4] = [1.570_312_5, 4.837_513e-4, 7.549_533_6e-8, 2.563_344e-12];
    let shifted = x * std::f32::consts::FRAC_2_PI + SINGLE_SHIFT;
    let n = shifted - SINGLE_SHIFT;
    let rest = (x - n * PARTS[0]) - n * PARTS[1];
    let third = n * PARTS[2];
    let r = rest - third;
    SingleAngle {
        quadrant: shifted.to_bits(),
        r,
        r_excess: (third - (rest - r)) + n * PARTS[3],
    }
}

/// Any angle reduced, without a branch.
#[inline(always)]
pub(crate) fn reduced_single(x: f32) -> SingleAngle {
    let near = reduced_near_single(x);
    let (quadrant, exact) = reduced_far_single(x);
    let r = exact as f32;
    if magnitude(x) >= FAR_MAGNITUDE {
        SingleAngle {
            quadrant,
            r,
            r_excess: (f64::from(r) - exact) as f32,
        }
    } else {
        near
    }
}

/// The same with the remainder as a double.
#[inline(always)]
pub(crate) fn reduced_single_widely(x: f32) -> (u32, f64) {
    let near = reduced_near_single(x).widely();
    let far = reduced_far_single(x);
    if magnitude(x) >= FAR_MAGNITUDE {
        far
    } else {
        near
    }
}
