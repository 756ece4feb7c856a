//! What a rule can see: the definitions of operands, and what is known of them.

use super::{Scalar, Simplify};
use crate::analysis::dataflow::Slots;
use crate::ir::{self, Elem, Extent, Lit, Program, SpanId, Stmt, Type, ValueId, ValueSet};
use crate::ops::Prim;

/// What a scalar rule answers: an expression over values that are there already.
#[derive(Clone, Debug)]
pub(crate) enum Rewrite {
    /// This value.
    Value(ValueId),
    /// This constant.
    Const(Lit),
    /// A primitive of these.
    Prim(Prim, Vec<Rewrite>),
}

impl Rewrite {
    /// A primitive of values.
    pub(crate) fn prim(prim: Prim, args: &[ValueId]) -> Self {
        Self::Prim(prim, args.iter().copied().map(Self::Value).collect())
    }

    /// The values in it.
    pub(crate) fn leaves(&self, leaves: &mut Vec<ValueId>) {
        match self {
            Self::Value(value) => leaves.push(*value),
            Self::Const(_) => {}
            Self::Prim(_, args) => args.iter().for_each(|arg| arg.leaves(leaves)),
        }
    }

    /// The element type.
    pub(crate) fn elem<S: Simplify>(&self, context: &Context<'_, S>) -> Elem {
        match self {
            Self::Value(value) => context.elem(*value),
            Self::Const(lit) => Elem::Scalar(lit.scalar()),
            Self::Prim(prim, args) => {
                let elems: Vec<Elem> = args.iter().map(|arg| arg.elem(context)).collect();
                prim.result(&elems)
                    .expect("a rule builds what is well typed")
            }
        }
    }
}

/// The definitions met so far.
pub(crate) struct Context<'a, S: Simplify> {
    pub(crate) program: &'a mut Program<S>,
    /// The operation and the guard that define a value, if the operation has no blocks and gives
    /// nothing else.
    defs: Vec<Option<(S::Op, Option<ValueId>)>>,
    /// What is bound behind a guard.
    guarded: Vec<bool>,
    /// What may say nothing somewhere: that, and what is made of it point for point.
    unspecified: Vec<bool>,
    /// The value that each sub-table of a table is, if they are all the same.
    same: Vec<Option<ValueId>>,
    /// What must keep its axes, see [`Simplify::pinned`].
    pinned: ValueSet,
    /// The lanes of blocks around.
    pub(super) lanes: Vec<S::Dim>,
    /// Whether there are derivatives still to be taken, which must know what stands in a branch.
    pub(crate) derives: bool,
}

impl<'a, S: Simplify> Context<'a, S> {
    pub(super) fn new(program: &'a mut Program<S>, derives: bool, pinned: ValueSet) -> Self {
        let count = program.values.len();
        Self {
            derives,
            program,
            defs: vec![None; count],
            guarded: vec![false; count],
            unspecified: vec![false; count],
            same: vec![None; count],
            pinned,
            lanes: Vec::new(),
        }
    }

    /// Defines what an operation gives, which is of this element type, as a value of its own.
    pub(super) fn bind(
        &mut self,
        op: S::Op,
        elem: Elem,
        guard: Option<ValueId>,
        span: SpanId,
        out: &mut Vec<Stmt<S>>,
    ) -> ValueId {
        let types = S::types(self.program, &op, None);
        let ty = types.ok().and_then(|types| types.into_iter().next());
        let ty = ty.unwrap_or_else(|| Type::scalar(elem));
        self.defs.push(None);
        self.guarded.push(false);
        self.unspecified.push(false);
        self.same.push(None);
        let value = self.program.value(ty, span);
        let stmt = Stmt {
            guard,
            ..Stmt::new(vec![value], op, span)
        };
        self.define(&stmt);
        out.push(stmt);
        value
    }

    /// Notes what a statement defines.
    pub(super) fn define(&mut self, stmt: &Stmt<S>) {
        for (table, value) in S::uniform(stmt) {
            self.same[table.index()] = Some(value);
        }
        // What a loop hands on or collects says nothing where that does not.
        let inside = match S::slots(&stmt.op) {
            Slots::States { .. } => ir::Operation::blocks(&stmt.op).pop(),
            Slots::Operands | Slots::Blocks | Slots::Whole => None,
        };
        let inside = inside.map_or(&[][..], |body| &body.results);
        for (k, &result) in stmt.results.iter().enumerate() {
            let nothing = inside.get(k).is_some_and(|value| self.is_guarded(*value));
            self.guarded[result.index()] = stmt.guard.is_some() || nothing;
            self.unspecified[result.index()] =
                self.is_guarded(result) || S::is_unspecified(self, &stmt.op, result);
        }
        if let &[result] = stmt.results.as_slice()
            && ir::Operation::blocks(&stmt.op).is_empty()
        {
            self.defs[result.index()] = Some((stmt.op.clone(), stmt.guard));
        }
    }

