//! Vectorization: loops whose iterations run as lanes of strips.

mod arg_reductions;
mod dear_branches;
mod if_conversion;
mod independent;
mod late;
pub mod outer_loop;
pub mod reductions;
pub mod short_loops;
#[cfg(test)]
mod tests;

pub(crate) use independent::independent;
pub use outer_loop::outer_loop;
pub use reductions::reductions;
pub use short_loops::short_loops;
