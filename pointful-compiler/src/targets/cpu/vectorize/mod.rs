//! Vectorization: loops whose iterations run as lanes of strips.

mod dear_branches;
mod if_conversion;
mod late;
pub mod reductions;
pub mod short_loops;
#[cfg(test)]
mod tests;

pub use reductions::reductions;
pub use short_loops::short_loops;
