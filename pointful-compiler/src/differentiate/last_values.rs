//! What a loop that goes back can read of the tables that the loop has left behind.
//!
//! # The idea
//!
//! A loop that fills a table in reads what earlier iterations have put there, and never touches it
//! again: recurrences, substitutions, factorizations, tables of partial solutions. Such a read
//! gives what the final table has at the place. So the second loop reads the final table, and
//! nothing has to be collected. What an iteration puts into the table is read back from there, too.
//!
//! # Why it is sound
//!
//! A *version* of a table is the state, or what updates and inner loops make of a version. The
//! iteration hands one on, its last. Between a version and the end of the loop there are the writes
//! that lead from it to the last one of the same iteration, and all the writes of each later
//! iteration. If none of them [can meet](crate::analysis::dependence) the read, the place has its
//! final content. All other reads stay as they are.
//!
//! # Before and after
//!
//! ```text
//! %1[n], %2[i] = loop %3: i (%4[n] = %0) {              %1[n] = loop %3: i (%4[n] = %0) {
//!   %5 = gather %4 [n := %3 - 1]                          %5 = gather %4 [n := %3 - 1]
//!   %6 = sin %5                                           %6 = sin %5
//!   %7[n] = update %4 [n := %3] %6                        %7[n] = update %4 [n := %3] %6
//!   yield %7; %5                                          yield %7
//! }                                                     }
//! … loop rev %8: i { %9 = gather %2 [i := %8] … }       … loop rev %8: i { %9 = gather %1 [n := %8 - 1] … }
//! ```
//!
//! # What it costs
//!
//! The final table is kept in place of what is read of it. If a loop around this one fills in
//! another table in each of its iterations, so many tables are kept; they must not be larger than
//! what would be collected.

use std::collections::{BTreeMap, BTreeSet};

use super::builder::{Builder, reads};
use super::residuals::free;
use crate::analysis::dataflow::Flow;
use crate::analysis::dependence::{Access, Scope, When};
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Block, Extent, Operation, Program, Stmt, ValueId, ValueSet};

/// How many writes of a table an iteration may have.
const WRITES: usize = 64;

/// How many questions are asked about one loop.
const QUESTIONS: u32 = 4000;

/// The tables that a loop fills in.
pub(super) struct Tables {
    axis: AxisId,
    lanes: Vec<AxisId>,
    body: Block<Bulk>,
    /// The loop's results.
    results: Vec<ValueId>,
    scope: Scope,
    /// The first value made since the loop has begun.
    first: usize,
    /// The states of which values are versions.
    states: BTreeMap<ValueId, usize>,
    /// What an iteration writes, by state; none of states that are not tables, and of those of
    /// which it is not known.
    rounds: BTreeMap<usize, Vec<Access>>,
    /// What an iteration writes after a version.
    rest: BTreeMap<ValueId, Option<Vec<Access>>>,
    writes: Writes,
    questions: u32,
}

impl Tables {
    pub(super) fn new(
        b: &Builder,
        axis: AxisId,
        reverse: bool,
        lanes: &[AxisId],
        body: Block<Bulk>,
        results: &[ValueId],
    ) -> Self {
        let mut scope = Scope::new(body.params[0], reverse);
        scope.bind_values(&body.params, false);
        scope.bind(&body.stmts, false);
        let (writes, mut states, mut rounds) = (
            Writes::new(&b.program, &body),
            BTreeMap::new(),
            BTreeMap::new(),
        );
        for (k, &state) in body.params[1..].iter().enumerate() {
            if b.program.ty(state).dims.len() == lanes.len() {
                continue;
            }
            let mut versions = ValueSet::new();
            let last = body.results[k];
            if let Some(round) = writes.between(&b.program, &body, state, last, &mut versions) {
                for version in &versions {
                    states.entry(version).or_insert(k);
                }
                rounds.insert(k, round);
            }
        }
        Self {
            axis,
            lanes: lanes.to_vec(),
            body,
            results: results.to_vec(),
            scope,
            first: b.program.values.len(),
            states,
            rounds,
            rest: BTreeMap::new(),
            writes,
            questions: QUESTIONS,
        }
    }

