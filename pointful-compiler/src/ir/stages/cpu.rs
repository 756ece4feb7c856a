//! Cpu: what a processor does. The core of [imperative stages](super::imperative), parallel nests
//! by parts of their rows, and loops over parts of an axis.
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
//! A piece of a kernel's work is a run of its points, row by row. The block of a `par` is run for
//! each part of a row that a piece has: it binds an index for each axis but the last, and where the
//! part begins and ends on that. In which order pieces run is open, and so is where rows are cut;
//! the copies of pieces are merged in the order of the points.
//!
//! # Copies
//!
//! A piece of the work has a private copy of what it combines into. Of a table that it only combines
//! into it may have `notes` instead, of what is combined where: (add %5 = %0 notes). Where the
//! merged copies are the target, and nothing is combined with what that holds, it `becomes` them.
//!
//! # Speculation
//!
//! A piece of a nest that may `speculate` is run with functions of near angles first. What they give
//! for a far angle says nothing; if there was one, the piece begins again, with new copies and
//! functions of any angles.
//!
//! # Columns
//!
//! Of a nest `by columns` a piece may also be some columns of all rows, one row after the other.
//! Into a table its points combine at the index of their column, along the table's last axis: the
//! owner computes. So such pieces share one copy of each table.
//!
//! ```text
//! par by columns %1: H, %2..%3: W (add %4 = %0) {
//!   range %5: W in %2..%3 { %6 = load x[%1, %5]  combine add %4[%5], %6 }
//! }
//! ```
//!
//! # Lanes
//!
//! A strip is some neighbours of an axis. Its lanes are the iterations of a loop of constant length
//! that may run in any order, or at once; what they hand on lies in short arrays. So they are loops
//! to whoever looks at them, and vectors to a processor.
//!
//! ```text
//! %p = alloc f64[16] fill 0.0f64
//! %r = strips 16 %f: K in %a..%b {
//!   lanes %l: 16, %k: K of %f { %1 = load x[%k]  combine add %p[%l], %1 }
//! }
//! fold add %s, %p
//! range %k: K in %r..%b { %2 = load x[%k]  combine add %s[], %2 }
//! ```
//!
//! # Bounds
//!
//! A loop over a part of an axis goes from one `bound` to another. As an index proves an access, a
//! bound proves a range: no index of the loop is out of range.

pub use super::imperative::{
    Acc, Along, Fold, Imperative, ImperativeOp, Mask, Par, PlaceKind, identity,
};
use crate::ir::{Block, Extent, Lit, Monoid, Operation, Scalar, Stage, Stmt, ValueId};

/// The stage's marker.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Cpu;

/// `tile %t: T rows I reach 1 writes %u 0, %v 0 swap %u %v { … }`: the steps of a loop of the host,
/// each of which is kernels whose first axis is that of rows. Rows are ahead of others: a kernel of
/// a step may run in a row as soon as the one before it has in all rows within reach. Binds nothing.
///
/// `tile rows I …`: one step, and the block has no parameter. `tile rev %t: T …`: from the last.
///
/// The block is scalars that a step computes and its variables; kernels (`par` and `contract`); and
/// what is done with what they have added up, once all steps have run, in the order of the steps.
/// Kernels write buffers from outside in their own row only, and read of these no row that is
/// further away than the reach.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Tile {
    /// The first axis of all kernels, and that of the steps, unless it is one that has no number.
    pub extents: Vec<Extent>,
    /// Whether the last step is the first.
    pub reverse: bool,
    /// How many rows away a kernel reads of what is written.
    pub reach: u64,
    /// The buffers from outside that are written, and along which of their axes rows go.
    pub writes: Vec<(ValueId, usize)>,
    /// Buffers that change places after each step.
    pub swaps: Vec<(ValueId, ValueId)>,
    /// One step.
    pub body: Box<Block<Cpu>>,
}

impl Par<Cpu> {
    /// How many points advance together through loops that each of them alone would have to wait
    /// for.
    pub fn together(&self) -> Option<u64> {
        let mut chained = strips(&self.body)
            .into_iter()
            .filter(|strips| strips.chained);
        chained.next().map(|strips| strips.width)
    }

