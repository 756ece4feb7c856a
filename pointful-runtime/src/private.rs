//! What the expansions of pointful's macros name; no part of the stable interface.

pub use std::vec::Vec;

pub use crate::__device as device;
pub use crate::__on_device as on_device;
pub use crate::__stored_as_ordinals as stored_as_ordinals;
pub use crate::constant;
#[cfg(feature = "device")]
pub use crate::cuda::{
    self, Device, ToDevice, check_devices, check_places, compare_devices, compare_places, device_of,
};
pub use crate::kept::Kept;
pub use crate::kernel;
pub use crate::stats;
pub use crate::tables::{Columns, Tables};
pub use crate::{
    Accum, Axes, Buf, Compound, Dyn, Either, Element, Error, Extent, Fin, Float, IndexSet, Number,
    Plain, Product, Ragged, StaticSet, Table, VectorSpace, View,
};

/// What expansions have where tables may live on devices: it is there with the feature, and nothing
/// without. Macros and tables are built apart, and a build that has one of the two with the feature
/// need not have the other.
#[cfg(feature = "device")]
#[doc(hidden)]
#[macro_export]
macro_rules! __device {
    ($($tokens:tt)*) => { $($tokens)* };
}

/// As with the feature, without it.
#[cfg(not(feature = "device"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __device {
    ($($tokens:tt)*) => {};
}

/// What a function does whose tables may live on a device: there if they do, else here. Without the
/// feature they do not.
#[cfg(feature = "device")]
#[doc(hidden)]
#[macro_export]
macro_rules! __on_device {
    ($place:expr, $device:ident => { $($there:tt)* } { $($here:tt)* }) => {
        match $place {
            ::core::option::Option::Some($device) => { $($there)* }
            ::core::option::Option::None => { $($here)* }
        }
    };
}

/// As with the feature, without it.
#[cfg(not(feature = "device"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __on_device {
    ($place:expr, $device:ident => { $($there:tt)* } { $($here:tt)* }) => {
        { $($here)* }
    };
}

/// A field that is not `pub`, by its position. Expansions in other modules reach by it what they
/// cannot name.
pub trait Field<const AT: usize, T> {
    /// To read.
    fn field(&self) -> &T;
}

impl<const AT: usize, T, S: Field<AT, T>> Field<AT, T> for &S {
    #[inline]
    fn field(&self) -> &T {
        (**self).field()
    }
}

impl<const AT: usize, T, S: Field<AT, T>> Field<AT, T> for &mut S {
    #[inline]
    fn field(&self) -> &T {
        (**self).field()
    }
}

/// As [`Field`], to change it.
pub trait FieldMut<const AT: usize, T> {
    /// The field.
    fn field_mut(&mut self) -> &mut T;
}

/// A struct marked `#[pointful]`, made of its fields in order. Expansions make by it what they may
/// not be able to name, or whose fields they cannot.
pub trait Record<Fields> {
    /// The struct.
    fn from_fields(fields: Fields) -> Self;
}
