//! Where statements may stand: the frame, and what they must stay behind.
//!
//! # What is specified where a `for` is empty
//!
//! Everything is: what the program binds at a place is specified wherever the program reaches the
//! place, at all points of its dimensions. The program does not reach what is in a `for` that is
//! empty, and what needs such a place may be evaluated all the same, because it has not got the
//! axis; therefore values carry the extents that must not be 0 ([`Taint`]), and what reads them
//! gets a guard.
//!
//! That holds of a value where it was bound. An element of it may be bound again in another `for`,
//! which runs only where it is known that there is something to be read; and an accumulator is
//! specified whether or not what is accumulated ran. So an extent of a `for` that is neither around
//! a place nor that of a dimension says nothing there, and is exchanged for those that are: where
//! they are not 0 the place is reached. Only `settle` does this.

use smallvec::smallvec;

use std::collections::BTreeSet;

use super::context::{AxisSet, Lift, Placement, Reach, Scope, Taint};
use crate::ir::stages::bulk::BulkOp;
use crate::ir::{AxisId, Elem, Extent, Lit, Operation, Scalar, ValueId};
use crate::ops::Prim;

impl Lift<'_> {
    /// The place that what is being lifted belongs to.
    fn reach(&self) -> Reach {
        self.reach.unwrap_or(Reach {
            open: self.open.len(),
            scopes: self.scopes.len(),
        })
    }

    /// Lifts something that belongs to another place than the current one.
    pub(super) fn at<T>(&mut self, reach: Reach, lift: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.reach.replace(reach);
        let lifted = lift(self);
        self.reach = before;
        lifted
    }

    /// Where statements may stand that belong to the current place, and what must not be empty for
    /// the program to reach it.
    fn around(&self) -> BTreeSet<Extent> {
        let base = self.frames.last().map_or(0, |frame| frame.base_open);
        let open = self.open.get(base..self.reach().open).unwrap_or_default();
        let extents = open.iter().map(|&axis| self.axis_extent(axis));
        extents
            .filter(|e| !matches!(e, Extent::Const(1..)))
            .collect()
    }

    /// Where something that the program binds at the current place, with these dimensions, is
    /// unspecified, if it is computed from what is unspecified where one of these extents is 0. See
    /// the module. Says whether it must stay at its place for that.
    fn settle(&self, nonempty: &mut BTreeSet<Extent>, dims: &[AxisId]) -> bool {
        if nonempty.is_empty() {
            return false;
        }
        let extent = |&axis: &AxisId| self.axis_extent(axis);
        let open = self.open[..self.reach().open].iter();
        let known: BTreeSet<Extent> = open.chain(dims).map(extent).collect();
        if nonempty.is_subset(&known) {
            return false;
        }
        *nonempty = self.around();
        nonempty.extend(dims.iter().map(extent));
        true
    }

    /// As [`settle`](Self::settle), with the scopes.
    pub(super) fn settled(&self, taint: &mut Taint, dims: &[AxisId]) -> bool {
        let stays = self.settle(&mut taint.nonempty, dims);
        if stays {
            taint.depth = self.reach().scopes;
        }
        stays
    }

    /// Where a statement stands that has these axes, of which `dims` are the dimensions of what it
    /// defines, and behind what guard; `reduced` are axes that its operands have and it has not.
    /// One that may panic stays where the program has it, behind everything that keeps it from
    /// being evaluated there.
    pub(super) fn place(
        &mut self,
        op: &BulkOp,
        axes: &AxisSet,
        dims: &[AxisId],
        reduced: &[AxisId],
        panics: bool,
    ) -> Placement {
        let (mut level, mut taint) = self.operands_of(op, axes, reduced);
        if panics {
            level = self.frames.len() - 1;
            self.reached(&mut taint);
        }
        self.guarded(level, taint, axes, dims)
    }

    /// Where a statement stands that must stay behind the branches around the current place.
    pub(super) fn in_branch(&mut self, op: &BulkOp, axes: &AxisSet) -> Placement {
        let (_, mut taint) = self.operands_of(op, axes, &[]);
        taint.depth = self.scopes.len();
        self.guarded(self.frames.len() - 1, taint, axes, &[])
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
        taint.depth = self.reach().scopes;
        taint.nonempty.extend(self.around());
    }

    /// The guard that a statement needs that reads what is unspecified in this way.
    pub(super) fn guarded(
        &mut self,
        mut level: usize,
        mut taint: Taint,
        axes: &AxisSet,
        dims: &[AxisId],
    ) -> Placement {
        let mut scope = self.entered(level, &mut taint);
        if self.settled(&mut taint, dims) {
            level = self.frames.len() - 1;
            scope = self.entered(level, &mut taint);
            self.settled(&mut taint, dims);
        }
        let mut own: BTreeSet<Extent> = BTreeSet::new();
        if !taint.nonempty.is_empty() {
            let scope = scope.map(|scope| self.axes_of(scope)).unwrap_or_default();
            own.extend(
                axes.iter()
                    .chain(&scope)
                    .map(|&axis| self.axis_extent(axis)),
            );
        }
        let needed =
            |extent: &Extent| !own.contains(extent) && !matches!(extent, Extent::Const(1..));
        taint.nonempty.retain(needed);
        // So may a computed extent be. It comes after those it depends on, in the order of extents as in that of the program.
        let mut todo: Vec<Extent> = taint.nonempty.iter().copied().collect();
        while let Some(extent) = todo.pop() {
            let size = self.nonempty(extent);
            let mut unspecified = self.info[size.index()].taint.nonempty.clone();
            self.settle(&mut unspecified, dims);
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

    /// Whether the scopes are entered that something stands behind, if its frame does not. That may
    /// itself be unspecified.
    fn entered(&mut self, level: usize, taint: &mut Taint) -> Option<ValueId> {
        if taint.depth <= self.frames[level].base_scope {
            return None;
        }
        let entered = self.scope_guard(taint.depth - 1);
        let unspecified = &self.info[entered.index()].taint.nonempty;
        taint.nonempty.extend(unspecified);
        Some(entered)
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
            self.plain(BulkOp::Map(Prim::Not, smallvec![cond]), self.axes_of(cond))
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
        let op = if taint.depth > base || !taint.nonempty.is_empty() {
            BulkOp::Select(first, second, self.constant(Lit::Bool(false)))
        } else {
            BulkOp::Map(Prim::And, smallvec![first, second])
        };
        let mut axes = self.axes_of(first);
        axes.extend(self.axes_of(second));
        let value = self.plain(op, axes);
        self.info[value.index()].taint.depth = 0;
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
            self.plain(
                BulkOp::Map(Prim::Gt, smallvec![size, zero]),
                self.axes_of(size),
            )
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

    /// A part of a condition: it stands behind nothing, and is unspecified where an operand is.
    fn plain(&mut self, op: BulkOp, axes: AxisSet) -> ValueId {
        let operands = op.operands();
        let placement = Placement {
            level: self.level_of(operands.iter().copied()),
            guard: None,
            taint: self.taint_of(operands),
        };
        self.define_at(op, Elem::BOOL, axes, &[], placement)
    }
}
