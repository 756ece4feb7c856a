//! The way back of a reduction by an operator whose states hang together, in parallel.
//!
//! # The idea
//!
//! The operator is associative, so the whole is what comes before an element, then the element, then
//! all that comes after it. What comes before and after each element is given by a scan from either
//! end; with them at hand, how the whole changes with an element is asked at all elements at once.
//!
//! ```text
//!                                           %2, %3[i], _ = scan full (init) [i] x { ⊕ }
//!                                           %4, %5[i], _ = scan rev full (none) [i] x { later ⊕ }
//! %1 = reduce (init) [i] x { ⊕ }            %6[i] = (%3 ⊕ x) ⊕ %5, of which x has a tangent alone
//!                                           the tangent of %2: the sum of those of %6
//! ```
//!
//! What an operator reads of around it counts once for each element, where that is put to what comes
//! before it. An operator has no identity: that nothing comes after the last element is said by a
//! truth value beside the states, and the second application stands behind it.

use std::collections::BTreeMap;

use super::builder::Builder;
use super::cloning::{Copier, extend};
use super::linearize::Dual;
use crate::analysis::dataflow::may_fail;
use crate::canonicalize::substitution::Subst;
use crate::contract::is_simple;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::typing::Typing;
use crate::ir::{AxisId, Block, Elem, Lit, Monoid, Operation, Stmt, ValueId};
use crate::ops::Prim;

/// A reduction by an operator.
pub(super) struct Fold<'f> {
    pub(super) init: &'f [ValueId],
    pub(super) axis: AxisId,
    pub(super) operands: &'f [ValueId],
    pub(super) op: &'f Block<Bulk>,
}

impl Fold<'_> {
    /// Whether this is done: of scalars outside of all loops that are parallel, whose operator can
    /// be applied to anything, and of which a state depends on another.
    pub(super) fn hangs_together(&self, b: &Builder) -> bool {
        let scalar = |value: &ValueId| b.dims(*value).is_empty();
        let total = |stmt: &Stmt<Bulk>| !may_fail(&b.program, &stmt.op);
        is_simple(self.op)
            && self.op.params.iter().all(scalar)
            && self.op.free().iter().all(scalar)
            && self.op.stmts.iter().all(total)
            && self.mixes(b)
    }

    /// Whether a float among the results is computed from another float on the left than its own.
    fn mixes(&self, b: &Builder) -> bool {
        let left = &self.op.params[..self.init.len()];
        let is_float = |value: &ValueId| b.program.elem(*value).is_float();
        let floats = left.iter().copied().filter(is_float);
        let mut from: BTreeMap<ValueId, Vec<ValueId>> =
            floats.map(|param| (param, vec![param])).collect();
        for stmt in &self.op.stmts {
            if stmt.results.iter().all(is_float) {
                let operands = stmt.op.operands().into_iter();
                let of: Vec<ValueId> = operands
                    .filter_map(|operand| from.get(&operand))
                    .flatten()
                    .copied()
                    .collect();
                from.extend(stmt.results.iter().map(|&result| (result, of.clone())));
            }
        }
        let results = self.op.results.iter().zip(left);
        results.into_iter().any(|(result, own)| {
            let of = from.get(result).into_iter().flatten();
            of.into_iter().any(|param| param != own)
        })
    }
}

/// What comes after something: states, and whether there is anything.
struct Rest {
    states: Vec<ValueId>,
    exists: ValueId,
}

