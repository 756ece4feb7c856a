//! Loop skewing: what two loops compute that wait for each other's last iterations is computed
//! diagonal by diagonal, the points of a diagonal together (a wavefront).
//!
//! ```text
//! for %i: N {                                for %d: N + K - 1 {
//!   for %j: K {                                par "diagonal" %p: points of %d {
//!     %1 = load t[%i - 1, %j]        ▶           %i = …, %j = %d - %i
//!     %2 = load t[%i, %j - 1]                    (the same)
//!     store t[%i, %j], exp %1 + ln %2          }
//!   }                                        }
//! }
//! ```
//!
//! Each cell of such a table waits for its neighbours, so neither loop has lanes: the functions of
//! a cell are computed one by one. Cells of a diagonal wait for none of each other. It is done
//! where a cell is dear enough and both loops are long.
//!
//! A variable that the outer loop makes for the inner one becomes an array with an element for each
//! iteration of the outer loop (scalar expansion). A row that each of its iterations makes of the
//! last one's is changed in place. What the outer loop does beside is done before, or after, in a
//! loop of its own (loop distribution).
//!
//! # Why it is sound
//!
//! Of two cells of which one changes what the other touches, the first stays first: what lies
//! between them, in iterations of the outer and of the inner loop, is known, and the sum of both,
//! which is how many diagonals lie between them, has the sign of the outer one, or of the inner one
//! where that is zero. A place of which only one of both indices is known to differ is touched by
//! all cells of a row, or of a column, at the same element, and they lie on different diagonals.
//! Nothing that fails is moved. What all cells combine into one number is combined in the order of
//! diagonals.

use smallvec::smallvec;

use std::collections::{BTreeMap, BTreeSet};

use super::distribute::{may_move, worth};
use super::tiling::Writer;
use crate::analysis::accesses::{Accesses, At, Kind};
use crate::analysis::effects::{is_pure, length, needed};
use crate::contract::cloning::Renamed;
use crate::ir::stages::kernels::{Acc, KernelOp, Kernels, Par};
use crate::ir::{
    Block, Elem, Extent, Lit, Monoid, Operation, Program, Scalar, SpanId, Stmt, Type, ValueId,
    ValueSet,
};
use crate::ops::Prim;
use crate::pass::Pass;

/// How long both loops are at least: a diagonal is begun with, and the first and last are short.
const LEAST: u64 = 32;

/// The simple operations that must be worth computing together in a cell: an elementary function.
const WORTH: u32 = 20;

/// The pass.
pub const LOOP_SKEWING: Pass<Kernels> = Pass {
    name: "loop_skewing",
    about: "compute the points of a diagonal of two loops together",
    run: loop_skewing,
};

/// Computes the points of a diagonal of two loops together.
pub fn loop_skewing(program: Program<Kernels>) -> Program<Kernels> {
    loop_skewing_of(program, LEAST)
}

/// [`loop_skewing`] of loops that are so long at least.
pub fn loop_skewing_of(program: Program<Kernels>, least: u64) -> Program<Kernels> {
    program.rewritten(|program, body| host(program, least, body))
}

/// Looks for such loops in what the host does.
fn host(program: &mut Program<Kernels>, least: u64, block: &mut Block<Kernels>) {
    let mut out = Writer::default();
    for mut stmt in std::mem::take(&mut block.stmts) {
        if let Some(nest) = Nest::of(program, &stmt)
            && nest.may_be_long(least)
            && let Some(plan) = Plan::of(program, &nest)
        {
            #[cfg(test)]
            crate::testing::entered::enter(&crate::testing::entered::SKEWED);
            plan.carry_out(program, &nest, least, &stmt, &mut out);
            continue;
        }
        if !matches!(stmt.op, KernelOp::Own(Par { .. })) {
            for inner in stmt.op.blocks_mut() {
                host(program, least, inner);
            }
        }
        out.stmts.push(stmt);
    }
    block.stmts = out.stmts;
}

/// A loop around others over the same axis.
struct Nest<'s> {
    /// How many iterations, and whether from the last to the first: of the outer and of the inner.
    extents: [Extent; 2],
    reverse: [bool; 2],
    outer: ValueId,
    inner: Vec<ValueId>,
    /// What the outer loop does before the inner ones, and after the first of them.
    around: [Vec<&'s Stmt<Kernels>>; 2],
    cell: Vec<&'s Stmt<Kernels>>,
}

