//! Values at the point where they are wanted: read where they are kept, computed where they are
//! not.

use smallvec::smallvec;

use super::{Builder, Location, prim_extent};
use crate::contract::schedule::facts::{Cond, Wanted};
use crate::ir::stages::bulk::BulkOp;
use crate::ir::stages::kernels::KernelOp;
use crate::ir::{AxisId, Elem, Extent, Lit, Scalar, ValueId};
use crate::ops::Prim;

impl<'p> Builder<'p> {
    /// Remembers that `scalar`, bound in the frame of this depth, holds `value`.
    pub(in crate::contract::schedule) fn remember(
        &mut self,
        value: ValueId,
        scalar: ValueId,
        depth: usize,
    ) {
        self.memo[value.index()] = Some((scalar, depth));
        self.frames[depth].memo.push(value);
    }

    /// Says where a value is found from now on.
    pub(in crate::contract::schedule) fn locate(&mut self, value: ValueId, location: Location) {
        if let Location::Buffer { dims, .. } = &location
            && self.kernel.is_none()
            && dims.len() == self.facts.axes(value).len()
        {
            self.stored.insert(value);
        }
        self.location[value.index()] = Some(location);
    }

    pub(in crate::contract::schedule) fn location(&self, value: ValueId) -> Option<&Location> {
        self.location[value.index()].as_ref()
    }

    /// Whether the value is at hand as a scalar.
    pub(in crate::contract::schedule) fn is_known(&self, value: ValueId) -> bool {
        self.memo[value.index()].is_some()
    }

    /// The outermost frame in which something without operands is put: constants belong to the code
    /// that uses them.
    pub(super) fn floor(&self) -> usize {
        self.kernel.unwrap_or(0)
    }

    /// The outermost frame that is only entered if the block of a value is: a loop around it may
    /// not run at all.
    pub(super) fn reached(&self, value: ValueId) -> usize {
        let home = self.facts.home(value);
        self.blocks
            .iter()
            .rev()
            .find(|&&(block, _)| block == home)
            .map_or_else(|| self.depth(), |&(_, depth)| depth)
    }

    /// The frame of the innermost block.
    pub(in crate::contract::schedule) fn frame_of_block(&self) -> usize {
        self.blocks.last().map_or(0, |&(_, depth)| depth)
    }

    /// In which frame it is known that `cond` holds, if it is.
    pub(in crate::contract::schedule) fn known(&self, cond: Cond) -> Option<usize> {
        if let Some(depth) = self
            .frames
            .iter()
            .position(|frame| frame.held == Some(cond))
        {
            return Some(depth);
        }
        match (&self.facts.site(cond.0)?.op, cond.1) {
            (BulkOp::Map(Prim::And, args), true) | (BulkOp::Map(Prim::Or, args), false) => Some(
                self.known((args[0], cond.1))?
                    .max(self.known((args[1], cond.1))?),
            ),
            // The second of both may be unspecified where the first does not hold.
            (&BulkOp::Select(first, second, never), true)
                if self.facts.site(never).map(|stmt| &stmt.op)
                    == Some(&BulkOp::Const(Lit::Bool(false))) =>
            {
                Some(self.known((first, true))?.max(self.known((second, true))?))
            }
            (BulkOp::Map(Prim::Not, args), side) => self.known((args[0], !side)),
            // In a loop over a set it has members.
            (BulkOp::Map(Prim::Gt, _), true) => self.frames.iter().position(|frame| {
                let mut axes = frame.axes.iter();
                axes.any(|&(axis, _)| self.facts.is_not_empty(cond.0, axis))
            }),
            _ => None,
        }
    }

    /// The scalar that `value` is at the current point, and the depth of the frame that binds it.
    pub(in crate::contract::schedule) fn eval(&mut self, value: ValueId) -> (ValueId, usize) {
        if let Some(found) = self.memo[value.index()] {
            return found;
        }
        if let Some(&step) = self.steps.get(&value) {
            return self.eval(step);
        }
        let (scalar, depth) = if self.is_position(value) {
            self.position(value)
        } else if let Some(location) = self.location[value.index()].clone() {
            self.fetch(value, &location)
        } else {
            self.compute(value)
        };
        self.remember(value, scalar, depth);
        (scalar, depth)
    }

