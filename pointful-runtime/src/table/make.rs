//! Making tables of functions, values, vectors and arrays.

use std::any::{Any, TypeId};

use super::{Table, check_length};
use crate::buffer::Buf;
use crate::element::{Element, Plain};
use crate::error::Error;
use crate::extent::{Extent, IntoExtent};
use crate::index_set::{Dyn, Fin, IndexSet};
use crate::scalar::Number;

impl<I: IndexSet, T: Element<Meta: Default>> Table<I, T> {
    /// The table of a function, called once for each member in order.
    ///
    /// ```
    /// use pointful_runtime::{Dyn, Table};
    /// // `into()` makes an extent of the lengths of `Dyn` axes.
    /// let t = Table::from_fn((2, 3).into(), |(Dyn(i), Dyn(j))| 10 * i + j);
    /// assert_eq!((t[(1, 2)], t[1][2], t[[1, 2]]), (12, 12, 12));
    /// ```
    ///
    /// Elements are numbers, booleans, or members of static index sets; for a table of indices into
    /// a dynamic set, which has to know that set's extent, see [`Table::from_fn_into`].
    pub fn from_fn(extent: Extent<I>, f: impl FnMut(I) -> T) -> Self {
        Self::of_members(extent, T::Meta::default(), f)
    }

    /// The table with these elements, in row-major order; numbers and booleans stay in the vector's
    /// own memory.
    ///
    /// ```
    /// use pointful_runtime::{Dyn, Error, Fin, Table};
    /// let rows = Table::<(Dyn, Fin<2>), f64>::from_vec((2, ()), vec![1.0, 2.0, 3.0, 4.0])?;
    /// assert_eq!(rows[(Dyn(1), Fin::new(0))], 3.0);
    /// let faces = Table::<Fin<2>, Fin<6>>::from_vec((), vec![Fin::new(5), Fin::new(0)])?;
    /// assert_eq!(faces.at(Fin::new(0)).get(), 5);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`] if there are more or fewer elements than members.
    pub fn from_vec(extent: impl IntoExtent<I>, elements: Vec<T>) -> Result<Self, Error> {
        let extent = extent.into_extent();
        check_length(extent, elements.len())?;
        let meta = T::Meta::default();
        Ok(match stored_as_they_are(elements) {
            Ok(data) => Table { extent, meta, data },
            Err(members) => {
                let mut members = members.into_iter();
                Self::of_members(extent, meta, |_| {
                    members.next().expect("as many as members of the set")
                })
            }
        })
    }

    /// The table that has the same value everywhere.
    pub fn full(extent: impl IntoExtent<I>, value: T) -> Self {
        Self::of_members(extent.into_extent(), T::Meta::default(), |_| value)
    }
}

/// The memory of a vector whose elements are stored as they are; else the vector.
fn stored_as_they_are<T: Element>(elements: Vec<T>) -> Result<Buf<T::Repr>, Vec<T>> {
    let mut elements = Some(elements);
    if TypeId::of::<T::Meta>() == TypeId::of::<()>() {
        let any: &mut dyn Any = &mut elements;
        // It succeeds if the two types are one.
        if let Some(plain) = any.downcast_mut::<Option<Vec<T::Repr>>>() {
            return Ok(Buf::from_vec(plain.take().expect("just put there")));
        }
    }
    Err(elements.expect("just put there"))
}

impl<I: IndexSet, T: Element> Table<I, T> {
    /// The table of a function whose values fit `meta`.
    pub(super) fn of_members(extent: Extent<I>, meta: T::Meta, mut f: impl FnMut(I) -> T) -> Self {
        let mut members = extent.iter();
        let data = Buf::from_fn(extent.len(), |position| {
            let member = members.next().expect("as many members as elements");
            match f(member).to_repr(meta) {
                Some(repr) => repr,
                None => panic!(
                    "element {position} is no member of the set that the table indexes: {meta:?}"
                ),
            }
        });
        Table { extent, meta, data }
    }
}

impl<I: IndexSet, T: Number> Table<I, T> {
    /// The table that is zero everywhere.
    ///
    /// An extent of [`Dyn`] axes may be written as their lengths; `()` stands for the length of a
    /// static set, where the type says which.
    ///
    /// ```
    /// use pointful_runtime::{Dyn, Fin, Table};
    /// let mut t = Table::zeros((2, 3));
    /// t[(1, 2)] = 5.0;
    /// assert_eq!((t[1][2], t.len()), (5.0, 6));
    /// assert_eq!(Table::<(Dyn, Fin<2>), f64>::zeros((3, ())).len(), 6);
    /// ```
    pub fn zeros(extent: impl IntoExtent<I>) -> Self {
        Self::filled(extent.into_extent(), T::ZERO)
    }