impl<'s> Nest<'s> {
    fn of(program: &Program<Kernels>, stmt: &'s Stmt<Kernels>) -> Option<Self> {
        let KernelOp::For {
            extent: outer,
            reverse,
            body,
        } = &stmt.op
        else {
            return None;
        };
        let mut around = [Vec::new(), Vec::new()];
        let mut loops = Vec::new();
        for stmt in &body.stmts {
            match &stmt.op {
                KernelOp::For {
                    extent,
                    reverse,
                    body,
                } => loops.push((*extent, Some(*reverse), &**body)),
                KernelOp::Own(par) if is_map(par) => loops.push((par.extents[0], None, &*par.body)),
                _ => around[usize::from(!loops.is_empty())].push(stmt),
            }
        }
        let is_dear = |(_, reverse, cell): &(Extent, Option<bool>, &Block<Kernels>)| {
            let worth = cell.stmts.iter().map(|stmt| all_worth(program, stmt));
            reverse.is_some() && worth.sum::<u32>() >= WORTH
        };
        let at = loops.iter().position(is_dear)?;
        let (over, Some(backwards), dear) = loops.remove(at) else {
            unreachable!("it has a direction")
        };
        // Others are run in the same iterations, first, if nothing of them shows to each other.
        let mut bodies = vec![dear];
        for (other, reversed, cell) in loops {
            let together = other == over && reversed.is_none_or(|reversed| reversed == backwards);
            let apart = |one: &Block<Kernels>| {
                let [one, other] =
                    [&one.stmts, &cell.stmts].map(|stmts| touched(&Accesses::of(stmts)));
                one[1].is_disjoint(&other[0]) && one[0].is_disjoint(&other[1])
            };
            if !together || !bodies.iter().all(|body| apart(body)) {
                return None;
            }
            bodies.push(cell);
        }
        bodies.reverse();
        let fixed = length(over).is_none_or(|length| {
            length != body.params[0] && !Accesses::of(&body.stmts).binds(&length)
        });
        fixed.then(|| Self {
            extents: [*outer, over],
            reverse: [*reverse, backwards],
            outer: body.params[0],
            inner: bodies.iter().map(|body| body.params[0]).collect(),
            around,
            cell: bodies.iter().flat_map(|body| &body.stmts).collect(),
        })
    }

    /// Unless one of its loops is known to be too short.
    fn may_be_long(&self, least: u64) -> bool {
        let is_short = |extent: &Extent| matches!(extent, Extent::Const(steps) if *steps < least);
        !self.extents.iter().any(is_short)
    }
}

/// Whether a kernel is a loop over one axis whose iterations share nothing.
fn is_map(par: &Par) -> bool {
    par.extents.len() == 1 && par.accs.is_empty() && par.folds.is_empty()
}

/// Where along an axis something is touched, counted in iterations of one of both loops.
#[derive(Clone, Copy, PartialEq)]
struct Coordinate {
    /// Of the outer loop, or of the inner one.
    inner: bool,
    offset: i128,
}

/// Which values are an index of one of both loops, or beside it.
struct Coordinates {
    known: BTreeMap<ValueId, Coordinate>,
    numbers: BTreeMap<ValueId, i128>,
}

impl Coordinates {
    fn of(nest: &Nest<'_>) -> Self {
        let mut found = Self {
            known: BTreeMap::new(),
            numbers: BTreeMap::new(),
        };
        let offset = 0;
        let outer = Coordinate {
            inner: false,
            offset,
        };
        found.known.insert(nest.outer, outer);
        let inner = Coordinate {
            inner: true,
            offset,
        };
        found
            .known
            .extend(nest.inner.iter().map(|&index| (index, inner)));
        found.look(nest.around[0].iter().copied());
        found.look(nest.cell.iter().copied());
        found
    }

    fn look<'s>(&mut self, stmts: impl IntoIterator<Item = &'s Stmt<Kernels>>) {
        for stmt in stmts {
            match &stmt.op {
                KernelOp::Const(Lit::Int(_, number)) => {
                    self.numbers.insert(stmt.results[0], *number);
                }
                KernelOp::Prim(prim, args) => {
                    if let Some(at) = self.moved(*prim, args) {
                        self.known.insert(stmt.results[0], at);
                    }
                }
                _ => {}
            }
            for inner in stmt.op.blocks() {
                self.look(&inner.stmts);
            }
        }
    }

    fn moved(&self, prim: Prim, args: &[ValueId]) -> Option<Coordinate> {
        let known = |value: &ValueId| self.known.get(value).copied();
        let by = |from: &ValueId, by: &ValueId, sign: i128| {
            let at = known(from)?;
            let offset = at.offset + sign * self.numbers.get(by)?;
            Some(Coordinate { offset, ..at })
        };
        match (prim, args) {
            (Prim::Trust(_) | Prim::Cast(Scalar::I64 | Scalar::Usize), [arg]) => known(arg),
            (Prim::Add, [a, b]) => by(a, b, 1).or_else(|| by(b, a, 1)),
            (Prim::Sub, [a, b]) => by(a, b, -1),
            _ => None,
        }
    }

    /// Whether two cells of which one changes what the other touches stay in their order.
    fn keep_order(&self, one: &[ValueId], other: &[ValueId], reverse: [bool; 2]) -> bool {
        let mut apart = [None; 2];
        for (a, b) in one.iter().zip(other) {
            let (Some(a), Some(b)) = (self.known.get(a), self.known.get(b)) else {
                continue;
            };
            if a.inner != b.inner {
                continue;
            }
            let loop_ = usize::from(a.inner);
            let sign = if reverse[loop_] { -1 } else { 1 };
            let distance = sign * (a.offset - b.offset);
            match apart[loop_].replace(distance) {
                // Never the same element.
                Some(before) if before != distance => return true,
                _ => {}
            }
        }
        match apart {
            [Some(outer), Some(inner)] => {
                let before = if outer == 0 { inner } else { outer };
                before.signum() == (outer + inner).signum()
            }
            [Some(only), None] | [None, Some(only)] => only == 0,
            [None, None] => false,
        }
    }
}

