//! Loop versioning: a loop in two forms, between which lengths choose that are known when the program
//! runs.

use smallvec::smallvec;

use super::tiling::Writer;
use crate::contract::cloning::Renamed;
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{Block, Elem, Extent, Program, Scalar, Stmt, Type, ValueId};
use crate::ops::Prim;

/// Writes down the first form where all extents are so long at least, and else the loop as it is.
/// Those that are known while compiling are long enough.
pub(super) fn by_length(
    program: &mut Program<Kernels>,
    extents: &[Extent],
    least: u64,
    mut long: Writer,
    plain: &Stmt<Kernels>,
    out: &mut Writer,
) {
    let span = plain.span;
    let bool = Type::scalar(Elem::Scalar(Scalar::Bool));
    let mut all: Option<ValueId> = None;
    for &extent in extents {
        if matches!(extent, Extent::Const(_)) {
            continue;
        }
        let length = out.size(program, extent, span);
        let number = out.number(program, least, span);
        let op = KernelOp::Prim(Prim::Ge, smallvec![length, number]);
        let mut is_long = out.bind(program, op, bool.clone(), span);
        if let Some(before) = all {
            let op = KernelOp::Prim(Prim::And, smallvec![before, is_long]);
            is_long = out.bind(program, op, bool.clone(), span);
        }
        all = Some(is_long);
    }
    let Some(cond) = all else {
        out.stmts.append(&mut long.stmts);
        return;
    };
    let block = |stmts| Block {
        stmts,
        ..Block::default()
    };
    let op = KernelOp::If {
        cond,
        then: Box::new(block(long.stmts)),
        otherwise: Box::new(block(vec![Renamed::default().copy(program, plain)])),
    };
    out.run(op, span);
}
