//! Finite, ordered, typed sets of indices.

mod basic;
mod compound;
mod name;
mod place;

use std::borrow::Cow;
use std::fmt;

pub use basic::{Dyn, Fin};
pub use compound::{Compound, Either, Product};
pub(crate) use name::SetName;
pub use place::{Place, Unnamed};

use crate::buffer::Buf;
use crate::element::Element;
use crate::error::Error;
use crate::extent::Extent;

/// How a table stores members of a set: as their ordinals. For use inside `impl IndexSet`.
#[doc(hidden)]
#[macro_export]
macro_rules! __stored_as_ordinals {
    () => {
        #[inline(always)]
        fn target(meta: $crate::Extent<Self>) -> $crate::Extent<Self> {
            meta
        }

        #[inline(always)]
        fn ordinals(stored: &[usize]) -> ::std::borrow::Cow<'_, [usize]> {
            ::std::borrow::Cow::Borrowed(stored)
        }

        #[inline(always)]
        fn store(
            ordinals: $crate::Buf<usize>,
            target: $crate::Extent<Self>,
        ) -> ($crate::Buf<usize>, $crate::Extent<Self>) {
            (ordinals, target)
        }
    };
}

/// The type of the members of a finite ordered set.
///
/// The type says *which* set; [`IndexSet::Size`] says how large it is: `()` for a set whose size is
/// part of its type, `usize` for one whose size is known only at run time, a tuple for a product.
/// Tables over different sets are of different types, even where the sets happen to have the same
/// size.
///
/// Use `#[derive(IndexSet)]` for sets of your own; the implementations here are [`Fin`], [`Dyn`],
/// `bool`, `()`, [`Either`], and tuples of two to six index sets.
///
/// # Safety
/// Code relies on the following without checking it again.
/// * `checked_len` depends on its argument alone, is at most `isize::MAX`, and equal sizes have
///   equal lengths.
/// * `checked_ordinal` gives a number less than the extent's length, or `None`.
/// * Ordinals number the members: `from_ordinal_unchecked` undoes `checked_ordinal`.
/// * `ordinals` gives ordinals in `target(meta)` for members stored with `meta`, and `store` undoes
///   it.
/// * `axes` adds exactly `RANK` lengths, and their product is the extent's length.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index set",
    note = "write `#[derive(Clone, Copy, IndexSet)]` on a type of your own; `Dyn` and `Fin<N>` are index sets without a name"
)]
pub unsafe trait IndexSet: Element {
    /// What has to be known at run time to know how large the set is.
    type Size: Copy + Eq + fmt::Debug + Send + Sync + 'static;

    /// How many axes an array over this set has.
    const RANK: usize;

    /// How many members a set of this size has; `None` if more than `isize::MAX`.
    fn checked_len(size: Self::Size) -> Option<usize>;

    /// The number of this member in the set's order, or `None` if it is not in a set of this
    /// extent.
    fn checked_ordinal(self, extent: Extent<Self>) -> Option<usize>;

    /// The member with this number.
    ///
    /// # Safety
    /// `ordinal < extent.len()`.
    unsafe fn from_ordinal_unchecked(ordinal: usize, extent: Extent<Self>) -> Self;

    /// Appends the length of each axis, outermost first.
    fn axes(extent: Extent<Self>, axes: &mut Vec<usize>);

    /// The size of a set whose axes have the given lengths: takes its own from the front of `axes`.
    ///
    /// # Errors
    /// If a static set has another length, or if lengths do not determine the size.
    fn size_from_axes(axes: &mut Axes<'_>) -> Result<Self::Size, Error>;

    /// The size of the set, of those sizes of its parts that are known only at run time: takes its
    /// own from the front.
    #[doc(hidden)]
    fn size_of_parts(sizes: &mut Axes<'_>) -> Self::Size;

    /// Writes a size for people: `5`, `(3, 4)`.
    fn fmt_size(size: Self::Size, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// The extent of the set, as a table of its members keeps it.
    #[doc(hidden)]
    fn target(meta: Self::Meta) -> Extent<Self>;

    /// The ordinals of members as a table stores them: no copy but for `bool`, which is stored as
    /// itself.
    #[doc(hidden)]
    fn ordinals(stored: &[Self::Repr]) -> Cow<'_, [usize]>;

    /// Members as a table stores them, from their ordinals in `target`: no copy but for `bool`.
    #[doc(hidden)]
    fn store(ordinals: Buf<usize>, target: Extent<Self>) -> (Buf<Self::Repr>, Self::Meta);

    /// The number of this member in the set's order.
    ///
    /// # Panics
    /// If this is no member of a set of this extent.
    #[inline(always)]
    #[track_caller]
    fn ordinal(self, extent: Extent<Self>) -> usize {
        match self.checked_ordinal(extent) {
            Some(ordinal) => ordinal,
            None => not_a_member(extent),
        }
    }

    /// The member with this number.
    ///
    /// # Panics
    /// If the set has no more than `ordinal` members.
    #[inline(always)]
    #[track_caller]
    fn from_ordinal(ordinal: usize, extent: Extent<Self>) -> Self {
        if ordinal >= extent.len() {
            no_such_ordinal(ordinal, extent);
        }
        // SAFETY: just compared.
        unsafe { Self::from_ordinal_unchecked(ordinal, extent) }
    }
}

/// An index set whose size is part of its type.
pub trait StaticSet: IndexSet {
    /// The one size the set can have.
    const SIZE: Self::Size;
}

/// The lengths of an array's axes, taken from the front one by one; see
/// [`IndexSet::size_from_axes`].
#[derive(Debug)]
pub struct Axes<'a> {
    rest: &'a [usize],
}

impl<'a> Axes<'a> {
    pub(crate) fn new(lengths: &'a [usize]) -> Self {
        Axes { rest: lengths }
    }

    /// The next axis' length.
    ///
    /// # Panics
    /// If there is none: the number of axes is compared with the rank of the set beforehand.
    pub fn take(&mut self) -> usize {
        let (&first, rest) = self
            .rest
            .split_first()
            .expect("an axis for each of the set's");
        self.rest = rest;
        first
    }

    /// Takes the next axis for the set `I`, which has exactly `len` members.
    pub fn take_exactly<I: IndexSet>(&mut self, len: usize) -> Result<(), Error> {
        let found = self.take();
        if found == len {
            Ok(())
        } else {
            Err(Error::Axis {
                set: SetName::<I>::new().to_string(),
                expected: len,
                found,
            })
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn not_a_member<I: IndexSet>(extent: Extent<I>) -> ! {
    panic!(
        "the index is no member of `{}` of size {extent}",
        SetName::<I>::new()
    )
}

#[cold]
#[inline(never)]
#[track_caller]
fn no_such_ordinal<I: IndexSet>(ordinal: usize, extent: Extent<I>) -> ! {
    let error = Error::IndexOutOfRange {
        what: format!("`{}`", SetName::<I>::new()),
        index: i64::try_from(ordinal).unwrap_or(i64::MAX),
        len: extent.len(),
    };
    panic!("{error}")
}
