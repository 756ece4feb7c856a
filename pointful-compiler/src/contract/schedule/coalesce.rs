//! Loop coalescing of reductions: a reduction of reductions that nobody else reads as one over all
//! axes, where one is better.
//!
//! ```text
//! %1[n, f, c] = reduce add [d] %0      ▶      %2[n, f] = reduce add [c, d] %0
//! %2[n, f] = reduce add [c] %1
//! ```
//!
//! - *Products of matrices.* A library that sums along one axis leaves what is larger than the
//!   factors and the sum. Along all of them it adds up products, and nothing else is stored.
//! - *Numbers.* A kernel over all axes has as many points as there are elements, so that a table of
//!   one row is shared among threads as one of many rows is. An axis that is unrolled stays inside,
//!   as does one along which more loops are run.

use std::collections::BTreeMap;

use super::contract::{own_site, products};
use super::facts::{Facts, on_demand};
use super::order::UNROLLED;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::{AxisId, Block, Extent, Monoid, Operation, Program, Stmt, ValueId, ValueSet};

/// A reduction of reductions as one.
pub(super) struct Whole {
    operand: ValueId,
    axes: Vec<AxisId>,
    /// Reductions that nobody reads then.
    inner: Vec<ValueId>,
}

/// Reductions that are better done at once, by the values that they are; and what nobody reads then.
pub(super) type Coalesced = (BTreeMap<ValueId, Whole>, ValueSet);

/// Finds them.
pub(super) fn coalesced(facts: &Facts<'_>) -> Option<Coalesced> {
    let mut found = Coalesced::default();
    find(facts, &facts.program.body, &mut found);
    (!found.0.is_empty()).then_some(found)
}

/// The program with one reduction for each.
pub(super) fn coalesce(program: Program<Bulk>, found: &Coalesced) -> Program<Bulk> {
    program.rewritten(|_, body| rewrite(body, found))
}

fn find<'p>(facts: &Facts<'p>, block: &'p Block<Bulk>, found: &mut Coalesced) {
    // A reduction comes before those that are part of it.
    for stmt in block.stmts.iter().rev() {
        match &stmt.op {
            BulkOp::Loop { lanes, body, .. } | BulkOp::While { lanes, body, .. }
                if lanes.is_empty() =>
            {
                find(facts, body, found);
            }
            _ => {
                let (wholes, dead) = &mut *found;
                if stmt.results.iter().any(|value| dead.contains(value)) {
                    continue;
                }
                if let Some(whole) = of_products(facts, stmt).or_else(|| number(facts, stmt)) {
                    dead.extend(&whole.inner);
                    wholes.insert(stmt.results[0], whole);
                }
            }
        }
    }
}

fn of_products<'p>(facts: &Facts<'p>, stmt: &'p Stmt<Bulk>) -> Option<Whole> {
    let (sum, fits) = sum_of_products(facts, stmt)?;
    #[cfg(test)]
    if fits {
        crate::testing::entered::enter(&crate::testing::entered::AT_ONCE);
    }
    fits.then_some(sum)
}

/// The sum of products that a sum of sums is, if they are products of matrices, and whether all
/// that a library needs may be stored.
pub(super) fn sum_of_products<'p>(
    facts: &Facts<'p>,
    stmt: &'p Stmt<Bulk>,
) -> Option<(Whole, bool)> {
    let (adds, ..) = by_monoid(stmt).filter(|(combine, ..)| **combine == ADD)?;
    let sum = chain(facts, stmt, |inner| {
        by_monoid(inner).filter(|(combine, ..)| *combine == adds)
    })?;
    let fits = products(facts, stmt.results[0], sum.operand, &sum.axes)?;
    Some((sum, fits.panels.is_some()))
}

const ADD: Combine = Combine::Monoid(Monoid::Add);

/// A number that is a reduction of reductions of what is computed point for point.
fn number<'p>(facts: &Facts<'p>, stmt: &'p Stmt<Bulk>) -> Option<Whole> {
    let alone = |stmt: &Stmt<Bulk>| facts.factors(stmt).is_none();
    let (combine, ..) = by_monoid(stmt).filter(|_| alone(stmt))?;
    if !facts.axes(stmt.results[0]).is_empty() {
        return None;
    }
    let whole = chain(facts, stmt, |inner| {
        let fits = |&axis: &AxisId| match facts.extent(axis) {
            Extent::Const(length) => length > UNROLLED,
            Extent::Size(_) => true,
            // It may be another for each point of the outer axes.
            Extent::Value(_) => false,
        };
        by_monoid(inner).filter(|(same, axes, operand)| {
            *same == combine && alone(inner) && axes.iter().all(fits) && is_plain(facts, *operand)
        })
    })?;
    #[cfg(test)]
    crate::testing::entered::enter(&crate::testing::entered::COALESCED);
    Some(whole)
}

/// By what, along which axes, and of what.
type Reduction<'p> = (&'p Combine, &'p [AxisId], ValueId);

fn by_monoid(stmt: &Stmt<Bulk>) -> Option<Reduction<'_>> {
    match &stmt.op {
        BulkOp::Reduce {
            combine: combine @ Combine::Monoid(_),
            axes,
            operands,
        } if stmt.guard.is_none() => Some((combine, axes, operands[0])),
        _ => None,
    }
}

/// A reduction with those inside of it that may be part of it, one at least.
fn chain<'p>(
    facts: &Facts<'p>,
    stmt: &'p Stmt<Bulk>,
    part: impl Fn(&'p Stmt<Bulk>) -> Option<Reduction<'p>>,
) -> Option<Whole> {
    let (_, axes, operand) = by_monoid(stmt)?;
    let home = facts.home(stmt.results[0]);
    let mut whole = Whole {
        operand,
        axes: axes.to_vec(),
        inner: Vec::new(),
    };
    while let Some((_, axes, operand)) = own_site(facts, whole.operand, home).and_then(&part) {
        // What is the same all along an axis, being a sum along it, is added as often as that is long.
        if axes.iter().any(|axis| whole.axes.contains(axis)) {
            break;
        }
        whole.inner.push(whole.operand);
        whole.axes.extend(axes);
        whole.operand = operand;
    }
    (!whole.inner.is_empty()).then_some(whole)
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

fn rewrite(block: &mut Block<Bulk>, coalesced: &Coalesced) {
    let (found, dead) = coalesced;
    block.stmts.retain_mut(|stmt| {
        for inner in stmt.op.blocks_mut() {
            rewrite(inner, coalesced);
        }
        let result = stmt.results.first();
        if let Some(whole) = result.and_then(|result| found.get(result))
            && let BulkOp::Reduce { axes, operands, .. } = &mut stmt.op
        {
            axes.clone_from(&whole.axes);
            *operands = vec![whole.operand];
        }
        !result.is_some_and(|result| dead.contains(result))
    });
}
