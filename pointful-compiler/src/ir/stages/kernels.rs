//! Kernels: what runs. Loop nests over buffers, imperative, ready to be printed in a target's
//! language.
//!
//! ```text
//! fn mv(a: f32[I, K], x: f32[K]) -> f32[I] {
//!   %0 = alloc f32[I]
//!   par %1: I {
//!     %2 = const 0.0f32
//!     %3 = var %2
//!     for %4: K {
//!       %5 = load a[%1, %4]
//!       %6 = load x[%4]
//!       %7 = mul %5, %6
//!       combine add %3[], %7
//!     }
//!     %8 = get %3
//!     store %0[%1], %8
//!   }
//!   return %0
//! }
//! ```
//!
//! # Parallelism
//!
//! `par` is a kernel when it stands outside every other `par`. Statements outside are the host's:
//! they run once, in order, in the calling thread. Inside a kernel everything is sequential. A
//! kernel writes each element of a buffer in at most one iteration (`store`), or combines into its
//! accumulators, of which each piece of the work has a private copy. What is combined by an
//! operator that is no monoid of the language is *folded*: a piece changes its copies as its
//! iterations please, one after the other, and copies of neighbouring pieces are joined by a block:
//!
//! ```text
//! par %3: N fold (%4 = %1 from 0.0f64, %5 = %2 from false) {
//!   …
//! } join { |%6, %7, %8, %9|
//!   …
//!   yield %10, %11
//! }
//! ```
//!
//! # Results
//!
//! The function's results are buffers (allocated here or owned parameters, each given away at most
//! once) or scalars.

pub use super::imperative::{
    Acc, Along, Fold, Imperative, ImperativeOp, Mask, Par, PlaceKind, identity,
};
use crate::ir::{Extent, Stage};

/// The stage's marker.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Kernels;

impl Stage for Kernels {
    type Op = KernelOp;
    type Dim = Extent;
    type Decls = ();
    const NAME: &'static str = "kernels";
}

/// An operation of Kernels.
pub type KernelOp = ImperativeOp<Kernels>;

impl Imperative for Kernels {
    type Own = Par;
    const ROWS: bool = false;

    fn par(own: &Par) -> Option<&Par> {
        Some(own)
    }

    fn par_mut(own: &mut Par) -> Option<&mut Par> {
        Some(own)
    }

    fn extents(own: &Par) -> &[Extent] {
        &own.extents
    }

    fn extents_mut(own: &mut Par) -> &mut [Extent] {
        &mut own.extents
    }
}
