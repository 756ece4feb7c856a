//! Statements being made: typed as they are added, to the primal part or to the linear one.

use crate::analysis::dataflow::{Flow, named_axes};
use crate::ir::stages::bulk::{Axis, Bulk, BulkOp, Combine};
use crate::ir::typing::Typing;
use crate::ir::{
    AxisId, Block, Elem, Extent, Lit, Monoid, Operation, Program, Scalar, SpanId, Stmt, Type,
    ValueId, ValueMap, ValueSet, Values,
};
use crate::ops::Prim;

/// How deep conditions are looked into.
const STEPS: u32 = 8;

/// By how many operations an index is computed where it is read, rather than read.
const INDEX: u32 = 8;

/// A value that may say nothing for more reasons is not asked for them.
const REASONS: usize = 32;

/// Why a value may say nothing somewhere: a guard does not hold, where these choices are made.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Unsaid {
    guard: ValueId,
    /// Conditions, and how each ends.
    chosen: Vec<(ValueId, bool)>,
    /// Whether these conditions stand where the value does, at the same points: not of what was read
    /// elsewhere, added up, or collected where a loop's body says nothing.
    stands: bool,
}

impl Unsaid {
    fn without(guard: ValueId) -> Self {
        Self {
            guard,
            chosen: Vec::new(),
            stands: true,
        }
    }

    fn values(&self) -> impl Iterator<Item = ValueId> {
        let chosen = self.chosen.iter().map(|&(cond, _)| cond);
        chosen.chain([self.guard])
    }

    /// The same but for how the last choice ends: one reason holds with that choice made either way.
    fn differs_in_the_last(&self, other: &Self) -> bool {
        match (self.chosen.split_last(), other.chosen.split_last()) {
            (Some(((a, x), before)), Some(((b, y), others))) => {
                let same = self.guard == other.guard && self.stands == other.stands;
                same && a == b && x != y && before == others
            }
            _ => false,
        }
    }
}

/// Whether a value is bound in a block or in those inside.
fn binds(block: &Block<Bulk>, value: ValueId) -> bool {
    let bound = |stmt: &Stmt<Bulk>| {
        stmt.results.contains(&value) || stmt.op.blocks().iter().any(|inner| binds(inner, value))
    };
    block.params.contains(&value) || block.stmts.iter().any(bound)
}

/// The statements of a block that is being made.
#[derive(Default, Debug)]
pub(super) struct Part {
    /// What the function computes, and what its derivative needs to know of it.
    pub(super) primal: Vec<Stmt<Bulk>>,
    /// What is linear in tangents, and coefficients that nothing else needs.
    pub(super) linear: Vec<Stmt<Bulk>>,
}

/// A program and the blocks in it that are being made, from the outside in.
pub(crate) struct Builder {
    pub(crate) program: Program<Bulk>,
    parts: Vec<Part>,
    /// Whether statements go to the linear part.
    pub(super) linear: bool,
    /// Whether what is made is inside of another derivative.
    pub(super) nested: bool,
    /// What statements must stay behind.
    pub(super) guard: Option<ValueId>,
    pub(super) span: SpanId,
    /// The axes whose extents are computed, by that value.
    extents: ValueMap<Vec<AxisId>>,
    /// What computes a value from others at the same point, and what reads or changes tables, as far
    /// as that has been met.
    definitions: ValueMap<BulkOp>,
    /// What may say nothing somewhere, and why: its own guard, and those of what it is computed from.
    unspecified: ValueMap<Vec<Unsaid>>,
    /// What may say nothing for more reasons than are remembered.
    many: ValueSet,
}

/// Leaves out reasons that others say. Whether there are more than are remembered, of which only
/// some are left.
fn together(reasons: &mut Vec<Unsaid>) -> bool {
    let mut kept: Vec<Unsaid> = Vec::new();
    for mut reason in reasons.drain(..) {
        while let Some(other) = kept
            .iter()
            .position(|kept| kept.differs_in_the_last(&reason))
        {
            kept.remove(other);
            reason.chosen.pop();
        }
        if !kept.contains(&reason) {
            kept.push(reason);
        }
    }
    let many = kept.len() > REASONS;
    kept.truncate(REASONS);
    *reasons = kept;
    many
}

