//! The invariants of Bulk alone: axes, guards, orders of results, loops.

use super::{Verify, VerifyError, distinct};
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::typing::Types;
use crate::ir::typing::Typing;
use crate::ir::{AxisId, Block, Elem, Extent, Operation, Program, Stmt, Type, ValueId};

impl Verify for Bulk {
    fn expected(program: &Program<Self>, stmt: &Stmt<Self>) -> Result<Types<AxisId>, String> {
        let mut types = Self::types(program, &stmt.op, None)?;
        // The guard is one more operand, but for states, whose own types say what axes they have.
        if let Some(guard) = stmt.guard
            && !matches!(
                stmt.op,
                BulkOp::Loop { .. }
                    | BulkOp::While { .. }
                    | BulkOp::Derive { .. }
                    | BulkOp::Rule { .. }
            )
        {
            for ty in &mut types {
                for &axis in &program.ty(guard).dims {
                    if !ty.dims.contains(&axis) {
                        ty.dims.push(axis);
                    }
                }
            }
        }
        Ok(types)
    }

    fn fits(found: &Type<AxisId>, expected: &Type<AxisId>) -> bool {
        let sorted = |ty: &Type<AxisId>| {
            let mut dims = ty.dims.clone();
            dims.sort();
            dims
        };
        found.elem == expected.elem && sorted(found) == sorted(expected)
    }

    fn dim_extent(program: &Program<Self>, dim: AxisId) -> Option<Extent> {
        let axis = program.decls.axes.get(dim.0 as usize)?;
        Some(axis.extent)
    }

    fn extents(program: &Program<Self>, op: &BulkOp) -> Option<Vec<Extent>> {
        let own = match op {
            BulkOp::Size(extent) => Some(*extent),
            BulkOp::Map(prim, _) => prim.extent(),
            _ => None,
        };
        let axes = axes(op).into_iter().flatten();
        let axes = axes.map(|axis| Self::dim_extent(program, axis));
        own.into_iter().map(Some).chain(axes).collect()
    }

    fn counts(ty: &Type<AxisId>) -> bool {
        ty.elem == Elem::USIZE
    }

    fn private(_: &BulkOp) -> Vec<ValueId> {
        Vec::new()
    }

    fn own(program: &Program<Self>) -> Result<(), VerifyError> {
        distinct(program.decls.axes.iter().map(|axis| axis.name.as_str()))?;
        let mut walk = Walk {
            program,
            stmt: 0,
            loops: Vec::new(),
            lanes: Vec::new(),
        };
        let params: Vec<ValueId> = program.params.iter().map(|param| param.value).collect();
        walk.bound(&params, None)?;
        walk.block(&program.body)?;
        results(program)
    }
}

/// The axes that an operation names, list by list: in none of them may one occur twice.
fn axes(op: &BulkOp) -> Vec<Vec<AxisId>> {
    let addressed = |at: &[(AxisId, ValueId)]| at.iter().map(|&(axis, _)| axis).collect();
    match op {
        BulkOp::Const(_)
        | BulkOp::Size(_)
        | BulkOp::Map(..)
        | BulkOp::Select(..)
        | BulkOp::Assert { .. } => Vec::new(),
        BulkOp::Iota(axis) | BulkOp::Pack { axis, .. } | BulkOp::Scan { axis, .. } => {
            vec![vec![*axis]]
        }
        BulkOp::Gather { at, .. } | BulkOp::Update { at, .. } => vec![addressed(at)],
        BulkOp::Reduce { axes, .. } => vec![axes.clone()],
        BulkOp::Scatter { at, over, .. } => vec![addressed(at), over.clone()],
        BulkOp::Loop { axis, lanes, .. } => vec![[&[*axis], lanes.as_slice()].concat()],
        BulkOp::While { .. } | BulkOp::Derive { .. } | BulkOp::Rule { .. } => {
            vec![op.lanes().to_vec()]
        }
    }
}

/// Invariants 10 and 11 of the results' orders.
fn results(program: &Program<Bulk>) -> Result<(), VerifyError> {
    let error = |invariant, message: String| VerifyError {
        invariant,
        stmt: None,
        message,
    };
    let orders = &program.decls.results;
    let results = &program.body.results;
    if orders.len() != results.len() {
        let (found, wanted) = (orders.len(), results.len());
        let message = format!("there are {found} orders of axes for {wanted} results");
        return Err(error(11, message));
    }
    for (&value, order) in results.iter().zip(orders) {
        let dims = &program.ty(value).dims;
        if repeated(order).is_some() {
            let what = "is returned with an axis twice";
            return Err(VerifyError::about(program, 10, None, value, what));
        }
        if dims.iter().any(|axis| !order.contains(axis)) {
            let what = "is returned without one of its axes";
            return Err(VerifyError::about(program, 11, None, value, what));
        }
    }
    Ok(())
}

fn repeated(axes: &[AxisId]) -> Option<AxisId> {
    let mut seen = axes.iter().enumerate();
    seen.find_map(|(k, axis)| axes[..k].contains(axis).then_some(*axis))
}

struct Walk<'p> {
    program: &'p Program<Bulk>,
    stmt: usize,
    /// The axes of the loops around.
    loops: Vec<AxisId>,
    /// The lanes of blocks around.
    lanes: Vec<AxisId>,
}

