//! The contract with generated code.
//!
//! A generated kernel is a struct that holds its inputs as slices, its extents as numbers and its
//! outputs as [`Out`] views; it implements [`Kernel`], and [`launch`] runs it. Everything a kernel
//! body calls is here as well: unchecked reads, indices with a policy at the edge, arithmetic with
//! the language's rules, checks at entry.
//!
//! ```
//! use pointful_runtime::kernel::{get, launch, Kernel, Out, OutBuf, Work};
//! use std::ops::Range;
//!
//! struct Doubled<'a> { x: &'a [f64], y: Out<f64> }
//!
//! impl Kernel for Doubled<'_> {
//!     type Acc = f64;
//!     fn identity(&self) -> f64 { 0.0 }
//!     #[inline(always)]
//!     fn run(&self, range: Range<usize>, sum: &mut f64) {
//!         for i in range {
//!             // SAFETY: `i` is below the number of points, which both buffers have; pieces do not overlap.
//!             unsafe {
//!                 let value = 2.0 * get(self.x, i);
//!                 self.y.write(i, value);
//!                 *sum += value;
//!             }
//!         }
//!     }
//!     fn merge(&self, earlier: &mut f64, later: f64) { *earlier += later; }
//! }
//!
//! let x = [1.0, 2.0, 3.0];
//! let mut y = OutBuf::new(3);
//! let sum = launch(3, Work { per_point: 2, acc_bytes: 8 }, &Doubled { x: &x, y: y.out() });
//! // SAFETY: the launch has written every element.
//! let y = unsafe { y.assume_init() };
//! assert_eq!((sum, &y[..]), (12.0, &[2.0, 4.0, 6.0][..]));
//! ```

use std::fmt::{Arguments, Display};
use std::ops::Range;

pub use crate::buffer::{Buf, Out, OutBuf};
pub use crate::cpu::{
    Along, Factor, Rows, Scatter, ScatterView, Steps, accumulate_steps, contract, contract_absorb,
    contract_absorb_here, contract_here, contract_where, contract_where_here, launch, launch_here,
    launch_steps, multiversion,
};
use crate::element::Element;
use crate::error::Error;
use crate::index_set::{Dyn, IndexSet};
pub use crate::one_of::{OneOf, Variants};
pub use crate::opaque::Opaque;
use crate::ragged::Ragged;
pub use crate::recast::{is, recast, recast_borrowed, recast_buf, recast_slice};
use crate::scalar::Number;
pub use crate::scalar::{
    add, div, div_absorb, div_euclid, masked, max, min, mul, mul_absorb, neg, rem, rem_euclid, sub,
};
pub use crate::stats::{count_operations, reused_in_place};
use crate::table::Table;
pub use crate::transpose::transpose;
pub use pointful_math as math;

/// What the host does one step after the other.
pub trait Sequential {
    /// What it computes, beside what it writes into buffers.
    type Results;

    /// Does it. Implementations are `#[inline(always)]`, to be compiled for each level.
    fn run(&self) -> Self::Results;
}

/// The body of one fused loop nest, to be run over its flattened parallel axes in pieces.
pub trait Kernel: Sync {
    /// What one piece of the work accumulates privately; `()` when the kernel only writes its own
    /// outputs.
    type Acc: Send + Sync;

    /// How many points the body runs together where there are as many: pieces of the work are
    /// multiples of it.
    const TOGETHER: usize = 1;

    /// How many points a strip of the body has, of which those that are left over go one by one:
    /// pieces of the work that are as long are multiples of it.
    const STRIP: usize = 1;

    /// Identity accumulators for one piece.
    fn identity(&self) -> Self::Acc;

    /// Runs the points `range` of the flattened parallel axes; `acc` is what
    /// [`identity`](Self::identity) has given.
    ///
    /// Implementations are `#[inline(always)]`, so that the body is compiled once for each level of
    /// CPU features.
    fn run(&self, range: Range<usize>, acc: &mut Self::Acc);

    /// Appends a later piece's accumulator to an earlier one's.
    ///
    /// Pieces are merged in order, so an operator need not commute.
    fn merge(&self, earlier: &mut Self::Acc, later: Self::Acc);

    /// Whether all tables in an accumulator are combined into at the place of a point's column,
    /// along their last axis: pieces that are columns need no tables of their own.
    const BY_COLUMNS: bool = false;

    /// How many points a row has, of a kernel [by columns](Self::BY_COLUMNS).
    fn columns(&self) -> usize {
        0
    }

