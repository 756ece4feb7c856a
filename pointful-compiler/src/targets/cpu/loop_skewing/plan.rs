//! Whether a nest may go by diagonals, and what becomes of what its outer loop does beside.

use std::collections::BTreeMap;

use super::dependence::Distances;
use super::{Nest, Stmts, touched};
use crate::analysis::accesses::{Accesses, At, Kind};
use crate::analysis::effects::{is_pure, needed};
use crate::analysis::numbers::Numbers;
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{Elem, Monoid, Operation, Program, Stmt, ValueId, ValueSet};
use crate::targets::cpu::distribute::may_move;

/// How the cells of a nest are computed diagonal by diagonal.
pub(super) struct Plan<'s> {
    pub(super) nest: Nest<'s>,
    /// What the outer loop does before the cells of a row: for all rows before all cells.
    pub(super) before: Stmts<'s>,
    /// What it does after them and does not wait for them: at the same time.
    pub(super) early: Stmts<'s>,
    /// What waits for them: for all rows after all cells.
    pub(super) late: Stmts<'s>,
    /// Rows that are made anew, and those that they are made of.
    pub(super) rows: BTreeMap<ValueId, ValueId>,
    /// Variables of a row that cells or what waits for them use.
    pub(super) variables: Vec<ValueId>,
    /// Values of a row that they use, and that are kept for them.
    pub(super) values: Vec<ValueId>,
    /// Values of a row that are computed again wherever they are needed.
    pub(super) again: ValueSet,
    /// Variables that all cells combine into.
    pub(super) sums: BTreeMap<ValueId, Monoid>,
    /// Tables that cells add to.
    pub(super) added: ValueSet,
}

impl<'s> Plan<'s> {
    pub(super) fn of(
        program: &Program<Kernels>,
        numbers: &Numbers,
        nest: Nest<'s>,
    ) -> Option<Self> {
        let inside = Accesses::of(nest.cell.iter().copied());
        let [before, after] = nest.around.clone();
        let mut plan = Self {
            nest,
            before,
            early: Vec::new(),
            late: Vec::new(),
            rows: BTreeMap::new(),
            variables: Vec::new(),
            values: Vec::new(),
            again: ValueSet::new(),
            sums: BTreeMap::new(),
            added: ValueSet::new(),
        };
        let after = plan.take_rows(after, &inside)?;
        let mut all = plan.before.iter().chain(&after).chain(&plan.nest.cell);
        if !all.all(|stmt| may_move(program, stmt)) {
            return None;
        }
        let own = Accesses::of(plan.before.iter().copied());
        plan.take_cells(program, numbers, &inside, &own)?;
        plan.take_after(program, after, &inside, &own)?;
        plan.take_what_is_needed(program)?;
        Some(plan)
    }

