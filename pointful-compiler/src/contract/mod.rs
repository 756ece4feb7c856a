//! Contraction: from definitions of whole arrays to fused loops over buffers, and what every target
//! wants of these.

pub(crate) mod cloning;
pub mod disjoint_updates;
pub mod horizontal_fusion;
pub mod in_place;
pub mod loop_fission;
pub mod loop_invariants;
pub(crate) mod materialize;
pub mod predicate_updates;
pub mod scalar_replacement;
pub mod schedule;
pub mod serialization;
pub mod uniform_values;

pub use disjoint_updates::disjoint_updates;
pub use horizontal_fusion::horizontal_fusion;
pub use in_place::in_place;
pub use loop_fission::loop_fission;
pub use loop_invariants::loop_invariants;
pub use predicate_updates::predicate_updates;
pub use scalar_replacement::scalar_replacement;
pub(crate) use schedule::{Shape, is_cheap, is_simple, mixed};
pub use serialization::serialization;
pub use uniform_values::uniform_values;
