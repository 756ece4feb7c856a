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
//! # Teams
//!
//! A launch may have a `team`: a number of threads, which the host computes, that run a point
//! together: a power of two, at most those of a block. The first of them does what the point does,
//! and all know what it computes. Iterations of `lanes` are shared out: thread `t` of `n` runs those
//! whose numbers are `t`, `t + n`, `t + 2 n` and so on. So no iteration touches what another one
//! writes. Variables that iterations combine into are named; each thread has a copy, which begins
//! with the identity, and the copies are combined at the end by a tree whose shape the size of the
//! team says:
//!
//! ```text
//! launch "rows" block 256 team %9 %1: I {
//!   %2 = const 0.0f64
//!   %3 = var %2
//!   lanes %4: K (add %3) { %5 = load x[%1, %4]  combine add %3[], %5 }
//!   %6 = get %3
//!   store y[%1], %6
//! }
//! ```
//!
//! All threads of a team meet where memory is written. What a point allocates is each thread's, so
//! iterations do not change it; what the launch has for it is the team's.
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
//!
//! A `part %6: I of %3 in turns` of `n` has the points `%3`, `%3 + n`, `%3 + 2 n` and so on: threads that
//! are neighbours read what lies side by side. The points of a part may be shared out to a team as well: `lanes %6: I of %3 (add %5) { … }`.

pub use super::imperative::{Along, Imperative, ImperativeOp, Par, PlaceKind, identity};
use crate::ir::{Block, Extent, Monoid, Stage, ValueId};

/// How many threads of a block exchange values by themselves.
pub const WARP: u64 = 32;

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
            Own::Launch(Launch { extents, .. })
            | Own::Lanes(Lanes { extents, .. })
            | Own::Part { extents, .. } => extents,
        }
    }

    fn extents_mut(own: &mut Own) -> &mut [Extent] {
        match own {
            Own::Launch(Launch { extents, .. })
            | Own::Lanes(Lanes { extents, .. })
            | Own::Part { extents, .. } => extents,
        }
    }
}

/// An operation of Gpu.
pub type GpuOp = ImperativeOp<Gpu>;

/// `launch "name" block 256 %i: I, %j: J own (%t: f64[K]) { … }`: a kernel. The block's parameters
/// are the indices and the thread's own buffers. `launch "name" trial block …`: a trial.
/// `launch "name" block 256 team %n …`: by teams of so many threads. Binds nothing.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Launch {
    /// What the kernel computes, for the comment in emitted code and for `explain`.
    pub name: String,
    /// Whether a check that fails ends its point only.
    pub trial: bool,
    /// How many threads a block has.
    pub block: u32,
    /// How many threads run a point together; without it, one does.
    pub team: Option<ValueId>,
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

/// `lanes %i: I, %j: J (add %v, …) { … }`: iterations that the threads of a team share; `lanes %i: I
/// of %q (…) { … }`: the points of a [part](Own::Part). The block's parameters are the indices.
/// Binds nothing.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Lanes {
    /// One extent an index.
    pub extents: Vec<Extent>,
    /// Which part, if it is one.
    pub of: Option<ValueId>,
    /// The variables that iterations combine into, and how.
    pub accs: Vec<(Monoid, ValueId)>,
    /// One iteration.
    pub body: Box<Block<Gpu>>,
}

/// An operation that only Gpu has.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Own {
    /// A kernel.
    Launch(Launch),
    /// What a team shares.
    Lanes(Lanes),
    /// `part %i: I, %j: J of %q { … }`: the points of one of as many parts as the index `%q` has
    /// values, in order. Parts are of one length, but for the last ones; those `in turns` take each a
    /// point of as many neighbours. The block's parameters are the indices. Binds nothing.
    Part {
        /// One extent an index.
        extents: Vec<Extent>,
        /// Which part.
        of: ValueId,
        /// Whether parts take turns.
        in_turns: bool,
        /// One point.
        body: Box<Block<Gpu>>,
    },
}
