//! Moving tables to devices and back.

use super::device::Device;
use crate::element::Element;
use crate::error::Error;
use crate::extent::Extent;
use crate::index_set::IndexSet;
use crate::table::Table;

/// What can be moved to a device and back: tables, also of rows of different lengths, numbers and
/// extents, which live on neither, and tuples, arrays and `Vec`s of them.
///
/// ```
/// # #[cfg(feature = "emulated")] {
/// use pointful_runtime::{Device, Table, ToDevice};
///
/// let device = Device::emulated();
/// let x = Table::from(vec![1.0, 2.0, 3.0]);
/// let (there, three) = (x.clone(), 3.0).to_device(&device)?;
/// assert_eq!(there.device(), Some(&device));
/// assert_eq!((there.to_host()?, three), (x, 3.0));
/// # }
/// # Ok::<(), pointful_runtime::Error>(())
/// ```
///
/// A struct or an enum marked `#[pointful]` is moved field by field. For one that is not, implement
/// the trait in this way.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be moved to a device and back",
    note = "tables, numbers, extents, tuples, arrays and `Vec`s of these can, and what is made of them and marked `#[pointful]`"
)]
pub trait ToDevice: Sized {
    /// A copy where it is to be: on a device, or on the host if none is given.
    ///
    /// # Errors
    /// Those of [`to_device`](Self::to_device) and [`to_host`](Self::to_host).
    fn moved(&self, to: Option<&Device>) -> Result<Self, Error>;

    /// A copy on `device`, from the host or from any device.
    ///
    /// # Errors
    /// [`Error::OutOfDeviceMemory`] if the device has not as much memory, or what its driver says.
    fn to_device(&self, device: &Device) -> Result<Self, Error> {
        self.moved(Some(device))
    }

    /// A copy on the host. It waits for what has been asked of the device before.
    ///
    /// # Errors
    /// What the device's driver says, of this or of what was asked before.
    fn to_host(&self) -> Result<Self, Error> {
        self.moved(None)
    }
}

impl<I: IndexSet, T: Element> ToDevice for Table<I, T> {
    fn moved(&self, to: Option<&Device>) -> Result<Self, Error> {
        self.with_data(|data| match to {
            Some(device) => data.to_device(device),
            None => data.to_host(),
        })
    }
}

impl<I: IndexSet> ToDevice for Extent<I> {
    fn moved(&self, _: Option<&Device>) -> Result<Self, Error> {
        Ok(*self)
    }
}

impl<T: ToDevice> ToDevice for Vec<T> {
    fn moved(&self, to: Option<&Device>) -> Result<Self, Error> {
        self.iter().map(|part| part.moved(to)).collect()
    }
}

impl<T: ToDevice, const N: usize> ToDevice for [T; N] {
    fn moved(&self, to: Option<&Device>) -> Result<Self, Error> {
        let parts: Vec<T> = self
            .iter()
            .map(|part| part.moved(to))
            .collect::<Result<_, _>>()?;
        Ok(parts
            .try_into()
            .unwrap_or_else(|_| unreachable!("as many parts as there were")))
    }
}

macro_rules! numbers {
    ($($T:ty)*) => {$(
        impl ToDevice for $T {
            fn moved(&self, _: Option<&Device>) -> Result<Self, Error> {
                Ok(*self)
            }
        }
    )*};
}

numbers!(() f32 f64 i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool);

macro_rules! tuples {
    ($($($T:ident $at:tt)+;)+) => {$(
        impl<$($T: ToDevice),+> ToDevice for ($($T,)+) {
            fn moved(&self, to: Option<&Device>) -> Result<Self, Error> {
                Ok(($(self.$at.moved(to)?,)+))
            }
        }
    )+};
}

tuples! {
    A 0;
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
    A 0 B 1 C 2 D 3 E 4;
    A 0 B 1 C 2 D 3 E 4 F 5;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7;
}
