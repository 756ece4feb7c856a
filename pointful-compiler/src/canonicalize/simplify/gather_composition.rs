//! Reading places of what is gathered where that was gathered from.
//!
//! ```text
//! %1[m, k, i] = gather t [v := %0]        %3[m] = gather %0 [k := 2]
//! %2[m, i] = gather %1 [k := 2]           %2[m, i] = gather t [v := %3]
//! ```
//!
//! A table with the corners of triangles is so never there, however many of its corners are read.
//! Only places that are constants are read so: then no more is read of `t` than the table would
//! have taken.

use super::context::Context;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Stmt, ValueId};

/// Operations that places may be computed by again.
const FEW: usize = 8;

/// What reads the same, if the statement reads constant places along axes of what another reads by.
/// Derivatives are of what was written.
pub(super) fn through(
    context: &mut Context<'_, Bulk>,
    stmt: &Stmt<Bulk>,
    out: &mut Vec<Stmt<Bulk>>,
) -> Option<BulkOp> {
    let BulkOp::Gather { table, at } = &stmt.op else {
        return None;
    };
    let is_const = |&(_, place): &(AxisId, ValueId)| context.int(place).is_some();
    if context.derives || !at.iter().all(is_const) {
        return None;
    }
    let mut reading = Reading {
        context,
        stmt,
        places: at,
        left: FEW,
        made: Vec::new(),
    };
    let op = reading.elsewhere(*table)?;
    let made = reading.made;
    out.extend(made);
    Some(op)
}

struct Reading<'a, 'p> {
    context: &'a mut Context<'p, Bulk>,
    stmt: &'a Stmt<Bulk>,
    places: &'a [(AxisId, ValueId)],
    left: usize,
    made: Vec<Stmt<Bulk>>,
}

impl Reading<'_, '_> {
    /// The gather that reads at the places what this one has there.
    fn elsewhere(&mut self, gather: ValueId) -> Option<BulkOp> {
        let BulkOp::Gather { table, at } = self.made_here(gather)?.clone() else {
            return None;
        };
        let mut moved = Vec::with_capacity(at.len());
        for &(axis, index) in &at {
            moved.push((axis, self.at(index)?));
        }
        let left = self.along(table).into_iter();
        moved.extend(left.filter(|(axis, _)| at.iter().all(|(gone, _)| gone != axis)));
        Some(BulkOp::Gather { table, at: moved })
    }

    /// A value at the places.
    fn at(&mut self, value: ValueId) -> Option<ValueId> {
        let at = self.along(value);
        let &(_, place) = match at.first() {
            Some(first) => first,
            None => return Some(value),
        };
        let is_bound_outside = self.context.def(value).is_none();
        let op = match self.made_here(value).cloned() {
            None if !is_bound_outside || self.context.is_guarded(value) => return None,
            Some(BulkOp::Iota(_)) => return Some(place),
            Some(BulkOp::Map(prim, args)) => {
                if prim.may_panic(self.context.elem(args[0])) {
                    return None;
                }
                let args = args.into_iter().map(|arg| self.at(arg));
                BulkOp::Map(prim, args.collect::<Option<_>>()?)
            }
            Some(BulkOp::Gather { .. }) => self.elsewhere(value)?,
            Some(BulkOp::Select(..)) => return None,
            _ => BulkOp::Gather { table: value, at },
        };
        self.left = self.left.checked_sub(1)?;
        let (elem, &Stmt { guard, span, .. }) = (self.context.elem(value), self.stmt);
        let made = &mut self.made;
        Some(self.context.bind(op, elem, guard, span, made))
    }

    /// The operation that makes a value where the statement is: there alone if it is guarded.
    fn made_here(&self, value: ValueId) -> Option<&BulkOp> {
        let is_specified =
            !self.context.is_guarded(value) || self.context.guard(value) == self.stmt.guard;
        self.context.def(value).filter(|_| is_specified)
    }

    /// The places along axes that a value has.
    fn along(&self, value: ValueId) -> Vec<(AxisId, ValueId)> {
        let dims = &self.context.program.ty(value).dims;
        let places = self.places.iter().copied();
        places.filter(|(axis, _)| dims.contains(axis)).collect()
    }
}
