//! Loop coalescing of reductions: a number that is a reduction of reductions is one over all axes.
//!
//! ```text
//! %1[q] = reduce add [x] %0      ▶      %2 = reduce add [q, x] %0
//! %2 = reduce add [q] %1
//! ```
//!
//! A kernel over both axes has as many points as there are elements, so that a table of one row is
//! shared among threads as one of many rows is. A product of matrices stays the library's, and an
//! axis that is unrolled stays inside, as does one along which more loops are run.

use std::collections::BTreeMap;

use super::contract::own_site;
use super::facts::{Facts, on_demand};
use super::order::UNROLLED;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::{AxisId, Block, Extent, Operation, Program, Stmt, ValueId, ValueSet};

/// Outer reductions: along which axes, and of what; and inner ones, which nobody reads then.
pub(super) type Coalesced = BTreeMap<ValueId, Option<(Vec<AxisId>, ValueId)>>;

/// Finds reductions of reductions.
pub(super) fn coalesced(facts: &Facts<'_>) -> Option<Coalesced> {
    let mut found = Coalesced::new();
    find(facts, &facts.program.body, &mut found);
    #[cfg(test)]
    if !found.is_empty() {
        crate::testing::entered::enter(&crate::testing::entered::COALESCED);
    }
    (!found.is_empty()).then_some(found)
}

fn find<'p>(facts: &Facts<'p>, block: &'p Block<Bulk>, found: &mut Coalesced) {
    for stmt in block.stmts.iter().rev() {
        if let BulkOp::Loop { lanes, body, .. } = &stmt.op
            && lanes.is_empty()
        {
            find(facts, body, found);
            continue;
        }
        let number = |result: &&ValueId| facts.axes(**result).is_empty();
        let Some(&result) = stmt.results.first().filter(number) else {
            continue;
        };
        if found.contains_key(&result) {
            continue;
        }
        let Some((_, axes, mut operand)) = plain(facts, stmt) else {
            continue;
        };
        let (mut axes, mut inside) = (axes.to_vec(), Vec::new());
        while let Some((value, more, next)) = inner(facts, stmt, operand) {
            axes.extend(more);
            inside.push(value);
            operand = next;
        }
        if !inside.is_empty() {
            found.insert(result, Some((axes, operand)));
            found.extend(inside.into_iter().map(|value| (value, None)));
        }
    }
}

/// A reduction by a monoid: its result, its axes, and of what.
fn plain<'p>(facts: &Facts<'p>, stmt: &'p Stmt<Bulk>) -> Option<(Combine, &'p [AxisId], ValueId)> {
    match &stmt.op {
        BulkOp::Reduce {
            combine: combine @ Combine::Monoid(_),
            axes,
            operands,
        } if stmt.guard.is_none() && facts.factors(stmt).is_none() => {
            Some((combine.clone(), axes, operands[0]))
        }
        _ => None,
    }
}

/// The operand of a reduction, if it is such a reduction itself that nobody else reads.
fn inner<'p>(
    facts: &Facts<'p>,
    outer: &'p Stmt<Bulk>,
    operand: ValueId,
) -> Option<(ValueId, &'p [AxisId], ValueId)> {
    let home = facts.home(outer.results[0]);
    let (combine, ..) = plain(facts, outer)?;
    let (same, axes, of) = plain(facts, own_site(facts, operand, home)?)?;
    let fits = |&axis: &AxisId| match facts.extent(axis) {
        Extent::Const(length) => length > UNROLLED,
        Extent::Size(_) => true,
        // It may be another for each point of the outer axes.
        Extent::Value(_) => false,
    };
    let flat = same == combine && axes.iter().all(fits) && is_plain(facts, of);
    flat.then_some((operand, axes, of))
}

/// Whether nothing that a point needs takes a loop of its own: what does is better done for many
/// points of an outer loop at once.
fn is_plain(facts: &Facts<'_>, value: ValueId) -> bool {
    let mut left = vec![value];
    let mut seen = ValueSet::new();
    while let Some(value) = left.pop() {
        if facts.axes(value).is_empty() || !seen.insert(value) {
            continue;
        }
        match facts.site(value) {
            Some(stmt) if on_demand(&stmt.op) => left.extend(stmt.op.operands()),
            Some(stmt) if facts.factors(stmt).is_none() => return false,
            // A product of matrices is there before.
            Some(_) | None => {}
        }
    }
    true
}

/// The program with one reduction for each.
pub(super) fn coalesce(program: Program<Bulk>, found: &Coalesced) -> Program<Bulk> {
    program.rewritten(|_, body| rewrite(body, found))
}

fn rewrite(block: &mut Block<Bulk>, found: &Coalesced) {
    block.stmts.retain_mut(|stmt| {
        for inner in stmt.op.blocks_mut() {
            rewrite(inner, found);
        }
        let Some(change) = stmt.results.first().and_then(|result| found.get(result)) else {
            return true;
        };
        let (Some((all, operand)), BulkOp::Reduce { axes, operands, .. }) = (change, &mut stmt.op)
        else {
            return false;
        };
        axes.clone_from(all);
        *operands = vec![*operand];
        true
    });
}
