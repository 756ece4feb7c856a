//! How values flow through an operation: what passes that treat all operations alike need to know,
//! at each stage that they run on.

use super::pinned::pinned;
use super::uniformity::narrow;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::typing::Typing;
use crate::ir::{AxisId, Block, Elem, Extent, Operation, Program, Stmt, ValueId, ValueSet};
use crate::ops::Prim;

/// Which results depend on what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Slots {
    /// Each result depends on all operands; there is no block.
    Operands,
    /// Result `k` is result `k` of each block; the operands decide whether and how often the blocks
    /// run.
    Blocks,
    /// The first `states` results are handed from one iteration to the next: operand, block
    /// parameter, block result and result `k` belong together. The others are collected.
    States {
        /// How many there are.
        states: usize,
        /// How many parameters of the blocks come before the states.
        indices: usize,
    },
    /// Everything depends on everything.
    Whole,
}

/// What an operation does beside giving results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Nothing, though it may panic.
    None,
    /// It is there to panic.
    Assert,
    /// It makes or reads an accumulator, so that evaluating it once is not the same as evaluating
    /// it twice.
    Accumulator,
    /// It combines something into this accumulator.
    Into(ValueId),
}

/// A stage whose operations can be asked.
pub(crate) trait Flow: Typing {
    /// How results depend on operands.
    fn slots(op: &Self::Op) -> Slots;

    /// What else it does.
    fn effect(op: &Self::Op) -> Effect;

    /// Calls `visit` with each computed extent that the operation names.
    fn for_each_extent_mut(op: &mut Self::Op, visit: &mut dyn FnMut(&mut ValueId));

    /// The computed extents on which the meaning of an operation depends.
    fn extents(program: &Program<Self>, op: &Self::Op) -> Vec<ValueId>;

    /// The computed extents in the type of a value.
    fn type_extents(program: &Program<Self>, value: ValueId) -> Vec<ValueId>;

    /// The computed extents that say what shape the function's results have.
    fn result_extents(program: &Program<Self>) -> Vec<ValueId>;

    /// Calls `visit` with each computed extent in types and declarations.
    fn for_each_declared_extent_mut(
        program: &mut Program<Self>,
        visit: &mut dyn FnMut(&mut ValueId),
    );

    /// Takes result `k` away, and what belongs to it alone. Only where [`Flow::slots`] says what
    /// that is.
    fn remove(op: &mut Self::Op, k: usize);

    /// Says again what axes values have, after those of what they are computed from may have
    /// changed.
    fn retype(program: &mut Program<Self>);
}

/// The value that an extent is.
fn computed(extent: Extent) -> Option<ValueId> {
    match extent {
        Extent::Value(value) => Some(value),
        Extent::Const(_) | Extent::Size(_) => None,
    }
}

fn visit_extent(extent: &mut Extent, visit: &mut dyn FnMut(&mut ValueId)) {
    match extent {
        Extent::Value(value) => visit(value),
        Extent::Const(_) | Extent::Size(_) => {}
    }
}

fn visit_elem(elem: &mut Elem, visit: &mut dyn FnMut(&mut ValueId)) {
    match elem {
        Elem::Index(extent) | Elem::Bound(extent) => visit_extent(extent, visit),
        Elem::Scalar(_) => {}
    }
}

fn elem_extent(elem: Elem) -> Option<ValueId> {
    elem.extent().and_then(computed)
}

fn remove_result<S: Flow>(block: &mut Block<S>, k: usize) {
    block.results.remove(k);
}

impl Flow for Point {
    fn slots(op: &PointOp) -> Slots {
        match op {
            PointOp::For { .. } | PointOp::If { .. } => Slots::Blocks,
            PointOp::Fold { .. }
            | PointOp::Scan { .. }
            | PointOp::Derive { .. }
            | PointOp::Rule { .. } => Slots::Whole,
            PointOp::Loop { init, .. } => Slots::States {
                states: init.len(),
                indices: 1,
            },
            PointOp::While { init, .. } => Slots::States {
                states: init.len(),
                indices: 0,
            },
            PointOp::Const(_)
            | PointOp::Size(_)
            | PointOp::Prim(..)
            | PointOp::Index { .. }
            | PointOp::Array(_)
            | PointOp::Reduce { .. }
            | PointOp::ArgReduce { .. }
            | PointOp::Accum { .. }
            | PointOp::Accumulate { .. }
            | PointOp::Get { .. }
            | PointOp::Assert { .. }
            | PointOp::Update { .. } => Slots::Operands,
        }
    }

