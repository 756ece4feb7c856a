//! The typed tree: names are resolved, every expression has a type, and nothing is decided yet
//! about values.
//!
//! Types may hold variables; [`Function::solver`] says what they became.

use std::rc::Rc;

use proc_macro2::{Span, TokenStream};

use super::solve::Solver;
use super::types::{Set, Ty};
use super::words::{Method, Word};
use crate::ir::{Checkpoint, Message, Mode, Monoid, SpanId};
use crate::syntax::tree::{self, BinaryOp, Output, UnaryOp};

/// A variable of one function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct LocalId(pub(super) u32);

/// How a variable came to be; decides what may be done with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// `let`
    Let,
    /// A parameter by value.
    Param,
    /// A parameter behind `&`.
    Shared,
    /// A parameter behind `&mut`.
    Exclusive,
    /// Bound by a `for`, a closure or a match.
    Bound,
    /// `let row = &mut acc[i]`
    Slice,
}

/// What is known of a variable.
#[derive(Clone, Debug)]
pub(super) struct Local {
    /// Its name.
    pub(super) name: String,
    /// Its type.
    pub(super) ty: Ty,
    /// Whether it was declared `mut`.
    pub(super) mutable: bool,
    /// How it came to be.
    pub(super) origin: Origin,
    /// Whether it may be a reference, which can be dereferenced.
    pub(super) reference: bool,
    /// Of a closure: what its parameters are called, as far as they have names.
    pub(super) params: Vec<Option<String>>,
    /// Where.
    pub(super) span: Span,
}

/// A constant that a function names.
#[derive(Clone, Debug)]
pub(super) struct Constant {
    /// The path as written.
    pub(super) path: syn::Path,
    /// The way to the part that is meant, if it is a part.
    pub(super) fields: Vec<syn::Member>,
    /// An expression for what the first so many of the fields lead to, of a type that has a name.
    pub(super) base: Option<(TokenStream, usize)>,
    /// Its type as used.
    pub(super) ty: Ty,
    /// What its type may be, or the types of its parts, by their positions in tuples.
    pub(super) opens: Vec<(Vec<usize>, Open)>,
    /// Where it was named first.
    pub(super) span: Span,
}

/// What the type of a constant may be, as far as its use says.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Open {
    /// As inferred.
    No,
    /// Any integer, as nothing says which: its value is made into the type inferred.
    Integer,
    /// Any number, as it is only cast to floats: its value is made into the float inferred.
    Number,
    /// An integer, or a member of this set: its number is the value.
    Index(Set),
}

/// A function after inference.
#[derive(Clone, Debug)]
pub(super) struct Function<'a> {
    /// As written.
    pub(super) tree: &'a tree::Function,
    /// The names of its generics.
    pub(super) generics: Vec<String>,
    /// Its parameters: they are locals.
    pub(super) params: Vec<LocalId>,
    /// The type of its result.
    pub(super) result: Ty,
    /// Its body.
    pub(super) body: Block,
    /// Its author's own derivative.
    pub(super) rule: Option<Rule>,
    /// Its variables.
    pub(super) locals: Vec<Local>,
    /// The constants it names, those of callees not included.
    pub(super) constants: Vec<Constant>,
    /// The variable that stands for what has been printed, if the function or one that it calls
    /// prints.
    pub(super) printed: Option<LocalId>,
    /// What type variables became.
    pub(super) solver: Solver,
}

/// `#[pointful(vjp = g)]`, `#[pointful(jvp = g)]`
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// Which way it runs.
    pub(super) mode: Mode,
    /// What computes it.
    pub(super) function: Expr,
    /// The parameters that are differentiated, by position.
    pub(super) wrt: Vec<usize>,
}

/// What a call gives to the generics of the function called.
#[derive(Clone, Debug, Default)]
pub(super) struct Instance {
    /// By position of the generic: an index set, or `Fin<N>` for a const generic.
    pub(super) sets: Vec<Option<Set>>,
    /// By position of the generic: a float.
    pub(super) floats: Vec<Option<Ty>>,
    /// Set variables of the function called (occurrences of `Dyn`), and ranges in its result.
    pub(super) inner: Vec<(Set, Set)>,
}

