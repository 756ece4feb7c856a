//! Tapes: what inner loops of no fixed length keep for the way back.
//!
//! # The idea
//!
//! A loop that restores a heap, or takes from a stack while something holds, runs an inner loop as
//! long as the data say. What that keeps is not as long in each iteration of the outer loop, so it
//! cannot be collected, and to run it again from the outer loop's states a whole table would be kept of
//! each iteration. So it is flattened: all iterations write to one array, one behind the other, and each
//! knows where its row begins, as in a matrix of compressed rows. How much room that takes, a loop finds
//! out that runs before and counts.
//!
//! An inner loop that only reads a table, here and there, which a loop around changes, keeps what it
//! reads, and so goes on a tape, too.
//!
//! # Before and after
//!
//! ```text
//! %1[n] = loop i (%2[n] = %0) {                  %3, %4[i], %5[i] = loop i (%6[n] = %0, %7 = 0) {
//!   %8 = …                                         %8 = …; %9 = add %7, %8; yield …, %9; %7, %8
//!   %10[n], %11[t] = loop t: %8 (…) { … }        }
//!   yield %10                                    %1[n], %12[k: %3] = loop i (%2[n] = %0, %13[k] = 0) {
//! }                                          ▶     %14 = gather %4 [i]; %8 = gather %5 [i]
//! … for the way back, %11 of each i is             %10[n], %15[k] = loop t: %8 (…, %16[k] = %13) { … update %16 [k := %14 + t] … }
//! computed again from %2, which is kept            yield %10, %15
//!                                                }
//!                                                … for the way back, %11 of each i is gather %12 [k := %14 + t]
//! ```
//!
//! # What it costs
//!
//! The loop runs once more, and a few numbers are written and read for each trip of the inner loop. Lanes have tapes of
//! their own. A short table is kept of each iteration instead, and where a trip would keep a table the inner loop runs
//! again. Trips may still be many more than a table of unknown length is long: then a tape takes more.

use super::binding_times::in_full;
use super::builder::{Builder, reads};
use super::cloning::Copier;
use super::residuals::{Ragged, as_member};
use crate::canonicalize::substitution::Subst;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Block, Elem, Extent, Operation, Scalar, Stmt, Type, ValueId};
use crate::ops::Prim;

/// The tapes of a loop.
#[derive(Default)]
pub(super) struct Tapes {
    axis: Option<AxisId>,
    lanes: Vec<AxisId>,
    rows: Vec<Rows>,
    taped: Vec<Ragged>,
    /// What is on them after the loop.
    arrays: Vec<ValueId>,
}

/// The rows of tapes on which each iteration takes the same room.
struct Rows {
    /// How much, in the loop's body.
    length: ValueId,
    /// The axis of all of them together.
    axis: AxisId,
    /// Where that of each iteration begins, and how long it is, along the loop's axis.
    begins: ValueId,
    lengths: ValueId,
}

/// A `while`, and the loop as long as it has counted that does the same again.
pub(super) struct Counted {
    pub(super) trips: ValueId,
    pub(super) results: Vec<ValueId>,
    /// The results of the loop.
    pub(super) again: Vec<ValueId>,
}