    /// Whether the loop fills in any.
    pub(super) fn any(&self) -> bool {
        !self.rounds.is_empty()
    }

    /// Whether a value is made in the loop, of which the body is still being made.
    pub(super) fn has_made(&self, value: ValueId) -> bool {
        self.scope.binds(value) || value.index() >= self.first
    }

    /// Notes what is bound beside the body.
    pub(super) fn bind(&mut self, stmts: &[Stmt<Bulk>]) {
        self.scope.bind(stmts, false);
    }

    /// The state whose final value has at a place what a version has there.
    fn settled(&mut self, b: &Builder, version: ValueId, read: &Access) -> Option<usize> {
        let state = self.state(version)?;
        self.find_rest(b, version, state);
        let rest = self.rest[&version].as_ref()?;
        let now = rest.iter().map(|write| (write, When::SameIteration));
        let later = &self.rounds[&state];
        let later = later.iter().map(|write| (write, When::LaterIteration));
        let dims = &b.program.ty(version).dims;
        for (write, when) in now.chain(later) {
            self.questions = self.questions.checked_sub(1)?;
            if self.scope.may_meet(b, dims, read, write, when) {
                return None;
            }
        }
        Some(state)
    }
}

impl Tables {
    /// The state of which something is a version, in an inner loop or not.
    fn state(&self, mut version: ValueId) -> Option<usize> {
        while let Some(&given) = self.writes.within.get(&version) {
            version = given;
        }
        self.states.get(&version).copied()
    }

    /// Finds out what an iteration writes after a version: if that is one of an inner loop, all
    /// that this writes, and what follows it.
    fn find_rest(&mut self, b: &Builder, version: ValueId, state: usize) {
        if self.rest.contains_key(&version) {
            return;
        }
        let rest = match self.writes.within.get(&version) {
            Some(&given) => {
                self.find_rest(b, given, state);
                let inside = self.writes.inner[&given].iter();
                let after = self.rest[&given].iter();
                let both = inside.zip(after);
                both.map(|(inside, after)| [inside.as_slice(), after].concat())
                    .next()
            }
            None => {
                let (last, seen) = (self.body.results[state], &mut ValueSet::new());
                let (program, body) = (&b.program, &self.body);
                self.writes.between(program, body, version, last, seen)
            }
        };
        self.rest.insert(version, rest);
    }
}

/// What leads from one version of a table to another.
struct Writes {
    /// The statement that gives a value, and which of its results it is.
    made: BTreeMap<ValueId, (usize, usize)>,
    /// What inner loops write to tables that they hand on.
    inner: BTreeMap<ValueId, Option<Vec<Access>>>,
    /// Versions in inner loops, and what those loops give.
    within: BTreeMap<ValueId, ValueId>,
}

impl Writes {
    fn new(program: &Program<Bulk>, block: &Block<Bulk>) -> Self {
        let (mut made, mut inner, mut within) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for (k, stmt) in block.stmts.iter().enumerate() {
            for (r, &result) in stmt.results.iter().enumerate() {
                made.insert(result, (k, r));
            }
            let (body, indices) = match &stmt.op {
                BulkOp::Loop { body, .. } => (body, 1),
                BulkOp::While { body, .. } => (body, 0),
                _ => continue,
            };
            let writes = Self::new(program, body);
            let states = body.params[indices..].iter().zip(&body.results);
            for ((&state, &last), &result) in states.zip(&stmt.results) {
                let mut versions = ValueSet::new();
                let found = writes.between(program, body, state, last, &mut versions);
                if found.is_some() {
                    within.extend(versions.iter().map(|version| (version, result)));
                }
                inner.insert(result, found);
            }
            inner.extend(writes.inner);
            within.extend(writes.within);
        }
        Self {
            made,
            inner,
            within,
        }
    }

