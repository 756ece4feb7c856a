//! Point: what the user wrote, typed, in A-normal form, with effects made explicit.
//!
//! ```text
//! fn mv(a: f32[I, K], x: f32[K]) -> f32[I] {
//!   %0 = for %1: I {
//!     %2 = for %3: K {
//!       %4 = index a[%1, %3]
//!       %5 = index x[%3]
//!       %6 = mul %4, %5
//!       yield %6
//!     }
//!     %7 = reduce add %2
//!     yield %7
//!   }
//!   return %0
//! }
//! ```

use crate::ir::{Args, Block, Checkpoint, Extent, Lit, Message, Mode, Monoid, Stage, ValueId};
use crate::ops::Prim;

/// The stage's marker.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Point;

impl Stage for Point {
    type Op = PointOp;
    type Dim = Extent;
    type Decls = ();
    const NAME: &'static str = "point";
}

/// An operation of Point.
///
/// "Scalar" below is a value without axes; `T[A, …]` a value with these axes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PointOp {
    /// `const 1.0f64`: a scalar constant.
    Const(Lit),
    /// `size I`: how large an extent is, a `usize` scalar.
    Size(Extent),
    /// `add %0, %1`: a primitive applied to scalars.
    Prim(Prim, Args),
    /// `index t[%i, %j]`: an element of `t`, or the sub-table that the leading axes select.
    /// Each index is a scalar of type `idx<E>` with `E` the extent of the axis it selects from.
    Index {
        /// A table with at least as many axes as there are indices.
        table: ValueId,
        /// One for each leading axis.
        indices: Vec<ValueId>,
    },
    /// `array [%0, %1, %2]`: values of one type (not none) stacked along a new leading axis of that
    /// constant extent.
    Array(Vec<ValueId>),
    /// `for %i: I { … yield %x, %y }`: one table for each value yielded, with a new leading axis.
    /// The block's only parameter is the index, `idx<I>`. Iterations are independent but for
    /// accumulation.
    For {
        /// The index set.
        extent: Extent,
        /// One iteration.
        body: Box<Block<Point>>,
    },
    /// `reduce add %t`: combines the sub-tables along the leading axis, element by element; of
    /// nothing, the identity.
    Reduce {
        /// How.
        monoid: Monoid,
        /// What.
        table: ValueId,
    },
    /// `argmin %t`, `argmax %t`: the index of the first extremal element of a table with one axis.
    /// Panics when it is empty. NaN never wins against a number.
    ArgReduce {
        /// The largest, or the smallest.
        max: bool,
        /// A table with one axis, of a number type.
        table: ValueId,
    },
    /// `fold (%init, …) %t, … { |%a, …, %b, …| … yield %c, … }`: `init ⊕ t₀ ⊕ t₁ …` along the
    /// leading axis, for an associative operator on tuples; element `k` of the tuple has the type
    /// of `init[k]` and of `tables[k]` less its leading axis.
    Fold {
        /// The initial tuple.
        init: Vec<ValueId>,
        /// One table for each element of the tuple, with equal leading extents.
        tables: Vec<ValueId>,
        /// The operator: parameters are the left tuple, then the right tuple.
        op: Box<Block<Point>>,
    },
    /// `scan (%init, …) %t, … { … }`: as `fold`, but gives every prefix `init ⊕ t₀ ⊕ … ⊕ tᵢ`: one
    /// table for each element.
    Scan {
        /// The initial tuple.
        init: Vec<ValueId>,
        /// One table for each element of the tuple, with equal leading extents.
        tables: Vec<ValueId>,
        /// The operator: parameters are the left tuple, then the right tuple.
        op: Box<Block<Point>>,
    },
    /// `loop %t: T (%s = %init, …) { … yield %s2, …; %c, … }`: iterations in order (`loop rev`:
    /// from the last), each handing its state to the next. Block parameters: the index, then the
    /// states. Block results: the next states, then values to *collect*. Statement results: the
    /// final states, then for each collected value the table of it over `T` (by index, also when
    /// reversed).
    Loop {
        /// How many iterations.
        extent: Extent,
        /// From the last index to the first.
        reverse: bool,
        /// What a derivative keeps of it.
        checkpoint: Option<Checkpoint>,
        /// Initial states.
        init: Vec<ValueId>,
        /// One iteration.
        body: Box<Block<Point>>,
    },
    /// `while bound %n (%s = %init, …) { … yield %c } do { |%s2, …| … yield %s3, … }`: both blocks
    /// have the states as parameters. Results: the final states.
    While {
        /// Initial states.
        init: Vec<ValueId>,
        /// Gives one truth value: whether to go on.
        cond: Box<Block<Point>>,
        /// One iteration.
        body: Box<Block<Point>>,
        /// The largest number of iterations the author promised, a `usize` scalar; one more panics.
        bound: Option<ValueId>,
    },
    /// `if %c { … yield %x } else { … yield %y }`: the results of the branch taken; the other is
    /// not evaluated.
    If {
        /// A truth value.
        cond: ValueId,
        /// Without parameters.
        then: Box<Block<Point>>,
        /// Without parameters; results of the same types.
        otherwise: Box<Block<Point>>,
    },
    /// `accum add %base`: a new accumulator that begins as `base`; its result has the type of
    /// `base` and may be used by `accumulate` and `get` only.
    Accum {
        /// How values are combined.
        monoid: Monoid,
        /// What it begins as.
        base: ValueId,
    },
    /// `accumulate %acc[%i], %v`: combines `v` into the element or sub-table. Binds nothing. May
    /// stand in any block inside the accumulator's own, but not inside an operator of `fold` or
    /// `scan`.
    Accumulate {
        /// The accumulator.
        acc: ValueId,
        /// Leading indices, as for `index`.
        indices: Vec<ValueId>,
        /// Of the type of what the indices select.
        value: ValueId,
    },
    /// `get %acc`: the accumulated value. In the block of `accum` itself, once, after every
    /// `accumulate`.
    Get {
        /// The accumulator.
        acc: ValueId,
    },
    /// `assert %c, "message {}", %x`: panics with the message, which shows the values, unless `c`
    /// is true. Binds nothing.
    Assert {
        /// A truth value.
        cond: ValueId,
        /// What the panic says.
        message: Message,
        /// The scalars that it shows. They are looked at where the condition is false only.
        shown: Vec<ValueId>,
    },
    /// `update %t[%i], %v`: the table `t` with one element or sub-table replaced.
    Update {
        /// The table before.
        table: ValueId,
        /// Leading indices, as for `index`.
        indices: Vec<ValueId>,
        /// Of the type of what the indices select.
        value: ValueId,
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
        /// The function.
        body: Box<Block<Point>>,
    },
    /// `rule vjp (%p = %x, …) { … yield %y, … } by { |%q, …, %ct, …| … yield %ct2, … }`: a function
    /// with its author's own derivative. Results: those of the body.
    Rule {
        /// Which way the author's derivative runs.
        mode: Mode,
        /// One float value for each parameter that is differentiated.
        args: Vec<ValueId>,
        /// The function.
        body: Box<Block<Point>>,
        /// Its derivative. Parameters: those of the body, then the seeds of
        /// [`Derive`](Self::Derive); results: its derivatives.
        rule: Box<Block<Point>>,
    },
}
