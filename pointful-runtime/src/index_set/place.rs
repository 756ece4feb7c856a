//! Where an element is: a member of the table's set, or plain numbers along axes without a name.

use super::{Dyn, Fin, IndexSet, not_a_member};
use crate::error::Error;
use crate::extent::Extent;

/// What a table over `I` can be indexed with in plain Rust: a member of `I`, and along [`Dyn`] and
/// [`Fin`] axes plain numbers, one for each axis, as a tuple or an array.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no place in a table over `{I}`",
    note = "numbers are places along `Dyn` and `Fin` axes, `t[(1, 2)]`; elsewhere an index is a member of the set, `Row(2)`"
)]
pub trait Place<I: IndexSet>: Copy {
    /// The number of the element, in row-major order, or `None` if there is none.
    fn checked_position(self, extent: Extent<I>) -> Option<usize>;

    /// Panics: there is no such element.
    #[doc(hidden)]
    #[track_caller]
    fn refuse(self, extent: Extent<I>) -> !;

    /// The number of the element, in row-major order.
    ///
    /// # Panics
    /// If there is none.
    #[inline(always)]
    #[track_caller]
    fn position(self, extent: Extent<I>) -> usize {
        match self.checked_position(extent) {
            Some(position) => position,
            None => self.refuse(extent),
        }
    }
}

impl<I: IndexSet> Place<I> for I {
    #[inline(always)]
    fn checked_position(self, extent: Extent<I>) -> Option<usize> {
        self.checked_ordinal(extent)
    }

    #[track_caller]
    fn refuse(self, extent: Extent<I>) -> ! {
        not_a_member(extent)
    }
}

/// A set without a name of its own, along whose axis a plain number is a place.
#[diagnostic::on_unimplemented(
    message = "a number is no place along an axis of `{Self}`",
    note = "numbers are places along `Dyn` and `Fin` axes; elsewhere an index is a member of the set, `Row(2)`"
)]
pub trait Unnamed: IndexSet {}

impl Unnamed for Dyn {}

impl<const N: usize> Unnamed for Fin<N> {}

impl<I: Unnamed> Place<I> for usize {
    #[inline(always)]
    fn checked_position(self, extent: Extent<I>) -> Option<usize> {
        (self < extent.len()).then_some(self)
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn refuse(self, extent: Extent<I>) -> ! {
        out_of_range("an axis", self, extent.len())
    }
}

/// Numbers along axes without a name, as a tuple and as an array.
macro_rules! numbers {
    ($($number:ident $Axis:ident $axis:tt),+; $rank:literal) => {
        impl<$($Axis: Unnamed),+> Place<($($Axis,)+)> for ($(numbers!(@number $Axis),)+) {
            #[inline(always)]
            fn checked_position(self, extent: Extent<($($Axis,)+)>) -> Option<usize> {
                let axes = extent.split();
                let mut position = 0;
                $(position = position * axes.$axis.len() + self.$axis.checked_position(axes.$axis)?;)+
                Some(position)
            }

            #[cold]
            #[inline(never)]
            #[track_caller]
            fn refuse(self, extent: Extent<($($Axis,)+)>) -> ! {
                let axes = extent.split();
                $(
                    if self.$axis >= axes.$axis.len() {
                        out_of_range(concat!("axis ", $axis), self.$axis, axes.$axis.len())
                    }
                )+
                not_a_member(extent)
            }
        }

        impl<$($Axis: Unnamed),+> Place<($($Axis,)+)> for [usize; $rank] {
            #[inline(always)]
            fn checked_position(self, extent: Extent<($($Axis,)+)>) -> Option<usize> {
                let [$($number),+] = self;
                ($($number,)+).checked_position(extent)
            }

            #[track_caller]
            fn refuse(self, extent: Extent<($($Axis,)+)>) -> ! {
                let [$($number),+] = self;
                ($($number,)+).refuse(extent)
            }
        }
    };
    (@number $Axis:ident) => { usize };
}

numbers!(a A 0, b B 1; 2);
numbers!(a A 0, b B 1, c C 2; 3);
numbers!(a A 0, b B 1, c C 2, d D 3; 4);
numbers!(a A 0, b B 1, c C 2, d D 3, e E 4; 5);
numbers!(a A 0, b B 1, c C 2, d D 3, e E 4, f F 5; 6);

#[track_caller]
fn out_of_range(what: &str, index: usize, len: usize) -> ! {
    let error = Error::IndexOutOfRange {
        what: what.to_owned(),
        index: i64::try_from(index).unwrap_or(i64::MAX),
        len,
    };
    panic!("{error}")
}
