//! Rows of different lengths: their values one after the other, and where each row begins and ends.

use std::fmt::{self, Debug, Display, Formatter};
use std::ops::Index;
use std::sync::Arc;

#[cfg(feature = "device")]
use crate::cuda::{Device, ToDevice};
use crate::element::{Element, Plain};
use crate::error::Error;
use crate::extent::{Extent, IntoExtent};
use crate::index_set::{Dyn, IndexSet, Place};
use crate::scalar::Float;
#[cfg(feature = "device")]
use crate::table::elsewhere;
use crate::table::{Table, View, shown};
use crate::vector_space::{VectorSpace, different};

/// A row for each member of `I`, each of its own length: sentences, neighbour lists, the rows of a
/// sparse matrix, events.
///
/// All values stand in one table, row after row. Tables made of others, as by `map` or by a
/// derivative, share their offsets.
///
/// ```
/// use pointful_runtime::{Dyn, Ragged};
///
/// let words = Ragged::from_rows([vec![1.0, 2.0], vec![], vec![3.0]]);
/// assert_eq!((words.extent().len(), words.len()), (3, 3));
/// assert_eq!((&words[0], &words[1], words[2][0]), (&[1.0, 2.0][..], &[][..], 3.0));
/// assert_eq!(words.offsets().collect::<Vec<_>>(), [0, 2, 2, 3]);
///
/// // The same by offsets and values, which are checked.
/// assert_eq!(Ragged::new(vec![0, 2, 2, 3], vec![1.0, 2.0, 3.0]), Ok(words));
/// let wrong = Ragged::new(vec![0, 2, 1, 3], vec![1.0, 2.0, 3.0]);
/// assert_eq!(wrong.unwrap_err().to_string(), "offset 2 is 1, but should be from 2 to 3");
/// ```
pub struct Ragged<I: IndexSet, T: Element> {
    /// On the host, wherever the values live,
    rows: Arc<Rows<I>>,
    /// and where these live, if that is elsewhere.
    there: Option<Arc<Rows<I>>>,
    values: Table<Dyn, T>,
}

/// Where rows begin and end. A row begins where the one before it ends, the first one at zero, and
/// the last one ends where the values do.
struct Rows<I: IndexSet> {
    starts: Table<I, usize>,
    ends: Table<I, usize>,
}

impl<T: Element> Ragged<Dyn, T> {
    /// Rows by their offsets: `offsets[k]..offsets[k + 1]` is where row `k` has its values. There
    /// is one offset more than there are rows.
    ///
    /// Values may be members of an index set, as are the columns of a sparse matrix:
    ///
    /// ```
    /// use pointful_runtime::{Dyn, Extent, Fin, Ragged, Table};
    /// let columns = Table::<Dyn, Fin<4>>::from_indices(3, (), vec![0, 3, 1])?;
    /// let columns = Ragged::new(vec![0, 2, 3], columns)?;
    /// assert_eq!(columns.row(0).at(1), Fin::new(3));
    /// # Ok::<(), pointful_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Offsets`] if the first offset is not zero, one is smaller than the one before it,
    /// or the last one is not the number of values; [`Error::NoOffsets`] if there is none at all. What
    /// a device says, if the values live there, as the offsets do then, too.
    pub fn new(offsets: Vec<usize>, values: impl Into<Table<Dyn, T>>) -> Result<Self, Error> {
        let values = values.into();
        let Some(count) = offsets.len().checked_sub(1) else {
            return Err(Error::NoOffsets);
        };
        let mut least = 0;
        for (position, &value) in offsets.iter().enumerate() {
            let (least, most) = match position {
                // Where there are no rows it is the last as well.
                0 if count > 0 || value > 0 => (0, 0),
                _ if position == count => (values.len(), values.len()),
                _ => (std::mem::replace(&mut least, value), values.len()),
            };
            if value < least || value > most {
                return Err(Error::Offsets {
                    position,
                    value,
                    least,
                    most,
                });
            }
        }
        let starts = Table::from(&offsets[..count]);
        let ends = Table::from(&offsets[1..]);
        let rows = Rows { starts, ends };
        Ok(Ragged {
            there: rows.beside(&values)?.map(Arc::new),
            rows: Arc::new(rows),
            values,
        })
    }
}

impl<T: Plain> Ragged<Dyn, T> {
    /// Rows one by one.
    pub fn from_rows(rows: impl IntoIterator<Item = impl AsRef<[T]>>) -> Self {
        let mut values = Vec::new();
        let mut ends = Vec::new();
        for row in rows {
            values.extend_from_slice(row.as_ref());
            ends.push(values.len());
        }
        let mut starts = vec![0];
        starts.extend(&ends);
        starts.pop();
        let (starts, ends) = (starts.into(), ends.into());
        Ragged {
            rows: Arc::new(Rows { starts, ends }),
            there: None,
            values: values.into(),
        }
    }
}

