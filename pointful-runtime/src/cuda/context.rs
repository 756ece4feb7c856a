//! Launching kernels.

use super::device::Device;
use super::places::common;
use super::unit::Unit;
use crate::buffer::Buf;
use crate::error::Error;

/// What a kernel is given.
#[derive(Debug)]
pub struct Argument {
    /// Where it lives if it is a buffer, and what messages call it.
    place: Option<(&'static str, Option<Device>)>,
    value: [u8; 8],
    size: usize,
}

impl Argument {
    fn of_bytes(bytes: &[u8]) -> Self {
        let mut value = [0; 8];
        value[..bytes.len()].copy_from_slice(bytes);
        Argument {
            place: None,
            value,
            size: bytes.len(),
        }
    }

    /// A buffer, which messages call by this name.
    ///
    /// The kernel may write to it where the caller could; see [`launch`].
    pub fn buffer<T: Copy>(name: &'static str, buffer: &Buf<T>) -> Self {
        let address = buffer.allocation().map_or(0, |memory| memory.address());
        Argument {
            place: Some((name, buffer.device().cloned())),
            ..Argument::of_bytes(&address.to_ne_bytes())
        }
    }

    /// The bytes of the value as a number: of a buffer, its address.
    pub fn bits(&self) -> u64 {
        u64::from_ne_bytes(self.value)
    }
}

macro_rules! numbers {
    ($($T:ty)*) => {$(
        impl From<$T> for Argument {
            fn from(value: $T) -> Self {
                Argument::of_bytes(&value.to_ne_bytes())
            }
        }
    )*};
}

numbers!(usize u64 i64 u32 i32 f32 f64);

/// Runs a unit's kernel where its buffers are.
///
/// It returns when the kernel is queued; what is asked of the device later finds it done.
///
/// # Errors
/// [`Error::Devices`] if two buffers live in different places. What the device says, of this kernel
/// or of one before.
///
/// # Safety
/// The arguments are those that the kernel's text declares. It reads and writes nothing but them,
/// within their lengths; what it writes nobody but the caller owns; and what becomes of a buffer is
/// valid for its elements.
///
/// # Panics
/// If there is no such kernel, no buffer on a device among the arguments, or if blocks are not of
/// whole warps.
pub unsafe fn launch(
    unit: &'static Unit,
    kernel: &str,
    grid: [u32; 3],
    arguments: &[Argument],
) -> Result<(), Error> {
    let kernel = unit
        .kernels
        .iter()
        .find(|known| known.name == kernel)
        .expect("a kernel of the unit");
    assert!(
        kernel.block.is_multiple_of(32) && (1..=1024).contains(&kernel.block),
        "a block has 1 to 32 warps"
    );
    let buffers = arguments
        .iter()
        .filter_map(|argument| argument.place.as_ref());
    let places = buffers.map(|(name, device)| (*name, device.as_ref()));
    let (_, device) = common(kernel.name, places)?.expect("buffers on a device");
    if grid.contains(&0) {
        return Ok(());
    }
    let loaded = device.load(unit)?;
    let values: Vec<&[u8]> = arguments
        .iter()
        .map(|argument| &argument.value[..argument.size])
        .collect();
    // SAFETY: promised by the caller.
    unsafe { device.driver().launch(loaded, kernel, grid, &values) }
}