    /// The writes between a version and another one that is made of it alone, and the versions
    /// between.
    fn between(
        &self,
        program: &Program<Bulk>,
        block: &Block<Bulk>,
        from: ValueId,
        to: ValueId,
        seen: &mut ValueSet,
    ) -> Option<Vec<Access>> {
        let axes = |value: ValueId| -> BTreeSet<AxisId> {
            program.ty(value).dims.iter().copied().collect()
        };
        let dims = axes(from);
        let guard = (self.made.get(&from)).and_then(|&(k, _)| block.stmts[k].guard);
        let (mut open, mut found) = (vec![to], Vec::new());
        while let Some(value) = open.pop() {
            if !seen.insert(value) || value == from {
                continue;
            }
            let &(k, r) = self.made.get(&value)?;
            if axes(value) != dims || found.len() > WRITES {
                return None;
            }
            let stmt = &block.stmts[k];
            match &stmt.op {
                BulkOp::Update {
                    table, at, mask, ..
                }
                | BulkOp::Scatter {
                    base: table,
                    at,
                    mask,
                    ..
                } => {
                    found.push(Access {
                        at: at.clone(),
                        holds: stmt.guard.into_iter().chain(*mask).collect(),
                    });
                    open.push(*table);
                }
                // Where its condition does not hold there is no version to begin with.
                BulkOp::Select(cond, then, _) if guard == Some(*cond) => open.push(*then),
                BulkOp::Select(_, then, otherwise) => open.extend([*then, *otherwise]),
                BulkOp::Loop { init, .. } | BulkOp::While { init, .. } if r < init.len() => {
                    for mut write in self.inner.get(&value)?.clone()? {
                        write.holds.extend(stmt.guard);
                        found.push(write);
                    }
                    open.push(init[r]);
                }
                BulkOp::Const(_)
                | BulkOp::Size(_)
                | BulkOp::Iota(_)
                | BulkOp::Map(..)
                | BulkOp::Gather { .. }
                | BulkOp::Pack { .. }
                | BulkOp::Reduce { .. }
                | BulkOp::Scan { .. }
                | BulkOp::Assert { .. }
                | BulkOp::Loop { .. }
                | BulkOp::While { .. }
                | BulkOp::Derive { .. }
                | BulkOp::Rule { .. } => return None,
            }
        }
        seen.insert(from);
        Some(found)
    }
}

/// Makes the statements of a second loop read the final tables of the first.
pub(super) struct Finals<'a> {
    pub(super) b: &'a mut Builder,
    pub(super) tables: Tables,
    /// The loops around, from the outside in.
    pub(super) around: &'a mut [Tables],
    /// What stands for the final states until there are any.
    pub(super) standing: &'a [ValueId],
    /// What is true wherever the loop runs.
    pub(super) holds: Vec<ValueId>,
    /// Whether inner loops are to read final tables in place of those that they hand on.
    pub(super) inside: bool,
}

