//! The derivatives of sequential loops.
//!
//! Forward, a loop carries its states and their tangents together. For the way back there are two
//! loops in the same direction: the first is the loop itself, which also collects what the second
//! needs to know; the second carries tangents only and is linear in them, and is what
//! [`transpose`](super::transpose) turns round.
//!
//! A `while` counts its iterations, so that there is a loop of known length to go back through.

use std::collections::BTreeSet;

use super::activity::propagate;
use super::associative_scans::independent;
use super::builder::{Builder, reads};
use super::cloning::Copier;
use super::last_values::{Finals, Tables};
use super::linearize::Dual;
use super::reductions::Along;
use super::residuals::{Keep, Residuals, is_table, kept_by_lanes, loops_over_rows};
use super::tapes::{Counted, Tapes};
use crate::canonicalize::cse::cse_of_floats;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Block, Elem, Extent, Mode, Stmt, ValueId, ValueSet};
use crate::ops::Prim;

impl Dual<'_> {
    /// The states of a loop that have tangents, once it is known which initial states have.
    fn active_states(
        &self,
        init: &[ValueId],
        states: &[ValueId],
        body: &Block<Bulk>,
    ) -> Vec<usize> {
        let known = self.active();
        let mut active: BTreeSet<usize> = (0..init.len())
            .filter(|&k| self.tangent(init[k]).is_some())
            .collect();
        loop {
            let mut inside = known.clone();
            inside.extend(active.iter().map(|&k| states[k]));
            propagate(&self.b.program, &body.stmts, &mut inside);
            let count = active.len();
            active.extend((0..init.len()).filter(|&k| {
                self.b.program.elem(states[k]).is_float() && inside.contains(&body.results[k])
            }));
            if active.len() == count {
                return active.into_iter().collect();
            }
        }
    }

    /// Whether a body reads anything that has a tangent.
    fn reads_active(&self, body: &Block<Bulk>) -> bool {
        body.free()
            .iter()
            .any(|&value| self.tangent(value).is_some())
    }

    /// `loop`.
    pub(super) fn sequential(&mut self, mut stmt: Stmt<Bulk>) {
        let BulkOp::Loop {
            init,
            body,
            checkpoint,
            ..
        } = &mut stmt.op
        else {
            return;
        };
        let active = self.active_states(init, &body.params[1..], body);
        if active.is_empty() && !self.reads_active(body) {
            return self.b.push(stmt);
        }
        match (self.mode, checkpoint.take()) {
            (Mode::Tangent, _) => self.together(stmt, &active),
            (Mode::Cotangent, Some(checkpoint)) => self.strips(stmt, checkpoint),
            (Mode::Cotangent, None) => self.apart(stmt, &active),
        }
    }

    /// A loop that carries states and tangents.
    fn together(&mut self, stmt: Stmt<Bulk>, active: &[usize]) {
        let BulkOp::Loop {
            axis,
            reverse,
            lanes,
            mut init,
            body,
            ..
        } = stmt.op
        else {
            return;
        };
        let (guard, count) = (self.b.guard.take(), init.len());
        for &k in active {
            let tangent = self.tangent_or_zero(init[k]);
            init.push(tangent);
        }
        let mut params = body.params.clone();
        params.extend(
            active
                .iter()
                .map(|&k| self.tangent_param(body.params[k + 1])),
        );
        self.b.enter();
        self.block(body.stmts);
        let results: Vec<ValueId> = body.results.iter().map(|&r| self.names.get(r)).collect();
        let (next, collected) = results.split_at(count);
        let mut yields = next.to_vec();
        for &k in active {
            let tangent = self.tangent_or_zero(next[k]);
            yields.push(tangent);
        }
        yields.extend(collected);
        let tangents: Vec<Option<ValueId>> = collected.iter().map(|&c| self.tangent(c)).collect();
        yields.extend(tangents.iter().flatten());
        let stmts = self.b.leave().primal;
        self.b.guard = guard;
        let op = BulkOp::Loop {
            axis,
            reverse,
            checkpoint: None,
            lanes,
            init,
            body: Box::new(Block {
                params,
                stmts,
                results: yields,
            }),
        };
        let given = self.b.emit_all(op);
        let (next, rest) = given.split_at(count);
        let (next_tangents, rest) = rest.split_at(active.len());
        let (values, value_tangents) = rest.split_at(collected.len());
        self.rename(&stmt.results, &[next, values].concat());
        for (&k, &tangent) in active.iter().zip(next_tangents) {
            self.set(stmt.results[k], Some(tangent));
        }
        let mut value_tangents = value_tangents.iter();
        for (&result, tangent) in stmt.results[count..].iter().zip(&tangents) {
            if tangent.is_some() {
                self.set(result, value_tangents.next().copied());
            }
        }
        self.same_names(&stmt.results, &[next, values].concat());
    }

    /// The names that the source has for values go to those that stand for them, and tangents too.
    pub(super) fn same_names(&mut self, old: &[ValueId], new: &[ValueId]) {
        for (&old, &new) in old.iter().zip(new) {
            let tangent = self.tangent(old);
            self.set(new, tangent);
            let name = self.b.program.values[old.index()].name.clone();
            self.b.program.values[new.index()].name = name;
        }
    }

    /// The long tables that a loop around makes in each iteration, and of which a loop reads a number
    /// here and there as long as the data say: but for those that stand for final tables.
    fn made_around(
        &self,
        (axis, lanes): (AxisId, &[AxisId]),
        body: &Block<Bulk>,
        standing: &[ValueId],
    ) -> ValueSet {
        let mut tables = ValueSet::new();
        let Some(outermost) = self.around.first() else {
            return tables;
        };
        if !matches!(self.b.extent(axis), Extent::Value(length) if outermost.has_made(length)) {
            return tables;
        }
        for stmt in &body.stmts {
            if let BulkOp::Gather { table, .. } = stmt.op
                && outermost.has_made(table)
                && !standing.contains(&table)
                && is_table(self.b, table, lanes)
                && (self.b.dims(stmt.results[0]).iter()).all(|axis| lanes.contains(axis))
            {
                #[cfg(test)]
                crate::testing::entered::enter(&crate::testing::entered::READ_AROUND);
                tables.insert(table);
            }
        }
        tables
    }

    /// A loop, and a linear loop after it.
    fn apart(&mut self, stmt: Stmt<Bulk>, active: &[usize]) {
        let BulkOp::Loop {
            axis,
            reverse,
            lanes,
            init,
            body,
            ..
        } = stmt.op
        else {
            return;
        };
        let (guard, outer, count) = (self.b.guard.take(), self.b.linear, init.len());
        let index = body.params[0];
        let tangents: Vec<ValueId> = active
            .iter()
            .map(|&k| self.tangent_param(body.params[k + 1]))
            .collect();
        self.b.linear = false;
        self.b.enter();
        let tables = Tables::new(
            self.b,
            axis,
            reverse,
            &lanes,
            (*body).clone(),
            &stmt.results,
        );
        self.around.push(tables);
        self.holds.extend(guard);
        let rows = loops_over_rows(self.b, &body);
        #[cfg(test)]
        (rows.iter()).for_each(|_| crate::testing::entered::enter(&crate::testing::entered::ROWS));
        self.frugal.extend(rows);
        self.block(body.stmts);
        self.around.pop();
        let results: Vec<ValueId> = body.results.iter().map(|&r| self.names.get(r)).collect();
        let (next, collected) = results.split_at(count);
        let mut yields: Vec<ValueId> = Vec::new();
        for &k in active {
            let tangent = self.tangent_or_zero(next[k]);
            yields.push(tangent);
        }
        let collected: Vec<Option<ValueId>> = collected.iter().map(|&c| self.tangent(c)).collect();
        yields.extend(collected.iter().flatten());
        self.settle_names();
        let mut part = self.b.leave();
        self.b.linear = outer;
        // What only decides something, as numbers that are compared, leads nowhere.
        if yields.is_empty() {
            part.linear.clear();
        }

        // The second loop reads what the first one keeps, and that once: the slope of a cosine may be
        // a sine that the loop has anyway.
        let mut forward = Block {
            params: body.params.clone(),
            stmts: part.primal,
            results,
        };
        let mut second = Block {
            params: Vec::new(),
            stmts: part.linear,
            results: yields,
        };
        cse_of_floats(&self.b.program, &mut forward, &mut second);
        let (results, yields) = (forward.results.clone(), second.results);
        part.linear = second.stmts;
        let frugal = self.frugal.contains(&index);
        let standing: Vec<ValueId> = body.params[1..]
            .iter()
            .map(|&state| {
                let ty = self.b.program.ty(state).clone();
                self.b.param(ty.elem, ty.dims)
            })
            .collect();
        let prefixes = self.prefixes.remove(&index);
        // What the prefixes of a scan are multiplied by one after the other is left to the loop, and nothing else.
        let (ahead, mut linear) = match prefixes {
            Some(_) => independent(self.b, part.linear, &tangents),
            None => (Vec::new(), part.linear),
        };
        let mut rerun = forward.clone();
        let mut tables = Tables::new(
            self.b,
            axis,
            reverse,
            &lanes,
            forward.clone(),
            &stmt.results,
        );
        if prefixes.is_none() && tables.any() {
            tables.bind(&linear);
            let mut finals = Finals {
                b: self.b,
                tables,
                around: &mut self.around,
                standing: &standing,
                holds: self.holds.clone(),
                inside: false,
            };
            finals.stmts(&mut linear);
            let needed = linear
                .iter()
                .flat_map(|stmt| reads(&finals.b.program, stmt));
            let needed: ValueSet = needed.chain(yields.iter().copied()).collect();
            rerun = finals.body(rerun, &needed);
        }
        let keep = match (frugal, prefixes.is_none()) {
            (true, _) => Keep::States,
            (false, false) => Keep::Values,
            (false, true) => Keep::Tapes,
        };
        if guard.is_some() {
            self.holds.pop();
        }
        let made = self.made_around((axis, &lanes), &rerun, &standing);
        let residuals = Residuals::new(self.b, &rerun, &linear, &yields, &lanes, &made, keep);
        self.b.guard = guard;
        let mut tapes = Tapes::count(
            self.b,
            &residuals.taped,
            (axis, reverse),
            &lanes,
            &init,
            &forward,
        );
        self.b.guard = None;
        let mut first = Block { results, ..forward };
        let kept = kept_by_lanes(self.b, &mut first.stmts, &residuals.stored);
        first.results.extend(kept);
        let mut starts = init.clone();
        tapes.write(self.b, &mut first, &mut starts);
        tapes.without_counting(self.b, &mut first, &self.counted, |value| {
            self.names.get(value)
        });
        self.b.guard = guard;
        let along = Along {
            axis,
            reverse,
            full: true,
        };
        let mut spread = None;
        let mut given = match prefixes {
            Some(prefixes) => {
                let (given, arrays) = self.by_prefixes(prefixes, along, &lanes, starts, &first);
                spread = Some(arrays);
                given
            }
            None => self.b.emit_all(BulkOp::Loop {
                axis,
                reverse,
                checkpoint: None,
                lanes: lanes.clone(),
                init: starts,
                body: Box::new(first),
            }),
        };
        tapes.take(&mut given, count);
        let (own, arrays) = given.split_at(stmt.results.len());
        for &array in arrays {
            self.b.in_lanes(array, &lanes, axis);
        }
        self.rename(&stmt.results, own);
        self.same_names(&stmt.results, own);
        if yields.is_empty() {
            return;
        }

        if let Some(spread) = &mut spread {
            let states = tangents.iter().zip(active).map(|(&t, &k)| (t, init[k]));
            let states: Vec<_> = states.collect();
            let next = &yields[..active.len()];
            let given = self.by_factors(along, spread, &ahead, &linear, &states, next);
            if let Some(given) = given {
                for (&k, [whole, before, with]) in active.iter().zip(given) {
                    let all = match collected.len() / count {
                        0 => vec![whole],
                        1 => vec![whole, with],
                        _ => vec![whole, before, with],
                    };
                    for (group, tangent) in all.into_iter().enumerate() {
                        self.set(own[group * count + k], Some(tangent));
                        self.set(stmt.results[group * count + k], Some(tangent));
                    }
                }
                return;
            }
        }

        let b = &mut *self.b;
        b.guard = None;
        let extent = b.extent(axis);
        let again = b.param(Elem::Index(extent), Vec::new());
        b.linear = false;
        b.enter();
        // What is kept of a loop that is not as long in all lanes has those lanes, also what is the same in them.
        let mut copier = Copier::default();
        if let Extent::Value(length) = extent {
            copier.lanes = b.dims(length);
        }
        for (&standing, &last) in standing.iter().zip(own) {
            copier.rename(b, standing, last);
        }
        let mut copier = residuals.read(b, copier, &rerun, (again, axis), arrays, &tapes);
        for &value in ahead.iter().flat_map(|stmt| &stmt.results) {
            if let Some(spread) = &spread {
                let now = b.gather(spread.get(value), &[(axis, again)]);
                copier.rename(b, value, now);
            }
        }
        for linear in &linear {
            let mut copy = copier.stmt(b, linear);
            tapes.read_there(b, &copier, &mut copy, again);
            b.push(copy);
        }
        let stmts = b.leave().primal;
        b.linear = outer;
        b.guard = guard;
        let yields = yields.iter().map(|&value| copier.get(value)).collect();
        self.linearly(|dual| {
            let starts: Vec<ValueId> = active
                .iter()
                .map(|&k| dual.tangent_or_zero(init[k]))
                .collect();
            let given = dual.b.emit_all(BulkOp::Loop {
                axis,
                reverse,
                checkpoint: None,
                lanes,
                init: starts,
                body: Box::new(Block {
                    params: [&[again], tangents.as_slice()].concat(),
                    stmts,
                    results: yields,
                }),
            });
            let mut given = given.into_iter();
            for &k in active {
                let tangent = given.next();
                dual.set(own[k], tangent);
                dual.set(stmt.results[k], tangent);
            }
            for (k, tangent) in collected.iter().enumerate() {
                if tangent.is_some() {
                    let tangent = given.next();
                    dual.set(own[count + k], tangent);
                    dual.set(stmt.results[count + k], tangent);
                }
            }
        });
    }

    /// `while`.
    pub(super) fn while_loop(&mut self, mut stmt: Stmt<Bulk>) {
        let BulkOp::While {
            lanes, init, body, ..
        } = &mut stmt.op
        else {
            return;
        };
        let active = self.active_states(init, &body.params, body);
        if active.is_empty() && !self.reads_active(body) {
            return self.b.push(stmt);
        }
        let count = init.len();
        if self.mode == Mode::Tangent {
            return self.while_together(stmt, &active);
        }
        // Count the iterations.
        let (init, lanes) = (init.clone(), lanes.clone());
        let again = body.clone();
        let counter = |b: &mut Builder| b.param(Elem::USIZE, lanes.clone());
        let [asked, before, trips] = [(); 3].map(|()| counter(self.b));
        let outer = self.b.guard.take();
        let zero = self.b.usize(0);
        self.b.enter();
        let one = self.b.usize(1);
        let after = self.b.map(Prim::Add, &[before, one]);
        let counting = self.b.leave().primal;
        self.b.guard = outer;
        let BulkOp::While {
            init: starts,
            cond,
            body,
            ..
        } = &mut stmt.op
        else {
            return;
        };
        starts.push(zero);
        cond.params.push(asked);
        body.params.push(before);
        body.stmts.extend(counting);
        body.results.push(after);
        debug_assert_eq!(cond.params.len(), count + 1);
        let results = stmt.results.clone();
        stmt.results.push(trips);
        self.b.push(stmt);

        // Run so many iterations again, keeping what is needed of them.
        let extent = Extent::Value(trips);
        let axis = self.b.axis("trip", extent);
        let index = self.b.param(Elem::Index(extent), Vec::new());
        let mut copier = Copier::default();
        let mut body = copier.block(self.b, &again);
        self.demand.copied(&copier);
        body.params.insert(0, index);
        let finals: Vec<ValueId> = results
            .iter()
            .map(|&result| {
                let ty = self.b.program.ty(result).clone();
                self.b.param(ty.elem, ty.dims)
            })
            .collect();
        let rerun = Stmt {
            results: finals.clone(),
            op: BulkOp::Loop {
                axis,
                reverse: false,
                checkpoint: None,
                lanes,
                init,
                body: Box::new(body),
            },
            guard: outer,
            span: self.b.span,
        };
        self.stmt(rerun);
        self.counted.push(Counted {
            trips,
            results: results.clone(),
            again: finals.clone(),
        });
        for (&result, &last) in results.iter().zip(&finals) {
            let tangent = self.tangent(last);
            self.set(result, tangent);
        }
    }

    /// A `while` that carries states and tangents.
    fn while_together(&mut self, mut stmt: Stmt<Bulk>, active: &[usize]) {
        let BulkOp::While {
            init, cond, body, ..
        } = &mut stmt.op
        else {
            return;
        };
        let guard = self.b.guard.take();
        for &k in active {
            let tangent = self.tangent_or_zero(init[k]);
            init.push(tangent);
            let ty = self.b.program.ty(cond.params[k]).clone();
            cond.params.push(self.b.param(ty.elem, ty.dims));
        }
        let tangents: Vec<ValueId> = active
            .iter()
            .map(|&k| self.tangent_param(body.params[k]))
            .collect();
        self.b.enter();
        self.block(std::mem::take(&mut body.stmts));
        let mut results: Vec<ValueId> = body.results.iter().map(|&r| self.names.get(r)).collect();
        for &k in active {
            let tangent = self.tangent_or_zero(results[k]);
            results.push(tangent);
        }
        body.stmts = self.b.leave().primal;
        body.results = results;
        body.params.extend(tangents);
        self.b.guard = guard;
        for &k in active {
            let ty = self.b.program.ty(stmt.results[k]).clone();
            let tangent = self.b.param(ty.elem, ty.dims);
            self.set(stmt.results[k], Some(tangent));
            stmt.results.push(tangent);
        }
        self.b.push(stmt);
    }
}

impl Builder {
    /// Lays a collected array out by lane first: what one lane collects lies together.
    pub(super) fn in_lanes(&mut self, array: ValueId, lanes: &[AxisId], axis: AxisId) {
        let dims = &mut self.program.values[array.index()].ty.dims;
        dims.sort_by_key(|dim| (!lanes.contains(dim), *dim != axis));
    }
}