    /// How many points the last strip has, where those that are left over go one by one.
    pub fn strip(&self) -> Option<u64> {
        let last = strips(&self.body).into_iter().next();
        let last = last.filter(|last| !last.overlapping && !last.chained);
        last.map(|last| last.width)
    }
}

/// What is run in strips.
struct Strip {
    width: u64,
    chained: bool,
    overlapping: bool,
}

/// The strips in a block, from the last to the first.
fn strips(block: &Block<Cpu>) -> Vec<Strip> {
    let mut all = Vec::new();
    for stmt in block.stmts.iter().rev() {
        match &stmt.op {
            CpuOp::Own(Own::Strips {
                width,
                chained,
                overlapping,
                ..
            }) => all.push(Strip {
                width: *width,
                chained: *chained,
                overlapping: *overlapping,
            }),
            op => {
                let inner = op.blocks().into_iter().rev();
                all.extend(inner.flat_map(strips));
            }
        }
    }
    all
}

impl Tile {
    /// The first axis of all kernels.
    pub fn rows(&self) -> Extent {
        self.extents[0]
    }

    /// How many steps there are, and the number of one, if they have numbers.
    pub fn steps(&self) -> Option<(Extent, ValueId)> {
        let extent = self.extents.get(1).copied();
        extent.zip(self.body.params.first().copied())
    }

    /// Along which axis of a buffer rows go, if it is written.
    pub fn written(&self, buffer: ValueId) -> Option<usize> {
        let mut writes = self.writes.iter();
        writes.find_map(|&(written, axis)| (written == buffer).then_some(axis))
    }

    /// What is done before all kernels of a step, the kernels, and what is done after them.
    pub fn parts(&self) -> [&[Stmt<Cpu>]; 3] {
        let stmts = &self.body.stmts;
        let first = stmts.iter().position(|stmt| stmt.op.is_kernel());
        let last = stmts.iter().rposition(|stmt| stmt.op.is_kernel());
        let (first, end) = first
            .zip(last)
            .map_or((0, 0), |(first, last)| (first, last + 1));
        [&stmts[..first], &stmts[first..end], &stmts[end..]]
    }
}

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
            _ => None,
        }
    }

    fn par_mut(own: &mut Own) -> Option<&mut Par<Self>> {
        match own {
            Own::Par(par) => Some(par),
            _ => None,
        }
    }

    fn extents(own: &Own) -> &[Extent] {
        match own {
            Own::Par(par) => &par.extents,
            Own::Bound { extent, .. } => std::slice::from_ref(extent),
            Own::Tile(tile) => &tile.extents,
            Own::Transpose { extents, .. } => extents,
            Own::Range { .. }
            | Own::Strips { .. }
            | Own::Lanes { .. }
            | Own::Fold { .. }
            | Own::ArgCombine { .. }
            | Own::ArgFold { .. }
            | Own::Multiversion(_) => &[],
        }
    }

    fn extents_mut(own: &mut Own) -> &mut [Extent] {
        match own {
            Own::Par(par) => &mut par.extents,
            Own::Bound { extent, .. } => std::slice::from_mut(extent),
            Own::Tile(tile) => &mut tile.extents,
            Own::Transpose { extents, .. } => extents,
            Own::Range { .. }
            | Own::Strips { .. }
            | Own::Lanes { .. }
            | Own::Fold { .. }
            | Own::ArgCombine { .. }
            | Own::ArgFold { .. }
            | Own::Multiversion(_) => &mut [],
        }
    }
}

/// An operation of Cpu.
pub type CpuOp = ImperativeOp<Cpu>;

impl CpuOp {
    /// Whether the host launches it: a parallel nest, or a contraction.
    pub fn is_kernel(&self) -> bool {
        matches!(self, Self::Own(Own::Par(_)) | Self::Contract { .. })
    }
}

