//! Launching kernels: what generated code calls.

use super::device::Device;
use super::panic::{Panic, Panicked};
use super::places::common;
use super::unit::{Kernel, Unit};
use crate::buffer::{Buf, OutBuf};
use crate::error::Error;
use crate::stats;

/// What a kernel is given.
#[derive(Debug)]
pub struct Argument {
    /// Where it lives if it is a buffer, and what messages call it.
    place: Option<(&'static str, Option<Device>)>,
    value: [u8; 8],
    size: usize,
}

impl Argument {
    fn of_bytes(bytes: &[u8]) -> Self {
        let mut value = [0; 8];
        value[..bytes.len()].copy_from_slice(bytes);
        Argument {
            place: None,
            value,
            size: bytes.len(),
        }
    }

    /// A buffer, which messages call by this name.
    ///
    /// The kernel may write to it where the caller could; see [`launch`].
    pub fn buffer<T: Copy>(name: &'static str, buffer: &Buf<T>) -> Self {
        let address = buffer.allocation().map_or(0, |memory| memory.address());
        Argument {
            place: Some((name, buffer.device().cloned())),
            ..Argument::of_bytes(&address.to_ne_bytes())
        }
    }

    /// The bytes of the value as a number: of a buffer, its address.
    pub fn bits(&self) -> u64 {
        u64::from_ne_bytes(self.value)
    }
}

macro_rules! numbers {
    ($($T:ty)*) => {$(
        impl From<$T> for Argument {
            fn from(value: $T) -> Self {
                Argument::of_bytes(&value.to_ne_bytes())
            }
        }
    )*};
}

numbers!(usize u64 u32 u16 u8 isize i64 i32 i16 i8 f32 f64);

impl From<bool> for Argument {
    fn from(value: bool) -> Self {
        Argument::of_bytes(&[u8::from(value)])
    }
}

/// Runs a unit's kernel where its buffers are.
///
/// It returns when the kernel is queued; what is asked of the device later finds it done.
///
/// # Errors
/// [`Error::Devices`] if two buffers live in different places. What the device says, of this kernel
/// or of one before.
///
/// # Safety
/// The arguments are those that the kernel's text declares. It reads and writes nothing but them,
/// within their lengths; what it writes nobody but the caller owns; and what becomes of a buffer is
/// valid for its elements.
///
/// # Panics
/// If there is no such kernel, no buffer on a device among the arguments, or if blocks are not of
/// whole warps.
pub unsafe fn launch(
    unit: &'static Unit,
    kernel: &str,
    grid: [u32; 3],
    arguments: &[Argument],
) -> Result<(), Error> {
    let kernel = unit
        .kernels
        .iter()
        .find(|known| known.name == kernel)
        .expect("a kernel of the unit");
    assert!(
        kernel.block.is_multiple_of(32) && (1..=1024).contains(&kernel.block),
        "a block has 1 to 32 warps"
    );
    let buffers = arguments
        .iter()
        .filter_map(|argument| argument.place.as_ref());
    let places = buffers.map(|(name, device)| (*name, device.as_ref()));
    let (_, device) = common(kernel.name, places)?.expect("buffers on a device");
    // SAFETY: promised by the caller.
    unsafe { launch_on(device, unit, kernel, grid, arguments) }
}

/// As [`launch`], where all buffers are known to live on the device.
///
/// # Safety
/// As there.
unsafe fn launch_on(
    device: &Device,
    unit: &'static Unit,
    kernel: &Kernel,
    grid: [u32; 3],
    arguments: &[Argument],
) -> Result<(), Error> {
    if grid.contains(&0) {
        return Ok(());
    }
    stats::launched_on_device();
    let loaded = device.load(unit)?;
    let values: Vec<&[u8]> = arguments
        .iter()
        .map(|argument| &argument.value[..argument.size])
        .collect();
    // SAFETY: promised by the caller.
    unsafe { device.driver().launch(loaded, kernel, grid, &values) }
}

/// Why a function that runs on a device gives no result.
#[derive(Debug)]
pub enum Stop {
    /// What the device says.
    Error(Error),
    /// A check failed.
    Panicked(Panicked),
}

impl Stop {
    /// The error, where there are no checks that may fail.
    pub fn into_error(self) -> Error {
        match self {
            Stop::Error(error) => error,
            Stop::Panicked(failed) => unreachable!("there is no check {}", failed.site),
        }
    }
}

/// A buffer of one element.
///
/// # Errors
/// If the device has no memory for it.
pub fn one<T: Copy>(device: &Device, element: T) -> Result<Buf<T>, Error> {
    Buf::from_vec(vec![element]).to_device(device)
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Error(error)
    }
}

/// The most blocks that are launched of a kernel; their threads go through more points, if there
/// are more. What a kernel computes does not depend on it.
const BLOCKS: u64 = 1 << 16;

/// How many bytes the teams of a launch may have of their own, all together.
const OWN_BYTES: u64 = 1 << 28;

