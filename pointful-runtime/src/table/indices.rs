//! Tables of indices: every element is a member of a set whose extent the table keeps.

use std::borrow::Cow;

use super::{Table, check_length};
use crate::buffer::Buf;
#[cfg(feature = "device")]
use crate::cuda::members;
use crate::error::Error;
use crate::extent::{Extent, IntoExtent};
use crate::index_set::{IndexSet, Place, SetName, not_a_member};

impl<I: IndexSet, K: IndexSet> Table<I, K> {
    /// The table whose elements are the members of `target` with these ordinals, in the vector's
    /// own memory.
    ///
    /// # Errors
    /// [`Error::Length`] if there are more or fewer elements than `extent` has members;
    /// [`Error::InvalidIndex`], naming the first position and its value, if an ordinal is not one
    /// of `target`.
    ///
    /// ```
    /// use pointful_runtime::{Dyn, Extent, Table};
    /// let class = Table::<Dyn, Dyn>::from_indices(Extent::new(3), Extent::new(2), vec![0, 1, 2]);
    /// assert_eq!(
    ///     class.unwrap_err().to_string(),
    ///     "element 2 is 2, which is no member of `Dyn`, a set of 2 members",
    /// );
    /// ```
    pub fn from_indices(
        extent: impl IntoExtent<I>,
        target: impl IntoExtent<K>,
        ordinals: Vec<usize>,
    ) -> Result<Self, Error> {
        let (extent, target) = (extent.into_extent(), target.into_extent());
        check_length(extent, ordinals.len())?;
        let len = target.len();
        match ordinals.iter().position(|&ordinal| ordinal >= len) {
            // SAFETY: both lengths and every ordinal have just been checked.
            None => Ok(unsafe { Self::from_ordinals(extent, target, Buf::from_vec(ordinals)) }),
            Some(position) => Err(Error::InvalidIndex {
                position,
                value: ordinals[position],
                set: SetName::<K>::new().to_string(),
                len,
            }),
        }
    }

    /// The table of a function into the set `target`, called once for each member of `extent` in
    /// order.
    ///
    /// # Panics
    /// If a value is no member of `target`.
    pub fn from_fn_into(extent: Extent<I>, target: Extent<K>, f: impl FnMut(I) -> K) -> Self {
        let (_, meta) = K::store(Buf::from_vec(Vec::new()), target);
        Self::of_members(extent, meta, f)
    }

    /// The extent of the set whose members the elements are.
    #[inline(always)]
    pub fn target(&self) -> Extent<K> {
        K::target(self.meta)
    }

    /// The ordinals of the elements in row-major order; borrowed but for `bool`.
    #[inline(always)]
    pub fn ordinals(&self) -> Cow<'_, [usize]> {
        K::ordinals(&self.data)
    }

    /// The table of the members of `target` with these ordinals: what generated code makes its
    /// results of.
    ///
    /// # Safety
    /// There is an ordinal for each member of `extent`, and each is below `target.len()`.
    #[doc(hidden)]
    pub unsafe fn from_ordinals(
        extent: Extent<I>,
        target: Extent<K>,
        ordinals: Buf<usize>,
    ) -> Self {
        let (data, meta) = K::store(ordinals, target);
        Table { extent, meta, data }
    }

    /// As [`from_ordinals`](Self::from_ordinals), of ordinals on a device that a function has
    /// computed there.
    ///
    /// # Errors
    /// What the device says, as truth values are copied.
    ///
    /// # Safety
    /// As there.
    #[cfg(feature = "device")]
    #[doc(hidden)]
    pub unsafe fn from_ordinals_on_device(
        extent: Extent<I>,
        target: Extent<K>,
        ordinals: Buf<usize>,
    ) -> Result<Self, Error> {
        let (_, meta) = K::store(Buf::from_vec(Vec::new()), target);
        let data = members::stored(ordinals)?;
        Ok(Table { extent, meta, data })
    }

    /// Replaces one element.
    ///
    /// # Panics
    /// If `index` is no member of the table's set, or `value` no member of the set it indexes.
    #[track_caller]
    pub fn set(&mut self, index: impl Place<I>, value: K) {
        let position = index.position(self.extent);
        let Some(stored) = value.to_repr(self.meta) else {
            not_a_member(self.target());
        };
        self.data[position] = stored;
    }
}
