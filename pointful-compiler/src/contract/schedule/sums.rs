//! Sums of sums of products, as one sum along all axes.
//!
//! ```text
//! %0[n, f, c, d] = mul w, x                   %0[n, f, c, d] = mul w, x
//! %1[n, f, c] = reduce add [d] %0         ▶
//! %2[n, f] = reduce add [c] %1                %2[n, f] = reduce add [d, c] %0
//! ```
//!
//! A library that sums along one axis leaves what is larger than the factors and the sum. Along all
//! of them it adds up products, and nothing else is stored.

use std::collections::BTreeMap;

use super::contract::{own_site, products, summed};
use super::facts::Facts;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::{AxisId, Block, Monoid, Operation, Program, Stmt, ValueId, ValueSet};

/// A sum as it should be.
pub(super) struct Sum {
    product: ValueId,
    axes: Vec<AxisId>,
    /// Sums that nobody reads then.
    inner: Vec<ValueId>,
}

/// Sums that are better taken at once, by the values that they are; and what nobody reads then.
pub(super) type Joined = (BTreeMap<ValueId, Sum>, ValueSet);

/// Finds them.
pub(super) fn joined(facts: &Facts<'_>) -> Option<Joined> {
    let (mut found, mut dead) = (BTreeMap::new(), ValueSet::new());
    find(facts, &facts.program.body, &mut found, &mut dead);
    (!found.is_empty()).then_some((found, dead))
}

/// The program with these as single sums.
pub(super) fn at_once(program: Program<Bulk>, found: &Joined) -> Program<Bulk> {
    program.rewritten(|_, body| rewrite(body, found))
}

fn find<'p>(
    facts: &Facts<'p>,
    block: &'p Block<Bulk>,
    found: &mut BTreeMap<ValueId, Sum>,
    dead: &mut ValueSet,
) {
    // A sum comes before those that are part of it.
    for stmt in block.stmts.iter().rev() {
        match &stmt.op {
            BulkOp::Loop { lanes, body, .. } | BulkOp::While { lanes, body, .. }
                if lanes.is_empty() =>
            {
                find(facts, body, found, dead);
            }
            _ => {
                let known = stmt.results.iter().any(|value| dead.contains(value));
                if let Some((sum, true)) = sum(facts, stmt)
                    && !known
                {
                    dead.extend(&sum.inner);
                    found.insert(stmt.results[0], sum);
                }
            }
        }
    }
}

/// The sum of products that a sum of sums is, if they are products of matrices, and whether all
/// that a library needs may be stored.
pub(super) fn sum<'p>(facts: &Facts<'p>, stmt: &'p Stmt<Bulk>) -> Option<(Sum, bool)> {
    let adds = |stmt: &&'p Stmt<Bulk>| {
        let monoid = Combine::Monoid(Monoid::Add);
        matches!(&stmt.op, BulkOp::Reduce { combine, .. } if *combine == monoid)
            && stmt.guard.is_none()
    };
    let (mut product, axes) = summed(&Some(stmt).filter(adds)?.op)?;
    let home = facts.home(stmt.results[0]);
    let (mut axes, mut inner) = (axes.to_vec(), Vec::new());
    while let Some(site) = own_site(facts, product, home).filter(adds) {
        let (of, along) = summed(&site.op)?;
        inner.push(product);
        axes.extend(along);
        product = of;
    }
    if inner.is_empty() {
        return None;
    }
    let fits = products(facts, stmt.results[0], product, &axes)?
        .panels
        .is_some();
    let sum = Sum {
        product,
        axes,
        inner,
    };
    Some((sum, fits))
}

fn rewrite(block: &mut Block<Bulk>, joined: &Joined) {
    let (found, dead) = joined;
    block.stmts.retain_mut(|stmt| {
        for inner in stmt.op.blocks_mut() {
            rewrite(inner, joined);
        }
        let result = stmt.results.first();
        if let Some(sum) = result.and_then(|result| found.get(result)) {
            stmt.op = BulkOp::Reduce {
                combine: Combine::Monoid(Monoid::Add),
                axes: sum.axes.clone(),
                operands: vec![sum.product],
            };
        }
        !result.is_some_and(|result| dead.contains(result))
    });
}
