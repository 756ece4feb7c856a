//! Array contraction of what a loop collects: of a table, the part is kept that the way back reads.
//!
//! ```text
//! %1[n, m], %2[k, n, m] = loop %3: k (…) {          %1[n, m], %2[k, m] = loop %3: k (…) {
//!   … yield %4; %4                                    %5[m] = gather %4 [n := %3]
//! }                                                   … yield %4; %5
//! … loop rev %6: k {                           ▶    }
//!   %7[n, m] = gather %2 [k := %6]                  … loop rev %6: k {
//!   … %9 = gather %7 [n := %6, m := %8]               %7[m] = gather %2 [k := %6]
//! }                                                   … %9 = gather %7 [m := %8]
//!                                                   }
//! ```
//!
//! An elimination reads the row of a pivot: of the matrix after each step a row is kept. What is read must
//! be at the same places along an axis in all that is read of an iteration, and the places known to that:
//! its index, what it has collected as well, or what was there before.
//!
//! # Why it is sound
//!
//! What is read of the table is read of the part, by the same indices; nobody else looks at the table.

use std::collections::BTreeMap;

use super::residuals::is_short;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Block, Operation, Program, Stmt, ValueId, ValueSet};
use crate::pass::Pass;

/// The pass.
pub const RESIDUAL_SLICES: Pass<Bulk> = Pass {
    name: "residual_slices",
    about: "collect of a table the part that is read",
    run: residual_slices,
};

/// Collects of each table the part that is read.
pub fn residual_slices(program: Program<Bulk>) -> Program<Bulk> {
    program.rewritten(block)
}

fn block(program: &mut Program<Bulk>, block: &mut Block<Bulk>) {
    for stmt in &mut block.stmts {
        for inner in stmt.op.blocks_mut() {
            self::block(program, inner);
        }
    }
    for number in 0..block.stmts.len() {
        let BulkOp::Loop { init, .. } = &block.stmts[number].op else {
            continue;
        };
        for slot in init.len()..block.stmts[number].results.len() {
            if let Some(part) = Part::of(program, block, number, slot) {
                #[cfg(test)]
                crate::testing::entered::enter(&crate::testing::entered::SLICED);
                part.collect(program, block);
            }
        }
    }
}

/// What the way back knows of a place that is read of an iteration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It is the iteration's index.
    Index,
    /// The iteration has collected it, as this result.
    Collected(usize),
    /// It was there before the loop.
    Before(ValueId),
}

/// The part of a table that is read of each iteration.
struct Part {
    /// The loop, and which of its results is the table.
    number: usize,
    slot: usize,
    /// Where along which axes the iteration reads its table.
    at: Vec<(AxisId, ValueId)>,
    /// The tables of iterations.
    tables: ValueSet,
}

impl Part {
    fn of(
        program: &Program<Bulk>,
        block: &Block<Bulk>,
        number: usize,
        slot: usize,
    ) -> Option<Self> {
        let stmt = &block.stmts[number];
        let BulkOp::Loop {
            axis, lanes, body, ..
        } = &stmt.op
        else {
            return None;
        };
        let table = body.results[slot];
        let made = body
            .stmts
            .iter()
            .find(|stmt| stmt.results.contains(&table))?;
        let is_long = |axis: &AxisId| !lanes.contains(axis) && !is_short(program, *axis);
        if made.guard.is_some() || !program.ty(table).dims.iter().any(is_long) {
            return None;
        }
        let mut reads = Reads {
            collected: stmt.results[slot],
            axis: *axis,
            results: &stmt.results,
            bound: ValueSet::new(),
            known: BTreeMap::new(),
            read: BTreeMap::new(),
        };
        block.stmts[number..]
            .iter()
            .for_each(|stmt| reads.bind(stmt));
        let rest = block.stmts[number + 1..].iter();
        if block.results.contains(&reads.collected) || !rest.into_iter().all(|s| reads.stmt(s)) {
            return None;
        }
        let places = reads.common().into_iter();
        let at: Vec<(AxisId, ValueId)> = places
            .filter(|(axis, _)| is_long(axis))
            .filter_map(|(axis, place)| Some((axis, within(program, body, place, table)?)))
            .collect();
        let sliced: Vec<AxisId> = at.iter().map(|(axis, _)| *axis).collect();
        let fits = |value: ValueId| {
            let mut dims = program.ty(value).dims.iter();
            dims.all(|dim| !sliced.contains(dim))
        };
        (!at.is_empty() && at.iter().all(|&(_, place)| fits(place))).then(|| Self {
            number,
            slot,
            at,
            tables: reads.read.into_keys().collect(),
        })
    }

    fn collect(self, program: &mut Program<Bulk>, block: &mut Block<Bulk>) {
        let sliced = |axis: &AxisId| self.at.iter().any(|(other, _)| other == axis);
        let stmt = &mut block.stmts[self.number];
        let collected = stmt.results[self.slot];
        if let BulkOp::Loop { body, .. } = &mut stmt.op {
            let table = body.results[self.slot];
            let mut ty = program.ty(table).clone();
            ty.dims.retain(|axis| !sliced(axis));
            let part = program.value(ty, stmt.span);
            let at = self.at.clone();
            let op = BulkOp::Gather { table, at };
            body.stmts.push(Stmt::new(vec![part], op, stmt.span));
            body.results[self.slot] = part;
        }
        for value in self.tables.iter().chain([collected]) {
            let dims = &mut program.values[value.index()].ty.dims;
            dims.retain(|axis| !sliced(axis));
        }
        let mut tables = self.tables.clone();
        tables.insert(collected);
        let rest = &mut block.stmts[self.number + 1..];
        rest.iter_mut()
            .for_each(|stmt| narrow(stmt, &tables, &sliced));
    }
}