impl<I: IndexSet, T: Element> Ragged<I, T> {
    /// The extent of the set that has a row for each member.
    pub fn extent(&self) -> Extent<I> {
        self.rows.starts.extent()
    }

    /// How many values all rows have together.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether no row has a value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Where the rows begin, in order, and behind them where the last one ends.
    pub fn offsets(&self) -> impl Iterator<Item = usize> + '_ {
        let starts = self.rows.starts.as_slice();
        starts.iter().copied().chain([self.values.len()])
    }

    /// All values, row after row.
    pub fn values(&self) -> &Table<Dyn, T> {
        &self.values
    }

    /// The row at `row`.
    ///
    /// # Panics
    /// If `row` is no member of the set.
    #[track_caller]
    pub fn row(&self, row: impl Place<I>) -> View<'_, Dyn, T> {
        self.row_at(row.position(self.extent()))
    }

    /// All rows, in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = View<'_, Dyn, T>> + DoubleEndedIterator {
        (0..self.extent().len()).map(|k| self.row_at(k))
    }

    fn row_at(&self, position: usize) -> View<'_, Dyn, T> {
        let Rows { starts, ends } = &*self.rows;
        self.values
            .view()
            .part(starts.as_slice()[position]..ends.as_slice()[position])
    }

    /// Whether each row of one is as long as that of the other.
    pub fn has_rows_of<U: Element>(&self, other: &Ragged<I, U>) -> bool {
        Arc::ptr_eq(&self.rows, &other.rows)
            || (self.len() == other.len() && self.rows.starts == other.rows.starts)
    }

    /// The same rows over another index set of as many members.
    ///
    /// # Errors
    /// [`Error::Length`] if the other set has another number of members.
    pub fn cast<J: IndexSet>(self, extent: impl IntoExtent<J>) -> Result<Ragged<J, T>, Error> {
        let extent = extent.into_extent();
        let cast = |rows: Arc<Rows<I>>| Arc::unwrap_or_clone(rows).cast(extent).map(Arc::new);
        Ok(Ragged {
            rows: cast(self.rows)?,
            there: self.there.map(cast).transpose()?,
            values: self.values,
        })
    }

    /// Rows of the same lengths with other values.
    ///
    /// # Errors
    /// [`Error::Length`] if there are more or fewer values than this has. What a device says, if the
    /// values live on another one.
    pub fn with_values<U: Element>(
        &self,
        values: impl Into<Table<Dyn, U>>,
    ) -> Result<Ragged<I, U>, Error> {
        let values = values.into().cast(self.values.extent())?;
        Ok(Ragged {
            rows: Arc::clone(&self.rows),
            there: self.rows_beside(&values)?,
            values,
        })
    }

    /// Where rows begin and end, where other values of theirs live.
    fn rows_beside<U: Element>(
        &self,
        values: &Table<Dyn, U>,
    ) -> Result<Option<Arc<Rows<I>>>, Error> {
        #[cfg(feature = "device")]
        if self.values.device() != values.device() {
            return Ok(self.rows.beside(values)?.map(Arc::new));
        }
        let _ = values;
        Ok(self.there.clone())
    }

    /// Where rows begin, where the values live.
    #[doc(hidden)]
    pub fn starts(&self) -> &Table<I, usize> {
        &self.there.as_ref().unwrap_or(&self.rows).starts
    }

    /// Where rows end, where the values live.
    #[doc(hidden)]
    pub fn ends(&self) -> &Table<I, usize> {
        &self.there.as_ref().unwrap_or(&self.rows).ends
    }

    /// Where rows end, on the host.
    pub(crate) fn row_ends(&self) -> &[usize] {
        self.rows.ends.as_slice()
    }
}

/// What only rows on devices have.
#[cfg(feature = "device")]
impl<I: IndexSet, T: Element> Ragged<I, T> {
    /// The device on which the values live, if it is not the host.
    pub fn device(&self) -> Option<&Device> {
        self.values.device()
    }
}

/// The values and the offsets are moved. The offsets stay known to the host, so asking for them
/// moves nothing back.
#[cfg(feature = "device")]
impl<I: IndexSet, T: Element> ToDevice for Ragged<I, T> {
    fn moved(&self, to: Option<&Device>) -> Result<Self, Error> {
        let values = self.values.moved(to)?;
        Ok(Ragged {
            rows: Arc::clone(&self.rows),
            there: self.rows_beside(&values)?,
            values,
        })
    }
}

impl<I: IndexSet> Rows<I> {
    /// The same where values of theirs live, if that is not the host.
    #[cfg(feature = "device")]
    fn beside<T: Element>(&self, values: &Table<Dyn, T>) -> Result<Option<Self>, Error> {
        let moved = values.device().map(|device| {
            Ok(Rows {
                starts: self.starts.to_device(device)?,
                ends: self.ends.to_device(device)?,
            })
        });
        moved.transpose()
    }