/// How the cells of a nest are computed diagonal by diagonal.
struct Plan {
    /// A row that each iteration of the outer loop makes, and the last one's.
    rows: BTreeMap<ValueId, ValueId>,
    /// Variables that are made for the inner loop, and values that are computed for it once.
    expanded: [Vec<ValueId>; 2],
    /// What is computed before the inner loop and again wherever it is needed.
    again: ValueSet,
    /// Which statements after the inner loop wait for all cells, by their number.
    late: BTreeSet<usize>,
    /// Which statements are left out.
    dropped: [BTreeSet<usize>; 2],
    /// Variables that all cells combine into.
    sums: BTreeMap<ValueId, Monoid>,
    /// Tables that cells add to.
    added: ValueSet,
}

impl Plan {
    fn of(program: &Program<Kernels>, nest: &Nest<'_>) -> Option<Self> {
        if !nest.cell.iter().all(|stmt| may_move(program, stmt)) {
            return None;
        }
        let mut plan = Self {
            rows: BTreeMap::new(),
            expanded: [Vec::new(), Vec::new()],
            again: ValueSet::new(),
            late: BTreeSet::new(),
            dropped: [BTreeSet::new(), BTreeSet::new()],
            sums: BTreeMap::new(),
            added: ValueSet::new(),
        };
        let inside = Accesses::of(nest.cell.iter().copied());
        plan.take_rows(nest, &inside)?;
        let [before, after] = plan.left(nest);
        let movable = |(_, stmt): &(usize, &Stmt<Kernels>)| may_move(program, stmt);
        if !before.iter().all(movable) || !after.iter().all(movable) {
            return None;
        }

        let own = Accesses::of(before.iter().map(|(_, stmt)| *stmt));
        plan.take_cells(program, nest, &inside, &own)?;
        let [inside_touched, inside_changed] = touched(&inside);
        // What waits for cells, and for what does.
        let [mut late_touched, mut late_changed] = [ValueSet::new(), ValueSet::new()];
        let mut late_results = ValueSet::new();
        let [mut early_touched, mut early_changed] = touched(&own);
        let early_reads: ValueSet = early_touched.iter().collect();
        for &(at, stmt) in &after {
            let [all, changed] = touched(&Accesses::of([stmt]));
            let waits = !all.is_disjoint(&inside_changed)
                || !all.is_disjoint(&late_touched)
                || (needed(program, stmt).iter()).any(|value| late_results.contains(value));
            let (of_all, of_changed) = match waits {
                true => (&mut late_touched, &mut late_changed),
                false => (&mut early_touched, &mut early_changed),
            };
            of_all.extend(all.iter());
            of_changed.extend(changed.iter());
            if waits {
                plan.late.insert(at);
                late_results.extend(&stmt.results);
            }
        }
        let bound_before: ValueSet = (before.iter())
            .flat_map(|(_, stmt)| stmt.results.iter().copied())
            .collect();
        let foreign = |places: &ValueSet| -> ValueSet {
            places
                .iter()
                .filter(|place| !bound_before.contains(place))
                .collect()
        };
        let in_order = foreign(&early_reads).is_disjoint(&inside_changed)
            && early_touched.is_disjoint(&foreign(&late_changed))
            && foreign(&early_changed).is_disjoint(&inside_touched)
            && foreign(&early_changed).is_disjoint(&late_touched)
            && late_changed.is_disjoint(&inside_touched);
        // What waits for the cells of a row looks at that row's variables only, and changes none: later rows may have changed
        // what else there is.
        let mut late_inside = late_touched
            .iter()
            .filter(|place| inside_changed.contains(place));
        let looks_later = late_inside.any(|place| !bound_before.contains(&place))
            || late_changed
                .iter()
                .any(|place| bound_before.contains(&place));
        if !in_order || looks_later {
            return None;
        }

        // What the cells and what waits for them need of what comes before.
        let [mut changed, mut wanted] = [inside_changed, ValueSet::new()];
        changed.extend(late_changed.iter());
        changed.extend(early_changed.iter());
        let mut fixed = ValueSet::new();
        for (_, stmt) in &before {
            let reads_changed = touched(&Accesses::of([*stmt]))[0]
                .iter()
                .any(|p| changed.contains(&p));
            let mut reads = needed(program, stmt).into_iter();
            if is_pure(program, stmt)
                && !reads_changed
                && reads.all(|value| !bound_before.contains(&value) || fixed.contains(&value))
            {
                fixed.extend(&stmt.results);
            }
        }
        plan.again = fixed;
        let late = after.iter().filter(|(at, _)| plan.late.contains(at));
        for stmt in &nest.cell {
            wanted.extend(needed(program, stmt));
        }
        if !wanted.is_disjoint(&late_results) {
            return None;
        }
        for (_, stmt) in late {
            wanted.extend(needed(program, stmt));
        }
        let early = after.iter().filter(|(at, _)| !plan.late.contains(at));
        let early_results: ValueSet = early
            .flat_map(|(_, stmt)| stmt.results.iter().copied())
            .collect();
        if !wanted.is_disjoint(&early_results) {
            return None;
        }
        for (_, stmt) in &before {
            for &result in stmt
                .results
                .iter()
                .filter(|&result| wanted.contains(result))
            {
                match stmt.op {
                    KernelOp::Var(_) => plan.expanded[0].push(result),
                    _ if plan.again.contains(&result) => {}
                    _ => plan.expanded[1].push(result),
                }
            }
        }
        let is_plain = |value: &ValueId| {
            program.ty(*value).dims.is_empty() && matches!(program.elem(*value), Elem::Scalar(_))
        };
        plan.expanded.iter().flatten().all(is_plain).then_some(plan)
    }

