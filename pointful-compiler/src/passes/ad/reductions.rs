//! The derivatives of reductions and scans other than sums.
//!
//! - The derivative of an extremum is that of the first element that attains it: a read at its index.
//! - The derivative of a product is a sum of products of all other elements, got from the products before and after each.
//! - A scan or reduction by an operator of the author's is a loop over its elements.

use super::build::Builder;
use super::linear::Dual;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::{AxisId, Block, Elem, Extent, Mode, Monoid, Scalar, Stmt, ValueId};
use crate::ops::Prim;

impl Dual<'_> {
    /// `reduce min` and `reduce max`, one axis after the other from the inside out.
    pub(super) fn extremum(
        &mut self,
        monoid: Monoid,
        axes: &[AxisId],
        operand: ValueId,
        tangent: ValueId,
    ) -> ValueId {
        let (mut value, mut tangent) = (operand, tangent);
        let (around, known) = (self.b.guard, self.b.is_specified(operand));
        for (left, &axis) in axes.iter().enumerate().rev() {
            // The axes further out may be what says that there is something to be looked at.
            let missing = match known {
                true => Vec::new(),
                false => without(&axes[..left], &self.b.dims(value)),
            };
            let outer = self.b.behind(None, |b| {
                missing.into_iter().fold(around, |all, axis| {
                    let nonempty = b.nonempty(axis);
                    b.both(all, nonempty)
                })
            });
            self.b.guard = outer;
            let nonempty = self.b.behind(None, |b| b.nonempty(axis));
            if self.b.dims(value).contains(&axis) {
                let guard = self.b.behind(None, |b| b.both(outer, nonempty));
                let combine = match monoid {
                    Monoid::Min => Combine::ArgMin,
                    _ => Combine::ArgMax,
                };
                let index = self.b.behind(guard, |b| {
                    b.emit(BulkOp::Reduce {
                        combine,
                        axes: vec![axis],
                        operands: vec![value],
                    })
                });
                tangent = self.linearly(|dual| {
                    dual.b
                        .behind(guard, |b| b.gather(tangent, &[(axis, index)]))
                });
            }
            // Where the axis is empty it is no element, which matters to the axes around it.
            value = self.b.emit(BulkOp::Reduce {
                combine: Combine::Monoid(monoid),
                axes: vec![axis],
                operands: vec![value],
            });
            if let Some(nonempty) = nonempty {
                tangent = self.linearly(|dual| {
                    let zero = dual.b.number(tangent, 0.0);
                    dual.b.map_select(nonempty, tangent, zero)
                });
            }
        }
        self.b.guard = around;
        tangent
    }

    /// `reduce mul`, one axis after the other from the inside out.
    pub(super) fn product(
        &mut self,
        axes: &[AxisId],
        operand: ValueId,
        tangent: ValueId,
        _: ValueId,
    ) -> ValueId {
        let (mut value, mut tangent) = (operand, tangent);
        for (left, &axis) in axes.iter().enumerate().rev() {
            tangent = self.linearly(|dual| {
                let others = dual.b.others(axis, value);
                let terms = dual.b.map(Prim::Mul, &[others, tangent]);
                dual.b.emit(BulkOp::Reduce {
                    combine: Combine::Monoid(Monoid::Add),
                    axes: vec![axis],
                    operands: vec![terms],
                })
            });
            if left > 0 {
                value = self.b.emit(BulkOp::Reduce {
                    combine: Combine::Monoid(Monoid::Mul),
                    axes: vec![axis],
                    operands: vec![value],
                });
            }
        }
        tangent
    }

    // ---- Operators

    /// `scan`.
    pub(super) fn scan(&mut self, stmt: Stmt<Bulk>) {
        let BulkOp::Scan {
            init,
            axis,
            operands,
            op,
        } = &stmt.op
        else {
            return;
        };
        if let Some(tangent) = self.running_sum(init, *axis, operands, op) {
            let result = stmt.results[0];
            self.b.push(stmt);
            return self.set(result, Some(tangent));
        }
        if !self.reaches(init, operands, op) {
            return self.b.push(stmt);
        }
        match self.mode {
            Mode::Tangent => self.dual_operator(stmt),
            Mode::Cotangent => {
                let (axis, init, op) = (*axis, init.clone(), op.clone());
                let operands = operands.clone();
                let finals: Vec<ValueId> = op.params[..init.len()]
                    .iter()
                    .map(|&param| {
                        let ty = self.b.program.ty(param).clone();
                        self.b.param(ty.elem, ty.dims)
                    })
                    .collect();
                let results = [finals, stmt.results].concat();
                let each = op.results.clone();
                self.by_loop(results, axis, init, &operands, op, each);
            }
        }
    }

    /// The tangent of a running sum is a running sum.
    fn running_sum(
        &mut self,
        init: &[ValueId],
        axis: AxisId,
        operands: &[ValueId],
        op: &Block<Bulk>,
    ) -> Option<ValueId> {
        let ([init], [operand], [left, right]) = (init, operands, &op.params[..]) else {
            return None;
        };
        let [
            Stmt {
                results,
                op: BulkOp::Map(Prim::Add, args),
                ..
            },
        ] = &op.stmts[..]
        else {
            return None;
        };
        let sums =
            *results == op.results && (args[..] == [*left, *right] || args[..] == [*right, *left]);
        if !sums {
            return None;
        }
        self.combined(&[*init, *operand], |dual, tangents| {
            dual.b.scan(Prim::Add, tangents[0], axis, tangents[1])
        })
    }

    /// `reduce` by an operator of the author's.
    pub(super) fn fold(&mut self, stmt: Stmt<Bulk>) {
        let BulkOp::Reduce {
            combine: Combine::Custom { init, op },
            axes,
            operands,
        } = &stmt.op
        else {
            return;
        };
        if !self.reaches(init, operands, op) {
            return self.b.push(stmt);
        }
        match self.mode {
            Mode::Tangent => self.dual_operator(stmt),
            Mode::Cotangent => {
                let (axis, init, op) = (axes[0], init.clone(), op.clone());
                let operands = operands.clone();
                self.by_loop(stmt.results, axis, init, &operands, op, Vec::new());
            }
        }
    }

    /// Whether anything that the operator gives has a tangent.
    fn reaches(&self, init: &[ValueId], operands: &[ValueId], op: &Block<Bulk>) -> bool {
        let read = op.free();
        let mut all = init.iter().chain(operands).chain(&read);
        all.any(|&value| self.tangent(value).is_some())
    }

    /// The operator applied to one element after the other.
    fn by_loop(
        &mut self,
        results: Vec<ValueId>,
        axis: AxisId,
        init: Vec<ValueId>,
        operands: &[ValueId],
        op: Block<Bulk>,
        each: Vec<ValueId>,
    ) {
        let (states, elements) = op.params.split_at(init.len());
        let mut lanes = self.b.dims(states[0]);
        for &state in states {
            let dims = self.b.dims(state);
            lanes.retain(|axis| dims.contains(axis));
        }
        let mixed = crate::passes::mixed(&op);
        lanes.retain(|axis| !mixed.contains(axis));
        let extent = self.b.extent(axis);
        let index = self.b.param(Elem::Index(extent), Vec::new());
        let mut stmts = Vec::new();
        for (&element, &operand) in elements.iter().zip(operands) {
            if self.b.dims(operand).contains(&axis) {
                let op = BulkOp::Gather {
                    table: operand,
                    at: vec![(axis, index)],
                };
                stmts.push(Stmt::new(vec![element], op, self.b.span));
            } else {
                self.names.replace(element, operand);
            }
        }
        stmts.extend(op.stmts);
        let body = Block {
            params: [&[index], states].concat(),
            stmts,
            results: [op.results, each].concat(),
        };
        let op = BulkOp::Loop {
            axis,
            reverse: false,
            checkpoint: None,
            lanes,
            init,
            body,
        };
        self.stmt(Stmt {
            results,
            op,
            guard: self.b.guard,
            span: self.b.span,
        });
    }

    /// An operator on values and their tangents together.
    fn dual_operator(&mut self, mut stmt: Stmt<Bulk>) {
        let (init, operands, op) = match &mut stmt.op {
            BulkOp::Reduce {
                combine: Combine::Custom { init, op },
                operands,
                ..
            }
            | BulkOp::Scan {
                init, operands, op, ..
            } => (init, operands, op),
            _ => return,
        };
        let count = init.len();
        let (left, right) = op.params.split_at(count);
        let (left, right) = (left.to_vec(), right.to_vec());
        let float = |dual: &Self, k: usize| dual.b.program.elem(left[k]).is_float();
        let active: Vec<usize> = (0..count).filter(|&k| float(self, k)).collect();
        let guard = self.b.guard.take();
        for &k in &active {
            let tangents = [init[k], operands[k]].map(|value| self.tangent_or_zero(value));
            init.push(tangents[0]);
            operands.push(tangents[1]);
        }
        let [lefts, rights] = [&left, &right].map(|side| {
            let tangents = active.iter().map(|&k| self.tangent_param(side[k]));
            tangents.collect::<Vec<_>>()
        });
        self.b.enter();
        self.block(std::mem::take(&mut op.stmts));
        let mut results: Vec<ValueId> = op.results.iter().map(|&r| self.names.get(r)).collect();
        for &k in &active {
            let tangent = self.tangent_or_zero(results[k]);
            results.push(tangent);
        }
        op.stmts = self.b.leave().primal;
        op.results = results;
        op.params = [left, lefts, right, rights].concat();
        self.b.guard = guard;
        for k in active {
            let ty = self.b.program.ty(stmt.results[k]).clone();
            let tangent = self.b.param(ty.elem, ty.dims);
            self.set(stmt.results[k], Some(tangent));
            stmt.results.push(tangent);
        }
        self.b.push(stmt);
    }
}