    fn effect(op: &PointOp) -> Effect {
        match op {
            PointOp::Assert { .. } => Effect::Assert,
            PointOp::Accum { .. } | PointOp::Get { .. } => Effect::Accumulator,
            PointOp::Accumulate { acc, .. } => Effect::Into(*acc),
            PointOp::Const(_)
            | PointOp::Size(_)
            | PointOp::Prim(..)
            | PointOp::Index { .. }
            | PointOp::Array(_)
            | PointOp::For { .. }
            | PointOp::Reduce { .. }
            | PointOp::ArgReduce { .. }
            | PointOp::Fold { .. }
            | PointOp::Scan { .. }
            | PointOp::Loop { .. }
            | PointOp::While { .. }
            | PointOp::Derive { .. }
            | PointOp::Rule { .. }
            | PointOp::If { .. }
            | PointOp::Update { .. } => Effect::None,
        }
    }

    fn for_each_extent_mut(op: &mut PointOp, visit: &mut dyn FnMut(&mut ValueId)) {
        match op {
            PointOp::Size(extent) | PointOp::For { extent, .. } | PointOp::Loop { extent, .. } => {
                visit_extent(extent, visit)
            }
            PointOp::Prim(prim, _) => {
                if let Some(mut extent) = prim.extent() {
                    visit_extent(&mut extent, visit);
                    *prim = prim.with_extent(extent);
                }
            }
            PointOp::Const(_)
            | PointOp::Index { .. }
            | PointOp::Array(_)
            | PointOp::Reduce { .. }
            | PointOp::ArgReduce { .. }
            | PointOp::Fold { .. }
            | PointOp::Scan { .. }
            | PointOp::While { .. }
            | PointOp::Derive { .. }
            | PointOp::Rule { .. }
            | PointOp::If { .. }
            | PointOp::Accum { .. }
            | PointOp::Accumulate { .. }
            | PointOp::Get { .. }
            | PointOp::Assert { .. }
            | PointOp::Update { .. } => {}
        }
    }

    fn extents(_: &Program<Point>, op: &PointOp) -> Vec<ValueId> {
        let extent = match op {
            PointOp::Size(extent) | PointOp::For { extent, .. } | PointOp::Loop { extent, .. } => {
                Some(*extent)
            }
            PointOp::Prim(prim, _) => prim.extent(),
            PointOp::Const(_)
            | PointOp::Index { .. }
            | PointOp::Array(_)
            | PointOp::Reduce { .. }
            | PointOp::ArgReduce { .. }
            | PointOp::Fold { .. }
            | PointOp::Scan { .. }
            | PointOp::While { .. }
            | PointOp::Derive { .. }
            | PointOp::Rule { .. }
            | PointOp::If { .. }
            | PointOp::Accum { .. }
            | PointOp::Accumulate { .. }
            | PointOp::Get { .. }
            | PointOp::Assert { .. }
            | PointOp::Update { .. } => None,
        };
        extent.and_then(computed).into_iter().collect()
    }

    fn type_extents(program: &Program<Point>, value: ValueId) -> Vec<ValueId> {
        let ty = program.ty(value);
        let dims = ty.dims.iter().copied().filter_map(computed);
        elem_extent(ty.elem).into_iter().chain(dims).collect()
    }

    fn result_extents(program: &Program<Point>) -> Vec<ValueId> {
        let results = program.body.results.iter();
        results
            .flat_map(|&result| Self::type_extents(program, result))
            .collect()
    }

    fn for_each_declared_extent_mut(
        program: &mut Program<Point>,
        visit: &mut dyn FnMut(&mut ValueId),
    ) {
        for value in &mut program.values {
            visit_elem(&mut value.ty.elem, visit);
            for dim in &mut value.ty.dims {
                visit_extent(dim, visit);
            }
        }
    }

    fn remove(op: &mut PointOp, k: usize) {
        match op {
            PointOp::For { body, .. } => remove_result(body, k),
            PointOp::If {
                then, otherwise, ..
            } => {
                remove_result(then, k);
                remove_result(otherwise, k);
            }
            PointOp::Loop { init, body, .. } => {
                if k < init.len() {
                    init.remove(k);
                    body.params.remove(k + 1);
                }
                remove_result(body, k);
            }
            PointOp::While {
                init, cond, body, ..
            } => {
                init.remove(k);
                cond.params.remove(k);
                body.params.remove(k);
                remove_result(body, k);
            }
            PointOp::Derive { .. }
            | PointOp::Rule { .. }
            | PointOp::Const(_)
            | PointOp::Size(_)
            | PointOp::Prim(..)
            | PointOp::Index { .. }
            | PointOp::Array(_)
            | PointOp::Reduce { .. }
            | PointOp::ArgReduce { .. }
            | PointOp::Fold { .. }
            | PointOp::Scan { .. }
            | PointOp::Accum { .. }
            | PointOp::Accumulate { .. }
            | PointOp::Get { .. }
            | PointOp::Assert { .. }
            | PointOp::Update { .. } => {}
        }
    }

