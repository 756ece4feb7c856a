//! Guards that are needed no more.
//!
//! While derivatives are taken, floats in a branch stand behind its condition, so that their derivatives do. Afterwards, what cannot fail and
//! reads nothing that is unspecified may be evaluated everywhere again.

use std::collections::BTreeSet;

use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{Block, Elem, Operation, Stmt, Value, ValueId};
use crate::ops::Prim;

/// Takes guards away.
pub(super) fn unguard(block: &mut Block<Bulk>, values: &[Value<crate::ir::AxisId>]) {
    walk(block, values, &mut BTreeSet::new());
}

fn walk(
    block: &mut Block<Bulk>,
    values: &[Value<crate::ir::AxisId>],
    unspecified: &mut BTreeSet<ValueId>,
) {
    for stmt in &mut block.stmts {
        if stmt.guard.is_some() {
            let reads = stmt.op.operands();
            if total(stmt, values) && !reads.iter().any(|value| unspecified.contains(value)) {
                stmt.guard = None;
            } else {
                unspecified.extend(&stmt.results);
            }
        }
        for inner in stmt.op.blocks_mut() {
            walk(inner, values, unspecified);
        }
    }
}

/// Whether an operation of specified values has a value everywhere, at little cost.
fn total(stmt: &Stmt<Bulk>, values: &[Value<crate::ir::AxisId>]) -> bool {
    match &stmt.op {
        BulkOp::Map(prim, args) => {
            let elems: Vec<Elem> = args.iter().map(|arg| values[arg.index()].ty.elem).collect();
            !matches!(prim, Prim::Trust(_)) && !prim.may_panic(&elems)
        }
        BulkOp::Const(_)
        | BulkOp::Size(_)
        | BulkOp::Iota(_)
        | BulkOp::Select(..)
        | BulkOp::Gather { .. }
        | BulkOp::Pack { .. } => true,
        BulkOp::Reduce { .. }
        | BulkOp::Scan { .. }
        | BulkOp::Scatter { .. }
        | BulkOp::Update { .. }
        | BulkOp::Assert { .. }
        | BulkOp::Loop { .. }
        | BulkOp::While { .. }
        | BulkOp::Derive { .. }
        | BulkOp::Rule { .. } => false,
    }
}
