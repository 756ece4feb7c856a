//! The derivatives of scatters.
//!
//! - A scatter of sums is one of the tangents.
//! - A scatter of extrema goes to the first contribution that attains the place's final value,
//!   unless the base does.
//! - A scatter of products divides the final product by the contribution. If there are zeros among
//!   the contributions, to which the others' product belongs, it is made of the product of those
//!   that are not zero and of the other zeros' sums of powers. These have the values and the
//!   derivatives of the others' product, the value itself being zero or one, as long as no more
//!   than three zeros meet in one place; where more do, all derivatives up to the third are zero,
//!   and are said to be. Nothing of it is computed where there are no zeros.

use super::builder::Builder;
use super::linearize::Dual;
use crate::analysis::dataflow::points;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::{AxisId, Extent, Lit, Monoid, Scalar, Stmt, ValueId};
use crate::ops::Prim;

/// Where a scatter goes.
pub(super) struct Place {
    pub(super) at: Vec<(AxisId, ValueId)>,
    pub(super) over: Vec<AxisId>,
    pub(super) mask: Option<ValueId>,
}

impl Dual<'_> {
    /// `scatter`.
    #[allow(clippy::too_many_arguments, reason = "they are the operation's")]
    pub(super) fn scatter(
        &mut self,
        monoid: Monoid,
        base: ValueId,
        at: Vec<(AxisId, ValueId)>,
        over: Vec<AxisId>,
        value: ValueId,
        mask: Option<ValueId>,
        result: ValueId,
    ) -> Option<ValueId> {
        if self.tangent(base).is_none() && self.tangent(value).is_none() {
            return None;
        }
        let place = Place { at, over, mask };
        match monoid {
            Monoid::Add => self.combined(&[base, value], |dual, tangents| {
                dual.b
                    .add_into(tangents[0], &place, tangents[1], place.mask)
            }),
            Monoid::Min | Monoid::Max => {
                let place = self.once(place, value);
                if self.is_single(&place, value) {
                    return self.single_extremum(base, &place, value, result);
                }
                let (kept, won) = self.winners(base, &place, value, result);
                self.combined(&[base, value], |dual, tangents| {
                    let zero = dual.b.number(base, 0.0);
                    let base = dual.b.map_select(kept, tangents[0], zero);
                    dual.b.add_into(base, &place, tangents[1], Some(won))
                })
            }
            Monoid::Mul if self.is_single(&place, value) => {
                self.single_product(base, &place, value, result)
            }
            Monoid::Mul => self.scattered_product(base, &place, value, result),
            Monoid::And | Monoid::Or => None,
        }
    }

    /// Of what is the same all along an axis the first is as good as any: such axes are left out,
    /// and ask only whether there is anything along them.
    fn once(&mut self, mut place: Place, value: ValueId) -> Place {
        let b = &mut *self.b;
        let read = place.at.iter().map(|&(_, index)| index);
        let read: Vec<ValueId> = read.chain([value]).chain(place.mask).collect();
        let mut known: Vec<AxisId> = read.iter().flat_map(|&value| b.dims(value)).collect();
        // How long other axes are may differ along one.
        for &axis in &place.over {
            if let Extent::Value(length) = b.extent(axis) {
                known.extend(b.dims(length));
            }
        }
        let (over, idle) = place.over.iter().partition(|axis| known.contains(axis));
        place.over = over;
        place.mask = b.behind(None, |b| {
            let idle: Vec<AxisId> = idle;
            let there = idle.into_iter().fold(None, |there, axis| {
                let nonempty = b.nonempty(axis);
                b.both(there, nonempty)
            });
            b.both(there, place.mask)
        });
        place
    }

    /// Whether there is one contribution to one place, so that nothing else of the table changes.
    fn is_single(&self, place: &Place, value: ValueId) -> bool {
        let read = place.at.iter().map(|&(_, index)| index);
        let mut read = read.chain([value]).chain(place.mask);
        let moves = |value: ValueId| {
            let dims = self.b.dims(value);
            place.at.iter().any(|(axis, _)| dims.contains(axis))
        };
        place.over.is_empty() && !place.at.is_empty() && !read.any(moves)
    }

    /// An extremum of a place and one value: the place is the value's if it changes.
    fn single_extremum(
        &mut self,
        base: ValueId,
        place: &Place,
        value: ValueId,
        result: ValueId,
    ) -> Option<ValueId> {
        let b = &mut *self.b;
        let outer = b.guard;
        let seen = b.behind(None, |b| b.both(outer, place.mask));
        let won = b.behind(seen, |b| {
            let ends = [base, result].map(|table| b.gather(table, &place.at));
            b.map(Prim::Ne, &ends)
        });
        let won = b.behind(None, |b| b.both(place.mask, Some(won)));
        self.combined(&[base, value], |dual, tangents| {
            dual.b.emit(BulkOp::Update {
                table: tangents[0],
                at: place.at.clone(),
                value: tangents[1],
                mask: won,
            })
        })
    }

    /// A product of a place and one value.
    fn single_product(
        &mut self,
        base: ValueId,
        place: &Place,
        value: ValueId,
        result: ValueId,
    ) -> Option<ValueId> {
        let b = &mut *self.b;
        let outer = b.guard;
        let seen = b.behind(None, |b| b.both(outer, place.mask));
        let before = b.behind(seen, |b| b.gather(base, &place.at));
        let times = self.times(result);
        self.combined(&[base, value], |dual, tangents| {
            let product = dual.b.behind(seen, |b| {
                let table = b.gather(tangents[0], &place.at);
                let terms = [[value, table], [before, tangents[1]]];
                let terms = terms.map(|factors| b.map(times, &factors));
                b.map(Prim::Add, &terms)
            });
            dual.b.emit(BulkOp::Update {
                table: tangents[0],
                at: place.at.clone(),
                value: product,
                mask: place.mask,
            })
        })
    }

    /// Where the base is the extremum, and which contribution else: the first that is equal to it.
    fn winners(
        &mut self,
        base: ValueId,
        place: &Place,
        value: ValueId,
        result: ValueId,
    ) -> (ValueId, ValueId) {
        let outer = self.b.guard;
        let b = &mut *self.b;
        let kept = b.map(Prim::Eq, &[base, result]);
        let mut ordinal = b.usize(0);
        for &axis in &place.over {
            let size = b.size(axis);
            let index = b.emit(BulkOp::Iota(axis));
            let index = b.map(Prim::Cast(Scalar::Usize), &[index]);
            let outer = b.map(Prim::Mul, &[ordinal, size]);
            ordinal = b.map(Prim::Add, &[outer, index]);
        }
        let reached = b.reached(&place.over, &place.at, place.mask);
        let seen = b.behind(None, |b| b.both(outer, reached));
        let hit = b.behind(seen, |b| {
            let extremum = b.gather(result, &place.at);
            b.map(Prim::Eq, &[value, extremum])
        });
        let hit = b.behind(None, |b| b.both(seen, Some(hit))).unwrap_or(hit);
        let none = b.constant(Lit::Int(Scalar::Usize, usize::MAX as i128));
        let first = b.emit(BulkOp::Scatter {
            monoid: Monoid::Min,
            base: none,
            at: place.at.clone(),
            over: place.over.clone(),
            value: ordinal,
            mask: Some(hit),
        });
        // Where the base has it, no contribution does.
        let first = b.map_select(kept, none, first);
        let won = b.behind(seen, |b| {
            let first = b.gather(first, &place.at);
            b.map(Prim::Eq, &[ordinal, first])
        });
        let won = b.behind(None, |b| b.both(seen, Some(won))).unwrap_or(won);
        (kept, won)
    }

    /// `scatter mul`: each contribution's tangent times the product of everything else at the
    /// place.
    fn scattered_product(
        &mut self,
        base: ValueId,
        place: &Place,
        value: ValueId,
        result: ValueId,
    ) -> Option<ValueId> {
        let [of_base, of_value] = [base, value].map(|operand| self.tangent(operand));
        let for_base = of_base.map(|_| {
            let one = self.b.number(base, 1.0);
            self.b.emit(BulkOp::Scatter {
                monoid: Monoid::Mul,
                base: one,
                at: place.at.clone(),
                over: place.over.clone(),
                value,
                mask: place.mask,
            })
        });
        let for_value = of_value.map(|_| self.cofactor(base, place, value, result));
        let times = self.times(result);
        self.combined(&[base, value], |dual, tangents| {
            let scaled = |b: &mut Builder, factor: Option<ValueId>, tangent| match factor {
                Some(factor) => b.map(times, &[factor, tangent]),
                None => tangent,
            };
            let base = scaled(dual.b, for_base, tangents[0]);
            if for_value.is_none() {
                return base;
            }
            let value = scaled(dual.b, for_value, tangents[1]);
            dual.b.add_into(base, place, value, place.mask)
        })
    }

    /// The product of everything else at the place, for each contribution: the final product
    /// divided by it, unless there are zeros.
    fn cofactor(
        &mut self,
        base: ValueId,
        place: &Place,
        value: ValueId,
        result: ValueId,
    ) -> ValueId {
        let outer = self.b.guard;
        let b = &mut *self.b;
        let zero = b.number(value, 0.0);
        let reached = b.reached(&place.over, &place.at, place.mask);
        let seen = b.behind(None, |b| b.both(outer, reached));
        let vanishes = b.map(Prim::Eq, &[result, zero]);
        let dims = b.dims(vanishes);
        let axes = place.at.iter().map(|&(axis, _)| axis);
        let axes: Vec<AxisId> = axes.filter(|axis| dims.contains(axis)).collect();
        let zeros = match axes.is_empty() {
            true => vanishes,
            false => b.emit(BulkOp::Reduce {
                combine: Combine::Monoid(Monoid::Or),
                axes,
                operands: vec![vanishes],
            }),
        };
        // An axis along which there is one point where there are zeros, and none where there are not: what is computed of the contributions
        // as they are along it is computed if it is needed.
        // Where the scatter does not run there is none of it either: how long an axis is can be said everywhere.
        let (zeros, times) = b.behind(None, |b| {
            let zeros = b.both(outer, Some(zeros)).unwrap_or(zeros);
            (zeros, b.map(Prim::Cast(Scalar::Usize), &[zeros]))
        });
        let axis = b.axis("zeros", Extent::Value(times));
        let point = b.emit(BulkOp::Iota(axis));
        let point = b.map(Prim::Cast(Scalar::Usize), &[point]);
        let nothing = b.map(Prim::Cast(b.program.elem(value).repr()), &[point]);
        let along = b.behind(seen, |b| b.map(Prim::Sub, &[value, nothing]));
        let among_zeros = b.cofactor_among_zeros(base, place, along, result);
        let among_zeros = b.sum(among_zeros, &[axis]);
        let divides = b.map(Prim::Not, &[zeros]);
        let divides = b.behind(None, |b| b.both(seen, Some(divides)));
        let divided = b.behind(divides, |b| {
            let product = b.gather(result, &place.at);
            b.map(Prim::Div, &[product, value])
        });
        let cofactor = b.behind(seen, |b| b.map_select(zeros, among_zeros, divided));
        b.masked(seen, cofactor)
    }
}

