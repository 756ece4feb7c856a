//! Loops behind a condition hand on what they began with where it does not hold.
//!
//! ```text
//! %1[i] = loop %2: j (%3[i] = x) {                 %1[i] = loop %2: j (%3[i] = x) {
//!   %4 = gather %3 [i := %2]                         %4 = gather %3 [i := %2] if c
//!   %5[i] = update %3 [i := %2] %4                   %5[i] = update %3 [i := %2] %4 where c
//!   yield %5                                         yield %5
//! } if c                                           }
//! %6[i] = select c, %1, x                          return %1[i]
//! return %6[i]
//! ```
//!
//! What an elimination does is behind a condition, `if i > k { for j in N { m[i][j] -= f * m[k][j]; } }`, and so is its derivative. The choice afterwards, of the
//! table that the loop has changed or the one before, asks for both of them: in each step the whole table is copied, though a row of it changes. If it is changed
//! where the condition holds only, there is one table.
//!
//! # Why it is sound
//!
//! Of a table that is changed place by place, by updates and scatters and loops of these, nothing is left where none of them happens. What else such a loop computes
//! stands behind the condition as the loop did; what is a number of a point, and carried, is chosen there. What the changes make is looked at where the condition
//! holds and by the choice only: else they stay as they are.

use std::collections::{BTreeMap, BTreeSet};

use super::Pass;
use super::flow::may_fail;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{Block, Extent, Operation, Program, SpanId, Stmt, ValueId};
use crate::ops::Prim;

/// The pass.
pub const HAND_ON: Pass<Bulk> = Pass {
    name: "hand-on",
    about: "let loops behind a condition hand on what they began with where it does not hold",
    run: hand_on,
};

/// Takes away choices between what a loop behind a condition has changed and what was there before.
pub fn hand_on(program: &Program<Bulk>) -> Program<Bulk> {
    program.rewritten(|program, body| block(program, body, &mut BTreeSet::new()))
}

/// `guarded` is what stands behind guards so far, also around the block.
fn block(program: &mut Program<Bulk>, block: &mut Block<Bulk>, guarded: &mut BTreeSet<ValueId>) {
    for stmt in &mut block.stmts {
        for inner in stmt.op.blocks_mut() {
            self::block(program, inner, guarded);
        }
        if stmt.guard.is_some() {
            guarded.extend(&stmt.results);
        }
    }
    let uses = Uses::of(block);
    let mut handed = Handed::default();
    let mut conds = Conds::new();
    for number in 0..block.stmts.len() {
        let Stmt { ref op, guard, .. } = block.stmts[number];
        let &BulkOp::Select(cond, changed, before) = op else {
            continue;
        };
        if guard.is_some() || !is_table(program, changed, cond) {
            continue;
        }
        let Some(chain) = Chain::of(program, block, &uses.sites, cond, [before, changed]) else {
            continue;
        };
        if chain.has_loops()
            && chain.is_known(program, block, guarded)
            && chain.is_only_for(program, block, &uses, &handed, cond, number)
        {
            let chain = handed.without_masked(chain, cond);
            chain.mask(program, block, cond, &mut conds);
            handed.choices.insert(number, (cond, changed));
            let (table, at) = (changed, Vec::new());
            block.stmts[number].op = BulkOp::Gather { table, at };
        }
    }
    block.edit(conds, &BTreeSet::new());
}

/// What has become of the statements of a block.
#[derive(Default)]
struct Handed {
    /// The choices that were taken away: by which condition, and the table they took where it holds.
    choices: BTreeMap<usize, (ValueId, ValueId)>,
    /// The statements that change something where a condition holds only: a loop that changes two tables is in front of two choices.
    masked: BTreeSet<(usize, ValueId)>,
}

impl Handed {
    fn without_masked(&mut self, mut chain: Chain, cond: ValueId) -> Chain {
        let changes = &mut chain.changes;
        changes.retain(|&number, _| self.masked.insert((number, cond)));
        chain
    }
}

/// Conditions that are made, in front of the statements of these numbers.
type Conds = BTreeMap<usize, Vec<Stmt<Bulk>>>;

/// Whether a value has all axes of a condition.
fn has_axes(program: &Program<Bulk>, value: ValueId, cond: ValueId) -> bool {
    let (own, asked) = (&program.ty(value).dims, &program.ty(cond).dims);
    asked.iter().all(|axis| own.contains(axis))
}

/// Whether a value has axes of its own beside those.
fn is_table(program: &Program<Bulk>, value: ValueId, cond: ValueId) -> bool {
    has_axes(program, value, cond) && program.ty(value).dims.len() > program.ty(cond).dims.len()
}

