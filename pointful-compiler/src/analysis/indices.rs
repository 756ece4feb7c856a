//! What indices are made of, in stages of whole arrays and of loops over buffers, and which lengths
//! cannot have wrapped.

use crate::differentiate::builder::Builder;
use crate::ir::stages::bulk::BulkOp;
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{
    Args, AxisId, Block, Elem, Extent, Lit, Operation, Program, Scalar, ValueId, ValueMap,
};
use crate::ops::Prim;

/// The largest constant that an index is known by.
pub(super) const FAR: i128 = 1 << 40;

/// How many definitions of lengths are looked through.
const DEEP: u32 = 12;

/// What an index or a truth value is made of.
#[derive(Clone, Debug)]
pub(crate) enum Made {
    Const(Lit),
    Size(Extent),
    /// The index along an axis.
    Iota(AxisId),
    Prim(Prim, Args),
    Select(ValueId, ValueId, ValueId),
}

/// A program whose indices are looked into.
pub(crate) trait Indices {
    fn elem(&self, value: ValueId) -> Elem;

    /// The axes along which a value may differ.
    fn dims(&self, value: ValueId) -> &[AxisId];

    fn extent(&self, axis: AxisId) -> Extent;

    /// What a value is made of, if that is one of these.
    fn made(&self, value: ValueId) -> Option<Made>;

    /// Whether a length is taken at its word, as that of a loop in order, which does not end where
    /// its author has made `n - 1` of no members, or panics at its first index that is out of range.
    /// In parallel it would begin anywhere.
    fn believes(&self, length: ValueId) -> bool;
}

impl Indices for Builder {
    fn elem(&self, value: ValueId) -> Elem {
        self.program.elem(value)
    }

    fn dims(&self, value: ValueId) -> &[AxisId] {
        &self.program.ty(value).dims
    }

    fn extent(&self, axis: AxisId) -> Extent {
        Self::extent(self, axis)
    }

    fn made(&self, value: ValueId) -> Option<Made> {
        Some(match self.definition(value)? {
            BulkOp::Const(lit) => Made::Const(*lit),
            BulkOp::Size(extent) => Made::Size(*extent),
            BulkOp::Iota(axis) => Made::Iota(*axis),
            BulkOp::Map(prim, args) => Made::Prim(*prim, args.clone()),
            BulkOp::Select(cond, then, otherwise) => Made::Select(*cond, *then, *otherwise),
            _ => return None,
        })
    }

    fn believes(&self, _: ValueId) -> bool {
        true
    }
}

/// The scalars of kernels. Axes of buffers have their numbers as names.
pub(crate) struct Scalars<'p> {
    program: &'p Program<Kernels>,
    made: ValueMap<Made>,
    /// A length that is asked about where the program runs, so that it has not wrapped.
    pub(crate) asked: Option<ValueId>,
}

impl<'p> Scalars<'p> {
    pub(crate) fn of(program: &'p Program<Kernels>) -> Self {
        let mut found = Self {
            program,
            made: ValueMap::new(),
            asked: None,
        };
        found.block(&program.body);
        found
    }

    fn block(&mut self, block: &Block<Kernels>) {
        for stmt in &block.stmts {
            let made = match &stmt.op {
                KernelOp::Const(lit) => Some(Made::Const(*lit)),
                KernelOp::Size(extent) => Some(Made::Size(*extent)),
                KernelOp::Prim(prim, args) => Some(Made::Prim(*prim, args.clone())),
                KernelOp::Select(cond, then, otherwise) => {
                    Some(Made::Select(*cond, *then, *otherwise))
                }
                _ => None,
            };
            if let Some(made) = made {
                self.made.insert(stmt.results[0], made);
            }
            for inner in stmt.op.blocks() {
                self.block(inner);
            }
        }
    }
}

impl Indices for Scalars<'_> {
    fn elem(&self, value: ValueId) -> Elem {
        self.program.elem(value)
    }

    fn dims(&self, _: ValueId) -> &[AxisId] {
        &[]
    }

    fn extent(&self, axis: AxisId) -> Extent {
        unreachable!("the index along axis {} is a parameter", axis.0)
    }

    fn made(&self, value: ValueId) -> Option<Made> {
        self.made.get(&value).cloned()
    }

    fn believes(&self, length: ValueId) -> bool {
        self.asked == Some(length)
    }
}

/// Whether a length is known to be no number of the author's, and not to have wrapped.
pub(crate) fn is_known(b: &dyn Indices, extent: Extent) -> bool {
    is_bounded(b, extent, DEEP)
}

fn is_bounded(b: &dyn Indices, extent: Extent, deep: u32) -> bool {
    match extent {
        Extent::Const(_) | Extent::Size(_) => true,
        Extent::Value(value) => b.believes(value) || is_small(b, value, deep),
    }
}

/// The same of a number.
fn is_small(b: &dyn Indices, value: ValueId, deep: u32) -> bool {
    let Some(deep) = deep.checked_sub(1) else {
        return false;
    };
    let small = |arg: &ValueId| is_small(b, *arg, deep);
    let is_usize = b.elem(value) == Elem::USIZE;
    match b.made(value) {
        Some(Made::Const(Lit::Int(_, n))) => n.abs() <= FAR,
        Some(Made::Size(extent)) => is_bounded(b, extent, deep),
        Some(Made::Prim(prim, args)) => match prim {
            Prim::Cast(Scalar::I64) => small(&args[0]),
            Prim::Cast(Scalar::Usize) => {
                let signed = b.elem(args[0]) == Elem::Scalar(Scalar::I64);
                small(&args[0]) && (!signed || is_above(b, args[0], None))
            }
            Prim::Trust(extent) | Prim::Check(extent) => is_bounded(b, extent, deep),
            Prim::Div | Prim::Rem if is_usize => small(&args[0]),
            Prim::Min if is_usize => args.iter().any(small),
            Prim::Min | Prim::Max | Prim::Add => args.iter().all(small),
            Prim::Sub => {
                args.iter().all(small) && (!is_usize || is_above(b, args[0], Some(args[1])))
            }
            _ => false,
        },
        Some(Made::Const(_) | Made::Iota(_) | Made::Select(..)) => false,
        None => match b.elem(value) {
            Elem::Index(extent) => is_bounded(b, extent, deep),
            Elem::Scalar(_) | Elem::Bound(_) => false,
        },
    }
}

/// Whether a number is the maximum of some and another one, or of some and zero.
fn is_above(b: &dyn Indices, value: ValueId, other: Option<ValueId>) -> bool {
    let Some(Made::Prim(Prim::Max, args)) = b.made(value) else {
        return false;
    };
    args.iter().any(|&arg| match other {
        Some(other) => arg == other,
        None => matches!(b.made(arg), Some(Made::Const(Lit::Int(_, 0..)))),
    })
}
