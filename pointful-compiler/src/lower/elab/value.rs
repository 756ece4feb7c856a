//! Values of the compiler: what an expression is before only scalars and tables of them are left.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::ir::{Extent, Monoid, Scalar, SpanId, ValueId};
use crate::lower::effects::Path;
use crate::lower::hir::{self, LocalId};
use crate::lower::types::{Set, Ty};

/// What an expression is.
#[derive(Clone, Debug)]
pub(super) enum Val<'a> {
    /// A scalar or a table of scalars.
    Leaf(ValueId),
    /// A tuple, a struct, a member of a product; also a table of those, as a tuple of tables.
    Tuple(Vec<Val<'a>>),
    /// A closure with what it captured.
    Closure(Rc<Closure<'a>>),
    /// An annotated function.
    Function(Rc<Function>),
    /// A function that only the caller of the root knows.
    Unknown(Rc<Opaque>),
    /// A transformed function.
    Transformed(Rc<Transformed<'a>>),
    /// What `linearize!` gives beside the value.
    Linear(Rc<Linear<'a>>),
    /// An index set.
    Extent(Space),
    /// An accumulator, or a part of one.
    Accum(Rc<Accum<'a>>),
    /// An accumulator with an operator of its own.
    Own(Rc<Own<'a>>),
    /// A part of such an accumulator: the variable, and leading indices.
    Slice(Rc<(Path, Vec<ValueId>)>),
    /// `t.get(i)`
    Option(Rc<Maybe<'a>>),
    /// A table of functions, as a function of the index.
    Functions(Rc<Functions<'a>>),
    /// An array of functions, or one of them.
    Choice(Rc<Choice<'a>>),
    /// A function, or an array of them, that a branch gives.
    Chosen(Rc<Chosen<'a>>),
    /// The part of a table that one iteration has to itself.
    Part(Rc<Part<'a>>),
    /// An accumulator after `get()`.
    Spent,
}

/// The axes that an index set stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Space {
    /// One axis; members are its indices.
    Axis(Extent),
    /// One axis of two; members are truth values.
    Bool,
    /// One axis: the members of the first, then those of the second.
    Either(Box<Space>, Box<Space>, Extent),
    /// One after the other; members are tuples.
    Product(Vec<Space>),
    /// No set, but the lengths of rows: one axis, that of all their values.
    Rows(Rc<Rows>),
}

/// Where rows of different lengths have their values, which stand in one table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Rows {
    /// The set that has a row for each member.
    pub(super) of: Space,
    /// Tables over that set: where rows begin,
    pub(super) starts: ValueId,
    /// and where they end.
    pub(super) ends: ValueId,
    /// How many values there are.
    pub(super) values: Extent,
}

impl Space {
    /// The axes, outermost first.
    pub(super) fn axes(&self) -> Vec<Extent> {
        match self {
            Space::Axis(extent) | Space::Either(_, _, extent) => vec![*extent],
            Space::Bool => vec![Extent::Const(2)],
            Space::Product(parts) => parts.iter().flat_map(Space::axes).collect(),
            Space::Rows(rows) => vec![rows.values],
        }
    }
}

/// The variables and generics of one call.
#[derive(Clone, Debug)]
pub(super) struct Frame<'a> {
    /// Which function.
    pub(super) function: usize,
    /// By position of the generic: what an index set or `Fin<N>` is.
    pub(super) sets: Vec<Option<Space>>,
    /// By position of the generic: which float.
    pub(super) floats: Vec<Option<Scalar>>,
    /// What occurrences of `Dyn` and ranges are.
    pub(super) inner: BTreeMap<Set, Space>,
    /// Where ranges of members begin that do not begin with the first.
    pub(super) begins: BTreeMap<Set, ValueId>,
    /// By local: what it is now.
    pub(super) env: Vec<Option<Val<'a>>>,
}

/// A closure with the call it was written in.
#[derive(Clone, Debug)]
pub(super) struct Closure<'a> {
    /// The closure.
    pub(super) code: &'a hir::Closure,
    /// Where it was written, with the values variables had.
    pub(super) frame: Frame<'a>,
}

/// A function with its generics.
#[derive(Clone, Debug)]
pub(super) struct Function {
    /// Which one.
    pub(super) position: usize,
    /// Its index sets.
    pub(super) sets: Vec<Option<Space>>,
    /// Its floats.
    pub(super) floats: Vec<Option<Scalar>>,
    /// Its occurrences of `Dyn`.
    pub(super) inner: BTreeMap<Set, Space>,
    /// Ranges in its result, and what they are to the function that names it.
    pub(super) ranges: Vec<(Set, Set)>,
    /// That function.
    pub(super) home: usize,
}

/// A function that only the caller of the root knows.
#[derive(Clone, Debug)]
pub(super) struct Opaque {
    /// The parameter.
    pub(super) name: String,
    /// The first of those among the interface's functions that are parts of it.
    pub(super) first: u8,
    /// What it gives, in terms of the root.
    pub(super) result: Ty,
}

/// A transformed function.
#[derive(Clone, Debug)]
pub(super) struct Transformed<'a> {
    /// The transformation.
    pub(super) code: &'a hir::Transform,
    /// The function.
    pub(super) of: Val<'a>,
    /// The set that it is mapped over.
    pub(super) space: Option<Space>,
    /// If the function gives a tuple, which parts have derivatives.
    pub(super) parts: Option<Vec<bool>>,
    /// Whether the function computes how long its result is.
    pub(super) computed: bool,
}

/// A linear map from tangents to tangents, at a point.
#[derive(Clone, Debug)]
pub(super) struct Linear<'a> {
    /// Of what it is the derivative.
    pub(super) of: Rc<Transformed<'a>>,
    /// Where.
    pub(super) args: Vec<Val<'a>>,
}

/// What makes the functions of a table.
#[derive(Clone, Debug)]
pub(super) enum Maker<'a> {
    /// A loop.
    Loop(&'a hir::For),
    /// A call that is repeated over the cells of its arguments.
    Call {
        /// What is called; if nothing, that is the first of the arguments.
        of: Option<Val<'a>>,
        /// Over which axes.
        repeat: &'a hir::Repeat,
        /// The arguments.
        args: Vec<Val<'a>>,
    },
}

/// A table of functions.
#[derive(Clone, Debug)]
pub(super) struct Functions<'a> {
    /// What makes it.
    pub(super) maker: Maker<'a>,
    /// Where it was written.
    pub(super) frame: Frame<'a>,
    /// How many axes it has.
    pub(super) axes: usize,
    /// Indices given so far.
    pub(super) indices: Vec<ValueId>,
}

/// An array of functions. Which one is called is told by the first index; elements that are arrays
/// themselves are given the others.
#[derive(Clone, Debug)]
pub(super) struct Choice<'a> {
    /// The functions.
    pub(super) functions: Vec<Val<'a>>,
    /// Indices given so far.
    pub(super) indices: Vec<ValueId>,
}

/// A function that a branch gives: what it is called with it is called with inside of the branch.
#[derive(Clone, Debug)]
pub(super) struct Chosen<'a> {
    /// The branch.
    pub(super) chooser: Chooser<'a>,
    /// Where it was written.
    pub(super) frame: Frame<'a>,
    /// Which part of what the branch gives, through nested tuples.
    pub(super) parts: Vec<usize>,
    /// Indices given so far.
    pub(super) indices: Vec<ValueId>,
}

/// Branches of which one gives a value.
#[derive(Clone, Debug)]
pub(super) enum Chooser<'a> {
    /// `if c { … } else { … }`
    If {
        /// The condition.
        cond: ValueId,
        /// If it holds.
        then: &'a hir::Block,
        /// If it does not; nothing without `else`.
        otherwise: Option<&'a hir::Expr>,
    },
    /// `match e { … }`
    Match {
        /// What is looked at.
        val: Val<'a>,
        /// Its type.
        ty: &'a Ty,
        /// The arms.
        arms: &'a [hir::Arm],
    },
}

