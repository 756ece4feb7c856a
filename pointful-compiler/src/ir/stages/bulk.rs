//! Bulk: definitions of whole arrays over named axes. The bulk-operation transform has removed
//! every `for`.
//!
//! ```text
//! axes i: I, k: K
//! fn mv(a: f32[i, k], x: f32[k]) -> f32[i] {
//!   %0[i, k] = mul a, x
//!   %1[i] = reduce add [k] %0
//!   return %1[i]
//! }
//! ```
//!
//! # Axes
//!
//! A definition with axes `[i, k]` has a value at each point of `I × K`. Axes are known by name: an
//! operand is read *at the same point*, and an operand that lacks one of the definition's axes is
//! the same along it. So nothing is ever replicated, transposed or moved; there is no `for` to push
//! anything through. The axes of a result are the union of its operands' axes, less those that are
//! reduced, plus those that are made (`iota`, `pack`, `gather`'s indices bring their own). Calling
//! axis `k` of `x` by the name `j` is reading it at `iota j`: `gather x [k := %j]` with
//! `%j[j] = iota j`.
//!
//! The axes of the parameters are given by their types, in the order of memory. Two parameters may
//! share an axis: it means the loops that read them were the same loop. A value whose axes do not
//! include an axis is the same along it, wherever it is used: a reduction along an axis that its
//! operand lacks combines equal values, an initial state without its lanes is the same in each, a
//! base without the axes that a `scatter` or `update` addresses is filled out, and a result of the
//! function that lacks one of the axes it is returned with is repeated. Where the extent of an axis
//! that an operation makes, reduces or asks for has axes itself, those are axes of the result, too.
//!
//! # Reading elsewhere
//!
//! `gather x [k := %e]` reads `x` not at the current `k` but at `%e`: substitution of an axis by an
//! index expression. Its axes are those of `x` without `k`, and those of `%e` (which may again
//! contain `k`: a shift).
//!
//! # Guards
//!
//! A statement `… if %g` must not be evaluated where `%g` is false: it may panic or not end there.
//! Its results are unspecified at those points (interpreters give NaN), and only statements with
//! the same guard or a `select` on it look at them. Only statements that can panic, diverge or are
//! loops, and those that read what a guarded statement gave, carry a guard; cheap total operations
//! are evaluated freely. A guard is one more operand of its statement: its axes are axes of the
//! result (of a loop: among its lanes). Inside a block, guards speak of the block only: it is not
//! evaluated at all where the statement around it is not.
//!
//! What panics inside a `for` of an axis that may be empty must not panic outside it, so such a
//! statement either has the axis or carries the guard `gt (size I), 0`.
//!
//! # Scope
//!
//! Bodies of loops and operators are blocks; their statements may use everything outside at the
//! same point. A block's results have at least the axes that the statement around it says.

use crate::ir::{
    Args, AxisId, Block, Checkpoint, Extent, Lit, Message, Mode, Monoid, Program, Stage, ValueId,
};
use crate::ops::Prim;

/// The stage's marker.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Bulk;

impl Stage for Bulk {
    type Op = BulkOp;
    type Dim = AxisId;
    type Decls = BulkDecls;
    const NAME: &'static str = "bulk";
}

/// A named axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axis {
    /// Its name, unique in the program.
    pub name: String,
    /// How long it is. An extent that is a value may itself have axes (triangular loops): the axis
    /// then exists at each of their points.
    pub extent: Extent,
}

/// What a Bulk program declares.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BulkDecls {
    /// All axes, by [`AxisId`].
    pub axes: Vec<Axis>,
    /// The order of the axes of each result of the function, all those it has and perhaps more; as
    /// many as `body.results`.
    pub results: Vec<Vec<AxisId>>,
}

impl BulkOp {
    /// The axes at each of whose points its blocks run on their own.
    pub fn lanes(&self) -> &[AxisId] {
        match self {
            Self::Loop { lanes, .. }
            | Self::While { lanes, .. }
            | Self::Derive { lanes, .. }
            | Self::Rule { lanes, .. } => lanes,
            _ => &[],
        }
    }
}