    /// Runs the points in some columns of the first `rows` rows; `shared`: `acc` is what
    /// [`shared`](Self::shared) has given for these columns.
    #[inline(always)]
    fn run_columns(&self, rows: usize, columns: Range<usize>, shared: bool, acc: &mut Self::Acc) {
        let _ = shared;
        let length = self.columns();
        for first in (0..rows).map(|row| row * length) {
            self.run(first + columns.start..first + columns.end, acc);
        }
    }

    /// Identity accumulators for a piece that is columns, whose tables are those of `all`.
    ///
    /// # Safety
    /// `all` outlives it and is not looked at while it is there; no other thread runs the same
    /// columns.
    unsafe fn shared(&self, all: &Self::Acc) -> Self::Acc {
        let _ = all;
        self.identity()
    }

    /// As [`merge`](Self::merge), of what pieces that are columns do not share.
    fn merge_columns(&self, earlier: &mut Self::Acc, later: Self::Acc) {
        self.merge(earlier, later);
    }

    /// Bytes of an accumulator that need not be there once for each piece, as they can be
    /// [noted](Self::noting).
    fn scattered_bytes(&self) -> u64 {
        0
    }

    /// Identity accumulators for one piece; those that can note do, as [`Scatter::noting`] says.
    fn noting(&self, most: usize) -> Self::Acc {
        let _ = most;
        self.identity()
    }

    /// Combines into one stretch of each [`Scatter`] what pieces have noted for it.
    ///
    /// # Safety
    /// `all` is what [`noting`](Self::noting) has given for nothing, `noted` what pieces began with
    /// as it gives for something; no other thread settles the same stretch meanwhile.
    unsafe fn settle(&self, all: &Self::Acc, noted: &Self::Acc, stretch: usize) {
        let _ = (all, noted, stretch);
    }
}

/// What is known of a kernel's cost before it runs; together with the number of points it alone
/// decides how the work is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Estimated scalar operations for each point.
    pub per_point: u64,
    /// Bytes of one private accumulator; 0 for `()`.
    pub acc_bytes: u64,
}

impl Work {
    /// Scalar operations of so many points.
    #[inline]
    pub(crate) fn of(self, points: usize) -> u64 {
        (points as u64).saturating_mul(Ord::max(self.per_point, 1))
    }
}

/// One element, without a check in release builds.
///
/// # Safety
/// `index < slice.len()`.
#[inline(always)]
pub unsafe fn get<T: Copy>(slice: &[T], index: usize) -> T {
    debug_assert!(
        index < slice.len(),
        "a read of element {index} of {}",
        slice.len()
    );
    // SAFETY: promised by the caller.
    unsafe { *slice.get_unchecked(index) }
}

/// Lanes in memory where vectors do not lie across the border of two cache lines.
#[repr(align(64))]
struct Aligned<T>(T);

/// Combines the independent accumulators of an unrolled reduction: the second half into the first,
/// then again, as vectors are folded fastest. The order is the same at every level of CPU features.
///
/// Lanes are strided parts of a reduction, so the operator commutes. There is at least one lane.
#[inline(always)]
pub fn fold_lanes<T: Copy, const N: usize>(lanes: [T; N], combine: impl Fn(T, T) -> T) -> T {
    const { assert!(N > 0, "a reduction has at least one lane") }
    // Where the optimiser sees the tree, it groups the lanes in registers as its last steps do, and computes
    // whatever was combined into them in vectors as narrow as that.
    let Aligned(mut lanes) = std::hint::black_box(Aligned(lanes));
    let mut left = N;
    while left > 1 {
        let kept = left.div_ceil(2);
        for lane in 0..left - kept {
            lanes[lane] = combine(lanes[lane], lanes[lane + kept]);
        }
        left = kept;
    }
    lanes[0]
}

/// The best of what lanes have found, and where it was first; a NaN is what a lane says that has
/// found no number.
///
/// Lanes are strided parts of a search. There is at least one. Halves are compared, and nothing is
/// branched on: nobody foresees in which lane the best is.
#[inline(always)]
pub fn first_extremum<T: Copy + PartialOrd, const N: usize>(
    best: [T; N],
    at: [usize; N],
    better: impl Fn(T, T) -> bool,
) -> (T, usize) {
    const { assert!(N > 0, "a search has at least one lane") }
    // As in `fold_lanes`.
    let (Aligned(mut best), Aligned(mut at)) = (
        std::hint::black_box(Aligned(best)),
        std::hint::black_box(Aligned(at)),
    );
    let mut left = N;
    while left > 1 {
        let kept = left.div_ceil(2);
        for lane in 0..left - kept {
            let (value, place) = (best[lane + kept], at[lane + kept]);
            let first = (value == best[lane]) & (place < at[lane]);
            let taken = better(value, best[lane]) | first;
            best[lane] = if taken { value } else { best[lane] };
            at[lane] = if taken { place } else { at[lane] };
        }
        left = kept;
    }
    (best[0], at[0])
}

