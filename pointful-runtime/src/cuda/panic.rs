//! What is left of checks that failed on a device.

use super::context::Argument;
use super::device::Device;
use crate::buffer::Buf;
use crate::error::Error;

/// The record that kernels leave of the first point at which a check failed: the prelude's `Panic`.
///
/// Points are compared, and not times, so the record is the same in any order of threads.
#[derive(Debug)]
pub struct Panic(Buf<u64>);

/// A check that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panicked {
    /// Which check of the kernel.
    pub site: u32,
    /// At which point.
    pub point: u64,
    /// What it saw.
    pub values: [i64; 2],
}

/// The words of a record of which nothing is written: the lock open, and the site and the point
/// behind all others.
const NOTHING: [u64; 4] = [(u32::MAX as u64) << 32, u64::MAX, 0, 0];

impl Panic {
    /// A record on a device, of nothing so far.
    pub fn new(device: &Device) -> Result<Self, Error> {
        Ok(Panic(Buf::from_vec(NOTHING.to_vec()).to_device(device)?))
    }

    /// As a kernel is given it.
    pub fn argument(&self) -> Argument {
        Argument::buffer("panic", &self.0)
    }

    /// Waits for the kernels, and tells whether a check failed.
    pub fn read(&self) -> Result<Option<Panicked>, Error> {
        let words = self.0.to_host()?;
        let &[lock_and_site, point, first, second] = &words[..] else {
            unreachable!("a record has four words");
        };
        Ok((point != u64::MAX).then_some(Panicked {
            site: (lock_and_site >> 32) as u32,
            point,
            values: [first.cast_signed(), second.cast_signed()],
        }))
    }
}
