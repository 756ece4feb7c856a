//! Where statements may stand: the frame, and what they must stay behind.

use std::collections::BTreeSet;

use super::state::{AxisSet, Lift, Placement, Scope, Taint};
use crate::ir::stages::bulk::BulkOp;
use crate::ir::{AxisId, Elem, Extent, Lit, Operation, Scalar, ValueId};
use crate::ops::Prim;

impl Lift<'_> {
    /// Where a statement stands that has these axes, and behind what guard; `reduced` are axes that its operands have and it has not.
    /// One that may panic stays where the program has it, behind everything that keeps it from being evaluated there.
    pub(super) fn place(
        &mut self,
        op: &BulkOp,
        axes: &AxisSet,
        reduced: &[AxisId],
        panics: bool,
    ) -> Placement {
        let (mut level, mut taint) = self.operands_of(op, axes, reduced);
        if panics {
            level = self.frames.len() - 1;
            self.reached(&mut taint);
        }
        self.guarded(level, taint, axes)
    }

    /// Where a statement stands that must stay behind the branches around the current place.
    pub(super) fn in_branch(&mut self, op: &BulkOp, axes: &AxisSet) -> Placement {
        let (_, mut taint) = self.operands_of(op, axes, &[]);
        taint.depth = self.scopes.len();
        self.guarded(self.frames.len() - 1, taint, axes)
    }

    /// The earliest frame for a statement, and where its operands make it unspecified.
    pub(super) fn operands_of(
        &self,
        op: &BulkOp,
        axes: &AxisSet,
        reduced: &[AxisId],
    ) -> (usize, Taint) {
        let carried = match op {
            BulkOp::Map(prim, _) => prim.extent(),
            _ => None,
        };
        let mut operands = op.operands();
        let extents = axes.iter().chain(reduced).map(|&a| self.axis_extent(a));
        operands.extend(extents.chain(carried).filter_map(|extent| match extent {
            Extent::Value(value) => Some(value),
            Extent::Const(_) | Extent::Size(_) => None,
        }));
        let mut taint = self.taint_of(operands.iter().copied());
        for &axis in reduced {
            taint.nonempty.remove(&self.axis_extent(axis));
        }
        (self.level_of(operands), taint)
    }

    /// Adds what keeps the current place of the program from being reached.
    pub(super) fn reached(&self, taint: &mut Taint) {
        let base = self.frames.last().map_or(0, |frame| frame.base_open);
        taint.depth = self.scopes.len();
        taint
            .nonempty
            .extend(self.open[base..].iter().map(|&axis| self.axis_extent(axis)));
    }

    /// The guard that a statement needs if it reads what is unspecified in this way.
    pub(super) fn guarded(&mut self, level: usize, mut taint: Taint, axes: &AxisSet) -> Placement {
        let mut scope = None;
        let mut own = axes.clone();
        if taint.depth > self.frames[level].base_scope {
            let entered = self.scope_guard(taint.depth - 1);
            own.extend(self.axes_of(entered));
            // Whether a branch is taken may itself be unspecified.
            let unspecified = &self.info[entered.index()].taint.nonempty;
            taint.nonempty.extend(unspecified);
            scope = Some(entered);
        }
        let own: BTreeSet<Extent> = own.iter().map(|&axis| self.axis_extent(axis)).collect();
        let needed =
            |extent: &Extent| !own.contains(extent) && !matches!(extent, Extent::Const(1..));
        taint.nonempty.retain(needed);
        // So may a computed extent be. It comes after those it depends on, in the order of extents as in that of the program.
        let mut todo: Vec<Extent> = taint.nonempty.iter().copied().collect();
        while let Some(extent) = todo.pop() {
            let size = self.nonempty(extent);
            let unspecified = self.info[size.index()].taint.nonempty.clone();
            todo.extend(
                unspecified
                    .into_iter()
                    .filter(needed)
                    .filter(|&e| taint.nonempty.insert(e)),
            );
        }
        let parts: Vec<ValueId> = taint
            .nonempty
            .iter()
            .map(|&extent| self.nonempty(extent))
            .collect();
        let mut guard = None;
        for part in parts.into_iter().chain(scope) {
            let both = self.conjunction(guard, part);
            // It is false where one of the earlier parts is, so it is specified even where this part is not.
            if guard.is_some() {
                let specified = &mut self.info[both.index()].taint.nonempty;
                specified.retain(|extent| !taint.nonempty.contains(extent));
            }
            guard = Some(both);
        }
        Placement {
            level,
            guard,
            taint,
        }
    }

    /// Whether all scopes up to this one, in its frame, are entered.
    pub(super) fn scope_guard(&mut self, scope: usize) -> ValueId {
        if let Some(guard) = self.scopes[scope].guard {
            return guard;
        }
        let Scope {
            cond,
            negated,
            level,
            ..
        } = self.scopes[scope];
        let cond = if negated {
            self.map(Prim::Not, vec![cond], &[])
        } else {
            cond
        };
        let guard = if scope > self.frames[level].base_scope {
            let outer = self.scope_guard(scope - 1);
            self.conjunction(Some(outer), cond)
        } else {
            cond
        };
        self.scopes[scope].guard = Some(guard);
        guard
    }

    /// Whether both hold; the second is looked at only where the first does.
    pub(super) fn conjunction(&mut self, first: Option<ValueId>, second: ValueId) -> ValueId {
        let Some(first) = first else {
            return second;
        };
        if let Some(&value) = self.conjunctions.get(&(first, second)) {
            return value;
        }
        let base = self.frames[self.level_of([first, second])].base_scope;
        let taint = &self.info[second.index()].taint;
        let value = if taint.depth > base || !taint.nonempty.is_empty() {
            let never = self.constant(Lit::Bool(false));
            self.select(first, second, never, &[], 0)
        } else {
            self.map(Prim::And, vec![first, second], &[])
        };
        self.conjunctions.insert((first, second), value);
        value
    }

    /// Whether an axis of this extent has members.
    pub(super) fn nonempty(&mut self, extent: Extent) -> ValueId {
        if let Some(&value) = self.nonempty.get(&extent) {
            return value;
        }
        let value = if let Extent::Const(n) = extent {
            self.constant(Lit::Bool(n > 0))
        } else {
            let size = self.size(extent);
            let zero = self.constant(Lit::of(Scalar::Usize, 0.0));
            self.map(Prim::Gt, vec![size, zero], &[])
        };
        self.nonempty.insert(extent, value);
        value
    }

    /// How large an extent of the Bulk program is.
    pub(super) fn size(&mut self, extent: Extent) -> ValueId {
        match extent {
            Extent::Value(value) => value,
            Extent::Const(_) | Extent::Size(_) => {
                self.define(BulkOp::Size(extent), Elem::USIZE, AxisSet::new(), &[])
            }
        }
    }
}
