//! Tables: memoised functions on index sets.

mod access;
mod fmt;
mod indices;
mod make;
mod view;

#[cfg(feature = "device")]
pub(crate) use fmt::elsewhere;
pub(crate) use fmt::shown;
pub use view::View;

#[cfg(feature = "device")]
use std::borrow::Cow;

use crate::buffer::Buf;
#[cfg(feature = "device")]
use crate::cuda::{Device, members};
use crate::element::Element;
use crate::error::Error;
use crate::extent::{Extent, IntoExtent};
use crate::index_set::{IndexSet, SetName};

/// A function from the members of `I` to values of `T`, computed once and kept: contiguous,
/// row-major.
///
/// ```
/// use pointful_runtime::{Dyn, Extent, Fin, Table};
/// let grid = Extent::<(Dyn, Fin<3>)>::new((2, ()));
/// let t = Table::from_fn(grid, |(Dyn(i), j)| (10 * i + j.get()) as f64);
/// assert_eq!(t[(Dyn(1), Fin::new(2))], 12.0);
/// assert_eq!(t.row(Dyn(1)).as_slice(), [10.0, 11.0, 12.0]);
/// assert_eq!(t.to_string(), "[[0, 1, 2],\n [10, 11, 12]]");
/// ```
pub struct Table<I: IndexSet, T: Element> {
    extent: Extent<I>,
    meta: T::Meta,
    /// As many elements as the extent has members, each of them valid with `meta`.
    data: Buf<T::Repr>,
}

impl<I: IndexSet, T: Element> Table<I, T> {
    /// A table of elements in their stored form: what generated code makes its results of.
    ///
    /// # Safety
    /// Every element is valid with `meta`, which means nothing for plain elements, whose `meta` is
    /// `()`. For members of an index set each element is an ordinal in it.
    ///
    /// # Panics
    /// If there are more or fewer elements than members.
    #[doc(hidden)]
    #[inline]
    pub unsafe fn from_parts(extent: Extent<I>, meta: T::Meta, data: Buf<T::Repr>) -> Self {
        if let Err(error) = check_length(extent, data.len()) {
            panic!("{error}");
        }
        Table { extent, meta, data }
    }

    /// The extent, what the elements have in common, and the elements in their stored form.
    #[doc(hidden)]
    #[inline]
    pub fn into_parts(self) -> (Extent<I>, T::Meta, Buf<T::Repr>) {
        (self.extent, self.meta, self.data)
    }

    /// The elements in their stored form, out of a table that cannot be moved.
    ///
    /// # Safety
    /// The table is not used any more: it has fewer elements than members.
    #[doc(hidden)]
    #[inline]
    pub unsafe fn take_data(&mut self) -> Buf<T::Repr> {
        std::mem::replace(&mut self.data, Buf::from_vec(Vec::new()))
    }

    /// The same elements over another index set of as many members, without a copy: flatten,
    /// unflatten, rename.
    ///
    /// # Errors
    /// [`Error::Length`] if the other set has another number of members.
    pub fn cast<J: IndexSet>(self, extent: impl IntoExtent<J>) -> Result<Table<J, T>, Error> {
        let extent = extent.into_extent();
        check_length(extent, self.data.len())?;
        Ok(Table {
            extent,
            meta: self.meta,
            data: self.data,
        })
    }
}

/// What only tables on devices have.
#[cfg(feature = "device")]
impl<I: IndexSet, T: Element> Table<I, T> {
    /// The device on which the table lives, if it is not the host.
    pub fn device(&self) -> Option<&Device> {
        self.data.device()
    }

    /// The same table with its elements elsewhere.
    pub(crate) fn with_data(
        &self,
        moved: impl FnOnce(&Buf<T::Repr>) -> Result<Buf<T::Repr>, Error>,
    ) -> Result<Self, Error> {
        Ok(Table {
            extent: self.extent,
            meta: self.meta,
            data: moved(&self.data)?,
        })
    }

    /// The elements as they are stored, wherever they are.
    #[doc(hidden)]
    pub fn on_device(&self) -> &Buf<T::Repr> {
        &self.data
    }

    /// The same as ordinals of members.
    ///
    /// # Errors
    /// What the device says, as truth values are copied.
    #[doc(hidden)]
    pub fn ordinals_on_device(&self) -> Result<Cow<'_, Buf<usize>>, Error>
    where
        T: IndexSet,
    {
        members::ordinals(&self.data)
    }

    /// The memory, as a kernel of a device is given it.
    #[doc(hidden)]
    pub fn argument(&self, name: &'static str) -> crate::cuda::Argument {
        crate::cuda::Argument::buffer(name, &self.data)
    }
}

impl<I: IndexSet, T: Element> Clone for Table<I, T> {
    fn clone(&self) -> Self {
        Table {
            extent: self.extent,
            meta: self.meta,
            data: self.data.clone(),
        }
    }
}

impl<I: IndexSet, T: Element> PartialEq for Table<I, T> {
    /// Equal extents and equal elements; tables of indices are equal only if they index sets of
    /// equal extent. Tables on devices are not compared: that panics.
    fn eq(&self, other: &Self) -> bool {
        self.view() == other.view()
    }
}

/// Compares a number of elements with the members of a set.
pub(crate) fn check_length<I: IndexSet>(extent: Extent<I>, found: usize) -> Result<(), Error> {
    let expected = extent.len();
    if found == expected {
        Ok(())
    } else {
        Err(Error::Length {
            set: SetName::<I>::new().to_string(),
            expected,
            found,
        })
    }
}
