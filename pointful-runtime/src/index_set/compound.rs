//! Products and disjoint unions.

use std::fmt;

use super::basic::MAX_LEN;
use super::{Axes, IndexSet, SetName, StaticSet};
use crate::error::Error;
use crate::extent::{Extent, IntoExtent};

/// An index set made of others: a tuple, an [`Either`], a derived struct with named parts.
pub trait Compound: IndexSet {
    /// The extents of the parts.
    type Parts: Copy;

    /// The extents of the parts of a set of this extent.
    fn split(extent: Extent<Self>) -> Self::Parts;

    /// The size of the set with these parts.
    fn join_sizes(parts: Self::Parts) -> Self::Size;
}

/// A tuple of index sets, as a table of rows: its first factor numbers the rows, the others are a
/// row's index set.
///
/// A tuple of two has its second as the row's set, a tuple of more has the tuple of all but the
/// first.
pub trait Product: Compound {
    /// The set that numbers the rows.
    type Head: IndexSet;
    /// The index set of a row.
    type Tail: IndexSet;

    /// The extents of both.
    fn split_head(extent: Extent<Self>) -> (Extent<Self::Head>, Extent<Self::Tail>);

    /// The member in the given row with the given place within it.
    fn cons(head: Self::Head, tail: Self::Tail) -> Self;
}

/// The length of a product: that of its non-empty factors must fit even when another factor is
/// empty, so that every stride within it fits as well.
#[inline(always)]
fn product_len<const N: usize>(factors: [Option<usize>; N]) -> Option<usize> {
    let mut nonempty = 1_usize;
    let mut empty = false;
    for factor in factors {
        match factor? {
            0 => empty = true,
            len => nonempty = nonempty.checked_mul(len)?,
        }
    }
    if nonempty > MAX_LEN {
        return None;
    }
    Some(if empty { 0 } else { nonempty })
}

macro_rules! product {
    ($($Set:ident $Part:ident $index:tt),+; head $Head:ident; tail $Tail:ty, $first:ident, [$($rest:ident),+]) => {
        // SAFETY: row-major order by Horner's rule over parts that keep this contract themselves: each ordinal is
        // below its part's length, so the sum is below the product of all. The axes are the parts' own.
        unsafe impl<$($Set: IndexSet),+> IndexSet for ($($Set,)+) {
            type Size = ($($Set::Size,)+);
            const RANK: usize = 0 $(+ $Set::RANK)+;

            #[inline(always)]
            fn checked_len(size: Self::Size) -> Option<usize> {
                product_len([$($Set::checked_len(size.$index)),+])
            }

            #[inline(always)]
            fn checked_ordinal(self, extent: Extent<Self>) -> Option<usize> {
                let parts = extent.split();
                let mut ordinal = 0;
                $(ordinal = ordinal * parts.$index.len() + self.$index.checked_ordinal(parts.$index)?;)+
                Some(ordinal)
            }

            #[inline(always)]
            #[allow(non_snake_case, reason = "each part is called after its type parameter")]
            unsafe fn from_ordinal_unchecked(ordinal: usize, extent: Extent<Self>) -> Self {
                debug_assert!(ordinal < extent.len());
                let parts = extent.split();
                product!(@digits ordinal, parts, [$($Set $index),+]);
                ($($Set,)+)
            }

            fn axes(extent: Extent<Self>, axes: &mut Vec<usize>) {
                let parts = extent.split();
                $($Set::axes(parts.$index, axes);)+
            }

            fn size_from_axes(axes: &mut Axes<'_>) -> Result<Self::Size, Error> {
                Ok(($($Set::size_from_axes(axes)?,)+))
            }

            fn size_of_parts(sizes: &mut Axes<'_>) -> Self::Size {
                ($($Set::size_of_parts(sizes),)+)
            }

            fn fmt_size(size: Self::Size, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("(")?;
                $(
                    if $index > 0 {
                        f.write_str(", ")?;
                    }
                    $Set::fmt_size(size.$index, f)?;
                )+
                f.write_str(")")
            }

            crate::__stored_as_ordinals!();
        }

        impl<$($Set: StaticSet),+> StaticSet for ($($Set,)+) {
            const SIZE: Self::Size = ($($Set::SIZE,)+);
        }

        impl<$($Set: IndexSet),+> Compound for ($($Set,)+) {
            type Parts = ($(Extent<$Set>,)+);

            #[inline(always)]
            fn split(extent: Extent<Self>) -> Self::Parts {
                let size = extent.size();
                // SAFETY: the length of a product is `None` if that of any of its parts is, and this one's is not.
                unsafe { ($(Extent::<$Set>::new_unchecked(size.$index),)+) }
            }

            #[inline(always)]
            fn join_sizes(parts: Self::Parts) -> Self::Size {
                ($(parts.$index.size(),)+)
            }
        }

        impl<$($Set: IndexSet),+> Product for ($($Set,)+) {
            type Head = $Head;
            type Tail = $Tail;

            #[inline(always)]
            #[allow(non_snake_case, reason = "each part is called after its type parameter")]
            fn split_head(extent: Extent<Self>) -> (Extent<$Head>, Extent<$Tail>) {
                let ($($Set,)+) = extent.split();
                let tail = product!(@tail_size $($rest),+);
                // SAFETY: the factors of the tail are factors of a product that fits, and the product of its
                // non-empty factors is what was compared.
                ($first, unsafe { Extent::<$Tail>::new_unchecked(tail) })
            }

            #[inline(always)]
            #[allow(non_snake_case, reason = "each part is called after its type parameter")]
            fn cons($first: $Head, tail: $Tail) -> Self {
                product!(@tail_bind tail, $($rest),+);
                ($first, $($rest),+)
            }
        }

        impl<$($Set: IndexSet, $Part: IntoExtent<$Set>),+> IntoExtent<($($Set,)+)> for ($($Part,)+) {
            /// Panics if the product has more members than fit, as [`Extent::join`] does.
            #[track_caller]
            fn into_extent(self) -> Extent<($($Set,)+)> {
                Extent::join(($(self.$index.into_extent(),)+))
            }
        }

        impl<$($Set: IndexSet, $Part: Into<Extent<$Set>>),+> From<($($Part,)+)> for Extent<($($Set,)+)> {
            /// Panics if the product has more members than fit, as [`Extent::join`] does.
            #[track_caller]
            fn from(parts: ($($Part,)+)) -> Self {
                Extent::join(($(parts.$index.into(),)+))
            }
        }
    };

    // The digits of an ordinal, last part first: each is divided off, and what is left belongs to those before it.
    (@digits $ordinal:ident, $parts:ident, [$Set:ident $index:tt]) => {
        // SAFETY: what is left of an ordinal below the product, divided by all other lengths, is below this one.
        let $Set = unsafe { $Set::from_ordinal_unchecked($ordinal, $parts.$index) };
    };
    (@digits $ordinal:ident, $parts:ident, [$Set:ident $index:tt, $($More:ident $more:tt),+]) => {
        let after: usize = 1 $(* $parts.$more.len())+;
        let digit = $ordinal / after;
        let rest = $ordinal % after;
        // SAFETY: an ordinal below the product of all lengths, divided by that of the later ones (which are not
        // zero, or there were no ordinal), is below this one.
        let $Set = unsafe { $Set::from_ordinal_unchecked(digit, $parts.$index) };
        product!(@digits rest, $parts, [$($More $more),+]);
    };

    (@tail_size $one:ident) => { $one.size() };
    (@tail_size $($many:ident),+) => { ($($many.size(),)+) };
    (@tail_bind $tail:ident, $one:ident) => { let $one = $tail; };
    (@tail_bind $tail:ident, $($many:ident),+) => { let ($($many,)+) = $tail; };
}

