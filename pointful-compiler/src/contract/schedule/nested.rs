//! Sums of products of three arrays, as sums of products of two.
//!
//! ```text
//! %0[b, i, v] = mul m, r              sum over j of what bones do to vertices         %0[v, b, j] = mul w, r
//! %1[b, i, v] = reduce add [j] %0                                                ▶   %1[v, b, j, i] = mul %0, m
//! %2[b, i, v] = mul w, %1             and over bones, by their weights                %2[i, v] = reduce add [b, j] %1
//! %3[i, v] = reduce add [b] %2
//! ```
//!
//! As it is written, no array of two of them is a matrix that is small enough to be stored.
//! Multiplied in another order, they may be: then what is left is a product of matrices. There are
//! no more products than before, but for those of two arrays, which all others share.

use smallvec::smallvec;

use std::collections::BTreeMap;

use super::contract::{Shape, own_factors, own_site, summed};
use super::facts::Facts;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::{AxisId, Block, Monoid, Operation, Program, Stmt, Type, ValueId, ValueSet};
use crate::ops::Prim;

/// A sum as it should be.
pub(super) struct Flat {
    /// What is multiplied first,
    first: [ValueId; 2],
    /// and then by this,
    last: ValueId,
    /// summed along these axes.
    axes: Vec<AxisId>,
    times: Prim,
}

/// Sums of products of three arrays that products of matrices can be, by the values that they are;
/// and what nobody reads then.
pub(super) type Nested = (BTreeMap<ValueId, Flat>, ValueSet);

/// Finds them.
pub(super) fn nested(facts: &Facts<'_>) -> Option<Nested> {
    let (mut found, mut dead) = (BTreeMap::new(), ValueSet::new());
    find(facts, &facts.program.body, &mut found, &mut dead);
    (!found.is_empty()).then_some((found, dead))
}

/// The program with these as products of matrices.
pub(super) fn unnested(program: Program<Bulk>, (found, dead): &Nested) -> Program<Bulk> {
    program.rewritten(|program, body| rewrite(program, body, found, dead))
}

fn find<'p>(
    facts: &Facts<'p>,
    block: &'p Block<Bulk>,
    found: &mut BTreeMap<ValueId, Flat>,
    dead: &mut ValueSet,
) {
    for stmt in &block.stmts {
        match &stmt.op {
            BulkOp::Loop { lanes, body, .. } if lanes.is_empty() => find(facts, body, found, dead),
            _ => {
                if let Some((flat, unread)) = flat(facts, stmt)
                    && !unread.iter().any(|value| dead.contains(value))
                {
                    dead.extend(unread);
                    found.insert(stmt.results[0], flat);
                }
            }
        }
    }
}

/// A sum of products with a sum of products as it should be, and what nobody reads then.
fn flat<'p>(facts: &Facts<'p>, stmt: &'p Stmt<Bulk>) -> Option<(Flat, [ValueId; 3])> {
    let sum = |stmt: &'p Stmt<Bulk>| {
        let is_reduce = matches!(stmt.op, BulkOp::Reduce { .. });
        let alone = is_reduce && stmt.guard.is_none() && facts.factors(stmt).is_none();
        summed(&stmt.op).filter(|_| alone)
    };
    let (outer, outer_axes) = sum(stmt)?;
    let result = stmt.results[0];
    let home = facts.home(result);
    if !facts.program.elem(result).is_float() {
        return None;
    }
    let [a, b] = own_factors(facts, outer, home)?;
    for (weight, middle) in [(a, b), (b, a)] {
        let Some((inner, inner_axes)) = own_site(facts, middle, home).and_then(sum) else {
            continue;
        };
        let Some([y, z]) = own_factors(facts, inner, home) else {
            continue;
        };
        let axes: Vec<AxisId> = outer_axes.iter().chain(inner_axes).copied().collect();
        for (with, last) in [(y, z), (z, y)] {
            let first = [weight, with];
            let shape = Shape {
                left: &union(facts, first),
                right: facts.axes(last),
                summed: &axes,
                result: facts.axes(result),
            };
            if shape.is_of_matrices(|axis| facts.extent(axis))
                && Shape::is_storable(facts, shape.left)
                && [last, result]
                    .iter()
                    .all(|&value| Shape::fits(facts, value))
            {
                let absorbs = |product| {
                    let op = facts.site(product).map(|site| &site.op);
                    matches!(op, Some(BulkOp::Map(Prim::MulAbsorb, _)))
                };
                let times = match absorbs(outer) || absorbs(inner) {
                    true => Prim::MulAbsorb,
                    false => Prim::Mul,
                };
                let flat = Flat {
                    first,
                    last,
                    axes,
                    times,
                };
                return Some((flat, [outer, middle, inner]));
            }
        }
    }
    None
}

/// The axes of a product.
fn union(facts: &Facts<'_>, [a, b]: [ValueId; 2]) -> Vec<AxisId> {
    let a = facts.axes(a);
    let more = facts.axes(b).iter().filter(|axis| !a.contains(axis));
    a.iter().chain(more).copied().collect()
}

fn rewrite(
    program: &mut Program<Bulk>,
    block: &mut Block<Bulk>,
    found: &BTreeMap<ValueId, Flat>,
    dead: &ValueSet,
) {
    for mut stmt in std::mem::take(&mut block.stmts) {
        for inner in stmt.op.blocks_mut() {
            rewrite(program, inner, found, dead);
        }
        if stmt.results.iter().any(|value| dead.contains(value)) {
            continue;
        }
        if let Some(flat) = stmt.results.first().and_then(|result| found.get(result)) {
            let times = flat.times;
            let first = product(program, times, flat.first, &mut block.stmts, &stmt);
            let all = product(program, times, [first, flat.last], &mut block.stmts, &stmt);
            stmt.op = BulkOp::Reduce {
                combine: Combine::Monoid(Monoid::Add),
                axes: flat.axes.clone(),
                operands: vec![all],
            };
        }
        block.stmts.push(stmt);
    }
}

/// The product of two arrays, for the sake of a statement.
pub(super) fn product(
    program: &mut Program<Bulk>,
    times: Prim,
    [a, b]: [ValueId; 2],
    stmts: &mut Vec<Stmt<Bulk>>,
    whose: &Stmt<Bulk>,
) -> ValueId {
    let ty = program.ty(a).clone();
    let mut dims = ty.dims;
    for &axis in &program.ty(b).dims {
        if !dims.contains(&axis) {
            dims.push(axis);
        }
    }
    let elem = ty.elem;
    let value = program.value(Type { elem, dims }, whose.span);
    let op = BulkOp::Map(times, smallvec![a, b]);
    stmts.push(Stmt::new(vec![value], op, whose.span));
    value
}
