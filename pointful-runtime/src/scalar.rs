//! Numbers: the language's arithmetic on them, and what a generic float can do.

use std::fmt::{Display, LowerExp};
use std::ops::{
    Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign,
};

use crate::element::Plain;
use crate::vector_space::VectorSpace;

/// A number a table can hold: `f32`, `f64`, and the integers of up to 64 bits.
///
/// The constants are the values of reductions over nothing. The functions are the language's
/// arithmetic, which for integers is that of release Rust in every build: they wrap, and division
/// by zero panics, as does that of the least integer by -1.
pub trait Number: Plain + PartialOrd + Default {
    /// The sum of nothing.
    const ZERO: Self;
    /// The product of nothing.
    const ONE: Self;
    /// The minimum of nothing: infinity, or the largest integer.
    const LARGEST: Self;
    /// The maximum of nothing: minus infinity, or the smallest integer.
    const SMALLEST: Self;

    /// `self + other`
    fn add(self, other: Self) -> Self;
    /// `self - other`
    fn sub(self, other: Self) -> Self;
    /// `self * other`
    fn mul(self, other: Self) -> Self;
    /// `self / other`
    fn div(self, other: Self) -> Self;
    /// `self % other`
    fn rem(self, other: Self) -> Self;
    /// As [`i64::div_euclid`].
    fn div_euclid(self, other: Self) -> Self;
    /// As [`i64::rem_euclid`].
    fn rem_euclid(self, other: Self) -> Self;
    /// `-self`
    fn neg(self) -> Self;
    /// The smaller; the other where one is NaN; `self` where they are equal.
    fn min(self, other: Self) -> Self;
    /// The larger; the other where one is NaN; `self` where they are equal.
    fn max(self, other: Self) -> Self;
    /// `self` if it is kept, else zero. Of its bits, so that no optimiser makes a branch of it.
    fn masked(self, kept: bool) -> Self;
}

macro_rules! integer {
    ($($T:ty)*) => {$(
        impl Number for $T {
            const ZERO: $T = 0;
            const ONE: $T = 1;
            const LARGEST: $T = <$T>::MAX;
            const SMALLEST: $T = <$T>::MIN;

            #[inline(always)]
            fn add(self, other: $T) -> $T {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn sub(self, other: $T) -> $T {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn mul(self, other: $T) -> $T {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            #[track_caller]
            fn div(self, other: $T) -> $T {
                match self.checked_div(other) {
                    Some(value) => value,
                    None => indivisible(self, other),
                }
            }
            #[inline(always)]
            #[track_caller]
            fn rem(self, other: $T) -> $T {
                match self.checked_rem(other) {
                    Some(value) => value,
                    None => indivisible(self, other),
                }
            }
            #[inline(always)]
            #[track_caller]
            fn div_euclid(self, other: $T) -> $T {
                match self.checked_div_euclid(other) {
                    Some(value) => value,
                    None => indivisible(self, other),
                }
            }
            #[inline(always)]
            #[track_caller]
            fn rem_euclid(self, other: $T) -> $T {
                match self.checked_rem_euclid(other) {
                    Some(value) => value,
                    None => indivisible(self, other),
                }
            }
            #[inline(always)]
            fn neg(self) -> $T {
                self.wrapping_neg()
            }
            #[inline(always)]
            fn min(self, other: $T) -> $T {
                Ord::min(self, other)
            }
            #[inline(always)]
            fn max(self, other: $T) -> $T {
                Ord::max(self, other)
            }
            #[inline(always)]
            fn masked(self, kept: bool) -> $T {
                self & <$T>::from(kept).wrapping_neg()
            }
        }
    )*};
}

integer!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

#[cold]
#[inline(never)]
#[track_caller]
fn indivisible<T: Number + Display>(dividend: T, divisor: T) -> ! {
    if divisor == T::ZERO {
        panic!("integer {dividend} divided by zero")
    }
    panic!("integer {dividend} divided by {divisor}, which overflows")
}

macro_rules! float_number {
    ($($T:ty, $Bits:ty;)*) => {$(
        impl Number for $T {
            const ZERO: $T = 0.0;
            const ONE: $T = 1.0;
            const LARGEST: $T = <$T>::INFINITY;
            const SMALLEST: $T = <$T>::NEG_INFINITY;

            #[inline(always)]
            fn add(self, other: $T) -> $T {
                self + other
            }
            #[inline(always)]
            fn sub(self, other: $T) -> $T {
                self - other
            }
            #[inline(always)]
            fn mul(self, other: $T) -> $T {
                self * other
            }
            #[inline(always)]
            fn div(self, other: $T) -> $T {
                self / other
            }
            #[inline(always)]
            fn rem(self, other: $T) -> $T {
                self % other
            }
            #[inline(always)]
            fn div_euclid(self, other: $T) -> $T {
                <$T>::div_euclid(self, other)
            }
            #[inline(always)]
            fn rem_euclid(self, other: $T) -> $T {
                <$T>::rem_euclid(self, other)
            }
            #[inline(always)]
            fn neg(self) -> $T {
                -self
            }
            // Written out, because the standard library leaves open which zero it gives for zeros of either sign. The first choice is one instruction.
            #[inline(always)]
            fn min(self, other: $T) -> $T {
                let less = if other < self { other } else { self };
                if self.is_nan() { other } else { less }
            }
            #[inline(always)]
            fn max(self, other: $T) -> $T {
                let more = if other > self { other } else { self };
                if self.is_nan() { other } else { more }
            }
            #[inline(always)]
            fn masked(self, kept: bool) -> $T {
                <$T>::from_bits(self.to_bits() & <$Bits>::from(kept).wrapping_neg())
            }
        }
    )*};
}

float_number!(f32, u32; f64, u64;);

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($operand:ident),+);)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        pub fn $name<T: Number>($($operand: T),+) -> T {
            Number::$name($($operand),+)
        }
    )*};
}

