//! States that are handed on unchanged are no states.

use crate::ir::{Operation, Stmt, ValueId};
use crate::passes::flow::{Flow, Slots};
use crate::passes::subst::Subst;

/// The states of a loop whose next value is their value.
pub(super) fn invariant<S: Flow>(stmt: &Stmt<S>) -> Option<Vec<usize>> {
    let Slots::States { states, indices } = S::slots(&stmt.op) else {
        return None;
    };
    let blocks = stmt.op.blocks();
    let body = blocks.last()?;
    let unchanged: Vec<usize> = (0..states)
        .filter(|&k| body.results[k] == body.params[k + indices])
        .collect();
    (!unchanged.is_empty()).then_some(unchanged)
}

/// Makes states free: what reads them, inside and after the loop, reads the initial value.
pub(super) fn free<S: Flow>(stmt: &mut Stmt<S>, states: &[usize], subst: &mut Subst) {
    let Slots::States { indices, .. } = S::slots(&stmt.op) else {
        return;
    };
    let init = stmt.op.operands();
    for &k in states.iter().rev() {
        let params: Vec<ValueId> = stmt
            .op
            .blocks()
            .into_iter()
            .map(|block| block.params[k + indices])
            .collect();
        for value in params.into_iter().chain([stmt.results[k]]) {
            subst.replace(value, init[k]);
        }
        S::remove(&mut stmt.op, k);
        stmt.results.remove(k);
    }
}