/// Leaves out where reads of these tables are along axes that these have no more.
fn narrow(stmt: &mut Stmt<Bulk>, tables: &ValueSet, sliced: &impl Fn(&AxisId) -> bool) {
    if let BulkOp::Gather { table, at } = &mut stmt.op
        && tables.contains(table)
    {
        at.retain(|(axis, _)| !sliced(axis));
    }
    for block in stmt.op.blocks_mut() {
        block
            .stmts
            .iter_mut()
            .for_each(|stmt| narrow(stmt, tables, sliced));
    }
}

/// What a place is in the iteration itself, if it is one for all points of a table but for lanes of it.
fn within(
    program: &Program<Bulk>,
    body: &Block<Bulk>,
    place: Place,
    table: ValueId,
) -> Option<ValueId> {
    let value = match place {
        Place::Index => body.params[0],
        Place::Before(value) => value,
        Place::Collected(slot) => {
            let value = body.results[slot];
            let mut made = body
                .stmts
                .iter()
                .filter(|stmt| stmt.results.contains(&value));
            if made.any(|stmt| stmt.guard.is_some()) {
                return None;
            }
            value
        }
    };
    let dims = &program.ty(table).dims;
    let mut own = program.ty(value).dims.iter();
    own.all(|dim| dims.contains(dim)).then_some(value)
}

/// What is read of a table that a loop has collected.
struct Reads<'b> {
    collected: ValueId,
    /// The axis of iterations.
    axis: AxisId,
    /// The results of the loop.
    results: &'b [ValueId],
    /// What is bound since the loop.
    bound: ValueSet,
    /// What was collected of which iteration.
    known: BTreeMap<ValueId, (usize, ValueId)>,
    /// What is read of the table of an iteration.
    read: BTreeMap<ValueId, Read>,
}

/// What is read of the table of an iteration: all of it, or where it is read itself.
struct Read {
    /// The iteration.
    index: ValueId,
    places: Vec<(AxisId, Place)>,
    /// Where it is read in turn, unless it is used otherwise.
    again: Option<Vec<Vec<(AxisId, Place)>>>,
}

impl Reads<'_> {
    fn bind(&mut self, stmt: &Stmt<Bulk>) {
        self.bound.extend(&stmt.results);
        for inner in stmt.op.blocks() {
            self.bound.extend(&inner.bound());
        }
    }

    /// The places along axes that all reads have in common.
    fn common(&self) -> Vec<(AxisId, Place)> {
        let mut all = self.read.values().flat_map(|read| match &read.again {
            None => vec![read.places.clone()],
            Some(again) => (again.iter())
                .map(|places| [read.places.as_slice(), places].concat())
                .collect(),
        });
        let Some(mut common) = all.next() else {
            return Vec::new();
        };
        for places in all {
            common.retain(|place| places.contains(place));
        }
        common
    }

    /// Looks at a statement; whether it reads the table of one iteration, if any.
    fn stmt(&mut self, stmt: &Stmt<Bulk>) -> bool {
        if let BulkOp::Gather { table, at } = &stmt.op {
            for &(_, place) in at {
                self.used(place);
            }
            stmt.guard.into_iter().for_each(|guard| self.used(guard));
            return self.gather(stmt.results[0], *table, at);
        }
        let read = stmt.op.operands().into_iter().chain(stmt.guard);
        let mut whole = false;
        for value in read {
            whole |= value == self.collected;
            self.used(value);
        }
        for block in stmt.op.blocks() {
            whole |= block.results.contains(&self.collected);
            whole |= !block.stmts.iter().all(|stmt| self.stmt(stmt));
            block.results.iter().for_each(|&result| self.used(result));
        }
        !whole
    }

    /// Notes that a value is used as it is.
    fn used(&mut self, value: ValueId) {
        if let Some(read) = self.read.get_mut(&value) {
            read.again = None;
        }
    }

    fn gather(&mut self, result: ValueId, table: ValueId, at: &[(AxisId, ValueId)]) -> bool {
        if let Some(slot) = self.results.iter().position(|&result| result == table)
            && let &[(axis, index)] = at
            && axis == self.axis
        {
            self.known.insert(result, (slot, index));
        }
        if table == self.collected {
            let Some(&(_, index)) = at.iter().find(|(axis, _)| *axis == self.axis) else {
                return false;
            };
            let places = self.places(at, index);
            let again = Some(Vec::new());
            self.read.insert(
                result,
                Read {
                    index,
                    places,
                    again,
                },
            );
        } else if let Some(&Read { index, .. }) = self.read.get(&table) {
            let places = self.places(at, index);
            let again = self
                .read
                .get_mut(&table)
                .and_then(|read| read.again.as_mut());
            again
                .into_iter()
                .for_each(|again| again.push(places.clone()));
        }
        true
    }

    /// What the way back knows of places that are read of an iteration.
    fn places(&self, at: &[(AxisId, ValueId)], index: ValueId) -> Vec<(AxisId, Place)> {
        let known = |place| {
            if place == index {
                return Some(Place::Index);
            }
            match self.known.get(&place) {
                Some(&(slot, of)) => (of == index).then_some(Place::Collected(slot)),
                None => (!self.bound.contains(&place)).then_some(Place::Before(place)),
            }
        };
        at.iter()
            .filter(|(axis, _)| *axis != self.axis)
            .filter_map(|&(axis, place)| Some((axis, known(place)?)))
            .collect()
    }
}