impl Finals<'_> {
    /// The body as the second loop, which needs these values, runs parts of it again: it reads final
    /// tables where it can, and what it computes from the index alone comes first.
    pub(super) fn body(&mut self, mut body: Block<Bulk>, needed: &ValueSet) -> Block<Bulk> {
        self.stmts(&mut body.stmts);
        let stmts = std::mem::take(&mut body.stmts);
        for stmt in stmts {
            match self.without_tables(&stmt, needed) {
                Some(parts) => body.stmts.extend(parts),
                None => body.stmts.push(stmt),
            }
        }
        let free = free(&*self.b, &body, &ValueSet::new());
        let mut order: Vec<usize> = (0..free.len()).collect();
        order.sort_by_key(|&k| !free[k]);
        let mut first = ValueSet::from([body.params[0]]);
        let mut computed = BTreeMap::new();
        let stmts: Vec<Stmt<Bulk>> = order.iter().map(|&k| body.stmts[k].clone()).collect();
        for (k, (stmt, &old)) in stmts.iter().zip(&order).enumerate() {
            if free[old] {
                first.extend(&stmt.results);
            } else if let &[result] = stmt.results.as_slice() {
                computed.insert(result, k);
            }
        }
        body.stmts = stmts;
        for k in 0..body.stmts.len() {
            if let Some((value, op)) = self.put(&body.stmts[k], &first)
                && let Some(&of) = computed.get(&value)
                && conditions(&body.stmts[k])
                    .iter()
                    .all(|&condition| body.stmts[of].guard == Some(condition))
            {
                body.stmts[of].op = op;
            }
        }
        body
    }

    /// Loop distribution: an inner loop that is run again in any case, as what it collects is not as
    /// long in each iteration, as two: what hands tables on, and what collects, of final tables.
    ///
    /// ```text
    /// %1[n], %2[m] = loop %3: m (%4[n] = %0) {     %1[n] = loop %3: m (%4[n] = %0) { … yield %6 }
    ///   %5 = gather %4 [n := …]                    %2[m] = loop %7: m () {
    ///   %6[n] = update %4 [n := …] …           ▶     %8 = gather %t [n := …]
    ///   yield %6; %5                                 yield; %8
    /// }                                            }
    /// ```
    fn without_tables(&mut self, stmt: &Stmt<Bulk>, needed: &ValueSet) -> Option<[Stmt<Bulk>; 2]> {
        let BulkOp::Loop { init, .. } = &stmt.op else {
            return None;
        };
        let count = init.len();
        let (states, collected) = stmt.results.split_at(count);
        let program = &self.b.program;
        let ragged = |&value: &ValueId| {
            let extents = Bulk::type_extents(program, value);
            extents
                .iter()
                .any(|&extent| self.tables.scope.binds(extent))
        };
        if !collected
            .iter()
            .any(|value| needed.contains(value) && ragged(value))
        {
            return None;
        }
        let mut last = [stmt.clone()];
        self.inside = true;
        self.stmts(&mut last);
        self.inside = false;
        let [mut last] = last;
        let BulkOp::Loop { init, body, .. } = &mut last.op else {
            return None;
        };
        let live = live(&self.b.program, body, count);
        let is_dead = |k: usize| !live.contains(&body.params[k + 1]);
        let dead: Vec<usize> = (0..count).filter(|&k| is_dead(k)).collect();
        if dead.is_empty() || dead.iter().any(|&k| needed.contains(&states[k])) {
            return None;
        }
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::DISTRIBUTED_AGAIN);
        let mut first = stmt.clone();
        first.results.truncate(count);
        if let BulkOp::Loop { body, .. } = &mut first.op {
            body.results.truncate(count);
        }
        for &k in dead.iter().rev() {
            init.remove(k);
            body.params.remove(k + 1);
            body.results.remove(k);
        }
        // What is still handed on is a result of the first.
        last.results.drain(..count);
        for k in 0..init.len() {
            let state = body.params[k + 1];
            let ty = self.b.program.ty(state).clone();
            last.results.insert(k, self.b.param(ty.elem, ty.dims));
        }
        body.stmts
            .retain(|stmt| stmt.results.iter().any(|value| live.contains(value)));
        Some([first, last])
    }

    /// What a statement puts into a table for good, and how to read it there.
    fn put(&mut self, stmt: &Stmt<Bulk>, first: &ValueSet) -> Option<(ValueId, BulkOp)> {
        let BulkOp::Update { at, value, .. } = &stmt.op else {
            return None;
        };
        let known = |&(_, index): &(AxisId, ValueId)| {
            first.contains(&index) || !self.tables.scope.binds(index)
        };
        let result = stmt.results[0];
        let axes = |value: ValueId| -> BTreeSet<AxisId> {
            self.b.program.ty(value).dims.iter().copied().collect()
        };
        let mut dims = axes(result);
        for (axis, _) in at {
            dims.remove(axis);
        }
        for &(_, index) in at {
            dims.extend(axes(index));
        }
        if !at.iter().all(known) || axes(*value) != dims {
            return None;
        }
        let access = Access {
            at: at.clone(),
            holds: [self.holds.as_slice(), &conditions(stmt)].concat(),
        };
        let table = self.fits(result, &access, *value, &[])?;
        Some((
            *value,
            BulkOp::Gather {
                table,
                at: at.clone(),
            },
        ))
    }

    /// Statements, and those in their blocks.
    pub(super) fn stmts(&mut self, stmts: &mut [Stmt<Bulk>]) {
        self.walk(stmts, &mut self.holds.clone(), &mut Vec::new());
    }

    fn walk(
        &mut self,
        stmts: &mut [Stmt<Bulk>],
        holds: &mut Vec<ValueId>,
        extents: &mut Vec<Extent>,
    ) {
        for stmt in stmts {
            let outside = holds.len();
            holds.extend(stmt.guard);
            if let BulkOp::Gather { table, at } = &mut stmt.op {
                let access = Access {
                    at: at.clone(),
                    holds: holds.clone(),
                };
                if let Some(last) = self.fits(*table, &access, stmt.results[0], extents) {
                    *table = last;
                }
            }
            let depth = extents.len();
            if let BulkOp::Loop { axis, .. } = &stmt.op {
                extents.push(self.b.extent(*axis));
            }
            for inner in stmt.op.blocks_mut() {
                self.walk(&mut inner.stmts, holds, extents);
            }
            extents.truncate(depth);
            holds.truncate(outside);
        }
    }

    /// What stands for the final table in which a version can be read, if that takes no more memory
    /// than to collect what is read, in a block inside of loops of these extents.
    fn fits(
        &mut self,
        version: ValueId,
        read: &Access,
        value: ValueId,
        extents: &[Extent],
    ) -> Option<ValueId> {
        if !self.inside && self.tables.writes.within.contains_key(&version) {
            return None;
        }
        let b = &*self.b;
        let state = self.tables.settled(b, version, read)?;
        let last = self.standing[state];
        let own = |value: ValueId| -> Vec<Extent> {
            let dims = b.program.ty(value).dims.iter();
            let own = dims.filter(|axis| !self.tables.lanes.contains(axis));
            own.map(|&axis| b.extent(axis)).collect()
        };
        let (table, mut collected) = (own(version), own(value));
        collected.extend(extents);
        collected.push(b.extent(self.tables.axis));
        let mut result = self.tables.results[state];
        for outer in self.around.iter_mut().rev() {
            if let Some(state) = outer.settled(b, result, read) {
                result = outer.results[state];
                collected.push(b.extent(outer.axis));
                continue;
            }
            // What has another shape each time cannot be collected, so that all would be computed again, from the whole table.
            let ragged =
                |extent: &Extent| matches!(extent, Extent::Value(v) if outer.scope.binds(*v));
            if collected.iter().any(ragged) {
                break;
            }
            for extent in &table {
                let found = collected.iter().position(|other| other == extent)?;
                collected.swap_remove(found);
            }
            break;
        }
        Some(last)
    }
}

/// What a loop computes for what it collects, and the states that it needs for that.
fn live(program: &Program<Bulk>, body: &Block<Bulk>, count: usize) -> ValueSet {
    let mut live: ValueSet = body.results[count..].iter().copied().collect();
    loop {
        let before = live.len();
        for stmt in body.stmts.iter().rev() {
            if stmt.results.iter().any(|value| live.contains(value)) {
                live.extend(&stmt.results);
                live.extend(&reads(program, stmt));
            }
        }
        let states = body.params[1..].iter().zip(&body.results);
        let next = states.filter_map(|(state, &next)| live.contains(state).then_some(next));
        live.extend(&next.collect::<Vec<_>>());
        if live.len() == before {
            return live;
        }
    }
}

/// What is true where a statement writes.
fn conditions(stmt: &Stmt<Bulk>) -> Vec<ValueId> {
    let mask = match &stmt.op {
        BulkOp::Update { mask, .. } => *mask,
        _ => None,
    };
    stmt.guard.into_iter().chain(mask).collect()
}
