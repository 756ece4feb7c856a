//! What imperative stages have in common: scalars that never change, places that do, and control
//! flow over them. Each stage adds operations of its own, such as the `par` of
//! [Kernels](super::kernels).
//!
//! # Values and places
//!
//! A value without axes bound by a pure operation is a scalar; it never changes.
//! *Places* change: a `var` (a scalar place) and a buffer (`alloc`, or a table parameter). A
//! buffer's type has the extents of its axes, row-major. Loads and stores name every axis of the
//! buffer.

use std::fmt::Debug;
use std::hash::Hash;

use super::kernels::Kernels;
use crate::ir::{Args, Block, Elem, Extent, Lit, Message, Monoid, Operation, Stage, ValueId};
use crate::ops::Prim;

/// A stage of loops over buffers.
pub trait Imperative: Stage<Op = ImperativeOp<Self>, Dim = Extent, Decls = ()> + Eq + Hash {
    /// The operations that only it has. They bind nothing.
    type Own: Clone + Eq + Hash + Debug + Operation<Self>;

    /// Whether the block of a parallel nest is run for parts of rows, and not for points: it binds
    /// bounds of the last axis in place of its index.
    const ROWS: bool;

    /// The parallel nest that an operation of its own is, if it is one.
    fn par(own: &Self::Own) -> Option<&Par<Self>>;

    /// As [`par`](Self::par).
    fn par_mut(own: &mut Self::Own) -> Option<&mut Par<Self>>;

    /// The extents that an operation of its own names.
    fn extents(own: &Self::Own) -> &[Extent];

    /// As [`extents`](Self::extents).
    fn extents_mut(own: &mut Self::Own) -> &mut [Extent];
}

/// A place that the pieces of a parallel loop combine into.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Acc {
    /// How.
    pub monoid: Monoid,
    /// The `var` or buffer outside that the merged copies are combined into at the end.
    pub target: ValueId,
    /// The private copy inside, of the type of `target`, filled with the identity. Only `combine`
    /// may use it.
    pub private: ValueId,
    /// Whether a piece may note what it combines where, in place of a copy: see
    /// [`cpu`](super::cpu#copies).
    pub notes: bool,
    /// Whether the target, which holds the identity until then, is what the merged copies are.
    pub becomes: bool,
}

impl Acc {
    /// Pieces have copies, which are combined into the target.
    pub fn new(monoid: Monoid, target: ValueId, private: ValueId) -> Self {
        Self {
            monoid,
            target,
            private,
            notes: false,
            becomes: false,
        }
    }
}

/// Places that the iterations of a parallel loop change in order: each piece of the work has copies
/// of its own, and the copies of neighbouring pieces are joined.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fold<S: Imperative = Kernels> {
    /// The `var`s, or buffers over the same axes, that the joined copies are joined to at the end.
    pub targets: Vec<ValueId>,
    /// The private copies inside, of the types of the targets.
    pub privates: Vec<ValueId>,
    /// What the private copies hold when a piece begins: joined to anything, it changes nothing.
    pub first: Vec<Lit>,
    /// Joins one element of what came earlier and of what came later. Its parameters are an index
    /// for each axis of the targets, the earlier elements and the later ones; its results are the
    /// joined ones.
    pub join: Block<S>,
}

/// `par "name" %i: I, %j: J (add %s = %p, …) { … }`: a parallel nest over the product of the
/// extents, which do not depend on each other. The block's parameters are the indices. Binds
/// nothing.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Par<S: Imperative = Kernels> {
    /// What the kernel computes, for the comment in emitted code and for `explain`.
    pub name: String,
    /// Which nest of Kernels it is: costs are counted there, and passes over what comes after it run
    /// nests in another order. Not part of the text.
    pub number: usize,
    /// One extent an index.
    pub extents: Vec<Extent>,
    /// Whether pieces of the work may be columns, which then share what is combined into: see
    /// [`cpu`](super::cpu#columns).
    pub by_columns: bool,
    /// Whether a piece of the work may run with functions of near angles first, and again if an angle
    /// was far: see [`cpu`](super::cpu#speculation).
    pub speculates: bool,
    /// Accumulators.
    pub accs: Vec<Acc>,
    /// What is folded.
    pub folds: Vec<Fold<S>>,
    /// One iteration.
    pub body: Box<Block<S>>,
}

