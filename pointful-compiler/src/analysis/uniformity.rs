//! Lanes along which a loop does the same everywhere are none of its lanes.
//!
//! If there may be no lane at all, what could fail or not end must not run for nobody: neither what
//! is in the loop nor what reads its results ([`pinned`](super::pinned)). Such a loop keeps its lanes.

use std::collections::BTreeSet;

use super::dataflow::{Flow, may_fail, named_axes};
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Block, Extent, Operation, Program, Stmt, ValueId, ValueSet};

/// Takes the lanes away that nothing depends on that the statement begins with or reads. `kept`: what
/// must keep its axes.
pub(super) fn narrow(program: &mut Program<Bulk>, kept: &ValueSet, stmt: &mut Stmt<Bulk>) {
    let (BulkOp::Loop { lanes, .. } | BulkOp::While { lanes, .. }) = &stmt.op else {
        return;
    };
    if lanes.is_empty() {
        return;
    }
    let mut inside = Inside::default();
    for block in stmt.op.blocks() {
        inside.block(program, block);
    }
    let Inside {
        bound,
        mut read,
        named,
    } = inside;
    read.extend(stmt.op.operands());
    read.extend(stmt.guard);
    let mut needed: BTreeSet<AxisId> = named;
    for value in read.into_iter().filter(|value| !bound.contains(value)) {
        needed.extend(&program.ty(value).dims);
    }
    let there = |lane: &AxisId| match program.decls.axes[lane.0 as usize].extent {
        Extent::Const(n) => n > 0,
        Extent::Size(_) | Extent::Value(_) => false,
    };
    let fails = fails(program, stmt) || stmt.results.iter().any(|result| kept.contains(result));
    let idle = |lane: &AxisId| !needed.contains(lane) && (!fails || there(lane));
    let idle: Vec<AxisId> = lanes.iter().copied().filter(idle).collect();
    if idle.is_empty() {
        return;
    }
    drop_lanes(&mut stmt.op, &idle);
    for value in bound.iter().chain(stmt.results.iter().copied()) {
        let dims = &mut program.values[value.index()].ty.dims;
        dims.retain(|axis| !idle.contains(axis));
    }
}

/// Whether running a statement may panic, or not end.
fn fails(program: &Program<Bulk>, stmt: &Stmt<Bulk>) -> bool {
    let own = matches!(stmt.op, BulkOp::While { .. }) || may_fail(program, &stmt.op);
    let mut inner = stmt.op.blocks().into_iter().flat_map(|block| &block.stmts);
    own || inner.any(|stmt| fails(program, stmt))
}

fn drop_lanes(op: &mut BulkOp, idle: &[AxisId]) {
    if let BulkOp::Loop { lanes, .. }
    | BulkOp::While { lanes, .. }
    | BulkOp::Derive { lanes, .. }
    | BulkOp::Rule { lanes, .. } = op
    {
        lanes.retain(|lane| !idle.contains(lane));
    }
    for block in op.blocks_mut() {
        for stmt in &mut block.stmts {
            drop_lanes(&mut stmt.op, idle);
        }
    }
}

/// What blocks bind, what they read, and the axes that they name otherwise than as lanes.
#[derive(Default)]
struct Inside {
    bound: ValueSet,
    read: Vec<ValueId>,
    named: BTreeSet<AxisId>,
}

impl Inside {
    fn block(&mut self, program: &Program<Bulk>, block: &Block<Bulk>) {
        self.bind(program, &block.params);
        for stmt in &block.stmts {
            self.bind(program, &stmt.results);
            self.read.extend(stmt.op.operands());
            self.read.extend(stmt.guard);
            self.read.extend(Bulk::extents(program, &stmt.op));
            match &stmt.op {
                BulkOp::Loop { axis, .. } => self.named.extend([*axis]),
                BulkOp::While { .. } => {}
                op => self.named.extend(named_axes(op)),
            }
            for inner in stmt.op.blocks() {
                self.block(program, inner);
            }
        }
        self.read.extend(&block.results);
    }

    fn bind(&mut self, program: &Program<Bulk>, values: &[ValueId]) {
        for &value in values {
            self.bound.insert(value);
            self.read.extend(Bulk::type_extents(program, value));
        }
    }
}
