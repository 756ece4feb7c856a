//! Floats and dual numbers, in which plain loops are written once.

use std::cell::RefCell;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::inputs::Draw;

thread_local! {
    /// By what constants are moved while [`with_shaken_constants`] runs.
    static SHAKEN: RefCell<Option<Draw>> = const { RefCell::new(None) };
}

/// What `f` gives if each use of a constant is off by next to nothing, drawn from a seed. A
/// comparison of what is computed of constants alone, which rounding decides, shows in it.
pub fn with_shaken_constants<R>(seed: u64, f: impl FnOnce() -> R) -> R {
    struct Steady;
    impl Drop for Steady {
        fn drop(&mut self) {
            SHAKEN.set(None);
        }
    }
    SHAKEN.set(Some(Draw(seed)));
    let _steady_after_a_panic_too = Steady;
    f()
}

/// A float moved by next to nothing.
pub(crate) fn shaken(x: f64, draw: &mut Draw) -> f64 {
    x * (1.0 + 1e-13 * draw.unit())
}

/// What a plain loop computes with.
pub trait Num:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + PartialOrd
{
    /// A constant.
    fn c(value: f64) -> Self;
    /// The number without what is infinitely small.
    fn value(self) -> f64;
    /// `f(self)`, whose derivative at `self` is this.
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn tanh(self) -> Self;
    fn sqrt(self) -> Self;

    fn powi(self, power: i32) -> Self {
        (1..power).fold(self, |product, _| product * self)
    }

    fn abs(self) -> Self {
        if self.value() > 0.0 {
            self
        } else if self.value() < 0.0 {
            -self
        } else {
            Self::c(self.value().abs())
        }
    }

    /// The first operand where both are equal; NaN is less than any.
    fn max(self, other: Self) -> Self {
        if self.value() >= other.value() || other.value().is_nan() {
            self
        } else {
            other
        }
    }

    fn min(self, other: Self) -> Self {
        if self.value() <= other.value() || other.value().is_nan() {
            self
        } else {
            other
        }
    }

    fn clamp(self, low: f64, high: f64) -> Self {
        if self.value() < low {
            Self::c(low)
        } else if self.value() > high {
            Self::c(high)
        } else {
            self
        }
    }
}

impl Num for f64 {
    fn c(value: f64) -> Self {
        SHAKEN.with_borrow_mut(|draw| match draw {
            Some(draw) => shaken(value, draw),
            None => value,
        })
    }
    fn value(self) -> f64 {
        self
    }
    fn sin(self) -> Self {
        f64::sin(self)
    }
    fn cos(self) -> Self {
        f64::cos(self)
    }
    fn exp(self) -> Self {
        f64::exp(self)
    }
    fn ln(self) -> Self {
        f64::ln(self)
    }
    fn tanh(self) -> Self {
        f64::tanh(self)
    }
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
}

/// `value + tangent ε`, where `ε² = 0`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dual<T> {
    pub value: T,
    pub tangent: T,
}

impl<T: Num> Dual<T> {
    fn chain(self, value: T, slope: T) -> Self {
        Self {
            value,
            tangent: slope * self.tangent,
        }
    }
}

impl<T: Num> PartialEq for Dual<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Num> PartialOrd for Dual<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl<T: Num> Add for Dual<T> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            tangent: self.tangent + other.tangent,
        }
    }
}

impl<T: Num> Sub for Dual<T> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self {
            value: self.value - other.value,
            tangent: self.tangent - other.tangent,
        }
    }
}

impl<T: Num> Mul for Dual<T> {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self {
            value: self.value * other.value,
            tangent: self.tangent * other.value + self.value * other.tangent,
        }
    }
}

impl<T: Num> Div for Dual<T> {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        Self {
            value,
            tangent: (self.tangent - value * other.tangent) / other.value,
        }
    }
}

impl<T: Num> Neg for Dual<T> {
    type Output = Self;
    fn neg(self) -> Self {
        Self {
            value: -self.value,
            tangent: -self.tangent,
        }
    }
}

impl<T: Num> AddAssign for Dual<T> {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<T: Num> SubAssign for Dual<T> {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl<T: Num> MulAssign for Dual<T> {
    fn mul_assign(&mut self, other: Self) {
        *self = *self * other;
    }
}

impl<T: Num> Num for Dual<T> {
    fn c(value: f64) -> Self {
        Self {
            value: T::c(value),
            tangent: T::c(0.0),
        }
    }
    fn value(self) -> f64 {
        self.value.value()
    }
    fn sin(self) -> Self {
        self.chain(self.value.sin(), self.value.cos())
    }
    fn cos(self) -> Self {
        self.chain(self.value.cos(), -self.value.sin())
    }
    fn exp(self) -> Self {
        let value = self.value.exp();
        self.chain(value, value)
    }
    fn ln(self) -> Self {
        self.chain(self.value.ln(), T::c(1.0) / self.value)
    }
    fn tanh(self) -> Self {
        let value = self.value.tanh();
        self.chain(value, T::c(1.0) - value * value)
    }
    fn sqrt(self) -> Self {
        let value = self.value.sqrt();
        self.chain(value, T::c(0.5) / value)
    }
}
