//! Guards that are needed no more.
//!
//! While derivatives are taken, floats in a branch stand behind its condition, so that their
//! derivatives do. Afterwards, what cannot fail and reads nothing that is unspecified may be
//! evaluated everywhere again.

use crate::analysis::dataflow::{may_fail, may_lack_lanes};
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{Block, Operation, Program, Stmt, ValueId, ValueSet};

/// Takes guards away.
pub(super) fn unguard(block: &mut Block<Bulk>, program: &Program<Bulk>) {
    walk(block, program, &mut ValueSet::new());
}

fn walk(block: &mut Block<Bulk>, program: &Program<Bulk>, unspecified: &mut ValueSet) {
    for stmt in &mut block.stmts {
        if stmt.guard.is_some() {
            let reads = stmt.op.operands();
            if total(stmt, program) && !reads.iter().any(|value| unspecified.contains(value)) {
                stmt.guard = None;
            } else {
                unspecified.extend(&stmt.results);
            }
        } else if let BulkOp::Gather { table, .. } = &stmt.op
            && unspecified.contains(table)
        {
            // What an outer loop kept of what an inner one did.
            unspecified.extend(&stmt.results);
        }
        for inner in stmt.op.blocks_mut() {
            walk(inner, program, unspecified);
        }
        // Nor does a loop say anything with what it collects of it, or where it has no lanes.
        if let BulkOp::Loop { body, .. } | BulkOp::While { body, .. } = &stmt.op {
            let given = stmt.results.iter().zip(&body.results);
            let nothing = given.filter(|(result, value)| {
                unspecified.contains(value) || may_lack_lanes(program, &stmt.op, **result)
            });
            let results: Vec<ValueId> = nothing.map(|(&result, _)| result).collect();
            unspecified.extend(results);
        }
    }
}

/// Whether an operation of specified values has a value everywhere, at little cost.
fn total(stmt: &Stmt<Bulk>, program: &Program<Bulk>) -> bool {
    match &stmt.op {
        BulkOp::Map(..) => !may_fail(program, &stmt.op),
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
