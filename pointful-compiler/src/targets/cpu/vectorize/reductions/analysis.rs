//! Which loops reduce something that lanes can reduce, and how many lanes they want.

use std::collections::BTreeMap;

use super::Reductions;
use crate::analysis::accesses::{Accesses, At, Kind};
use crate::analysis::angles::has_near;
use crate::analysis::cost;
use crate::analysis::numbers::Numbers;
use crate::ir::stages::cpu::{Cpu, CpuOp};
use crate::ir::{Block, Extent, Monoid, Operation, Program, Stmt, ValueId, ValueSet};
use crate::targets::cpu::vectorize::arg_reductions::Search;
use crate::targets::cpu::vectorize::dear_branches::{DEAR, DearBranch};
use crate::targets::cpu::vectorize::if_conversion::converts;

/// With more reductions or more operations than these in one body, lanes are half as many, so that
/// they stay in registers.
const MANY_REDUCTIONS: usize = 2;
const MANY_OPERATIONS: usize = 24;

/// Constant loops of up to this many iterations, which are unrolled, are not split into fewer lanes
/// than so many: to fold them takes longer.
const SHORT: u64 = 16;
const LEAST: u64 = 4;

/// Short loops inside of the body are unrolled if their innermost statements run up to this many
/// times.
const UNROLLED: u64 = 64;

/// How a loop is split.
pub(super) struct Plan {
    /// The place outside the loop, and how values are combined into it.
    pub(super) reductions: Vec<(ValueId, Monoid)>,
    /// The extremal elements whose places are looked for.
    pub(super) searches: Vec<Search>,
    /// Numbers of lanes, the larger first.
    pub(super) widths: Vec<Width>,
    /// The statements that wait until all lanes have run, by the buffer that they write into.
    pub(super) writes: BTreeMap<ValueId, Vec<usize>>,
    /// A branch with a dear side, if there is one.
    pub(super) dear: Option<DearBranch>,
    /// Whether an iteration may run twice.
    pub(super) repeatable: bool,
    /// Whether lanes hand something on.
    pub(super) in_order: bool,
}

/// A number of lanes.
#[derive(Clone, Copy)]
pub(super) struct Width {
    pub(super) lanes: u64,
    /// How many iterations there have to be.
    pub(super) from: u64,
}

impl Reductions<'_> {
    /// Whether and how a loop is split into lanes.
    pub(super) fn plan(&self, extent: Extent, body: &Block<Cpu>) -> Option<Plan> {
        let searches = Search::all(self.program, body)?;
        let mut look = Look {
            program: self.program,
            bets: self.bets,
            numbers: &self.numbers,
            reductions: Vec::new(),
            inner: ValueSet::new(),
            operations: searches.iter().map(|own| own.stmts.len()).sum(),
            is_dear: false,
            read_or_set: Vec::new(),
            varying: body.params.iter().copied().collect(),
            loaded: ValueSet::new(),
            gathers: false,
            times: 1,
        };
        for (number, stmt) in body.stmts.iter().enumerate() {
            if !searches.iter().any(|own| own.stmts.contains(&number)) {
                look.stmt(stmt)?;
            }
        }
        let Look {
            reductions,
            operations,
            is_dear,
            read_or_set,
            gathers,
            ..
        } = look;
        let sought = searches.iter().flat_map(|own| [own.best, own.at]);
        let is_sought = |place: &ValueId| sought.clone().any(|own| own == *place);
        if reductions.iter().any(|(place, _)| is_sought(place)) {
            return None;
        }
        let is_reduction = |place: &ValueId| {
            is_sought(place) || reductions.iter().any(|(known, _)| known == place)
        };
        // Integers reassociate, and are vectorised without help.
        let float = |&(place, _): &(ValueId, Monoid)| self.program.elem(place).is_float();
        let any = reductions.iter().any(float) || !searches.is_empty();
        if !any || read_or_set.iter().any(is_reduction) {
            return None;
        }
        let places = reductions.iter().map(|&(place, _)| place);
        let widest = places
            .chain(searches.iter().map(|own| own.best))
            .map(|place| self.program.elem(place).repr().bytes())
            .max()?;
        let crowded =
            reductions.len() + 2 * searches.len() > MANY_REDUCTIONS || operations > MANY_OPERATIONS;
        let most = self.lanes.bytes / widest.max(4) / if crowded { 2 } else { 1 };
        let accesses = Accesses::of(&body.stmts);
        let changed = accesses.changed();
        let writes = writes(&accesses, &changed);
        // What is handed to a later iteration, or changed in place, is not the same the second time.
        let alone = changed.iter().all(|place| is_reduction(&place));
        let repeatable = alone && reductions.iter().all(|(_, monoid)| monoid.is_idempotent());
        let waits = |place: &ValueId| is_reduction(place) || writes.contains_key(place);
        let in_order = !changed.iter().all(|place| waits(&place));
        // Lanes of a search are compared in the end: a dozen elements are as soon looked at one by one.
        let fewest = match (is_dear, repeatable && !searches.is_empty()) {
            (true, _) => most / 4,
            (false, true) => (most / 4).max(3 * self.lanes.bytes / 32),
            (false, false) => most / 2,
        };
        let widths = [
            Width {
                lanes: most,
                from: self.lanes.strips * most,
            },
            Width {
                lanes: most / 4,
                from: fewest,
            },
        ];
        // Elements that lie anywhere are picked up one by one, which only long loops make up for.
        let widths = widths.into_iter().filter(|width| {
            let fits = match self.numbers.resolve(extent) {
                Extent::Const(length) => {
                    length >= width.from && (length > SHORT || width.lanes >= LEAST)
                }
                Extent::Size(_) | Extent::Value(_) => true,
            };
            fits && width.lanes > 1 && (!gathers || width.lanes == most)
        });
        let widths: Vec<Width> = widths.collect();
        let dear = (writes.is_empty() && searches.is_empty())
            .then(|| DearBranch::of(self.program, body, &changed));
        (!widths.is_empty()).then_some(Plan {
            reductions,
            searches,
            widths,
            writes,
            dear: dear.flatten(),
            repeatable,
            in_order,
        })
    }
}