    #[cfg(not(feature = "device"))]
    #[expect(clippy::unnecessary_wraps, reason = "a device may have no memory")]
    fn beside<T: Element>(&self, _: &Table<Dyn, T>) -> Result<Option<Self>, Error> {
        Ok(None)
    }

    fn cast<J: IndexSet>(self, extent: Extent<J>) -> Result<Rows<J>, Error> {
        Ok(Rows {
            starts: self.starts.cast(extent)?,
            ends: self.ends.cast(extent)?,
        })
    }
}

impl<I: IndexSet, T: Plain> Ragged<I, T> {
    /// All values, row after row, to be changed.
    pub fn values_mut(&mut self) -> &mut [T] {
        self.values.as_mut_slice()
    }

    /// Rows of the same lengths that hold a function of the values.
    pub fn map<U: Plain>(&self, f: impl FnMut(T) -> U) -> Ragged<I, U> {
        Ragged {
            rows: Arc::clone(&self.rows),
            there: None,
            values: self.values.map(f),
        }
    }
}

impl<I: IndexSet, T: Plain, P: Place<I>> Index<P> for Ragged<I, T> {
    type Output = [T];

    #[track_caller]
    fn index(&self, row: P) -> &[T] {
        self.row(row).as_slice()
    }
}

impl<T: Plain, R: AsRef<[T]>> FromIterator<R> for Ragged<Dyn, T> {
    fn from_iter<It: IntoIterator<Item = R>>(rows: It) -> Self {
        Self::from_rows(rows)
    }
}

impl<I: IndexSet> Clone for Rows<I> {
    fn clone(&self) -> Self {
        Rows {
            starts: self.starts.clone(),
            ends: self.ends.clone(),
        }
    }
}

impl<I: IndexSet, T: Element> Clone for Ragged<I, T> {
    fn clone(&self) -> Self {
        Ragged {
            rows: Arc::clone(&self.rows),
            there: self.there.clone(),
            values: self.values.clone(),
        }
    }
}

impl<I: IndexSet, T: Element> PartialEq for Ragged<I, T> {
    /// Rows of equal lengths with equal values.
    fn eq(&self, other: &Self) -> bool {
        self.has_rows_of(other) && self.values == other.values
    }
}

/// Rows from which more are not all printed.
const MANY: usize = 20;

impl<I: IndexSet, T: Element> Ragged<I, T> {
    fn print(
        &self,
        f: &mut Formatter<'_>,
        row: impl Fn(View<'_, Dyn, T>, &mut Formatter<'_>) -> fmt::Result,
    ) -> fmt::Result {
        let longest = if f.alternate() { usize::MAX } else { MANY };
        f.write_str("[")?;
        for (k, entry) in shown(self.extent().len(), longest).enumerate() {
            if k > 0 {
                f.write_str(",\n ")?;
            }
            match entry {
                Some(position) => row(self.row_at(position), f)?,
                None => f.write_str("...")?,
            }
        }
        f.write_str("]")
    }
}

impl<I: IndexSet, T: Element> Display for Ragged<I, T> {
    /// As a [`Table`] of as many rows.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        #[cfg(feature = "device")]
        if let Some(device) = self.device() {
            return elsewhere(device, self.extent(), f);
        }
        self.print(f, |row, f| Display::fmt(&row, f))
    }
}

impl<I: IndexSet, T: Element> Debug for Ragged<I, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        #[cfg(feature = "device")]
        if let Some(device) = self.device() {
            return elsewhere(device, self.extent(), f);
        }
        self.print(f, |row, f| f.debug_list().entries(row.as_slice()).finish())?;
        write!(f, ", extent={}", self.extent())
    }
}

impl<I: IndexSet, T: Float + Plain> VectorSpace for Ragged<I, T> {
    type Scalar = T;

    fn visit(&self, f: &mut impl FnMut(&[T])) {
        self.values.visit(f);
    }
    fn visit_mut(&mut self, f: &mut impl FnMut(&mut [T])) {
        self.values.visit_mut(f);
    }
    #[track_caller]
    fn visit_with(&self, other: &Self, f: &mut impl FnMut(&[T], &[T])) {
        self.same_rows(other);
        self.values.visit_with(&other.values, f);
    }
    #[track_caller]
    fn visit_mut_with(&mut self, other: &Self, f: &mut impl FnMut(&mut [T], &[T])) {
        self.same_rows(other);
        self.values.visit_mut_with(&other.values, f);
    }
}

impl<I: IndexSet, T: Element> Ragged<I, T> {
    #[track_caller]
    fn same_rows(&self, other: &Self) {
        if !self.has_rows_of(other) {
            let offsets = |of: &Self| of.offsets().collect::<Vec<_>>();
            different(&offsets(self), &offsets(other));
        }
    }
}