impl Builder {
    pub(super) fn new(program: Program<Bulk>) -> Self {
        let mut extents: ValueMap<Vec<AxisId>> = ValueMap::new();
        for (axis, id) in program.decls.axes.iter().zip(0..) {
            if let Extent::Value(value) = axis.extent {
                extents.or_default(value).push(AxisId(id));
            }
        }
        Self {
            program,
            parts: Vec::new(),
            linear: false,
            nested: false,
            guard: None,
            span: SpanId::NONE,
            extents,
            definitions: ValueMap::new(),
            unspecified: ValueMap::new(),
            many: ValueSet::new(),
        }
    }

    // ---- Definitions

    /// Remembers what computes a value.
    pub(super) fn learn(&mut self, stmt: &Stmt<Bulk>) {
        let known = match &stmt.op {
            BulkOp::Const(_) | BulkOp::Size(_) | BulkOp::Iota(_) | BulkOp::Select(..) => true,
            BulkOp::Gather { .. } | BulkOp::Update { .. } | BulkOp::Scatter { .. } => true,
            BulkOp::Map(prim, args) => {
                let float = |value| self.program.elem(value).is_float();
                !float(stmt.results[0]) || matches!(prim, Prim::Cast(_)) && !float(args[0])
            }
            _ => false,
        };
        if known {
            self.definitions.insert(stmt.results[0], stmt.op.clone());
        }
        let mut reasons: Vec<Unsaid> = stmt.guard.map(Unsaid::without).into_iter().collect();
        match &stmt.op {
            // What is not chosen does not matter.
            BulkOp::Select(cond, then, otherwise) => {
                reasons.extend_from_slice(self.reasons(*cond));
                for (side, value) in [(true, then), (false, otherwise)] {
                    for reason in self.reasons(*value) {
                        let known = (*cond, side);
                        if !reason.stands {
                            reasons.push(reason.clone());
                        } else if !self.follows(reason.guard, true, known, STEPS) {
                            let chosen = [reason.chosen.as_slice(), &[known]].concat();
                            reasons.push(Unsaid { chosen, ..*reason });
                        }
                    }
                }
            }
            // Nor does what is not written; elsewhere there is something else.
            BulkOp::Update { value, mask, .. } | BulkOp::Scatter { value, mask, .. } => {
                let written = |reason: &Unsaid| {
                    mask.is_none_or(|mask| !self.follows(reason.guard, true, (mask, true), STEPS))
                };
                for operand in stmt.op.operands() {
                    let read = self.reasons(operand).iter();
                    reasons.extend(read.filter(|r| operand != *value || written(r)).cloned());
                }
            }
            // Where there is nothing to combine it does not matter what that is.
            BulkOp::Reduce {
                combine: Combine::Monoid(_) | Combine::ArgMin | Combine::ArgMax,
                axes,
                operands,
            } => {
                for value in operands {
                    let read = self.reasons(*value);
                    // Of many, some are not known any more.
                    let all = read.len() < REASONS;
                    for reason in read {
                        let guard = match reason.chosen.is_empty() {
                            _ if axes.iter().any(|&axis| self.is_empty(axis)) => None,
                            true if all => self.with_members(reason.guard, axes),
                            _ => Some(reason.guard),
                        };
                        reasons.extend(guard.map(|guard| Unsaid {
                            guard,
                            ..reason.clone()
                        }));
                    }
                }
            }
            op => {
                for value in op.operands() {
                    reasons.extend_from_slice(self.reasons(value));
                }
            }
        }
        let read_many = stmt.op.reads_any(|operand| self.many.contains(&operand));
        let many = together(&mut reasons) || !reasons.is_empty() && read_many;
        // What is said at one place is said of another there, or of many.
        let moved = named_axes(&stmt.op);
        let behind_own = stmt.guard.map(Unsaid::without);
        // These may do without what says nothing, where nothing is to be added up or written.
        let partial = !matches!(
            stmt.op,
            BulkOp::Map(..) | BulkOp::Select(..) | BulkOp::Gather { .. } | BulkOp::Pack { .. }
        );
        let elsewhere = |reason: &Unsaid| {
            behind_own.as_ref() != Some(reason)
                && (partial
                    || reason.values().any(|value| {
                        let dims = &self.program.ty(value).dims;
                        dims.iter().any(|axis| moved.contains(axis))
                    }))
        };
        let inside = match &stmt.op {
            BulkOp::Loop { body, .. } | BulkOp::While { body, .. } => Some(&**body),
            _ => None,
        };
        for reason in &mut reasons {
            reason.stands &= !elsewhere(reason);
        }
        for (k, &result) in stmt.results.iter().enumerate() {
            let value = inside.and_then(|body| Some((body, *body.results.get(k)?)));
            let inner = value.map_or(&[][..], |(_, value)| self.reasons(value));
            // A condition of the loop's own does not stand here.
            let stands = |reason: &Unsaid| {
                let is_own = |condition| value.is_some_and(|(body, _)| binds(body, condition));
                reason.stands && !reason.values().any(is_own)
            };
            let inner = inner.iter().map(|reason| Unsaid {
                stands: stands(reason),
                ..reason.clone()
            });
            let all: Vec<Unsaid> = reasons.iter().cloned().chain(inner).collect();
            if many || value.is_some_and(|(_, value)| self.many.contains(&value)) {
                self.many.insert(result);
            }
            if !all.is_empty() {
                self.unspecified.insert(result, all);
            }
        }
    }