impl Tapes {
    /// Runs a loop to count what its iterations take.
    pub(super) fn count(
        b: &mut Builder,
        taped: &[Ragged],
        (axis, reverse): (AxisId, bool),
        lanes: &[AxisId],
        init: &[ValueId],
        body: &Block<Bulk>,
    ) -> Self {
        if taped.is_empty() {
            return Self::default();
        }
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::TAPED);
        let guard = b.guard.take();
        let mut lengths: Vec<ValueId> = taped.iter().map(|ragged| ragged.length).collect();
        lengths.sort_unstable();
        lengths.dedup();
        let mut copier = Copier::default();
        let mut counting = copier.block(b, body);
        counting.results.truncate(init.len());
        let zero = b.usize(0);
        let mut collected = Vec::new();
        b.enter();
        for &length in &lengths {
            let made = (body.stmts.iter()).find(|stmt| stmt.results.contains(&length));
            let own = made.and_then(|stmt| stmt.guard);
            let now = b.masked(own.map(|own| copier.get(own)), copier.get(length));
            let begin = b.param(Elem::USIZE, lanes.to_vec());
            let end = b.map(Prim::Add, &[begin, now]);
            counting.params.push(begin);
            counting.results.push(end);
            collected.extend([begin, now]);
        }
        counting.stmts.extend(b.leave().primal);
        counting.results.extend(collected);
        b.guard = guard;
        let zeros = lengths.iter().map(|_| zero);
        let init: Vec<ValueId> = init.iter().copied().chain(zeros).collect();
        let states = init.len();
        let outs = b.emit_all(BulkOp::Loop {
            axis,
            reverse,
            checkpoint: None,
            lanes: lanes.to_vec(),
            init,
            body: Box::new(counting),
        });
        let (totals, collected) = outs.split_at(states);
        let totals = &totals[states - lengths.len()..];
        let mut rows = Vec::new();
        for ((&length, &total), pair) in lengths.iter().zip(totals).zip(collected.chunks(2)) {
            let total = b.masked(guard, total);
            rows.push(Rows {
                length,
                axis: b.axis("tape", Extent::Value(total)),
                begins: pair[0],
                lengths: pair[1],
            });
        }
        Self {
            axis: Some(axis),
            lanes: lanes.to_vec(),
            rows,
            taped: taped.to_vec(),
            arrays: Vec::new(),
        }
    }

    fn rows(&self, of: &Ragged) -> &Rows {
        let mut rows = self.rows.iter();
        rows.find(|rows| rows.length == of.length)
            .expect("one for each length")
    }

    /// The type of a tape.
    fn ty(&self, b: &Builder, of: &Ragged) -> Type<AxisId> {
        let elem = match b.program.elem(of.value) {
            Elem::Index(_) => Elem::USIZE,
            elem => elem,
        };
        let mut dims = b.dims(of.value);
        dims.retain(|axis| *axis != of.axis && !self.lanes.contains(axis));
        let tape = [self.rows(of).axis];
        Type::table(elem, [&self.lanes, &tape[..], &dims].concat())
    }

    /// Makes the loop write to its tapes, which are states of it after its own.
    pub(super) fn write(&self, b: &mut Builder, body: &mut Block<Bulk>, init: &mut Vec<ValueId>) {
        let (Some(axis), index) = (self.axis, body.params[0]) else {
            return;
        };
        for of in &self.taped {
            let empty = b.number(of.value, 0.0);
            let ty = self.ty(b, of);
            let state = b.param(ty.elem, ty.dims);
            let mut stmts = body.stmts.iter();
            let made = stmts.position(|stmt| stmt.results.contains(&of.value));
            let made = made.expect("a statement of the body makes it");
            b.enter();
            let begin = b.gather(self.rows(of).begins, &[(axis, index)]);
            let before = b.leave().primal;
            b.enter();
            let stmt = &mut body.stmts[made];
            let guard = stmt.guard;
            let own = guard.map_or_else(Vec::new, |guard| b.dims(guard));
            let is_of_lanes = own.iter().all(|axis| self.lanes.contains(axis));
            let after = match (self.collect(b, of, stmt, [state, begin]), guard) {
                (Some(after), Some(guard)) => b.select(guard, after, state),
                (Some(after), None) => after,
                (None, Some(guard)) if is_of_lanes => {
                    let after = b.behind(Some(guard), |b| {
                        self.copy(b, (of, of.value), [state, begin])
                    });
                    b.select(guard, after, state)
                }
                (None, guard) => {
                    #[cfg(test)]
                    if guard.is_some() {
                        crate::testing::entered::enter(&crate::testing::entered::TAPED_WHOLE);
                    }
                    let value = specified(b, of.value, guard);
                    self.copy(b, (of, value), [state, begin])
                }
            };
            let end = b.leave().primal;
            body.stmts.splice(made + 1..made + 1, end);
            body.stmts.splice(made..made, before);
            body.params.push(state);
            body.results.insert(init.len(), after);
            init.push(empty);
        }
    }

    /// Makes an inner loop write what it collects. What is on the tape after it.
    fn collect(
        &self,
        b: &mut Builder,
        of: &Ragged,
        stmt: &mut Stmt<Bulk>,
        [tape, begin]: [ValueId; 2],
    ) -> Option<ValueId> {
        let BulkOp::Loop {
            axis,
            lanes,
            init,
            body,
            ..
        } = &mut stmt.op
        else {
            return None;
        };
        let states = init.len();
        let place = (stmt.results.iter()).position(|&result| result == of.value)?;
        let Type { elem, dims } = self.ty(b, of);
        // What is the same in all lanes is on one tape, which is no state of theirs.
        let is_apart = lanes.iter().any(|lane| !dims.contains(lane));
        if *axis != of.axis || place < states || is_apart {
            #[cfg(test)]
            if is_apart {
                crate::testing::entered::enter(&crate::testing::entered::TAPED_APART);
            }
            return None;
        }
        let (state, after) = (b.param(elem, dims.clone()), b.param(elem, dims));
        b.enter();
        let at = place_on(b, self.rows(of).axis, begin, body.params[0]);
        let next = put(b, state, at, body.results[place]);
        body.stmts.extend(b.leave().primal);
        init.push(tape);
        body.params.push(state);
        body.results.insert(states, next);
        stmt.results.insert(states, after);
        Some(after)
    }

    /// Copies an array to a tape.
    fn copy(
        &self,
        b: &mut Builder,
        (of, value): (&Ragged, ValueId),
        [tape, begin]: [ValueId; 2],
    ) -> ValueId {
        let extent = b.extent(of.axis);
        let axis = b.axis("row", extent);
        let Type { elem, dims } = self.ty(b, of);
        let (index, state) = (
            b.param(Elem::Index(extent), Vec::new()),
            b.param(elem, dims),
        );
        let guard = b.guard.take();
        b.enter();
        let value = b.gather(value, &[(of.axis, index)]);
        let at = place_on(b, self.rows(of).axis, begin, index);
        let next = put(b, state, at, value);
        let stmts = b.leave().primal;
        b.guard = guard;
        b.emit(BulkOp::Loop {
            axis,
            reverse: false,
            checkpoint: None,
            lanes: self.lanes.clone(),
            init: vec![tape],
            body: Box::new(Block {
                params: vec![index, state],
                stmts,
                results: vec![next],
            }),
        })
    }

    /// Lengths are known now: a `while` that only counts is left out of the loop, which then runs what is
    /// in it once and not twice, the second time on a copy of its tables.
    pub(super) fn without_counting(
        &self,
        b: &Builder,
        body: &mut Block<Bulk>,
        counted: &[Counted],
        name: impl Fn(ValueId) -> ValueId,
    ) {
        for rows in &self.rows {
            let mut known = counted.iter();
            let Some(known) = known.find(|known| name(known.trips) == rows.length) else {
                continue;
            };
            let again: Vec<ValueId> = known.again.iter().map(|&value| name(value)).collect();
            let Some(&first) = again.first() else {
                continue;
            };
            let makes = |value| {
                let mut stmts = body.stmts.iter();
                stmts.position(|stmt: &Stmt<Bulk>| stmt.results.contains(&value))
            };
            let (Some(asked), Some(run)) = (makes(rows.length), makes(first)) else {
                continue;
            };
            let is_read = |stmt: &Stmt<Bulk>| {
                let reads = reads(&b.program, stmt);
                known.results.iter().any(|value| reads.contains(value))
            };
            let is_length = |&value: &ValueId| !b.axes_along(value).is_empty();
            if run <= asked
                || !matches!(body.stmts[asked].op, BulkOp::While { .. })
                || body.stmts[asked + 1..=run].iter().any(is_read)
                || known.results.iter().any(is_length)
            {
                continue;
            }
            #[cfg(test)]
            crate::testing::entered::enter(&crate::testing::entered::RUN_ONCE);
            let index = body.params[0];
            body.stmts[asked] = Stmt {
                results: vec![rows.length],
                op: BulkOp::Gather {
                    table: rows.lengths,
                    at: self.axis.iter().map(|&axis| (axis, index)).collect(),
                },
                guard: None,
                span: body.stmts[asked].span,
            };
            let mut names = Subst::new();
            for (&result, &again) in known.results.iter().zip(&again) {
                names.replace(result, again);
            }
            names.block(body);
        }
    }

    /// Takes, from what the loop gives after so many states, what is on its tapes.
    pub(super) fn take(&mut self, given: &mut Vec<ValueId>, states: usize) {
        self.arrays = given.drain(states..states + self.taped.len()).collect();
    }

    /// The lengths of an iteration's rows, in the second loop.
    pub(super) fn read_lengths(&self, b: &mut Builder, copier: &mut Copier, again: ValueId) {
        for rows in &self.rows {
            let at: Vec<_> = self.axis.iter().map(|&axis| (axis, again)).collect();
            let length = b.gather(rows.lengths, &at);
            copier.rename(b, rows.length, length);
        }
    }

    /// A value of the first loop, if it is on a tape, in the second loop.
    pub(super) fn read(
        &self,
        b: &mut Builder,
        copier: &mut Copier,
        value: ValueId,
        again: ValueId,
    ) {
        let mut known = self.taped.iter().zip(&self.arrays);
        let Some((of, &array)) = known.find(|(of, _)| of.value == value) else {
            return;
        };
        let here = b.emit(BulkOp::Iota(copier.axis(of.axis)));
        let elem = copier.elem(b.program.elem(value));
        let kept = self.number(b, (of, array), elem, again, here);
        copier.rename(b, value, kept);
    }

    /// What an iteration has put on a tape, at places in its row.
    fn number(
        &self,
        b: &mut Builder,
        (of, array): (&Ragged, ValueId),
        elem: Elem,
        again: ValueId,
        here: ValueId,
    ) -> ValueId {
        let rows = self.rows(of);
        let at: Vec<_> = self.axis.iter().map(|&axis| (axis, again)).collect();
        let begin = b.gather(rows.begins, &at);
        let at = place_on(b, rows.axis, begin, here);
        let kept = b.gather(array, &[at]);
        as_member(b, kept, elem)
    }

    /// Makes the blocks of a statement of the second loop, an inner loop, read tapes where they read one
    /// element of a row, so that no row is copied.
    pub(super) fn read_there(
        &self,
        b: &mut Builder,
        copier: &Copier,
        stmt: &mut Stmt<Bulk>,
        again: ValueId,
    ) {
        if self.taped.is_empty() {
            return;
        }
        for block in stmt.op.blocks_mut() {
            let stmts = std::mem::take(&mut block.stmts);
            b.enter();
            for mut stmt in stmts {
                self.read_there(b, copier, &mut stmt, again);
                if let BulkOp::Gather { table, at } = &stmt.op
                    && let Some((of, &array)) = (self.taped.iter().zip(&self.arrays))
                        .find(|(of, _)| copier.get(of.value) == *table)
                    && let [(axis, here)] = at[..]
                    && axis == copier.axis(of.axis)
                {
                    let elem = b.program.elem(*table);
                    b.enter();
                    b.behind(stmt.guard, |b| {
                        self.number(b, (of, array), elem, again, here)
                    });
                    let mut made = b.leave().primal;
                    if let Some(last) = made.last_mut() {
                        last.results = stmt.results;
                    }
                    made.into_iter().for_each(|stmt| b.push(stmt));
                    continue;
                }
                b.push(stmt);
            }
            block.stmts = b.leave().primal;
        }
    }
}

