//! Blocks that run again and again: loops, `while`, folds and scans with an operator.

use super::Run;
use super::array::{Array, Place};
use crate::eval::point::bound_exceeded;
use crate::eval::{EvalError, ScalarValue};
use crate::ir::stages::bulk::Bulk;
use crate::ir::{AxisId, Block, Stmt, ValueId};

/// What a scan gives beside what it is of.
#[derive(Clone, Copy)]
pub(super) struct Prefixes {
    /// From the last element to the first.
    pub(super) reverse: bool,
    /// See [`BulkOp::Scan`](crate::ir::stages::bulk::BulkOp::Scan).
    pub(super) full: bool,
}

impl Run<'_> {
    /// Runs a block here with these arguments; gives its results.
    fn block(&mut self, block: &Block<Bulk>, args: &[Array]) -> Result<Vec<Array>, EvalError> {
        self.meter.step()?;
        if args.len() != block.params.len() {
            return Err(EvalError::bug("a block takes another number of values"));
        }
        for (&param, arg) in block.params.iter().zip(args) {
            let array = self.define(&self.program.ty(param).dims, |_, place| arg.get(place))?;
            self.values[param.index()] = Some(array);
        }
        self.stmts(block)?;
        self.all(&block.results)
    }

    fn all(&self, values: &[ValueId]) -> Result<Vec<Array>, EvalError> {
        values.iter().map(|&v| self.value(v).cloned()).collect()
    }

    /// Runs `run` once for each active point of `lanes`, with them bound; what it gives is written
    /// into the statement's results.
    fn lanes(
        &mut self,
        stmt: &Stmt<Bulk>,
        lanes: &[AxisId],
        mut run: impl FnMut(&mut Self, &mut Vec<Array>) -> Result<(), EvalError>,
    ) -> Result<(), EvalError> {
        let mut results = stmt
            .results
            .iter()
            .map(|&result| self.unspecified(&self.program.ty(result).dims))
            .collect::<Result<Vec<Array>, _>>()?;
        let around = self.here.clone();
        let lanes = self.unbound(lanes);
        for lane in self.places(&lanes, &around)? {
            if self.is_active(stmt.guard, &lane)? {
                self.here = lane;
                run(self, &mut results)?;
            }
        }
        self.here = around;
        for (&result, array) in stmt.results.iter().zip(results) {
            self.values[result.index()] = Some(array);
        }
        Ok(())
    }

    /// Writes what was computed here into the part of a result that belongs here. What lanes have in
    /// common is there if one of them has computed it, whoever runs behind another branch.
    fn deliver(
        &mut self,
        result: ValueId,
        into: &mut Array,
        computed: &Array,
    ) -> Result<(), EvalError> {
        let axes = self.unbound(&self.program.ty(result).dims);
        for place in self.places(&axes, &self.here.clone())? {
            if let Some(value) = computed.get(&place)? {
                into.set(&place, Some(value))?;
            }
        }
        Ok(())
    }

    fn deliver_all(
        &mut self,
        results: &[ValueId],
        into: &mut [Array],
        computed: &[Array],
    ) -> Result<(), EvalError> {
        if results.len() != computed.len() || into.len() != computed.len() {
            return Err(EvalError::bug(
                "an operation binds another number of values",
            ));
        }
        for ((&result, into), computed) in results.iter().zip(into).zip(computed) {
            self.deliver(result, into, computed)?;
        }
        Ok(())
    }

    pub(super) fn sequential(
        &mut self,
        stmt: &Stmt<Bulk>,
        axis: AxisId,
        reverse: bool,
        lanes: &[AxisId],
        init: &[ValueId],
        body: &Block<Bulk>,
    ) -> Result<(), EvalError> {
        let count = init.len();
        if stmt.results.len() < count || body.results.len() < count {
            return Err(EvalError::bug("a loop's body gives too few states"));
        }
        self.lanes(stmt, lanes, |run, results| {
            let lane = run.here.clone();
            let extent = run.trip_count(axis, &lane)?;
            let mut states = run.all(init)?;
            for step in 0..extent {
                let index = if reverse { extent - 1 - step } else { step };
                let mut args = vec![Array::scalar(ScalarValue::Usize(index))];
                args.extend(states);
                let computed = run.block(body, &args)?;
                let (next, collected) = computed.split_at(count);
                run.here = lane.with(axis, index);
                run.deliver_all(&stmt.results[count..], &mut results[count..], collected)?;
                run.here = lane.clone();
                states = next.to_vec();
            }
            run.deliver_all(&stmt.results[..count], &mut results[..count], &states)
        })
    }

    pub(super) fn while_loop(
        &mut self,
        stmt: &Stmt<Bulk>,
        lanes: &[AxisId],
        init: &[ValueId],
        cond: &Block<Bulk>,
        body: &Block<Bulk>,
        bound: Option<ValueId>,
    ) -> Result<(), EvalError> {
        let &[go_on] = cond.results.as_slice() else {
            return Err(EvalError::bug("a condition is one truth value"));
        };
        self.lanes(stmt, lanes, |run, results| {
            let lane = run.here.clone();
            let bound = match bound {
                Some(bound) => run.ordinal(bound, &lane)?,
                None => None,
            };
            let mut states = run.all(init)?;
            let mut iterations = 0;
            loop {
                run.block(cond, &states)?;
                match run.truth(go_on, &lane)? {
                    Some(true) => {}
                    Some(false) => break,
                    None => return Err(EvalError::bug("a condition that was not evaluated")),
                }
                if bound == Some(iterations) {
                    return Err(bound_exceeded(iterations));
                }
                states = run.block(body, &states)?;
                iterations += 1;
            }
            run.deliver_all(&stmt.results, results, &states)
        })
    }

    /// `init ⊕ t₀ ⊕ t₁ …` along an axis: the last value, or what a scan gives. The operator works
    /// on whole arrays; only what decides how many terms there are, and the guard, is taken point
    /// by point.
    pub(super) fn fold(
        &mut self,
        stmt: &Stmt<Bulk>,
        init: &[ValueId],
        axis: AxisId,
        operands: &[ValueId],
        op: &Block<Bulk>,
        prefixes: Option<Prefixes>,
    ) -> Result<(), EvalError> {
        if op.params.len() != 2 * operands.len() || init.len() != operands.len() {
            return Err(EvalError::bug("an operator on tuples of another length"));
        }
        let mut lanes = self.extent_axes(axis).to_vec();
        if let Some(guard) = stmt.guard {
            let guard_axes = &self.program.ty(guard).dims;
            lanes.extend(guard_axes.iter().filter(|&&a| a != axis));
        }
        lanes.sort();
        lanes.dedup();
        self.lanes(stmt, &lanes, |run, results| {
            let lane = run.here.clone();
            let extent = run.trip_count(axis, &lane)?;
            let mut total = run.all(init)?;
            for step in 0..extent {
                let reverse = prefixes.is_some_and(|prefixes| prefixes.reverse);
                let k = if reverse { extent - 1 - step } else { step };
                let there = lane.with(axis, k);
                let before = total.clone();
                let mut args = total;
                for (&operand, &param) in operands.iter().zip(&op.params[operands.len()..]) {
                    let dims = &run.program.ty(param).dims;
                    args.push(
                        run.define(dims, |run, place| run.read(operand, &place.with(axis, k)))?,
                    );
                }
                total = run.block(op, &args)?;
                if let Some(Prefixes { full, .. }) = prefixes {
                    let first = if full { init.len() } else { 0 };
                    let each = match full {
                        true => [before, total.clone()].concat(),
                        false => total.clone(),
                    };
                    run.here = there;
                    run.deliver_all(&stmt.results[first..], &mut results[first..], &each)?;
                    run.here = lane.clone();
                }
            }
            match prefixes {
                Some(Prefixes { full: false, .. }) => Ok(()),
                Some(Prefixes { full: true, .. }) => {
                    let whole = 0..init.len();
                    run.deliver_all(&stmt.results[whole.clone()], &mut results[whole], &total)
                }
                None => run.deliver_all(&stmt.results, results, &total),
            }
        })
    }

    fn trip_count(&self, axis: AxisId, place: &Place) -> Result<usize, EvalError> {
        let extent = self.program.decls.axes[axis.0 as usize].extent;
        self.extent(extent, place)?
            .ok_or_else(|| EvalError::bug("a trip count that was not evaluated"))
    }
}
