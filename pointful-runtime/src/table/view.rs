//! Borrowed tables: rows, and data that lives elsewhere.

use std::ops::{Index, Range};

use super::check_length;
use crate::buffer::Buf;
use crate::element::{Element, Plain};
use crate::error::Error;
use crate::extent::{Extent, IntoExtent, Members};
use crate::index_set::{Dyn, IndexSet, Place, Product, Unnamed};
use crate::table::Table;

/// A table whose elements are borrowed: a whole [`Table`], a row of one, or contiguous data from
/// elsewhere.
pub struct View<'a, I: IndexSet, T: Element> {
    pub(super) extent: Extent<I>,
    pub(super) meta: T::Meta,
    /// As many elements as the extent has members, each of them valid with `meta`.
    pub(super) data: &'a [T::Repr],
}

impl<I: IndexSet, T: Element> Clone for View<'_, I, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I: IndexSet, T: Element> Copy for View<'_, I, T> {}

impl<I: IndexSet, T: Element> PartialEq for View<'_, I, T> {
    fn eq(&self, other: &Self) -> bool {
        self.extent == other.extent && self.meta == other.meta && self.data == other.data
    }
}

impl<'a, I: IndexSet, T: Element> View<'a, I, T> {
    /// The extent of the index set.
    #[inline(always)]
    pub fn extent(self) -> Extent<I> {
        self.extent
    }

    /// How many elements there are.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.data.len()
    }

    /// Whether there are no elements.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.data.is_empty()
    }

    /// What all elements have in common.
    #[doc(hidden)]
    #[inline(always)]
    pub fn meta(self) -> T::Meta {
        self.meta
    }

    /// The elements as they are stored, in row-major order: themselves if they are plain, ordinals
    /// if they are members of an index set.
    #[inline(always)]
    pub fn as_slice(self) -> &'a [T::Repr] {
        self.data
    }

    /// The members of the index set, in order.
    pub fn indices(self) -> Members<I> {
        self.extent.iter()
    }

    /// The element at `index`, or `None` if that is no member of the set.
    #[inline]
    pub fn get(self, index: impl Place<I>) -> Option<T> {
        index
            .checked_position(self.extent)
            .map(|position| self.value(position))
    }

    /// The element at `index`.
    ///
    /// # Panics
    /// If `index` is no member of the set.
    #[inline]
    #[track_caller]
    pub fn at(self, index: impl Place<I>) -> T {
        self.value(index.position(self.extent))
    }

    /// The elements in row-major order, by value.
    pub fn values(self) -> impl ExactSizeIterator<Item = T> + DoubleEndedIterator + Clone + 'a {
        self.data.iter().map(move |&repr| {
            // SAFETY: every element is valid with the view's own meta.
            unsafe { T::from_repr(repr, self.meta) }
        })
    }

    #[inline(always)]
    fn value(self, position: usize) -> T {
        // SAFETY: every element is valid with the view's own meta.
        unsafe { T::from_repr(self.data[position], self.meta) }
    }

    /// The same elements over another index set of as many members.
    ///
    /// # Errors
    /// [`Error::Length`] if the other set has another number of members.
    pub fn cast<J: IndexSet>(self, extent: impl IntoExtent<J>) -> Result<View<'a, J, T>, Error> {
        let extent = extent.into_extent();
        check_length(extent, self.data.len())?;
        Ok(View {
            extent,
            meta: self.meta,
            data: self.data,
        })
    }

    /// A table of its own with the same elements.
    pub fn to_table(self) -> Table<I, T> {
        let data = Buf::from_fn(self.data.len(), |k| self.data[k]);
        Table {
            extent: self.extent,
            meta: self.meta,
            data,
        }
    }
}

impl<'a, T: Element> View<'a, Dyn, T> {
    /// The elements at these positions.
    pub(crate) fn part(self, positions: Range<usize>) -> Self {
        View {
            extent: Extent::new(positions.len()),
            data: &self.data[positions],
            ..self
        }
    }
}

impl<'a, I: Product, T: Element> View<'a, I, T> {
    /// The row at `head`: the elements whose index begins with it.
    ///
    /// # Panics
    /// If `head` is no member of the first set.
    #[track_caller]
    pub fn row(self, head: impl Place<I::Head>) -> View<'a, I::Tail, T> {
        let (heads, tail) = I::split_head(self.extent);
        let start = head.position(heads) * tail.len();
        View {
            extent: tail,
            meta: self.meta,
            data: &self.data[start..start + tail.len()],
        }
    }

    /// All rows, in order.
    pub fn rows(
        self,
    ) -> impl ExactSizeIterator<Item = View<'a, I::Tail, T>> + DoubleEndedIterator + 'a {
        I::split_head(self.extent)
            .0
            .iter()
            .map(move |head| self.row(head))
    }
}

impl<'a, I: IndexSet, T: Plain> View<'a, I, T> {
    /// Contiguous data as a table, in row-major order.
    ///
    /// # Errors
    /// [`Error::Length`] if there are more or fewer elements than members.
    pub fn from_slice(extent: impl IntoExtent<I>, elements: &'a [T]) -> Result<Self, Error> {
        let extent = extent.into_extent();
        check_length(extent, elements.len())?;
        Ok(View {
            extent,
            meta: (),
            data: elements,
        })
    }

    /// The elements in row-major order, by reference.
    pub fn iter(self) -> std::slice::Iter<'a, T> {
        self.data.iter()
    }
}

impl<I: IndexSet, T: Plain, P: Place<I>> Index<P> for View<'_, I, T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: P) -> &T {
        &self.data[index.position(self.extent)]
    }
}

/// A row of a matrix, for `t[i][j]`.
impl<A: Unnamed, B: Unnamed, T: Plain> Index<usize> for View<'_, (A, B), T> {
    type Output = [T];

    #[inline]
    #[track_caller]
    fn index(&self, row: usize) -> &[T] {
        self.row(row).data
    }
}

impl<'a, I: IndexSet, T: Plain> IntoIterator for View<'a, I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