functions! {
    /// `a + b`; integers wrap.
    add(a, b);
    /// `a - b`; integers wrap.
    sub(a, b);
    /// `a * b`; integers wrap.
    mul(a, b);
    /// `a / b`; of integers by zero it panics, and the one quotient that does not fit wraps.
    div(a, b);
    /// `a % b`; of integers by zero it panics.
    rem(a, b);
    /// The quotient that leaves a remainder of at least zero; of integers by zero it panics.
    div_euclid(a, b);
    /// The remainder that is at least zero; of integers by zero it panics.
    rem_euclid(a, b);
    /// `-a`; integers wrap.
    neg(a);
    /// The smaller; the other where one is NaN; `a` where they are equal.
    min(a, b);
    /// The larger; the other where one is NaN; `a` where they are equal.
    max(a, b);
}

/// `a * b`, but zero if one of them is: in a derivative, what may be ignored contributes nothing,
/// whatever it is multiplied by.
#[inline(always)]
pub fn mul_absorb<T: Number>(a: T, b: T) -> T {
    a.mul(b).masked((a != T::ZERO) & (b != T::ZERO))
}

/// `a / b`, but zero if `a` is.
#[inline(always)]
pub fn div_absorb<T: Number>(a: T, b: T) -> T {
    a.div(b).masked(a != T::ZERO)
}

/// `a` if it is kept, else zero.
#[inline(always)]
pub fn masked<T: Number>(a: T, kept: bool) -> T {
    a.masked(kept)
}