/// Which statements of a block bind values, which read them, also inside, and what they stand behind.
struct Uses {
    sites: BTreeMap<ValueId, usize>,
    readers: BTreeMap<ValueId, Vec<usize>>,
    guards: Vec<Option<ValueId>>,
}

impl Uses {
    fn of(block: &Block<Bulk>) -> Self {
        let mut readers: BTreeMap<ValueId, Vec<usize>> = BTreeMap::new();
        for (number, stmt) in block.stmts.iter().enumerate() {
            let inside = stmt.op.blocks().into_iter().flat_map(Block::free);
            let read = stmt.op.operands().into_iter().chain(stmt.guard);
            for value in read.chain(inside) {
                readers.entry(value).or_default().push(number);
            }
        }
        Self {
            sites: sites(block),
            readers,
            guards: block.stmts.iter().map(|stmt| stmt.guard).collect(),
        }
    }
}

fn sites(block: &Block<Bulk>) -> BTreeMap<ValueId, usize> {
    let stmts = block.stmts.iter().enumerate();
    stmts
        .flat_map(|(number, stmt)| stmt.results.iter().map(move |&result| (result, number)))
        .collect()
}

/// How a table is made of another by statements of a block that change some of its places: their numbers, and of loops, what is so in their bodies.
#[derive(Default)]
struct Chain {
    changes: BTreeMap<usize, Option<Chain>>,
}

impl Chain {
    /// How one table is made of another where a condition holds.
    fn of(
        program: &Program<Bulk>,
        block: &Block<Bulk>,
        sites: &BTreeMap<ValueId, usize>,
        cond: ValueId,
        [before, after]: [ValueId; 2],
    ) -> Option<Self> {
        let mut chain = Self::default();
        let mut made = after;
        while made != before {
            let number = *sites.get(&made)?;
            let Stmt {
                results, op, guard, ..
            } = &block.stmts[number];
            if guard.is_some_and(|guard| guard != cond) {
                return None;
            }
            let (table, inside) = match op {
                BulkOp::Update {
                    table: base, at, ..
                }
                | BulkOp::Scatter { base, at, .. } => {
                    let dims = &program.ty(cond).dims;
                    if at.iter().any(|(axis, _)| dims.contains(axis)) {
                        return None;
                    }
                    (*base, None)
                }
                BulkOp::Loop { init, body, .. } => {
                    let state = results.iter().position(|&result| result == made)?;
                    let inside = Self::of_body(program, body, cond)?;
                    (*init.get(state)?, Some(inside))
                }
                _ => return None,
            };
            chain.changes.insert(number, inside);
            made = table;
        }
        Some(chain)
    }

    /// How the tables that a loop carries are made of themselves, if what else it does can stand behind the condition.
    fn of_body(program: &Program<Bulk>, body: &Block<Bulk>, cond: ValueId) -> Option<Self> {
        let sites = sites(body);
        let mut chain = Self::default();
        for (&param, &next) in body.params[1..].iter().zip(&body.results) {
            if is_table(program, param, cond) {
                let of_state = Self::of(program, body, &sites, cond, [param, next])?;
                chain.changes.extend(of_state.changes);
            } else if !has_axes(program, param, cond) {
                return None;
            }
        }
        // How many steps a loop has must be known where the condition does not hold.
        let fits = |(number, stmt): (usize, &Stmt<Bulk>)| match chain.changes.get(&number) {
            Some(_) => length(program, stmt).is_none(),
            None => stands_behind(program, stmt, cond) || is_harmless(program, stmt),
        };
        let mut stmts = body.stmts.iter().enumerate();
        stmts.all(fits).then_some(chain)
    }

    /// Whether there is a loop, for which it is worth it: of a place or two that are changed the schedule takes care.
    fn has_loops(&self) -> bool {
        self.changes.values().any(Option::is_some)
    }

    /// Whether everywhere is known how many steps the loops have.
    fn is_known(
        &self,
        program: &Program<Bulk>,
        block: &Block<Bulk>,
        guarded: &BTreeSet<ValueId>,
    ) -> bool {
        let mut numbers = self.changes.keys();
        numbers.all(|&number| {
            let length = length(program, &block.stmts[number]);
            length.is_none_or(|length| !guarded.contains(&length))
        })
    }

