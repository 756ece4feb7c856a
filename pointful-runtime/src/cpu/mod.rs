//! Running kernels on the processor's cores; the README beside this file says how work is split and why.

mod contract;
mod features;
mod launch;
mod split;

pub use contract::{Along, Factor, contract, contract_here};
pub use launch::{launch, launch_here};
pub(crate) use split::Pieces;
