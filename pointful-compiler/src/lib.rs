//! The compiler behind the macros of pointful: tokens in, tokens out.

pub mod derive;
pub mod diag;
pub mod driver;
pub mod emit;
pub mod eval;
pub mod explain;
pub mod interface;
pub mod ir;
pub mod lower;
pub mod ops;
pub mod passes;
pub mod pipeline;
pub mod syntax;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