impl<S: Imperative> Par<S> {
    /// The private copies: of what is combined into, then of what is folded.
    pub(crate) fn privates(&self) -> impl Iterator<Item = ValueId> {
        let folded = self.folds.iter().flat_map(|fold| &fold.privates).copied();
        self.accs.iter().map(|acc| acc.private).chain(folded)
    }
}

/// Where along one of its axes an array takes part in a contraction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Along {
    /// Everywhere; the axis has this number.
    Axis(usize),
    /// At this index.
    At(ValueId),
}

impl Along {
    /// The index, if it is at one.
    pub(crate) fn index(&self) -> Option<ValueId> {
        match self {
            Self::Axis(_) => None,
            Self::At(index) => Some(*index),
        }
    }
}

/// Which products of a contraction are terms of its sums: those where an array of truth values is
/// true.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Mask {
    /// The truth values.
    pub buffer: ValueId,
    /// What is gone through of its axes: no others than of the left factor.
    pub along: Vec<Along>,
}

/// An operation of an imperative stage.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ImperativeOp<S: Imperative> {
    /// `const 1.0f64`
    Const(Lit),
    /// `size I`
    Size(Extent),
    /// `add %0, %1`: a primitive on scalars.
    Prim(Prim, Args),
    /// `select %c, %x, %y`: one or the other of two scalars that are both computed.
    Select(ValueId, ValueId, ValueId),
    /// `alloc f64[I, K]` or `alloc f64[I] fill 0.0f64`: a new buffer. Inside a kernel it is private
    /// to the iteration.
    Alloc {
        /// What every element is at first; without it, undefined until stored.
        fill: Option<Lit>,
    },
    /// `copy %b`: a new buffer with the contents of another.
    Copy(ValueId),
    /// `load %b[%i, %j]`: indices have type `idx` of the axes' extents.
    Load {
        /// The buffer.
        buffer: ValueId,
        /// One index an axis.
        indices: Vec<ValueId>,
    },
    /// `store %b[%i, %j], %v`. Binds nothing.
    Store {
        /// The buffer.
        buffer: ValueId,
        /// One index an axis.
        indices: Vec<ValueId>,
        /// What is stored.
        value: ValueId,
    },
    /// `combine add %p[%i], %v`: `p[i] = p[i] ⊕ v` for a buffer, a `var` (no indices) or a private
    /// accumulator. Binds nothing.
    Combine {
        /// How.
        monoid: Monoid,
        /// The place.
        place: ValueId,
        /// One index an axis; none for a `var`.
        indices: Vec<ValueId>,
        /// What is combined in.
        value: ValueId,
    },
    /// `var %v`: a new scalar place that begins as `v`.
    Var(ValueId),
    /// `get %p`: what a `var` holds now.
    Get(ValueId),
    /// `set %p, %v`. Binds nothing.
    Set {
        /// The `var`.
        place: ValueId,
        /// Its new contents.
        value: ValueId,
    },
    /// `swap %a, %b`: exchanges the contents of two buffers of one type, at no cost. On the host or
    /// among buffers private to an iteration. Binds nothing.
    Swap(ValueId, ValueId),
    /// `contract %c[0, 1] = %a[0, 2], %b[%k, 2, 1]`: every element of a buffer becomes a sum of
    /// products of elements of two others. `contract add %c[…] = …` adds the sums to what is there,
    /// `contract absorb %c[…] = …` makes them of absorbing products. Axes have numbers; summed are
    /// those that the buffer has not. Each axis is in two of the three buffers, or in all. A buffer
    /// may be taken at an index along some axes. `contract %c[0, 1] = %a[0, 2], %b[2, 1] where %m[2]`
    /// sums the products that a mask keeps; the left factor is zero where it keeps none. Binds
    /// nothing.
    Contract {
        /// The buffer that is written; a private accumulator only if sums are added.
        out: ValueId,
        /// The factors: other buffers than it.
        factors: [ValueId; 2],
        /// What is gone through of the axes: of the buffer and of the factors.
        along: [Vec<Along>; 3],
        /// Whether sums are added to what is there.
        add: bool,
        /// Whether products are [absorbing](Prim::MulAbsorb).
        absorb: bool,
        /// Which products are terms; none unless sums are new, of products that do not absorb.
        mask: Option<Mask>,
    },
    /// `for %i: K { … }`, `for rev %i: K { … }`: sequential. The block has the index as parameter
    /// and no results. Binds nothing.
    For {
        /// How many iterations.
        extent: Extent,
        /// From the last index to the first.
        reverse: bool,
        /// One iteration.
        body: Box<Block<S>>,
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
    /// `while { … yield %c } do { … }`: blocks without parameters; state lives in places. Binds
    /// nothing.
    While {
        /// Gives one truth value.
        cond: Box<Block<S>>,
        /// One iteration.
        body: Box<Block<S>>,
    },
    /// `if %c { … } else { … }`: blocks without parameters or results. Binds nothing.
    If {
        /// A truth value.
        cond: ValueId,
        /// When true.
        then: Box<Block<S>>,
        /// When false.
        otherwise: Box<Block<S>>,
    },
    /// An operation that only this stage has.
    Own(S::Own),
}