    pub(in crate::contract::schedule) fn fetch(
        &mut self,
        value: ValueId,
        location: &Location,
    ) -> (ValueId, usize) {
        match location {
            &Location::Var { place, depth } => {
                let elem = self.out.elem(place);
                let depth = depth.max(self.least(value));
                (
                    self.scalar(depth, KernelOp::Get(place), elem, Some(value)),
                    depth,
                )
            }
            Location::Buffer {
                buffer,
                dims,
                depth,
            } => self.load(value, *buffer, dims, &[], *depth),
        }
    }

    pub(super) fn load(
        &mut self,
        value: ValueId,
        buffer: ValueId,
        dims: &[AxisId],
        at: &[(AxisId, ValueId)],
        depth: usize,
    ) -> (ValueId, usize) {
        let mut depth = depth.max(self.least(value));
        let mut indices = Vec::new();
        for &axis in dims {
            let (index, d) = match at.iter().find(|(a, _)| *a == axis) {
                Some(&(_, index)) => self.eval(index),
                None => self.index(axis),
            };
            depth = depth.max(d);
            indices.push(index);
        }
        for (number, index) in indices.iter_mut().enumerate() {
            *index = self.widen(*index, buffer, number, depth);
        }
        let elem = self.out.elem(buffer);
        let mut scalar = self.scalar(depth, KernelOp::Load { buffer, indices }, elem, Some(value));
        let own = self.facts.program.elem(value);
        if !self.facts.pads.is_empty()
            && let (Elem::Index(found), Elem::Index(extent)) = (elem, self.elem(own))
            && found != extent
        {
            let op = KernelOp::Prim(Prim::Trust(extent), smallvec![scalar]);
            depth = self.depth();
            scalar = self.scalar(depth, op, Elem::Index(extent), Some(value));
        }
        (scalar, depth)
    }

    /// The outermost frame that a value may be computed in although its operands are known further
    /// out: inside the branch that alone wants it, or that it may be evaluated in.
    pub(super) fn least(&self, value: ValueId) -> usize {
        let guards = self.facts.guards(value).iter();
        let guarded = guards.filter_map(|&g| self.known((g, true))).max();
        let guarded = guarded.unwrap_or(0);
        match self.facts.wanted(value) {
            Wanted::When(cond) => self.known(cond).unwrap_or(0).max(guarded),
            Wanted::Always | Wanted::Never => guarded,
        }
    }

    /// A guard that the value stands behind and that is not known to hold here.
    fn unknown_guard(&self, value: ValueId) -> Option<ValueId> {
        let mut guards = self.facts.guards(value).iter().copied();
        let guard = guards.find(|&guard| self.known((guard, true)).is_none());
        #[cfg(test)]
        if guard.is_some() && self.facts.site(value).and_then(|stmt| stmt.guard) != guard {
            crate::testing::entered::enter(&crate::testing::entered::GUARDED);
        }
        guard
    }

