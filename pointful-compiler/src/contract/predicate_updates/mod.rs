//! Loops behind a condition hand on what they began with where it does not hold.
//!
//! ```text
//! %1[i] = loop %2: j (%3[i] = x) {                 %1[i] = loop %2: j (%3[i] = x) {
//!   %4 = gather %3 [i := %2]                         %4 = gather %3 [i := %2] if c
//!   %5[i] = update %3 [i := %2] %4                   %5[i] = update %3 [i := %2] %4 where c
//!   yield %5                                         yield %5
//! } if c                                           }
//! %6[i] = update x [i := %0] w                     %7 = not c
//! %8[i] = select c, %1, %6                         %6[i] = update %1 [i := %0] w where %7
//! return %8[i]                                     return %6[i]
//! ```
//!
//! What an elimination does is behind a condition,
//! `if i > k { for j in N { m[i][j] -= f * m[k][j]; } }`, and so is its derivative. The choice
//! afterwards, of the table that the loop has changed or the one before, or of what the sides of a
//! branch have made of one table, asks for all of them: in each step the whole table is copied,
//! though a row of it changes. If each side changes it where that side is taken only, there is one
//! table. For that each side gets [changes of its own](own_changes), [next to each other](demand_order).
//!
//! # Why it is sound
//!
//! Of a table that is changed place by place, by updates and scatters and loops of these, nothing
//! is left where none of them happens. A `while` goes on where the condition holds only. What else
//! such a loop computes stands behind the condition as the loop did; what is a number of a point, and
//! carried, is chosen there. What the changes make is looked at where the condition holds and by the
//! choice only: else they stay as they are. A side that begins with what another hands on begins with
//! the table before, wherever it is taken: of two sides at most one is. So what else it reads behind
//! its condition of the table before, it reads of that. A side that begins with another choice begins
//! with what that takes where the side is taken, as in derivatives, where each side has a choice between
//! its cotangent and nothing.

mod demand_order;
mod own_changes;
mod selects;
mod update_chains;

use std::collections::{BTreeMap, BTreeSet};

use smallvec::smallvec;

use self::selects::Look;
use self::update_chains::sites;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{Args, Block, Lit, Operation, Program, Stmt, ValueId, ValueSet};
use crate::ops::Prim;
use crate::pass::Pass;

/// The pass.
pub const PREDICATE_UPDATES: Pass<Bulk> = Pass {
    name: "hand-on",
    about: "let loops behind a condition hand on what they began with where it does not hold",
    run: predicate_updates,
};

/// Takes away choices between what loops behind conditions have changed and what was there before.
pub fn predicate_updates(program: Program<Bulk>) -> Program<Bulk> {
    program.rewritten(|program, body| block(program, body, &mut ValueSet::new()))
}

/// Whether there is anything for [`predicate_updates()`] to look at: choices, and loops beside
/// them.
pub fn hands_on(block: &Block<Bulk>) -> bool {
    let any = |is: fn(&Stmt<Bulk>) -> bool| block.stmts.iter().any(is);
    chooses(block) || any(|stmt| stmt.op.blocks().into_iter().any(hands_on))
}

/// Whether a block has choices and loops of its own.
fn chooses(block: &Block<Bulk>) -> bool {
    let any = |is: fn(&BulkOp) -> bool| block.stmts.iter().any(|stmt| is(&stmt.op));
    any(|op| matches!(op, BulkOp::Loop { .. } | BulkOp::While { .. }))
        && any(|op| matches!(op, BulkOp::Select(..)))
}

/// `guarded` is what stands behind guards so far, also around the block.
fn block(program: &mut Program<Bulk>, block: &mut Block<Bulk>, guarded: &mut ValueSet) {
    for stmt in &mut block.stmts {
        for inner in stmt.op.blocks_mut() {
            self::block(program, inner, guarded);
        }
        if stmt.guard.is_some() {
            guarded.extend(&stmt.results);
        }
    }
    if !chooses(block) {
        return;
    }
    let before = block.clone();
    own_changes::sink(program, block);
    own_changes::copy(program, block);
    demand_order::demand_order(program, block);
    let uses = Uses::of(block);
    let mut handed = Handed::default();
    // A choice between choices comes before those.
    for number in (0..block.stmts.len()).rev() {
        let look = Look {
            program,
            block,
            uses: &uses,
            handed: &handed,
            guarded,
        };
        if let Some(choice) = look.choice(number) {
            choice.hand_on(program, block, number, &uses.sites, &mut handed);
        }
    }
    if handed.choices.is_empty() {
        *block = before;
    } else {
        block.edit(handed.conds, &handed.gone);
    }
}

/// What has become of the statements of a block.
#[derive(Default)]
struct Handed {
    /// By choice that was taken away: the conditions of its sides, and what it took where they
    /// hold.
    choices: BTreeMap<usize, Vec<(ValueId, ValueId)>>,
    /// The statements that change something where a condition holds only: a loop that changes two
    /// tables is in front of two choices.
    masked: BTreeSet<(usize, ValueId)>,
    /// Choices that were sides of those.
    gone: BTreeSet<usize>,
    /// Conditions that are made.
    conds: Conds,
}

/// Statements that are made, in front of those of these numbers.
type Conds = BTreeMap<usize, Vec<Stmt<Bulk>>>;

/// Which statements of a block bind values, which read them, also inside, and what they stand
/// behind.
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

/// A truth value, or a comparison that may be told from its opposite; and how it ends.
type Literal = (Option<Prim>, Args, bool);

/// What a condition is a conjunction of.
fn literals(
    block: &Block<Bulk>,
    sites: &BTreeMap<ValueId, usize>,
    cond: ValueId,
    truth: bool,
) -> BTreeSet<Literal> {
    let definition = |value| Some(&block.stmts[*sites.get(value)?].op);
    let is = |value, truth| matches!(definition(value), Some(BulkOp::Const(Lit::Bool(b))) if *b == truth);
    let all = |sides: &[ValueId]| {
        let sides = sides
            .iter()
            .map(|&side| literals(block, sites, side, truth));
        Some(sides.flatten().collect())
    };
    let found = definition(&cond).and_then(|op| match op {
        BulkOp::Map(prim, args) => match (prim, truth) {
            (Prim::And, true) | (Prim::Or, false) => all(args),
            (Prim::Not, _) => Some(literals(block, sites, args[0], !truth)),
            (Prim::Eq, _) => Some(BTreeSet::from([(Some(Prim::Eq), args.clone(), truth)])),
            (Prim::Ne, _) => Some(BTreeSet::from([(Some(Prim::Eq), args.clone(), !truth)])),
            _ => None,
        },
        // Both, or one of them.
        BulkOp::Select(a, b, other) if truth && is(other, false) => all(&[*a, *b]),
        BulkOp::Select(a, other, b) if !truth && is(other, true) => all(&[*a, *b]),
        _ => None,
    });
    found.unwrap_or_else(|| BTreeSet::from([(None, smallvec![cond], truth)]))
}
