//! What drives a device: memory, copies, kernels.

#[cfg(feature = "cuda")]
pub(super) mod api;
#[cfg(feature = "cuda")]
pub(super) mod card;
#[cfg(feature = "emulated")]
pub(super) mod emulated;

use std::panic::{RefUnwindSafe, UnwindSafe};

use super::unit::{Kernel, Unit};
use crate::error::Error;

/// A device, as the rest of this crate sees it. What is asked of it is done in the order in which
/// it is asked; calls may return before it is done, except where they say otherwise.
///
/// Addresses are the device's own, and never 0. Tables hold drivers, and are no less safe behind a
/// panic for it.
pub(super) trait Driver: Send + Sync + UnwindSafe + RefUnwindSafe {
    /// `cuda:0`.
    fn name(&self) -> &str;

    /// The most blocks to launch of a kernel whose threads go through any number of points.
    fn most_blocks(&self) -> u64 {
        u64::MAX
    }

    /// So many bytes, which are not 0, aligned for every element. What they hold nobody has
    /// written.
    fn allocate(&self, bytes: usize) -> Result<u64, Error>;

    /// Gives memory back.
    ///
    /// # Safety
    /// It came from [`allocate`](Self::allocate) with as many bytes, and is not used by anything
    /// that is asked for later.
    unsafe fn free(&self, address: u64, bytes: usize);

    /// Copies from the host; `from` may be changed as soon as this returns.
    ///
    /// # Safety
    /// So many bytes can be read at `from`, and written at `to`.
    unsafe fn upload(&self, to: u64, from: *const u8, bytes: usize) -> Result<(), Error>;

    /// Copies to the host, and waits until that is done.
    ///
    /// # Safety
    /// So many bytes can be read at `from`, and written at `to`.
    unsafe fn download(&self, to: *mut u8, from: u64, bytes: usize) -> Result<(), Error>;

    /// Copies on the device.
    ///
    /// # Safety
    /// So many bytes can be read at `from` and written at `to`, and the two do not overlap.
    unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error>;

    /// Makes a unit's kernels ready to be launched: the number by which they are known from now on.
    fn load(&self, unit: &Unit) -> Result<usize, Error>;

    /// Runs a kernel of the unit that was [loaded](Self::load) under this number. Each argument is
    /// the bytes of a value.
    ///
    /// # Safety
    /// The arguments are those that the kernel's text declares, and it does with the memory that
    /// they point to what may be done.
    unsafe fn launch(
        &self,
        loaded: usize,
        kernel: &Kernel,
        grid: [u32; 3],
        arguments: &[&[u8]],
    ) -> Result<(), Error>;

    /// Waits until everything is done that was asked for.
    fn wait(&self) -> Result<(), Error>;
}