impl Program<Bulk> {
    /// Whether the length of one of these axes depends on the place along others, which are not
    /// looked at themselves.
    pub fn leans(&self, axes: &[AxisId], on: &[AxisId]) -> bool {
        let depends = |&axis: &AxisId| match self.decls.axes[axis.0 as usize].extent {
            Extent::Value(extent) => self.ty(extent).dims.iter().any(|axis| on.contains(axis)),
            Extent::Const(_) | Extent::Size(_) => false,
        };
        axes.iter().filter(|axis| !on.contains(axis)).any(depends)
    }

    /// Whether something may be added to a table at one place along axes, inside of these lanes: rows
    /// are equally long at all places, and a lane changes nothing that others have.
    pub fn adds_at(
        &self,
        table: ValueId,
        at: impl Iterator<Item = AxisId>,
        lanes: &[AxisId],
    ) -> bool {
        let at: Vec<AxisId> = at.collect();
        !at.iter().any(|axis| lanes.contains(axis)) && !self.leans(&self.ty(table).dims, &at)
    }
}

/// How operands are combined along an axis.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Combine {
    /// A monoid known by name; one operand.
    Monoid(Monoid),
    /// The index of the first smallest element; one operand, one axis. Result `idx<E>`.
    ArgMin,
    /// The index of the first largest element; one operand, one axis. Result `idx<E>`.
    ArgMax,
    /// The author's own associative operator on tuples, one axis.
    Custom {
        /// The initial tuple, put in front once.
        init: Vec<ValueId>,
        /// Parameters: the left tuple, then the right tuple. Parameters have the element's inner
        /// axes (and the surrounding ones).
        op: Box<Block<Bulk>>,
    },
}

