//! Running kernels on the processor's cores; the README beside this file says how work is split and
//! why.

mod contract;
mod features;
mod helpers;
mod launch;
mod library;
mod limits;
mod scatter;
mod share;
mod short;
mod split;
mod steps;
mod turn;

pub use contract::{
    Along, contract, contract_absorb, contract_absorb_here, contract_here, contract_where,
    contract_where_here,
};
pub use features::multiversion;
pub use launch::{launch, launch_here};
pub use library::Factor;
#[cfg(feature = "testing")]
pub use limits::lowered::lower;
pub use scatter::{Scatter, ScatterView};
pub(crate) use split::Pieces;
pub use steps::{Rows, Steps, accumulate_steps, launch_steps};
