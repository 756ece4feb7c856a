//! Where an element is: a member of the table's set, or plain numbers along `Dyn` axes.

use super::{Dyn, IndexSet, not_a_member};
use crate::error::Error;
use crate::extent::Extent;

/// What a table over `I` can be indexed with in plain Rust: a member of `I`, and for [`Dyn`] axes
/// plain numbers, one for each axis, as a tuple or an array.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no place in a table over `{I}`",
    note = "numbers are places along `Dyn` axes, `t[(1, 2)]`; elsewhere an index is a member of the set, `Fin::new(2)`"
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

impl Place<Dyn> for usize {
    #[inline(always)]
    fn checked_position(self, extent: Extent<Dyn>) -> Option<usize> {
        Dyn(self).checked_ordinal(extent)
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn refuse(self, extent: Extent<Dyn>) -> ! {
        out_of_range("an axis", self, extent.len())
    }
}

/// Numbers along `Dyn` axes, as a tuple and as an array.
macro_rules! numbers {
    ($($number:ident $Axis:ident $axis:tt),+; $rank:literal) => {
        impl Place<($($Axis,)+)> for ($(numbers!(@number $Axis),)+) {
            #[inline(always)]
            fn checked_position(self, extent: Extent<($($Axis,)+)>) -> Option<usize> {
                ($(Dyn(self.$axis),)+).checked_ordinal(extent)
            }

            #[cold]
            #[inline(never)]
            #[track_caller]
            fn refuse(self, extent: Extent<($($Axis,)+)>) -> ! {
                let sizes = extent.size();
                $(
                    if self.$axis >= sizes.$axis {
                        out_of_range(concat!("axis ", $axis), self.$axis, sizes.$axis)
                    }
                )+
                not_a_member(extent)
            }
        }

        impl Place<($($Axis,)+)> for [usize; $rank] {
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

numbers!(a Dyn 0, b Dyn 1; 2);
numbers!(a Dyn 0, b Dyn 1, c Dyn 2; 3);
numbers!(a Dyn 0, b Dyn 1, c Dyn 2, d Dyn 3; 4);
numbers!(a Dyn 0, b Dyn 1, c Dyn 2, d Dyn 3, e Dyn 4; 5);
numbers!(a Dyn 0, b Dyn 1, c Dyn 2, d Dyn 3, e Dyn 4, f Dyn 5; 6);

#[track_caller]
fn out_of_range(what: &str, index: usize, len: usize) -> ! {
    let error = Error::IndexOutOfRange {
        what: what.to_owned(),
        index: i64::try_from(index).unwrap_or(i64::MAX),
        len,
    };
    panic!("{error}")
}
