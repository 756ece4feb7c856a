//! Which values depend on what is differentiated.

use super::builder::reads;
use super::rules::is_flat;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{Program, Stmt, ValueSet};

/// Adds the floats that the statements compute from active values.
pub(super) fn propagate(program: &Program<Bulk>, stmts: &[Stmt<Bulk>], active: &mut ValueSet) {
    for stmt in stmts {
        if let BulkOp::Map(prim, _) = stmt.op
            && is_flat(prim)
        {
            continue;
        }
        if reads(program, stmt)
            .iter()
            .any(|value| active.contains(value))
        {
            active.extend(program.floats(&stmt.results));
        }
    }
}