    /// The value at the current point although it may have a place, which is being filled.
    pub(in crate::contract::schedule) fn compute(&mut self, value: ValueId) -> (ValueId, usize) {
        let stmt = self
            .facts
            .site(value)
            .expect("a value without a location is computed by a statement");
        if let Some(guard) = self.unknown_guard(value) {
            return self.choose((guard, true), value, Some(value), None);
        }
        let elem = self.elem(self.facts.program.elem(value));
        let mut depth = self.least(value);
        match &stmt.op {
            BulkOp::Const(lit) => {
                depth = depth.max(self.floor());
                let scalar = self.scalar(depth, KernelOp::Const(*lit), elem, Some(value));
                (scalar, depth)
            }
            BulkOp::Size(extent) => {
                let extent = self.extent(*extent);
                // The extent may have been computed in an inner frame.
                if let Extent::Value(_) = extent {
                    depth = self.depth();
                }
                (
                    self.scalar(depth, KernelOp::Size(extent), elem, Some(value)),
                    depth,
                )
            }
            BulkOp::Iota(axis) => self.index(*axis),
            BulkOp::Map(prim, args) => {
                let prim = self.prim(*prim);
                if prim_extent(prim).is_some_and(|e| matches!(e, Extent::Value(_))) {
                    depth = self.depth();
                }
                if prim.may_panic(self.facts.program.elem(args[0])) {
                    depth = depth.max(self.reached(value));
                }
                let (operands, depth) = self.eval_all(args, depth);
                let op = KernelOp::Prim(prim, operands.into());
                (self.scalar(depth, op, elem, Some(value)), depth)
            }
            BulkOp::Select(cond, then, otherwise) => {
                let (cond, then, otherwise) = (*cond, *then, *otherwise);
                if self.is_branch(then, (cond, true)) || self.is_branch(otherwise, (cond, false)) {
                    return self.choose((cond, true), value, Some(then), Some(otherwise));
                }
                let (operands, depth) = self.eval_all(&[cond, then, otherwise], depth);
                let op = KernelOp::Select(operands[0], operands[1], operands[2]);
                (self.scalar(depth, op, elem, Some(value)), depth)
            }
            BulkOp::Gather { table, .. } if self.steps.contains_key(table) => self.eval(*table),
            BulkOp::Gather { table, at } => match self.location[table.index()].clone() {
                Some(Location::Buffer {
                    buffer,
                    dims,
                    depth,
                }) => {
                    // It is filled in the branch that it stands behind, if that is still being written.
                    let depth = depth.max(self.least(*table));
                    let (scalar, depth) = self.load(value, buffer, &dims, at, depth);
                    self.position_of(value, *table, scalar, depth)
                }
                Some(Location::Var { .. }) | None => {
                    // What has no such axis is the same everywhere.
                    let is_elsewhere =
                        |(axis, _): &(AxisId, ValueId)| self.facts.axes(*table).contains(axis);
                    debug_assert!(
                        !at.iter().any(is_elsewhere),
                        "what is read elsewhere is stored"
                    );
                    self.eval(*table)
                }
            },
            BulkOp::Pack { .. }
            | BulkOp::Reduce { .. }
            | BulkOp::Scan { .. }
            | BulkOp::Scatter { .. }
            | BulkOp::Update { .. }
            | BulkOp::Assert { .. }
            | BulkOp::Loop { .. }
            | BulkOp::While { .. }
            | BulkOp::Derive { .. }
            | BulkOp::Rule { .. } => {
                unreachable!("tasks have a location when they are read: {:?}", stmt.op)
            }
        }
    }

    /// Scalars at the current point, and the outermost frame, not outside `depth`, in which all are
    /// known. Constants are known everywhere: each frame that needs one has its own.
    pub(super) fn eval_all(
        &mut self,
        values: &[ValueId],
        mut depth: usize,
    ) -> (Vec<ValueId>, usize) {
        let literal = |this: &Self, value: ValueId| match this.facts.site(value)?.op {
            BulkOp::Const(lit) => Some(lit),
            _ => None,
        };
        for &value in values {
            if literal(self, value).is_none() {
                depth = depth.max(self.eval(value).1);
            }
        }
        let scalars = values
            .iter()
            .map(
                |&value| match (literal(self, value), self.memo[value.index()]) {
                    (Some(lit), None) => {
                        let scalar = self.scalar(
                            depth,
                            KernelOp::Const(lit),
                            Elem::Scalar(lit.scalar()),
                            Some(value),
                        );
                        self.remember(value, scalar, depth);
                        scalar
                    }
                    (Some(lit), Some((_, bound))) if bound > depth => self.scalar(
                        depth,
                        KernelOp::Const(lit),
                        Elem::Scalar(lit.scalar()),
                        Some(value),
                    ),
                    (_, _) => self.eval(value).0,
                },
            )
            .collect();
        (scalars, depth)
    }