/// A block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Statements in order.
    pub(super) stmts: Vec<Stmt>,
    /// The value, if it is not `()`.
    pub(super) value: Option<Box<Expr>>,
}

/// A statement.
#[derive(Clone, Debug)]
pub(super) enum Stmt {
    /// `let p = e;`
    Let(Pattern, Expr),
    /// `e;`
    Expr(Expr),
}

/// A pattern.
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    /// `x`
    Bind(LocalId),
    /// `_`
    Wild,
    /// `(p, q)`, or the fields of a struct in order.
    Tuple(Vec<Pattern>),
    /// A literal that must be equal.
    Lit(Value),
    /// The member of an enum with this ordinal.
    Member(u64),
    /// `Either::Left(p)`, with the flag `Either::Right(p)`, of a value of this type.
    Side(bool, Ty, Box<Pattern>),
    /// `Some(p)`, `None`, of an `Option` of this type.
    Present(Ty, Option<Box<Pattern>>),
}

/// A literal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Value {
    /// `1`
    Int(i128),
    /// `1.0`
    Float(f64),
    /// `true`
    Bool(bool),
}

/// A typed expression.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    /// What it is.
    pub(super) kind: Kind,
    /// Its type.
    pub(super) ty: Ty,
    /// Where.
    pub(super) span: SpanId,
}

/// Something that can be assigned: a variable and the way to a part of it.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The variable.
    pub(super) local: LocalId,
    /// The way, outermost first.
    pub(super) steps: Vec<Step>,
    /// The type of the part.
    pub(super) ty: Ty,
    /// Where.
    pub(super) span: SpanId,
}

/// A step on the way to a part.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A field of a tuple or struct.
    Field(usize),
    /// Elements or sub-tables, with the type of what is indexed.
    Index(Ty, Vec<Expr>),
}

/// What a `for` runs over.
#[derive(Clone, Debug)]
pub(super) enum Over {
    /// All members of a set.
    Set,
    /// Integers from `start` (0) up to `end`.
    Ints {
        /// The first.
        start: Option<Box<Expr>>,
        /// The last, or one more.
        end: Box<Expr>,
        /// `..=`
        inclusive: bool,
    },
    /// Members from `start` (the first) up to `end` (all).
    Members {
        /// Of this set.
        of: Set,
        /// The first.
        start: Option<Box<Expr>>,
        /// The last, or one more.
        end: Option<Box<Expr>>,
        /// `..=`
        inclusive: bool,
    },
}

/// A `for`.
#[derive(Clone, Debug)]
pub(super) struct For {
    /// Binds the member.
    pub(super) pattern: Pattern,
    /// What it runs over.
    pub(super) over: Over,
    /// The set that its table is over: a [`Set::Range`] unless `over` is a whole set.
    pub(super) set: Set,
    /// Where that is written.
    pub(super) place: SpanId,
    /// From the last to the first.
    pub(super) reverse: bool,
    /// What a derivative keeps of it, and where that is written.
    pub(super) checkpoint: Option<(Checkpoint, SpanId)>,
    /// How many to leave out in front, in the order of the set.
    pub(super) skip_front: Vec<Expr>,
    /// How many to leave out at the end, in the order of the set.
    pub(super) skip_back: Vec<Expr>,
    /// One iteration.
    pub(super) body: Block,
    /// The type of the body's value.
    pub(super) value: Ty,
    /// Whether there are tables in it that are rows of a `Ragged`.
    pub(super) makes_rows: bool,
}

/// A closure.
#[derive(Clone, Debug)]
pub(super) struct Closure {
    /// Its parameters.
    pub(super) params: Vec<Pattern>,
    /// Its body.
    pub(super) body: Expr,
}

/// A call of an annotated function.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Its position among the functions.
    pub(super) callee: usize,
    /// What its generics are.
    pub(super) instance: Instance,
    /// The arguments; `&mut` ones are places.
    pub(super) args: Vec<Arg>,
    /// Over what it is repeated.
    pub(super) repeat: Repeat,
    /// The caller's variable that what it prints changes, if it prints.
    pub(super) printed: Option<LocalId>,
}

