//! Copies of statements under new names: of values, and of the axes whose extents are among them.

use std::collections::BTreeMap;

use super::builder::{Builder, for_each_axis_mut};
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Block, Elem, Extent, Operation, Stmt, ValueId};

/// What has a new name so far.
#[derive(Clone, Default, Debug)]
pub(super) struct Copier {
    values: BTreeMap<ValueId, ValueId>,
    axes: BTreeMap<AxisId, AxisId>,
    /// Lanes that every loop has in the copy: what is the same along them may be read of something
    /// that is not.
    pub(super) lanes: Vec<AxisId>,
}

impl Copier {
    /// The name of a value in copies.
    pub(super) fn get(&self, value: ValueId) -> ValueId {
        self.values.get(&value).copied().unwrap_or(value)
    }

    pub(super) fn axis(&self, axis: AxisId) -> AxisId {
        self.axes.get(&axis).copied().unwrap_or(axis)
    }

    fn extent(&self, extent: Extent) -> Extent {
        match extent {
            Extent::Value(value) => Extent::Value(self.get(value)),
            Extent::Const(_) | Extent::Size(_) => extent,
        }
    }

    pub(super) fn elem(&self, elem: Elem) -> Elem {
        match elem {
            Elem::Scalar(_) => elem,
            Elem::Index(extent) => Elem::Index(self.extent(extent)),
            Elem::Bound(extent) => Elem::Bound(self.extent(extent)),
        }
    }

    /// From now on, `new` is read where `old` was, and axes as long as `old` are others.
    pub(super) fn rename(&mut self, b: &mut Builder, old: ValueId, new: ValueId) {
        if old == new {
            return;
        }
        self.values.insert(old, new);
        for axis in b.axes_along(old) {
            let stem = b.program.decls.axes[axis.0 as usize].name.clone();
            let copy = b.axis(&stem, Extent::Value(new));
            self.axes.insert(axis, copy);
        }
    }

    fn bind(&mut self, b: &mut Builder, value: ValueId) -> ValueId {
        let mut known = b.program.values[value.index()].clone();
        known.ty.elem = self.elem(known.ty.elem);
        for axis in &mut known.ty.dims {
            *axis = self.axis(*axis);
        }
        let copy = b.program.value(known.ty, known.span);
        b.program.values[copy.index()].name = known.name;
        self.rename(b, value, copy);
        copy
    }

    pub(super) fn stmt(&mut self, b: &mut Builder, stmt: &Stmt<Bulk>) -> Stmt<Bulk> {
        let mut op = stmt.op.clone();
        op.for_each_operand_mut(&mut |value| *value = self.get(*value));
        for_each_axis_mut(&mut op, &mut |axis| *axis = self.axis(*axis));
        match &mut op {
            BulkOp::Size(extent) => *extent = self.extent(*extent),
            BulkOp::Map(prim, _) => {
                if let Some(extent) = prim.extent() {
                    *prim = prim.with_extent(self.extent(extent));
                }
            }
            _ => {}
        }
        for block in op.blocks_mut() {
            *block = self.block(b, block);
        }
        if let Some((lanes, params)) = lanes_and_params(&mut op) {
            extend(lanes, &self.lanes);
            for param in params {
                extend(&mut b.program.values[param.index()].ty.dims, &self.lanes);
            }
        }
        let results = stmt.results.iter().map(|&value| self.bind(b, value));
        let copy = Stmt {
            results: results.collect(),
            op,
            guard: stmt.guard.map(|guard| self.get(guard)),
            span: stmt.span,
        };
        b.learn(&copy);
        copy
    }

    /// A copy of a block, with parameters of its own.
    pub(super) fn block(&mut self, b: &mut Builder, block: &Block<Bulk>) -> Block<Bulk> {
        let params = block.params.iter().map(|&param| self.bind(b, param));
        let params = params.collect();
        let stmts = block.stmts.iter().map(|stmt| self.stmt(b, stmt));
        let stmts = stmts.collect();
        Block {
            params,
            stmts,
            results: block.results.iter().map(|&value| self.get(value)).collect(),
        }
    }
}

/// The lanes of what runs in some, and the parameters that have all of them.
pub(super) fn lanes_and_params(op: &mut BulkOp) -> Option<(&mut Vec<AxisId>, Vec<ValueId>)> {
    match op {
        BulkOp::Loop { lanes, body, .. } => Some((lanes, body.params[1..].to_vec())),
        BulkOp::While {
            lanes, cond, body, ..
        } => Some((lanes, [cond.params.as_slice(), &body.params].concat())),
        BulkOp::Derive { lanes, body, .. } => Some((lanes, body.params.clone())),
        BulkOp::Rule {
            lanes, body, rule, ..
        } => Some((lanes, [body.params.as_slice(), &rule.params].concat())),
        BulkOp::Const(_)
        | BulkOp::Size(_)
        | BulkOp::Iota(_)
        | BulkOp::Map(..)
        | BulkOp::Select(..)
        | BulkOp::Gather { .. }
        | BulkOp::Pack { .. }
        | BulkOp::Reduce { .. }
        | BulkOp::Scan { .. }
        | BulkOp::Scatter { .. }
        | BulkOp::Update { .. }
        | BulkOp::Assert { .. } => None,
    }
}

/// Adds axes that are not there yet.
pub(super) fn extend(axes: &mut Vec<AxisId>, more: &[AxisId]) {
    for &axis in more {
        if !axes.contains(&axis) {
            axes.push(axis);
        }
    }
}
