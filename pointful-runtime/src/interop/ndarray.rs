//! Tables from ndarray's arrays and back, without a copy where the data is contiguous in row-major
//! order.

use ndarray::{Array, ArrayView, ArrayViewMut, Dimension};

use crate::element::Plain;
use crate::error::Error;
use crate::extent::Extent;
use crate::index_set::{Axes, IndexSet, SetName};
use crate::table::{Table, View};

/// The extent of a set whose axes have these lengths.
pub(super) fn extent_of_axes<I: IndexSet>(lengths: &[usize]) -> Result<Extent<I>, Error> {
    if lengths.len() != I::RANK {
        return Err(Error::Rank {
            set: SetName::<I>::new().to_string(),
            expected: I::RANK,
            found: lengths.len(),
        });
    }
    Extent::try_new(I::size_from_axes(&mut Axes::new(lengths))?)
}

/// The dimension, of type `D`, that an extent's axes have.
///
/// Compiles only where `D` has as many axes as `I`, or any number.
fn dimension<I: IndexSet, D: Dimension>(extent: Extent<I>) -> D {
    const {
        let fits = match D::NDIM {
            Some(axes) => axes == I::RANK,
            None => true,
        };
        assert!(
            fits,
            "an array's number of axes must be the rank of the table's index set"
        );
    }
    let mut dimension = D::zeros(I::RANK);
    dimension.slice_mut().copy_from_slice(&extent.axes());
    dimension
}

impl<I: IndexSet, T: Plain> Table<I, T> {
    /// The table with an array's elements: in the array's own memory if that is in row-major order,
    /// else in a copy.
    ///
    /// The lengths of the array's axes are the sizes of the table's dynamic sets.
    ///
    /// # Errors
    /// [`Error::Rank`] or [`Error::Axis`] if the axes do not fit the index set;
    /// [`Error::Undetermined`] for an [`Either`](crate::Either), whose parts an axis does not tell
    /// apart (see [`Table::from_vec`]).
    ///
    /// ```
    /// use ndarray::array;
    /// use pointful_runtime::{Dyn, Fin, Table};
    /// let t = Table::<(Dyn, Fin<2>), f64>::from_ndarray(array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])?;
    /// assert_eq!(t[(Dyn(2), Fin::new(0))], 5.0);
    /// # Ok::<(), pointful_runtime::Error>(())
    /// ```
    pub fn from_ndarray<D: Dimension>(array: Array<T, D>) -> Result<Self, Error> {
        let extent = extent_of_axes::<I>(array.shape())?;
        let elements = if array.is_standard_layout() {
            contiguous(array)
        } else {
            array.iter().copied().collect()
        };
        Table::from_vec(extent, elements)
    }

    /// The table's elements as an array, without a copy if they came as one or as a `Vec`.
    ///
    /// A `D` with another number of axes than the index set does not compile;
    /// [`IxDyn`](type@ndarray::IxDyn) always does.
    pub fn into_ndarray<D: Dimension>(self) -> Array<T, D> {
        let dimension = dimension::<I, D>(self.extent());
        Array::from_shape_vec(dimension, self.into_vec())
            .expect("a table has as many elements as its extent says")
    }

    /// The table as a view of an array.
    pub fn view_ndarray<D: Dimension>(&self) -> ArrayView<'_, T, D> {
        self.view().to_ndarray()
    }

    /// The table as a mutable view of an array.
    pub fn view_ndarray_mut<D: Dimension>(&mut self) -> ArrayViewMut<'_, T, D> {
        let dimension = dimension::<I, D>(self.extent());
        ArrayViewMut::from_shape(dimension, self.as_mut_slice())
            .expect("a table has as many elements as its extent says")
    }
}

/// The elements of an array in row-major order, in its own memory.
///
/// An array that was sliced from a larger one owns all of that one's elements; those before and
/// after its own go.
fn contiguous<T: Plain, D: Dimension>(array: Array<T, D>) -> Vec<T> {
    let len = array.len();
    let (mut elements, offset) = array.into_raw_vec_and_offset();
    let start = offset.unwrap_or(0);
    elements.truncate(start + len);
    elements.drain(..start);
    elements
}

impl<'a, I: IndexSet, T: Plain> View<'a, I, T> {
    /// An array's elements as a table, where they are.
    ///
    /// # Errors
    /// As for [`Table::from_ndarray`], and [`Error::NotContiguous`] if the array is not in
    /// row-major order.
    pub fn from_ndarray<D: Dimension>(array: ArrayView<'a, T, D>) -> Result<Self, Error> {
        let extent = extent_of_axes::<I>(array.shape())?;
        View::from_slice(extent, array.to_slice().ok_or(Error::NotContiguous)?)
    }

    /// The view's elements as a view of an array.
    pub fn to_ndarray<D: Dimension>(self) -> ArrayView<'a, T, D> {
        let dimension = dimension::<I, D>(self.extent());
        ArrayView::from_shape(dimension, self.as_slice())
            .expect("a view has as many elements as its extent says")
    }
}

impl<I: IndexSet, T: Plain, D: Dimension> TryFrom<Array<T, D>> for Table<I, T> {
    type Error = Error;

    fn try_from(array: Array<T, D>) -> Result<Self, Error> {
        Table::from_ndarray(array)
    }
}

impl<'a, I: IndexSet, T: Plain, D: Dimension> TryFrom<ArrayView<'a, T, D>> for View<'a, I, T> {
    type Error = Error;

    fn try_from(array: ArrayView<'a, T, D>) -> Result<Self, Error> {
        View::from_ndarray(array)
    }
}

impl<I: IndexSet, T: Plain, D: Dimension> From<Table<I, T>> for Array<T, D> {
    fn from(table: Table<I, T>) -> Self {
        table.into_ndarray()
    }
}