/// The axes over which a call is repeated, and for each argument which of them it has.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeat {
    /// None for a single call.
    pub(super) frame: Vec<Set>,
    /// By argument: positions in the frame.
    pub(super) lifted: Vec<Vec<usize>>,
}

/// A transformed function.
#[derive(Clone, Debug)]
pub(super) struct Transform {
    /// What it computes.
    pub(super) derivative: Derivative,
    /// The function transformed.
    pub(super) of: Expr,
    /// How many parameters that has.
    pub(super) arity: usize,
    /// What that gives.
    pub(super) result: Ty,
    /// The parameters that are differentiated or mapped, by position.
    pub(super) wrt: Vec<usize>,
}

/// What a transformed function computes.
#[derive(Clone, Debug)]
pub(super) enum Derivative {
    /// Cotangents of the parameters, for a result that is one float.
    Gradient {
        /// And the result itself.
        value: bool,
    },
    /// The result and cotangents of the parameters.
    Cotangent,
    /// The result and its tangent.
    Tangent,
    /// The tangent of the result.
    TangentAlone,
    /// The result and the map from tangents to its tangent.
    Linearize,
    /// All derivatives.
    Jacobian,
    /// The results for all members of a set.
    Map(Set),
}

/// An argument.
#[derive(Clone, Debug)]
pub(super) enum Arg {
    /// A value.
    Value(Expr),
    /// `&mut place`
    Place(Place),
}

impl Arg {
    /// The type of what is given.
    pub(super) fn ty(&self) -> &Ty {
        match self {
            Arg::Value(value) => &value.ty,
            Arg::Place(place) => &place.ty,
        }
    }
}