    /// The table that is one everywhere.
    pub fn ones(extent: impl IntoExtent<I>) -> Self {
        Self::filled(extent.into_extent(), T::ONE)
    }

    fn filled(extent: Extent<I>, value: T) -> Self {
        Table {
            extent,
            meta: (),
            data: Buf::filled(extent.len(), value),
        }
    }
}

impl<I: IndexSet, T: Plain> Table<I, T> {
    /// The table with these elements, in row-major order, in the buffer's own memory.
    ///
    /// # Panics
    /// If there are more or fewer elements than members.
    #[inline]
    #[track_caller]
    pub fn from_buf(extent: Extent<I>, elements: Buf<T>) -> Self {
        if let Err(error) = check_length(extent, elements.len()) {
            panic!("{error}");
        }
        Table {
            extent,
            meta: (),
            data: elements,
        }
    }

    /// The elements, in row-major order; without a copy if they came as a `Vec` or are a function's
    /// result.
    pub fn into_vec(self) -> Vec<T> {
        self.data.into_vec()
    }

    /// The elements, in row-major order, in the table's own memory.
    #[inline]
    pub fn into_buf(self) -> Buf<T> {
        self.data
    }

    /// The table of a function of this one's elements.
    pub fn map<U: Plain>(&self, mut f: impl FnMut(T) -> U) -> Table<I, U> {
        Table {
            extent: self.extent,
            meta: (),
            data: Buf::from_fn(self.len(), |k| f(self.data[k])),
        }
    }
}

impl<T: Plain> Table<(), T> {
    /// The table over the one member of `()`: a single value.
    pub fn scalar(value: T) -> Self {
        Table::full(Extent::default(), value)
    }

    /// The single value.
    pub fn into_scalar(self) -> T {
        self.data[0]
    }
}

/// Over [`Dyn`] alone, so that `Table::from(vec)` needs no type beside it. A table over a set with a
/// name is collected.
impl<T: Element<Meta: Default>> From<Vec<T>> for Table<Dyn, T> {
    fn from(elements: Vec<T>) -> Self {
        Table::from_vec(elements.len(), elements).expect("as many members as elements")
    }
}

impl<T: Element<Meta: Default>> From<&[T]> for Table<Dyn, T> {
    fn from(elements: &[T]) -> Self {
        elements.to_vec().into()
    }
}

/// Over a set that is known by its length alone: [`Dyn`], or one with a name.
///
/// ```
/// use pointful_runtime::{Dyn, Table};
/// let t: Table<Dyn, f64> = [1.0, 2.0].into_iter().collect();
/// assert_eq!(t.len(), 2);
/// ```
impl<I: IndexSet<Size = usize>, T: Element<Meta: Default>> FromIterator<T> for Table<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(elements: It) -> Self {
        let elements: Vec<T> = elements.into_iter().collect();
        Table::from_vec(Extent::new(elements.len()), elements).expect("as many members as elements")
    }
}

/// Nested arrays make tables of static sets, and tables of `Dyn` axes as a short way to write them.
macro_rules! from_nested_array {
    ($($Array:ty, [$($N:ident $name:ident),+], $Static:ty, $dynamic:ty, $size:expr;)*) => {$(
        impl<T: Element<Meta: Default>, $(const $N: usize),+> From<$Array> for Table<$Static, T> {
            fn from(elements: $Array) -> Self {
                Table::from_fn(Extent::default(), from_nested_array!(@element elements, $($name),+; get))
            }
        }

        impl<T: Element<Meta: Default>, $(const $N: usize),+> From<$Array> for Table<$dynamic, T> {
            fn from(elements: $Array) -> Self {
                Table::from_fn(Extent::new($size), from_nested_array!(@element elements, $($name),+; dyn))
            }
        }
    )*};
    (@element $elements:ident, $one:ident; get) => { |$one: Fin<_>| $elements[$one.get()] };
    (@element $elements:ident, $one:ident; dyn) => { |Dyn($one)| $elements[$one] };
    (@element $elements:ident, $($many:ident),+; get) => { |($($many,)+)| $elements$([$many.get()])+ };
    (@element $elements:ident, $($many:ident),+; dyn) => { |($(Dyn($many),)+)| $elements$([$many])+ };
}

from_nested_array! {
    [T; A], [A a], Fin<A>, Dyn, A;
    [[T; B]; A], [A a, B b], (Fin<A>, Fin<B>), (Dyn, Dyn), (A, B);
    [[[T; C]; B]; A], [A a, B b, C c], (Fin<A>, Fin<B>, Fin<C>), (Dyn, Dyn, Dyn), (A, B, C);
    [[[[T; D]; C]; B]; A], [A a, B b, C c, D d],
        (Fin<A>, Fin<B>, Fin<C>, Fin<D>), (Dyn, Dyn, Dyn, Dyn), (A, B, C, D);
}
