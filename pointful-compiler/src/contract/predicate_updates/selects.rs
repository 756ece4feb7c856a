//! Choices between what sides of a branch have made of one table, and whether they can be taken
//! away.

use std::collections::{BTreeMap, BTreeSet};

use smallvec::smallvec;

use super::update_chains::{Chain, Region, base, both, length, made};
use super::{Conds, Handed, Uses, literals};
use crate::analysis::dataflow::{is_total, named_axes};
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Block, Extent, Operation, Program, Stmt, ValueId, ValueSet};
use crate::ops::Prim;

/// Choices between what was made of one table.
pub(super) struct Choice {
    /// The table before.
    base: ValueId,
    /// In the order of their statements, without those that change nothing.
    sides: Vec<Side>,
    /// The choices that are sides of this one.
    inner: Vec<usize>,
}

/// A side that changes something.
struct Side {
    table: ValueId,
    /// The conditions under which it is taken.
    path: Vec<(ValueId, bool)>,
    /// What its changes stand behind.
    guard: Option<ValueId>,
    /// The condition, if it is there already.
    cond: Option<ValueId>,
    /// Where it is taken.
    region: Region,
    chain: Chain,
    /// Statements that read the table before for this side only, and those that compute something of
    /// that: whether they do the one.
    feeding: BTreeMap<usize, bool>,
}

/// How many statements that read what a side has changed are looked at.
const FEEDS: usize = 16;

impl Choice {
    pub(super) fn hand_on(
        self,
        program: &mut Program<Bulk>,
        block: &mut Block<Bulk>,
        number: usize,
        sites: &BTreeMap<ValueId, usize>,
        handed: &mut Handed,
    ) {
        let mut table = self.base;
        let mut before = None;
        for side in self.sides {
            let cond = side
                .cond
                .unwrap_or_else(|| side.condition(program, block, &mut handed.conds));
            side.chain.begin_with(block, table);
            if let Some(before) = before {
                side.feed(block, table, handed);
                let axes = &program.ty(cond).dims;
                for number in before..block.stmts.len() {
                    let guard = block.stmts[number].guard;
                    let is_there = |&guard: &ValueId| {
                        literals(block, sites, guard, true).is_superset(&side.region.taken)
                    };
                    if guard.is_some_and(|guard| guard == cond || is_there(&guard)) {
                        read_instead(&mut block.stmts[number], axes, self.base, table);
                    }
                }
            }
            before = Some(side.chain.last());
            table = side.table;
            let taken = handed.choices.entry(number).or_default();
            taken.push((cond, table));
            let mut chain = side.chain;
            // What stands in front of another choice by the same condition has been masked by it.
            let changes = &mut chain.changes;
            changes.retain(|&number, _| handed.masked.insert((number, cond)));
            chain.mask(program, block, cond, &mut handed.conds);
        }
        block.stmts[number].op = BulkOp::Gather {
            table,
            at: Vec::new(),
        };
        handed.gone.extend(self.inner);
    }
}

/// What a side reads of the table before, and at the same point of its condition, it reads of the one that it begins
/// with: where it is taken they are the same, and the one before may be changed in its place.
fn read_instead(stmt: &mut Stmt<Bulk>, axes: &[AxisId], base: ValueId, handed: ValueId) {
    if let BulkOp::Gather { table, at } = &mut stmt.op
        && *table == base
        && at.iter().all(|(axis, _)| !axes.contains(axis))
    {
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::READ_AS_HANDED);
        *table = handed;
    }
    for block in stmt.op.blocks_mut() {
        for stmt in &mut block.stmts {
            read_instead(stmt, axes, base, handed);
        }
    }
}

impl Side {
    /// Reads for this side what is handed to it instead of the table before: where it is taken they are
    /// the same, and the one before may be changed in its place.
    fn feed(&self, block: &mut Block<Bulk>, before: ValueId, handed: &mut Handed) {
        let first = self.chain.first();
        for (&number, &reads) in &self.feeding {
            let stmt = &mut block.stmts[number];
            if let BulkOp::Gather { table, .. } = &mut stmt.op
                && reads
            {
                #[cfg(test)]
                crate::testing::entered::enter(&crate::testing::entered::FED);
                *table = before;
            }
            if number < first {
                handed.conds.entry(first).or_default().push(stmt.clone());
                handed.gone.insert(number);
            }
        }
    }

