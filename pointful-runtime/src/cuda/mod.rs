//! Devices: tables that live on one, and kernels that run there.
//!
//! See `README.md` in this folder.

mod allocation;
#[cfg(feature = "cuda")]
mod cache;
#[cfg(feature = "cuda")]
mod compile;
mod context;
mod device;
mod driver;
#[cfg(feature = "cuda")]
mod library;
pub(crate) mod members;
mod panic;
mod places;
mod transfer;
mod unit;

pub(crate) use allocation::Allocation;
#[cfg(feature = "cuda")]
#[doc(hidden)]
pub use compile::{Nvrtc, compile_with};
#[doc(hidden)]
pub use context::{Argument, Context, Stop, Told, launch, one};
pub use device::Device;
#[cfg(feature = "emulated")]
#[doc(hidden)]
pub use driver::emulated::Emulation;
#[doc(hidden)]
pub use panic::{Panic, Panicked};
#[doc(hidden)]
pub use places::{check_devices, check_places, compare_devices, compare_places, device_of};
pub use transfer::ToDevice;
#[doc(hidden)]
pub use unit::{Kernel, Unit};

/// What the loader said, which an error of `libloading`'s does not say itself.
#[cfg(any(feature = "cuda", feature = "emulated"))]
fn loader_words(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), |said| said.to_string())
}
