//! What tests of compiled programs ask of the runtime.

pub use crate::cpu::lower as lower_limits;