impl<S: Imperative> ImperativeOp<S> {
    /// The same operation in another stage, given what becomes of its blocks.
    ///
    /// # Errors
    /// What a block gives.
    ///
    /// # Panics
    /// If only this stage has the operation.
    pub(crate) fn in_stage<T: Imperative, E>(
        self,
        mut block: impl FnMut(Block<S>) -> Result<Block<T>, E>,
    ) -> Result<ImperativeOp<T>, E> {
        Ok(match self {
            Self::Const(lit) => ImperativeOp::Const(lit),
            Self::Size(extent) => ImperativeOp::Size(extent),
            Self::Prim(prim, args) => ImperativeOp::Prim(prim, args),
            Self::Select(cond, then, otherwise) => ImperativeOp::Select(cond, then, otherwise),
            Self::Alloc { fill } => ImperativeOp::Alloc { fill },
            Self::Copy(buffer) => ImperativeOp::Copy(buffer),
            Self::Load { buffer, indices } => ImperativeOp::Load { buffer, indices },
            Self::Store {
                buffer,
                indices,
                value,
            } => ImperativeOp::Store {
                buffer,
                indices,
                value,
            },
            Self::Combine {
                monoid,
                place,
                indices,
                value,
            } => ImperativeOp::Combine {
                monoid,
                place,
                indices,
                value,
            },
            Self::Var(value) => ImperativeOp::Var(value),
            Self::Get(place) => ImperativeOp::Get(place),
            Self::Set { place, value } => ImperativeOp::Set { place, value },
            Self::Swap(a, b) => ImperativeOp::Swap(a, b),
            Self::Contract {
                out,
                factors,
                along,
                add,
                absorb,
                mask,
            } => ImperativeOp::Contract {
                out,
                factors,
                along,
                add,
                absorb,
                mask,
            },
            Self::For {
                extent,
                reverse,
                body,
            } => ImperativeOp::For {
                extent,
                reverse,
                body: Box::new(block(*body)?),
            },
            Self::Assert {
                cond,
                message,
                shown,
            } => ImperativeOp::Assert {
                cond,
                message,
                shown,
            },
            Self::While { cond, body } => ImperativeOp::While {
                cond: Box::new(block(*cond)?),
                body: Box::new(block(*body)?),
            },
            Self::If {
                cond,
                then,
                otherwise,
            } => ImperativeOp::If {
                cond,
                then: Box::new(block(*then)?),
                otherwise: Box::new(block(*otherwise)?),
            },
            Self::Own(_) => unreachable!("another stage has no operation of this one's own"),
        })
    }
}

/// What a kernel value is, beside its type: told by the operation that binds it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PlaceKind {
    /// An immutable scalar.
    Scalar,
    /// A mutable scalar.
    Var,
    /// A buffer.
    Buffer,
}

/// The identity element of `monoid` for a place that holds `elem`.
pub fn identity(monoid: Monoid, elem: Elem) -> Lit {
    monoid.identity(elem.repr())
}
