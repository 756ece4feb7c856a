//! A card, by CUDA's driver.
//!
//! There is one stream, and everything is done in its order. Memory is stream-ordered: it is given
//! back by what is queued, and the device's pool keeps it. Host memory that copies come from and go
//! to is pinned, and there is little of it: tables pass through in two halves.

use std::ffi::{CString, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;

use super::Driver;
use crate::cuda::cache::{Cache, Entry};
use crate::cuda::compile::Request;
use crate::cuda::library::{self, unavailable};
use crate::cuda::unit::{Kernel, Unit};
use crate::error::Error;

/// Bytes of a staging buffer.
const STAGING: usize = 4 << 20;

/// The oldest cards that the prelude is for.
const OLDEST: (i32, i32) = (8, 0);

/// A card.
pub(in crate::cuda) struct Card {
    name: String,
    capability: (i32, i32),
    /// The CUDA of the driver.
    major: i32,
    context: sys::CUcontext,
    stream: sys::CUstream,
    /// Made when something is first copied.
    staging: Mutex<Option<[Staging; 2]>>,
    loaded: Mutex<Vec<Loaded>>,
}

// SAFETY: contexts and streams may be used by all threads, which the driver's documentation promises; the rest
// is locked.
unsafe impl Send for Card {}
// SAFETY: as above.
unsafe impl Sync for Card {}

/// Pinned memory of the host's, and an event that is recorded behind its last use.
struct Staging {
    start: *mut u8,
    free: sys::CUevent,
}

/// The functions of a unit, in the order of its kernels. A module is never unloaded.
struct Loaded {
    functions: Vec<(&'static str, sys::CUfunction)>,
}

/// What a call of the driver's gives, by its name.
trait Called<T> {
    fn called(self, call: &'static str) -> Result<T, Error>;
}

impl<T> Called<T> for Result<T, DriverError> {
    fn called(self, call: &'static str) -> Result<T, Error> {
        self.map_err(|error| Error::Cuda {
            call,
            code: error.0 as i32,
        })
    }
}

impl Card {
    /// The card of this number.
    pub(in crate::cuda) fn open(ordinal: usize) -> Result<Card, Error> {
        let driver = library::driver()?;
        if ordinal >= driver.cards {
            let cards = driver.cards;
            let (are, plural) = if cards == 1 { ("is", "") } else { ("are", "s") };
            return Err(unavailable(format!(
                "there is no card {ordinal}: there {are} {cards} card{plural}, counted from 0"
            )));
        }
        let device = result::device::get(ordinal as i32).called("cuDeviceGet")?;
        use sys::CUdevice_attribute::{
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as MAJOR,
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as MINOR,
            CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED as POOLS,
        };
        let attribute = |which| {
            // SAFETY: the device is one of the driver's.
            unsafe { result::device::get_attribute(device, which) }.called("cuDeviceGetAttribute")
        };
        let capability = (attribute(MAJOR)?, attribute(MINOR)?);
        if capability < OLDEST {
            return Err(unavailable(format!(
                "card {ordinal} is of compute capability {}.{}, and 8.0 or later is needed",
                capability.0, capability.1
            )));
        }
        if attribute(POOLS)? == 0 {
            return Err(unavailable(format!(
                "card {ordinal} has no stream-ordered memory, which is switched off where it is shared out"
            )));
        }
        // SAFETY: the device is one of the driver's, and so is what comes of it; the context is current when the
        // stream is made, and the attribute is a number of 64 bits.
        unsafe {
            let context = result::primary_ctx::retain(device).called("cuDevicePrimaryCtxRetain")?;
            result::ctx::set_current(context).called("cuCtxSetCurrent")?;
            let stream = result::stream::create(result::stream::StreamKind::NonBlocking)
                .called("cuStreamCreate")?;
            let pool =
                result::device::get_default_mem_pool(device).called("cuDeviceGetDefaultMemPool")?;
            // Memory that was given back is kept, as on the host.
            let mut threshold = u64::MAX;
            result::mem_pool::set_attribute(
                pool,
                sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                (&raw mut threshold).cast(),
            )
            .called("cuMemPoolSetAttribute")?;
            Ok(Card {
                name: format!("cuda:{ordinal}"),
                capability,
                major: driver.major,
                context,
                stream,
                staging: Mutex::default(),
                loaded: Mutex::default(),
            })
        }
    }

    /// Has the calling thread speak of this card.
    fn enter(&self) -> Result<(), Error> {
        // SAFETY: the context is retained for good.
        unsafe { result::ctx::set_current(self.context) }.called("cuCtxSetCurrent")
    }

    /// The staging buffers, which are this thread's alone until it drops what it is given.
    fn staging(&self) -> Result<MutexGuard<'_, Option<[Staging; 2]>>, Error> {
        // Each buffer is waited for before it is used, whatever became of whoever had it before.
        let mut staging = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        if staging.is_none() {
            *staging = Some([Staging::new()?, Staging::new()?]);
        }
        Ok(staging)
    }

    /// Code for this card: what is kept, or what NVRTC makes.
    fn compile(&self, unit: &Unit) -> Result<Vec<u8>, Error> {
        let request = Request::new(unit, self.capability);
        let cache = Cache::of_user();
        // What a later CUDA has compiled, this driver need not load.
        let kept = cache
            .get(&request)
            .filter(|kept| kept.version.0 <= self.major);
        if let Some(kept) = kept {
            return Ok(kept.cubin);
        }
        let nvrtc = library::nvrtc(Some(self.major))?;
        let entry = Entry {
            version: nvrtc.version(),
            cubin: nvrtc.compile(&request)?.cubin,
        };
        cache.put(&request, &entry);
        Ok(entry.cubin)
    }
}

impl Staging {
    fn new() -> Result<Self, Error> {
        // SAFETY: the memory is written before it is read.
        let start = unsafe { result::malloc_host(STAGING, 0) }.called("cuMemHostAlloc")?;
        let free = result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)
            .called("cuEventCreate")?;
        Ok(Staging {
            start: start.cast(),
            free,
        })
    }

    /// Waits until its last use is over.
    fn wait(&self) -> Result<(), Error> {
        // SAFETY: the event is never destroyed. One that was never recorded is not waited for.
        unsafe { result::event::synchronize(self.free) }.called("cuEventSynchronize")
    }

    /// Its last use is what was queued just now.
    fn used(&self, stream: sys::CUstream) -> Result<(), Error> {
        // SAFETY: neither is ever destroyed.
        unsafe { result::event::record(self.free, stream) }.called("cuEventRecord")
    }
}

/// The stretches that so many bytes are copied in: where they begin and how long they are.
fn stretches(bytes: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    (0..bytes)
        .step_by(STAGING)
        .map(move |start| (start, STAGING.min(bytes - start)))
}

impl Driver for Card {
    fn name(&self) -> &str {
        &self.name
    }

    fn allocate(&self, bytes: usize) -> Result<u64, Error> {
        self.enter()?;
        // SAFETY: the memory is used on this stream alone.
        match unsafe { result::malloc_async(self.stream, bytes) } {
            Err(DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => {
                Err(Error::OutOfDeviceMemory {
                    device: self.name.clone(),
                    bytes,
                })
            }
            result => result.called("cuMemAllocAsync"),
        }
    }

    unsafe fn free(&self, address: u64, _: usize) {
        // An error is one of something before, which whoever asks next is told.
        if self.enter().is_ok() {
            // SAFETY: promised by the caller; what is queued before is done before.
            let _ = unsafe { result::free_async(address, self.stream) };
        }
    }

    unsafe fn upload(&self, to: u64, from: *const u8, bytes: usize) -> Result<(), Error> {
        self.enter()?;
        let staging = self.staging()?;
        let buffers = staging.iter().flatten().cycle();
        for (buffer, (start, length)) in buffers.zip(stretches(bytes)) {
            buffer.wait()?;
            // SAFETY: the buffer is not in use, and what is copied lies within what the caller promised. The
            // slice is of bytes that have been written, and stays what it is until the event says so.
            unsafe {
                buffer
                    .start
                    .copy_from_nonoverlapping(from.add(start), length);
                let slice = std::slice::from_raw_parts(buffer.start, length);
                result::memcpy_htod_async(to + start as u64, slice, self.stream)
                    .called("cuMemcpyHtoDAsync")?;
            }
            buffer.used(self.stream)?;
        }
        Ok(())
    }

    unsafe fn download(&self, to: *mut u8, from: u64, bytes: usize) -> Result<(), Error> {
        self.enter()?;
        let staging = self.staging()?;
        let queue = |buffer: &Staging, (start, length)| {
            buffer.wait()?;
            // SAFETY: the buffer is not in use, is as long, and what is copied lies within what the caller promised.
            unsafe {
                let call = sys::cuMemcpyDtoHAsync_v2(
                    buffer.start.cast(),
                    from + start as u64,
                    length,
                    self.stream,
                );
                call.result().called("cuMemcpyDtoHAsync")?;
            }
            buffer.used(self.stream)
        };
        let pieces = || staging.iter().flatten().cycle().zip(stretches(bytes));
        let mut ahead = pieces();
        if let Some((buffer, stretch)) = ahead.next() {
            queue(buffer, stretch)?;
        }
        for (buffer, (start, length)) in pieces() {
            // The next one is on its way while this one is copied.
            if let Some((buffer, stretch)) = ahead.next() {
                queue(buffer, stretch)?;
            }
            buffer.wait()?;
            // SAFETY: the copy to the buffer is done, and what is copied lies within what the caller promised.
            unsafe { to.add(start).copy_from_nonoverlapping(buffer.start, length) };
        }
        Ok(())
    }

    unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        self.enter()?;
        // SAFETY: promised by the caller.
        unsafe { result::memcpy_dtod_async(to, from, bytes, self.stream) }
            .called("cuMemcpyDtoDAsync")
    }

    fn load(&self, unit: &Unit) -> Result<usize, Error> {
        self.enter()?;
        let cubin = self.compile(unit)?;
        // SAFETY: it is a whole cubin, of NVRTC or of the cache, which keeps a hash of it.
        let module = unsafe { result::module::load_data(cubin.as_ptr().cast()) }
            .called("cuModuleLoadData")?;
        let function = |kernel: &'static Kernel| {
            let name = CString::new(kernel.name).expect("a name of C's");
            // SAFETY: the module is never unloaded.
            let function = unsafe { result::module::get_function(module, name) };
            Ok((kernel.name, function.called("cuModuleGetFunction")?))
        };
        let functions = unit
            .kernels
            .iter()
            .map(function)
            .collect::<Result<_, Error>>()?;
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.push(Loaded { functions });
        Ok(loaded.len() - 1)
    }

    unsafe fn launch(
        &self,
        loaded: usize,
        kernel: &Kernel,
        grid: [u32; 3],
        arguments: &[&[u8]],
    ) -> Result<(), Error> {
        self.enter()?;
        let known = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, function) = known[loaded]
            .functions
            .iter()
            .find(|(name, _)| *name == kernel.name)
            .expect("a kernel of the unit");
        let mut pointers: Vec<*mut c_void> = arguments
            .iter()
            .map(|value| value.as_ptr().cast_mut().cast())
            .collect();
        // SAFETY: promised by the caller; the values are copied before the call returns, and not written.
        unsafe {
            result::launch_kernel(
                *function,
                grid.into(),
                (kernel.block, 1, 1),
                0,
                self.stream,
                &mut pointers,
            )
        }
        .called("cuLaunchKernel")
    }

    fn wait(&self) -> Result<(), Error> {
        self.enter()?;
        // SAFETY: the stream is never destroyed.
        unsafe { result::stream::synchronize(self.stream) }.called("cuStreamSynchronize")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_all_bytes_once() {
        for bytes in [1, STAGING - 1, STAGING, STAGING + 1, 3 * STAGING + 5] {
            let mut next = 0;
            for (start, length) in stretches(bytes) {
                assert_eq!(start, next);
                assert!(0 < length && length <= STAGING);
                next += length;
            }
            assert_eq!(next, bytes);
        }
    }
}
