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
//! What is read of the table is read of the part, by the same indices; nobody else looks at the table. The
//! table and the places are specified in each iteration: none of them stands behind a guard.

use std::collections::BTreeMap;

use super::residuals::is_short;
use crate::analysis::dataflow::Flow;
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
    let mut guarded = ValueSet::new();
    behind_guards(&program.body, &mut guarded);
    program.rewritten(|program, body| block(program, body, &guarded))
}

/// Finds what stands behind guards, at any depth.
fn behind_guards(block: &Block<Bulk>, guarded: &mut ValueSet) {
    for stmt in &block.stmts {
        if stmt.guard.is_some() {
            guarded.extend(&stmt.results);
        }
        for inner in stmt.op.blocks() {
            behind_guards(inner, guarded);
        }
    }
}

fn block(program: &mut Program<Bulk>, block: &mut Block<Bulk>, guarded: &ValueSet) {
    for stmt in &mut block.stmts {
        for inner in stmt.op.blocks_mut() {
            self::block(program, inner, guarded);
        }
    }
    for number in 0..block.stmts.len() {
        let BulkOp::Loop { init, .. } = &block.stmts[number].op else {
            continue;
        };
        for slot in init.len()..block.stmts[number].results.len() {
            if let Some(part) = Part::of(program, block, guarded, [number, slot]) {
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
        guarded: &ValueSet,
        [number, slot]: [usize; 2],
    ) -> Option<Self> {
        let stmt = &block.stmts[number];
        let BulkOp::Loop {
            axis, lanes, body, ..
        } = &stmt.op
        else {
            return None;
        };
        let table = body.results[slot];
        let dims = &program.ty(table).dims;
        let is_long = |axis: &AxisId| !lanes.contains(axis) && !is_short(program, *axis);
        if guarded.contains(&table) || !dims.iter().any(is_long) {
            return None;
        }
        let reads = Reads::of(program, block, number, (stmt.results[slot], *axis))?;
        let within = |place| match place {
            Place::Index => body.params[0],
            Place::Collected(slot) => body.results[slot],
            Place::Before(value) => value,
        };
        // A place for all points of the table, or one for each of its points along other axes.
        let places: Vec<(AxisId, ValueId)> = (reads.common().into_iter())
            .map(|(axis, place)| (axis, within(place)))
            .filter(|(axis, place)| is_long(axis) && !guarded.contains(place))
            .filter(|(_, place)| program.ty(*place).dims.iter().all(|dim| dims.contains(dim)))
            .collect();
        let mut along = places
            .iter()
            .flat_map(|(_, place)| &program.ty(*place).dims);
        let fits = along.all(|dim| places.iter().all(|(axis, _)| axis != dim));
        (fits && !places.is_empty()).then(|| Self {
            number,
            slot,
            at: places,
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
            let part_of = BulkOp::Gather { table, at };
            // As soon as it is there: the table may be changed after that.
            let makes =
                |stmt: &Stmt<Bulk>| part_of.reads_any(|value| stmt.results.contains(&value));
            let first = body
                .stmts
                .iter()
                .rposition(makes)
                .map_or(0, |last| last + 1);
            let read = Stmt::new(vec![part], part_of, stmt.span);
            body.stmts.insert(first, read);
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

/// What is read of a table that a loop has collected.
struct Reads<'b> {
    program: &'b Program<Bulk>,
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

impl<'b> Reads<'b> {
    /// What is read after a loop, if of each read it is known of which iteration.
    fn of(
        program: &'b Program<Bulk>,
        block: &'b Block<Bulk>,
        number: usize,
        (collected, axis): (ValueId, AxisId),
    ) -> Option<Self> {
        let mut bound = ValueSet::new();
        for stmt in &block.stmts[number..] {
            bound.extend(&stmt.results);
            for inner in stmt.op.blocks() {
                bound.extend(&inner.bound());
            }
        }
        let mut reads = Self {
            program,
            collected,
            axis,
            results: &block.stmts[number].results,
            bound,
            known: BTreeMap::new(),
            read: BTreeMap::new(),
        };
        let mut rest = block.stmts[number + 1..].iter();
        let fits = rest.all(|stmt| reads.stmt(stmt)) && reads.used(&block.results);
        fits.then_some(reads)
    }

    /// The places along axes that all reads have in common.
    fn common(&self) -> Vec<(AxisId, Place)> {
        let mut all = self.read.values().flat_map(|read| match &read.again {
            Some(again) if !again.is_empty() => (again.iter())
                .map(|places| [read.places.as_slice(), places].concat())
                .collect(),
            _ => vec![read.places.clone()],
        });
        let Some(mut common) = all.next() else {
            return Vec::new();
        };
        for places in all {
            common.retain(|place| places.contains(place));
        }
        common
    }

    /// Looks at a statement; whether it reads tables of iterations only.
    fn stmt(&mut self, stmt: &Stmt<Bulk>) -> bool {
        let extents = |value| Bulk::type_extents(self.program, value);
        let params = stmt.op.blocks().into_iter().flat_map(|block| &block.params);
        let mut used: Vec<ValueId> = stmt
            .results
            .iter()
            .chain(params)
            .copied()
            .flat_map(extents)
            .collect();
        used.extend(Bulk::extents(self.program, &stmt.op));
        used.extend(stmt.guard);
        if let BulkOp::Gather { table, at } = &stmt.op {
            used.extend(at.iter().map(|(_, place)| place));
            return self.used(&used) && self.gather(stmt.results[0], *table, at);
        }
        used.extend(stmt.op.operands());
        self.used(&used)
            && (stmt.op.blocks().into_iter()).all(|block| {
                block.stmts.iter().all(|stmt| self.stmt(stmt)) && self.used(&block.results)
            })
    }

    /// Notes that values are used as they are; whether these are not all tables together.
    fn used(&mut self, values: &[ValueId]) -> bool {
        for value in values {
            if let Some(read) = self.read.get_mut(value) {
                read.again = None;
            }
        }
        !values.contains(&self.collected)
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
