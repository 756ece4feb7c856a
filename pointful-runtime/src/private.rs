//! What the expansions of pointful's macros name; no part of the stable interface.

pub use std::vec::Vec;

pub use crate::__stored_as_ordinals as stored_as_ordinals;
pub use crate::kernel;
pub use crate::stats;
pub use crate::{
    Axes, Buf, Compound, Dyn, Either, Element, Error, Extent, Fin, Float, IndexSet, Number, Plain,
    Product, StaticSet, Table, VectorSpace, View,
};

/// A struct marked `#[pointful]`, made of its fields in order. Expansions make by it what they may not be able to name, or whose fields they cannot.
pub trait Record<Fields> {
    /// The struct.
    fn from_fields(fields: Fields) -> Self;
}
