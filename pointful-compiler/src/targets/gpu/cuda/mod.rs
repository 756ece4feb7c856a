//! Emission: Gpu to CUDA C, and to the tokens of a host function.
//!
//! ```text
//! fn smooth(x: f64[N]) -> f64[N] {           static UNIT: Unit = Unit { text: "KERNEL(256, 1) smooth_0(…) { … }", … };
//!   %0 = alloc f64[N]                        fn there(device: &Device, n: usize, x: &Buf<f64>) -> Result<(Buf<f64>,), Stop> {
//!   launch "smooth" block 256 %1: N {          let mut cx = Context::new(device, &UNIT, None)?;
//!     …                                ▶       let mut b1 = cx.alloc::<f64>(n)?;
//!   }                                          cx.launch(0, n, &[], false, vec![n.into(), Argument::buffer("x", x), b1.argument("b1")])?;
//!   return %0                                  Ok((b1.assume_init(),))
//! }                                          }
//! ```
//!
//! It prints and decides nothing: which threads there are, what is theirs and what is the host's
//! stands in the program. All kernels of a function are one text, whose words are those of the
//! runtime's prelude. The host function calls the runtime's `Context`.
//!
//! # Why it is sound
//!
//! Kernels read and write elements without asking, for the reasons that the
//! [host's](crate::targets::cpu::rust) do: an index has a type that proves the access. Where a check
//! fails, its thread records that and ends, and what is launched later does nothing, so that nobody
//! reads what was not written.

mod context;
mod host;
mod kernel;
mod scalar;

use proc_macro2::{Span, TokenStream};

use context::{Context, Inline};

use crate::ir::stages::gpu::Gpu;
use crate::ir::{Extent, Program, ValueId};
use crate::places::Places;

/// What is emitted for a device.
pub(crate) struct Emitted {
    /// The unit and the functions `there` and `panicked`, in whose scope the runtime's names are.
    pub(crate) items: TokenStream,
    /// Whether there are checks that may fail on the device.
    pub(crate) checks: bool,
}

/// The extents of a program, each without those that name another one.
pub(crate) struct Lengths(Vec<Option<Inline>>);

impl Lengths {
    pub(crate) fn of(program: &Program<Gpu>) -> Self {
        Self(context::inlined(program))
    }

    /// An extent that does not name another one.
    pub(crate) fn resolve(&self, extent: Extent) -> Extent {
        context::resolve(&self.0, extent)
    }
}

/// The items that run a program on a device. `extra`: scalars of its outermost block that `there`
/// gives beside its results.
pub(crate) fn emit(
    program: &Program<Gpu>,
    places: &Places,
    user: Span,
    extra: &[ValueId],
) -> Emitted {
    printed(program, places, user, extra).0
}

/// The text of a program's kernels.
pub fn text(program: &Program<Gpu>) -> String {
    printed(program, &Places::default(), Span::mixed_site(), &[]).1
}

/// What is emitted, and the text in it. Where a check may fail, all kernels ask whether one has
/// failed before: so it is printed again if it turns out that there is one.
fn printed(
    program: &Program<Gpu>,
    places: &Places,
    user: Span,
    extra: &[ValueId],
) -> (Emitted, String) {
    let mut context = Context::new(program, places, user, false);
    let emitted = host::host(&mut context, extra);
    if !emitted.checks {
        return (emitted, context.text);
    }
    let mut context = Context::new(program, places, user, true);
    (host::host(&mut context, extra), context.text)
}