    /// Rows that are made anew in each iteration and exchanged with the last ones: they are changed
    /// in place, if each element is read before it is written. Gives what else is done after cells.
    fn take_rows(&mut self, after: Stmts<'s>, inside: &Accesses<'_>) -> Option<Stmts<'s>> {
        let (swaps, after): (Stmts<'_>, Stmts<'_>) =
            (after.into_iter()).partition(|stmt| matches!(stmt.op, KernelOp::Swap(..)));
        for stmt in swaps {
            let KernelOp::Swap(a, b) = stmt.op else {
                unreachable!("only those were taken")
            };
            let made = |row: ValueId| {
                let is_made = |stmt: &&Stmt<Kernels>| {
                    stmt.results.first() == Some(&row)
                        && matches!(stmt.op, KernelOp::Alloc { fill: None })
                };
                self.before.iter().position(is_made)
            };
            let (old, new, alloc) = match (made(a), made(b)) {
                (Some(alloc), None) => (b, a, alloc),
                (None, Some(alloc)) => (a, b, alloc),
                _ => return None,
            };
            let is_new = |(place, _): &(ValueId, Kind)| *place == new;
            let accesses = inside.outside();
            let places: Vec<_> = accesses.map(|access| (access.place, access.kind)).collect();
            let (read, written) = places.split_at(places.iter().position(is_new)?);
            let is_read = |(place, kind): &(ValueId, Kind)| *place != old || *kind == Kind::Read;
            let is_written = |(place, kind): &(ValueId, Kind)| {
                *place != old && (*place != new || *kind == Kind::Write)
            };
            let in_order = read.iter().all(is_read) && written.iter().all(is_written);
            if !in_order || self.rows.insert(new, old).is_some() {
                return None;
            }
            self.before.remove(alloc);
        }
        let [used, _] = touched(&Accesses::of(self.before.iter().chain(&after).copied()));
        let mut rows = self.rows.iter().flat_map(|(&new, &old)| [new, old]);
        (!rows.any(|row| used.contains(&row))).then_some(after)
    }

    /// Asks of what the cells do to places whether it can be done diagonal by diagonal.
    fn take_cells(
        &mut self,
        program: &Program<Kernels>,
        numbers: &Numbers,
        inside: &Accesses<'_>,
        own: &Accesses<'_>,
    ) -> Option<()> {
        let mut tables: BTreeMap<ValueId, Vec<(Kind, &[ValueId])>> = BTreeMap::new();
        let mut variables: BTreeMap<ValueId, Vec<Kind>> = BTreeMap::new();
        for access in inside.outside() {
            let place = *self.rows.get(&access.place).unwrap_or(&access.place);
            match access.at {
                At::Element(at) => tables.entry(place).or_default().push((access.kind, at)),
                At::Variable => variables.entry(place).or_default().push(access.kind),
                At::Any => return None,
            }
        }
        let mut monoids = BTreeMap::new();
        combined(self.nest.cell.iter().copied(), &mut monoids);
        let distances = Distances::of(program, numbers, &self.nest);
        for (place, accesses) in tables {
            if accesses.iter().all(|(kind, _)| *kind == Kind::Read) {
                continue;
            }
            let keeps_order = |(at, (kind, one)): (usize, &(Kind, &[ValueId]))| {
                (accesses[at..].iter()).all(|(other_kind, other)| {
                    [*kind, *other_kind] == [Kind::Read; 2] || distances.keep_order(one, other)
                })
            };
            if own.binds(&place) || !accesses.iter().enumerate().all(keeps_order) {
                return None;
            }
            if accesses.iter().any(|(kind, _)| *kind == Kind::Combine) {
                if monoids[&place] != Some(Monoid::Add) || !program.elem(place).is_float() {
                    return None;
                }
                self.added.insert(place);
            }
        }
        for (place, kinds) in variables {
            // One that is made for the inner loop is an array.
            if own.binds(&place) || kinds.iter().all(|kind| *kind == Kind::Read) {
                continue;
            }
            let only_combined = kinds.iter().all(|kind| *kind == Kind::Combine);
            let is_number = matches!(program.elem(place), Elem::Scalar(_));
            let monoid = monoids.get(&place).copied().flatten();
            let monoid = monoid.filter(|_| only_combined && is_number)?;
            self.sums.insert(place, monoid);
        }
        Some(())
    }

    /// Tells what is done after cells and waits for them from what does not, and asks whether each
    /// can be done at another time.
    fn take_after(
        &mut self,
        program: &Program<Kernels>,
        after: Stmts<'s>,
        inside: &Accesses<'_>,
        own: &Accesses<'_>,
    ) -> Option<()> {
        let [inside_touched, inside_changed] = touched(inside);
        let [mut late_touched, mut late_results, mut late_needed] =
            [(); 3].map(|()| ValueSet::new());
        let mut waits = vec![false; after.len()];
        loop {
            let more = |(at, stmt): &(usize, &&Stmt<Kernels>)| {
                let [places, _] = touched(&Accesses::of([**stmt]));
                let values = needed(program, stmt);
                !waits[*at]
                    && (!places.is_disjoint(&inside_changed)
                        || !places.is_disjoint(&late_touched)
                        || values.iter().any(|value| late_results.contains(value))
                        || stmt.results.iter().any(|value| late_needed.contains(value)))
            };
            let Some((at, stmt)) = after.iter().enumerate().find(more) else {
                break;
            };
            waits[at] = true;
            late_touched.extend(touched(&Accesses::of([*stmt]))[0].iter());
            late_results.extend(&stmt.results);
            late_needed.extend(needed(program, stmt));
        }
        for (stmt, waits) in after.into_iter().zip(waits) {
            match waits {
                true => self.late.push(stmt),
                false => self.early.push(stmt),
            }
        }
        let [before, before_changed] = touched(own);
        let [early, early_changed] = touched(&Accesses::of(self.early.iter().copied()));
        let [_, late_changed] = touched(&Accesses::of(self.late.iter().copied()));
        // What is done before all cells is not what they, or those that wait for them, have changed before or find changed.
        let before_cells = before.is_disjoint(&inside_changed)
            && [&before, &early]
                .iter()
                .all(|places| places.is_disjoint(&late_changed))
            && [&before_changed, &early_changed].iter().all(|places| {
                places.is_disjoint(&inside_touched) && places.is_disjoint(&late_touched)
            });
        // What waits for a row's cells looks at that row's variables only, and leaves them: later rows may have changed what
        // else there is.
        let of_row = (late_touched.iter())
            .filter(|place| inside_changed.contains(place))
            .all(|place| own.binds(&place));
        let after_cells = of_row
            && late_changed.is_disjoint(&inside_touched)
            && !late_changed.iter().any(|place| own.binds(&place));
        (before_cells && after_cells).then_some(())
    }

    /// What cells, and what waits for them, need of what comes before: kept in arrays, or computed
    /// again.
    fn take_what_is_needed(&mut self, program: &Program<Kernels>) -> Option<()> {
        let all = [&self.before, &self.early, &self.nest.cell, &self.late];
        let mut changed = ValueSet::new();
        for stmts in all {
            changed.extend(touched(&Accesses::of(stmts.iter().copied()))[1].iter());
        }
        let results = |stmts: &Stmts<'_>| -> ValueSet {
            let results = stmts.iter().flat_map(|stmt| &stmt.results);
            results.copied().collect()
        };
        let bound = results(&self.before);
        for stmt in &self.before {
            let [read, _] = touched(&Accesses::of([*stmt]));
            let mut values = needed(program, stmt).into_iter();
            if is_pure(program, stmt)
                && read.is_disjoint(&changed)
                && values.all(|value| !bound.contains(&value) || self.again.contains(&value))
            {
                self.again.extend(&stmt.results);
            }
        }
        let wanted = |stmts: &Stmts<'_>| -> ValueSet {
            stmts
                .iter()
                .flat_map(|stmt| needed(program, stmt))
                .collect()
        };
        let [of_cell, of_late] = [&self.nest.cell, &self.late].map(wanted);
        let early = results(&self.early);
        if !of_cell.is_disjoint(&results(&self.late))
            || !of_cell.is_disjoint(&early)
            || !of_late.is_disjoint(&early)
        {
            return None;
        }
        for stmt in &self.before {
            let is_kept = |value: &&ValueId| {
                (of_cell.contains(value) || of_late.contains(value)) && !self.again.contains(value)
            };
            let kept = stmt.results.iter().filter(is_kept);
            match stmt.op {
                KernelOp::Var(_) => self.variables.extend(kept),
                _ => self.values.extend(kept),
            }
        }
        let is_plain = |value: &ValueId| {
            program.ty(*value).dims.is_empty() && matches!(program.elem(*value), Elem::Scalar(_))
        };
        let mut kept = self.variables.iter().chain(&self.values);
        kept.all(is_plain).then_some(())
    }
}

/// By what statements combine into places; none where it is done by several.
fn combined<'s>(
    stmts: impl IntoIterator<Item = &'s Stmt<Kernels>>,
    found: &mut BTreeMap<ValueId, Option<Monoid>>,
) {
    for stmt in stmts {
        if let KernelOp::Combine { monoid, place, .. } = &stmt.op {
            let known = found.entry(*place).or_insert(Some(*monoid));
            *known = known.filter(|known| known == monoid);
        }
        for inner in stmt.op.blocks() {
            combined(&inner.stmts, found);
        }
    }
}