macro_rules! float {
    (unary: $($unary:ident)*; binary: $($binary:ident)*; tests: $($test:ident)*; constants: $($constant:ident)*;) => {
        /// A floating-point number, `f32` or `f64`: the bound of a function that is generic in its
        /// precision.
        ///
        /// The methods are those of the standard library's floats under the same names; `min`,
        /// `max` and the Euclidean division are those of [`Number`].
        pub trait Float:
            Number
            + VectorSpace<Scalar = Self>
            + Neg<Output = Self>
            + Add<Output = Self>
            + Sub<Output = Self>
            + Mul<Output = Self>
            + Div<Output = Self>
            + Rem<Output = Self>
            + AddAssign
            + SubAssign
            + MulAssign
            + DivAssign
            + RemAssign
            + LowerExp
        {
            /// Infinity.
            const INFINITY: Self;
            /// Minus infinity.
            const NEG_INFINITY: Self;
            /// Not a number.
            const NAN: Self;
            /// The difference between one and the next larger number.
            const EPSILON: Self;
            /// The smallest positive normal number.
            const MIN_POSITIVE: Self;
            /// The largest finite number.
            const MAX: Self;
            /// The smallest finite number.
            const MIN: Self;
            /// How many decimal digits any number of them keeps.
            const DIGITS: u32;
            /// The number of binary digits, the hidden one included.
            const MANTISSA_DIGITS: u32;
            /// The base of the exponent.
            const RADIX: u32;
            /// One more than the largest binary exponent.
            const MAX_EXP: i32;
            /// One more than the smallest binary exponent of a normal number.
            const MIN_EXP: i32;
            /// The largest decimal exponent.
            const MAX_10_EXP: i32;
            /// The smallest decimal exponent of a normal number.
            const MIN_10_EXP: i32;
            $(
                #[doc = concat!("As [`std::f64::consts::", stringify!($constant), "`].")]
                const $constant: Self;
            )*

            /// The nearest number of this type, as `as` converts.
            fn from_f64(value: f64) -> Self;
            /// The same number as an `f64`.
            fn to_f64(self) -> f64;
            /// As [`f64::powi`].
            fn powi(self, n: i32) -> Self;
            /// As [`f64::sin_cos`].
            fn sin_cos(self) -> (Self, Self);
            /// As [`f64::mul_add`].
            fn mul_add(self, a: Self, b: Self) -> Self;
            /// As [`f64::clamp`].
            fn clamp(self, low: Self, high: Self) -> Self;
            $(
                #[doc = concat!("As [`f64::", stringify!($unary), "`].")]
                fn $unary(self) -> Self;
            )*
            $(
                #[doc = concat!("As [`f64::", stringify!($binary), "`].")]
                fn $binary(self, other: Self) -> Self;
            )*
            $(
                #[doc = concat!("As [`f64::", stringify!($test), "`].")]
                fn $test(self) -> bool;
            )*
        }

        float!(@forward f32, [$($unary)*], [$($binary)*], [$($test)*], [$($constant)*]);
        float!(@forward f64, [$($unary)*], [$($binary)*], [$($test)*], [$($constant)*]);
    };

    (@forward $T:ident, [$($unary:ident)*], [$($binary:ident)*], [$($test:ident)*], [$($constant:ident)*]) => {
        impl Float for $T {
            const INFINITY: $T = <$T>::INFINITY;
            const NEG_INFINITY: $T = <$T>::NEG_INFINITY;
            const NAN: $T = <$T>::NAN;
            const EPSILON: $T = <$T>::EPSILON;
            const MIN_POSITIVE: $T = <$T>::MIN_POSITIVE;
            const MAX: $T = <$T>::MAX;
            const MIN: $T = <$T>::MIN;
            const DIGITS: u32 = <$T>::DIGITS;
            const MANTISSA_DIGITS: u32 = <$T>::MANTISSA_DIGITS;
            const RADIX: u32 = <$T>::RADIX;
            const MAX_EXP: i32 = <$T>::MAX_EXP;
            const MIN_EXP: i32 = <$T>::MIN_EXP;
            const MAX_10_EXP: i32 = <$T>::MAX_10_EXP;
            const MIN_10_EXP: i32 = <$T>::MIN_10_EXP;
            $(const $constant: $T = std::$T::consts::$constant;)*

            #[inline(always)]
            fn from_f64(value: f64) -> $T {
                value as $T
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn powi(self, n: i32) -> $T {
                <$T>::powi(self, n)
            }
            #[inline(always)]
            fn sin_cos(self) -> ($T, $T) {
                <$T>::sin_cos(self)
            }
            #[inline(always)]
            fn mul_add(self, a: $T, b: $T) -> $T {
                <$T>::mul_add(self, a, b)
            }
            #[inline(always)]
            #[track_caller]
            fn clamp(self, low: $T, high: $T) -> $T {
                <$T>::clamp(self, low, high)
            }
            $(
                #[inline(always)]
                fn $unary(self) -> $T {
                    <$T>::$unary(self)
                }
            )*
            $(
                #[inline(always)]
                fn $binary(self, other: $T) -> $T {
                    <$T>::$binary(self, other)
                }
            )*
            $(
                #[inline(always)]
                fn $test(self) -> bool {
                    <$T>::$test(self)
                }
            )*
        }
    };
}

float! {
    unary:
        sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
        exp exp2 exp_m1 ln ln_1p log2 log10 sqrt cbrt recip
        abs signum floor ceil round round_ties_even trunc fract to_degrees to_radians;
    binary: powf log atan2 hypot copysign;
    tests: is_nan is_infinite is_finite is_normal is_sign_positive is_sign_negative;
    constants:
        PI TAU E SQRT_2 LN_2 LN_10 LOG2_E LOG10_E LOG2_10 LOG10_2 FRAC_1_PI FRAC_2_PI
        FRAC_2_SQRT_PI FRAC_1_SQRT_2 FRAC_PI_2 FRAC_PI_3 FRAC_PI_4 FRAC_PI_6 FRAC_PI_8;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the compiler takes for a constant of `f32`, the nearest number to that of `f64`, is the
    /// standard library's.
    #[test]
    fn constants_are_the_nearest_numbers() {
        fn all<T: Float>() -> [T; 19] {
            [
                T::PI,
                T::TAU,
                T::E,
                T::SQRT_2,
                T::LN_2,
                T::LN_10,
                T::LOG2_E,
                T::LOG10_E,
                T::LOG2_10,
                T::LOG10_2,
                T::FRAC_1_PI,
                T::FRAC_2_PI,
                T::FRAC_2_SQRT_PI,
                T::FRAC_1_SQRT_2,
                T::FRAC_PI_2,
                T::FRAC_PI_3,
                T::FRAC_PI_4,
                T::FRAC_PI_6,
                T::FRAC_PI_8,
            ]
        }
        assert_eq!(all::<f32>(), all::<f64>().map(f32::from_f64));
        assert_eq!(
            (f32::MAX.to_f64(), <f64 as Float>::MIN),
            (f32::MAX.into(), f64::MIN)
        );
        assert_eq!(
            (<f32 as Float>::DIGITS, <f64 as Float>::MIN_10_EXP),
            (6, -307)
        );
    }

    #[test]
    fn the_least_divided_by_minus_one_panics() {
        for divide in [div, rem, div_euclid, rem_euclid] {
            assert!(std::panic::catch_unwind(|| divide(i64::MIN, -1)).is_err());
        }
    }

    #[test]
    fn integers_wrap_in_every_build() {
        assert_eq!(add(i32::MAX, 1), i32::MIN);
        assert_eq!(sub(0_u8, 1), 255);
        assert_eq!(mul(i64::MAX, 2), -2);
        assert_eq!(neg(i32::MIN), i32::MIN);
        assert_eq!(neg(1_usize), usize::MAX);
        assert_eq!((div(-7, 2), rem(-7, 2)), (-3, -1));
        assert_eq!((div_euclid(-7, 2), rem_euclid(-7, 2)), (-4, 1));
        assert_eq!((div_euclid(-7.0, 2.0), rem_euclid(-7.0, 2.0)), (-4.0, 1.0));
    }

    #[test]
    fn division_by_zero_is_refused() {
        for operation in [div, rem, div_euclid, rem_euclid] {
            let payload = std::panic::catch_unwind(|| operation(-7_i64, 0)).expect_err("a panic");
            let message = payload.downcast_ref::<String>().expect("a message");
            assert_eq!(message, "integer -7 divided by zero");
        }
        assert!(div(1.0, 0.0).is_infinite() && rem(1.0, 0.0).is_nan());
    }

    #[test]
    fn extremes_ignore_nan_and_keep_the_first_of_equals() {
        let nan = f64::NAN;
        assert_eq!(
            (min(nan, 1.0), min(1.0, nan), max(nan, 1.0), max(1.0, nan)),
            (1.0, 1.0, 1.0, 1.0)
        );
        assert!(min(nan, nan).is_nan() && max(nan, nan).is_nan());
        for (a, b) in [(0.0_f64, -0.0_f64), (-0.0, 0.0)] {
            assert_eq!(min(a, b).to_bits(), a.to_bits());
            assert_eq!(max(a, b).to_bits(), a.to_bits());
        }
        assert_eq!(
            (min(1, 2), max(1, 2), min(2.5_f32, 2.0), max(2.5_f32, 2.0)),
            (1, 2, 2.0, 2.5)
        );
    }

    #[test]
    fn values_of_nothing_are_identities() {
        fn holds<T: Number>(values: &[T]) {
            for &value in values {
                assert_eq!(add(T::ZERO, value), value);
                assert_eq!(mul(T::ONE, value), value);
                assert_eq!(min(T::LARGEST, value), value);
                assert_eq!(max(T::SMALLEST, value), value);
            }
        }
        holds(&[f64::NEG_INFINITY, -1.0, 0.0, f64::MAX, f64::INFINITY]);
        holds(&[-1.5_f32, 0.0]);
        holds(&[i64::MIN, 0, i64::MAX]);
        holds(&[i32::MIN, 0, i32::MAX]);
        holds(&[i8::MIN, 0, i8::MAX]);
        holds(&[i16::MIN, 0, i16::MAX]);
        holds(&[isize::MIN, 0, isize::MAX]);
        holds(&[0_u16, u16::MAX]);
        holds(&[0_u64, u64::MAX]);
        holds(&[0_u8, 255]);
        holds(&[0_u32, u32::MAX]);
        holds(&[0_usize, usize::MAX]);
    }

    #[test]
    fn a_generic_float_computes_as_its_type() {
        fn norm<T: Float>(x: T, y: T) -> T {
            (x * x + y * y)
                .sqrt()
                .max(T::from_f64(0.5))
                .min(T::INFINITY)
        }
        assert_eq!(norm(3.0_f32, 4.0), 5.0);
        assert_eq!(norm(3.0_f64, 4.0), 5.0);
        assert_eq!(0.1_f32.to_f64(), f64::from(0.1_f32));
    }
}