    /// Types in Point say everything that there is to say.
    fn retype(_: &mut Program<Point>) {}
}

/// The axes that an operation names.
pub(crate) fn named_axes(op: &BulkOp) -> Vec<AxisId> {
    let mut named = Vec::new();
    for_each_axis(op, &mut |axis| named.push(axis));
    named
}

/// Calls `visit` with each axis that an operation names.
pub(crate) fn for_each_axis(op: &BulkOp, visit: &mut dyn FnMut(AxisId)) {
    match op {
        BulkOp::Iota(axis) | BulkOp::Pack { axis, .. } | BulkOp::Scan { axis, .. } => visit(*axis),
        BulkOp::Loop { axis, lanes, .. } => {
            visit(*axis);
            lanes.iter().copied().for_each(visit);
        }
        BulkOp::While { lanes: axes, .. }
        | BulkOp::Derive { lanes: axes, .. }
        | BulkOp::Rule { lanes: axes, .. }
        | BulkOp::Reduce { axes, .. } => axes.iter().copied().for_each(visit),
        BulkOp::Gather { at, .. } | BulkOp::Update { at, .. } => {
            at.iter().for_each(|&(axis, _)| visit(axis));
        }
        BulkOp::Scatter { at, over, .. } => {
            at.iter().for_each(|&(axis, _)| visit(axis));
            over.iter().copied().for_each(visit);
        }
        BulkOp::Const(_)
        | BulkOp::Size(_)
        | BulkOp::Map(..)
        | BulkOp::Select(..)
        | BulkOp::Assert { .. } => {}
    }
}

/// The axes at whose points a statement is evaluated: nothing of it is where there is nothing along
/// one of them. Not those that it works along itself, positions and states, which it does whether
/// or not there is anything along them.
pub(crate) fn points(program: &Program<Bulk>, stmt: &Stmt<Bulk>) -> Vec<AxisId> {
    let dims = |result: &ValueId| program.ty(*result).dims.as_slice();
    let Some((first, others)) = stmt.results.split_first() else {
        return Vec::new();
    };
    let all = |axis: &AxisId| others.iter().all(|other| dims(other).contains(axis));
    let common = dims(first).iter().copied().filter(all);
    let own: Vec<AxisId> = match &stmt.op {
        BulkOp::Loop { lanes, .. }
        | BulkOp::While { lanes, .. }
        | BulkOp::Derive { lanes, .. }
        | BulkOp::Rule { lanes, .. } => return lanes.clone(),
        BulkOp::Scatter { at, .. } | BulkOp::Update { at, .. } => {
            at.iter().map(|&(axis, _)| axis).collect()
        }
        // The operator's parameters have the axes of its elements, and those that it is run along.
        BulkOp::Scan { op, .. }
        | BulkOp::Reduce {
            combine: Combine::Custom { op, .. },
            ..
        } => op.params.iter().flat_map(dims).copied().collect(),
        BulkOp::Const(_)
        | BulkOp::Size(_)
        | BulkOp::Iota(_)
        | BulkOp::Map(..)
        | BulkOp::Select(..)
        | BulkOp::Gather { .. }
        | BulkOp::Pack { .. }
        | BulkOp::Reduce { .. }
        | BulkOp::Assert { .. } => Vec::new(),
    };
    common.filter(|axis| !own.contains(axis)).collect()
}

/// Whether an operation itself, its blocks aside, may panic, or trusts what it is given.
pub(crate) fn may_fail(program: &Program<Bulk>, op: &BulkOp) -> bool {
    match op {
        BulkOp::Assert { .. } => true,
        BulkOp::Map(prim, args) => {
            matches!(prim, Prim::Trust(_)) || prim.may_panic(program.elem(args[0]))
        }
        BulkOp::Reduce { combine, .. } => matches!(combine, Combine::ArgMin | Combine::ArgMax),
        BulkOp::Const(_)
        | BulkOp::Size(_)
        | BulkOp::Iota(_)
        | BulkOp::Select(..)
        | BulkOp::Gather { .. }
        | BulkOp::Pack { .. }
        | BulkOp::Scan { .. }
        | BulkOp::Scatter { .. }
        | BulkOp::Update { .. }
        | BulkOp::Loop { .. }
        | BulkOp::While { .. }
        | BulkOp::Derive { .. }
        | BulkOp::Rule { .. } => false,
    }
}

