//! Each side of a branch has changes of its own.
//!
//! A change that several sides take is copied for each. What arms do alike has been computed once, but a
//! side changes the table where it is taken only; those that no choice needs are one again afterwards.
//!
//! ```text
//! %1[i] = update x [i := %0] w            %1[i] = update x [i := %0] w
//! %3[i] = select c, %1, y            ▶    %2[i] = update x [i := %0] w
//! %4[i] = select d, %1, %3                %3[i] = select c, %2, y
//!                                         %4[i] = select d, %1, %3
//! ```
//!
//! A change that happens on one side of a choice only, as `m` says at least what `c` says, goes in front of
//! the choice (code sinking), which is then one with those around it:
//!
//! ```text
//! %1[i] = select c, x, y                         %3[i] = update x [i := %0] w where m
//! %2[i] = update %1 [i := %0] w where m     ▶    %2[i] = select c, %3, y
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::update_chains::tables;
use super::{Conds, Uses, literals};
use crate::analysis::dataflow::named_axes;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{Block, Operation, Program, Stmt, ValueId};

/// Gives each statement that takes a changed table a change of its own.
pub(super) fn copy(program: &mut Program<Bulk>, block: &mut Block<Bulk>) {
    // Back to front: of changes that follow each other all are found.
    let mut back = Backwards::default();
    for stmt in std::mem::take(&mut block.stmts).into_iter().rev() {
        let changes = matches!(stmt.op, BulkOp::Update { .. } | BulkOp::Scatter { .. });
        if changes && !block.results.contains(&stmt.results[0]) {
            back.copy(program, &stmt);
        }
        back.push(stmt);
    }
    block.stmts = back.stmts;
    block.stmts.reverse();
}

/// The last statements of a block, the last one first, and which of them read values.
#[derive(Default)]
struct Backwards {
    stmts: Vec<Stmt<Bulk>>,
    readers: BTreeMap<ValueId, Vec<usize>>,
}

impl Backwards {
    fn push(&mut self, stmt: Stmt<Bulk>) {
        for value in stmt.op.operands() {
            let readers = self.readers.entry(value).or_default();
            if readers.last() != Some(&self.stmts.len()) {
                readers.push(self.stmts.len());
            }
        }
        self.stmts.push(stmt);
    }

    /// Copies a change for those that take the table, but for one.
    fn copy(&mut self, program: &mut Program<Bulk>, change: &Stmt<Bulk>) {
        let made = change.results[0];
        let mut takers = self.readers.get(&made).cloned().unwrap_or_default();
        takers.retain(|&reader| takes(program, &self.stmts[reader], made));
        for taker in takers.into_iter().skip(1) {
            let mut copy = change.clone();
            let copied = program.value(program.ty(made).clone(), change.span);
            copy.results[0] = copied;
            let op = &mut self.stmts[taker].op;
            op.for_each_operand_mut(&mut |value| {
                if *value == made {
                    *value = copied;
                }
            });
            #[cfg(test)]
            crate::testing::entered::enter(&crate::testing::entered::DUPLICATED);
            self.push(copy);
        }
    }
}

/// Whether a statement hands on a table, as it is or changed, and reads no more of it.
fn takes(program: &Program<Bulk>, stmt: &Stmt<Bulk>, table: ValueId) -> bool {
    let times = |values: &[ValueId]| values.iter().filter(|&&value| value == table).count();
    let taken = match stmt.op {
        BulkOp::Select(_, then, otherwise) => times(&[then, otherwise]),
        _ => times(&tables(program, stmt)),
    };
    let mut inside = stmt.op.blocks().into_iter().flat_map(Block::free);
    taken > 0 && taken == times(&stmt.op.operands()) && inside.all(|value| value != table)
}

/// Puts changes in front of choices of which they change one side.
pub(super) fn sink(program: &mut Program<Bulk>, block: &mut Block<Bulk>) {
    let uses = Uses::of(block);
    let (mut sunk, mut gone) = (Conds::new(), BTreeSet::new());
    for number in 0..block.stmts.len() {
        let Some((choice, (cond, truth), sides)) = side(program, block, &uses, number) else {
            continue;
        };
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::SUNK);
        let [changed, other] = sides;
        let mut change = block.stmts[number].clone();
        if let BulkOp::Update { table, .. } | BulkOp::Scatter { base: table, .. } = &mut change.op {
            *table = changed;
        }
        let chosen = change.results[0];
        let made = program.value(program.ty(chosen).clone(), change.span);
        change.results[0] = made;
        block.stmts[number].op = match truth {
            true => BulkOp::Select(cond, made, other),
            false => BulkOp::Select(cond, other, made),
        };
        sunk.insert(number, vec![change]);
        gone.insert(choice);
    }
    block.edit(sunk, &gone);
}

/// Of a change of what a choice takes, which nobody else asks for: the choice, the condition and what it
/// is where something is changed, and that side and the other one.
fn side(
    program: &Program<Bulk>,
    block: &Block<Bulk>,
    uses: &Uses,
    number: usize,
) -> Option<(usize, (ValueId, bool), [ValueId; 2])> {
    let stmt = &block.stmts[number];
    let (base, mask) = changed(stmt)?;
    let site = *uses.sites.get(&base)?;
    let choice = &block.stmts[site];
    let BulkOp::Select(cond, then, otherwise) = choice.op else {
        return None;
    };
    let literals = |cond, truth| literals(block, &uses.sites, cond, truth);
    let known = literals(mask, true);
    let (truth, sides) = if literals(cond, true).is_subset(&known) {
        (true, [then, otherwise])
    } else if literals(cond, false).is_subset(&known) {
        (false, [otherwise, then])
    } else {
        return None;
    };
    // Along axes of the condition another place may be on the other side.
    let asked = &program.ty(cond).dims;
    let axes = |value: ValueId| program.ty(value).dims.len();
    let fits = choice.guard.is_none()
        && uses.readers[&base] == [number]
        && !block.results.contains(&base)
        && axes(sides[0]) == axes(base)
        && named_axes(&stmt.op)
            .iter()
            .all(|axis| !asked.contains(axis));
    fits.then_some((site, (cond, truth), sides))
}

/// The table that a statement changes where a mask holds.
fn changed(stmt: &Stmt<Bulk>) -> Option<(ValueId, ValueId)> {
    let (table, mask) = match stmt.op {
        BulkOp::Update { table, mask, .. } => (table, mask),
        BulkOp::Scatter { base, mask, .. } => (base, mask),
        _ => return None,
    };
    stmt.guard.is_none().then_some((table, mask?))
}
