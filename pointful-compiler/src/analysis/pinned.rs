//! What must keep its axes: an operation that may panic, or reads where only its axes say that there
//! is something, must not run where one of them is empty.
//!
//! ```text
//! %1[a] = …                     the same at all `a`, of which there may be none
//! %2[a] = mirror N %1           without `a`, it would panic where `N` is empty
//! ```

use super::dataflow::may_fail;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Block, Operation, Program, ValueId, ValueSet};

/// The values of a body that must keep their axes.
pub(crate) fn pinned(program: &Program<Bulk>, body: &Block<Bulk>) -> ValueSet {
    let mut pinned = ValueSet::new();
    pin(body, program, &unspecified_somewhere(body), &mut pinned);
    pinned
}

/// What stands behind guards, and all that is computed from it.
fn unspecified_somewhere(block: &Block<Bulk>) -> ValueSet {
    let mut found = ValueSet::new();
    let mut todo = vec![block];
    while let Some(block) = todo.pop() {
        for stmt in &block.stmts {
            if stmt.guard.is_some() || stmt.op.reads_any(|operand| found.contains(&operand)) {
                found.extend(&stmt.results);
            }
            todo.extend(stmt.op.blocks());
        }
    }
    found
}

/// Finds what operations that may panic are computed from, walking backwards; and those that read
/// or write where only their axes say that the place is specified.
fn pin(
    block: &Block<Bulk>,
    program: &Program<Bulk>,
    unspecified: &ValueSet,
    pinned: &mut ValueSet,
) {
    for stmt in block.stmts.iter().rev() {
        if may_fail(program, &stmt.op)
            || places(&stmt.op).any(|place| unspecified.contains(&place))
            || stmt.results.iter().any(|result| pinned.contains(result))
        {
            stmt.op.for_each_operand(&mut |operand| {
                pinned.insert(*operand);
            });
            pinned.extend(stmt.guard);
            pinned.extend(stmt.op.blocks().into_iter().flat_map(|b| &b.results));
        }
        for inner in stmt.op.blocks() {
            pin(inner, program, unspecified, pinned);
        }
    }
}

/// What says where an operation reads or writes, and whether.
fn places(op: &BulkOp) -> impl Iterator<Item = ValueId> {
    let (at, mask): (&[(AxisId, ValueId)], _) = match op {
        BulkOp::Gather { at, .. } => (at, None),
        BulkOp::Scatter { at, mask, .. } | BulkOp::Update { at, mask, .. } => (at, *mask),
        BulkOp::Const(_)
        | BulkOp::Size(_)
        | BulkOp::Iota(_)
        | BulkOp::Map(..)
        | BulkOp::Select(..)
        | BulkOp::Pack { .. }
        | BulkOp::Reduce { .. }
        | BulkOp::Scan { .. }
        | BulkOp::Assert { .. }
        | BulkOp::Loop { .. }
        | BulkOp::While { .. }
        | BulkOp::Derive { .. }
        | BulkOp::Rule { .. } => (&[], None),
    };
    at.iter().map(|&(_, index)| index).chain(mask)
}