/// What a row is where its guard holds for its elements, and zero elsewhere. What has none may say
/// nothing where a choice is made that it is not meant for.
fn specified(b: &mut Builder, row: ValueId, guard: Option<ValueId>) -> ValueId {
    let Some(guard) = guard else {
        #[cfg(test)]
        if !b.is_specified(row) {
            crate::testing::entered::enter(&crate::testing::entered::TAPED_IN_FULL);
        }
        return match b.program.elem(row) {
            Elem::BOOL => b.behind(None, |b| b.said(row)),
            _ => in_full(b, row),
        };
    };
    let row = match b.program.elem(row) {
        Elem::Index(_) => b.behind(Some(guard), |b| b.map(Prim::Cast(Scalar::Usize), &[row])),
        _ => row,
    };
    let holds = b.said(guard);
    b.masked(Some(holds), row)
}

/// Where a number of an iteration's row is on its tape.
fn place_on(b: &mut Builder, tape: AxisId, begin: ValueId, index: ValueId) -> (AxisId, ValueId) {
    let index = b.map(Prim::Cast(Scalar::Usize), &[index]);
    let at = b.map(Prim::Add, &[begin, index]);
    (tape, b.index(tape, at))
}

/// Writes a value there.
fn put(b: &mut Builder, table: ValueId, at: (AxisId, ValueId), value: ValueId) -> ValueId {
    let value = match b.program.elem(value) {
        Elem::Index(_) => b.map(Prim::Cast(Scalar::Usize), &[value]),
        _ => value,
    };
    b.emit(BulkOp::Update {
        table,
        at: vec![at],
        value,
        mask: None,
    })
}
