//! Moving tables to devices and back.

use super::device::Device;
use crate::element::Element;
use crate::error::Error;
use crate::index_set::IndexSet;
use crate::table::Table;

/// What can be moved to a device and back: tables, numbers, which live on neither, and tuples of
/// them.
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
/// A struct of tables is moved field by field; implement the trait for it to do so in one call.
pub trait ToDevice: Sized {
    /// A copy on `device`, from the host or from any device.
    ///
    /// # Errors
    /// [`Error::OutOfDeviceMemory`] if the device has not as much memory, or what its driver says.
    fn to_device(&self, device: &Device) -> Result<Self, Error>;

    /// A copy on the host. It waits for what has been asked of the device before.
    ///
    /// # Errors
    /// What the device's driver says, of this or of what was asked before.
    fn to_host(&self) -> Result<Self, Error>;
}

impl<I: IndexSet, T: Element> ToDevice for Table<I, T> {
    fn to_device(&self, device: &Device) -> Result<Self, Error> {
        self.with_data(|data| data.to_device(device))
    }

    fn to_host(&self) -> Result<Self, Error> {
        self.with_data(|data| data.to_host())
    }
}

macro_rules! numbers {
    ($($T:ty)*) => {$(
        impl ToDevice for $T {
            fn to_device(&self, _: &Device) -> Result<Self, Error> {
                Ok(*self)
            }

            fn to_host(&self) -> Result<Self, Error> {
                Ok(*self)
            }
        }
    )*};
}

numbers!(f32 f64 i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool);

macro_rules! tuples {
    ($($($T:ident $at:tt)+;)+) => {$(
        impl<$($T: ToDevice),+> ToDevice for ($($T,)+) {
            fn to_device(&self, device: &Device) -> Result<Self, Error> {
                Ok(($(self.$at.to_device(device)?,)+))
            }

            fn to_host(&self) -> Result<Self, Error> {
                Ok(($(self.$at.to_host()?,)+))
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
