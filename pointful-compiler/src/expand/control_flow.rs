//! Statements with blocks other than `for`: branches, sequential loops, and reductions by the
//! author's own operator.

use super::accumulators::{Entered, Pending, Treatment};
use super::context::{AxisSet, Frame, Lift, Placement, Scope};
use super::free_variables::{may_panic, reads};
use super::masked_updates::Chain;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::stages::point::Point;
use crate::ir::{AxisId, Block, Checkpoint, Elem, Stmt, ValueId};

/// A loop's place, and the axes that it runs in.
pub(super) struct Lanes {
    pub(super) lanes: Vec<AxisId>,
    pub(super) placement: Placement,
}

impl Lift<'_> {
    /// `if`: both branches are lifted where they stand, behind their condition, and their results
    /// chosen between (but not between arrays of which one is made from the other by assignments,
    /// see `updates.rs`).
    pub(super) fn branches(
        &mut self,
        stmt: &Stmt<Point>,
        cond: ValueId,
        then: &Block<Point>,
        otherwise: &Block<Point>,
    ) {
        let cond = self.value(cond).value;
        let first = self.branch(cond, false, then, &stmt.results);
        let mut renamed = Vec::new();
        for (&result, &value) in stmt.results.iter().zip(&then.results) {
            if let Some(Chain::Otherwise(Some(table))) = self.updates.chain(result) {
                let assigned = Some(self.value(value));
                let own = std::mem::replace(&mut self.env[table.index()], assigned);
                renamed.push((table, own));
            }
        }
        let second = self.branch(cond, true, otherwise, &stmt.results);
        for (table, own) in renamed {
            self.env[table.index()] = own;
        }
        self.span = stmt.span;
        for (k, &result) in stmt.results.iter().enumerate() {
            let dims = self.dims(result);
            let depth = self.scopes.len();
            let value = match self.updates.chain(result) {
                Some(Chain::Then) => first[k],
                Some(Chain::Otherwise(_)) => second[k],
                None => self.select(cond, first[k], second[k], &dims, depth),
            };
            self.bind(result, value, dims);
        }
    }

    /// Lifts a branch; its results have the dimensions of `results`.
    fn branch(
        &mut self,
        cond: ValueId,
        negated: bool,
        block: &Block<Point>,
        results: &[ValueId],
    ) -> Vec<ValueId> {
        self.scopes.push(Scope {
            cond,
            negated,
            level: self.frames.len() - 1,
            guard: None,
        });
        self.block(block);
        let values = results
            .iter()
            .zip(&block.results)
            .map(|(&result, &value)| self.aligned_to(value, result))
            .collect();
        self.scopes.pop();
        values
    }

    /// A Point value with the dimensions of another.
    fn aligned_to(&mut self, value: ValueId, like: ValueId) -> ValueId {
        let dims = self.dims(like);
        let value = self.value(value);
        self.aligned(&value, &dims)
    }

    /// `fold` and `scan`.
    pub(super) fn operator(
        &mut self,
        stmt: &Stmt<Point>,
        init: &[ValueId],
        tables: &[ValueId],
        op: &Block<Point>,
        prefixes: bool,
    ) {
        let Some(&first) = stmt.results.first() else {
            return;
        };
        let axis = self.loop_axis(first);
        let arity = init.len();
        let elements: Vec<Vec<AxisId>> = op.params[..arity].iter().map(|&p| self.dims(p)).collect();
        let inits: Vec<ValueId> = init
            .iter()
            .zip(&op.params)
            .map(|(&value, &param)| self.aligned_to(value, param))
            .collect();
        let operands: Vec<ValueId> = tables
            .iter()
            .zip(&elements)
            .map(|(&table, element)| {
                let table = self.value(table);
                let want: Vec<AxisId> = std::iter::once(axis)
                    .chain(element.iter().copied())
                    .collect();
                self.aligned(&table, &want)
            })
            .collect();
        let mut own: AxisSet = self.extent_axes(self.axis_extent(axis));
        for &value in inits.iter().chain(&operands) {
            own.extend(self.axes_of(value));
        }
        own.remove(&axis);
        for dim in elements.iter().flatten() {
            own.remove(dim);
        }
        let all: Vec<ValueId> = inits.iter().chain(&operands).copied().collect();
        let Lanes { lanes, placement } = self.lanes(own, &all, &elements, &[op], Some(axis));
        let shapes: Vec<Vec<AxisId>> = elements
            .iter()
            .map(|element| [lanes.as_slice(), element].concat())
            .collect();
        self.enter();
        let mut params = Vec::new();
        for (k, &param) in op.params.iter().enumerate() {
            let value = self.bound(
                param,
                shapes[k % arity].clone(),
                elements[k % arity].clone(),
            );
            params.push(value);
        }
        self.block(op);
        let results = op
            .results
            .iter()
            .zip(&op.params)
            .map(|(&value, &param)| self.aligned_to(value, param))
            .collect();
        let (block, _) = self.leave(params, results);
        self.span = stmt.span;
        let dims: Vec<Vec<AxisId>> = stmt.results.iter().map(|&r| self.dims(r)).collect();
        let types = dims
            .iter()
            .zip(&inits)
            .map(|(dims, &init)| {
                let shape = [lanes.as_slice(), dims].concat();
                (self.out.elem(init), shape)
            })
            .collect();
        let op = if prefixes {
            BulkOp::Scan {
                init: inits,
                axis,
                reverse: false,
                full: false,
                operands,
                op: Box::new(block),
            }
        } else {
            BulkOp::Reduce {
                combine: Combine::Custom {
                    init: inits,
                    op: Box::new(block),
                },
                axes: vec![axis],
                operands,
            }
        };
        let values = self.put(op, types, placement);
        self.bind_all(&stmt.results, values, dims);
    }

    /// `loop`.
    pub(super) fn sequential(
        &mut self,
        stmt: &Stmt<Point>,
        reverse: bool,
        checkpoint: Option<Checkpoint>,
        init: &[ValueId],
        body: &Block<Point>,
    ) {
        let index = body.params[0];
        let axis = self.loop_axis(index);
        let extent = self.axis_extent(axis);
        let states = &body.params[1..];
        let (mut inits, dims) = self.initial(init, states);
        let own = self.extent_axes(extent);
        let Lanes { lanes, placement } = self.lanes(own, &inits, &dims, &[body], None);
        let entered = self.enter_accumulators(&[body], &lanes, true, &mut inits);

        self.enter();
        let mut params = vec![self.bound(index, Vec::new(), Vec::new())];
        params.extend(self.bind_states(states, &lanes, &dims));
        params.extend(self.accumulator_params(&entered, &lanes));
        self.block(body);
        let mut results = self.next_states(body, states);
        results.extend(self.accumulator_results(&entered));
        let count = results.len();
        let mut exports = Exports {
            level: self.frames.len() - 1,
            index: params[0],
            axis,
            collected: Vec::new(),
        };
        let collected: Vec<Export> = body.results[states.len()..]
            .iter()
            .zip(&stmt.results[states.len()..])
            .map(|(&value, &result)| {
                let dims = self.dims(result);
                let value = self.value(value);
                let value = self.aligned(&value, &dims[1..]);
                exports.export(self, value, dims[1..].to_vec())
            })
            .collect();
        let frame = self.frames.len() - 1;
        let pending: Vec<(Pending, Vec<Export>)> = std::mem::take(&mut self.frames[frame].pending)
            .into_iter()
            .map(|pending| {
                let dims = self.accs[&pending.acc].dims.clone();
                let values = pending.at.iter().map(|&(_, index)| (index, Vec::new()));
                let values = values
                    .chain([(pending.value, [pending.over.as_slice(), &dims].concat())])
                    .chain(pending.mask.map(|mask| (mask, Vec::new())))
                    .collect::<Vec<_>>();
                let exported = values
                    .into_iter()
                    .map(|(value, dims)| exports.export(self, value, dims))
                    .collect();
                (pending, exported)
            })
            .collect();
        results.extend(exports.collected.iter().map(|(value, _)| *value));
        let (block, _) = self.leave(params, results);

        self.span = stmt.span;
        let mut types = self.state_types(&inits, &lanes, &dims, &entered);
        for (value, dims) in &exports.collected {
            // What is the same in all lanes is collected in each if they are not equally long.
            let mut axes = self.axes_of(*value);
            axes.insert(axis);
            axes.extend(self.extent_axes(extent));
            let dims = [&[axis], dims.as_slice()].concat();
            types.push((self.out.elem(*value), self.order(axes, &dims)));
        }
        let op = BulkOp::Loop {
            axis,
            reverse,
            checkpoint,
            lanes,
            init: inits,
            body: Box::new(block),
        };
        let guard = placement.guard;
        let values = self.put(op, types, placement);
        self.bind_all(
            states_of(stmt, states.len()),
            values[..states.len()].to_vec(),
            dims,
        );
        let outside = |lift: &mut Self, export: &Export| match *export {
            Export::Outside(value) => value,
            Export::Index => lift.iota(axis),
            Export::Collected(k) => values[count + k],
        };
        for (export, &result) in collected.iter().zip(&stmt.results[states.len()..]) {
            let value = outside(self, export);
            let dims = self.dims(result);
            self.bind(result, value, dims);
        }
        self.leave_accumulators(entered, &values[states.len()..count], guard);
        for (pending, exported) in pending {
            let mut exported = exported.iter();
            let mut next = |lift: &mut Self| exported.next().map(|export| outside(lift, export));
            let mut at = pending.at;
            for (_, index) in &mut at {
                *index = next(self).unwrap_or(*index);
            }
            let value = next(self).unwrap_or(pending.value);
            let mask = next(self);
            let mut over = pending.over;
            over.push(axis);
            self.contribute_outside(Pending {
                acc: pending.acc,
                at,
                value,
                mask,
                over,
            });
        }
    }

    /// `while`.
    pub(super) fn while_loop(
        &mut self,
        stmt: &Stmt<Point>,
        init: &[ValueId],
        cond: &Block<Point>,
        body: &Block<Point>,
        bound: Option<ValueId>,
    ) {
        let (mut inits, dims) = self.initial(init, &body.params);
        let bound = bound.map(|bound| self.value(bound).value);
        let own = bound.map(|bound| self.axes_of(bound)).unwrap_or_default();
        let operands: Vec<ValueId> = inits.iter().copied().chain(bound).collect();
        let Lanes { lanes, placement } = self.lanes(own, &operands, &dims, &[cond, body], None);
        let entered = self.enter_accumulators(&[cond, body], &lanes, false, &mut inits);

        self.enter();
        let mut params = self.bind_states(&cond.params, &lanes, &dims);
        params.extend(self.accumulator_params(&entered, &lanes));
        self.block(cond);
        let go_on = self.value(cond.results[0]).value;
        let (cond_block, _) = self.leave(params, vec![go_on]);

        self.enter();
        let mut params = self.bind_states(&body.params, &lanes, &dims);
        params.extend(self.accumulator_params(&entered, &lanes));
        self.block(body);
        let mut results = self.next_states(body, &body.params);
        results.extend(self.accumulator_results(&entered));
        let (body_block, _) = self.leave(params, results);

        self.span = stmt.span;
        let types = self.state_types(&inits, &lanes, &dims, &entered);
        let op = BulkOp::While {
            lanes,
            init: inits,
            cond: Box::new(cond_block),
            body: Box::new(body_block),
            bound,
        };
        let guard = placement.guard;
        let values = self.put(op, types, placement);
        let (states, accumulated) = values.split_at(init.len());
        self.bind_all(&stmt.results, states.to_vec(), dims);
        self.leave_accumulators(entered, accumulated, guard);
    }

    /// Where a loop stands, and its lanes: the loops around it that it depends on. `own` are those
    /// already known.
    pub(super) fn lanes(
        &mut self,
        mut own: AxisSet,
        operands: &[ValueId],
        dims: &[Vec<AxisId>],
        blocks: &[&Block<Point>],
        reduced: Option<AxisId>,
    ) -> Lanes {
        let dimensions: AxisSet = dims.iter().flatten().copied().collect();
        for &operand in operands {
            own.extend(self.axes_of(operand).difference(&dimensions));
        }
        let mut taint = self.taint_of(operands.iter().copied());
        if let Some(axis) = reduced {
            own.remove(&axis);
            taint.nonempty.remove(&self.axis_extent(axis));
        }
        for value in blocks.iter().flat_map(|block| reads(self.point, block)) {
            own.extend(self.loops_of(value));
            if let Some(lifted) = &self.env[value.index()] {
                let inner = &self.info[lifted.value.index()].taint.nonempty;
                taint.nonempty.extend(inner);
            }
        }
        // Where an initial state has no points it does not matter that it is unspecified; the loop runs all the same.
        for &dim in &dimensions {
            taint.nonempty.remove(&self.axis_extent(dim));
        }
        // A loop costs what it costs, so it stays behind its condition even if it cannot fail.
        taint.depth = self.scopes.len();
        let endless = reduced.is_none() && blocks.len() > 1;
        if endless || blocks.iter().any(|block| may_panic(self.point, block)) {
            self.reached(&mut taint);
        }
        let level = self.frames.len() - 1;
        let placement = self.guarded(level, taint, &own, &[]);
        if let Some(guard) = placement.guard {
            own.extend(self.axes_of(guard));
        }
        Lanes {
            lanes: self.order(own, &[]),
            placement,
        }
    }

    /// Begins a block.
    pub(super) fn enter(&mut self) {
        self.frames.push(Frame {
            stmts: Vec::new(),
            base_scope: self.scopes.len(),
            base_open: self.open.len(),
            pending: Vec::new(),
        });
    }

    /// Ends a block.
    pub(super) fn leave(
        &mut self,
        params: Vec<ValueId>,
        results: Vec<ValueId>,
    ) -> (Block<Bulk>, Vec<Pending>) {
        let frame = self.frames.pop().expect("as many blocks end as begin");
        let block = Block {
            params,
            stmts: frame.stmts,
            results,
        };
        (block, frame.pending)
    }

    /// Binds a block's parameter.
    fn bound(&mut self, param: ValueId, shape: Vec<AxisId>, dims: Vec<AxisId>) -> ValueId {
        let elem = self.elem(self.point.elem(param));
        let value = self.parameter(elem, shape);
        self.bind(param, value, dims);
        value
    }

    pub(super) fn bind_all(
        &mut self,
        points: &[ValueId],
        values: Vec<ValueId>,
        dims: Vec<Vec<AxisId>>,
    ) {
        for ((&point, value), dims) in points.iter().zip(values).zip(dims) {
            self.bind(point, value, dims);
        }
    }

    // ---- States

    /// Initial states with the dimensions of the states, and those.
    pub(super) fn initial(
        &mut self,
        init: &[ValueId],
        states: &[ValueId],
    ) -> (Vec<ValueId>, Vec<Vec<AxisId>>) {
        init.iter()
            .zip(states)
            .map(|(&value, &state)| (self.aligned_to(value, state), self.dims(state)))
            .unzip()
    }

    pub(super) fn bind_states(
        &mut self,
        states: &[ValueId],
        lanes: &[AxisId],
        dims: &[Vec<AxisId>],
    ) -> Vec<ValueId> {
        states
            .iter()
            .zip(dims)
            .map(|(&state, dims)| self.bound(state, [lanes, dims].concat(), dims.clone()))
            .collect()
    }

    fn next_states(&mut self, body: &Block<Point>, states: &[ValueId]) -> Vec<ValueId> {
        body.results
            .iter()
            .zip(states)
            .map(|(&value, &state)| self.aligned_to(value, state))
            .collect()
    }

    /// The types of final states, those of accumulators after those of the program.
    fn state_types(
        &self,
        inits: &[ValueId],
        lanes: &[AxisId],
        dims: &[Vec<AxisId>],
        entered: &[Entered],
    ) -> Vec<(Elem, Vec<AxisId>)> {
        let accumulated = entered
            .iter()
            .filter(|entered| !matches!(entered.treatment, Treatment::Collected))
            .map(|entered| &self.accs[&entered.acc].dims);
        inits
            .iter()
            .zip(dims.iter().chain(accumulated))
            .map(|(&init, dims)| (self.out.elem(init), [lanes, dims].concat()))
            .collect()
    }
}

/// The results of a loop that are its final states.
fn states_of(stmt: &Stmt<Point>, count: usize) -> &[ValueId] {
    &stmt.results[..count]
}

/// How a value of a loop's body is seen from outside.
enum Export {
    /// It comes from outside.
    Outside(ValueId),
    /// It is the loop's index.
    Index,
    /// It is collected, as this one of the collected values.
    Collected(usize),
}

/// Values that a loop collects.
struct Exports {
    level: usize,
    index: ValueId,
    axis: AxisId,
    /// Each with its dimensions, for the order of the axes.
    collected: Vec<(ValueId, Vec<AxisId>)>,
}

impl Exports {
    fn export(&mut self, lift: &Lift<'_>, value: ValueId, dims: Vec<AxisId>) -> Export {
        if lift.info[value.index()].level < self.level {
            return Export::Outside(value);
        }
        if value == self.index {
            return Export::Index;
        }
        if let Some(k) = self.collected.iter().position(|(other, _)| *other == value) {
            return Export::Collected(k);
        }
        debug_assert!(!lift.axes_of(value).contains(&self.axis));
        self.collected.push((value, dims));
        Export::Collected(self.collected.len() - 1)
    }
}