    /// Rows that are made anew in each iteration and exchanged with the last ones: they are changed
    /// in place, if each element is read before it is written.
    fn take_rows(&mut self, nest: &Nest<'_>, inside: &Accesses<'_>) -> Option<()> {
        for (at, stmt) in nest.around[1].iter().enumerate() {
            let KernelOp::Swap(a, b) = stmt.op else {
                continue;
            };
            let made = |row: ValueId| {
                let is_made = |stmt: &&Stmt<Kernels>| {
                    stmt.results.first() == Some(&row)
                        && matches!(stmt.op, KernelOp::Alloc { fill: None })
                };
                nest.around[0].iter().position(is_made)
            };
            let (old, new, alloc) = match (made(a), made(b)) {
                (Some(alloc), None) => (b, a, alloc),
                (None, Some(alloc)) => (a, b, alloc),
                _ => return None,
            };
            let places: Vec<_> = inside
                .outside()
                .map(|access| (access.place, access.kind))
                .collect();
            let written = places.iter().position(|(place, _)| *place == new)?;
            let in_order = places[..written]
                .iter()
                .all(|(place, kind)| *place != old || *kind == Kind::Read)
                && places[written..]
                    .iter()
                    .all(|(place, kind)| *place != old && (*place != new || *kind == Kind::Write));
            if !in_order || self.rows.insert(new, old).is_some() {
                return None;
            }
            self.dropped[0].insert(alloc);
            self.dropped[1].insert(at);
        }
        let left = self.left(nest);
        let left = Accesses::of(left.iter().flatten().map(|(_, stmt)| *stmt));
        let [used, _] = touched(&left);
        let is_used_again =
            |(new, old): (&ValueId, &ValueId)| used.contains(new) || used.contains(old);
        (!self.rows.iter().any(is_used_again)).then_some(())
    }