    /// Why a value may say nothing somewhere.
    fn reasons(&self, value: ValueId) -> &[Unsaid] {
        self.unspecified.get(&value).map_or(&[], Vec::as_slice)
    }

    /// A condition that does not hold where another one may say nothing, as far as that is known
    /// here, and else is the same.
    pub(super) fn said(&mut self, cond: ValueId) -> ValueId {
        let there = self.where_said(cond);
        #[cfg(test)]
        if there.is_some() && self.conditions(cond).is_none() {
            crate::testing::entered::enter(&crate::testing::entered::SAID_IN_PART);
        }
        self.both(there, Some(cond)).unwrap_or(cond)
    }

    /// The conditions that say where a value says something, if they do.
    pub(super) fn conditions(&self, value: ValueId) -> Option<impl Iterator<Item = ValueId>> {
        let reasons = self.reasons(value);
        let said = !self.many.contains(&value) && reasons.iter().all(|reason| reason.stands);
        said.then(|| reasons.iter().flat_map(Unsaid::values))
    }

    /// Where a value says something, if not everywhere, as far as that is known here.
    pub(super) fn where_said(&mut self, value: ValueId) -> Option<ValueId> {
        let standing = |reason: &&Unsaid| reason.stands;
        let mut reasons: Vec<Unsaid> = self
            .reasons(value)
            .iter()
            .filter(standing)
            .cloned()
            .collect();
        // What a condition of a choice needs is known before that choice.
        reasons.sort_by_key(|reason| reason.values().max());
        reasons.into_iter().fold(None, |there, reason| {
            let holds = self.unless_chosen_otherwise(reason);
            self.both(there, Some(holds))
        })
    }

    /// Whether a guard holds, or is not asked as another choice is made.
    fn unless_chosen_otherwise(&mut self, reason: Unsaid) -> ValueId {
        let mut holds = reason.guard;
        for (cond, side) in reason.chosen {
            let always = self.constant(Lit::Bool(true));
            holds = match side {
                true => self.select(cond, holds, always),
                false => self.select(cond, always, holds),
            };
        }
        holds
    }

    /// Whether it is seen that a condition holds where another does.
    pub(super) fn implies(&self, known: ValueId, cond: ValueId) -> bool {
        self.follows(cond, true, (known, true), STEPS)
    }

    /// Whether it is seen, in so many steps, that a condition is what it is to be, where another is
    /// what it is.
    fn follows(&self, cond: ValueId, is: bool, known: (ValueId, bool), steps: u32) -> bool {
        let Some(left) = steps.checked_sub(1) else {
            return false;
        };
        if is == known.1 && self.same(cond, known.0, left)
            || is != known.1 && self.opposite(cond, known.0, left)
        {
            return true;
        }
        // Both hold, or neither does.
        let [whole, part] = [cond, known.0].map(|value| self.parts(value));
        if let Some((both, [a, b])) = whole
            && both == is
        {
            return [a, b]
                .iter()
                .all(|&part| self.follows(part, is, known, left));
        }
        if let Some((both, [a, b])) = part
            && both == known.1
            && [a, b]
                .iter()
                .any(|&part| self.follows(cond, is, (part, known.1), left))
        {
            return true;
        }
        match [cond, known.0].map(|value| self.definition(value)) {
            [Some(BulkOp::Map(Prim::Not, args)), _] => self.follows(args[0], !is, known, left),
            [_, Some(BulkOp::Map(Prim::Not, args))] => {
                self.follows(cond, is, (args[0], !known.1), left)
            }
            _ => false,
        }
    }

