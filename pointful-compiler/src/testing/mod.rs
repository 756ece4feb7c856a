//! What property tests are made of: random programs, a shrinker, and checks that run a pass on many
//! of them.
//!
//! ```text
//! check_pass(500, |program| simplify(program));          Point → Point, or to any later stage
//! check_between(500, bulk, |program| cse(program));      a pass on what another one makes
//! ```

#[cfg(test)]
pub(crate) mod accumulations;
#[cfg(test)]
pub(crate) mod agreement;
#[cfg(test)]
mod arms;
mod check;
mod compiled;
#[cfg(test)]
mod corners;
mod derivative;
#[cfg(test)]
mod diagonals;
#[cfg(test)]
pub(crate) mod entered;
pub mod functions;
#[cfg(test)]
mod guarded;
#[cfg(test)]
mod ignored;
#[cfg(test)]
mod intervals;
#[cfg(test)]
mod lags;
#[cfg(test)]
pub(crate) mod lengths;
#[cfg(test)]
mod owners;
#[cfg(test)]
mod points;
pub mod products;
pub mod ragged;
pub mod random;
#[cfg(test)]
mod readers;
#[cfg(test)]
mod reductions;
mod rng;
#[cfg(test)]
pub(crate) mod scans;
mod shrink;
mod skeleton;
#[cfg(test)]
mod slices;
pub mod source;
#[cfg(test)]
mod states;
#[cfg(test)]
mod stencils;
#[cfg(test)]
mod steps;
#[cfg(test)]
mod sweeps;
#[cfg(test)]
mod switches;
#[cfg(test)]
mod tapes;
#[cfg(test)]
pub(crate) mod tokens;
mod transformed;
#[cfg(test)]
mod turns;
pub mod twice;
#[cfg(test)]
mod twins;
#[cfg(test)]
mod uniform;
#[cfg(test)]
mod waves;
mod words;

pub use check::{
    Tested, check_between, check_each, check_pass, check_seeds, check_stages, is_stable,
};
#[cfg(test)]
pub(crate) use check::{check_on_devices, for_devices, outlined};
pub use compiled::{is_small, programs_to_compile};
pub use derivative::{
    Checked, check_derivative, check_derivatives, check_second_derivative, derivative,
    differentiated, expanded, random_seeds, random_smooth,
};
pub use functions::{random_larger_inputs, random_lowered, random_source};
#[cfg(test)]
pub(crate) use points::random_points;
pub use random::{Options, random_point};
pub use rng::Rng;
pub use shrink::shrink;
pub use skeleton::skeleton;
pub use transformed::transformed;
pub use words::{Place, words};
