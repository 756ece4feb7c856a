//! The functions of CUDA's driver that are called, out of the library that was found.
//!
//! What a function returns is a number here, of which only 0 has a meaning of its own: later drivers
//! have codes that nobody knows yet, and they are errors like all others.

use std::ffi::{c_char, c_int, c_uint, c_void};

use libloading::Library;

use crate::cuda::library::unavailable;
use crate::error::Error;

/// A context, stream, event, pool, module or function of the driver's.
pub(in crate::cuda) type Handle = *mut c_void;

/// An address on a card.
pub(in crate::cuda) type Address = u64;

/// The code of what lacks memory.
pub(in crate::cuda) const OUT_OF_MEMORY: i32 = 2;

/// The functions, each a method that gives its code as an error.
macro_rules! functions {
    ($($name:ident $symbol:literal ($($param:ident: $ty:ty),*);)*) => {
        /// The driver, opened.
        pub(in crate::cuda) struct Api {
            $($name: unsafe extern "C" fn($($ty),*) -> c_int,)*
        }

        impl Api {
            /// The functions of a driver, which is never closed.
            ///
            /// # Errors
            /// [`Error::CudaUnavailable`] if it lacks one of them.
            pub(in crate::cuda) fn of(library: Library) -> Result<Api, Error> {
                // It has threads and handlers of its own once it was opened, and functions are called later.
                let library = std::mem::ManuallyDrop::new(library);
                Ok(Api {
                    // SAFETY: so CUDA declares them.
                    $($name: unsafe { function(&library, $symbol) }?,)*
                })
            }

            $(
                /// # Safety
                /// What CUDA's documentation says of the function of this name.
                #[allow(clippy::too_many_arguments, reason = "they are CUDA's")]
                pub(in crate::cuda) unsafe fn $name(&self, $($param: $ty),*) -> Result<(), Error> {
                    // SAFETY: promised by the caller.
                    match unsafe { (self.$name)($($param),*) } {
                        0 => Ok(()),
                        code => Err(Error::Cuda { call: $symbol.trim_end_matches("_v2"), code }),
                    }
                }
            )*
        }
    };
}

functions! {
    init "cuInit" (flags: c_uint);
    device_count "cuDeviceGetCount" (count: *mut c_int);
    device "cuDeviceGet" (device: *mut c_int, ordinal: c_int);
    device_attribute "cuDeviceGetAttribute" (value: *mut c_int, which: c_int, device: c_int);
    device_pool "cuDeviceGetDefaultMemPool" (pool: *mut Handle, device: c_int);
    retain_context "cuDevicePrimaryCtxRetain" (context: *mut Handle, device: c_int);
    set_context "cuCtxSetCurrent" (context: Handle);
    set_pool_attribute "cuMemPoolSetAttribute" (pool: Handle, which: c_int, value: *mut c_void);
    create_stream "cuStreamCreate" (stream: *mut Handle, flags: c_uint);
    wait_for_stream "cuStreamSynchronize" (stream: Handle);
    create_event "cuEventCreate" (event: *mut Handle, flags: c_uint);
    record_event "cuEventRecord" (event: Handle, stream: Handle);
    wait_for_event "cuEventSynchronize" (event: Handle);
    allocate_on_host "cuMemHostAlloc" (start: *mut *mut c_void, bytes: usize, flags: c_uint);
    allocate "cuMemAllocAsync" (start: *mut Address, bytes: usize, stream: Handle);
    free "cuMemFreeAsync" (start: Address, stream: Handle);
    upload "cuMemcpyHtoDAsync_v2" (to: Address, from: *const c_void, bytes: usize, stream: Handle);
    download "cuMemcpyDtoHAsync_v2" (to: *mut c_void, from: Address, bytes: usize, stream: Handle);
    copy "cuMemcpyDtoDAsync_v2" (to: Address, from: Address, bytes: usize, stream: Handle);
    load_module "cuModuleLoadData" (module: *mut Handle, code: *const c_void);
    module_function "cuModuleGetFunction" (function: *mut Handle, module: Handle, name: *const c_char);
    launch "cuLaunchKernel" (
        function: Handle,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: Handle,
        arguments: *mut *mut c_void,
        extra: *mut *mut c_void
    );
}

/// A function of the driver's.
///
/// # Safety
/// It is of this type.
pub(in crate::cuda) unsafe fn function<F: Copy>(library: &Library, name: &str) -> Result<F, Error> {
    // SAFETY: promised by the caller.
    let found = unsafe { library.get::<F>(name.as_bytes()) };
    found
        .map(|function| *function)
        .map_err(|_| unavailable(format!("the driver has no `{name}`")))
}