/// The statements of a body that can wait until all lanes have run: those of buffers that are not
/// read, at places that are known outside the body but for its index. None if one of them cannot.
fn writes(accesses: &Accesses<'_>, changed: &ValueSet) -> BTreeMap<ValueId, Vec<usize>> {
    let mut writes: BTreeMap<ValueId, Vec<usize>> = BTreeMap::new();
    for access in accesses.outside() {
        let indices = match access.at {
            At::Variable => continue,
            At::Element(_) | At::Any if !changed.contains(&access.place) => continue,
            At::Element(indices) => indices,
            At::Any => return BTreeMap::new(),
        };
        let waits = match access.kind {
            Kind::Write | Kind::Combine => {
                !access.is_nested && !indices.iter().any(|index| accesses.binds(index))
            }
            Kind::Read | Kind::Swap => false,
        };
        if !waits {
            return BTreeMap::new();
        }
        writes.entry(access.place).or_default().push(access.number);
    }
    writes
}

/// What a body is made of.
struct Look<'p> {
    program: &'p Program<Cpu>,
    numbers: &'p Numbers,
    bets: bool,
    reductions: Vec<(ValueId, Monoid)>,
    /// Places of an iteration's own.
    inner: ValueSet,
    operations: usize,
    is_dear: bool,
    read_or_set: Vec<ValueId>,
    /// What is not the same in all iterations.
    varying: ValueSet,
    /// What is made of elements that are read,
    loaded: ValueSet,
    /// and whether there are elements in such places.
    gathers: bool,
    /// How often a statement runs in an iteration.
    times: u64,
}

impl Look<'_> {
    /// Looks at a statement. None if it becomes no vector instructions.
    fn stmt(&mut self, stmt: &Stmt<Cpu>) -> Option<()> {
        match &stmt.op {
            CpuOp::Const(_) | CpuOp::Size(_) => {}
            CpuOp::Prim(prim, args) => {
                let elem = self.program.elem(args[0]);
                let near = self.bets && has_near(*prim, elem);
                (prim.vectorises(elem) || near).then_some(())?;
                self.operations += 1;
                self.is_dear |= cost::prim(*prim, elem) >= DEAR;
            }
            CpuOp::Load { indices, .. } => {
                self.gathers |= indices.iter().any(|index| self.loaded.contains(index));
                // Of what a short loop reads neighbours must lie side by side: it may itself go
                // through what does.
                if let [apart @ .., _] = indices.as_slice()
                    && self.times > 1
                    && apart.iter().any(|index| self.varying.contains(index))
                {
                    return None;
                }
                self.operations += 1;
            }
            CpuOp::Store { .. } if self.times > 1 => return None,
            CpuOp::Select(..) | CpuOp::Store { .. } => self.operations += 1,
            CpuOp::Combine {
                monoid,
                place,
                indices,
                ..
            } => self.combine(*monoid, *place, !indices.is_empty())?,
            CpuOp::Var(_) => {
                self.inner.insert(stmt.results[0]);
            }
            CpuOp::Get(place) | CpuOp::Set { place, .. } => self.read_or_set.push(*place),
            CpuOp::If {
                then, otherwise, ..
            } => {
                converts([then, otherwise]).then_some(())?;
                let mut branch = then.stmts.iter().chain(&otherwise.stmts);
                branch.try_for_each(|stmt| self.stmt(stmt))?;
                self.operations += 1;
            }
            CpuOp::For { extent, body, .. } => {
                let Extent::Const(length) = self.numbers.resolve(*extent) else {
                    return None;
                };
                let outside = self.times;
                self.times = self.times.saturating_mul(length);
                (2..=UNROLLED).contains(&self.times).then_some(())?;
                body.stmts.iter().try_for_each(|stmt| self.stmt(stmt))?;
                self.times = outside;
            }
            CpuOp::Alloc { .. }
            | CpuOp::Copy(_)
            | CpuOp::Swap(..)
            | CpuOp::Contract { .. }
            | CpuOp::Own(_)
            | CpuOp::Assert { .. }
            | CpuOp::While { .. } => return None,
        }
        let read = stmt.op.operands();
        let varies = |value: &ValueId| self.varying.contains(value) || self.inner.contains(value);
        if read.iter().any(varies) {
            self.varying.extend(&stmt.results);
            let is_load = matches!(stmt.op, CpuOp::Load { .. });
            if is_load || read.iter().any(|value| self.loaded.contains(value)) {
                self.loaded.extend(&stmt.results);
            }
        }
        Some(())
    }

    fn combine(&mut self, monoid: Monoid, place: ValueId, is_buffer: bool) -> Option<()> {
        let mut known = self.reductions.iter();
        if self.inner.contains(&place) {
            self.operations += 1;
        } else if is_buffer {
            (self.times == 1).then_some(())?;
            self.operations += 1;
        } else {
            match known.find(|(known, _)| *known == place) {
                Some((_, by)) if *by != monoid => return None,
                Some(_) => {}
                None => self.reductions.push((place, monoid)),
            }
        }
        Some(())
    }
}
