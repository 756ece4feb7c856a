//! Functions of angles, by code that may be repeated.

use crate::two_over_pi::{FAR_MAGNITUDE, is_far_double, magnitude};
use crate::{Elementary, double, single};

/// What angles there were. Each part is as wide as the angles, so that vectors of both have as many
/// elements.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// The greatest magnitude: an addition and a maximum are fewer instructions than two
    /// comparisons and what makes a number of them.
    single: u32,
    /// Not zero if one was far. Processors have no maximum of so wide integers before AVX-512.
    double: u64,
}

impl Seen {
    #[inline(always)]
    fn far(self) -> bool {
        (self.single >= FAR_MAGNITUDE) | (self.double != 0)
    }
}

/// A float that has shorter functions for near angles; of far angles they are any number.
pub trait Float: Sized {
    fn note(self, seen: &mut Seen);
    fn near_sin(self) -> Self;
    fn near_cos(self) -> Self;
    fn near_tan(self) -> Self;
}

macro_rules! float {
    ($float:ty, $module:ident, |$x:ident, $seen:ident| $note:expr) => {
        impl Float for $float {
            #[inline(always)]
            fn note(self, $seen: &mut Seen) {
                let $x = self;
                $note
            }

            #[inline(always)]
            fn near_sin(self) -> Self {
                $module::near_sin(self)
            }

            #[inline(always)]
            fn near_cos(self) -> Self {
                $module::near_cos(self)
            }

            #[inline(always)]
            fn near_tan(self) -> Self {
                $module::near_tan(self)
            }
        }
    };
}

float!(f32, single, |x, seen| seen.single =
    seen.single.max(magnitude(x)));
float!(f64, double, |x, seen| seen.double |=
    u64::from(is_far_double(x)));

/// Sine, cosine and tangent in code that is written once, for angles of any size and for small ones
/// only.
///
/// Code that can be repeated is run with [`Near`] first, as vector instructions; if that has met a
/// far angle, what it computed is thrown away and the code is run again with [`Any`]. Where there
/// is no far angle, both give the same bits.
///
/// ```
/// use pointful_math::{Angles, Any, Near};
///
/// fn sines<A: Angles>(x: &[f64], y: &mut [f64]) -> bool {
///     let mut angles = A::default();
///     for (y, &x) in y.iter_mut().zip(x) {
///         *y = angles.sin(x);
///     }
///     angles.missed()
/// }
///
/// let (x, mut y) = ([0.5, 1e22], [0.0; 2]);
/// if sines::<Near>(&x, &mut y) {
///     sines::<Any>(&x, &mut y);
/// }
/// assert_eq!(y, x.map(pointful_math::sin));
/// ```
pub trait Angles: Default {
    /// The sine of an angle in radians.
    fn sin<T: Elementary>(&mut self, x: T) -> T;
    /// The cosine of an angle in radians.
    fn cos<T: Elementary>(&mut self, x: T) -> T;
    /// The tangent of an angle in radians.
    fn tan<T: Elementary>(&mut self, x: T) -> T;
    /// Whether there was an angle of which the result may be any number.
    fn missed(&self) -> bool;
}

/// Angles of any size. For those of `f64` from 2²⁰ on there is a branch; those of `f32` are reduced
/// as near and as far ones, whatever they are. Never misses one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Any;

impl Angles for Any {
    #[inline(always)]
    fn sin<T: Elementary>(&mut self, x: T) -> T {
        x.sin()
    }

    #[inline(always)]
    fn cos<T: Elementary>(&mut self, x: T) -> T {
        x.cos()
    }

    #[inline(always)]
    fn tan<T: Elementary>(&mut self, x: T) -> T {
        x.tan()
    }

    #[inline(always)]
    fn missed(&self) -> bool {
        false
    }
}

/// Angles below 2²⁰ of `f64` and below 2¹² of `f32`, infinities and NaN, without a branch and by a
/// short reduction. Misses others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Near {
    seen: Seen,
}

impl Angles for Near {
    #[inline(always)]
    fn sin<T: Elementary>(&mut self, x: T) -> T {
        x.note(&mut self.seen);
        x.near_sin()
    }

    #[inline(always)]
    fn cos<T: Elementary>(&mut self, x: T) -> T {
        x.note(&mut self.seen);
        x.near_cos()
    }

    #[inline(always)]
    fn tan<T: Elementary>(&mut self, x: T) -> T {
        x.note(&mut self.seen);
        x.near_tan()
    }

    #[inline(always)]
    fn missed(&self) -> bool {
        self.seen.far()
    }
}
