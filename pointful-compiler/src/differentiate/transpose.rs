//! Linear statements turned round: from the cotangents of what they compute to the cotangents of
//! what they read.
//!
//! # The idea
//!
//! Statements are visited from the last to the first, each once. When one is reached, everything
//! that reads its result has been, so the result's cotangent is complete, and the statement hands
//! it on to its operands: a sum is met by repetition, a repetition by a sum, a read by an
//! accumulation at the same place, a multiple by the same multiple, a loop by a loop in the other
//! direction. What is not linear (coefficients, indices, what is read of a loop that has run) stays
//! as it is, in front.
//!
//! # Loops
//!
//! The loop that goes back has the cotangents of the states as its states. What the loop reads from
//! outside gets its cotangent summed over all iterations: that is one more state, which begins as
//! what is there already, so that nothing is cleared or added up again for each iteration. In lanes
//! that share what is read this would mix the lanes, so there
//!
//! - a sum is kept for each lane and summed over the lanes afterwards;
//! - an accumulation at computed places is *pending*: places and values are collected, and
//!   scattered where the lanes end. What is ragged cannot be collected: there too each lane has a
//!   table, of which axes that are lanes themselves bear other names until the lanes end.
//!
//! # Branches
//!
//! What the sides of a branch add to the cotangent of one value is
//! [a choice between them](super::exclusive_branches), not a sum. So a table of which each side has
//! changed a part goes back as one table ([`predicate_updates`](crate::contract::predicate_updates)).
//!
//! # Why it is sound
//!
//! The lists hold the same bilinear form, so `⟨ct, f'(x) t⟩ = ⟨f'(x)ᵀ ct, t⟩` statement for
//! statement. A value that lacks an axis is the same along it; its cotangent is the sum along it
//! ([`Builder::sum`]), except along lanes, where each has its own until the loop ends.

mod cotangents;
mod loops;

use std::collections::BTreeMap;

use super::builder::{Builder, reads};
use super::reductions::Along;
use crate::analysis::dataflow::named_axes;
use crate::canonicalize::substitution::Subst;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Elem, Operation, Program, Stmt, ValueId, ValueSet};
use crate::ops::Prim;

/// The cotangent of a result.
pub(super) struct Seed {
    /// The result's tangent.
    pub(super) of: ValueId,
    pub(super) cotangent: ValueId,
    /// The axes of the result.
    pub(super) shape: Vec<AxisId>,
}

/// The cotangents of `params`, from those of results, which `stmts` compute from them linearly.
pub(super) fn transpose(
    b: &mut Builder,
    stmts: Vec<Stmt<Bulk>>,
    params: &[ValueId],
    seeds: Vec<Seed>,
) -> Vec<ValueId> {
    let mut linear: ValueSet = params.iter().copied().collect();
    mark(b, &stmts, &mut linear);
    let mut walk = Transpose {
        b,
        linear,
        frames: Vec::new(),
        stand_ins: BTreeMap::new(),
    };
    walk.enter(Vec::new(), params);
    walk.bind(&stmts);
    for seed in seeds {
        let space = [walk.b.dims(seed.of), seed.shape].concat();
        walk.contribute(seed.of, seed.cotangent, &space);
    }
    walk.block(stmts);
    params
        .iter()
        .map(|&param| match walk.known(param) {
            Some(cotangent) => cotangent,
            None => walk.b.number(param, 0.0),
        })
        .collect()
}

/// Adds what the statements compute from linear values.
fn mark(b: &Builder, stmts: &[Stmt<Bulk>], linear: &mut ValueSet) {
    for stmt in stmts {
        if !reads(&b.program, stmt)
            .iter()
            .any(|value| linear.contains(value))
        {
            continue;
        }
        if let BulkOp::Loop { body, .. } = &stmt.op {
            linear.extend(&body.params[1..]);
            mark(b, &body.stmts, linear);
        }
        linear.extend(&stmt.results);
    }
}

/// A block being turned round.
#[derive(Default)]
struct Frame {
    /// The axes along which cotangents are not summed here.
    lanes: Vec<AxisId>,
    /// Linear values that the block binds.
    bound: ValueSet,
    /// Everything that the block binds.
    inside: ValueSet,
    cotangents: BTreeMap<ValueId, ValueId>,
    /// Cotangents of what the block reads from outside.
    sums: Vec<Sum>,
    pending: Vec<Pending>,
    /// The index of the loop of which it is the body.
    index: Option<ValueId>,
    /// How many values there were when it began.
    mark: usize,
}

