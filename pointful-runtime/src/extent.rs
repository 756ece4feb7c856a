//! How large an index set is.

use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;

use crate::error::Error;
use crate::index_set::{Compound, IndexSet, SetName, StaticSet};

/// How large the index set `I` is: a size whose number of members is known to fit in memory.
///
/// The extent of a static set is a zero-sized value, that of a dynamic set one `usize`, that of a
/// product the sizes of its parts. Two extents are equal when their sizes are, so `(2, 3)` and
/// `(3, 2)` are not.
///
/// ```
/// use pointful_runtime::{Dyn, Extent, Fin};
/// let grid = Extent::<(Dyn, Fin<3>)>::new((4, ()));
/// assert_eq!(grid.len(), 12);
/// assert_eq!(grid.to_string(), "(4, 3)");
/// ```
pub struct Extent<I: IndexSet> {
    size: I::Size,
}

impl<I: IndexSet> Extent<I> {
    /// The extent of the given size.
    ///
    /// # Panics
    /// If the set would have more than `isize::MAX` members, as [`Extent::try_new`] tells in words.
    #[track_caller]
    pub fn new(size: I::Size) -> Self {
        Self::try_new(size).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The extent of the given size, or [`Error::Overflow`] if the set would have more than
    /// `isize::MAX` members.
    ///
    /// A product's length is judged by its non-empty parts, so that a product of few members never
    /// hides a stride that overflows.
    pub fn try_new(size: I::Size) -> Result<Self, Error> {
        match I::checked_len(size) {
            Some(_) => Ok(Extent { size }),
            None => Err(Error::Overflow {
                set: SetName::<I>::new().to_string(),
                size: SizeText::<I>(size).to_string(),
            }),
        }
    }

    /// The extent of a size already known to be that of one.
    ///
    /// # Safety
    /// `I::checked_len(size)` is not `None`.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn new_unchecked(size: I::Size) -> Self {
        debug_assert!(I::checked_len(size).is_some());
        Extent { size }
    }

    /// How many members the set has.
    #[inline(always)]
    pub fn len(self) -> usize {
        match I::checked_len(self.size) {
            Some(len) => len,
            // SAFETY: an extent is only made of a size whose length is not `None`, and the length of a size is
            // always the same (the contract of `IndexSet`).
            None => unsafe { std::hint::unreachable_unchecked() },
        }
    }

    /// Whether the set has no members.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The size this extent was made of.
    #[inline(always)]
    pub fn size(self) -> I::Size {
        self.size
    }

    /// All members, in order.
    pub fn iter(self) -> Members<I> {
        Members {
            extent: self,
            front: 0,
            back: self.len(),
        }
    }

    /// The lengths of the axes, outermost first: one for each factor of a product, none for `()`.
    pub fn axes(self) -> Vec<usize> {
        let mut axes = Vec::with_capacity(I::RANK);
        I::axes(self, &mut axes);
        axes
    }
}

impl<I: Compound> Extent<I> {
    /// The extents of the parts of a product or of an [`Either`](crate::Either).
    #[inline(always)]
    pub fn split(self) -> I::Parts {
        I::split(self)
    }

    /// The extent of the set that has these parts.
    ///
    /// # Panics
    /// If it would have more than `isize::MAX` members.
    #[track_caller]
    pub fn join(parts: I::Parts) -> Self {
        Self::try_join(parts).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The extent of the set that has these parts, or [`Error::Overflow`].
    pub fn try_join(parts: I::Parts) -> Result<Self, Error> {
        Self::try_new(I::join_sizes(parts))
    }
}

impl<I: IndexSet> Clone for Extent<I> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<I: IndexSet> Copy for Extent<I> {}

impl<I: IndexSet> PartialEq for Extent<I> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.size == other.size
    }
}

impl<I: IndexSet> Eq for Extent<I> {}

impl<I: StaticSet> Default for Extent<I> {
    /// The one extent that a static set has.
    fn default() -> Self {
        Extent::new(I::SIZE)
    }
}

/// What says how large the index set `I` is: its [`Extent`], the length of a [`Dyn`] axis, `()` for a
/// static set, and of a product a tuple of these.
///
/// ```
/// use pointful_runtime::{Dyn, Fin, Table};
/// let t = Table::<(Dyn, Fin<2>), f64>::zeros((3, ()));
/// assert_eq!(t.len(), 6);
/// ```
///
/// [`Dyn`]: crate::Dyn
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no extent of the index set `{I}`",
    label = "no extent of `{I}`",
    note = "a number is the length of a `Dyn` axis only, and `()` stands for a static set; a set with a name and a length takes `Extent::new(n)`"
)]
pub trait IntoExtent<I: IndexSet> {
    /// The extent.
    fn into_extent(self) -> Extent<I>;
}

impl<I: IndexSet> IntoExtent<I> for Extent<I> {
    fn into_extent(self) -> Extent<I> {
        self
    }
}

impl<I: StaticSet> IntoExtent<I> for () {
    fn into_extent(self) -> Extent<I> {
        Extent::default()
    }
}

impl<I: StaticSet> From<()> for Extent<I> {
    /// The one extent that a static set has: what `()` stands for in a size.
    fn from((): ()) -> Self {
        Extent::default()
    }
}

impl<I: IndexSet> fmt::Display for Extent<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        I::fmt_size(self.size, f)
    }
}

impl<I: IndexSet> fmt::Debug for Extent<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Extent<{}>[{}]", SetName::<I>::new(), self)
    }
}

impl<I: IndexSet> IntoIterator for Extent<I> {
    type Item = I;
    type IntoIter = Members<I>;

    fn into_iter(self) -> Members<I> {
        self.iter()
    }
}

/// A size in words, whether or not it is the size of an extent.
struct SizeText<I: IndexSet>(I::Size);

impl<I: IndexSet> fmt::Display for SizeText<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        I::fmt_size(self.0, f)
    }
}

/// The members of an index set in order; see [`Extent::iter`].
#[derive(Clone, Debug)]
pub struct Members<I: IndexSet> {
    extent: Extent<I>,
    front: usize,
    back: usize,
}

impl<I: IndexSet> Members<I> {
    /// The member with this ordinal, which lies in what is left of `front..back`.
    fn member(&self, ordinal: usize) -> I {
        // SAFETY: `front <= ordinal < back <= extent.len()`: both ends only ever move towards each other.
        unsafe { I::from_ordinal_unchecked(ordinal, self.extent) }
    }
}

impl<I: IndexSet> Iterator for Members<I> {
    type Item = I;

    #[inline]
    fn next(&mut self) -> Option<I> {
        (self.front < self.back).then(|| {
            let ordinal = self.front;
            self.front += 1;
            self.member(ordinal)
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.back - self.front;
        (left, Some(left))
    }

    fn nth(&mut self, n: usize) -> Option<I> {
        self.front = self.front.saturating_add(n).min(self.back);
        self.next()
    }
}

impl<I: IndexSet> DoubleEndedIterator for Members<I> {
    #[inline]
    fn next_back(&mut self) -> Option<I> {
        (self.front < self.back).then(|| {
            self.back -= 1;
            self.member(self.back)
        })
    }
}

impl<I: IndexSet> ExactSizeIterator for Members<I> {}
impl<I: IndexSet> FusedIterator for Members<I> {}

/// Marks that a type speaks of the set `I` without holding a member.
pub(crate) type OfSet<I> = PhantomData<fn() -> I>;
