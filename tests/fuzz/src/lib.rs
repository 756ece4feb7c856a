//! What compiled random functions are compared with: plain loops over floats and dual numbers.

#![allow(missing_docs, reason = "names of mathematics and of parameters")]

pub mod check;
pub mod inputs;
pub mod num;
pub mod places;
pub mod run;

pub use check::{Found, Given, Mode, Plain, check};
#[cfg(feature = "device")]
pub use inputs::there;
pub use inputs::{Flat, Inputs, Tables, here, matrix};
pub use num::Num;