/// The cotangent of something outside of a loop, as a state of the loop.
struct Sum {
    of: ValueId,
    state: ValueId,
    init: ValueId,
    /// Whether it goes on from what was there before the loop.
    continued: bool,
}

/// An accumulation that is still inside of lanes that it mixes.
struct Pending {
    of: ValueId,
    at: Vec<(AxisId, ValueId)>,
    over: Vec<AxisId>,
    value: ValueId,
    mask: Option<ValueId>,
}

impl Pending {
    /// The axis along which each iteration adds to the place of its own number, and to no other.
    fn own_place(&self, index: ValueId) -> Option<AxisId> {
        match self.at[..] {
            [(axis, place)] if place == index => Some(axis),
            _ => None,
        }
    }
}

/// Whether anything in a block has an axis, but for what is read of it at a place.
fn has(program: &Program<Bulk>, params: &[ValueId], stmts: &[Stmt<Bulk>], axis: AxisId) -> bool {
    let in_dims = |value: &ValueId| program.ty(*value).dims.contains(&axis);
    params.iter().any(in_dims)
        || stmts.iter().any(|stmt| {
            let named = match &stmt.op {
                BulkOp::Gather { .. } => false,
                op => named_axes(op).contains(&axis),
            };
            let mut blocks = stmt.op.blocks().into_iter();
            named
                || stmt.results.iter().any(in_dims)
                || blocks.any(|block| has(program, &block.params, &block.stmts, axis))
        })
}

/// A value with other axes in the place of lanes of a loop: its cotangent can be a table of its own
/// in each lane.
struct StandIn {
    of: ValueId,
    /// The lanes, and the axes in their place.
    axes: Vec<(AxisId, AxisId)>,
}

struct Transpose<'b> {
    b: &'b mut Builder,
    linear: ValueSet,
    frames: Vec<Frame>,
    stand_ins: BTreeMap<ValueId, StandIn>,
}

