//! Elementary functions on floats that become vector instructions.
//!
//! A call of the system's mathematical library stands in the way of every vector unit: it takes one
//! number at a time. The functions here are straight lines of additions, multiplications and
//! selections, inlined where they are used, so a compiler turns a loop over them into instructions
//! on as many numbers as its registers hold. They use no fused operations and nothing else that
//! only some processors have: **a function gives the same bits on every processor**, and in debug
//! and release builds.
//!
//! Sine, cosine and tangent of `f64` are the exception: they have a branch, which no vector can
//! take, for angles of 2²⁰ and beyond, which are reduced by a table. Those of `f32` have none, but
//! reduce each angle as one beyond 2¹² too, which takes five times as long as what near ones need.
//! Code that can be run again bets that there are no far angles: [`Angles`].
//!
//! # Errors
//!
//! The distance from the exact result in units of its last place (ulp), greatest of all arguments.
//! That of `f32` functions of one number was found by trying every bit pattern there is (rounded
//! up; a half is what the nearest float may be off). Those of `f64` are held by tests on samples of
//! all magnitudes and on arguments that are known to be hard. Functions of two numbers were tried
//! on 2·10⁸ pairs of `f32`, against the standard library's functions of `f64`, and on 2·10⁶ pairs
//! of `f64`, against 128 bits: pairs of all magnitudes, of special values, and where results are
//! about to leave the format. Results that are numbers of the format, as squares and Pythagorean
//! triples have them, are those numbers.
//!
//! | functions | `f32` | `f64` |
//! |---|---|---|
//! | `exp` | 0.91 | 1 |
//! | `exp2` | 0.502 | 1 |
//! | `exp_m1` | 0.506 | 1.1 |
//! | `ln` | 0.88 | 1 |
//! | `log2` `log10` `ln_1p` | 0.501 | 1 |
//! | `sin` `cos`, of any angle | 0.93 | 1 |
//! | `tan`, of any angle | 0.503 | 1 |
//! | `asin` `acos` | 0.505 | 1 |
//! | `atan` | 0.501 | 1 |
//! | `sinh` `cosh` | 0.504 | 1 |
//! | `tanh` | 0.9 | 1 |
//! | `asinh` `acosh` `atanh` | 0.501 | 1.5 |
//! | `cbrt` | 0.501 | 1 |
//! | `powf` | 0.502 | 0.9 |
//! | `atan2` | 0.501 | 0.8 |
//! | `hypot` | 0.5 | 0.501 |
//!
//! Zeros keep their sign, infinities and NaN are treated as IEEE 754 and C have it, and results may
//! be subnormal.
//!
//! ```
//! let x: Vec<f64> = (0..1000).map(f64::from).collect();
//! // One loop of vector instructions.
//! let y: Vec<f64> = x.iter().map(|&x| pointful_math::tanh(x) / pointful_math::exp(-x)).collect();
//! assert!((y[1] - 1.0_f64.tanh() * 1.0_f64.exp()).abs() < 1e-15);
//! ```

mod angles;
mod double;
mod parts;
mod single;
mod two_over_pi;

pub use angles::{Angles, Any, Near};

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($x:ident $(, $operand:ident)*);)*) => {
        /// A float that has elementary functions: `f32` and `f64`.
        pub trait Elementary: Copy + angles::Float {
            $($(#[$doc])* fn $name(self $(, $operand: Self)*) -> Self;)*
        }

        impl Elementary for f32 {
            $(#[inline(always)] fn $name(self $(, $operand: f32)*) -> f32 { single::$name(self $(, $operand)*) })*
        }

        impl Elementary for f64 {
            $(#[inline(always)] fn $name(self $(, $operand: f64)*) -> f64 { double::$name(self $(, $operand)*) })*
        }

        $(
            $(#[$doc])*
            #[inline(always)]
            pub fn $name<T: Elementary>($x: T $(, $operand: T)*) -> T {
                Elementary::$name($x $(, $operand)*)
            }
        )*
    };
}

functions! {
    /// eˣ
    exp(x);
    /// 2ˣ
    exp2(x);
    /// eˣ - 1, also where that is small
    exp_m1(x);
    /// The natural logarithm.
    ln(x);
    /// The logarithm to base 2.
    log2(x);
    /// The logarithm to base 10.
    log10(x);
    /// ln (1 + x), also where that is small
    ln_1p(x);
    /// The sine of an angle in radians.
    sin(x);
    /// The cosine of an angle in radians.
    cos(x);
    /// The tangent of an angle in radians.
    tan(x);
    /// The angle of a sine, in `-π/2..=π/2`.
    asin(x);
    /// The angle of a cosine, in `0..=π`.
    acos(x);
    /// The angle of a tangent, in `-π/2..=π/2`.
    atan(x);
    /// The angle of the point `(x, y)`, in `-π..=π`.
    atan2(y, x);
    /// The hyperbolic sine.
    sinh(x);
    /// The hyperbolic cosine.
    cosh(x);
    /// The hyperbolic tangent.
    tanh(x);
    /// The inverse of the hyperbolic sine.
    asinh(x);
    /// The inverse of the hyperbolic cosine.
    acosh(x);
    /// The inverse of the hyperbolic tangent.
    atanh(x);
    /// xʸ
    powf(x, y);
    /// The cube root.
    cbrt(x);
    /// √(x² + y²), without overflow on the way.
    hypot(x, y);
}