    /// Whether one side of a select is worth a branch: it is dear and wanted there only, or must
    /// not be evaluated elsewhere.
    pub(super) fn is_branch(&self, value: ValueId, cond: Cond) -> bool {
        if let Some(&step) = self.steps.get(&value) {
            return self.is_branch(step, cond);
        }
        if self.is_known(value) || self.location[value.index()].is_some() {
            return false;
        }
        let Some(stmt) = self.facts.site(value) else {
            return false;
        };
        self.unknown_guard(value).is_some()
            || (self.facts.wanted(value) == Wanted::When(cond)
                && (self.facts.is_worth_a_branch(value)
                    || crate::ir::Operation::operands(&stmt.op)
                        .iter()
                        .any(|&v| self.is_branch(v, cond))))
    }

    /// `if cond { then } else { otherwise }` as a scalar in the innermost frame; a missing side
    /// leaves a zero that nobody looks at. When `value` is itself guarded, `then` is `value`,
    /// computed again with its guard known.
    pub(in crate::contract::schedule) fn choose(
        &mut self,
        cond: Cond,
        value: ValueId,
        then: Option<ValueId>,
        otherwise: Option<ValueId>,
    ) -> (ValueId, usize) {
        let depth = self.depth();
        let (test, _) = self.eval(cond.0);
        let elem = self.elem(self.facts.program.elem(value));
        // Indices are kept as plain numbers meanwhile: there may be no index to begin with.
        let repr = elem.repr();
        let zero = self.constant(Lit::of(repr, 0.0));
        let place = self.scalar(depth, KernelOp::Var(zero), Elem::Scalar(repr), Some(value));
        let mut blocks = Vec::new();
        for (side, source) in [(true, then), (false, otherwise)] {
            self.push(Vec::new(), Some((cond.0, side)));
            if let Some(source) = source {
                let (mut scalar, _) = if source != value {
                    self.eval(source)
                } else if self.is_position(value) {
                    self.position(value)
                } else {
                    self.compute(value)
                };
                if elem != Elem::Scalar(repr) {
                    scalar = self.scalar(
                        self.depth(),
                        KernelOp::Prim(Prim::Cast(repr), smallvec![scalar]),
                        Elem::Scalar(repr),
                        None,
                    );
                }
                self.run(KernelOp::Set {
                    place,
                    value: scalar,
                });
            }
            blocks.push(self.pop());
        }
        let otherwise = blocks.pop().expect("two sides");
        let then = blocks.pop().expect("two sides");
        self.run(KernelOp::If {
            cond: test,
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        });
        let mut scalar = self.scalar(depth, KernelOp::Get(place), Elem::Scalar(repr), Some(value));
        if let Elem::Index(extent) = elem {
            scalar = self.scalar(
                depth,
                KernelOp::Prim(Prim::Trust(extent), smallvec![scalar]),
                elem,
                Some(value),
            );
        }
        (scalar, depth)
    }

    /// The condition as a truth value in the innermost frame.
    pub(in crate::contract::schedule) fn test(&mut self, cond: Cond) -> ValueId {
        let (test, _) = self.eval(cond.0);
        if cond.1 {
            return test;
        }
        self.scalar(
            self.depth(),
            KernelOp::Prim(Prim::Not, smallvec![test]),
            Elem::Scalar(Scalar::Bool),
            None,
        )
    }

    /// Indices into a buffer over these axes: given ones, or those of the open axes.
    pub(in crate::contract::schedule) fn indices(
        &mut self,
        buffer: ValueId,
        dims: &[AxisId],
        at: &[(AxisId, ValueId)],
    ) -> Vec<ValueId> {
        let depth = self.depth();
        let mut indices = Vec::new();
        for (number, &axis) in dims.iter().enumerate() {
            let index = match at.iter().find(|(a, _)| *a == axis) {
                Some(&(_, index)) => self.eval(index).0,
                None => self.index(axis).0,
            };
            indices.push(self.widen(index, buffer, number, depth));
        }
        indices
    }
}
