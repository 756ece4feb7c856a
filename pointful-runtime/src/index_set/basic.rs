//! Sets that are not made of others: one axis each, or none.

use std::borrow::Cow;
use std::fmt;

use super::{Axes, IndexSet, StaticSet};
use crate::buffer::Buf;
use crate::error::Error;
use crate::extent::{Extent, IntoExtent};

/// The largest number of members of a set: what `isize` can count, as for every allocation.
pub(crate) const MAX_LEN: usize = isize::MAX as usize;

/// A member of a set of exactly `N` members.
///
/// ```
/// use pointful_runtime::{Extent, Fin, IndexSet};
/// let third = Fin::<5>::from_ordinal(2, Extent::default());
/// assert_eq!(third, Fin::new(2));
/// assert_eq!(third.get(), 2);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fin<const N: usize>(usize);

impl<const N: usize> Fin<N> {
    /// The member with the number `ordinal`.
    ///
    /// # Panics
    /// If `ordinal` is not less than `N`.
    #[track_caller]
    pub const fn new(ordinal: usize) -> Self {
        assert!(ordinal < N, "the ordinal is no member of this `Fin`");
        Fin(ordinal)
    }

    /// The number of this member.
    #[inline(always)]
    pub const fn get(self) -> usize {
        self.0
    }
}

// SAFETY: a `Fin<N>` holds a number below `N`, which is its ordinal; `N` is the length and the only axis.
unsafe impl<const N: usize> IndexSet for Fin<N> {
    type Size = ();
    const RANK: usize = 1;

    #[inline(always)]
    fn checked_len((): ()) -> Option<usize> {
        (N <= MAX_LEN).then_some(N)
    }

    #[inline(always)]
    fn checked_ordinal(self, _: Extent<Self>) -> Option<usize> {
        Some(self.0)
    }

    #[inline(always)]
    unsafe fn from_ordinal_unchecked(ordinal: usize, _: Extent<Self>) -> Self {
        debug_assert!(ordinal < N);
        Fin(ordinal)
    }

    fn axes(extent: Extent<Self>, axes: &mut Vec<usize>) {
        axes.push(extent.len());
    }

    fn size_from_axes(axes: &mut Axes<'_>) -> Result<(), Error> {
        axes.take_exactly::<Self>(N)
    }

    fn size_of_parts(_: &mut Axes<'_>) {}

    fn fmt_size((): (), f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{N}")
    }

    crate::__stored_as_ordinals!();
}

impl<const N: usize> StaticSet for Fin<N> {
    const SIZE: () = ();
}

/// A member of an anonymous set whose size is known only at run time: for axes that nobody named.
///
/// All `Dyn` axes are of one type, so nothing keeps two of them apart; prefer `#[derive(IndexSet)]`
/// on a struct of one `usize` where an axis has a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Dyn(pub usize);

// SAFETY: the number is the ordinal and compared with the length before it is given out.
unsafe impl IndexSet for Dyn {
    type Size = usize;
    const RANK: usize = 1;

    #[inline(always)]
    fn checked_len(size: usize) -> Option<usize> {
        (size <= MAX_LEN).then_some(size)
    }

    #[inline(always)]
    fn checked_ordinal(self, extent: Extent<Self>) -> Option<usize> {
        (self.0 < extent.size()).then_some(self.0)
    }

    #[inline(always)]
    unsafe fn from_ordinal_unchecked(ordinal: usize, extent: Extent<Self>) -> Self {
        debug_assert!(ordinal < extent.size());
        Dyn(ordinal)
    }

    fn axes(extent: Extent<Self>, axes: &mut Vec<usize>) {
        axes.push(extent.size());
    }

    fn size_from_axes(axes: &mut Axes<'_>) -> Result<usize, Error> {
        Ok(axes.take())
    }

    fn size_of_parts(sizes: &mut Axes<'_>) -> usize {
        sizes.take()
    }

    fn fmt_size(size: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{size}")
    }

    crate::__stored_as_ordinals!();
}

impl From<usize> for Extent<Dyn> {
    /// Panics if that is more than `isize::MAX`, as [`Extent::new`] does.
    #[track_caller]
    fn from(size: usize) -> Self {
        Extent::new(size)
    }
}

impl IntoExtent<Dyn> for usize {
    /// Panics if that is more than `isize::MAX`, as [`Extent::new`] does.
    #[track_caller]
    fn into_extent(self) -> Extent<Dyn> {
        Extent::new(self)
    }
}

// SAFETY: `false` is 0 and `true` is 1, of 2.
unsafe impl IndexSet for bool {
    type Size = ();
    const RANK: usize = 1;

    #[inline(always)]
    fn checked_len((): ()) -> Option<usize> {
        Some(2)
    }

    #[inline(always)]
    fn checked_ordinal(self, _: Extent<Self>) -> Option<usize> {
        Some(usize::from(self))
    }

    #[inline(always)]
    unsafe fn from_ordinal_unchecked(ordinal: usize, _: Extent<Self>) -> Self {
        debug_assert!(ordinal < 2);
        ordinal != 0
    }

    fn axes(_: Extent<Self>, axes: &mut Vec<usize>) {
        axes.push(2);
    }

    fn size_from_axes(axes: &mut Axes<'_>) -> Result<(), Error> {
        axes.take_exactly::<Self>(2)
    }

    fn size_of_parts(_: &mut Axes<'_>) {}

    fn fmt_size((): (), f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("2")
    }

    fn target((): ()) -> Extent<bool> {
        Extent::new(())
    }

    fn ordinals(stored: &[bool]) -> Cow<'_, [usize]> {
        Cow::Owned(stored.iter().map(|&b| usize::from(b)).collect())
    }

    fn store(ordinals: Buf<usize>, _: Extent<bool>) -> (Buf<bool>, ()) {
        (
            Buf::from_vec(ordinals.iter().map(|&k| k != 0).collect()),
            (),
        )
    }
}

impl StaticSet for bool {
    const SIZE: () = ();
}

// SAFETY: one member, number 0, and no axis: the empty product is 1.
unsafe impl IndexSet for () {
    type Size = ();
    const RANK: usize = 0;

    #[inline(always)]
    fn checked_len((): ()) -> Option<usize> {
        Some(1)
    }

    #[inline(always)]
    fn checked_ordinal(self, _: Extent<Self>) -> Option<usize> {
        Some(0)
    }

    #[inline(always)]
    unsafe fn from_ordinal_unchecked(ordinal: usize, _: Extent<Self>) -> Self {
        debug_assert!(ordinal == 0);
    }

    fn axes(_: Extent<Self>, _: &mut Vec<usize>) {}

    fn size_from_axes(_: &mut Axes<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn size_of_parts(_: &mut Axes<'_>) {}

    fn fmt_size((): (), f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("1")
    }

    crate::__stored_as_ordinals!();
}

impl StaticSet for () {
    const SIZE: () = ();
}
