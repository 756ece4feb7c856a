//! Tables over typed index sets, and the parallel skeletons that code compiled by pointful runs on.
//!
//! Everything public here works without the macros: a [`Table`] is a memoised function on a finite,
//! ordered, typed set of indices, an [`IndexSet`] is the type of such a set's members, and an
//! [`Extent`] says how large the set is. [`kernel`] is the contract with generated code and no part
//! of the stable interface.

mod accum;
mod buffer;
#[doc(hidden)]
pub mod constant;
mod cpu;
#[cfg(feature = "device")]
#[doc(hidden)]
pub mod cuda;
mod element;
mod error;
mod extent;
mod index_set;
mod interop;
#[doc(hidden)]
mod kept;
pub mod kernel;
pub mod memory;
mod one_of;
mod opaque;
#[doc(hidden)]
pub mod private;
mod ragged;
mod recast;
#[doc(hidden)]
pub mod reference;
mod scalar;
pub mod stats;
mod table;
mod tables;
#[cfg(feature = "testing")]
pub mod testing;
mod transpose;
mod vector_space;

pub use accum::Accum;
pub use buffer::Buf;
#[cfg(feature = "device")]
pub use cuda::{Device, ToDevice};
pub use element::{Element, Plain};
pub use error::Error;
pub use extent::{Extent, IntoExtent, Members};
pub use index_set::{
    Axes, Compound, Dyn, Either, Fin, IndexSet, Place, Product, StaticSet, Unnamed,
};
#[cfg(feature = "npy")]
pub use interop::{NpyElement, NpyError};
pub use ragged::Ragged;
pub use scalar::{Float, Number};
pub use table::{Table, View};
pub use tables::Tables;
pub use vector_space::VectorSpace;