    /// Whether it is seen that two values are computed in the same way.
    pub(super) fn same(&self, a: ValueId, b: ValueId, steps: u32) -> bool {
        let Some(left) = steps.checked_sub(1) else {
            return false;
        };
        let all = |a: &[ValueId], b: &[ValueId]| {
            a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| self.same(a, b, left))
        };
        a == b
            || match (self.definition(a), self.definition(b)) {
                (Some(BulkOp::Const(a)), Some(BulkOp::Const(b))) => a == b,
                (Some(BulkOp::Size(a)), Some(BulkOp::Size(b))) => a == b,
                (Some(BulkOp::Map(p, a)), Some(BulkOp::Map(q, b))) => p == q && all(a, b),
                _ => false,
            }
    }

    /// Whether it is seen that one of two comparisons holds where the other does not.
    pub(super) fn opposite(&self, a: ValueId, b: ValueId, steps: u32) -> bool {
        let [Some(BulkOp::Map(p, a)), Some(BulkOp::Map(q, b))] =
            [a, b].map(|value| self.definition(value))
        else {
            return false;
        };
        let floats = |value: &ValueId| self.program.elem(*value).is_float();
        p.opposite(a.iter().any(floats)) == Some(*q)
            && a.iter().zip(b).all(|(&a, &b)| self.same(a, b, steps))
    }

    /// The two conditions that a condition is made of: it holds if both of them do, or if one does.
    pub(super) fn parts(&self, cond: ValueId) -> Option<(bool, [ValueId; 2])> {
        let is = |value: ValueId, truth: bool| matches!(self.definition(value), Some(BulkOp::Const(Lit::Bool(b))) if *b == truth);
        match self.definition(cond)? {
            BulkOp::Map(Prim::And, args) => Some((true, [args[0], args[1]])),
            BulkOp::Map(Prim::Or, args) => Some((false, [args[0], args[1]])),
            &BulkOp::Select(a, b, c) if is(c, false) => Some((true, [a, b])),
            &BulkOp::Select(a, b, c) if is(b, true) => Some((false, [a, c])),
            _ => None,
        }
    }

    /// Whether a condition says that there is anything along an axis, and nothing else.
    pub(super) fn has_members(&self, cond: ValueId, axis: AxisId) -> bool {
        let Some(BulkOp::Map(Prim::Gt, args)) = self.definition(cond) else {
            return false;
        };
        let is_length = match (self.extent(axis), self.definition(args[0])) {
            (Extent::Value(length), _) => length == args[0],
            (extent, Some(BulkOp::Size(other))) => extent == *other,
            _ => false,
        };
        is_length && self.is_zero(args[1])
    }

    /// What of a condition remains to be said where there is something along axes.
    fn with_members(&self, cond: ValueId, axes: &[AxisId]) -> Option<ValueId> {
        if axes.iter().any(|&axis| self.has_members(cond, axis)) {
            return None;
        }
        let Some((true, parts)) = self.parts(cond) else {
            return Some(cond);
        };
        match parts.map(|part| self.with_members(part, axes)) {
            [Some(_), Some(_)] => Some(cond),
            [left, right] => left.or(right),
        }
    }

    /// Whether a value is known to say something only where there is something along an axis.
    pub(super) fn needs_members(&self, value: ValueId, axis: AxisId) -> bool {
        let mut reasons = self.reasons(value).iter();
        reasons.any(|reason| self.with_members(reason.guard, &[axis]) != Some(reason.guard))
    }

    /// Whether there is nothing along an axis.
    fn is_empty(&self, axis: AxisId) -> bool {
        match self.extent(axis) {
            Extent::Const(length) => length == 0,
            Extent::Value(length) => self.is_zero(length),
            Extent::Size(_) => false,
        }
    }

    /// Whether it is seen that a value says something everywhere.
    pub(super) fn is_specified(&self, value: ValueId) -> bool {
        self.reasons(value).is_empty()
    }

    /// Remembers what computes the values of a block, and of those inside.
    pub(super) fn learn_all(&mut self, block: &Block<Bulk>) {
        for stmt in &block.stmts {
            for inner in stmt.op.blocks() {
                self.learn_all(inner);
            }
            self.learn(stmt);
        }
    }

    pub(crate) fn definition(&self, value: ValueId) -> Option<&BulkOp> {
        self.definitions.get(&value)
    }

    /// Whether a value is the one that an extremum of nothing is said to be.
    pub(super) fn is_identity(&self, extremum: Prim, value: ValueId) -> bool {
        let monoid = match extremum {
            Prim::Min => Monoid::Min,
            _ => Monoid::Max,
        };
        let identity = monoid.identity(self.program.elem(value).repr());
        matches!(self.definition(value), Some(BulkOp::Const(lit)) if *lit == identity)
    }

    /// Whether a float is seen to be finite, so that it may be multiplied by whatever is zero.
    pub(super) fn is_finite(&self, value: ValueId) -> bool {
        match self.definition(value) {
            Some(BulkOp::Const(lit)) => match *lit {
                Lit::F32(bits) => f32::from_bits(bits).is_finite(),
                Lit::F64(bits) => f64::from_bits(bits).is_finite(),
                Lit::Int(..) | Lit::Bool(_) => true,
            },
            Some(BulkOp::Map(Prim::Cast(_), args)) => !self.program.elem(args[0]).is_float(),
            Some(&BulkOp::Select(_, then, otherwise)) => {
                self.is_finite(then) && self.is_finite(otherwise)
            }
            _ => false,
        }
    }

    // ---- Blocks

    /// Begins a block.
    pub(super) fn enter(&mut self) {
        self.parts.push(Part::default());
    }

    /// Visits what is linear of it so far.
    pub(super) fn for_each_linear(&mut self, visit: impl FnMut(&mut Stmt<Bulk>)) {
        let part = self.parts.last_mut().expect("a block has been entered");
        part.linear.iter_mut().for_each(visit);
    }

    /// Ends it.
    pub(super) fn leave(&mut self) -> Part {
        self.parts.pop().expect("as many blocks end as begin")
    }

    /// Adds a statement whose results have types already.
    pub(super) fn push(&mut self, stmt: Stmt<Bulk>) {
        self.learn(&stmt);
        let linear = self.linear;
        let part = self.parts.last_mut().expect("a block has been entered");
        if linear {
            part.linear.push(stmt);
        } else {
            part.primal.push(stmt);
        }
    }

    /// What is made in `make` stands behind `guard`.
    pub(super) fn behind<T>(
        &mut self,
        guard: Option<ValueId>,
        make: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = std::mem::replace(&mut self.guard, guard);
        let made = make(self);
        self.guard = outer;
        made
    }

    // ---- Axes

    /// An axis with a name like that of another.
    pub(super) fn axis(&mut self, stem: &str, extent: Extent) -> AxisId {
        let axes = &mut self.program.decls.axes;
        let id = AxisId(u32::try_from(axes.len()).expect("fewer than 2^32 axes"));
        let name = format!("{stem}_{}", id.0);
        axes.push(Axis { name, extent });
        if let Extent::Value(value) = extent {
            self.extents.or_default(value).push(id);
        }
        id
    }

    /// Axes that are as long as `old` says are as long as `new` says from here on.
    pub(super) fn rename_extent(&mut self, old: ValueId, new: ValueId) {
        let axes = self.extents.get_mut(&old).map(std::mem::take);
        let Some(axes) = axes.filter(|axes| !axes.is_empty() && old != new) else {
            return;
        };
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::LENGTHS_CARRIED);
        self.extents.or_default(new).extend(axes);
        Bulk::for_each_declared_extent_mut(&mut self.program, &mut |value| {
            if *value == old {
                *value = new;
            }
        });
    }

    /// The axes whose extent is this value.
    pub(super) fn axes_along(&self, extent: ValueId) -> Vec<AxisId> {
        self.extents.get(&extent).cloned().unwrap_or_default()
    }

    pub(crate) fn extent(&self, axis: AxisId) -> Extent {
        self.program.decls.axes[axis.0 as usize].extent
    }

    pub(super) fn dims(&self, value: ValueId) -> Vec<AxisId> {
        self.program.ty(value).dims.clone()
    }

    // ---- Values

    /// A parameter of a block.
    pub(super) fn param(&mut self, elem: Elem, dims: Vec<AxisId>) -> ValueId {
        self.program.value(Type::table(elem, dims), self.span)
    }

    /// Adds an operation; its results have the types that it gives them.
    pub(super) fn emit_all(&mut self, op: BulkOp) -> Vec<ValueId> {
        let types = Bulk::types(&self.program, &op, None).expect("derivatives are well typed");
        let guard = match op {
            BulkOp::Const(_) => None,
            _ => self.guard,
        };
        let carried = matches!(op, BulkOp::Loop { .. } | BulkOp::While { .. });
        let more = match guard {
            Some(guard) if !carried => self.dims(guard),
            _ => Vec::new(),
        };
        let several = types.iter().any(|ty| ty.dims.len() > 1);
        let layout = if several {
            self.layout(&op)
        } else {
            Vec::new()
        };
        let place = |axis: &AxisId| layout.iter().position(|other| other == axis);
        let results: Vec<ValueId> = types
            .into_iter()
            .map(|mut ty| {
                ty.dims
                    .sort_by_key(|axis| place(axis).unwrap_or(usize::MAX));
                let new = more.iter().filter(|axis| !ty.dims.contains(axis));
                let new: Vec<AxisId> = new.copied().collect();
                ty.dims.extend(new);
                self.program.value(ty, self.span)
            })
            .collect();
        self.push(Stmt {
            results: results.clone(),
            op,
            guard,
            span: self.span,
        });
        results
    }

    /// How the result of an operation is laid out: as what it is computed from is, the largest
    /// operand first.
    fn layout(&self, op: &BulkOp) -> Vec<AxisId> {
        match op {
            // What is read elsewhere stands where it was read.
            BulkOp::Gather { table, at } => {
                let mut layout = Vec::new();
                for axis in self.dims(*table) {
                    match at.iter().find(|(moved, _)| *moved == axis) {
                        Some(&(_, index)) => layout.extend(self.dims(index)),
                        None => layout.push(axis),
                    }
                }
                layout
            }
            BulkOp::Scatter {
                base,
                at,
                over,
                value,
                ..
            } => {
                let mut layout = self.dims(*base);
                let places = at.iter().map(|&(axis, _)| axis);
                if over.is_empty() {
                    layout.extend(self.dims(*value));
                    layout.extend(places);
                } else {
                    layout.extend(places);
                    layout.extend(self.dims(*value));
                }
                layout
            }
            op if op.blocks().is_empty() => {
                let operands = op.operands();
                let mut operands: Vec<_> = operands.iter().map(|&v| self.dims(v)).collect();
                operands.sort_by_key(|dims| std::cmp::Reverse(dims.len()));
                operands.concat()
            }
            _ => Vec::new(),
        }
    }

    /// Lays a value out in the order of these axes, and the others after them.
    pub(super) fn lay_out(&mut self, value: ValueId, order: &[AxisId]) {
        let place = |axis: &AxisId| order.iter().position(|other| other == axis);
        let dims = &mut self.program.values[value.index()].ty.dims;
        dims.sort_by_key(|axis| place(axis).unwrap_or(usize::MAX));
    }

    /// Adds an operation with one result.
    pub(super) fn emit(&mut self, op: BulkOp) -> ValueId {
        self.emit_all(op)[0]
    }

    pub(super) fn constant(&mut self, lit: Lit) -> ValueId {
        self.emit(BulkOp::Const(lit))
    }

    /// A constant of the type of another value.
    pub(super) fn number(&mut self, like: ValueId, number: f64) -> ValueId {
        let scalar = self.program.elem(like).repr();
        self.constant(Lit::of(scalar, number))
    }

    pub(super) fn map(&mut self, prim: Prim, args: &[ValueId]) -> ValueId {
        self.emit(BulkOp::Map(prim, args.into()))
    }

    /// One or the other. It is evaluated everywhere, whatever stands behind the guard.
    pub(super) fn select(&mut self, cond: ValueId, then: ValueId, otherwise: ValueId) -> ValueId {
        self.behind(None, |b| b.emit(BulkOp::Select(cond, then, otherwise)))
    }

    /// The value where the condition holds, else zero.
    pub(super) fn masked(&mut self, cond: Option<ValueId>, value: ValueId) -> ValueId {
        let Some(cond) = cond else { return value };
        let zero = self.number(value, 0.0);
        self.select(cond, value, zero)
    }

    /// Both; the second may be unspecified where the first does not hold.
    pub(super) fn both(
        &mut self,
        first: Option<ValueId>,
        second: Option<ValueId>,
    ) -> Option<ValueId> {
        match (first, second) {
            (Some(first), Some(second)) if first != second => {
                let never = self.constant(Lit::Bool(false));
                Some(self.select(first, second, never))
            }
            (first, second) => first.or(second),
        }
    }

    /// Reads elsewhere; along axes that the table lacks, there is only one place to read. An index
    /// that is made of those along the axes is computed there, and checked there alone: where the
    /// source has it, it is checked at all places.
    pub(super) fn gather(&mut self, table: ValueId, at: &[(AxisId, ValueId)]) -> ValueId {
        let at = self.along(table, at);
        if at.is_empty() {
            return table;
        }
        match self.steps_from_iota(table, INDEX) {
            Some(_) => self.made_at(table, &at),
            None => self.emit(BulkOp::Gather { table, at }),
        }
    }

    /// The places along axes that a value has.
    fn along(&self, value: ValueId, at: &[(AxisId, ValueId)]) -> Vec<(AxisId, ValueId)> {
        let dims = &self.program.ty(value).dims;
        let has = |&&(axis, _): &&(AxisId, ValueId)| dims.contains(&axis);
        at.iter().filter(has).copied().collect()
    }

    /// How many of so many operations are left, if a number is made by them of indices along axes.
    fn steps_from_iota(&self, value: ValueId, left: u32) -> Option<u32> {
        let left = left.checked_sub(1)?;
        if self.dims(value).is_empty() {
            return Some(left);
        }
        match self.definition(value)? {
            BulkOp::Iota(_) => Some(left),
            BulkOp::Map(prim, args) if self.is_specified(value) => {
                // Elsewhere, what an index is of may be longer or shorter.
                let varies = matches!(prim.extent(), Some(Extent::Value(_)));
                let may_panic =
                    !matches!(prim, Prim::Check(_)) && prim.may_panic(self.program.elem(args[0]));
                (!varies && !may_panic).then_some(())?;
                let mut args = args.iter();
                args.try_fold(left, |left, &arg| self.steps_from_iota(arg, left))
            }
            _ => None,
        }
    }

    /// Such a number, at a place.
    fn made_at(&mut self, value: ValueId, at: &[(AxisId, ValueId)]) -> ValueId {
        let at = self.along(value, at);
        let &[(axis, place), ..] = at.as_slice() else {
            return value;
        };
        match self.definition(value).cloned() {
            Some(BulkOp::Iota(own)) if own == axis && at.len() == 1 => place,
            Some(BulkOp::Map(prim, args)) => {
                let args: Vec<ValueId> = args.iter().map(|&arg| self.made_at(arg, &at)).collect();
                self.map(prim, &args)
            }
            _ => self.emit(BulkOp::Gather { table: value, at }),
        }
    }

    /// The size of an axis.
    pub(super) fn size(&mut self, axis: AxisId) -> ValueId {
        match self.extent(axis) {
            Extent::Value(value) => value,
            extent => self.emit(BulkOp::Size(extent)),
        }
    }

    /// The sum along axes. Of a value that lacks one, it is a multiple; of no terms it is zero,
    /// whether or not there is a value.
    pub(super) fn sum(&mut self, mut value: ValueId, over: &[AxisId]) -> ValueId {
        let scalar = self.program.elem(value).repr();
        if !self.is_specified(value) {
            let dims = self.dims(value);
            for &axis in over.iter().filter(|axis| !dims.contains(axis)) {
                let nonempty = self.behind(None, |b| b.nonempty(axis));
                value = self.masked(nonempty, value);
            }
        }
        // The innermost extents first: theirs may depend on the others.
        for &axis in over.iter().rev() {
            if !self.dims(value).contains(&axis) {
                let size = self.size(axis);
                let size = self.map(Prim::Cast(scalar), &[size]);
                value = self.map(Prim::Mul, &[size, value]);
            }
        }
        let dims = self.dims(value);
        let axes: Vec<AxisId> = over.iter().copied().filter(|a| dims.contains(a)).collect();
        if axes.is_empty() {
            return value;
        }
        self.emit(BulkOp::Reduce {
            combine: Combine::Monoid(Monoid::Add),
            axes,
            operands: vec![value],
        })
    }

    /// The sum along axes of what a mask leaves.
    pub(super) fn masked_sum(
        &mut self,
        mask: Option<ValueId>,
        value: ValueId,
        over: &[AxisId],
    ) -> ValueId {
        let mask = self.asked(mask, value, over);
        let value = self.masked(mask, value);
        self.sum(value, over)
    }

    /// The mask of what is added up along axes, wherever one asks: what is there at the points
    /// along them, and the mask, may be unspecified where there are none.
    pub(super) fn asked(
        &mut self,
        mask: Option<ValueId>,
        value: ValueId,
        over: &[AxisId],
    ) -> Option<ValueId> {
        if mask
            .into_iter()
            .chain([value])
            .all(|v| self.is_specified(v))
        {
            return mask;
        }
        let read = mask.into_iter().chain([value]);
        let known: Vec<AxisId> = read.flat_map(|value| self.dims(value)).collect();
        self.behind(None, |b| {
            let missing = over.iter().filter(|axis| !known.contains(axis));
            let there = missing.fold(None, |there, &axis| {
                let nonempty = b.nonempty(axis);
                b.both(there, nonempty)
            });
            b.both(there, mask)
        })
    }

    /// Along each of some axes, whether a point is the first that there is: all of them hold at one
    /// point. Axes may be as long as others of them say, and a guard may say where anything is.
    pub(super) fn first(&mut self, axes: &[AxisId], guard: Option<ValueId>) -> Vec<ValueId> {
        self.behind(None, |b| {
            let varies = |b: &Self, axis: AxisId, by: &[AxisId]| match b.extent(axis) {
                Extent::Value(length) => b.dims(length).iter().any(|axis| by.contains(axis)),
                Extent::Const(_) | Extent::Size(_) => false,
            };
            let mut left = axes.to_vec();
            let mut there = guard;
            let mut firsts = Vec::new();
            // Those first of which no other's length knows.
            while let Some(place) = (left.iter())
                .rposition(|axis| left.iter().all(|&other| !varies(b, other, &[*axis])))
            {
                let axis = left.remove(place);
                let index = b.emit(BulkOp::Iota(axis));
                let index = b.map(Prim::Cast(Scalar::Usize), &[index]);
                let (first, along) = match there {
                    Some(cond) if b.dims(cond).contains(&axis) => {
                        let end = b.size(axis);
                        let place = b.select(cond, index, end);
                        let first = b.combined(Monoid::Min, axis, place);
                        (first, Some(b.combined(Monoid::Or, axis, cond)))
                    }
                    _ if varies(b, axis, &left) => {
                        let nonempty = b.nonempty(axis);
                        (b.usize(0), b.both(nonempty, there))
                    }
                    _ => (b.usize(0), there),
                };
                firsts.push(b.map(Prim::Eq, &[index, first]));
                there = along;
            }
            firsts.reverse();
            firsts
        })
    }

    /// What is combined along an axis.
    fn combined(&mut self, monoid: Monoid, axis: AxisId, value: ValueId) -> ValueId {
        self.emit(BulkOp::Reduce {
            combine: Combine::Monoid(monoid),
            axes: vec![axis],
            operands: vec![value],
        })
    }

    /// A number as an index of an axis, which it is known to be.
    pub(super) fn index(&mut self, axis: AxisId, number: ValueId) -> ValueId {
        self.map(Prim::Trust(self.extent(axis)), &[number])
    }

    pub(super) fn usize(&mut self, number: usize) -> ValueId {
        self.constant(Lit::Int(Scalar::Usize, number as i128))
    }
}

