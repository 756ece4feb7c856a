//! What one function keeps for another: the numbers and tables that a linear map reads.

use std::any::Any;

#[cfg(feature = "device")]
use crate::cuda::Device;
use crate::{Buf, Plain};

/// Values of several types, by number. Generated code makes it in one function and reads it in
/// another, so that no number or type is wrong.
pub struct Kept {
    values: Box<[Box<dyn Any + Send + Sync>]>,
    /// Where the tables live, if that is not the host.
    #[cfg(feature = "device")]
    device: Option<Device>,
}

impl Kept {
    /// These values, in order.
    pub fn new<const N: usize>(values: [Box<dyn Any + Send + Sync>; N]) -> Self {
        Self {
            values: Box::new(values),
            #[cfg(feature = "device")]
            device: None,
        }
    }

    /// These values of a function that has run on a device, where its tables are.
    #[cfg(feature = "device")]
    pub fn on<const N: usize>(device: &Device, values: [Box<dyn Any + Send + Sync>; N]) -> Self {
        Self {
            device: Some(device.clone()),
            ..Self::new(values)
        }
    }

    /// The device on which the function has run that has kept this, if that is not the host.
    #[cfg(feature = "device")]
    pub fn device(&self) -> Option<&Device> {
        self.device.as_ref()
    }

    /// A value to keep.
    pub fn of<T: Any + Send + Sync>(value: T) -> Box<dyn Any + Send + Sync> {
        Box::new(value)
    }

    /// The number at a position.
    ///
    /// # Panics
    /// If there is something else.
    pub fn number<T: Plain>(&self, at: usize) -> T {
        *self.value(at)
    }

    /// The elements of the table at a position.
    ///
    /// # Panics
    /// If there is something else.
    pub fn elements<T: Plain>(&self, at: usize) -> &[T] {
        self.value::<Buf<T>>(at)
    }

    /// The memory of the table at a position, wherever it lives.
    ///
    /// # Panics
    /// If there is something else.
    #[cfg(feature = "device")]
    pub fn buffer<T: Plain>(&self, at: usize) -> &Buf<T> {
        self.value(at)
    }

    fn value<T: Any>(&self, at: usize) -> &T {
        let value = self.values[at].downcast_ref();
        value.expect("what is kept is read as what it is")
    }
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kept({})", self.values.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read() {
        let kept = Kept::new([Kept::of(2.5f64), Kept::of(Buf::from_vec(vec![1usize, 2]))]);
        assert_eq!(kept.number::<f64>(0), 2.5);
        assert_eq!(kept.elements::<usize>(1), [1, 2]);
    }
}