/// These axes but for some.
fn without(axes: &[AxisId], some: &[AxisId]) -> Vec<AxisId> {
    axes.iter()
        .copied()
        .filter(|axis| !some.contains(axis))
        .collect()
}

impl Builder {
    /// Every prefix of `init ⊕ x₀ ⊕ x₁ ⊕ …` along an axis.
    pub(super) fn scan(
        &mut self,
        prim: Prim,
        init: ValueId,
        axis: AxisId,
        operand: ValueId,
    ) -> ValueId {
        let elem = self.program.elem(operand);
        let mut dims = self.dims(operand);
        dims.extend(self.dims(init));
        dims.retain(|&dim| dim != axis);
        if let Extent::Value(size) = self.extent(axis) {
            dims.extend(self.dims(size));
        }
        let mut distinct = Vec::new();
        for dim in dims {
            if !distinct.contains(&dim) {
                distinct.push(dim);
            }
        }
        let params = vec![
            self.param(elem, distinct.clone()),
            self.param(elem, distinct),
        ];
        let (linear, guard) = (std::mem::take(&mut self.linear), self.guard.take());
        self.enter();
        let result = self.map(prim, &params);
        let stmts = self.leave().primal;
        (self.linear, self.guard) = (linear, guard);
        let op = Block {
            params,
            stmts,
            results: vec![result],
        };
        self.emit(BulkOp::Scan {
            init: vec![init],
            axis,
            operands: vec![operand],
            op,
        })
    }

