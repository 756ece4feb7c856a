//! Tables and extents as serde's data: `{ "size": [2, 3], "elements": […] }`, and for tables of
//! indices their set's size as `"target"` in between.
//!
//! What is read is checked like everything else that tables are made of: an extent that is none, a
//! wrong number of elements, or an index that is no member of its set is an error.

use std::any::TypeId;

use serde::de::{Deserialize, Deserializer, Error as _, IntoDeserializer};
use serde::ser::{Serialize, Serializer};

use crate::buffer::Buf;
use crate::element::Element;
use crate::extent::Extent;
use crate::index_set::{Dyn, IndexSet};
use crate::ragged::Ragged;
use crate::table::{Table, View, check_length};

impl<I: IndexSet<Size: Serialize>> Serialize for Extent<I> {
    /// An extent is its size.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.size().serialize(serializer)
    }
}

impl<'de, I: IndexSet<Size: Deserialize<'de>>> Deserialize<'de> for Extent<I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Extent::try_new(I::Size::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A table of plain elements.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "Table")]
struct PlainForm<S, E> {
    size: S,
    elements: E,
}

/// A table whose elements have something in common.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "Table")]
struct IndexForm<S, M, E> {
    size: S,
    target: M,
    elements: E,
}

/// Whether the elements have nothing in common that would have to be written.
fn is_plain<T: Element>() -> bool {
    TypeId::of::<T::Meta>() == TypeId::of::<()>()
}

impl<I, T> Serialize for View<'_, I, T>
where
    I: IndexSet<Size: Serialize>,
    T: Element<Repr: Serialize, Meta: Serialize>,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (size, target, elements) = (self.extent(), self.meta(), self.as_slice());
        if is_plain::<T>() {
            PlainForm { size, elements }.serialize(serializer)
        } else {
            IndexForm {
                size,
                target,
                elements,
            }
            .serialize(serializer)
        }
    }
}

impl<I, T> Serialize for Table<I, T>
where
    I: IndexSet<Size: Serialize>,
    T: Element<Repr: Serialize, Meta: Serialize>,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.view().serialize(serializer)
    }
}

impl<'de, I, T> Deserialize<'de> for Table<I, T>
where
    I: IndexSet<Size: Deserialize<'de>>,
    T: Element<Repr: Deserialize<'de>, Meta: Deserialize<'de>>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (extent, meta, elements) = if is_plain::<T>() {
            let form = PlainForm::<Extent<I>, Vec<T::Repr>>::deserialize(deserializer)?;
            // The only value of `()`, by a way that every type can be read.
            let meta = T::Meta::deserialize(IntoDeserializer::<D::Error>::into_deserializer(()))?;
            (form.size, meta, form.elements)
        } else {
            let form = IndexForm::<Extent<I>, T::Meta, Vec<T::Repr>>::deserialize(deserializer)?;
            (form.size, form.target, form.elements)
        };
        check_length(extent, elements.len()).map_err(D::Error::custom)?;
        if let Some(position) = elements.iter().position(|&repr| !T::is_valid(repr, meta)) {
            let value = elements[position];
            return Err(D::Error::custom(format_args!(
                "element {position} is {value}, which is no member of the set that the table indexes: {meta:?}"
            )));
        }
        // SAFETY: every element was just found valid with `meta`.
        Ok(unsafe { Table::from_parts(extent, meta, Buf::from_vec(elements)) })
    }
}

/// Rows of different lengths: `{ "size": 3, "offsets": [0, 2, 2, 3], "values": … }`.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "Ragged")]
struct RaggedForm<S, V> {
    size: S,
    offsets: Vec<usize>,
    values: V,
}

impl<I, T> Serialize for Ragged<I, T>
where
    I: IndexSet<Size: Serialize>,
    T: Element<Repr: Serialize, Meta: Serialize>,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RaggedForm {
            size: self.extent(),
            offsets: self.offsets().collect(),
            values: self.values().view(),
        }
        .serialize(serializer)
    }
}

impl<'de, I, T> Deserialize<'de> for Ragged<I, T>
where
    I: IndexSet<Size: Deserialize<'de>>,
    T: Element<Repr: Deserialize<'de>, Meta: Deserialize<'de>>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let form = RaggedForm::<Extent<I>, Table<Dyn, T>>::deserialize(deserializer)?;
        let rows = Ragged::new(form.offsets, form.values).map_err(D::Error::custom)?;
        rows.cast(form.size).map_err(D::Error::custom)
    }
}