impl Transpose<'_> {
    fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a block has been entered")
    }

    fn lanes(&self) -> Vec<AxisId> {
        self.frames
            .last()
            .map(|frame| frame.lanes.clone())
            .unwrap_or_default()
    }

    fn enter(&mut self, lanes: Vec<AxisId>, params: &[ValueId]) {
        let bound = params.iter().copied().collect();
        let mark = self.b.program.values.len();
        self.frames.push(Frame {
            lanes,
            bound,
            mark,
            ..Frame::default()
        });
    }

    /// Notes what the innermost block binds.
    fn bind(&mut self, stmts: &[Stmt<Bulk>]) {
        let results: Vec<ValueId> = stmts
            .iter()
            .flat_map(|stmt| stmt.results.iter().copied())
            .collect();
        let linear: Vec<ValueId> = results
            .iter()
            .copied()
            .filter(|value| self.linear.contains(value))
            .collect();
        let top = self.top();
        top.inside.extend(results);
        top.bound.extend(linear);
    }

    fn block(&mut self, stmts: Vec<Stmt<Bulk>>) {
        let mut turned = Vec::new();
        for stmt in stmts {
            if stmt.results.iter().any(|value| self.linear.contains(value)) {
                turned.push(stmt);
            } else {
                self.b.push(stmt);
            }
        }
        for mut stmt in turned.into_iter().rev() {
            stmt.guard = self.b.reached_by(&stmt);
            let outer = std::mem::replace(&mut self.b.guard, stmt.guard);
            let span = std::mem::replace(&mut self.b.span, stmt.span);
            self.stmt(stmt);
            self.b.guard = outer;
            self.b.span = span;
        }
    }

    fn stmt(&mut self, stmt: Stmt<Bulk>) {
        let result = stmt.results[0];
        match stmt.op {
            BulkOp::Loop { .. } => return self.sequential(stmt),
            BulkOp::Scan { .. } => return self.running_sum(stmt),
            BulkOp::Rule { .. } => return self.rule(stmt),
            _ => {}
        }
        let Some(cotangent) = self.known(result) else {
            return;
        };
        let guard = stmt.guard;
        let space = self.b.dims(result);
        match stmt.op {
            BulkOp::Map(prim, args) => self.map(prim, &args, cotangent, guard, &space),
            BulkOp::Select(cond, then, otherwise) => {
                let zero = self.b.number(cotangent, 0.0);
                let cond = self.b.behind(None, |b| {
                    let said = b.said(cond);
                    b.both(guard, Some(said)).unwrap_or(said)
                });
                if self.linear.contains(&then) {
                    let value = self.b.select(cond, cotangent, zero);
                    self.contribute(then, value, &space);
                }
                if self.linear.contains(&otherwise) {
                    let value = self.b.select(cond, zero, cotangent);
                    let value = self.b.masked(guard, value);
                    self.contribute(otherwise, value, &space);
                }
            }
            BulkOp::Gather { table, at } => {
                let moved = |axis: &AxisId| at.iter().any(|(place, _)| place == axis);
                let own = self.b.dims(table);
                let mut over = space;
                over.extend(
                    self.lanes()
                        .into_iter()
                        .filter(|lane| !over.contains(lane))
                        .collect::<Vec<_>>(),
                );
                over.retain(|axis| !own.contains(axis) || moved(axis));
                self.accumulate(Pending {
                    of: table,
                    at,
                    over,
                    value: cotangent,
                    mask: guard,
                });
            }
            BulkOp::Pack { axis, values } => {
                let space: Vec<AxisId> = space.into_iter().filter(|dim| *dim != axis).collect();
                for (k, value) in values.into_iter().enumerate() {
                    if self.linear.contains(&value) {
                        let number = self.b.usize(k);
                        let index = self.b.index(axis, number);
                        let part = self.b.gather(cotangent, &[(axis, index)]);
                        let part = self.b.masked(guard, part);
                        self.contribute(value, part, &space);
                    }
                }
            }
            BulkOp::Reduce { axes, operands, .. } => {
                let space = [space, axes].concat();
                let value = self.b.masked(guard, cotangent);
                self.contribute(operands[0], value, &space);
            }
            BulkOp::Scatter {
                base,
                at,
                over,
                value,
                mask,
                ..
            } => {
                let whole = self.b.masked(guard, cotangent);
                self.contribute(base, whole, &space);
                if self.linear.contains(&value) {
                    // Along axes of the base that are not addressed, the value is repeated.
                    let mut points = over.clone();
                    points.extend(
                        space
                            .iter()
                            .filter(|axis| at.iter().all(|(place, _)| place != *axis)),
                    );
                    let read = at
                        .iter()
                        .map(|&(_, index)| index)
                        .chain([value])
                        .chain(mask);
                    for axis in read
                        .flat_map(|value| self.b.dims(value))
                        .collect::<Vec<_>>()
                    {
                        if !points.contains(&axis) {
                            points.push(axis);
                        }
                    }
                    let reached = self.b.reached(&over, &at, mask);
                    let mask = self.b.behind(None, |b| b.both(guard, reached));
                    let part = self.b.behind(mask, |b| b.gather(cotangent, &at));
                    let part = self.b.masked(mask, part);
                    self.contribute(value, part, &points);
                }
            }
            BulkOp::Update {
                table,
                at,
                value,
                mask,
            } => {
                if self.linear.contains(&value) {
                    let mask = self.b.behind(None, |b| b.both(guard, mask));
                    let part = self.b.behind(mask, |b| b.gather(cotangent, &at));
                    let part = self.b.masked(mask, part);
                    let mut points: Vec<AxisId> = space
                        .iter()
                        .copied()
                        .filter(|axis| at.iter().all(|(place, _)| place != axis))
                        .collect();
                    let read = at.iter().map(|&(_, index)| index).chain(mask);
                    for axis in read
                        .flat_map(|value| self.b.dims(value))
                        .collect::<Vec<_>>()
                    {
                        if !points.contains(&axis) {
                            points.push(axis);
                        }
                    }
                    self.contribute(value, part, &points);
                }
                if self.linear.contains(&table) {
                    let zero = self.b.number(cotangent, 0.0);
                    let rest = self.b.emit(BulkOp::Update {
                        table: cotangent,
                        at,
                        value: zero,
                        mask,
                    });
                    let rest = self.b.masked(guard, rest);
                    self.contribute(table, rest, &space);
                }
            }
            BulkOp::Const(_)
            | BulkOp::Size(_)
            | BulkOp::Iota(_)
            | BulkOp::Assert { .. }
            | BulkOp::Scan { .. }
            | BulkOp::Loop { .. }
            | BulkOp::While { .. }
            | BulkOp::Derive { .. }
            | BulkOp::Rule { .. } => unreachable!("not a linear operation"),
        }
    }

    /// A running sum, of what is there multiplied by a factor before each element, if there is one.
    /// Everything that comes after an element depends on it: a running sum from the other end.
    fn running_sum(&mut self, stmt: Stmt<Bulk>) {
        let BulkOp::Scan {
            init,
            axis,
            reverse,
            full,
            operands,
            op,
            ..
        } = stmt.op
        else {
            return;
        };
        let absorbing = |stmt: &Stmt<Bulk>| matches!(stmt.op, BulkOp::Map(Prim::MulAbsorb, _));
        let times = match op.stmts.iter().any(absorbing) {
            true => Prim::MulAbsorb,
            false => Prim::Mul,
        };
        // The factors and their products come first in each tuple.
        let (count, own) = (operands.len(), operands.len() - 1);
        let factor = (count > 1).then(|| operands[0]);
        let given: Vec<Option<ValueId>> = (stmt.results.iter().skip(own).step_by(count))
            .map(|&result| self.known(result))
            .collect();
        let [whole, before, with] = match (full, &given[..]) {
            (true, &[whole, before, with]) => [whole, before, with],
            (_, given) => [None, None, given[0]],
        };
        let Some(one) = whole.or(before).or(with) else {
            return;
        };
        let each = self.b.dims(stmt.results[stmt.results.len() - 1]);
        let lanes: Vec<AxisId> = each.iter().copied().filter(|dim| *dim != axis).collect();
        // What is added to the sum after it has been multiplied.
        let mut terms = before;
        if let Some(with) = with {
            let with = match factor {
                Some(factor) => self.b.map(times, &[factor, with]),
                None => with,
            };
            terms = Some(match before {
                Some(before) => self.b.map(Prim::Add, &[before, with]),
                None => with,
            });
        }
        let along = Along {
            axis,
            reverse: !reverse,
            full: true,
        };
        let zero = self.b.number(one, 0.0);
        let start = whole.unwrap_or(zero);
        let [first, earlier, later] = match (factor, terms) {
            (None, None) => [start; 3],
            (None, Some(terms)) => self.b.running(Prim::Add, start, along, terms),
            (Some(factor), None) => self.b.running(times, start, along, factor),
            (Some(factor), Some(terms)) => self.b.recurrence(times, start, along, factor, terms),
        };
        let operand = match with {
            Some(_) if before.is_none() && factor.is_none() => later,
            Some(with) => self.b.map(Prim::Add, &[earlier, with]),
            None => earlier,
        };
        let [operand, first] = [operand, first].map(|value| self.b.masked(stmt.guard, value));
        self.contribute(operands[own], operand, &each);
        self.contribute(init[own], first, &lanes);
    }

    fn map(
        &mut self,
        prim: Prim,
        args: &[ValueId],
        cotangent: ValueId,
        guard: Option<ValueId>,
        space: &[AxisId],
    ) {
        for (k, &arg) in args.iter().enumerate() {
            if !self.linear.contains(&arg) {
                continue;
            }
            let value = match prim {
                Prim::Add => cotangent,
                Prim::Sub if k == 0 => cotangent,
                Prim::Sub | Prim::Neg => self.b.map(Prim::Neg, &[cotangent]),
                Prim::Mul | Prim::MulAbsorb => self.b.map(prim, &[args[1 - k], cotangent]),
                Prim::Div | Prim::DivAbsorb => self.b.map(prim, &[cotangent, args[1]]),
                Prim::Cast(_) => {
                    let Elem::Scalar(from) = self.b.program.elem(arg) else {
                        continue;
                    };
                    self.b.map(Prim::Cast(from), &[cotangent])
                }
                _ => unreachable!("`{}` is not linear", prim.name()),
            };
            let value = match prim {
                Prim::Add => value,
                _ => self.b.masked(guard, value),
            };
            self.contribute(arg, value, space);
        }
    }

    /// A linear map of which the author has given the transpose.
    fn rule(&mut self, stmt: Stmt<Bulk>) {
        let cotangents: Vec<Option<ValueId>> = stmt
            .results
            .iter()
            .map(|&result| self.known(result))
            .collect();
        if cotangents.iter().all(Option::is_none) {
            return;
        }
        let BulkOp::Rule { args, mut rule, .. } = stmt.op else {
            return;
        };
        let mut subst = Subst::new();
        for (&param, cotangent) in rule.params.iter().zip(cotangents) {
            let cotangent = match cotangent {
                Some(cotangent) => cotangent,
                None => self.b.number(param, 0.0),
            };
            subst.replace(param, cotangent);
        }
        subst.block(&mut rule);
        for mut inner in rule.stmts {
            self.top().inside.extend(&inner.results);
            inner.guard = self.b.behind(None, |b| b.both(stmt.guard, inner.guard));
            self.b.push(inner);
        }
        for (&arg, &value) in args.iter().zip(&rule.results) {
            let value = self.b.masked(stmt.guard, value);
            let space = self.b.dims(value);
            self.contribute(arg, value, &space);
        }
    }
}