/// An operation that imperative stages have not in common.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Own {
    /// `par "name" %i: I, %a..%b: J (add %s = %p, …) { … }`: a parallel nest, by parts of rows.
    Par(Par<Cpu>),
    /// `tile %t: T rows I …`: the steps of a loop, by tiles of rows.
    Tile(Tile),
    /// `transpose %i: I, %j: J { … %v = load x[%i, %j] store t[%j, %i], %v }`: moves elements, in any
    /// order. The block computes positions, loads and stores. Where a row begins that is read does
    /// not depend on the second index, and where a column does that is written not on the first.
    /// Binds nothing.
    Transpose {
        /// Of both indices.
        extents: [Extent; 2],
        /// What moves one element.
        body: Box<Block<Cpu>>,
    },
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
    ///
    /// `range cold …`: few iterations, or such of which one panics: not worth more code.
    Range {
        /// Whether it is not worth more code.
        cold: bool,
        /// Where it begins.
        from: ValueId,
        /// Where it ends.
        to: ValueId,
        /// One iteration.
        body: Box<Block<Cpu>>,
    },
    /// `%r = strips 16 %f: K in %a..%b { … }`: sequential, for each strip of so many neighbours
    /// from one bound to before another. The block has the strip as parameter, which only `lanes`
    /// of it use, and no results. Binds where the rest begins.
    ///
    /// `strips 16 overlapping …`: the last strip ends where the loop does and runs some iterations
    /// again, so that there is no rest, unless there are fewer iterations than a strip has.
    ///
    /// `strips 16 chained …`: an iteration alone would wait for each of its steps, and takes many
    /// times as long as its part of a strip.
    Strips {
        /// How many neighbours are a strip.
        width: u64,
        /// Whether an iteration alone takes many times as long as its part of a strip.
        chained: bool,
        /// Whether some iterations run again, rather than being left over.
        overlapping: bool,
        /// Where it begins.
        from: ValueId,
        /// Where it ends.
        to: ValueId,
        /// What is done with a strip.
        body: Box<Block<Cpu>>,
    },
    /// `lanes %l: 16, %k: K of %f { … }`: the iterations of a strip, in any order or at once. The
    /// block has the number of the lane and the index as parameters, and no results. Binds nothing.
    ///
    /// `lanes in order …`: one after the other, so that they may hand something on.
    Lanes {
        /// The strip.
        strip: ValueId,
        /// Whether they come one after the other.
        in_order: bool,
        /// One lane.
        body: Box<Block<Cpu>>,
    },
    /// `fold add %s, %p`: combines the elements of an array of constant length into a `var`, as a
    /// tree: the second half into the first, until one is left. Binds nothing.
    Fold {
        /// How.
        monoid: Monoid,
        /// The `var`.
        place: ValueId,
        /// The array, which has one axis.
        lanes: ValueId,
    },
    /// `argcombine min %b, %p, %l, %x, %i`: if the element `%x` is less than that of the array `%b`
    /// at `%l`, it takes its place there, and its own place `%i` the one in the array `%p`. A NaN is
    /// no element. Binds nothing.
    ArgCombine {
        /// Whether the least or the greatest is looked for.
        monoid: Monoid,
        /// The best elements so far, an array of one axis.
        best: ValueId,
        /// Their places, one as long.
        at: ValueId,
        /// Where in both.
        lane: ValueId,
        /// The element.
        value: ValueId,
        /// Its place.
        place: ValueId,
    },
    /// `argfold min %m, %i, %b, %p`: of the elements of the array `%b` the least, and of equally
    /// good ones that with the first place, combined as above into two `var`s. Binds nothing.
    ArgFold {
        /// Whether the least or the greatest is looked for.
        monoid: Monoid,
        /// The `var` of the best element so far,
        best: ValueId,
        /// and that of its place.
        at: ValueId,
        /// The arrays, of one axis.
        lanes: [ValueId; 2],
    },
    /// `multiversion { … }`: what the host does one after the other, compiled for each level of the
    /// processor's instruction set. The block has no parameters and no results; it makes no buffer,
    /// hands none on, and launches nothing. Binds nothing.
    Multiversion(Box<Block<Cpu>>),
}

impl Own {
    /// What no element is worse than: NaN, and for integers the identity of its reduction.
    pub fn worst(monoid: Monoid, scalar: Scalar) -> Lit {
        match scalar.is_float() {
            true => Lit::of(scalar, f64::NAN),
            false => monoid.identity(scalar),
        }
    }
}