impl Builder {
    /// The product of everything else at the place, for each contribution, where some of them are
    /// zero.
    fn cofactor_among_zeros(
        &mut self,
        base: ValueId,
        place: &Place,
        value: ValueId,
        result: ValueId,
    ) -> ValueId {
        let outer = self.guard;
        let reached = self.reached(&place.over, &place.at, place.mask);
        let seen = self.behind(None, |b| b.both(outer, reached));
        let [zero, one, half] = [0.0, 1.0, 0.5].map(|number| self.number(value, number));
        let [none, single, two, three] = [0, 1, 2, 3].map(|count| self.usize(count));
        let is_zero = self.behind(seen, |b| b.map(Prim::Eq, &[value, zero]));
        let (is_zero, rest) = self.behind(None, |b| {
            let is_zero = b.both(seen, Some(is_zero)).unwrap_or(is_zero);
            let rest = b.map(Prim::Not, &[is_zero]);
            (is_zero, b.both(place.mask, Some(rest)).unwrap_or(rest))
        });
        let square = self.behind(seen, |b| b.map(Prim::Mul, &[value, value]));
        let [product, count, sum, squares] = [
            (Monoid::Mul, base, value, Some(rest)),
            (Monoid::Add, none, single, Some(is_zero)),
            (Monoid::Add, zero, value, Some(is_zero)),
            (Monoid::Add, zero, square, Some(is_zero)),
        ]
        .map(|(monoid, base, value, mask)| {
            self.emit(BulkOp::Scatter {
                monoid,
                base,
                at: place.at.clone(),
                over: place.over.clone(),
                value,
                mask,
            })
        });
        let cofactor = self.behind(seen, |b| {
            let [whole, product, count, sum, squares] =
                [result, product, count, sum, squares].map(|table| b.gather(table, &place.at));
            let factor = b.map_select(is_zero, one, value);
            let divided = b.map(Prim::Div, &[whole, factor]);
            let first = b.map(Prim::Sub, &[sum, value]);
            let squares = b.map(Prim::Sub, &[squares, square]);
            let all = b.map(Prim::Mul, &[first, first]);
            let twice = b.map(Prim::Sub, &[all, squares]);
            let second = b.map(Prim::Mul, &[half, twice]);
            let mut others = zero;
            for (number, symmetric) in [(three, second), (two, first), (single, one)] {
                let so_many = b.map(Prim::Eq, &[count, number]);
                others = b.map_select(so_many, symmetric, others);
            }
            let others = b.map(Prim::Mul, &[product, others]);
            b.map_select(is_zero, others, divided)
        });
        self.masked(seen, cofactor)
    }

