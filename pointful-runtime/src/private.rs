//! What the expansions of pointful's macros name; no part of the stable interface.

pub use std::vec::Vec;

pub use crate::__stored_as_ordinals as stored_as_ordinals;
pub use crate::kernel;
pub use crate::stats;
pub use crate::{
    Axes, Buf, Compound, Dyn, Either, Element, Error, Extent, Fin, Float, IndexSet, Number, Plain,
    Product, StaticSet, Table, VectorSpace, View,
};