/// An operation of Bulk. "Axes" are those of the result unless said otherwise.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum BulkOp {
    /// `const 1.0f64`. No axes.
    Const(Lit),
    /// `size I`. No axes, or those of the value that the extent is.
    Size(Extent),
    /// `iota i`: the index along axis `i`, of type `idx<I>`. Axes `[i]` (and those the extent of
    /// `i` depends on).
    Iota(AxisId),
    /// `add %0, %1`: a primitive at each point. Axes: the union.
    Map(Prim, Args),
    /// `select %c, %x, %y`: one or the other at each point. Axes: the union.
    Select(ValueId, ValueId, ValueId),
    /// `gather %x [k := %e, …]`: reading elsewhere, see the stage's essay.
    Gather {
        /// The array read.
        table: ValueId,
        /// Axes of `table` and where to read along each; the others are read at the same point.
        /// Indices have type `idx` of that axis' extent.
        at: Vec<(AxisId, ValueId)>,
    },
    /// `pack a [%0, %1]`: values stacked along axis `a`, whose extent is their number. Axes: the
    /// union, and `a`.
    Pack {
        /// The new axis.
        axis: AxisId,
        /// One value for each index.
        values: Vec<ValueId>,
    },
    /// `reduce add [k] %x`: along one axis or more (several: monoids only). Axes: the operands'
    /// union less those.
    Reduce {
        /// How.
        combine: Combine,
        /// Along what.
        axes: Vec<AxisId>,
        /// One operand for each result.
        operands: Vec<ValueId>,
    },
    /// `scan … [k] %x`: every prefix along `axis`. Axes: the operands' union. `scan full`: what the
    /// whole comes to, which lacks the axis; then the prefix before each element; then the one with
    /// it.
    Scan {
        /// The initial tuple, in front of every prefix.
        init: Vec<ValueId>,
        /// Along what.
        axis: AxisId,
        /// From the last element to the first.
        reverse: bool,
        /// Whether it gives more than the prefixes with each element.
        full: bool,
        /// One operand for each result.
        operands: Vec<ValueId>,
        /// Parameters: the left tuple, then the right tuple.
        op: Box<Block<Bulk>>,
    },
    /// `scatter add %base [b := %e, …] over [n, …] %v where %c`: combines `v` into a copy of `base`
    /// at computed positions. At each point of `over` (and of the axes that remain), `base` at
    /// `b := e` becomes `base ⊕ v`, where `c` is true. Axes: those of `base` and the `b`s, and
    /// those of `e`, `v` and `c` that are not in `over`. One of the `b`s may itself be in `over`
    /// (`e`, `v` and `c` then mean the axis of `over`, and have it in no other case), none of the other
    /// axes of `base` may.
    Scatter {
        /// How.
        monoid: Monoid,
        /// What is there before.
        base: ValueId,
        /// Axes of `base` and the positions along them, of type `idx`.
        at: Vec<(AxisId, ValueId)>,
        /// The axes whose points all contribute.
        over: Vec<AxisId>,
        /// What is combined in.
        value: ValueId,
        /// Only where true.
        mask: Option<ValueId>,
    },
    /// `update %t [k := %e, …] %v where %c`: the array `t` with the part at `e` replaced, where `c`
    /// is true; elsewhere it is `t`. No axis of `e` or `c` is one of the `k`s. Axes: the union of
    /// those of `t`, of `e`, of `v` and of `c`, and the `k`s. Where `c` is false nobody looks at
    /// `e` and `v`, which may be unspecified there.
    Update {
        /// The array before.
        table: ValueId,
        /// Axes of `table` and the positions along them.
        at: Vec<(AxisId, ValueId)>,
        /// What is put there.
        value: ValueId,
        /// Only where true.
        mask: Option<ValueId>,
    },
    /// `assert %c, "message {}", %x`: panics with the message, which shows the values, unless `c`
    /// is true at every point. Binds nothing.
    Assert {
        /// A truth value.
        cond: ValueId,
        /// What the panic says.
        message: Message,
        /// The scalars that it shows. They are looked at where the condition is false only.
        shown: Vec<ValueId>,
    },
    /// `loop %t: t lanes [i] (%s = %init, …) { … yield %s2, …; %c, … }`: sequential along axis `t`.
    /// The block's parameters are the index (`idx` of the axis' extent, without axes), then the
    /// states. A state's axes are its type's: lanes first, then its own. Results: final states,
    /// then for each collected value the array of it with axis `t` added.
    Loop {
        /// The sequential axis. Only collected results have it; no value bound in the body does.
        axis: AxisId,
        /// From the last index to the first.
        reverse: bool,
        /// What a derivative keeps of it.
        checkpoint: Option<Checkpoint>,
        /// The parallel axes around the loop: each point runs a loop of its own that reads no other
        /// point's state.
        lanes: Vec<AxisId>,
        /// Initial states; one that lacks axes of its state is the same along them.
        init: Vec<ValueId>,
        /// One iteration.
        body: Box<Block<Bulk>>,
    },
    /// `while bound %n lanes [i] (%s = %init, …) { … yield %c } do { |%s2, …| … yield %s3, … }`:
    /// each lane goes on while its own condition holds.
    While {
        /// The parallel axes around the loop.
        lanes: Vec<AxisId>,
        /// Initial states.
        init: Vec<ValueId>,
        /// Gives one truth value for each lane; parameters are the states.
        cond: Box<Block<Bulk>>,
        /// One iteration; parameters are the states (ids of their own).
        body: Box<Block<Bulk>>,
        /// The largest number of iterations; one more panics.
        bound: Option<ValueId>,
    },
    /// `vjp (%p = %x, …) (%ct, …) { … yield %y, … }`, or `jvp` with tangents: the derivative of the
    /// block with respect to its parameters. What the block reads from around it is constant; it
    /// accumulates into nothing around it. Results: those of the block; then (`vjp`) a cotangent
    /// for each parameter, or (`jvp`) a tangent for each float result.
    Derive {
        /// Which way.
        mode: Mode,
        /// The point at which to differentiate: one float value for each parameter.
        args: Vec<ValueId>,
        /// `vjp`: a cotangent for each float result of the block. `jvp`: a tangent for each
        /// parameter.
        seeds: Vec<ValueId>,
        /// The axes of each seed, beside the lanes; one that lacks some is the same along them.
        /// Printed behind it: `%ct[i]`.
        shapes: Vec<Vec<AxisId>>,
        /// The parallel axes around it.
        lanes: Vec<AxisId>,
        /// The function.
        body: Box<Block<Bulk>>,
    },
    /// `rule vjp (%p = %x, …) { … yield %y, … } by { |%q, …, %ct, …| … yield %ct2, … }`: a function
    /// with its author's own derivative. Results: those of the body.
    Rule {
        /// Which way the author's derivative runs.
        mode: Mode,
        /// One float value for each parameter that is differentiated.
        args: Vec<ValueId>,
        /// The parallel axes around it.
        lanes: Vec<AxisId>,
        /// The function.
        body: Box<Block<Bulk>>,
        /// Its derivative. Parameters: those of the body, then the seeds of
        /// [`Derive`](Self::Derive); results: its derivatives.
        rule: Box<Block<Bulk>>,
    },
}