    /// Whether a scatter has anything to do at a point: what it does not ask for where there is
    /// nothing to go over may be unspecified there.
    pub(super) fn reached(
        &mut self,
        over: &[AxisId],
        at: &[(AxisId, ValueId)],
        mask: Option<ValueId>,
    ) -> Option<ValueId> {
        let there = self.is_there(over, at, mask);
        self.behind(None, |b| b.both(there, mask))
    }

    /// The guard of a statement, and what its axes say of the places where it reads or writes: they
    /// may be specified only where there is something along the axes, which what is made of the
    /// statement need not have.
    pub(super) fn reached_by(&mut self, stmt: &Stmt<Bulk>) -> Option<ValueId> {
        let guard = stmt.guard.map(|guard| self.if_there(guard, stmt));
        let (at, mask) = match &stmt.op {
            BulkOp::Gather { at, .. } => (at, None),
            BulkOp::Scatter { at, mask, .. } | BulkOp::Update { at, mask, .. } => (at, *mask),
            _ => return guard,
        };
        let mut read = at.iter().map(|&(_, index)| index).chain(mask);
        if read.all(|value| self.is_specified(value)) {
            return guard;
        }
        let points = points(&self.program, stmt);
        let there = self.is_there(&points, at, mask);
        match (there, guard) {
            // It was linear in a tangent, and its guard says so already.
            (Some(there), Some(guard)) if self.implies(guard, there) => Some(guard),
            (there, guard) => self.behind(None, |b| b.both(there, guard)),
        }
    }