    /// Whether what the statements make is looked at where the condition holds only, but by the choice. The condition is there before them.
    fn is_only_for(
        &self,
        program: &Program<Bulk>,
        block: &Block<Bulk>,
        uses: &Uses,
        handed: &Handed,
        cond: ValueId,
        choice: usize,
    ) -> bool {
        let is_behind = |number: usize| uses.guards[number] == Some(cond);
        let may_read = |&reader: &usize, value: ValueId| {
            let takes = match block.stmts[reader].op {
                BulkOp::Select(by, taken, other) => (by, taken) == (cond, value) && other != value,
                _ => handed.choices.get(&reader) == Some(&(cond, value)),
            };
            reader == choice || takes || self.changes.contains_key(&reader) || is_behind(reader)
        };
        let is_private = |&value: &ValueId| {
            let mut axes = program.decls.axes.iter();
            !block.results.contains(&value)
                && axes.all(|axis| axis.extent != Extent::Value(value))
                && uses
                    .readers
                    .get(&value)
                    .is_none_or(|readers| readers.iter().all(|reader| may_read(reader, value)))
        };
        let first = self.changes.keys().next();
        let site = uses.sites.get(&cond);
        site.is_none_or(|site| first.is_none_or(|first| site < first))
            && self.changes.keys().all(|&number| {
                is_behind(number) || block.stmts[number].results.iter().all(is_private)
            })
    }

    /// Lets the statements change something where the condition holds only.
    fn mask(
        self,
        program: &mut Program<Bulk>,
        block: &mut Block<Bulk>,
        cond: ValueId,
        conds: &mut Conds,
    ) {
        for (number, inside) in self.changes {
            let span = block.stmts[number].span;
            block.stmts[number].guard = None;
            match &mut block.stmts[number].op {
                BulkOp::Update { mask, .. } | BulkOp::Scatter { mask, .. } => {
                    *mask = Some(both(program, cond, *mask, (number, span), conds));
                }
                BulkOp::Loop { init, body, .. } => {
                    let inside = inside.unwrap_or_default();
                    inside.mask_body(program, body, init.len(), cond);
                }
                _ => unreachable!("chains are of these"),
            }
        }
    }

    fn mask_body(
        self,
        program: &mut Program<Bulk>,
        body: &mut Block<Bulk>,
        states: usize,
        cond: ValueId,
    ) {
        let mut conds = Conds::new();
        for (number, stmt) in body.stmts.iter_mut().enumerate() {
            if !self.changes.contains_key(&number) && stands_behind(program, stmt, cond) {
                let at = (number, stmt.span);
                stmt.guard = Some(both(program, cond, stmt.guard, at, &mut conds));
            }
        }
        self.mask(program, body, cond, &mut conds);
        body.edit(conds, &BTreeSet::new());
        for state in 0..states {
            let (param, next) = (body.params[1 + state], body.results[state]);
            if param != next && !is_table(program, param, cond) {
                let ty = program.ty(param).clone();
                let span = program.values[param.index()].span;
                let chosen = program.value(ty, span);
                let choice = BulkOp::Select(cond, next, param);
                body.stmts.push(Stmt::new(vec![chosen], choice, span));
                body.results[state] = chosen;
            }
        }
    }
}

/// What says how many steps a loop has, if that is computed.
fn length(program: &Program<Bulk>, stmt: &Stmt<Bulk>) -> Option<ValueId> {
    let BulkOp::Loop { axis, .. } = stmt.op else {
        return None;
    };
    match program.decls.axes[axis.0 as usize].extent {
        Extent::Value(length) => Some(length),
        Extent::Const(_) | Extent::Size(_) => None,
    }
}

/// Whether a statement can be guarded by a condition.
fn stands_behind(program: &Program<Bulk>, stmt: &Stmt<Bulk>, cond: ValueId) -> bool {
    let mut results = stmt.results.iter();
    !stmt.results.is_empty() && results.all(|&result| has_axes(program, result, cond))
}

/// Whether a statement may be where nobody asks for what it gives.
fn is_harmless(program: &Program<Bulk>, stmt: &Stmt<Bulk>) -> bool {
    !may_fail(program, &stmt.op) && stmt.op.blocks().is_empty()
}

/// The condition and another one.
fn both(
    program: &mut Program<Bulk>,
    cond: ValueId,
    other: Option<ValueId>,
    (number, span): (usize, SpanId),
    conds: &mut Conds,
) -> ValueId {
    let Some(other) = other.filter(|&other| other != cond) else {
        return cond;
    };
    let mut ty = program.ty(other).clone();
    let asked = program.ty(cond).dims.clone();
    ty.dims.retain(|axis| !asked.contains(axis));
    ty.dims.extend(asked);
    let both = program.value(ty, span);
    let op = BulkOp::Map(Prim::And, vec![cond, other]);
    let made = Stmt::new(vec![both], op, span);
    conds.entry(number).or_default().push(made);
    both
}
