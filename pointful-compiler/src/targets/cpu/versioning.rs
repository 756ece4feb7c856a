//! Loop versioning: a loop in two forms, between which lengths choose that are known when the program
//! runs.

use std::ops::RangeInclusive;

use smallvec::smallvec;

use super::tiling::Writer;
use crate::contract::cloning::Renamed;
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{Block, Elem, Extent, Program, Scalar, Stmt, Type, ValueId};
use crate::ops::Prim;

/// Writes down the first form where all extents are in these bounds, and else the loop as it is.
/// Those that are known while compiling are.
pub(super) fn by_length(
    program: &mut Program<Kernels>,
    extents: &[Extent],
    bounds: RangeInclusive<u64>,
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
        let (&least, &most) = (bounds.start(), bounds.end());
        let asked = [(Prim::Ge, least, 0), (Prim::Le, most, u64::MAX)];
        for (prim, bound, _) in asked.into_iter().filter(|(_, bound, any)| bound != any) {
            let length = out.size(program, extent, span);
            let bound = out.number(program, bound, span);
            let op = KernelOp::Prim(prim, smallvec![length, bound]);
            let mut holds = out.bind(program, op, bool.clone(), span);
            if let Some(before) = all {
                let op = KernelOp::Prim(Prim::And, smallvec![before, holds]);
                holds = out.bind(program, op, bool.clone(), span);
            }
            all = Some(holds);
        }
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
