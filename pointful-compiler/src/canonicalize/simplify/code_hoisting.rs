//! What is the same whichever branch is taken does not come from the branch.

use crate::analysis::dataflow::{Flow, Slots};
use crate::canonicalize::substitution::Subst;
use crate::ir::{Operation, Stmt};

/// Takes away the results that all of several blocks give alike. Since no block sees into another,
/// they are bound outside.
pub(super) fn merge<S: Flow>(stmt: &mut Stmt<S>, subst: &mut Subst) -> bool {
    if S::slots(&stmt.op) != Slots::Blocks {
        return false;
    }
    let mut changed = false;
    for k in (0..stmt.results.len()).rev() {
        let blocks = stmt.op.blocks();
        let [first, others @ ..] = blocks.as_slice() else {
            continue;
        };
        let value = first.results[k];
        if others.is_empty() || others.iter().any(|block| block.results[k] != value) {
            continue;
        }
        subst.replace(stmt.results[k], value);
        S::remove(&mut stmt.op, k);
        stmt.results.remove(k);
        changed = true;
    }
    changed
}
