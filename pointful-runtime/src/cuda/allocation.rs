//! Memory on a device, owned.

use super::device::Device;
use crate::error::Error;
use crate::stats;

/// The least that is allocated, as drivers allocate no nothing.
const LEAST: usize = 8;

/// Memory on a device, given back when this is dropped.
pub(crate) struct Allocation {
    device: Device,
    address: u64,
    bytes: usize,
}

impl Allocation {
    /// Memory that nobody has written.
    pub(crate) fn new(device: &Device, bytes: usize) -> Result<Self, Error> {
        let address = device.driver().allocate(bytes.max(LEAST))?;
        Ok(Allocation {
            device: device.clone(),
            address,
            bytes,
        })
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// What lies there, elsewhere on the same device.
    pub(crate) fn duplicate(&self) -> Result<Self, Error> {
        let copy = Allocation::new(&self.device, self.bytes)?;
        if self.bytes != 0 {
            // SAFETY: two allocations of so many bytes.
            unsafe {
                self.device
                    .driver()
                    .copy(copy.address, self.address, self.bytes)
            }?;
        }
        Ok(copy)
    }

    /// Copies from the host.
    ///
    /// # Safety
    /// As many bytes as are allocated can be read there.
    pub(crate) unsafe fn upload(&mut self, from: *const u8) -> Result<(), Error> {
        if self.bytes == 0 {
            return Ok(());
        }
        stats::moved_to_device(self.bytes);
        // SAFETY: promised by the caller, and the memory is this one's.
        unsafe { self.device.driver().upload(self.address, from, self.bytes) }
    }

    /// Copies some bytes to the host.
    ///
    /// # Safety
    /// They are allocated, and as many can be written there.
    pub(crate) unsafe fn download_part(
        &self,
        to: *mut u8,
        from: usize,
        bytes: usize,
    ) -> Result<(), Error> {
        if bytes == 0 {
            return Ok(());
        }
        stats::moved_to_host(bytes);
        // SAFETY: promised by the caller, and the memory is this one's.
        unsafe {
            self.device
                .driver()
                .download(to, self.address + from as u64, bytes)
        }
    }

    /// Copies to the host.
    ///
    /// # Safety
    /// As many bytes as are allocated can be written there.
    pub(crate) unsafe fn download(&self, to: *mut u8) -> Result<(), Error> {
        // SAFETY: promised by the caller.
        unsafe { self.download_part(to, 0, self.bytes) }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: it is owned, and whoever used it asked for that before.
        unsafe {
            self.device
                .driver()
                .free(self.address, self.bytes.max(LEAST))
        }
    }
}