/// Whether an operation may be done where nobody asks for what it gives.
pub(crate) fn is_total(program: &Program<Bulk>, op: &BulkOp) -> bool {
    op.blocks().is_empty() && !may_fail(program, op)
}

impl Flow for Bulk {
    fn slots(op: &BulkOp) -> Slots {
        match op {
            BulkOp::Loop { init, .. } => Slots::States {
                states: init.len(),
                indices: 1,
            },
            BulkOp::While { init, .. } => Slots::States {
                states: init.len(),
                indices: 0,
            },
            BulkOp::Reduce {
                combine: Combine::Custom { .. },
                ..
            }
            | BulkOp::Scan { .. }
            | BulkOp::Derive { .. }
            | BulkOp::Rule { .. } => Slots::Whole,
            BulkOp::Const(_)
            | BulkOp::Size(_)
            | BulkOp::Iota(_)
            | BulkOp::Map(..)
            | BulkOp::Select(..)
            | BulkOp::Gather { .. }
            | BulkOp::Pack { .. }
            | BulkOp::Reduce { .. }
            | BulkOp::Scatter { .. }
            | BulkOp::Update { .. }
            | BulkOp::Assert { .. } => Slots::Operands,
        }
    }

    fn effect(op: &BulkOp) -> Effect {
        match op {
            BulkOp::Assert { .. } => Effect::Assert,
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
            | BulkOp::Loop { .. }
            | BulkOp::While { .. }
            | BulkOp::Derive { .. }
            | BulkOp::Rule { .. } => Effect::None,
        }
    }

    fn for_each_extent_mut(op: &mut BulkOp, visit: &mut dyn FnMut(&mut ValueId)) {
        match op {
            BulkOp::Size(extent) => visit_extent(extent, visit),
            BulkOp::Map(prim, _) => {
                if let Some(mut extent) = prim.extent() {
                    visit_extent(&mut extent, visit);
                    *prim = prim.with_extent(extent);
                }
            }
            BulkOp::Const(_)
            | BulkOp::Iota(_)
            | BulkOp::Select(..)
            | BulkOp::Gather { .. }
            | BulkOp::Pack { .. }
            | BulkOp::Reduce { .. }
            | BulkOp::Scan { .. }
            | BulkOp::Scatter { .. }
            | BulkOp::Update { .. }
            | BulkOp::Assert { .. }
            | BulkOp::Loop { .. }
            | BulkOp::While { .. }
            | BulkOp::Derive { .. }
            | BulkOp::Rule { .. } => {}
        }
    }

    fn extents(program: &Program<Bulk>, op: &BulkOp) -> Vec<ValueId> {
        let own = match op {
            BulkOp::Size(extent) => Some(*extent),
            BulkOp::Map(prim, _) => prim.extent(),
            BulkOp::Const(_)
            | BulkOp::Iota(_)
            | BulkOp::Select(..)
            | BulkOp::Gather { .. }
            | BulkOp::Pack { .. }
            | BulkOp::Reduce { .. }
            | BulkOp::Scan { .. }
            | BulkOp::Scatter { .. }
            | BulkOp::Update { .. }
            | BulkOp::Assert { .. }
            | BulkOp::Loop { .. }
            | BulkOp::While { .. }
            | BulkOp::Derive { .. }
            | BulkOp::Rule { .. } => None,
        };
        let mut found: Vec<ValueId> = own.and_then(computed).into_iter().collect();
        for_each_axis(op, &mut |axis| {
            found.extend(computed(program.decls.axes[axis.0 as usize].extent));
        });
        found
    }

    fn type_extents(program: &Program<Bulk>, value: ValueId) -> Vec<ValueId> {
        let ty = program.ty(value);
        let axes = ty
            .dims
            .iter()
            .map(|axis| program.decls.axes[axis.0 as usize].extent);
        elem_extent(ty.elem)
            .into_iter()
            .chain(axes.filter_map(computed))
            .collect()
    }

    fn result_extents(program: &Program<Bulk>) -> Vec<ValueId> {
        let axes = program.decls.results.iter().flatten();
        axes.filter_map(|axis| computed(program.decls.axes[axis.0 as usize].extent))
            .collect()
    }

    fn for_each_declared_extent_mut(
        program: &mut Program<Bulk>,
        visit: &mut dyn FnMut(&mut ValueId),
    ) {
        for value in &mut program.values {
            visit_elem(&mut value.ty.elem, visit);
        }
        for axis in &mut program.decls.axes {
            visit_extent(&mut axis.extent, visit);
        }
    }

