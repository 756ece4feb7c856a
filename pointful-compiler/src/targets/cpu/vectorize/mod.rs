//! Vectorization: loops whose iterations run as lanes of strips.

pub mod reductions;
#[cfg(test)]
mod tests;

pub use reductions::reductions;
