//! Loops that are the same in all their lanes run once.
//!
//! # The idea
//!
//! A derivative that is taken in many directions stands in a loop over these, and a sequential loop inside of it has them as its lanes:
//! all of it, although the states that the function itself carries are the same in each direction. Such states, and what is collected of
//! them, are computed by a loop of their own that lacks the lane, for all who read them afterwards; what reads only them then lacks the
//! lane, too. The loop that has the lane goes on carrying them, because its other states are computed from them. If nothing in a loop
//! depends on the lane, it is the loop itself that loses it.
//!
//! # Why it is sound
//!
//! States that depend on no value with the lane's axis have equal values at all its points, and a value that lacks an axis is the same
//! along it. There is at least one point, so that what may panic or not end is evaluated anyway.
//!
//! # Before and after
//!
//! ```text
//! %1, %2[a] = loop lanes [a] (%s = %x, %t = %y[a])     %1 = loop lanes [] (%s = %x) { … yield %s2 }
//!   { … yield %s2, %t2 }                               %3, %2[a] = loop lanes [a] (%s = %x, %t = %y[a]) { … yield %s2, %t2 }
//! %4[a] = exp %1                                       %4 = exp %1
//! ```

use std::collections::BTreeSet;

use super::build::{Builder, reads};
use super::copy::Copier;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Block, Extent, Operation, Program, Stmt, ValueId};
use crate::passes::Pass;
use crate::passes::flow::{Flow, named_axes};
use crate::passes::subst::Subst;

/// The pass.
pub const LANES: Pass<Bulk> = Pass {
    name: "lanes",
    about: "run loops once that are the same in all their lanes",
    run: lanes,
};

/// Takes lanes from loops, and from parts of loops, until no other loop has become the same in all its lanes by that.
pub fn lanes(program: &Program<Bulk>) -> Program<Bulk> {
    let mut program = program.clone();
    loop {
        let mut read: BTreeSet<ValueId> = program.body.results.iter().copied().collect();
        for stmt in &program.body.stmts {
            read.extend(reads(&program, stmt));
        }
        let mut body = std::mem::take(&mut program.body);
        let mut walk = Walk {
            b: Builder::new(program),
            subst: Subst::new(),
            read,
            changed: false,
        };
        walk.block(&mut body);
        let Walk {
            b, subst, changed, ..
        } = walk;
        program = b.program;
        program.body = body;
        if !changed {
            return program;
        }
        subst.types(&mut program);
        Bulk::retype(&mut program);
    }
}

struct Walk {
    b: Builder,
    subst: Subst,
    /// All that is read anywhere.
    read: BTreeSet<ValueId>,
    changed: bool,
}

impl Walk {
    fn block(&mut self, block: &mut Block<Bulk>) {
        for mut stmt in std::mem::take(&mut block.stmts) {
            self.subst.stmt(&mut stmt);
            for inner in stmt.op.blocks_mut() {
                self.block(inner);
            }
            if let BulkOp::Loop { lanes, .. } = &stmt.op {
                for lane in lanes.clone() {
                    block.stmts.extend(self.without(&mut stmt, lane));
                }
            }
            block.stmts.push(stmt);
        }
        self.subst.results(block);
    }