/// The position that lies `value` steps from the first member, if there is one.
#[inline(always)]
pub fn offset(value: i64, len: usize) -> Option<usize> {
    let position = usize::try_from(value).ok()?;
    (position < len).then_some(position)
}

/// Integers as positions that lie in a set, or do not: what may panic is a method, which panics where
/// it is written.
pub trait Place: Copy {
    /// The position as a signed one. What is beyond becomes negative, and so out of range.
    fn signed(self) -> i64;

    /// The position, checked.
    ///
    /// # Panics
    /// If it is not in `0..len`, naming `what` was indexed and both numbers.
    #[inline(always)]
    #[track_caller]
    fn check_here(self, len: usize, what: &str) -> usize {
        match offset(self.signed(), len) {
            Some(position) => position,
            None => out_of_range(self.signed(), len, what),
        }
    }

    /// The position, counted around the set as often as needed.
    ///
    /// # Panics
    /// If the set is empty, for then there is nothing to count around.
    #[inline(always)]
    #[track_caller]
    fn wrap_here(self, len: usize) -> usize {
        match offset(self.signed(), len) {
            Some(position) => position,
            None => {
                let len = nonempty(len, "wrap");
                self.signed().rem_euclid(len) as usize
            }
        }
    }

    /// The position, or the edge it lies beyond.
    ///
    /// # Panics
    /// If the set is empty, for then it has no edge.
    #[inline(always)]
    #[track_caller]
    fn clamp_here(self, len: usize) -> usize {
        self.signed().clamp(0, nonempty(len, "clamp") - 1) as usize
    }

    /// The position, reflected at the edges, which are not repeated: `-1` is `1`, `len` is
    /// `len - 2`.
    ///
    /// # Panics
    /// If the set is empty, for then it has no edge.
    #[inline(always)]
    #[track_caller]
    fn mirror_here(self, len: usize) -> usize {
        match offset(self.signed(), len) {
            Some(position) => position,
            None => {
                let last = nonempty(len, "mirror") - 1;
                if last == 0 {
                    return 0;
                }
                // There and back again: positions repeat after twice the distance between the edges, which is less than
                // twice the largest `i64` and so computed without a sign.
                let period = 2 * last as u64;
                let there = self.signed().unsigned_abs() % period;
                Ord::min(there, period - there) as usize
            }
        }
    }
}

macro_rules! place {
    ($($T:ty)*) => {$(
        impl Place for $T {
            #[inline(always)]
            fn signed(self) -> i64 {
                self as i64
            }
        }
    )*};
}

place!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

/// Integers that are divided where that is written, by the language's rules.
pub trait Divide: Number {
    /// `self / other`
    ///
    /// # Panics
    /// If `other` is zero, or the quotient is beyond the type.
    #[inline(always)]
    #[track_caller]
    fn div_here(self, other: Self) -> Self {
        self.div(other)
    }

    /// `self % other`
    ///
    /// # Panics
    /// As [`div_here`](Self::div_here).
    #[inline(always)]
    #[track_caller]
    fn rem_here(self, other: Self) -> Self {
        self.rem(other)
    }

    /// As [`i64::div_euclid`].
    ///
    /// # Panics
    /// As [`div_here`](Self::div_here).
    #[inline(always)]
    #[track_caller]
    fn div_euclid_here(self, other: Self) -> Self {
        self.div_euclid(other)
    }

    /// As [`i64::rem_euclid`].
    ///
    /// # Panics
    /// As [`div_here`](Self::div_here).
    #[inline(always)]
    #[track_caller]
    fn rem_euclid_here(self, other: Self) -> Self {
        self.rem_euclid(other)
    }
}

impl<T: Number> Divide for T {}

/// What an assertion does that does not hold.
pub struct Failed;

