//! The compiler behind the macros of pointful: tokens in, tokens out.

mod analysis;
pub mod canonicalize;
pub mod contract;
pub mod derive;
pub mod diag;
pub mod differentiate;
pub mod driver;
pub mod eval;
pub mod expand;
pub mod explain;
pub mod interface;
pub mod ir;
pub mod link;
pub mod lower;
pub mod ops;
pub mod pass;
pub mod pipeline;
pub mod places;
pub mod syntax;
pub mod targets;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