impl Dual<'_> {
    /// The results of the reduction, and their tangents.
    pub(super) fn by_suffixes(&mut self, fold: &Fold<'_>) -> (Vec<ValueId>, Vec<Option<ValueId>>) {
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::SUFFIXES);
        let count = fold.init.len();
        let op = Copier::default().block(self.b, fold.op);
        let given = self.b.emit_all(BulkOp::Scan {
            init: fold.init.to_vec(),
            axis: fold.axis,
            reverse: false,
            full: true,
            operands: fold.operands.to_vec(),
            op: Box::new(op),
        });
        let (wholes, before) = (&given[..count], &given[count..2 * count]);
        let (all, after) = self.rests(fold);
        let with = self.applied(fold.op, before, fold.operands, None);
        let each = self.followed(fold.op, &with, &after);
        let first = self.followed(fold.op, fold.init, &all);
        let mut tangents = Vec::new();
        for (&each, &first) in each.iter().zip(&first) {
            let parts = [self.tangent(each), self.tangent(first)];
            tangents.push(self.linearly(|dual| {
                let sum = parts[0].map(|each| {
                    dual.b.emit(BulkOp::Reduce {
                        combine: Combine::Monoid(Monoid::Add),
                        axes: vec![fold.axis],
                        operands: vec![each],
                    })
                });
                match (sum, parts[1]) {
                    (Some(sum), Some(first)) => Some(dual.b.map(Prim::Add, &[sum, first])),
                    (sum, first) => sum.or(first),
                }
            }));
        }
        (wholes.to_vec(), tangents)
    }

    /// What comes after nothing, and after each element.
    fn rests(&mut self, fold: &Fold<'_>) -> (Rest, Rest) {
        let (b, count) = (&mut *self.b, fold.init.len());
        let [no, yes] = [false, true].map(|truth| b.constant(Lit::Bool(truth)));
        let later = later(b, fold.op, count);
        let given = b.emit_all(BulkOp::Scan {
            init: [fold.init, &[no]].concat(),
            axis: fold.axis,
            reverse: true,
            full: true,
            operands: [fold.operands, &[yes]].concat(),
            op: Box::new(later),
        });
        let mut rests = given.chunks(count + 1).map(|group| Rest {
            states: group[..count].to_vec(),
            exists: group[count],
        });
        let next = rests.next().zip(rests.next());
        next.expect("a full scan gives three of each")
    }

    /// States with what comes after them, which has no tangents, nor has what the operator reads.
    fn followed(&mut self, op: &Block<Bulk>, states: &[ValueId], rest: &Rest) -> Vec<ValueId> {
        let constant = self.constant_to_this(op);
        let both = self.applied(&constant, states, &rest.states, Some(rest.exists));
        let pairs = both.into_iter().zip(states);
        pairs
            .map(|(both, &alone)| {
                let choice = BulkOp::Select(rest.exists, both, alone);
                self.taken(choice)
            })
            .collect()
    }

    /// An operator that reads copies, which have no tangents, of what it reads of around it.
    fn constant_to_this(&mut self, op: &Block<Bulk>) -> Block<Bulk> {
        let mut subst = Subst::new();
        for value in op.free() {
            if self.tangent(value).is_some() {
                let yes = self.b.constant(Lit::Bool(true));
                let copy = self.b.emit(BulkOp::Select(yes, value, value));
                subst.replace(value, copy);
            }
        }
        let mut op = op.clone();
        subst.block(&mut op);
        op
    }

    /// What an operator makes of two tuples, point for point; where a condition holds, if there is
    /// one.
    fn applied(
        &mut self,
        op: &Block<Bulk>,
        left: &[ValueId],
        right: &[ValueId],
        guard: Option<ValueId>,
    ) -> Vec<ValueId> {
        let mut copier = Copier::default();
        let mut copy = copier.block(self.b, op);
        self.demand.copied(&copier);
        let mut subst = Subst::new();
        for (&param, &value) in copy.params.iter().zip(left.iter().chain(right)) {
            subst.replace(param, value);
        }
        subst.block(&mut copy);
        let around = self.b.guard;
        let guard = self.b.behind(None, |b| b.both(around, guard));
        for mut stmt in copy.stmts {
            if !matches!(stmt.op, BulkOp::Const(_)) {
                stmt.guard = guard;
            }
            typed(self.b, &stmt);
            self.stmt(stmt);
        }
        copy.results
    }

    /// A value of its own, with its tangent.
    fn taken(&mut self, op: BulkOp) -> ValueId {
        let like = op.operands()[1];
        let elem = self.b.program.elem(like);
        let value = self.b.param(elem, Vec::new());
        let stmt = Stmt {
            results: vec![value],
            op,
            guard: self.b.guard,
            span: self.b.span,
        };
        typed(self.b, &stmt);
        self.stmt(stmt);
        value
    }
}

/// Gives what a statement computes the axes that it has.
fn typed(b: &mut Builder, stmt: &Stmt<Bulk>) {
    let types = Bulk::types(&b.program, &stmt.op, None).expect("what was well typed stays so");
    let guard = stmt.guard.map(|guard| b.dims(guard)).unwrap_or_default();
    for (&result, ty) in stmt.results.iter().zip(types) {
        let mut dims = ty.dims;
        extend(&mut dims, &guard);
        b.program.values[result.index()].ty.dims = dims;
    }
}

/// The operator that puts what comes earlier in front of what comes later, of which there may be
/// nothing.
fn later(b: &mut Builder, op: &Block<Bulk>, count: usize) -> Block<Bulk> {
    let (linear, guard) = (std::mem::take(&mut b.linear), b.guard.take());
    let mut copy = Copier::default().block(b, op);
    let (earlier, later) = copy.params.split_at(count);
    let [found, is_there] = [(); 2].map(|()| b.param(Elem::BOOL, Vec::new()));
    b.enter();
    let mut results = Vec::new();
    for (&both, &alone) in copy.results.iter().zip(earlier) {
        results.push(b.map_select(found, both, alone));
    }
    results.push(b.map(Prim::Or, &[found, is_there]));
    copy.stmts.extend(b.leave().primal);
    (b.linear, b.guard) = (linear, guard);
    Block {
        params: [later, &[found], earlier, &[is_there]].concat(),
        stmts: copy.stmts,
        results,
    }
}
