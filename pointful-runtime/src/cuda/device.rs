//! Handles of devices.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::driver::Driver;
#[cfg(feature = "emulated")]
use super::driver::emulated::{Emulated, Emulation};
use super::unit::Unit;
use crate::error::Error;

/// A device that tables can live on: a handle, cheap to clone. [`ToDevice`](crate::ToDevice) moves
/// them.
///
/// Two handles are equal if they are of one device. A device is opened once in a process and stays
/// open.
#[derive(Clone)]
pub struct Device(Arc<Opened>);

/// A device that has been opened.
struct Opened {
    driver: Box<dyn Driver>,
    /// Units that the driver has loaded, by their texts, and the numbers by which it knows them.
    loaded: Mutex<Vec<(&'static Unit, usize)>>,
}

impl Device {
    #[cfg_attr(not(any(feature = "cuda", feature = "emulated")), expect(dead_code))]
    fn new(driver: impl Driver + 'static) -> Device {
        Device(Arc::new(Opened {
            driver: Box::new(driver),
            loaded: Mutex::default(),
        }))
    }

    /// The CUDA device of this number, counted from 0 as the driver counts them.
    ///
    /// ```
    /// use pointful_runtime::{Device, Error};
    ///
    /// match Device::cuda(0) {
    ///     Ok(device) => assert_eq!(device.to_string(), "cuda:0"),
    ///     Err(error) => assert!(matches!(error, Error::CudaUnavailable { .. }), "{error}"),
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::CudaUnavailable`], with the reason, if there is no driver of CUDA 12.0 or later, or
    /// no such card of compute capability 8.0 or later.
    #[cfg(feature = "cuda")]
    pub fn cuda(ordinal: usize) -> Result<Device, Error> {
        static OPENED: Mutex<Vec<(usize, Device)>> = Mutex::new(Vec::new());
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, device)) = opened.iter().find(|(number, _)| *number == ordinal) {
            return Ok(device.clone());
        }
        let device = Device::new(super::driver::card::Card::open(ordinal)?);
        opened.push((ordinal, device.clone()));
        Ok(device)
    }

    /// The emulated device, for tests: kernels are compiled by the system's C++ compiler and run on
    /// the host, one thread after the other, and each access to memory is looked at.
    ///
    /// In which order threads run is drawn from the number in `POINTFUL_EMULATED_SEED`, or 0.
    #[cfg(feature = "emulated")]
    pub fn emulated() -> Device {
        use std::sync::OnceLock;
        static OPENED: OnceLock<Device> = OnceLock::new();
        let seed = || std::env::var("POINTFUL_EMULATED_SEED").ok()?.parse().ok();
        let device = OPENED.get_or_init(|| {
            let seed = seed().unwrap_or(0);
            Device::emulate(Emulation {
                seed,
                ..Emulation::default()
            })
        });
        device.clone()
    }

    /// Another emulated device.
    #[cfg(feature = "emulated")]
    #[doc(hidden)]
    pub fn emulate(emulation: Emulation) -> Device {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Device::new(Emulated::new(number, emulation))
    }

    /// Waits until everything is done that has been asked of the device.
    ///
    /// # Errors
    /// [`Error::Cuda`] if something failed meanwhile.
    pub fn wait(&self) -> Result<(), Error> {
        self.driver().wait()
    }

    /// The units that have been launched there.
    #[doc(hidden)]
    pub fn units(&self) -> Vec<&'static Unit> {
        let loaded = self.0.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.iter().map(|&(unit, _)| unit).collect()
    }

    pub(super) fn driver(&self) -> &dyn Driver {
        &*self.0.driver
    }

    /// The number by which the driver knows a unit.
    pub(super) fn load(&self, unit: &'static Unit) -> Result<usize, Error> {
        let mut loaded = self.0.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, number)) = loaded.iter().find(|(known, _)| std::ptr::eq(*known, unit)) {
            return Ok(*number);
        }
        let number = self.driver().load(unit)?;
        loaded.push((unit, number));
        Ok(number)
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.driver().name())
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.driver().name())
    }
}