product!(A PartA 0, B PartB 1; head A; tail B, A, [B]);
product!(A PartA 0, B PartB 1, C PartC 2; head A; tail (B, C), A, [B, C]);
product!(A PartA 0, B PartB 1, C PartC 2, D PartD 3; head A; tail (B, C, D), A, [B, C, D]);
product!(A PartA 0, B PartB 1, C PartC 2, D PartD 3, E PartE 4; head A; tail (B, C, D, E), A, [B, C, D, E]);
product!(A PartA 0, B PartB 1, C PartC 2, D PartD 3, E PartE 4, F PartF 5; head A; tail (B, C, D, E, F), A, [B, C, D, E, F]);

/// A member of the disjoint union of two index sets: all of `A`, then all of `B`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Either<A, B> {
    /// A member of the first set.
    Left(A),
    /// A member of the second set.
    Right(B),
}

// SAFETY: ordinals of `A` first, then those of `B` moved up by the length of `A`; one axis as long as both.
unsafe impl<A: IndexSet, B: IndexSet> IndexSet for Either<A, B> {
    type Size = (A::Size, B::Size);
    const RANK: usize = 1;

    #[inline(always)]
    fn checked_len((a, b): Self::Size) -> Option<usize> {
        let len = A::checked_len(a)?.checked_add(B::checked_len(b)?)?;
        (len <= MAX_LEN).then_some(len)
    }

    #[inline(always)]
    fn checked_ordinal(self, extent: Extent<Self>) -> Option<usize> {
        let (a, b) = extent.split();
        match self {
            Either::Left(member) => member.checked_ordinal(a),
            Either::Right(member) => Some(a.len() + member.checked_ordinal(b)?),
        }
    }

    #[inline(always)]
    unsafe fn from_ordinal_unchecked(ordinal: usize, extent: Extent<Self>) -> Self {
        let (a, b) = extent.split();
        match ordinal.checked_sub(a.len()) {
            // SAFETY: the subtraction fails exactly for ordinals below the length of `A`.
            None => Either::Left(unsafe { A::from_ordinal_unchecked(ordinal, a) }),
            // SAFETY: an ordinal below the length of both, less that of `A`, is below that of `B`.
            Some(rest) => Either::Right(unsafe { B::from_ordinal_unchecked(rest, b) }),
        }
    }

    fn axes(extent: Extent<Self>, axes: &mut Vec<usize>) {
        axes.push(extent.len());
    }

    fn size_from_axes(_: &mut Axes<'_>) -> Result<Self::Size, Error> {
        Err(Error::Undetermined {
            set: SetName::<Self>::new().to_string(),
        })
    }

    fn size_of_parts(sizes: &mut Axes<'_>) -> Self::Size {
        (A::size_of_parts(sizes), B::size_of_parts(sizes))
    }

    fn fmt_size((a, b): Self::Size, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        A::fmt_size(a, f)?;
        f.write_str(" + ")?;
        B::fmt_size(b, f)
    }

    crate::__stored_as_ordinals!();
}

impl<A: StaticSet, B: StaticSet> StaticSet for Either<A, B> {
    const SIZE: Self::Size = (A::SIZE, B::SIZE);
}

impl<A: IndexSet, B: IndexSet> Compound for Either<A, B> {
    type Parts = (Extent<A>, Extent<B>);

    #[inline(always)]
    fn split(extent: Extent<Self>) -> Self::Parts {
        let (a, b) = extent.size();
        // SAFETY: the length of a union is `None` if that of either part is, and this one's is not.
        unsafe { (Extent::new_unchecked(a), Extent::new_unchecked(b)) }
    }

    #[inline(always)]
    fn join_sizes((a, b): Self::Parts) -> Self::Size {
        (a.size(), b.size())
    }
}