/// A function that is being run on a device.
///
/// Generated code makes it, launches by it what the unit has, in order, and asks it at last whether
/// a check failed.
#[derive(Debug)]
pub struct Context<'d> {
    device: &'d Device,
    unit: &'static Unit,
    panic: Option<Panic>,
    /// How many launches there have been.
    launches: u64,
}

impl<'d> Context<'d> {
    /// For a unit whose checks tell at most so many values; none if it has no checks.
    ///
    /// # Errors
    /// What the device says.
    pub fn new(
        device: &'d Device,
        unit: &'static Unit,
        values: Option<usize>,
    ) -> Result<Self, Stop> {
        let panic = values
            .map(|values| Panic::new(device, values))
            .transpose()?;
        Ok(Context {
            device,
            unit,
            panic,
            launches: 0,
        })
    }

    /// Memory for so many elements.
    ///
    /// # Errors
    /// If the device has not as much.
    pub fn alloc<T: Copy>(&self, len: usize) -> Result<OutBuf<T>, Stop> {
        Ok(OutBuf::on(self.device, len)?)
    }

    /// A copy of a buffer.
    ///
    /// # Errors
    /// If the device has no memory for it.
    pub fn copy<T: Copy>(&self, buffer: &Buf<T>) -> Result<OutBuf<T>, Stop> {
        Ok(buffer.to_device(self.device)?.into())
    }

    /// An element, once all has been done that was asked for.
    ///
    /// # Errors
    /// What the device says, or the check that failed.
    ///
    /// # Safety
    /// It is an element of the buffer, which a kernel has written, unless a check failed.
    pub unsafe fn load<T: Copy>(&self, buffer: &Buf<T>, at: usize) -> Result<T, Stop> {
        self.settle()?;
        // SAFETY: promised by the caller.
        Ok(unsafe { buffer.element_of_device(at) }?)
    }

    /// Runs a kernel for each of so many points, each by a team of so many threads.
    ///
    /// `own`: buffers for each team, by the bytes of one, which follow the arguments. After them
    /// come the record of checks and the number of the launch, if the kernel asks for them.
    ///
    /// # Errors
    /// What the device says.
    ///
    /// # Safety
    /// As that of [`launch`].
    pub unsafe fn launch(
        &mut self,
        kernel: usize,
        points: usize,
        team: usize,
        own: &[usize],
        checks: bool,
        mut arguments: Vec<Argument>,
    ) -> Result<(), Stop> {
        let kernel = &self.unit.kernels[kernel];
        let launch = self.launches;
        self.launches += 1;
        let teams = u64::from(kernel.block) / team as u64;
        let bytes = own
            .iter()
            .fold(0_u64, |sum, &own| sum.saturating_add(own as u64));
        let fit = OWN_BYTES / teams.saturating_mul(bytes).max(1);
        let most = BLOCKS
            .min(self.device.driver().most_blocks())
            .min(fit.max(1));
        let blocks = (points as u64).div_ceil(teams).min(most);
        if blocks == 0 {
            return Ok(());
        }
        let mut memory = Vec::with_capacity(own.len());
        for &own in own {
            let bytes = own.saturating_mul((blocks * teams) as usize);
            let mut own = OutBuf::<u8>::on(self.device, bytes)?;
            arguments.push(own.argument("own"));
            memory.push(own);
        }
        if checks && let Some(panic) = &self.panic {
            arguments.extend([panic.argument(), launch.into()]);
        }
        // SAFETY: promised by the caller; each team has its part of what is its own. That memory is given back when
        // this returns, which the device does in the order of its stream: after the kernel.
        unsafe {
            launch_on(
                self.device,
                self.unit,
                kernel,
                [blocks as u32, 1, 1],
                &arguments,
            )
        }?;
        Ok(())
    }

    /// Waits, and asks whether a check failed.
    ///
    /// # Errors
    /// What the device says, or the check.
    pub fn settle(&self) -> Result<(), Stop> {
        let Some(panic) = &self.panic else {
            return Ok(());
        };
        match panic.read()? {
            Some(panicked) => Err(Stop::Panicked(panicked)),
            None => Ok(()),
        }
    }
}

/// A value that a check has told, of its bits.
pub trait Told: Copy {
    /// The value.
    fn told(bits: u64) -> Self;
}

macro_rules! told {
    ($($T:ty: |$bits:ident| $value:expr;)*) => {$(
        impl Told for $T {
            fn told($bits: u64) -> Self {
                $value
            }
        }
    )*};
}

told! {
    f32: |bits| f32::from_bits(bits as u32);
    f64: |bits| f64::from_bits(bits);
    i8: |bits| bits as i8;
    i16: |bits| bits as i16;
    i32: |bits| bits as i32;
    i64: |bits| bits as i64;
    isize: |bits| bits as isize;
    u8: |bits| bits as u8;
    u16: |bits| bits as u16;
    u32: |bits| bits as u32;
    u64: |bits| bits;
    usize: |bits| bits as usize;
    bool: |bits| bits != 0;
}