/// A method of vectors. Those that change the receiver give what it becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum VectorOp {
    /// `x.zeros_like()`
    ZerosLike,
    /// `x.scale(a)`
    Scale,
    /// `x.axpy(a, &y)`
    Axpy,
    /// `x.map(|c| e)`
    Map,
    /// `x.dot(&y)`
    Dot,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// A literal.
    Lit(Value),
    /// A variable.
    Local(LocalId),
    /// A constant: an index into the function's constants.
    Constant(usize),
    /// An annotated function as a value.
    Function(usize, Instance),
    /// The member of an enum with this ordinal.
    Member(u64),
    /// `Either::Left(i)`, with the flag `Either::Right(i)`: the type says of which set.
    Side(bool, Box<Expr>),
    /// A value of one of two kinds, with the flag of the second: `None`, `Some(x)`, and
    /// `Either::Left(x)`, `Either::Right(x)` of what is no member.
    OneOf(bool, Box<Expr>),
    /// An index set as a value.
    Extent(Set),
    /// How many members an extent has.
    Size(Box<Expr>),
    /// The value of a const generic: the size of that `Fin`.
    SizeOf(Set),
    /// `-x`, `!x`
    Unary(UnaryOp, Box<Expr>),
    /// `x + y`
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `x && y` if the flag is set, else `x || y`
    Lazy(bool, Box<Expr>, Box<Expr>),
    /// `x as T`
    Cast(Box<Expr>),
    /// `T::EPSILON` of the generic float at this position.
    FloatConstant(usize, &'static str),
    /// `f64::from_bits(x)`
    FromBits(Box<Expr>),
    /// A call of an annotated function.
    Call(Box<Call>),
    /// A call of a closure or a function value. Where that is a table of functions, it comes first
    /// among what is repeated.
    Apply(Box<Expr>, Vec<Expr>, Repeat),
    /// A reduction or cumulation of a table.
    Word(Word, Box<Expr>),
    /// `reduce` or, with the flag, `scan`: initial value, operator, table
    Fold {
        /// Every prefix, not just the whole.
        scan: bool,
        /// In front of the first.
        init: Box<Expr>,
        /// A function of two values.
        op: Box<Expr>,
        /// What is combined.
        table: Box<Expr>,
    },
    /// `filter(f, t)`
    Filter {
        /// What the elements that are kept are over: a [`Set::Range`].
        set: Set,
        /// Whether one is kept.
        predicate: Box<Expr>,
        /// All of them.
        table: Box<Expr>,
    },
    /// `x.f(y)`
    Method(Method, Box<Expr>, Vec<Expr>),
    /// `x.0`
    Field(Box<Expr>, usize),
    /// `t[i]`
    Index(Box<Expr>, Vec<Expr>),
    /// `(x, y)`, or the fields of a struct in order.
    Tuple(Vec<Expr>),
    /// A struct in which some fields are replaced.
    Updated(Box<Expr>, Vec<(usize, Expr)>),
    /// `[x, y]`
    Array(Vec<Expr>),
    /// `[x; n]`: the type says how many.
    Repeat(Box<Expr>),
    /// `{ … }`
    Block(Block),
    /// `if c { … } else { … }`
    If(Box<Expr>, Block, Option<Box<Expr>>),
    /// `for p in it { … }`
    For(Box<For>),
    /// `while c { … }`
    While {
        /// Whether to go on.
        cond: Box<Expr>,
        /// One iteration.
        body: Block,
        /// `#[bound(n)]`
        bound: Option<Box<Expr>>,
    },
    /// `match e { … }`
    Match(Box<Expr>, Vec<Arm>),
    /// `grad!(f)`
    Transform(Box<Transform>),
    /// `model.dot(&other)`
    Vector(VectorOp, Box<Expr>, Vec<Expr>),
    /// `stop_gradient(e)`
    StopGradient(Box<Expr>),
    /// `|x| e`
    Closure(Rc<Closure>),
    /// `p = e`, `p += e`
    Assign(Option<BinaryOp>, Place, Box<Expr>),
    /// `acc.put(v)`
    Put(Place, Box<Expr>),
    /// `acc.get(k).put(v)`: nothing where there is no such part.
    PutAt {
        /// The accumulator, or a part of it.
        place: Place,
        /// Which part of that.
        at: Vec<Expr>,
        /// What is put.
        value: Box<Expr>,
    },
    /// `&mut acc[i]`
    Slice(Place),
    /// `Accum::zero()`, `Accum::zeros(n)`: the type says the shape, whose extent may be made here.
    Accum(Monoid, Option<Box<Expr>>),
    /// `Accum::monoid(identity, op)`, `Accum::monoid(n, identity, op)`: likewise.
    Monoid {
        extent: Option<Box<Expr>>,
        /// What nothing adds up to.
        identity: Box<Expr>,
        /// Combines two cells.
        op: Box<Expr>,
    },
    /// `Extent::new(n)`: a set of ranges that it makes.
    NewExtent(Set, Box<Expr>),
    /// `N::from_ordinal(k, n)`
    FromOrdinal(Set, Box<Expr>),
    /// `assert!(c, "… {}", x)`
    Assert(Box<Expr>, Message, Vec<Expr>),
    /// `println!("… {}", x)`
    Print(Box<Print>),
    /// `dbg!(x)`: the value, which is printed behind a text. The variable is that of [`Print`].
    Debug(LocalId, String, Box<Expr>),
    /// Something that was reported.
    Error,
}

/// Something that is printed.
#[derive(Clone, Debug)]
pub(super) struct Print {
    /// The function's variable that each print changes, see [`Function::printed`].
    pub(super) printed: LocalId,
    /// Where.
    pub(super) output: Output,
    /// What.
    pub(super) message: Message,
    /// The values in it.
    pub(super) shown: Vec<Expr>,
}

/// A match arm.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    /// Alternatives.
    pub(super) patterns: Vec<Pattern>,
    /// `if e`
    pub(super) guard: Option<Expr>,
    /// Its value.
    pub(super) body: Expr,
}

/// Whether an operator moves a position.
pub(super) fn is_additive(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Sub)
}

/// Whether a pattern takes every value.
pub(super) fn irrefutable(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Bind(_) | Pattern::Wild => true,
        Pattern::Tuple(parts) => parts.iter().all(irrefutable),
        Pattern::Lit(_) | Pattern::Member(_) | Pattern::Side(..) | Pattern::Present(..) => false,
    }
}
