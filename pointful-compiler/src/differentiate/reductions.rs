//! The derivatives of reductions and scans other than sums.
//!
//! - The derivative of an extremum is that of the first element that attains it: a read at its
//!   index.
//! - The derivative of a product is a sum of products of all other elements, got from the products
//!   before and after each.
//! - A scan or reduction by an operator of the author's is a loop over its elements.

use super::associative_scans::Prefixes;
use super::builder::Builder;
use super::cloning::Copier;
use super::linearize::Dual;
use super::suffixes::Fold;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::{AxisId, Block, Elem, Extent, Mode, Monoid, Scalar, Stmt, ValueId};
use crate::ops::Prim;

/// How a scan goes.
#[derive(Clone, Copy)]
pub(super) struct Along {
    pub(super) axis: AxisId,
    /// From the last element to the first.
    pub(super) reverse: bool,
    /// See [`BulkOp::Scan`].
    pub(super) full: bool,
}

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
        result: ValueId,
    ) -> ValueId {
        let (mut value, mut tangent) = (operand, tangent);
        let times = self.times(result);
        for (left, &axis) in axes.iter().enumerate().rev() {
            tangent = self.linearly(|dual| {
                let others = dual.b.others(axis, value);
                let terms = dual.b.map(times, &[others, tangent]);
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
            reverse,
            full,
            operands,
            op,
        } = &stmt.op
        else {
            return;
        };
        let along = Along {
            axis: *axis,
            reverse: *reverse,
            full: *full,
        };
        if let Some(tangents) = self.running_sum(init, along, operands, op) {
            let results = stmt.results.clone();
            self.b.push(stmt);
            for (result, tangent) in results.into_iter().zip(tangents) {
                self.set(result, Some(tangent));
            }
            return;
        }
        if !self.reaches(init, operands, op) {
            return self.b.push(stmt);
        }
        match self.mode {
            Mode::Tangent => self.dual_operator(stmt),
            Mode::Cotangent => {
                let count = init.len();
                let mut results = stmt.results.clone();
                if !full {
                    let whole = op.params[..count].iter().map(|&param| {
                        let ty = self.b.program.ty(param).clone();
                        self.b.param(ty.elem, ty.dims)
                    });
                    results = whole.chain(results).collect();
                }
                let before = if *full { count } else { 0 };
                let each = [&op.params[..before], &op.results].concat();
                let (init, operands, op) = (init.clone(), operands.clone(), op.clone());
                self.by_loop(results, along, init, operands, *op, each);
            }
        }
    }

    /// The tangents of a running sum are running sums.
    fn running_sum(
        &mut self,
        init: &[ValueId],
        along: Along,
        operands: &[ValueId],
        op: &Block<Bulk>,
    ) -> Option<Vec<ValueId>> {
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
        if !sums
            || !self.reaches(&[*init], &[*operand], op)
            || !self.b.program.elem(*init).is_float()
        {
            return None;
        }
        let tangents = [*init, *operand].map(|value| self.tangent_or_zero(value));
        Some(self.linearly(|dual| dual.b.scan(Prim::Add, tangents[0], along, tangents[1])))
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
                let fold = Fold {
                    init,
                    axis: axes[0],
                    operands,
                    op,
                };
                if fold.hangs_together(self.b) {
                    let (wholes, tangents) = self.by_suffixes(&fold);
                    self.rename(&stmt.results, &wholes);
                    for ((&result, &whole), tangent) in
                        stmt.results.iter().zip(&wholes).zip(tangents)
                    {
                        self.set(whole, tangent);
                        self.set(result, tangent);
                    }
                    return self.same_names(&stmt.results, &wholes);
                }
                let along = Along {
                    axis: axes[0],
                    reverse: false,
                    full: true,
                };
                let (init, operands, op) = (init.clone(), operands.clone(), op.clone());
                self.by_loop(stmt.results, along, init, operands, *op, Vec::new());
            }
        }
    }

    /// Whether anything that the operator gives has a tangent.
    fn reaches(&self, init: &[ValueId], operands: &[ValueId], op: &Block<Bulk>) -> bool {
        let read = op.free();
        let mut all = init.iter().chain(operands).chain(&read);
        all.any(|&value| self.tangent(value).is_some())
    }

    /// As a loop that applies the operator to one element after the other.
    fn by_loop(
        &mut self,
        results: Vec<ValueId>,
        along: Along,
        init: Vec<ValueId>,
        operands: Vec<ValueId>,
        op: Block<Bulk>,
        each: Vec<ValueId>,
    ) {
        let axis = along.axis;
        let (states, elements) = op.params.split_at(init.len());
        let mut lanes = self.b.dims(states[0]);
        for &state in states {
            let dims = self.b.dims(state);
            lanes.retain(|axis| dims.contains(axis));
        }
        let mixed = crate::contract::mixed(&op);
        lanes.retain(|axis| !mixed.contains(axis));
        let extent = self.b.extent(axis);
        let index = self.b.param(Elem::Index(extent), Vec::new());
        let prefixes = Prefixes {
            op: Copier::default().block(self.b, &op),
            operands: operands.clone(),
        };
        self.prefixes.insert(index, prefixes);
        let mut stmts = Vec::new();
        for (&element, &operand) in elements.iter().zip(&operands) {
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
            reverse: along.reverse,
            checkpoint: None,
            lanes,
            init,
            body: Box::new(body),
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
        let results = std::mem::take(&mut stmt.results);
        for group in results.chunks(count) {
            stmt.results.extend(group);
            for &k in &active {
                let ty = self.b.program.ty(group[k]).clone();
                let tangent = self.b.param(ty.elem, ty.dims);
                self.set(group[k], Some(tangent));
                stmt.results.push(tangent);
            }
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
    /// What `init ⊕ x₀ ⊕ x₁ ⊕ …` gives along an axis.
    pub(super) fn scan(
        &mut self,
        prim: Prim,
        init: ValueId,
        along: Along,
        operand: ValueId,
    ) -> Vec<ValueId> {
        self.scan_by(&[init], along, &[operand], |b, params| {
            vec![b.map(prim, params)]
        })
    }

    /// The same: of the whole, before each element, and with it.
    pub(super) fn running(
        &mut self,
        prim: Prim,
        init: ValueId,
        along: Along,
        operand: ValueId,
    ) -> [ValueId; 3] {
        let given = self.scan(prim, init, along, operand);
        [given[0], given[1], given[2]]
    }

    /// A running sum that is multiplied (`times`) by a factor before each term is added: of the
    /// whole, before each element, and with it.
    pub(super) fn recurrence(
        &mut self,
        times: Prim,
        init: ValueId,
        along: Along,
        factor: ValueId,
        term: ValueId,
    ) -> [ValueId; 3] {
        let unit = self.number(factor, 1.0);
        let given = self.scan_by(&[unit, init], along, &[factor, term], |b, params| {
            let &[before, sum, factor, term] = params else {
                unreachable!("two pairs")
            };
            let sum = b.map(times, &[factor, sum]);
            vec![
                b.map(times, &[factor, before]),
                b.map(Prim::Add, &[sum, term]),
            ]
        });
        [given[1], given[3], given[5]]
    }

    fn scan_by(
        &mut self,
        init: &[ValueId],
        along: Along,
        operands: &[ValueId],
        op: impl FnOnce(&mut Self, &[ValueId]) -> Vec<ValueId>,
    ) -> Vec<ValueId> {
        let Along {
            axis,
            reverse,
            full,
        } = along;
        let mut dims = Vec::new();
        if let Extent::Value(size) = self.extent(axis) {
            dims.extend(self.dims(size));
        }
        let mut params = Vec::new();
        for _ in 0..2 {
            let mut all = dims.clone();
            for (&init, &operand) in init.iter().zip(operands) {
                // What comes later in the tuple depends on what comes before.
                for dim in [self.dims(operand), self.dims(init)].concat() {
                    if dim != axis && !all.contains(&dim) {
                        all.push(dim);
                    }
                }
                let elem = self.program.elem(operand);
                params.push(self.param(elem, all.clone()));
            }
        }
        let (linear, guard) = (std::mem::take(&mut self.linear), self.guard.take());
        self.enter();
        let results = op(self, &params);
        let stmts = self.leave().primal;
        (self.linear, self.guard) = (linear, guard);
        let op = Block {
            params,
            stmts,
            results,
        };
        self.emit_all(BulkOp::Scan {
            init: init.to_vec(),
            axis,
            reverse,
            full,
            operands: operands.to_vec(),
            op: Box::new(op),
        })
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
    fn product_so_far(&mut self, axis: AxisId, operand: ValueId, reverse: bool) -> ValueId {
        let unit = self.number(operand, 1.0);
        let along = Along {
            axis,
            reverse,
            full: true,
        };
        self.scan(Prim::Mul, unit, along, operand)[1]
    }
}
