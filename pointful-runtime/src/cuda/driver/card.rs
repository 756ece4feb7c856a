//! A card, by CUDA's driver.
//!
//! There is one stream, and everything is done in its order. Memory is stream-ordered: it is given
//! back by what is queued, and the device's pool keeps it. Host memory that copies come from and go
//! to is pinned, and there is little of it: tables pass through in two halves.

use std::ffi::{CString, c_int, c_uint, c_void};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Driver;
use super::api::{Api, Handle, OUT_OF_MEMORY};
use crate::cuda::cache::{Cache, Entry};
use crate::cuda::compile::Request;
use crate::cuda::library::{self, unavailable};
use crate::cuda::unit::{Kernel, Unit};
use crate::error::Error;

/// Bytes of a staging buffer.
const STAGING: usize = 4 << 20;

/// The oldest cards that the prelude is for.
const OLDEST: (i32, i32) = (8, 0);

/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR`, `…_MINOR`
const CAPABILITY: [c_int; 2] = [75, 76];

/// `CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED`
const POOLS: c_int = 115;

/// `CU_MEMPOOL_ATTR_RELEASE_THRESHOLD`
const RELEASE_THRESHOLD: c_int = 4;

/// `CU_STREAM_NON_BLOCKING`
const NON_BLOCKING: c_uint = 1;

/// `CU_EVENT_DISABLE_TIMING`
const DISABLE_TIMING: c_uint = 2;

/// A card.
pub(in crate::cuda) struct Card {
    name: String,
    capability: (i32, i32),
    /// The CUDA of the driver.
    major: i32,
    api: Api,
    context: Handle,
    stream: Handle,
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
    free: Handle,
}

/// The functions of a unit, in the order of its kernels. A module is never unloaded.
struct Loaded {
    functions: Vec<(&'static str, Handle)>,
}

// SAFETY: a module's functions may be launched by all threads.
unsafe impl Send for Loaded {}
// SAFETY: the buffer is used by whoever holds the lock around it.
unsafe impl Send for Staging {}

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
        let api = driver.api;
        let mut device = 0;
        // SAFETY: it writes a number.
        unsafe { api.device(&mut device, ordinal as c_int) }?;
        let attribute = |which| {
            let mut value = 0;
            // SAFETY: it writes a number, and the device is one of the driver's.
            unsafe { api.device_attribute(&mut value, which, device) }?;
            Ok::<c_int, Error>(value)
        };
        let capability = (attribute(CAPABILITY[0])?, attribute(CAPABILITY[1])?);
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
        let (mut context, mut stream, mut pool) =
            (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        // Memory that was given back is kept, as on the host.
        let mut threshold = u64::MAX;
        // SAFETY: the device is one of the driver's, and so is what comes of it; the context is current when the
        // stream is made, and the attribute is a number of 64 bits.
        unsafe {
            api.retain_context(&mut context, device)?;
            api.set_context(context)?;
            api.create_stream(&mut stream, NON_BLOCKING)?;
            api.device_pool(&mut pool, device)?;
            api.set_pool_attribute(pool, RELEASE_THRESHOLD, (&raw mut threshold).cast())?;
        }
        Ok(Card {
            name: format!("cuda:{ordinal}"),
            capability,
            major: driver.major,
            api,
            context,
            stream,
            staging: Mutex::default(),
            loaded: Mutex::default(),
        })
    }

    /// Has the calling thread speak of this card.
    fn enter(&self) -> Result<(), Error> {
        // SAFETY: the context is retained for good.
        unsafe { self.api.set_context(self.context) }
    }

    /// The staging buffers, which are this thread's alone until it drops what it is given.
    fn staging(&self) -> Result<MutexGuard<'_, Option<[Staging; 2]>>, Error> {
        // Each buffer is waited for before it is used, whatever became of whoever had it before.
        let mut staging = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        if staging.is_none() {
            *staging = Some([Staging::new(&self.api)?, Staging::new(&self.api)?]);
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
    fn new(api: &Api) -> Result<Self, Error> {
        let (mut start, mut free) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: they write what they have made; the memory is written before it is read.
        unsafe {
            api.allocate_on_host(&mut start, STAGING, 0)?;
            api.create_event(&mut free, DISABLE_TIMING)?;
        }
        Ok(Staging {
            start: start.cast(),
            free,
        })
    }

    /// Waits until its last use is over.
    fn wait(&self, api: &Api) -> Result<(), Error> {
        // SAFETY: the event is never destroyed. One that was never recorded is not waited for.
        unsafe { api.wait_for_event(self.free) }
    }

    /// Its last use is what was queued just now.
    fn used(&self, api: &Api, stream: Handle) -> Result<(), Error> {
        // SAFETY: neither is ever destroyed.
        unsafe { api.record_event(self.free, stream) }
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
        let mut start = 0;
        // SAFETY: it writes an address, and the memory is used on this stream alone.
        match unsafe { self.api.allocate(&mut start, bytes, self.stream) } {
            Ok(()) => Ok(start),
            Err(Error::Cuda {
                code: OUT_OF_MEMORY,
                ..
            }) => Err(Error::OutOfDeviceMemory {
                device: self.name.clone(),
                bytes,
            }),
            Err(error) => Err(error),
        }
    }

    unsafe fn free(&self, address: u64, _: usize) {
        // An error is one of something before, which whoever asks next is told.
        if self.enter().is_ok() {
            // SAFETY: promised by the caller; what is queued before is done before.
            let _ = unsafe { self.api.free(address, self.stream) };
        }
    }

    unsafe fn upload(&self, to: u64, from: *const u8, bytes: usize) -> Result<(), Error> {
        self.enter()?;
        let staging = self.staging()?;
        let buffers = staging.iter().flatten().cycle();
        for (buffer, (start, length)) in buffers.zip(stretches(bytes)) {
            buffer.wait(&self.api)?;
            // SAFETY: the buffer is not in use, and stays what it is until the event says so; what is copied lies
            // within what the caller promised.
            unsafe {
                buffer
                    .start
                    .copy_from_nonoverlapping(from.add(start), length);
                let staged = buffer.start.cast_const().cast();
                self.api
                    .upload(to + start as u64, staged, length, self.stream)?;
            }
            buffer.used(&self.api, self.stream)?;
        }
        Ok(())
    }

    unsafe fn download(&self, to: *mut u8, from: u64, bytes: usize) -> Result<(), Error> {
        self.enter()?;
        let staging = self.staging()?;
        let queue = |buffer: &Staging, (start, length)| {
            buffer.wait(&self.api)?;
            // SAFETY: the buffer is not in use, is as long, and what is copied lies within what the caller promised.
            unsafe {
                let staged = buffer.start.cast();
                self.api
                    .download(staged, from + start as u64, length, self.stream)?;
            }
            buffer.used(&self.api, self.stream)
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
            buffer.wait(&self.api)?;
            // SAFETY: the copy to the buffer is done, and what is copied lies within what the caller promised.
            unsafe { to.add(start).copy_from_nonoverlapping(buffer.start, length) };
        }
        Ok(())
    }

    unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        self.enter()?;
        // SAFETY: promised by the caller.
        unsafe { self.api.copy(to, from, bytes, self.stream) }
    }

    fn load(&self, unit: &Unit) -> Result<usize, Error> {
        self.enter()?;
        let cubin = self.compile(unit)?;
        let mut module = ptr::null_mut();
        // SAFETY: it is a whole cubin, of NVRTC or of the cache, which keeps a hash of it.
        unsafe { self.api.load_module(&mut module, cubin.as_ptr().cast()) }?;
        let function = |kernel: &'static Kernel| {
            let name = CString::new(kernel.name).expect("a name of C's");
            let mut function = ptr::null_mut();
            // SAFETY: the name ends in a zero and is alive, and the module is never unloaded.
            unsafe {
                self.api
                    .module_function(&mut function, module, name.as_ptr())
            }?;
            Ok((kernel.name, function))
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
        let [x, y, z] = grid;
        // SAFETY: promised by the caller; the values are copied before the call returns, and not written.
        unsafe {
            self.api.launch(
                *function,
                x,
                y,
                z,
                kernel.block,
                1,
                1,
                0,
                self.stream,
                pointers.as_mut_ptr(),
                ptr::null_mut(),
            )
        }
    }

    fn wait(&self) -> Result<(), Error> {
        self.enter()?;
        // SAFETY: the stream is never destroyed.
        unsafe { self.api.wait_for_stream(self.stream) }
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
