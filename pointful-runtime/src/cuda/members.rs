//! Truth values as members of an index set: tables hold them as they are, and kernels have their
//! ordinals.

use std::any::Any;
use std::borrow::Cow;

use super::context::{Argument, launch};
use super::unit::{Kernel, Unit};
use crate::buffer::{Buf, OutBuf};
use crate::error::Error;

static UNIT: Unit = Unit {
    name: "members.cu",
    text: "\
KERNEL(256, 1) ordinals_of_flags(u64 points, const bool* __restrict__ flags, usize* __restrict__ ordinals) {
  for (u64 point = (u64)blockIdx.x * 256 + threadIdx.x; point < points; point += (u64)gridDim.x * 256) {
    const bool flag = LD(flags, point);
    ST(ordinals, point, flag ? 1 : 0);
  }
}
KERNEL(256, 1) flags_of_ordinals(u64 points, const usize* __restrict__ ordinals, bool* __restrict__ flags) {
  for (u64 point = (u64)blockIdx.x * 256 + threadIdx.x; point < points; point += (u64)gridDim.x * 256) {
    const usize ordinal = LD(ordinals, point);
    ST(flags, point, ordinal != 0);
  }
}
",
    kernels: &[
        Kernel {
            name: "ordinals_of_flags",
            block: 256,
        },
        Kernel {
            name: "flags_of_ordinals",
            block: 256,
        },
    ],
    definitions: &[],
};

/// The ordinals of members, which are stored as such or as truth values: without a copy, or by one.
///
/// # Errors
/// What the device says.
pub(crate) fn ordinals<R: Copy + 'static>(stored: &Buf<R>) -> Result<Cow<'_, Buf<usize>>, Error> {
    let stored: &dyn Any = stored;
    if let Some(ordinals) = stored.downcast_ref() {
        return Ok(Cow::Borrowed(ordinals));
    }
    let flags: &Buf<bool> = stored.downcast_ref().expect("members are one of the two");
    converted("ordinals_of_flags", flags).map(Cow::Owned)
}

/// Members as they are stored, of their ordinals.
///
/// # Errors
/// What the device says.
pub(crate) fn stored<R: Copy + 'static>(ordinals: Buf<usize>) -> Result<Buf<R>, Error> {
    let mut ordinals = Some(ordinals);
    let any: &mut dyn Any = &mut ordinals;
    if let Some(stored) = any.downcast_mut::<Option<Buf<R>>>() {
        return Ok(stored.take().expect("just put there"));
    }
    let ordinals = ordinals.expect("just put there");
    let mut flags = Some(converted::<usize, bool>("flags_of_ordinals", &ordinals)?);
    let any: &mut dyn Any = &mut flags;
    let stored = any.downcast_mut::<Option<Buf<R>>>();
    let stored = stored.expect("members are one of the two");
    Ok(stored.take().expect("just put there"))
}

/// What a kernel makes of each element.
fn converted<A: Copy, B: Copy>(kernel: &str, of: &Buf<A>) -> Result<Buf<B>, Error> {
    let device = of.device().expect("a buffer on a device");
    let points = of.len();
    let blocks = (points as u64).div_ceil(256);
    let blocks = blocks.min(device.driver().most_blocks()).min(1 << 16) as u32;
    let mut converted = OutBuf::on(device, points)?;
    let arguments = [
        Argument::from(points),
        Argument::buffer("members", of),
        converted.argument("converted"),
    ];
    // SAFETY: the kernels of this unit take the length, the elements and as many of the other type, and write each of
    // these once: a number, or a truth value, which any comparison gives.
    unsafe { launch(&UNIT, kernel, [blocks, 1, 1], &arguments) }?;
    // SAFETY: a thread has written each.
    Ok(unsafe { converted.assume_init() })
}