    /// Takes a lane from a loop; or gives another loop that does, of what in this one is the same in the whole lane and read afterwards.
    fn without(&mut self, stmt: &mut Stmt<Bulk>, lane: AxisId) -> Option<Stmt<Bulk>> {
        let there = matches!(self.b.extent(lane), Extent::Const(n) if n > 0);
        let varies = |value: &ValueId| self.b.program.ty(*value).dims.contains(&lane);
        let around = stmt
            .guard
            .into_iter()
            .chain(Bulk::extents(&self.b.program, &stmt.op));
        if !there || around.into_iter().any(|value| varies(&value)) {
            return None;
        }
        let BulkOp::Loop {
            axis,
            reverse,
            checkpoint,
            lanes,
            init,
            body,
        } = &stmt.op
        else {
            return None;
        };
        let variant = self.variant(init, body, lane);
        let same = |value: &ValueId| !variant.contains(value);
        if bound(body).iter().chain(&body.results).all(same) {
            narrow(&mut self.b.program, stmt, lane);
            self.changed = true;
            return None;
        }
        let count = init.len();
        let states: Vec<usize> = (0..count).filter(|&k| same(&body.params[k + 1])).collect();
        let collected = (count..body.results.len()).filter(|&k| same(&body.results[k]));
        let kept: Vec<usize> = states.iter().copied().chain(collected).collect();
        let wanted = |&k: &usize| {
            let result = stmt.results[k];
            varies(&result) && self.read.contains(&result)
        };
        let stmts = body.stmts.iter().filter(|stmt| {
            !matches!(stmt.op, BulkOp::Assert { .. }) && stmt.results.iter().all(same)
        });
        let part = Block {
            params: std::iter::once(0)
                .chain(states.iter().map(|k| k + 1))
                .map(|k| body.params[k])
                .collect(),
            stmts: stmts.cloned().collect(),
            results: kept.iter().map(|&k| body.results[k]).collect(),
        };
        // The copy of an extent would be another axis.
        let ragged = bound(&part)
            .iter()
            .any(|&value| !self.b.axes_along(value).is_empty());
        if ragged || !kept.iter().any(wanted) {
            return None;
        }
        let op = BulkOp::Loop {
            axis: *axis,
            reverse: *reverse,
            checkpoint: *checkpoint,
            lanes: lanes.clone(),
            init: states.iter().map(|&k| init[k]).collect(),
            body: Copier::default().block(&mut self.b, &part),
        };
        let mut results = Vec::new();
        for &k in &kept {
            let old = &self.b.program.values[stmt.results[k].index()];
            let (ty, name, span) = (old.ty.clone(), old.name.clone(), old.span);
            let new = self.b.program.value(ty, span);
            self.b.program.values[new.index()].name = name;
            self.subst.replace(stmt.results[k], new);
            results.push(new);
        }
        let mut part = Stmt {
            results,
            op,
            guard: stmt.guard,
            span: stmt.span,
        };
        narrow(&mut self.b.program, &mut part, lane);
        self.changed = true;
        Some(part)
    }

    /// What is bound in a body and depends on the lane.
    fn variant(&self, init: &[ValueId], body: &Block<Bulk>, lane: AxisId) -> BTreeSet<ValueId> {
        let inside: BTreeSet<ValueId> = bound(body).into_iter().collect();
        let outside = |value: &ValueId| {
            !inside.contains(value) && self.b.program.ty(*value).dims.contains(&lane)
        };
        let states = &body.params[1..];
        let begins = init.iter().zip(states).filter(|(init, _)| outside(init));
        let mut variant: BTreeSet<ValueId> = begins.map(|(_, &state)| state).collect();
        loop {
            let before = variant.len();
            for stmt in &body.stmts {
                let depends = |value: &ValueId| outside(value) || variant.contains(value);
                if makes(stmt, lane) || reads(&self.b.program, stmt).iter().any(depends) {
                    variant.extend(&stmt.results);
                    variant.extend(stmt.op.blocks().into_iter().flat_map(bound));
                }
            }
            for (&state, next) in states.iter().zip(&body.results) {
                if outside(next) || variant.contains(next) {
                    variant.insert(state);
                }
            }
            if variant.len() == before {
                // What is given as it is found around the loop.
                variant.extend(body.results.iter().filter(|value| outside(value)));
                return variant;
            }
        }
    }
}

/// Whether a statement, or one inside of it, brings an axis itself and not by what it reads. Derivatives that are still to be taken do.
fn makes(stmt: &Stmt<Bulk>, axis: AxisId) -> bool {
    let own = match &stmt.op {
        BulkOp::Loop { axis, .. } => vec![*axis],
        BulkOp::While { .. } => Vec::new(),
        BulkOp::Derive { .. } | BulkOp::Rule { .. } => return true,
        op => named_axes(op),
    };
    let mut inside = stmt.op.blocks().into_iter().flat_map(|block| &block.stmts);
    own.contains(&axis) || inside.any(|stmt| makes(stmt, axis))
}

/// All values bound in a block and in those inside.
fn bound(block: &Block<Bulk>) -> Vec<ValueId> {
    let mut all = block.params.clone();
    for stmt in &block.stmts {
        all.extend(&stmt.results);
        all.extend(stmt.op.blocks().into_iter().flat_map(bound));
    }
    all
}

/// Takes a lane from a statement, from its blocks and from the types of all that they bind.
fn narrow(program: &mut Program<Bulk>, stmt: &mut Stmt<Bulk>, lane: AxisId) {
    let mut values = stmt.results.clone();
    if let BulkOp::Loop { lanes, .. } | BulkOp::While { lanes, .. } = &mut stmt.op {
        lanes.retain(|&axis| axis != lane);
    }
    for block in stmt.op.blocks_mut() {
        values.extend(&block.params);
        for inner in &mut block.stmts {
            narrow(program, inner, lane);
        }
    }
    for value in values {
        program.values[value.index()]
            .ty
            .dims
            .retain(|&axis| axis != lane);
    }
}
