//! Sums of products under a condition, as sums of products of which one factor has zeros where the
//! condition does not hold.
//!
//! ```text
//! %0[i, j, k] = mul a, b                     %0[i, k] = select c, a, 0
//! %1[i, j, k] = select c[i, k], %0, 0   ▶    %1[i, j, k] = mul %0, b
//! %2[i, j] = reduce add [k] %1               %2[i, j, k] = select c, %1, 0
//!                                            %3[i, j] = reduce add [k] %2
//! ```
//!
//! A library multiplies all of them then, a triangle of a matrix as the whole. The condition stays,
//! as zero times what is no number is none; [absorbing](Prim::MulAbsorb) products do without. A
//! condition that is the same all along the summed axes is asked of the sum.
//!
//! Of absorbing products it may also be one factor that is zero where the condition does not hold,
//! though it has not the condition's axes: the other one is, which has them, or the sum.

use std::collections::BTreeMap;

use super::contract::{is_zero, masked_product, own_factors, own_site, products_of, summed};
use super::facts::Facts;
use super::nested::product;
use crate::canonicalize::dce;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{Block, Operation, Program, Stmt, ValueId};
use crate::ops::Prim;

/// A sum of products under a condition.
pub(super) struct Masked {
    cond: ValueId,
    times: Prim,
    /// The first is zero where the condition does not hold, unless that is asked of the sum.
    factors: [ValueId; 2],
    zero: ValueId,
    of_sum: bool,
}

/// Sums of products under conditions that products of matrices can be, by the values that they are.
pub(super) type Found = BTreeMap<ValueId, Masked>;

/// Finds them.
pub(super) fn masked(facts: &Facts<'_>) -> Option<Found> {
    let mut found = Found::new();
    find(facts, &facts.program.body, &mut found);
    (!found.is_empty()).then_some(found)
}

fn find<'p>(facts: &Facts<'p>, block: &'p Block<Bulk>, found: &mut Found) {
    for stmt in &block.stmts {
        match &stmt.op {
            BulkOp::Loop { lanes, body, .. } if lanes.is_empty() => find(facts, body, found),
            BulkOp::Reduce { .. } if stmt.guard.is_none() => {
                if let Some(masked) = of_sum(facts, stmt) {
                    found.insert(stmt.results[0], masked);
                }
            }
            _ => {}
        }
    }
}

/// What a statement sums, as it should be.
fn of_sum(facts: &Facts<'_>, stmt: &Stmt<Bulk>) -> Option<Masked> {
    let (product, axes) = summed(&stmt.op)?;
    let result = stmt.results[0];
    let home = facts.home(result);
    let (cond, zero, inner, factors) = match masked_product(facts, product, home) {
        Some((cond, zero, inner, factors)) => (cond, zero, Some(inner), factors),
        None => {
            let (cond, zero, factors) = masked_factor(facts, product, home)?;
            (cond, zero, None, factors)
        }
    };
    let BulkOp::Map(times, _) = facts.site(inner.unwrap_or(product))?.op else {
        return None;
    };
    let asked = facts.axes(cond);
    let has = |value: ValueId| asked.iter().all(|axis| facts.axes(value).contains(axis));
    let of_sum = has(result) && !axes.iter().any(|axis| asked.contains(axis));
    let [a, b] = factors;
    let factors = match [has(a), has(b)] {
        _ if of_sum => [a, b],
        [true, _] => [a, b],
        [_, true] => [b, a],
        [false, false] => return None,
    };
    let is_done = matches!(
        facts.site(factors[0]).map(|stmt| &stmt.op),
        Some(&BulkOp::Select(same, _, other)) if same == cond && is_zero(facts, other)
    );
    if is_done || facts.site(cond).is_some_and(|stmt| stmt.guard.is_some()) {
        return None;
    }
    let found = products_of(facts, result, factors, axes)?;
    found.panels.filter(Vec::is_empty)?;
    #[cfg(test)]
    crate::testing::entered::enter(&crate::testing::entered::MASKED);
    Some(Masked {
        cond,
        times,
        factors,
        zero,
        of_sum,
    })
}

/// An absorbing product of which one factor is zero where a condition does not hold that has more
/// axes: the condition, the zero, the other factor and what this one is elsewhere.
fn masked_factor(
    facts: &Facts<'_>,
    product: ValueId,
    home: usize,
) -> Option<(ValueId, ValueId, [ValueId; 2])> {
    let BulkOp::Map(Prim::MulAbsorb, _) = own_site(facts, product, home)?.op else {
        return None;
    };
    let [a, b] = own_factors(facts, product, home)?;
    [(a, b), (b, a)].into_iter().find_map(|(factor, other)| {
        let site = facts.site(factor).filter(|stmt| stmt.guard.is_none())?;
        let &BulkOp::Select(cond, value, zero) = &site.op else {
            return None;
        };
        let own = facts.axes(value);
        let more = !facts.axes(cond).iter().all(|axis| own.contains(axis));
        (more && is_zero(facts, zero)).then_some((cond, zero, [other, value]))
    })
}

/// The program with these as they should be.
pub(super) fn with_zeros(program: Program<Bulk>, found: &Found) -> Program<Bulk> {
    dce(program.rewritten(|program, body| rewrite(program, body, found)))
}

fn rewrite(program: &mut Program<Bulk>, block: &mut Block<Bulk>, found: &Found) {
    for mut stmt in std::mem::take(&mut block.stmts) {
        for inner in stmt.op.blocks_mut() {
            rewrite(program, inner, found);
        }
        let masked = stmt.results.first().and_then(|result| found.get(result));
        if let Some(masked) = masked {
            stmt.op = masked.write(program, &mut block.stmts, &stmt);
        }
        block.stmts.push(stmt);
    }
}

impl Masked {
    /// What the sum is, after what that needs.
    fn write(
        &self,
        program: &mut Program<Bulk>,
        stmts: &mut Vec<Stmt<Bulk>>,
        sum: &Stmt<Bulk>,
    ) -> BulkOp {
        let &Self {
            cond,
            times,
            factors: [factor, other],
            zero,
            ..
        } = self;
        let BulkOp::Reduce { combine, axes, .. } = &sum.op else {
            unreachable!("only those are found")
        };
        let all = |operand| BulkOp::Reduce {
            combine: combine.clone(),
            axes: axes.clone(),
            operands: vec![operand],
        };
        let bind = |program: &mut Program<Bulk>, stmts: &mut Vec<Stmt<Bulk>>, op, like| {
            let value = program.value(program.ty(like).clone(), sum.span);
            stmts.push(Stmt::new(vec![value], op, sum.span));
            value
        };
        if self.of_sum {
            let product = product(program, times, [factor, other], stmts, sum);
            let whole = bind(program, stmts, all(product), sum.results[0]);
            return BulkOp::Select(cond, whole, zero);
        }
        let op = BulkOp::Select(cond, factor, zero);
        let left = bind(program, stmts, op, factor);
        let product = product(program, times, [left, other], stmts, sum);
        all(match times {
            Prim::MulAbsorb => product,
            _ => {
                let op = BulkOp::Select(cond, product, zero);
                bind(program, stmts, op, product)
            }
        })
    }
}
