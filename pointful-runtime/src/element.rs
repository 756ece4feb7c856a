//! What a table may hold.

use std::fmt::{Debug, Display};

use crate::extent::Extent;
use crate::index_set::{Dyn, Either, Fin, IndexSet};

/// What a table may hold: numbers, booleans, and members of index sets.
///
/// A table stores an element as plain data, its `Repr`, together with one `Meta` for the whole
/// table. Numbers and booleans are their own representation and need no more. A member of an index
/// set is stored as its ordinal, and the table keeps the extent of the set, in which every one of
/// its elements was found when the table was made.
///
/// # Safety
/// `from_repr` undoes `to_repr`, which gives `None` for a value that does not fit `Meta`, and
/// `is_valid` tells which stored forms `to_repr` could have made. Where `Meta` is an extent, a
/// `Repr` is an ordinal in it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of a table",
    note = "elements are `f32`, `f64`, the integers of up to 64 bits, `bool` and members of index sets"
)]
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// How an element is stored.
    type Repr: Copy + PartialEq + Debug + Display + Send + Sync + 'static;
    /// What all elements of a table have in common.
    type Meta: Copy + Eq + Debug + Send + Sync + 'static;

    /// The stored form; `None` if the value does not belong to a table with this `meta`.
    fn to_repr(self, meta: Self::Meta) -> Option<Self::Repr>;

    /// Whether a stored form from elsewhere, as from a file, is one that `to_repr` could have made.
    fn is_valid(repr: Self::Repr, meta: Self::Meta) -> bool;

    /// The value of a stored form.
    ///
    /// # Safety
    /// `repr` was made by `to_repr` with the same `meta`, or is what that could have made.
    unsafe fn from_repr(repr: Self::Repr, meta: Self::Meta) -> Self;
}

/// An element that is stored as it is: a number or a `bool`.
pub trait Plain: Element<Repr = Self, Meta = ()> + PartialEq + Debug + Display {}

impl<T: Element<Repr = T, Meta = ()> + PartialEq + Debug + Display> Plain for T {}

macro_rules! plain {
    ($($T:ty)*) => {$(
        // SAFETY: both directions are the identity.
        unsafe impl Element for $T {
            type Repr = $T;
            type Meta = ();

            #[inline(always)]
            fn to_repr(self, (): ()) -> Option<$T> {
                Some(self)
            }

            #[inline(always)]
            fn is_valid(_: $T, (): ()) -> bool {
                true
            }

            #[inline(always)]
            unsafe fn from_repr(repr: $T, (): ()) -> $T {
                repr
            }
        }
    )*};
}

plain!(f32 f64 i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool);

/// Implements [`Element`] for an index set; `bool` is left out, which is an element of its own.
macro_rules! index_element {
    ($([$($generics:tt)*] $Set:ty;)*) => {$(
        // SAFETY: an ordinal is checked against the extent, and `from_ordinal_unchecked` undoes it.
        unsafe impl<$($generics)*> Element for $Set {
            type Repr = usize;
            type Meta = Extent<$Set>;

            #[inline(always)]
            fn to_repr(self, meta: Extent<$Set>) -> Option<usize> {
                self.checked_ordinal(meta)
            }

            #[inline(always)]
            fn is_valid(repr: usize, meta: Extent<$Set>) -> bool {
                repr < meta.len()
            }

            #[inline(always)]
            unsafe fn from_repr(repr: usize, meta: Extent<$Set>) -> $Set {
                // SAFETY: the caller's `repr` is an ordinal in `meta`.
                unsafe { <$Set>::from_ordinal_unchecked(repr, meta) }
            }
        }
    )*};
}

index_element! {
    [] Dyn;
    [] ();
    [const N: usize] Fin<N>;
    [A: IndexSet, B: IndexSet] Either<A, B>;
    [A: IndexSet, B: IndexSet] (A, B);
    [A: IndexSet, B: IndexSet, C: IndexSet] (A, B, C);
    [A: IndexSet, B: IndexSet, C: IndexSet, D: IndexSet] (A, B, C, D);
    [A: IndexSet, B: IndexSet, C: IndexSet, D: IndexSet, E: IndexSet] (A, B, C, D, E);
    [A: IndexSet, B: IndexSet, C: IndexSet, D: IndexSet, E: IndexSet, F: IndexSet] (A, B, C, D, E, F);
}
