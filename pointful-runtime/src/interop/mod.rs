//! Exchange of data with other crates.

mod ndarray;
#[cfg(feature = "npy")]
mod npy;
#[cfg(feature = "serde")]
mod serde;

#[cfg(feature = "npy")]
pub use npy::{NpyElement, NpyError};
