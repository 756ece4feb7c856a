//! What all functions are made of: rounding, powers of two, sums and products with their rounding
//! errors.

/// Added to a number below 2⁵¹ it leaves the nearest integer in the low bits of the sum, in two's
/// complement.
const SHIFT: f64 = 6_755_399_441_055_744.0;

/// The same for a single below 2²².
pub(crate) const SINGLE_SHIFT: f32 = 12_582_912.0;

/// 2⁵², from which on every number is an integer.
const INTEGRAL: f64 = 4_503_599_627_370_496.0;

/// The smallest normal number.
pub(crate) const NORMAL: f64 = f64::MIN_POSITIVE;

/// ln 2 to 42 bits, so that its product with any exponent is exact, and what is missing.
pub(crate) const LN_2: (f64, f64) = (0.693_147_180_559_890_3, 5.497_923_018_708_371e-14);

/// The nearest integer, ties to even, of a number below 2⁵¹.
#[inline(always)]
pub(crate) fn nearest(x: f64) -> f64 {
    (x + SHIFT) - SHIFT
}

/// The nearest integer of a number below 2⁵¹, and as it is in two's complement.
#[inline(always)]
pub(crate) fn nearest_and_bits(x: f64) -> (f64, u64) {
    let shifted = x + SHIFT;
    (
        shifted - SHIFT,
        shifted.to_bits().wrapping_sub(SHIFT.to_bits()),
    )
}

/// `x` · 2ᵏ for an integer in `-2044..=2046`, given as its bits, rounded once.
#[inline(always)]
pub(crate) fn scale_by_bits(x: f64, k: u64) -> f64 {
    let biased = k.wrapping_add(2046);
    let half = biased >> 1;
    x * f64::from_bits(half << 52) * f64::from_bits(biased.wrapping_sub(half) << 52)
}

/// An integer below 2⁵¹ as its low bits.
#[inline(always)]
pub(crate) fn low_bits(integer: f64) -> u64 {
    (integer + SHIFT).to_bits()
}

/// Whether a number is an integer; infinities are.
#[inline(always)]
pub(crate) fn is_integer(x: f64) -> bool {
    let x = x.abs();
    let rounded = (x + INTEGRAL) - INTEGRAL;
    (x >= INTEGRAL) | (rounded == x)
}

/// 2ᵏ for an integer in `-1022..=1023`; of anything else some number.
#[inline(always)]
pub(crate) fn power_of_two(k: f64) -> f64 {
    f64::from_bits(low_bits(k).wrapping_add(1023) << 52)
}

/// `x` · 2ᵏ for an integer in `-2044..=2046`, rounded once.
#[inline(always)]
pub(crate) fn scale(x: f64, k: f64) -> f64 {
    scale_by_bits(x, nearest_and_bits(k).1)
}

/// `k` and `m` in `√½..√2` with `x = m · 2ᵏ`, of a positive number that is normal.
#[inline(always)]
pub(crate) fn exponent_and_mantissa(x: f64) -> (f64, f64) {
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    const BIAS: u64 = 1024;
    let bits = x.to_bits();
    let biased = bits.wrapping_add((BIAS << 52) - SQRT_HALF) >> 52;
    let mantissa = bits.wrapping_sub(biased << 52).wrapping_add(BIAS << 52);
    (
        small_integer(biased) - BIAS as f64,
        f64::from_bits(mantissa),
    )
}

/// An integer below 2⁵² as a number: a conversion that every vector unit has.
#[inline(always)]
pub(crate) fn small_integer(n: u64) -> f64 {
    f64::from_bits(n | INTEGRAL.to_bits()) - INTEGRAL
}

/// `x` when it is normal, else `x` · 2⁵⁴, and the exponent to add again.
#[inline(always)]
pub(crate) fn normalised(x: f64) -> (f64, f64) {
    let scaled = x * 18_014_398_509_481_984.0;
    let small = x < NORMAL;
    (
        if small { scaled } else { x },
        if small { -54.0 } else { 0.0 },
    )
}

/// The sum and its rounding error, where the first is not the smaller one.
#[inline(always)]
pub(crate) fn sum_of_ordered(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, (a - sum) + b)
}

/// The sum and its rounding error.
#[inline(always)]
pub(crate) fn sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// The first 26 bits, and the others.
#[inline(always)]
pub(crate) fn halves(x: f64) -> (f64, f64) {
    let high = f64::from_bits(x.to_bits() & !0x7ff_ffff);
    (high, x - high)
}

/// The product and its rounding error, without a fused operation, which not every processor has.
#[inline(always)]
pub(crate) fn product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    let ((ah, al), (bh, bl)) = (halves(a), halves(b));
    (product, ((ah * bh - product) + ah * bl + al * bh) + al * bl)
}

/// `c₀ + c₁ x + c₂ x² + …`, even and odd powers apart, so that half as many operations wait for
/// each other.
///
/// Up to 16 coefficients. It is written out because a loop might still be one when loops around it
/// are vectorised.
#[inline(always)]
pub(crate) fn polynomial<const N: usize>(x: f64, coefficients: &[f64; N]) -> f64 {
    const { assert!(2 <= N && N <= 16, "more steps are needed") };
    let square = x * x;
    let (mut even, mut odd) = (0.0, 0.0);
    macro_rules! steps {
        ($($i:literal)*) => {$(
            if $i < N {
                // The first term is taken as it is: adding it to zero would be an operation more.
                let sum = if $i % 2 == 0 { &mut even } else { &mut odd };
                *sum = if $i + 2 >= N { coefficients[$i] } else { *sum * square + coefficients[$i] };
            }
        )*};
    }
    steps!(15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0);
    even + x * odd
}
