//! Loop-invariant code motion in kernels: out of the loop over the points of a row, and of checks
//! out of loops inside of points, as what may panic is no vector instruction.

use crate::analysis::accesses::changes;
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{Block, Extent, Operation, Stmt, ValueId, ValueSet};
use crate::ops::Prim;

/// The statements of a kernel's body that are the same for all points of a row, and the others.
///
/// A part of a row has a point at least, so that what is computed once for it would have been
/// computed anyway. Reading a buffer that the kernel writes is not the same at every point.
pub(super) fn of_row(body: Block<Kernels>) -> (Vec<Stmt<Kernels>>, Block<Kernels>) {
    let mut written = ValueSet::new();
    changes(&body.stmts, &mut written);
    let free: ValueSet = body.free().into_iter().collect();
    let last = body.params.last().copied();
    parted(body, last, |buffer| {
        written.contains(&buffer) || !free.contains(&buffer)
    })
}

/// The checks of a loop's body that ask the same in all iterations, with what they are made of, and
/// the other statements; none if there is no such check.
pub(super) fn checks(body: &Block<Kernels>) -> Option<(Vec<Stmt<Kernels>>, Block<Kernels>)> {
    let is_check = |stmt: &Stmt<Kernels>| matches!(stmt.op, KernelOp::Prim(Prim::Check(_), _));
    if !body.stmts.iter().any(is_check) {
        return None;
    }
    let (same, others) = parted(body.clone(), body.params.first().copied(), |_| true);
    same.iter().any(is_check).then_some((same, others))
}

/// The statements of a body that are the same whatever an index is, and the others.
fn parted(
    mut body: Block<Kernels>,
    index: Option<ValueId>,
    written: impl Fn(ValueId) -> bool,
) -> (Vec<Stmt<Kernels>>, Block<Kernels>) {
    let mut varying: ValueSet = index.into_iter().collect();
    let (same, others) = std::mem::take(&mut body.stmts)
        .into_iter()
        .partition(|stmt| {
            let moves = may_move(&stmt.op, &varying, &written)
                && !stmt.op.reads_any(|operand| varying.contains(&operand));
            if !moves {
                varying.extend(&stmt.results);
            }
            moves
        });
    body.stmts = others;
    (same, body)
}

/// Whether an operation is the same wherever its operands are.
fn may_move(op: &KernelOp, varying: &ValueSet, written: impl Fn(ValueId) -> bool) -> bool {
    let fixed =
        |extent: Extent| !matches!(extent, Extent::Value(value) if varying.contains(&value));
    match op {
        KernelOp::Const(_) | KernelOp::Select(..) => true,
        KernelOp::Size(extent) => fixed(*extent),
        KernelOp::Prim(prim, _) => prim.extent().is_none_or(fixed),
        KernelOp::Load { buffer, .. } => !written(*buffer),
        KernelOp::Alloc { .. }
        | KernelOp::Copy(_)
        | KernelOp::Store { .. }
        | KernelOp::Combine { .. }
        | KernelOp::Var(_)
        | KernelOp::Get(_)
        | KernelOp::Set { .. }
        | KernelOp::Swap(..)
        | KernelOp::Contract { .. }
        | KernelOp::For { .. }
        | KernelOp::Own(_)
        | KernelOp::Assert { .. }
        | KernelOp::While { .. }
        | KernelOp::If { .. } => false,
    }
}