/// Calls `visit` with each axis that an operation names itself.
pub(super) fn for_each_axis_mut(op: &mut BulkOp, visit: &mut dyn FnMut(&mut AxisId)) {
    match op {
        BulkOp::Const(_)
        | BulkOp::Size(_)
        | BulkOp::Map(..)
        | BulkOp::Select(..)
        | BulkOp::Assert { .. } => {}
        BulkOp::Iota(axis) | BulkOp::Pack { axis, .. } | BulkOp::Scan { axis, .. } => visit(axis),
        BulkOp::Gather { at, .. } | BulkOp::Update { at, .. } => {
            at.iter_mut().for_each(|(axis, _)| visit(axis));
        }
        BulkOp::Reduce { axes, .. } => axes.iter_mut().for_each(visit),
        BulkOp::Scatter { at, over, .. } => {
            at.iter_mut().for_each(|(axis, _)| visit(axis));
            over.iter_mut().for_each(visit);
        }
        BulkOp::Loop { axis, lanes, .. } => {
            visit(axis);
            lanes.iter_mut().for_each(visit);
        }
        BulkOp::While { lanes, .. } | BulkOp::Derive { lanes, .. } | BulkOp::Rule { lanes, .. } => {
            lanes.iter_mut().for_each(visit)
        }
    }
}

/// Everything that a statement reads: operands, the guard, computed extents, and what its blocks
/// read from outside of themselves.
pub(crate) fn reads(program: &Program<Bulk>, stmt: &Stmt<Bulk>) -> Values {
    use crate::analysis::dataflow::Flow;
    let mut all = stmt.op.operands();
    all.extend(stmt.guard);
    all.extend(Bulk::extents(program, &stmt.op));
    for &result in &stmt.results {
        all.extend(Bulk::type_extents(program, result));
    }
    for block in stmt.op.blocks() {
        for &param in &block.params {
            all.extend(Bulk::type_extents(program, param));
        }
        for inner in &block.stmts {
            all.extend(reads(program, inner));
        }
        all.extend_from_slice(&block.results);
    }
    all
}