    /// Whether a value may be replaced by something with these axes.
    pub(crate) fn may_have_axes(&self, value: ValueId, axes: &[S::Dim]) -> bool {
        let dims = &self.program.ty(value).dims;
        !S::WRITES_DIMS
            || !self.pinned.contains(&value)
            || dims.iter().all(|dim| axes.contains(dim))
    }

    /// The axes of values.
    pub(crate) fn axes(&self, values: &[ValueId]) -> Vec<S::Dim> {
        let dims = |value: &ValueId| self.program.ty(*value).dims.iter().copied();
        values.iter().flat_map(dims).collect()
    }

    /// The operation that defines a value.
    pub(crate) fn def(&self, value: ValueId) -> Option<&S::Op> {
        self.defs[value.index()].as_ref().map(|(op, _)| op)
    }

    /// The guard of the operation that defines a value.
    pub(crate) fn guard(&self, value: ValueId) -> Option<ValueId> {
        self.defs[value.index()]
            .as_ref()
            .and_then(|(_, guard)| *guard)
    }

    /// Whether a value is specified behind a guard only.
    pub(crate) fn is_guarded(&self, value: ValueId) -> bool {
        self.guarded[value.index()]
    }

    /// Whether a value may say nothing somewhere.
    pub(crate) fn is_unspecified(&self, value: ValueId) -> bool {
        self.unspecified[value.index()]
    }

    /// The element type of a value.
    pub(crate) fn elem(&self, value: ValueId) -> Elem {
        self.program.elem(value)
    }

    /// The primitive that defines a value.
    pub(crate) fn prim(&self, value: ValueId) -> Option<(Prim, &[ValueId])> {
        match S::scalar(self.def(value)?) {
            Scalar::Prim(prim, args) => Some((prim, args)),
            Scalar::Const(_) | Scalar::Size(_) | Scalar::Other => None,
        }
    }

    /// The constant that a value is; of an index, its ordinal.
    pub(crate) fn lit(&self, value: ValueId) -> Option<Lit> {
        match S::scalar(self.def(value)?) {
            Scalar::Const(lit) => Some(lit),
            Scalar::Size(Extent::Const(n)) => Some(Lit::Int(ir::Scalar::Usize, i128::from(n))),
            Scalar::Prim(Prim::Trust(_), &[arg]) => match self.lit(arg)? {
                Lit::Int(_, n) => Some(Lit::Int(ir::Scalar::Usize, n)),
                Lit::F32(_) | Lit::F64(_) | Lit::Bool(_) => None,
            },
            Scalar::Prim(..) | Scalar::Size(_) | Scalar::Other => None,
        }
    }

    /// The integer that a value is.
    pub(crate) fn int(&self, value: ValueId) -> Option<i128> {
        match self.lit(value)? {
            Lit::Int(_, n) => Some(n),
            Lit::F32(_) | Lit::F64(_) | Lit::Bool(_) => None,
        }
    }

    /// The float that a value is.
    pub(crate) fn float(&self, value: ValueId) -> Option<f64> {
        match self.lit(value)? {
            Lit::F32(bits) => Some(f64::from(f32::from_bits(bits))),
            Lit::F64(bits) => Some(f64::from_bits(bits)),
            Lit::Int(..) | Lit::Bool(_) => None,
        }
    }

    /// The truth value that a value is.
    pub(crate) fn truth(&self, value: ValueId) -> Option<bool> {
        match self.lit(value)? {
            Lit::Bool(truth) => Some(truth),
            Lit::F32(_) | Lit::F64(_) | Lit::Int(..) => None,
        }
    }

    /// The extent that a value is the size of.
    pub(crate) fn size_of(&self, value: ValueId) -> Option<Extent> {
        match self.def(value).map(S::scalar) {
            Some(Scalar::Size(extent)) => Some(extent),
            Some(Scalar::Const(Lit::Int(ir::Scalar::Usize, n))) => {
                Some(Extent::Const(u64::try_from(n).ok()?))
            }
            Some(Scalar::Const(_) | Scalar::Prim(..) | Scalar::Other) | None => {
                (self.elem(value) == Elem::USIZE).then_some(Extent::Value(value))
            }
        }
    }

    /// The value that each sub-table of a table is.
    pub(crate) fn same(&self, table: ValueId) -> Option<ValueId> {
        self.same[table.index()]
    }
}