impl Walk<'_> {
    fn about<T>(
        &self,
        invariant: u32,
        at: Option<usize>,
        value: ValueId,
        what: &str,
    ) -> Result<T, VerifyError> {
        Err(VerifyError::about(self.program, invariant, at, value, what))
    }

    fn bound(&self, values: &[ValueId], at: Option<usize>) -> Result<(), VerifyError> {
        for &value in values {
            let dims = &self.program.ty(value).dims;
            if repeated(dims).is_some() {
                return self.about(10, at, value, "has an axis twice");
            }
            if dims.iter().any(|axis| self.loops.contains(axis)) {
                return self.about(12, at, value, "has the axis of a loop around it");
            }
        }
        Ok(())
    }

    fn block(&mut self, block: &Block<Bulk>) -> Result<(), VerifyError> {
        for stmt in &block.stmts {
            self.statement(stmt)?;
        }
        Ok(())
    }

    fn statement(&mut self, stmt: &Stmt<Bulk>) -> Result<(), VerifyError> {
        let at = Some(self.stmt);
        self.stmt += 1;
        if let Some(guard) = stmt.guard
            && self.program.elem(guard) != Elem::BOOL
        {
            return self.about(7, at, guard, "is a guard and no truth value");
        }
        self.bound(&stmt.results, at)?;
        if let Some(axis) = axes(&stmt.op).iter().find_map(|list| repeated(list)) {
            return Err(VerifyError {
                invariant: 10,
                stmt: at,
                message: format!("the axis `{}` occurs twice", self.name(axis)),
            });
        }
        self.addressed(stmt, at)?;
        let lanes = stmt.op.lanes();
        let (depth, around) = (self.loops.len(), self.lanes.len());
        self.lanes.extend(lanes);
        if let BulkOp::Loop { axis, .. } = stmt.op {
            self.loops.push(axis);
        }
        for inner in stmt.op.blocks() {
            self.bound(&inner.params, at)?;
            // The index of a loop is the same in all lanes.
            let index = usize::from(matches!(stmt.op, BulkOp::Loop { .. }));
            for &state in &inner.params[index..] {
                let dims = &self.program.ty(state).dims;
                if lanes.iter().any(|lane| !dims.contains(lane)) {
                    return self.about(12, at, state, "is a state without one of its loop's lanes");
                }
            }
            self.block(inner)?;
        }
        self.loops.truncate(depth);
        self.lanes.truncate(around);
        Ok(())
    }

    /// Invariant 13.
    fn addressed(&self, stmt: &Stmt<Bulk>, at: Option<usize>) -> Result<(), VerifyError> {
        match &stmt.op {
            BulkOp::Scatter {
                base,
                at: places,
                over,
                value,
                mask,
                ..
            } => {
                let moves = |value: &ValueId| {
                    let dims = &self.program.ty(*value).dims;
                    let mut along = places.iter().map(|(axis, _)| axis);
                    along.any(|axis| dims.contains(axis) && !over.contains(axis))
                };
                let indices = places.iter().map(|&(_, index)| index);
                let mut read = indices.chain([*value]).chain(*mask).chain(stmt.guard);
                if let Some(value) = read.find(moves) {
                    let what = "has an axis that is addressed and not gone over";
                    return self.about(13, at, value, what);
                }
                if places.iter().any(|(axis, _)| self.lanes.contains(axis)) {
                    let what = "is what a lane of the loop around adds to others";
                    return self.about(13, at, *value, what);
                }
                let kept = |axis: &&AxisId| places.iter().all(|(place, _)| place != *axis);
                let mut kept = self.program.ty(*base).dims.iter().filter(kept);
                if kept.any(|axis| over.contains(axis)) {
                    let what = "has an axis that is gone over and not addressed";
                    return self.about(13, at, *base, what);
                }
                self.even_there(at, *base, places)?;
            }
            BulkOp::Update {
                table,
                at: places,
                mask,
                ..
            } => {
                let moves = |value: ValueId| {
                    let dims = &self.program.ty(value).dims;
                    places.iter().any(|(axis, _)| dims.contains(axis))
                };
                if let Some(&(_, index)) = places.iter().find(|&&(_, index)| moves(index)) {
                    let what = "has an axis that it is an index along";
                    return self.about(13, at, index, what);
                }
                if let Some(mask) = mask.filter(|&mask| moves(mask)) {
                    let what = "says for parts of the place whether it is replaced";
                    return self.about(13, at, mask, what);
                }
                self.even_there(at, *table, places)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// What of a table is changed at a place is as long as it is elsewhere.
    fn even_there(
        &self,
        at: Option<usize>,
        table: ValueId,
        places: &[(AxisId, ValueId)],
    ) -> Result<(), VerifyError> {
        let addressed: Vec<AxisId> = places.iter().map(|&(axis, _)| axis).collect();
        match self.program.leans(&self.program.ty(table).dims, &addressed) {
            true => self.about(13, at, table, "has an axis as long as its place says"),
            false => Ok(()),
        }
    }

    fn name(&self, axis: AxisId) -> &str {
        &self.program.decls.axes[axis.0 as usize].name
    }
}
