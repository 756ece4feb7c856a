//! Canonicalization: the same program, simpler, at every stage.

pub mod bounds_check_elimination;
pub(crate) mod cloning;
pub mod cse;
pub mod dce;
mod distances;
pub mod doall;
mod emit;
mod interior;
pub mod owner_computes;
mod ranges;
pub mod simplify;
pub(crate) mod substitution;
pub mod unroll;

pub use bounds_check_elimination::bounds_check_elimination;
pub use cse::cse;
pub use dce::dce;
pub use doall::doall;
pub use owner_computes::owner_computes;
pub use simplify::simplify;
pub use unroll::unroll;
