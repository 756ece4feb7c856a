//! The invariants of Bulk alone: guards, orders of results, axes of loops.

use super::{Verify, VerifyError};
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::typing::Typing;
use crate::ir::{AxisId, Block, Elem, Operation, Program, Stmt, Type};

impl Verify for Bulk {
    fn expected(program: &Program<Self>, stmt: &Stmt<Self>) -> Result<Vec<Type<AxisId>>, String> {
        let mut types = Self::types(program, &stmt.op, None)?;
        // The guard is one more operand, but for states, whose own types say what axes they have.
        if let Some(guard) = stmt.guard
            && !matches!(stmt.op, BulkOp::Loop { .. } | BulkOp::While { .. })
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

    fn own(program: &Program<Self>) -> Result<(), VerifyError> {
        for (k, &value) in program.body.results.iter().enumerate() {
            let named = program.decls.results.get(k).is_some_and(|order| {
                program
                    .ty(value)
                    .dims
                    .iter()
                    .all(|axis| order.contains(axis))
            });
            if !named {
                return Err(VerifyError {
                    invariant: 8,
                    stmt: None,
                    message: "a result lacks the order of its axes".into(),
                });
            }
        }
        block(program, &program.body, &mut 0, &mut Vec::new())
    }
}

fn block(
    program: &Program<Bulk>,
    body: &Block<Bulk>,
    next: &mut usize,
    loops: &mut Vec<AxisId>,
) -> Result<(), VerifyError> {
    for stmt in &body.stmts {
        let at = Some(*next);
        *next += 1;
        if stmt
            .guard
            .is_some_and(|guard| program.elem(guard) != Elem::BOOL)
        {
            return Err(VerifyError {
                invariant: 7,
                stmt: at,
                message: "a guard is not a truth value".into(),
            });
        }
        if stmt
            .results
            .iter()
            .any(|&r| program.ty(r).dims.iter().any(|axis| loops.contains(axis)))
        {
            return Err(VerifyError {
                invariant: 9,
                stmt: at,
                message: "a value inside a loop has the loop's axis".into(),
            });
        }
        if let BulkOp::Loop { axis, .. } = stmt.op {
            loops.push(axis);
        }
        for inner in stmt.op.blocks() {
            block(program, inner, next, loops)?;
        }
        if let BulkOp::Loop { .. } = stmt.op {
            loops.pop();
        }
    }
    Ok(())
}