/// The part of a table that the current iteration of a loop, or of several, has to itself: it is
/// used at their own indices only.
#[derive(Clone, Debug)]
pub(super) struct Part<'a> {
    /// What stands at those indices now.
    pub(super) val: Val<'a>,
    /// How many leading indices are those of the loops around.
    pub(super) axes: usize,
    /// The variables of these loops.
    pub(super) members: Vec<LocalId>,
}

/// An accumulator.
#[derive(Clone, Debug)]
pub(super) struct Accum<'a> {
    /// How it combines.
    pub(super) monoid: Monoid,
    /// Its parts: leaves are accumulators of Point.
    pub(super) parts: Val<'a>,
    /// Leading indices, for a slice.
    pub(super) indices: Vec<ValueId>,
    /// The block it was made in.
    pub(super) block: u32,
}

/// An accumulator with an operator of its own.
#[derive(Clone, Debug)]
pub(super) struct Own<'a> {
    /// Combines two cells.
    pub(super) op: Val<'a>,
    /// Where that is written.
    pub(super) place: SpanId,
    /// How many axes each leaf of a cell has.
    pub(super) ranks: Vec<usize>,
    /// What it begins with.
    pub(super) identity: Val<'a>,
    /// What it is now.
    pub(super) val: Val<'a>,
    /// Whether that is known to be what it begins with.
    pub(super) untouched: bool,
    /// The block it was made in.
    pub(super) block: u32,
}

/// An element that may not be there.
#[derive(Clone, Debug)]
pub(super) struct Maybe<'a> {
    /// Whether it is there.
    pub(super) present: ValueId,
    /// What it is, if so.
    pub(super) element: Element<'a>,
}

/// What an element is that may not be there.
#[derive(Clone, Debug)]
pub(super) enum Element<'a> {
    /// One of a table, and where.
    Of(Val<'a>, Vec<Position>),
    /// What an `Option` of this type holds.
    Stored(Val<'a>, Ty),
}

impl Position {
    /// The indices, one for each axis.
    pub(super) fn known(self) -> Vec<ValueId> {
        match self {
            Position::Known(known) => known,
            Position::Integer(..) => Vec::new(),
        }
    }
}

/// An index that may not be one.
#[derive(Clone, Debug)]
pub(super) enum Position {
    /// It is.
    Known(Vec<ValueId>),
    /// An integer to be trusted once it is known to be in range; where that is asked.
    Integer(ValueId, Space, SpanId),
}
