//! States that are handed on unchanged, or begin anew each time as they began at first, are no
//! states.

use super::Simplify;
use super::context::Context;
use crate::analysis::dataflow::{Flow, Slots};
use crate::canonicalize::substitution::Subst;
use crate::ir::{Operation, Stmt, ValueId};

/// The states of a loop whose next value is their value, or the initial one.
pub(super) fn invariant<S: Simplify>(stmt: &Stmt<S>, context: &Context<'_, S>) -> Vec<usize> {
    let Slots::States { states, indices } = S::slots(&stmt.op) else {
        return Vec::new();
    };
    let (blocks, init) = (stmt.op.blocks(), stmt.op.operands());
    let Some(body) = blocks.last() else {
        return Vec::new();
    };
    (0..states)
        .filter(|&k| [body.params[k + indices], init[k]].contains(&body.results[k]))
        .filter(|&k| {
            let mut places: Vec<ValueId> = blocks.iter().map(|b| b.params[k + indices]).collect();
            places.push(stmt.results[k]);
            let axes = context.axes(&init[k..=k]);
            places
                .iter()
                .all(|&place| context.may_have_axes(place, &axes))
        })
        .collect()
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