    /// A guard of a statement that may say nothing where there is nothing along axes of the
    /// statement's: does not hold there.
    fn if_there(&mut self, guard: ValueId, stmt: &Stmt<Bulk>) -> ValueId {
        let mut axes = points(&self.program, stmt);
        axes.retain(|&axis| self.needs_members(guard, axis));
        let there = self.is_there(&axes, &[], Some(guard));
        #[cfg(test)]
        if there.is_some() {
            crate::testing::entered::enter(&crate::testing::entered::GUARDED_IF_THERE);
        }
        self.behind(None, |b| b.both(there, Some(guard)))
            .unwrap_or(guard)
    }

    /// Whether there is a point along each of the axes that neither the places have nor the mask.
    fn is_there(
        &mut self,
        axes: &[AxisId],
        at: &[(AxisId, ValueId)],
        mask: Option<ValueId>,
    ) -> Option<ValueId> {
        let read = at.iter().map(|&(_, index)| index).chain(mask);
        let known: Vec<AxisId> = read.flat_map(|value| self.dims(value)).collect();
        self.behind(None, |b| {
            let missing = axes.iter().filter(|axis| !known.contains(axis));
            missing.fold(None, |there, &axis| {
                let nonempty = b.nonempty(axis);
                b.both(there, nonempty)
            })
        })
    }

    pub(super) fn add_into(
        &mut self,
        base: ValueId,
        place: &Place,
        value: ValueId,
        mask: Option<ValueId>,
    ) -> ValueId {
        self.emit(BulkOp::Scatter {
            monoid: Monoid::Add,
            base,
            at: place.at.clone(),
            over: place.over.clone(),
            value,
            mask,
        })
    }
}