    /// Asks of what the cells do to places whether it can be done diagonal by diagonal.
    fn take_cells(
        &mut self,
        program: &Program<Kernels>,
        nest: &Nest<'_>,
        inside: &Accesses<'_>,
        own: &Accesses<'_>,
    ) -> Option<()> {
        let coordinates = Coordinates::of(nest);
        let mut tables: BTreeMap<ValueId, Vec<(Kind, &[ValueId])>> = BTreeMap::new();
        let mut variables: BTreeMap<ValueId, Vec<Kind>> = BTreeMap::new();
        for access in inside.outside() {
            let place = self
                .rows
                .get(&access.place)
                .copied()
                .unwrap_or(access.place);
            match access.at {
                At::Element(indices) => tables
                    .entry(place)
                    .or_default()
                    .push((access.kind, indices)),
                At::Variable => variables.entry(place).or_default().push(access.kind),
                At::Any => return None,
            }
        }
        for (place, accesses) in tables {
            if accesses.iter().all(|(kind, _)| *kind == Kind::Read) {
                continue;
            }
            if own.binds(&place) {
                return None;
            }
            for (at, (kind, one)) in accesses.iter().enumerate() {
                for (other_kind, other) in &accesses[at..] {
                    let both_read = *kind == Kind::Read && *other_kind == Kind::Read;
                    if !both_read && !coordinates.keep_order(one, other, nest.reverse) {
                        return None;
                    }
                }
            }
            if accesses.iter().any(|(kind, _)| *kind == Kind::Combine) {
                self.added.insert(place);
            }
        }
        let mut monoids = BTreeMap::new();
        combined(nest.cell.iter().copied(), &mut monoids);
        for place in &self.added {
            if monoids.get(&place) != Some(&Some(Monoid::Add)) || !program.elem(place).is_float() {
                return None;
            }
        }
        for (place, kinds) in variables {
            // It is made for the inner loop.
            if own.binds(&place) || kinds.iter().all(|kind| *kind == Kind::Read) {
                continue;
            }
            match monoids.get(&place) {
                Some(Some(monoid)) if kinds.iter().all(|kind| *kind == Kind::Combine) => {
                    self.sums.insert(place, *monoid);
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// Writes down the nest: diagonal by diagonal if both of its loops are long enough.
    fn carry_out(
        &self,
        program: &mut Program<Kernels>,
        nest: &Nest<'_>,
        least: u64,
        stmt: &Stmt<Kernels>,
        out: &mut Writer,
    ) {
        let span = stmt.span;
        let mut skewed = Writer::default();
        self.skewed(program, nest, span, &mut skewed);
        let is_long = |extent: &Extent| matches!(extent, Extent::Const(steps) if *steps >= least);
        if nest.extents.iter().all(is_long) {
            out.stmts.append(&mut skewed.stmts);
            return;
        }
        let bool = Type::scalar(Elem::Scalar(Scalar::Bool));
        let number = out.number(program, least, span);
        let long = nest.extents.map(|extent| {
            let length = out.size(program, extent, span);
            let op = KernelOp::Prim(Prim::Ge, smallvec![length, number]);
            out.bind(program, op, bool.clone(), span)
        });
        let op = KernelOp::Prim(Prim::And, smallvec![long[0], long[1]]);
        let cond = out.bind(program, op, bool, span);
        let plain = Renamed::default().copy(program, stmt);
        let block = |stmts| Block {
            stmts,
            ..Block::default()
        };
        let op = KernelOp::If {
            cond,
            then: Box::new(block(skewed.stmts)),
            otherwise: Box::new(block(vec![plain])),
        };
        out.run(op, span);
    }

    fn skewed(
        &self,
        program: &mut Program<Kernels>,
        nest: &Nest<'_>,
        span: SpanId,
        out: &mut Writer,
    ) {
        let [outer, _] = nest.extents;
        let mut arrays = BTreeMap::new();
        for &value in self.expanded.iter().flatten() {
            let array = out.alloc(program, program.elem(value), vec![outer], span);
            arrays.insert(value, array);
        }
        self.before(program, nest, &arrays, span, out);

        let lengths = nest.extents.map(|extent| out.size(program, extent, span));
        let one = out.number(program, 1, span);
        let both = out.count(program, Prim::Add, &lengths, span);
        let diagonals = Extent::Value(out.count(program, Prim::Sub, &[both, one], span));
        out.each(program, diagonals, span, |program, out, diagonal| {
            let [rows, columns] = lengths;
            let at = out.count(program, Prim::Cast(Scalar::Usize), &[diagonal], span);
            let next = out.count(program, Prim::Add, &[at, one], span);
            // Of the outer loop's iterations the first and the last that have a cell on it.
            let reached = out.count(program, Prim::Max, &[next, columns], span);
            let first = out.count(program, Prim::Sub, &[reached, columns], span);
            let end = out.count(program, Prim::Min, &[next, rows], span);
            let points = Extent::Value(out.count(program, Prim::Sub, &[end, first], span));
            let point = program.value(Type::scalar(Elem::Index(points)), span);
            let mut inside = Writer::default();
            let moved = inside.count(program, Prim::Cast(Scalar::Usize), &[point], span);
            let row = inside.count(program, Prim::Add, &[first, moved], span);
            let column = inside.count(program, Prim::Sub, &[at, row], span);
            let mut names = Renamed::default();
            let indices = [&[nest.outer][..], &nest.inner];
            for (k, number) in [row, column].into_iter().enumerate() {
                let extent = nest.extents[k];
                let number = match nest.reverse[k] {
                    false => number,
                    true => {
                        let next = inside.count(program, Prim::Add, &[number, one], span);
                        inside.count(program, Prim::Sub, &[lengths[k], next], span)
                    }
                };
                let trust = KernelOp::Prim(Prim::Trust(extent), smallvec![number]);
                let ty = Type::scalar(Elem::Index(extent));
                let index = inside.bind(program, trust, ty, span);
                indices[k].iter().for_each(|&old| names.insert(old, index));
            }
            let accs = self.cell(program, nest, &arrays, names, &mut inside);
            let par = Par {
                number: 0,
                by_columns: false,
                speculates: false,
                name: "diagonal".to_owned(),
                extents: vec![points],
                accs,
                folds: Vec::new(),
                body: Box::new(Block {
                    params: vec![point],
                    stmts: inside.stmts,
                    results: Vec::new(),
                }),
            };
            out.run(KernelOp::Own(par), span);
        });
        self.after(program, nest, &arrays, span, out);
    }

    /// What is done for each iteration of the outer loop before any cell.
    fn before(
        &self,
        program: &mut Program<Kernels>,
        nest: &Nest<'_>,
        arrays: &BTreeMap<ValueId, ValueId>,
        span: SpanId,
        out: &mut Writer,
    ) {
        let [before, after] = self.left(nest);
        let after: Vec<_> = (after.into_iter())
            .filter(|(at, _)| !self.late.contains(at))
            .map(|(_, stmt)| stmt)
            .collect();
        if arrays.is_empty() && after.is_empty() {
            return;
        }
        self.in_a_loop(program, nest, span, out, |program, out, names| {
            for (_, stmt) in before {
                out.stmts.push(names.copy(program, stmt));
            }
            let index = names.get(nest.outer);
            for (k, values) in self.expanded.iter().enumerate() {
                for value in values {
                    let mut now = names.get(*value);
                    if k == 0 {
                        let ty = Type::scalar(program.elem(now));
                        now = out.bind(program, KernelOp::Get(now), ty, span);
                    }
                    out.run(element(arrays[value], index, now), span);
                }
            }
            for stmt in after {
                out.stmts.push(names.copy(program, stmt));
            }
        });
    }

    /// What is done for each iteration of the outer loop when all cells are known.
    fn after(
        &self,
        program: &mut Program<Kernels>,
        nest: &Nest<'_>,
        arrays: &BTreeMap<ValueId, ValueId>,
        span: SpanId,
        out: &mut Writer,
    ) {
        if self.late.is_empty() {
            return;
        }
        self.in_a_loop(program, nest, span, out, |program, out, names| {
            let [_, after] = self.left(nest);
            let late: Vec<_> = (after.into_iter())
                .filter(|(at, _)| self.late.contains(at))
                .map(|(_, stmt)| stmt)
                .collect();
            self.bring(program, nest, arrays, &late, names, out);
            for stmt in late {
                out.stmts.push(names.copy(program, stmt));
            }
        });
    }

    /// A loop over the outer axis, whose body `inside` writes.
    fn in_a_loop(
        &self,
        program: &mut Program<Kernels>,
        nest: &Nest<'_>,
        span: SpanId,
        out: &mut Writer,
        inside: impl FnOnce(&mut Program<Kernels>, &mut Writer, &mut Renamed),
    ) {
        let mut names = Renamed::default();
        let index = names.bind(program, nest.outer);
        let mut body = Writer::default();
        inside(program, &mut body, &mut names);
        let op = KernelOp::For {
            extent: nest.extents[0],
            reverse: nest.reverse[0],
            body: Box::new(Block {
                params: vec![index],
                stmts: body.stmts,
                results: Vec::new(),
            }),
        };
        out.run(op, span);
    }

    /// A cell, whose indices are named. Gives what cells combine into.
    fn cell(
        &self,
        program: &mut Program<Kernels>,
        nest: &Nest<'_>,
        arrays: &BTreeMap<ValueId, ValueId>,
        mut names: Renamed,
        out: &mut Writer,
    ) -> Vec<Acc> {
        let span = SpanId::NONE;
        self.bring(program, nest, arrays, &nest.cell, &mut names, out);
        for (&new, &old) in &self.rows {
            names.insert(new, old);
        }
        let accs = self.sums.iter().map(|(&target, &monoid)| {
            let private = names.bind(program, target);
            Acc::new(monoid, target, private)
        });
        let accs = accs.collect();
        let from = out.stmts.len();
        for stmt in &nest.cell {
            out.stmts.push(names.copy(program, stmt));
        }
        let copied = out.stmts.split_off(from);
        out.stmts.extend(add_in_place(program, copied, &self.added));
        let index = names.get(nest.outer);
        let changed = Accesses::of(nest.cell.iter().copied()).changed();
        for value in self.expanded[0]
            .iter()
            .filter(|value| changed.contains(value))
        {
            let ty = Type::scalar(program.elem(*value));
            let now = out.bind(program, KernelOp::Get(names.get(*value)), ty, span);
            out.run(element(arrays[value], index, now), span);
        }
        accs
    }

    /// Brings what these statements need of what comes before the inner loop: out of arrays, or
    /// computed again.
    fn bring(
        &self,
        program: &mut Program<Kernels>,
        nest: &Nest<'_>,
        arrays: &BTreeMap<ValueId, ValueId>,
        stmts: &[&Stmt<Kernels>],
        names: &mut Renamed,
        out: &mut Writer,
    ) {
        let span = SpanId::NONE;
        let mut wanted = ValueSet::new();
        for stmt in stmts {
            wanted.extend(needed(program, stmt));
        }
        let index = names.get(nest.outer);
        let is_var: ValueSet = self.expanded[0].iter().copied().collect();
        for (&value, &buffer) in arrays.iter().filter(|(value, _)| wanted.contains(value)) {
            let ty = Type::scalar(program.elem(value));
            let indices = vec![index];
            let load = KernelOp::Load { buffer, indices };
            let mut now = out.bind(program, load, ty.clone(), span);
            if is_var.contains(&value) {
                now = out.bind(program, KernelOp::Var(now), ty, span);
            }
            names.insert(value, now);
        }
        let mut again = Vec::new();
        for stmt in nest.around[0].iter().rev() {
            let is_wanted =
                |result: &ValueId| wanted.contains(result) && self.again.contains(result);
            if stmt.results.iter().any(is_wanted) {
                wanted.extend(needed(program, stmt));
                again.push(stmt);
            }
        }
        for stmt in again.into_iter().rev() {
            out.stmts.push(names.copy(program, stmt));
        }
    }

    /// What the outer loop does before and after the inner one, without what is left out, numbered.
    fn left<'s>(&self, nest: &Nest<'s>) -> [Vec<(usize, &'s Stmt<Kernels>)>; 2] {
        [0, 1].map(|k| {
            let stmts = nest.around[k].iter().copied().enumerate();
            stmts
                .filter(|(at, _)| !self.dropped[k].contains(at))
                .collect()
        })
    }
}

/// The places that statements find and leave: those that they touch, and of these what they change.
fn touched(accesses: &Accesses<'_>) -> [ValueSet; 2] {
    let all = accesses.outside().map(|access| access.place).collect();
    [all, accesses.changed()]
}

/// What statements cost that is cheaper in vectors, at any depth.
fn all_worth(program: &Program<Kernels>, stmt: &Stmt<Kernels>) -> u32 {
    let inner = stmt.op.blocks().into_iter().flat_map(|block| &block.stmts);
    worth(program, stmt) + inner.map(|stmt| all_worth(program, stmt)).sum::<u32>()
}

/// By what statements combine into places; none where it is done by several.
fn combined<'s>(
    stmts: impl IntoIterator<Item = &'s Stmt<Kernels>>,
    found: &mut BTreeMap<ValueId, Option<Monoid>>,
) {
    for stmt in stmts {
        if let KernelOp::Combine { monoid, place, .. } = &stmt.op {
            found
                .entry(*place)
                .and_modify(|known| *known = known.filter(|known| known == monoid))
                .or_insert(Some(*monoid));
        }
        for inner in stmt.op.blocks() {
            combined(&inner.stmts, found);
        }
    }
}

fn element(buffer: ValueId, index: ValueId, value: ValueId) -> KernelOp {
    KernelOp::Store {
        buffer,
        indices: vec![index],
        value,
    }
}

/// What is added to elements of these tables is added where they lie.
fn add_in_place(
    program: &mut Program<Kernels>,
    stmts: Vec<Stmt<Kernels>>,
    tables: &ValueSet,
) -> Vec<Stmt<Kernels>> {
    let mut out = Vec::new();
    for mut stmt in stmts {
        for inner in stmt.op.blocks_mut() {
            let stmts = std::mem::take(&mut inner.stmts);
            inner.stmts = add_in_place(program, stmts, tables);
        }
        match stmt.op {
            KernelOp::Combine {
                place,
                indices,
                value,
                ..
            } if tables.contains(&place) => {
                let ty = Type::scalar(program.elem(place));
                let [old, new] = [(); 2].map(|()| program.value(ty.clone(), stmt.span));
                let load = KernelOp::Load {
                    buffer: place,
                    indices: indices.clone(),
                };
                let add = KernelOp::Prim(Prim::Add, smallvec![old, value]);
                let store = KernelOp::Store {
                    buffer: place,
                    indices,
                    value: new,
                };
                out.push(Stmt::new(vec![old], load, stmt.span));
                out.push(Stmt::new(vec![new], add, stmt.span));
                out.push(Stmt::new(Vec::new(), store, stmt.span));
            }
            _ => out.push(stmt),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::loop_skewing_of;
    use crate::contract::in_place::in_place;
    use crate::contract::schedule::schedule;
    use crate::eval::compare::{Tolerance, difference};
    use crate::eval::run;
    use crate::explain::Structure;
    use crate::ir::stages::kernels::Kernels;
    use crate::ir::verify::verify;
    use crate::ir::{Program, print};
    use crate::lower::source::link;
    use crate::pipeline;
    use crate::testing::Rng;
    use crate::testing::source::inputs;

    /// Checks that the last function of a source means the same diagonal by diagonal, and of how
    /// many of its nests that is made. Sums of all cells are added up in another order.
    #[track_caller]
    fn check(source: &str, nests: usize) {
        let linked = link(source).unwrap_or_else(|e| panic!("{:?}", e.first().map(|e| &e.message)));
        let stages = pipeline::stages(&linked)
            .unwrap_or_else(|e| panic!("{source}\n{:?}", e.first().map(|e| &e.message)));
        let plain: Program<Kernels> = in_place(schedule(stages.bulk));
        for least in [1, 2, 5] {
            let skewed = loop_skewing_of(plain.clone(), least);
            let text = print(&skewed);
            verify(&skewed).unwrap_or_else(|e| panic!("{source}\n{e:?}\n{text}"));
            let made = Structure::of(&skewed).kernels - Structure::of(&plain).kernels;
            assert_eq!(made, nests, "{source}\n{text}");
            for n in [0, 1, 2, 3, 7] {
                let inputs = inputs(&stages.point, n, &mut Rng::new(n as u64));
                let (a, b) = match (run(&plain, &inputs), run(&skewed, &inputs)) {
                    (Ok((a, _)), Ok((b, _))) => (a, b),
                    (Err(a), Err(b)) if a == b => continue,
                    (a, b) => panic!("{source}\n{a:?}\n{b:?}\n{text}"),
                };
                for (a, b) in a.iter().zip(&b) {
                    let tolerance = Tolerance {
                        f32: 0.0,
                        f64: 1e-13,
                    };
                    if let Some(difference) = difference(a, b, tolerance) {
                        panic!("{source}\nat {n}, {least}: {difference}\n{text}");
                    }
                }
            }
        }
    }

    /// A function of two series that fills in a table by loops over both.
    fn table(loops: &str) -> String {
        format!(
            "fn f<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>) -> Table<(N, K), f64> {{
                let mut t = for (i, j) in (N, K) {{ 0.1 * x[i] + y[j] }};
                {loops}
                t
            }}"
        )
    }

    /// Dynamic time warping with a smooth minimum, by rows.
    const WARPING: &str = "
        fn soft(a: f64, b: f64, c: f64, gamma: f64) -> f64 {
            let least = a.min(b).min(c);
            let near = |x: f64| ((least - x) / gamma).exp();
            least - gamma * (near(a) + near(b) + near(c)).ln()
        }
        fn warped<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>, gamma: f64) -> Table<K, f64> {
            let mut row = for _j in K { 50.0 };
            let mut corner = 0.0;
            for i in N {
                let mut diagonal = corner;
                let mut left = 50.0;
                row = for j in K {
                    let best = soft(diagonal, row[j], left, gamma);
                    diagonal = row[j];
                    left = (x[i] - y[j]).powi(2) + best;
                    left
                };
                corner = 50.0;
            }
            row
        }";

    #[test]
    fn a_table_filled_in_from_its_neighbours() {
        let cell = "let up = t.get((i - 1, j)).unwrap_or(1.0);
            let left = t.get((i, j - 1)).unwrap_or(x[i]);
            let corner = t.get((i - 1, j - 1)).unwrap_or(0.5);
            t[(i, j)] = (up * left - corner).sin() + y[j];";
        check(
            &table(&format!("for i in N {{ for j in K {{ {cell} }} }}")),
            1,
        );
    }

    #[test]
    fn loops_may_go_backwards() {
        let cell = "let down = t.get((i + 1, j)).unwrap_or(1.0);
            let right = t.get((i, j + 1)).unwrap_or(x[i]);
            t[(i, j)] = (down - right).exp() + t[(i, j)];";
        check(
            &table(&format!(
                "for i in N.rev() {{ for j in K.rev() {{ {cell} }} }}"
            )),
            1,
        );
        let cell = "let down = t.get((i + 1, j)).unwrap_or(1.0);
            let left = t.get((i, j - 1)).unwrap_or(x[i]);
            t[(i, j)] = (down - left).exp() + t[(i, j)];";
        check(
            &table(&format!("for i in N.rev() {{ for j in K {{ {cell} }} }}")),
            1,
        );
    }

    #[test]
    fn what_would_be_read_too_early_or_too_late_stays() {
        for read in ["(i - 1, j + 1)", "(i - 2, j + 1)", "(i - 1, j + 2)"] {
            let cell = format!(
                "t[(i, j)] = t.get({read}).unwrap_or(1.0).exp() - t.get((i, j - 1)).unwrap_or(2.0);"
            );
            let skewed = usize::from(read == "(i - 2, j + 1)");
            check(
                &table(&format!("for i in N {{ for j in K {{ {cell} }} }}")),
                skewed,
            );
        }
    }

    #[test]
    fn rows_and_variables_of_a_row() {
        check(WARPING, 1);
    }

    #[test]
    fn what_a_row_waits_for_stays() {
        // The next row begins with what the last one ended with.
        check(
            "fn f<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>) -> f64 {
                let mut s = 1.0;
                for i in N { for j in K { s = (s * x[i] + y[j]).sin(); } }
                s
            }",
            0,
        );
    }

    #[test]
    fn what_later_rows_change_is_looked_at_in_its_row() {
        check(
            "fn f<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>) -> Table<N, f64> {
                let mut u = y.clone();
                let mut last = x.clone();
                let mut s = 0.0;
                for i in N {
                    let mut left = x[i];
                    for j in K { left = (u[j] - left).sin(); u[j] = left; s += left; }
                    last[i] = s * u.get(0).unwrap_or(0.5);
                }
                last
            }",
            0,
        );
    }

    #[test]
    fn what_is_done_after_a_row() {
        let cell = "let left = t.get((i, j - 1)).unwrap_or(x[i]);
            t[(i, j)] = (t.get((i - 1, j)).unwrap_or(0.3) * left).cos();";
        let loops = format!(
            "let mut last = x[..]; for i in N {{ let mut s = 0.0; for j in K {{ {cell} s += t[(i, j)]; }} last[i] = s * s; }}"
        );
        let source = table(&loops)
            .replace("x[..]", "for i in N { x[i] }")
            .replace(
                "                t\n            }",
                "                for (i, j) in (N, K) { t[(i, j)] + last[i] }\n            }",
            );
        check(&source, 1);
    }

    #[test]
    fn of_a_gradient_what_goes_forwards() {
        let source = format!(
            "{WARPING}
            fn loss<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>, gamma: f64) -> f64 {{
                sum(warped(x, y, gamma))
            }}
            fn g<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>, gamma: f64) -> (Table<N, f64>, Table<K, f64>, f64) {{
                grad!(loss)(x, y, 1.5 + gamma * gamma)
            }}"
        );
        check(&source, 1);
    }
}
