//! What all terms of a sum are multiplied by is multiplied by once.
//!
//! A function of a table that is picked from several for each element derives as all of them for
//! each, but where they are not picked:
//!
//! ```text
//! %0[n, k] = mul x, %w                 %0[k] = select %c, %w, 0
//! %1[n, k] = select %c, %0, 0          %1 = reduce add [k] %0
//! %2[n] = reduce add [k] %1            %2 = reduce or [k] %c
//!                                      %3[n] = mul x, %1
//!                                      %4[n] = select %2, %3, 0
//! ```
//!
//! Where no term is picked the factor says nothing: it need not be a number.

use super::Walk;
use crate::ir::stages::bulk::{BulkOp, Combine};
use crate::ir::{AxisId, Monoid, ValueId};
use crate::ops::Prim;

impl Walk {
    /// A sum of products of which one factor is the same in all terms, while the others and what
    /// they stand behind are the same at many points of the sum.
    pub(super) fn factored(&mut self, op: &BulkOp) -> Option<ValueId> {
        let BulkOp::Reduce {
            combine: Combine::Monoid(Monoid::Add),
            axes,
            operands,
        } = op
        else {
            return None;
        };
        let &BulkOp::Select(cond, then, otherwise) = self.defs.of(operands[0])? else {
            return None;
        };
        let swapped = self.defs.is_zero(then);
        let term = match (swapped, self.defs.is_zero(otherwise)) {
            (true, false) => otherwise,
            (false, true) => then,
            (true, true) | (false, false) => return None,
        };
        let BulkOp::Map(times @ (Prim::Mul | Prim::MulAbsorb), args) = self.defs.of(term)? else {
            return None;
        };
        let dims = self.b.dims(operands[0]);
        let without = |value: ValueId, axes: &[AxisId]| {
            let own = self.b.dims(value);
            axes.iter().all(|axis| !own.contains(axis))
        };
        if !axes.iter().all(|axis| dims.contains(axis)) {
            return None;
        }
        let fits = |factor: ValueId, other: ValueId| {
            let small = |axis: &AxisId| without(cond, &[*axis]) && without(other, &[*axis]);
            without(factor, axes) && dims.iter().any(small)
        };
        let (factor, other) = [(args[0], args[1]), (args[1], args[0])]
            .into_iter()
            .find(|&(factor, other)| fits(factor, other))?;
        let times = *times;
        let (axes, zero) = (axes.clone(), self.b.number(term, 0.0));
        let sides = |this: &mut Self, cond: ValueId, value: ValueId| {
            let [then, otherwise] = if swapped {
                [zero, value]
            } else {
                [value, zero]
            };
            this.b.select(cond, then, otherwise)
        };
        let picked = sides(self, cond, other);
        let sum = self.b.sum(picked, &axes);
        let some = self.b.emit(BulkOp::Reduce {
            combine: Combine::Monoid(if swapped { Monoid::And } else { Monoid::Or }),
            axes,
            operands: vec![cond],
        });
        let product = self.b.map(times, &[factor, sum]);
        Some(sides(self, some, product))
    }
}
