//! Reading and writing tables on the host.

use std::ops::{Index, IndexMut};

use super::{Table, View};
use crate::element::{Element, Plain};
use crate::extent::{Extent, Members};
use crate::index_set::{IndexSet, Place, Product, Unnamed};

impl<I: IndexSet, T: Element> Table<I, T> {
    /// The extent of the index set.
    #[inline(always)]
    pub fn extent(&self) -> Extent<I> {
        self.extent
    }

    /// How many elements there are.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// What all elements have in common.
    #[doc(hidden)]
    #[inline(always)]
    pub fn meta(&self) -> T::Meta {
        self.meta
    }

    /// The elements as they are stored, in row-major order: themselves if they are plain, ordinals
    /// if they are members of an index set.
    #[inline(always)]
    #[cfg_attr(feature = "device", track_caller)]
    pub fn as_slice(&self) -> &[T::Repr] {
        &self.data
    }

    /// The whole table, borrowed.
    #[inline(always)]
    #[cfg_attr(feature = "device", track_caller)]
    pub fn view(&self) -> View<'_, I, T> {
        View {
            extent: self.extent,
            meta: self.meta,
            data: &self.data,
        }
    }

    /// The members of the index set, in order.
    pub fn indices(&self) -> Members<I> {
        self.extent.iter()
    }

    /// The element at `index`, or `None` if that is no member of the set.
    #[inline]
    #[cfg_attr(feature = "device", track_caller)]
    pub fn get(&self, index: impl Place<I>) -> Option<T> {
        self.view().get(index)
    }

    /// The element at `index`; for plain elements the same as `table[index]`.
    ///
    /// # Panics
    /// If `index` is no member of the set.
    #[inline]
    #[track_caller]
    pub fn at(&self, index: impl Place<I>) -> T {
        self.view().at(index)
    }

    /// The elements in row-major order, by value.
    #[cfg_attr(feature = "device", track_caller)]
    pub fn values(&self) -> impl ExactSizeIterator<Item = T> + DoubleEndedIterator + Clone + '_ {
        self.view().values()
    }
}

impl<I: Product, T: Element> Table<I, T> {
    /// The row at `head`: the elements whose index begins with it, as a view with its extents.
    ///
    /// # Panics
    /// If `head` is no member of the first set.
    #[track_caller]
    pub fn row(&self, head: impl Place<I::Head>) -> View<'_, I::Tail, T> {
        self.view().row(head)
    }

    /// All rows, in order.
    pub fn rows(
        &self,
    ) -> impl ExactSizeIterator<Item = View<'_, I::Tail, T>> + DoubleEndedIterator {
        self.view().rows()
    }
}

impl<I: Product, T: Plain> Table<I, T> {
    /// The elements of the row at `head`, to be changed.
    ///
    /// # Panics
    /// If `head` is no member of the first set.
    #[track_caller]
    pub fn row_mut(&mut self, head: impl Place<I::Head>) -> &mut [T] {
        let (heads, tail) = I::split_head(self.extent);
        let start = head.position(heads) * tail.len();
        &mut self.data[start..start + tail.len()]
    }
}

impl<I: IndexSet, T: Plain> Table<I, T> {
    /// The elements, in row-major order, to be changed.
    #[inline(always)]
    #[cfg_attr(feature = "device", track_caller)]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// The elements in row-major order, by reference.
    #[cfg_attr(feature = "device", track_caller)]
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.data.iter()
    }

    /// The elements in row-major order, to be changed.
    #[cfg_attr(feature = "device", track_caller)]
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.data.iter_mut()
    }
}

impl<I: IndexSet, T: Plain, P: Place<I>> Index<P> for Table<I, T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: P) -> &T {
        &self.data[index.position(self.extent)]
    }
}

impl<I: IndexSet, T: Plain, P: Place<I>> IndexMut<P> for Table<I, T> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, index: P) -> &mut T {
        let position = index.position(self.extent);
        &mut self.data[position]
    }
}

/// A row of a matrix, for `t[i][j]`.
impl<A: Unnamed, B: Unnamed, T: Plain> Index<usize> for Table<(A, B), T> {
    type Output = [T];

    #[inline]
    #[track_caller]
    fn index(&self, row: usize) -> &[T] {
        self.row(row).as_slice()
    }
}

impl<A: Unnamed, B: Unnamed, T: Plain> IndexMut<usize> for Table<(A, B), T> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, row: usize) -> &mut [T] {
        self.row_mut(row)
    }
}

impl<'a, I: IndexSet, T: Plain> IntoIterator for &'a Table<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, I: IndexSet, T: Plain> IntoIterator for &'a mut Table<I, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}
