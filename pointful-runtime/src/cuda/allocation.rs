//! Memory on a device, owned.

use super::device::Device;
use crate::error::Error;

/// The least that is allocated: there is an element 0 of every type, which a kernel may read when a
/// check has failed.
const LEAST: usize = 8;

/// Memory on a device, given back when this is dropped.
pub(crate) struct Allocation {
    device: Device,
    address: u64,
    bytes: usize,
}

impl Allocation {
    /// Memory that nobody has written, but for what stands for an element where there is none.
    pub(crate) fn new(device: &Device, bytes: usize) -> Result<Self, Error> {
        let address = device.driver().allocate(bytes.max(LEAST))?;
        let allocation = Allocation {
            device: device.clone(),
            address,
            bytes,
        };
        if bytes < LEAST {
            let zeros = [0_u8; LEAST];
            // SAFETY: as many bytes have just been allocated.
            unsafe { device.driver().upload(address, zeros.as_ptr(), LEAST) }?;
        }
        Ok(allocation)
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
        // SAFETY: promised by the caller, and the memory is this one's.
        unsafe { self.device.driver().upload(self.address, from, self.bytes) }
    }

    /// Copies to the host.
    ///
    /// # Safety
    /// As many bytes as are allocated can be written there.
    pub(crate) unsafe fn download(&self, to: *mut u8) -> Result<(), Error> {
        if self.bytes == 0 {
            return Ok(());
        }
        // SAFETY: promised by the caller, and the memory is this one's.
        unsafe { self.device.driver().download(to, self.address, self.bytes) }
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