    /// The index that is as far from the end of an axis as this one is from its beginning.
    pub(super) fn mirrored(&mut self, axis: AxisId) -> ValueId {
        let index = self.emit(BulkOp::Iota(axis));
        let index = self.map(Prim::Cast(Scalar::Usize), &[index]);
        let size = self.size(axis);
        let one = self.usize(1);
        let last = self.map(Prim::Sub, &[size, one]);
        let mirrored = self.map(Prim::Sub, &[last, index]);
        self.index(axis, mirrored)
    }

    /// The products of all other elements along an axis.
    fn others(&mut self, axis: AxisId, operand: ValueId) -> ValueId {
        if self.dims(operand).contains(&axis) {
            let [before, after] =
                [false, true].map(|back| self.product_so_far(axis, operand, back));
            return self.map(Prim::Mul, &[before, after]);
        }
        // Of elements that are all the same, the product of all but the first.
        let index = self.emit(BulkOp::Iota(axis));
        let index = self.map(Prim::Cast(Scalar::Usize), &[index]);
        let zero = self.usize(0);
        let first = self.map(Prim::Eq, &[index, zero]);
        let unit = self.number(operand, 1.0);
        let but_first = self.map_select(first, unit, operand);
        self.emit(BulkOp::Reduce {
            combine: Combine::Monoid(Monoid::Mul),
            axes: vec![axis],
            operands: vec![but_first],
        })
    }

    /// The products of all elements before each along an axis, or of all after it.
    fn product_so_far(&mut self, axis: AxisId, operand: ValueId, back: bool) -> ValueId {
        let mut lanes = self.dims(operand);
        if let Extent::Value(size) = self.extent(axis) {
            lanes.extend(self.dims(size));
        }
        if let Some(guard) = self.guard {
            lanes.extend(self.dims(guard));
        }
        let mut distinct = Vec::new();
        for lane in lanes {
            if lane != axis && !distinct.contains(&lane) {
                distinct.push(lane);
            }
        }
        let unit = self.number(operand, 1.0);
        let index = self.param(Elem::Index(self.extent(axis)), Vec::new());
        let elem = self.program.elem(operand);
        let product = self.param(elem, distinct.clone());
        let (linear, guard) = (std::mem::take(&mut self.linear), self.guard.take());
        self.enter();
        let element = self.gather(operand, &[(axis, index)]);
        let next = self.map(Prim::Mul, &[product, element]);
        let stmts = self.leave().primal;
        (self.linear, self.guard) = (linear, guard);
        let each = self.emit_all(BulkOp::Loop {
            axis,
            reverse: back,
            checkpoint: None,
            lanes: distinct.clone(),
            init: vec![unit],
            body: Block {
                params: vec![index, product],
                stmts,
                results: vec![next, product],
            },
        })[1];
        self.in_lanes(each, &distinct, axis);
        each
    }
}