    /// Makes the condition.
    fn condition(
        &self,
        program: &mut Program<Bulk>,
        block: &Block<Bulk>,
        conds: &mut Conds,
    ) -> ValueId {
        let first = self.chain.first();
        let at = (first, block.stmts[first].span);
        let mut all = self.guard;
        for &(cond, truth) in &self.path {
            let ty = program.ty(cond).clone();
            let cond = match truth {
                true => cond,
                false => made(
                    program,
                    ty,
                    BulkOp::Map(Prim::Not, smallvec![cond]),
                    at,
                    conds,
                ),
            };
            all = Some(both(program, cond, all, at, conds));
        }
        all.unwrap_or_else(|| unreachable!("a side is one of a choice"))
    }
}

/// What is looked at to find choices that can be taken away.
pub(super) struct Look<'l> {
    pub(super) program: &'l Program<Bulk>,
    pub(super) block: &'l Block<Bulk>,
    pub(super) uses: &'l Uses,
    pub(super) handed: &'l Handed,
    pub(super) guarded: &'l ValueSet,
}

impl Look<'_> {
    /// The choice that a statement is, if it can be taken away.
    pub(super) fn choice(&self, number: usize) -> Option<Choice> {
        let stmt = &self.block.stmts[number];
        if self.handed.gone.contains(&number) || !self.chooses(stmt) {
            return None;
        }
        let (mut leaves, mut inner) = (Vec::new(), Vec::new());
        self.leaves(stmt, &mut Vec::new(), &mut leaves, &mut inner);
        let lineages: Vec<_> = leaves
            .iter()
            .map(|(table, path)| self.lineage(*table, &self.region(path)))
            .collect();
        let is_common = |base: &&ValueId| lineages.iter().all(|all| all.contains(base));
        let base = *lineages[0].iter().find(is_common)?;
        let mut sides = Vec::new();
        for (table, path) in leaves {
            if table != base {
                sides.push(self.side(base, table, path)?);
            }
        }
        sides.sort_by_key(|side| side.chain.first());
        let several = sides.len() > 1;
        let mut pairs = sides.windows(2);
        let fits = pairs.all(|pair| pair[0].chain.last() < pair[1].chain.first())
            && sides.iter().any(|side| side.chain.has_loops())
            && sides.iter().all(|side| {
                (!several || self.same_axes(side.table, base))
                    && self.is_known(side)
                    && self.is_only_for(side, number, &inner)
            });
        if !fits {
            return None;
        }
        for side in &mut sides {
            side.feeding = self.feeding(side, base);
        }
        Some(Choice { base, sides, inner })
    }

    /// The statements that read a table, or a choice that takes it where a side is taken, for that side
    /// only, and what is computed of that.
    fn feeding(&self, side: &Side, base: ValueId) -> BTreeMap<usize, bool> {
        let Self {
            program,
            block,
            uses,
            handed,
            ..
        } = *self;
        let first = side.chain.first();
        let mut all = BTreeMap::new();
        for (number, stmt) in block.stmts.iter().enumerate() {
            let BulkOp::Gather { mut table, .. } = stmt.op else {
                continue;
            };
            while table != base
                && let Some(&site) = uses.sites.get(&table)
                && let stmt = &block.stmts[site]
                && let Some(taken) = side.region.taken(program, block, &uses.sites, stmt)
            {
                table = taken;
            }
            let mut feeding = BTreeSet::new();
            if table != base || !self.feeds(side, number, &mut feeding) {
                continue;
            }
            // They go in front of the first change, once.
            let mut results = feeding
                .iter()
                .flat_map(|&number| &block.stmts[number].results);
            let fits = results.all(|result| {
                let mut readers = uses.readers.get(result).into_iter().flatten();
                readers.all(|reader| *reader >= first || feeding.contains(reader))
            });
            if fits && handed.gone.is_disjoint(&feeding) {
                all.extend(
                    feeding
                        .into_iter()
                        .map(|feeding| (feeding, feeding == number)),
                );
            }
        }
        all
    }

    /// Whether two tables have the same axes, in whatever order.
    fn same_axes(&self, one: ValueId, other: ValueId) -> bool {
        let (one, other) = (&self.program.ty(one).dims, &self.program.ty(other).dims);
        one.len() == other.len() && one.iter().all(|axis| other.contains(axis))
    }

    /// Whether a statement is a choice between tables.
    fn chooses(&self, stmt: &Stmt<Bulk>) -> bool {
        let BulkOp::Select(cond, ..) = stmt.op else {
            return false;
        };
        let region = Region::of(self.program, cond);
        stmt.guard.is_none() && region.is_table(self.program, stmt.results[0])
    }

    /// What a choice chooses between, and the choices that are its sides, which nobody else looks
    /// at.
    fn leaves(
        &self,
        choice: &Stmt<Bulk>,
        path: &mut Vec<(ValueId, bool)>,
        leaves: &mut Vec<(ValueId, Vec<(ValueId, bool)>)>,
        inner: &mut Vec<usize>,
    ) {
        let BulkOp::Select(cond, then, otherwise) = choice.op else {
            return;
        };
        for (truth, side) in [(true, then), (false, otherwise)] {
            path.push((cond, truth));
            let site = self.uses.sites.get(&side);
            let own = site.filter(|&&site| {
                let readers = self.uses.readers.get(&side);
                self.chooses(&self.block.stmts[site])
                    && readers.is_some_and(|readers| readers.len() == 1)
                    && !self.block.results.contains(&side)
                    && !self.handed.choices.contains_key(&site)
            });
            match own {
                Some(&site) => {
                    inner.push(site);
                    self.leaves(&self.block.stmts[site], path, leaves, inner);
                }
                None => leaves.push((side, path.clone())),
            }
            path.pop();
        }
    }

    /// Where a path is taken.
    fn region(&self, path: &[(ValueId, bool)]) -> Region {
        let mut region = Region::default();
        for &(cond, truth) in path {
            region.holds(self.program, cond);
            let literals = |truth| literals(self.block, &self.uses.sites, cond, truth);
            // Of a conjunction that does not hold, but for one literal of it, that one does not.
            let opposite = literals(!truth);
            let mut open = opposite.difference(&region.taken);
            let taken = match (open.next(), open.next()) {
                (Some((prim, args, truth)), None) if opposite.len() > 1 => {
                    BTreeSet::from([(*prim, args.clone(), !truth)])
                }
                _ => literals(truth),
            };
            region.taken.extend(taken);
        }
        region
    }

    /// The tables that a table was made of by changes of some of its places, itself first.
    fn lineage(&self, table: ValueId, region: &Region) -> Vec<ValueId> {
        let Self {
            program,
            block,
            uses,
            ..
        } = *self;
        let mut all = vec![table];
        let mut made = table;
        while let Some(&site) = uses.sites.get(&made)
            && let stmt = &block.stmts[site]
            && let taken = region.taken(program, block, &uses.sites, stmt)
            && let Some(base) = taken.or_else(|| base(stmt, made))
        {
            all.push(base);
            made = base;
        }
        all
    }

    fn side(&self, base: ValueId, table: ValueId, path: Vec<(ValueId, bool)>) -> Option<Side> {
        let Self {
            program,
            block,
            uses,
            ..
        } = *self;
        let mut region = self.region(&path);
        let made = self.lineage(table, &region);
        let guards = made.iter().take_while(|&&made| made != base);
        let guard = guards
            .filter_map(|made| block.stmts[uses.sites[made]].guard)
            .next();
        if let Some(guard) = guard {
            region.guard = Some(guard);
            region.holds(program, guard);
        }
        let chain = Chain::of(program, block, &uses.sites, &region, [base, table])?;
        let first = chain.first();
        let asked = path.iter().map(|(cond, _)| cond).chain(&guard);
        let is_there = |cond: &ValueId| uses.sites.get(cond).is_none_or(|&site| site < first);
        if !asked.into_iter().all(is_there) || !region.is_table(program, table) {
            return None;
        }
        let is_taken = |guard: &ValueId| literals(block, &uses.sites, *guard, true) == region.taken;
        let cond = match (guard, path.as_slice()) {
            (Some(guard), _) => Some(guard).filter(is_taken),
            (None, &[(cond, true)]) => Some(cond),
            (None, _) => None,
        };
        Some(Side {
            table,
            path,
            guard,
            cond,
            region,
            chain,
            feeding: BTreeMap::new(),
        })
    }

    /// Whether everywhere is known how many steps the loops have.
    fn is_known(&self, side: &Side) -> bool {
        let mut numbers = side.chain.changes.keys();
        numbers.all(|&number| {
            let length = length(self.program, &self.block.stmts[number]);
            length.is_none_or(|length| !self.guarded.contains(&length))
        })
    }

    /// Whether what the statements make is looked at where the condition holds only, but by the
    /// choice.
    fn is_only_for(&self, side: &Side, choice: usize, inner: &[usize]) -> bool {
        let Self {
            block,
            uses,
            handed,
            ..
        } = *self;
        let takes = |reader: usize, value: ValueId| match block.stmts[reader].op {
            BulkOp::Select(by, then, otherwise) if then != otherwise => {
                let of = |cond| literals(block, &uses.sites, cond, true);
                let asked = literals(block, &uses.sites, by, value == then);
                [then, otherwise].contains(&value) && side.cond.is_some_and(|own| of(own) == asked)
            }
            _ => handed.choices.get(&reader).is_some_and(|taken| {
                let mut taken = taken.iter();
                taken.any(|&(cond, table)| Some(cond) == side.cond && table == value)
            }),
        };
        let may_read = |reader: usize, value: ValueId| {
            reader == choice
                || inner.contains(&reader)
                || side.chain.changes.contains_key(&reader)
                || side.chain.choices.contains(&reader)
                || self.is_behind(side, reader)
                || takes(reader, value)
                || self.feeds(side, reader, &mut BTreeSet::new())
        };
        let is_private =
            |&value: &ValueId| self.is_read_by(value, &mut |reader| may_read(reader, value));
        let mut numbers = side.chain.changes.keys().chain(&side.chain.choices);
        numbers.all(|&number| {
            self.is_behind(side, number) || block.stmts[number].results.iter().all(is_private)
        })
    }

    /// Whether a statement stands behind the condition of a side.
    fn is_behind(&self, side: &Side, number: usize) -> bool {
        side.cond.is_some() && self.uses.guards[number] == side.cond
    }

    /// Whether a value is read by such statements only.
    fn is_read_by(&self, value: ValueId, may_read: &mut dyn FnMut(usize) -> bool) -> bool {
        let mut axes = self.program.decls.axes.iter();
        let readers = self.uses.readers.get(&value);
        !self.block.results.contains(&value)
            && axes.all(|axis| axis.extent != Extent::Value(value))
            && readers.is_none_or(|all| all.iter().all(|&reader| may_read(reader)))
    }

    /// Whether what a statement computes feeds the changes of a side and nothing else, at the same point:
    /// where the side is not taken, nothing comes of it.
    fn feeds(&self, side: &Side, number: usize, met: &mut BTreeSet<usize>) -> bool {
        if !met.insert(number) {
            return true;
        }
        if met.len() > FEEDS {
            #[cfg(test)]
            crate::testing::entered::enter(&crate::testing::entered::FEEDS_MANY);
            return false;
        }
        let stmt = &self.block.stmts[number];
        let mut named = named_axes(&stmt.op).into_iter();
        let mut results = stmt.results.iter();
        is_total(self.program, &stmt.op)
            && !named.any(|axis| side.region.axes.contains(&axis))
            && results.all(|&result| {
                self.uses.readers.contains_key(&result)
                    && self.is_read_by(result, &mut |reader| {
                        side.chain.changes.contains_key(&reader)
                            || self.is_behind(side, reader)
                            || self.feeds(side, reader, met)
                    })
            })
    }
}