impl Failed {
    /// Panics with its message.
    ///
    /// # Panics
    /// Always.
    #[cold]
    #[inline(never)]
    #[track_caller]
    pub fn here(self, message: Arguments<'_>) -> ! {
        panic!("{message}")
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn out_of_range(index: i64, len: usize, what: &str) -> ! {
    panic!(
        "{}",
        Error::IndexOutOfRange {
            what: what.to_owned(),
            index,
            len
        }
    )
}

/// The index nearest to a position, however far away that is.
#[inline(always)]
pub fn nearest(position: i128) -> usize {
    position.clamp(0, usize::MAX as i128) as usize
}

#[inline(always)]
#[track_caller]
fn nonempty(len: usize, what: &str) -> i64 {
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn empty(what: &str) -> ! {
        panic!("`{what}` has no member to give: the index set is empty")
    }
    if len == 0 {
        empty(what);
    }
    len as i64
}

/// Checks at entry that two parameters agree on the size of an index set they share.
///
/// The sizes are `usize` or [`Extent`](crate::Extent): anything that compares and prints. A set
/// that is bound to a product is compared by extent, because `(2, 3)` is not `(3, 2)`.
///
/// # Errors
/// [`Error::ExtentMismatch`] if they do not.
#[inline(always)]
pub fn compare_extents<E: Copy + PartialEq + Display>(
    function: &'static str,
    set: &'static str,
    left: (&'static str, E),
    right: (&'static str, E),
) -> Result<(), Error> {
    #[cold]
    #[inline(never)]
    fn mismatch<E: Display>(
        function: &'static str,
        set: &'static str,
        (left, left_size): (&'static str, E),
        (right, right_size): (&'static str, E),
    ) -> Error {
        let (left_size, right_size) = (left_size.to_string(), right_size.to_string());
        Error::ExtentMismatch {
            function,
            set,
            left,
            left_size,
            right,
            right_size,
        }
    }
    if left.1 == right.1 {
        Ok(())
    } else {
        Err(mismatch(function, set, left, right))
    }
}

/// Checks at entry that two parameters agree on the size of an index set they share; see
/// [`compare_extents`].
///
/// # Panics
/// If they do not, with the [`Error::ExtentMismatch`] in words.
#[inline(always)]
#[track_caller]
pub fn check_extents<E: Copy + PartialEq + Display>(
    function: &'static str,
    set: &'static str,
    left: (&'static str, E),
    right: (&'static str, E),
) {
    if let Err(error) = compare_extents(function, set, left, right) {
        fail(&error);
    }
}

/// Compares the lengths of the rows of two parameters, over sets of as many members.
///
/// # Errors
/// [`Error::RowMismatch`] if they are not the same.
pub fn compare_rows<I: IndexSet, T: Element, J: IndexSet, U: Element>(
    function: &'static str,
    (left, right): (&'static str, &'static str),
    left_rows: &Ragged<I, T>,
    right_rows: &Ragged<J, U>,
) -> Result<(), Error> {
    let ends = (left_rows.row_ends(), right_rows.row_ends());
    // Most often they are one table.
    if std::ptr::eq(ends.0, ends.1) || ends.0 == ends.1 {
        return Ok(());
    }
    let mut both = ends.0.iter().zip(ends.1);
    let row = both.position(|(left, right)| left != right).unwrap_or(0);
    let length = |ends: &[usize]| match row {
        0 => ends.first().copied().unwrap_or(0),
        row => ends[row] - ends[row - 1],
    };
    Err(Error::RowMismatch {
        function,
        row,
        left,
        left_length: length(ends.0),
        right,
        right_length: length(ends.1),
    })
}

/// Checks at entry that the rows of two parameters are of the same lengths; see [`compare_rows`].
///
/// # Panics
/// If they are not, with the [`Error::RowMismatch`] in words.
#[track_caller]
pub fn check_rows<I: IndexSet, T: Element, J: IndexSet, U: Element>(
    function: &'static str,
    names: (&'static str, &'static str),
    left: &Ragged<I, T>,
    right: &Ragged<J, U>,
) {
    if let Err(error) = compare_rows(function, names, left, right) {
        fail(&error);
    }
}

/// The rows of a parameter with other values.
///
/// # Panics
/// If there are more or fewer values than the parameter has.
#[track_caller]
pub fn with_rows_of<I: IndexSet, T: Element, U: Element>(
    rows: &Ragged<I, T>,
    values: Table<Dyn, U>,
) -> Ragged<I, U> {
    rows.with_values(values)
        .unwrap_or_else(|error| fail(&error))
}

/// Panics with an error in words.
#[cold]
#[inline(never)]
#[track_caller]
pub fn fail(error: &Error) -> ! {
    panic!("{error}")
}

/// The extremum of nothing has no position.
///
/// # Panics
/// Always.
#[cold]
#[inline(never)]
#[track_caller]
pub fn empty_arg(what: &str) -> ! {
    panic!("`{what}` of nothing: the index set is empty")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dyn, Extent};
    use std::panic::catch_unwind;

    fn message(f: impl FnOnce() + std::panic::UnwindSafe) -> String {
        let payload = catch_unwind(f).expect_err("a panic");
        payload
            .downcast_ref::<String>()
            .cloned()
            .or(payload.downcast_ref::<&str>().map(|s| s.to_string()))
            .unwrap()
    }

    #[test]
    fn positions_at_the_edges() {
        let at = |policy: fn(i64, usize) -> usize, len| {
            (-7..8).map(move |k| policy(k, len)).collect::<Vec<_>>()
        };
        assert_eq!(
            at(i64::wrap_here, 3),
            [2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]
        );
        assert_eq!(
            at(i64::clamp_here, 3),
            [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2]
        );
        assert_eq!(
            at(i64::mirror_here, 3),
            [1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1]
        );
        assert_eq!(
            at(i64::mirror_here, 2),
            [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]
        );
        for policy in [i64::wrap_here, i64::clamp_here, i64::mirror_here] {
            assert_eq!(at(policy, 1), [0; 15]);
            for len in [1, 2, 7, 1000, isize::MAX as usize] {
                for value in [i64::MIN, -1, 0, 1, i64::MAX] {
                    assert!(policy(value, len) < len, "{value} in {len}");
                }
                assert_eq!(policy(len as i64 - 1, len), len - 1);
            }
        }
        assert_eq!(
            (offset(-1, 3), offset(0, 3), offset(2, 3), offset(3, 3)),
            (None, Some(0), Some(2), None)
        );
        assert_eq!(offset(0, 0), None);
    }

    #[test]
    fn the_first_of_the_best_is_found() {
        let least = |x: f64, y: f64| (x < y || y.is_nan()) && !x.is_nan();
        let none = f64::NAN;
        assert_eq!(first_extremum([3.0], [4], least), (3.0, 4));
        assert_eq!(first_extremum([2.0, 1.0, 1.0], [0, 4, 2], least), (1.0, 2));
        assert_eq!(
            first_extremum([none, 1.0, none, 1.0], [0, 5, 0, 7], least),
            (1.0, 5)
        );
        assert!(first_extremum([none; 4], [0; 4], least).0.is_nan());
        let greatest = |x: i32, y: i32| x > y;
        assert_eq!(
            first_extremum([i32::MIN, 7, 7], [0, 3, 1], greatest),
            (7, 1)
        );
    }

    #[test]
    fn lanes_are_folded_in_a_fixed_order() {
        // Neither commutes nor associates, so every other tree gives another number.
        let f = |a: i64, b: i64| 3 * a - 7 * b + 1;
        assert_eq!(fold_lanes([1], f), 1);
        assert_eq!(fold_lanes([1, 2], f), f(1, 2));
        assert_eq!(fold_lanes([1, 2, 3], f), f(f(1, 3), 2));
        assert_eq!(fold_lanes([1, 2, 3, 4, 5], f), f(f(f(1, 4), 3), f(2, 5)));
        assert_eq!(fold_lanes([1, 2, 3, 4, 5, 6, 7, 8], i64::wrapping_add), 36);
    }

    #[test]
    fn positions_of_nothing_are_refused() {
        assert_eq!(
            message(|| {
                0_i64.wrap_here(0);
            }),
            "`wrap` has no member to give: the index set is empty"
        );
        assert_eq!(
            message(|| {
                0_i64.clamp_here(0);
            }),
            "`clamp` has no member to give: the index set is empty"
        );
        assert_eq!(
            message(|| {
                (-1_i64).mirror_here(0);
            }),
            "`mirror` has no member to give: the index set is empty"
        );
    }

    #[test]
    fn a_bad_index_names_both_numbers() {
        assert_eq!(4_i64.check_here(5, "`x`"), 4);
        assert_eq!(
            message(|| {
                5_i64.check_here(5, "`x`");
            }),
            "index 5 is out of range for `x` of 5 members"
        );
        assert_eq!(
            message(|| {
                (-1_i64).check_here(1, "`x`");
            }),
            "index -1 is out of range for `x` of 1 member"
        );
    }

    #[test]
    fn extents_are_compared_by_size() {
        check_extents("f", "N", ("x", 3_usize), ("y", 3));
        let grid = |a, b| Extent::<(Dyn, Dyn)>::new((a, b));
        check_extents("f", "N", ("x", grid(2, 3)), ("y", grid(2, 3)));
        assert_eq!(
            message(move || check_extents("f", "N", ("x", grid(2, 3)), ("y", grid(3, 2)))),
            "`f`: parameters `x` and `y` disagree on the size of `N`: (2, 3) in `x`, (3, 2) in `y`"
        );
    }
}
