//! Cpu: what a processor does. The core of [imperative stages](super::imperative), parallel nests by
//! parts of their rows, and loops over parts of an axis.
//!
//! ```text
//! fn smooth(x: f64[N]) -> f64[N] {
//!   %0 = alloc f64[N]
//!   par %1..%2: N {
//!     %3 = bound N 1
//!     %4 = max %1, %3
//!     range %5: N in %1..%4 { … }
//!     range %6: N in %4..%2 { … }
//!   }
//!   return %0
//! }
//! ```
//!
//! # Rows
//!
//! A piece of a kernel's work is a run of its points, row by row. The block of a `par` is run for each
//! part of a row that a piece has: it binds an index for each axis but the last, and where the part
//! begins and ends on that. In which order pieces run is open, and so is where rows are cut; the
//! copies of pieces are merged in the order of the points.
//!
//! # Bounds
//!
//! A loop over a part of an axis goes from one `bound` to another. As an index proves an access, a
//! bound proves a range: no index of the loop is out of range.

pub use super::imperative::{Acc, Along, Fold, Imperative, ImperativeOp, Par, PlaceKind, identity};
use crate::ir::{Block, Extent, Stage, ValueId};

/// The stage's marker.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Cpu;

impl Stage for Cpu {
    type Op = CpuOp;
    type Dim = Extent;
    type Decls = ();
    const NAME: &'static str = "cpu";
}

impl Imperative for Cpu {
    type Own = Own;
    const ROWS: bool = true;

    fn par(own: &Own) -> Option<&Par<Self>> {
        match own {
            Own::Par(par) => Some(par),
            Own::Bound { .. } | Own::Range { .. } => None,
        }
    }

    fn par_mut(own: &mut Own) -> Option<&mut Par<Self>> {
        match own {
            Own::Par(par) => Some(par),
            Own::Bound { .. } | Own::Range { .. } => None,
        }
    }

    fn extents(own: &Own) -> &[Extent] {
        match own {
            Own::Par(par) => &par.extents,
            Own::Bound { extent, .. } => std::slice::from_ref(extent),
            Own::Range { .. } => &[],
        }
    }

    fn extents_mut(own: &mut Own) -> &mut [Extent] {
        match own {
            Own::Par(par) => &mut par.extents,
            Own::Bound { extent, .. } => std::slice::from_mut(extent),
            Own::Range { .. } => &mut [],
        }
    }
}

/// An operation of Cpu.
pub type CpuOp = ImperativeOp<Cpu>;

/// An operation that imperative stages have not in common.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Own {
    /// `par "name" %i: I, %a..%b: J (add %s = %p, …) { … }`: a parallel nest, by parts of rows.
    Par(Par<Cpu>),
    /// `bound K 3 + %n - %m`: the bound that is nearest to a sum. The sum is that of the whole
    /// numbers: nothing overflows.
    Bound {
        /// Of which axis.
        extent: Extent,
        /// A term that is known.
        number: i64,
        /// Integers, and whether they are subtracted.
        terms: Vec<(ValueId, bool)>,
    },
    /// `range %i: K in %a..%b { … }`: sequential, from one bound to before another; not at all if
    /// that is not greater. The block has the index as parameter and no results. Binds nothing.
    Range {
        /// Where it begins.
        from: ValueId,
        /// Where it ends.
        to: ValueId,
        /// One iteration.
        body: Box<Block<Cpu>>,
    },
}
