//! Gpu: what the threads of a device do. The core of [imperative stages](super::imperative), and
//! launches of kernels.
//!
//! ```text
//! fn smooth(x: f64[N]) -> f64[N] {
//!   %0 = alloc f64[N]
//!   launch "smooth" block 256 %1: N {
//!     %2 = load x[%1]
//!     …
//!     store %0[%1], %3
//!   }
//!   return %0
//! }
//! ```
//!
//! # Threads
//!
//! A launch runs its block once for each point of its extents, each time by some thread: in which
//! order, and which of them at once, is open. Neighbours along the last axis are run by neighbours
//! in a block of threads. So no point touches what another one writes.
//!
//! Statements outside of launches are the host's. Its variables, and what it computes of them, are
//! on the host; buffers are on the device. So of buffers it makes, copies and swaps whole ones, and
//! loads single elements, which are moved to it for that.
//!
//! # Memory of a thread
//!
//! What a thread allocates is its own, and as long as a constant says. A launch may have more
//! buffers that are a thread's own, of lengths that the host knows: `own (%4: f64[K])`. What they
//! hold when a point begins nobody has written.
//!
//! # Trials
//!
//! A `launch trial` finds out how much memory another launch needs: it runs what that depends on,
//! and stores it in buffers that only it has. A check or an assertion that fails ends the point and
//! nothing else, as the launch that follows fails there as well and says so.
//!
//! # Parts
//!
//! What points combine is combined by parts. The points of a nest are cut into as many parts as
//! there are threads for them, and a thread runs a `part` of them, in order:
//!
//! ```text
//! %2 = alloc f64[%1]
//! launch block 256 %3: %1 {
//!   %4 = const 0.0f64
//!   %5 = var %4
//!   part %6: I, %7: J of %3 { %8 = load x[%6, %7]  combine add %5[], %8 }
//!   %9 = get %5
//!   store %2[%3], %9
//! }
//! ```

pub use super::imperative::{Along, Imperative, ImperativeOp, Par, PlaceKind, identity};
use crate::ir::{Block, Extent, Stage, ValueId};

/// The stage's marker.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Gpu;

impl Stage for Gpu {
    type Op = GpuOp;
    type Dim = Extent;
    type Decls = ();
    const NAME: &'static str = "gpu";
}

impl Imperative for Gpu {
    type Own = Own;
    const ROWS: bool = false;

    fn par(_: &Own) -> Option<&Par<Self>> {
        None
    }

    fn par_mut(_: &mut Own) -> Option<&mut Par<Self>> {
        None
    }

    fn extents(own: &Own) -> &[Extent] {
        match own {
            Own::Launch(Launch { extents, .. }) | Own::Part { extents, .. } => extents,
        }
    }

    fn extents_mut(own: &mut Own) -> &mut [Extent] {
        match own {
            Own::Launch(Launch { extents, .. }) | Own::Part { extents, .. } => extents,
        }
    }
}

/// An operation of Gpu.
pub type GpuOp = ImperativeOp<Gpu>;

/// `launch "name" block 256 %i: I, %j: J own (%t: f64[K]) { … }`: a kernel. The block's parameters
/// are the indices and the thread's own buffers. `launch "name" trial block …`: a trial. Binds
/// nothing.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Launch {
    /// What the kernel computes, for the comment in emitted code and for `explain`.
    pub name: String,
    /// Whether a check that fails ends its point only.
    pub trial: bool,
    /// How many threads a block has.
    pub block: u32,
    /// One extent an index.
    pub extents: Vec<Extent>,
    /// One point.
    pub body: Box<Block<Gpu>>,
}

impl Launch {
    /// The indices of a point.
    pub fn indices(&self) -> &[ValueId] {
        &self.body.params[..self.extents.len().min(self.body.params.len())]
    }

    /// The buffers that are a thread's own.
    pub fn own(&self) -> &[ValueId] {
        &self.body.params[self.indices().len()..]
    }
}

/// An operation that only Gpu has.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Own {
    /// A kernel.
    Launch(Launch),
    /// `part %i: I, %j: J of %q { … }`: the points of one of as many parts as the index `%q` has
    /// values, in order. Parts are of one length, but for the last ones. The block's parameters are
    /// the indices. Binds nothing.
    Part {
        /// One extent an index.
        extents: Vec<Extent>,
        /// Which part.
        of: ValueId,
        /// One point.
        body: Box<Block<Gpu>>,
    },
}
