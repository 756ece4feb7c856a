//! Dense linear algebra: factorizations, and what is solved with them.
//!
//! All but [`cholesky`](fn@cholesky) have derivatives of their own, by implicit differentiation, that
//! go backwards as they go forwards: tangents pass through products and triangular solutions only,
//! which the compiler transposes. No derivative keeps what a factorization has done in its steps.

mod cholesky;
mod det;
mod lu;
mod qr;
mod triangular;

#[cfg(test)]
mod tests;

pub use cholesky::*;
pub use det::*;
pub use lu::*;
pub use qr::*;
pub use triangular::*;