    fn remove(op: &mut BulkOp, k: usize) {
        match op {
            BulkOp::Loop { init, body, .. } => {
                if k < init.len() {
                    init.remove(k);
                    body.params.remove(k + 1);
                }
                remove_result(body, k);
            }
            BulkOp::While {
                init, cond, body, ..
            } => {
                init.remove(k);
                cond.params.remove(k);
                body.params.remove(k);
                remove_result(body, k);
            }
            BulkOp::Derive { .. }
            | BulkOp::Rule { .. }
            | BulkOp::Const(_)
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
            | BulkOp::Assert { .. } => {}
        }
    }

    fn retype(program: &mut Program<Bulk>) {
        let mut body = std::mem::take(&mut program.body);
        let kept = match has_lanes(&body) {
            true => pinned(program, &body),
            false => ValueSet::new(),
        };
        retype_block(program, &kept, &mut body);
        program.body = body;
    }
}

/// Whether a loop runs in lanes.
fn has_lanes(block: &Block<Bulk>) -> bool {
    block.stmts.iter().any(|stmt| match &stmt.op {
        BulkOp::Loop { lanes, .. } | BulkOp::While { lanes, .. } if !lanes.is_empty() => true,
        op => op.blocks().into_iter().any(has_lanes),
    })
}

/// Computes the axes of everything that a block binds, in order. The axes of parameters are given,
/// and these values keep theirs.
fn retype_block(program: &mut Program<Bulk>, kept: &ValueSet, block: &mut Block<Bulk>) {
    for stmt in &mut block.stmts {
        narrow(program, kept, stmt);
        for inner in stmt.op.blocks_mut() {
            retype_block(program, kept, inner);
        }
        if has_axes_of_operands(program, stmt) {
            continue;
        }
        let Ok(types) = Bulk::types(program, &stmt.op, None) else {
            continue;
        };
        let carried = matches!(
            stmt.op,
            BulkOp::Loop { .. }
                | BulkOp::While { .. }
                | BulkOp::Derive { .. }
                | BulkOp::Rule { .. }
        );
        let guard = stmt.guard.filter(|_| !carried);
        for (&result, ty) in stmt.results.iter().zip(types) {
            // Axes are few: a list of them is faster than a set.
            let mut axes = ty.dims;
            axes.extend(guard.iter().flat_map(|&guard| &program.ty(guard).dims));
            let dims = &mut program.values[result.index()].ty.dims;
            dims.retain(|axis| axes.contains(axis));
            axes.retain(|axis| !dims.contains(axis));
            axes.sort_unstable();
            axes.dedup();
            dims.append(&mut axes);
        }
    }
}

/// Whether what is computed point for point has the axes of what it is computed from, and no
/// others: most has, and no list need be made to see it.
fn has_axes_of_operands(program: &Program<Bulk>, stmt: &Stmt<Bulk>) -> bool {
    let extent = match &stmt.op {
        BulkOp::Const(_) | BulkOp::Select(..) => None,
        BulkOp::Size(extent) => computed(*extent),
        BulkOp::Map(prim, _) => prim.extent().and_then(computed),
        _ => return false,
    };
    let dims = |value: ValueId| &program.ty(value).dims;
    let own = dims(stmt.results[0]);
    let mut same = true;
    // Axes are few, and stand in one order mostly.
    let mut found = 0;
    let mut visit = |value: ValueId| {
        for axis in dims(value) {
            match own.iter().position(|other| other == axis) {
                Some(at) if at < 64 => found |= 1_u64 << at,
                Some(_) | None => same = false,
            }
        }
    };
    stmt.op.for_each_operand(&mut |value| visit(*value));
    stmt.guard.into_iter().chain(extent).for_each(visit);
    same && found.count_ones() as usize == own.len()
}

/// Whether something is the same in all of the lanes in which a loop runs, and there may be none:
/// then nobody has said what it is.
pub(crate) fn may_lack_lanes(program: &Program<Bulk>, op: &BulkOp, result: ValueId) -> bool {
    let (BulkOp::Loop { lanes, .. } | BulkOp::While { lanes, .. }) = op else {
        return false;
    };
    let dims = &program.ty(result).dims;
    let mut missing = lanes.iter().filter(|lane| !dims.contains(lane));
    missing.any(|lane| {
        let extent = program.decls.axes[lane.0 as usize].extent;
        !matches!(extent, Extent::Const(1..))
    })
}
