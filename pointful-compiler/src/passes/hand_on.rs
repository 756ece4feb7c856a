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
//! stands behind the condition as the loop did; what is a number of a point, and carried, is chosen there.

use std::collections::BTreeMap;

use super::Pass;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{Block, Operation, Program, SpanId, Stmt, ValueId};
use crate::ops::Prim;

/// The pass.
pub const HAND_ON: Pass<Bulk> = Pass {
    name: "hand-on",
    about: "let loops behind a condition hand on what they began with where it does not hold",
    run: hand_on,
};

/// Takes away choices between what a loop behind a condition has changed and what was there before.
pub fn hand_on(program: &Program<Bulk>) -> Program<Bulk> {
    program.rewritten(block)
}

fn block(program: &mut Program<Bulk>, block: &mut Block<Bulk>) {
    for stmt in &mut block.stmts {
        for inner in stmt.op.blocks_mut() {
            self::block(program, inner);
        }
    }
    let sites = sites(block);
    let mut conds = Vec::new();
    for number in 0..block.stmts.len() {
        let Stmt { ref op, guard, .. } = block.stmts[number];
        let &BulkOp::Select(cond, changed, before) = op else {
            continue;
        };
        if guard.is_some() || !is_table(program, changed, cond) {
            continue;
        }
        let Some(chain) = Chain::of(program, block, &sites, cond, [before, changed]) else {
            continue;
        };
        if chain.has_loops() {
            chain.mask(program, block, cond, &mut conds);
            let (table, at) = (changed, Vec::new());
            block.stmts[number].op = BulkOp::Gather { table, at };
        }
    }
    insert(block, conds);
}

/// Whether a value has all axes of a condition, and axes of its own.
fn is_table(program: &Program<Bulk>, value: ValueId, cond: ValueId) -> bool {
    let (own, asked) = (&program.ty(value).dims, &program.ty(cond).dims);
    own.len() > asked.len() && asked.iter().all(|axis| own.contains(axis))
}

/// Which statement of a block binds a value.
fn sites(block: &Block<Bulk>) -> BTreeMap<ValueId, usize> {
    let stmts = block.stmts.iter().enumerate();
    stmts
        .flat_map(|(number, stmt)| stmt.results.iter().map(move |&result| (result, number)))
        .collect()
}

/// Puts statements in front of those of these numbers, which ascend for each chain.
fn insert(block: &mut Block<Bulk>, new: Vec<(usize, Stmt<Bulk>)>) {
    let mut before: BTreeMap<usize, Vec<Stmt<Bulk>>> = BTreeMap::new();
    for (number, stmt) in new {
        before.entry(number).or_default().push(stmt);
    }
    for (number, stmt) in std::mem::take(&mut block.stmts).into_iter().enumerate() {
        block
            .stmts
            .extend(before.remove(&number).unwrap_or_default());
        block.stmts.push(stmt);
    }
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
        let first = chain.changes.keys().next();
        let is_known = |&number: &usize| sites.get(&cond).is_none_or(|&site| site < number);
        first.is_none_or(is_known).then_some(chain)
    }

    /// How the tables that a loop carries are made of themselves, if what else it does can stand behind the condition.
    fn of_body(program: &Program<Bulk>, body: &Block<Bulk>, cond: ValueId) -> Option<Self> {
        let sites = sites(body);
        let mut chain = Self::default();
        for (&param, &next) in body.params[1..].iter().zip(&body.results) {
            if is_table(program, param, cond) {
                let of_state = Self::of(program, body, &sites, cond, [param, next])?;
                chain.changes.extend(of_state.changes);
            }
        }
        let asked = &program.ty(cond).dims;
        let fits = |(number, stmt): (usize, &Stmt<Bulk>)| {
            let has_axes = |result: &ValueId| {
                let own = &program.ty(*result).dims;
                asked.iter().all(|axis| own.contains(axis))
            };
            chain.changes.contains_key(&number)
                || stmt.results.iter().all(has_axes) && !stmt.results.is_empty()
        };
        let mut stmts = body.stmts.iter().enumerate();
        stmts.all(fits).then_some(chain)
    }

    /// Whether there is a loop, for which it is worth it: of a place or two that are changed the schedule takes care.
    fn has_loops(&self) -> bool {
        self.changes.values().any(Option::is_some)
    }

    /// Lets the statements change something where the condition holds only. Conditions that they need, and in front of which statements, go to `conds`.
    fn mask(
        self,
        program: &mut Program<Bulk>,
        block: &mut Block<Bulk>,
        cond: ValueId,
        conds: &mut Vec<(usize, Stmt<Bulk>)>,
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
        let mut conds = Vec::new();
        for (number, stmt) in body.stmts.iter_mut().enumerate() {
            if !self.changes.contains_key(&number) {
                let at = (number, stmt.span);
                stmt.guard = Some(both(program, cond, stmt.guard, at, &mut conds));
            }
        }
        self.mask(program, body, cond, &mut conds);
        insert(body, conds);
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

/// The condition and another one.
fn both(
    program: &mut Program<Bulk>,
    cond: ValueId,
    other: Option<ValueId>,
    (number, span): (usize, SpanId),
    conds: &mut Vec<(usize, Stmt<Bulk>)>,
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
    conds.push((number, Stmt::new(vec![both], op, span)));
    both
}
