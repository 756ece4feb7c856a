//! What is left of checks that failed on a device.

use super::context::Argument;
use super::device::Device;
use crate::buffer::Buf;
use crate::error::Error;

/// The record that kernels leave of the first point at which a check failed: the prelude's `Panic`.
///
/// Launches and points are compared, and not times, so the record is the same in any order of
/// threads.
#[derive(Debug)]
pub struct Panic(Buf<u64>);

/// A check that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panicked {
    /// Which check of the unit.
    pub site: u32,
    /// In which launch,
    pub launch: u64,
    /// and at which point of it.
    pub point: u64,
    /// What it saw, as bits: as many values as a record has room for.
    pub values: Vec<u64>,
}

/// The words of a record of which nothing is written: the lock open, and site, launch and point
/// behind all others.
const NOTHING: [u64; 3] = [(u32::MAX as u64) << 32, u64::MAX, u64::MAX];

impl Panic {
    /// A record on a device, of nothing so far, with room for so many values.
    pub fn new(device: &Device, values: usize) -> Result<Self, Error> {
        let mut words = NOTHING.to_vec();
        words.resize(NOTHING.len() + values, 0);
        Ok(Panic(Buf::from_vec(words).to_device(device)?))
    }

    /// As a kernel is given it.
    pub fn argument(&self) -> Argument {
        Argument::buffer("panic", &self.0)
    }

    /// Waits for the kernels, and tells whether a check failed.
    pub fn read(&self) -> Result<Option<Panicked>, Error> {
        let words = self.0.to_host()?;
        let ([lock_and_site, launch, point], values) = words
            .split_first_chunk()
            .expect("a record has more words than that");
        Ok((*launch != u64::MAX).then(|| Panicked {
            site: (lock_and_site >> 32) as u32,
            launch: *launch,
            point: *point,
            values: values.to_vec(),
        }))
    }
}
