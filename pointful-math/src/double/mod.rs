//! Functions of `f64`.

mod exponential;
mod hyperbolic;
mod inverse;
mod logarithm;
mod power;
mod trigonometric;

pub(crate) use exponential::{exp, exp_m1, exp2};
pub(crate) use hyperbolic::{acosh, asinh, atanh, cosh, sinh, tanh};
pub(crate) use inverse::{acos, asin, atan, atan2};
pub(crate) use logarithm::{ln, ln_1p, log2, log10};
pub(crate) use power::{cbrt, halley, hypot, power_everywhere, powf, root_of_cube};
pub(crate) use trigonometric::{cos, near_cos, near_sin, near_tan, sin, tan};
