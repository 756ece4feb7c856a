//! Tables in print: nested brackets as ndarray writes them, at any rank, with the middle of a large
//! one left out.

use std::fmt::{self, Debug, Display, Formatter, LowerExp, Write};

use super::{Table, View};
#[cfg(feature = "device")]
use crate::cuda::Device;
use crate::element::Element;
#[cfg(feature = "device")]
use crate::extent::Extent;
use crate::index_set::IndexSet;

/// Tables of fewer elements are printed in full.
const LARGE: usize = 500;
/// The longest the last axis of a large table may be without its middle being left out.
const LAST_AXIS: usize = 11;
/// The same for the axis before the last.
const NEXT_TO_LAST_AXIS: usize = 11;
/// The same for all others, each of whose entries takes several lines.
const OTHER_AXIS: usize = 6;

/// How one element is written.
type WriteElement<R> = fn(&R, &mut Formatter<'_>) -> fmt::Result;

/// What stays the same on the way down the axes.
struct Printer<'a, R> {
    axes: &'a [usize],
    elements: &'a [R],
    write_element: WriteElement<R>,
    in_full: bool,
}

impl<R> Printer<'_, R> {
    /// Writes the part of the table that begins at element `start`, with `depth` axes fixed.
    fn write(&self, f: &mut Formatter<'_>, depth: usize, start: usize) -> fmt::Result {
        let Some((&length, inner)) = self.axes[depth..].split_first() else {
            return (self.write_element)(&self.elements[start], f);
        };
        let stride: usize = inner.iter().product();
        f.write_char('[')?;
        let mut first = true;
        for entry in shown(length, self.longest(inner.len())) {
            if !std::mem::take(&mut first) {
                separate(f, depth, inner.len())?;
            }
            match entry {
                Some(index) => self.write(f, depth + 1, start + index * stride)?,
                None => f.write_str("...")?,
            }
        }
        f.write_char(']')
    }

    /// The longest an axis with this many axes within it may be before its middle is left out.
    fn longest(&self, inner_axes: usize) -> usize {
        match inner_axes {
            _ if self.in_full => usize::MAX,
            0 => LAST_AXIS,
            1 => NEXT_TO_LAST_AXIS,
            _ => OTHER_AXIS,
        }
    }
}

/// The positions to be shown of an axis, with `None` for those left out in the middle.
pub(crate) fn shown(length: usize, longest: usize) -> impl Iterator<Item = Option<usize>> {
    let (head, gap, tail) = if length <= longest {
        (length, None, length)
    } else {
        (longest / 2, Some(None), length - longest / 2)
    };
    (0..head)
        .map(Some)
        .chain(gap)
        .chain((tail..length).map(Some))
}

/// What stands between two entries: a space within a row, a new line between rows, empty lines
/// between matrices.
fn separate(f: &mut Formatter<'_>, depth: usize, inner_axes: usize) -> fmt::Result {
    if inner_axes == 0 {
        return f.write_str(", ");
    }
    f.write_char(',')?;
    for _ in 0..inner_axes {
        f.write_char('\n')?;
    }
    for _ in 0..=depth {
        f.write_char(' ')?;
    }
    Ok(())
}

impl<I: IndexSet, T: Element> View<'_, I, T> {
    fn print(self, f: &mut Formatter<'_>, write_element: WriteElement<T::Repr>) -> fmt::Result {
        let axes = self.extent.axes();
        if self.is_empty() {
            // Whichever axis is empty, nothing is left to show but how many there are.
            return write!(f, "{}{}", "[".repeat(axes.len()), "]".repeat(axes.len()));
        }
        let in_full = f.alternate() || self.len() < LARGE;
        Printer {
            axes: &axes,
            elements: self.data,
            write_element,
            in_full,
        }
        .write(f, 0, 0)
    }
}

impl<I: IndexSet, T: Element> Display for View<'_, I, T> {
    /// Members of index sets are written as their ordinals. `{:#}` leaves nothing out, and all
    /// other options apply to each element.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.print(f, <T::Repr as Display>::fmt)
    }
}

impl<I: IndexSet, T: Element> Debug for View<'_, I, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.print(f, <T::Repr as Debug>::fmt)?;
        write!(f, ", extent={}", self.extent)
    }
}

impl<I: IndexSet, T: Element<Repr: LowerExp>> LowerExp for View<'_, I, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.print(f, <T::Repr as LowerExp>::fmt)
    }
}

/// Prints a table of this extent whose elements are on a device.
#[cfg(feature = "device")]
pub(crate) fn elsewhere<I: IndexSet>(
    device: &Device,
    extent: Extent<I>,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    write!(f, "[on {device}], extent={extent}")
}

impl<I: IndexSet, T: Element> Display for Table<I, T> {
    /// As a [`View`] of the whole table; of one on a device, which device that is.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        #[cfg(feature = "device")]
        if let Some(device) = self.device() {
            return elsewhere(device, self.extent, f);
        }
        Display::fmt(&self.view(), f)
    }
}

impl<I: IndexSet, T: Element> Debug for Table<I, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        #[cfg(feature = "device")]
        if let Some(device) = self.device() {
            return elsewhere(device, self.extent, f);
        }
        Debug::fmt(&self.view(), f)
    }
}

impl<I: IndexSet, T: Element<Repr: LowerExp>> LowerExp for Table<I, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        #[cfg(feature = "device")]
        if let Some(device) = self.device() {
            return elsewhere(device, self.extent, f);
        }
        LowerExp::fmt(&self.view(), f)
    }
}
