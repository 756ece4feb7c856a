//! Kernels of a few points in sequential loops are loops.
//!
//! ```text
//! for %0: 50 {                          for %0: 50 {
//!   par "step" %1: 2 {                    for %1: 2 {
//!     %2 = load n[%1]                       %2 = load n[%1]
//!     …                            ▶        …
//!     store m[%1], %3                       store m[%1], %3
//!   }                                     }
//! }                                     }
//! ```
//!
//! Nothing of them runs in parallel, and [`scalar_replacement`](super::scalar_replacement) keeps in
//! variables what loops hand to each other.
//!
//! # Why it is sound
//!
//! The points of a kernel are independent, so that they may run in order.

use super::scalar_replacement::{LITTLE, SHORTEST};
use super::schedule::price;
use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{Block, Extent, Operation, Program, Stmt};
use crate::pass::Pass;

/// The pass.
pub const SERIALIZATION: Pass<Kernels> = Pass {
    name: "serialization",
    about: "run kernels of a few points in sequential loops as loops",
    run: serialization,
};

/// Runs kernels of a few points in sequential loops as loops.
pub fn serialization(program: Program<Kernels>) -> Program<Kernels> {
    program.rewritten(|program, body| block(program, body, false))
}

fn block(program: &Program<Kernels>, block: &mut Block<Kernels>, in_loop: bool) {
    for stmt in &mut block.stmts {
        match &mut stmt.op {
            KernelOp::Own(par) if in_loop && is_little(program, par) => {
                #[cfg(test)]
                crate::testing::entered::enter(&crate::testing::entered::SERIALIZED);
                stmt.op = in_order(par, stmt.span);
            }
            KernelOp::Own(_) => {}
            op => {
                let repeats = matches!(op, KernelOp::For { .. } | KernelOp::While { .. });
                for inner in op.blocks_mut() {
                    self::block(program, inner, in_loop || repeats);
                }
            }
        }
    }
}

/// Whether a kernel has few points, combines nothing, and does little without a loop.
fn is_little(program: &Program<Kernels>, par: &Par) -> bool {
    let points = par.extents.iter().try_fold(1_u64, |points, extent| {
        let Extent::Const(length @ 1..) = extent else {
            return None;
        };
        points.checked_mul(*length)
    });
    let work = |stmt: &Stmt<Kernels>| match &stmt.op {
        KernelOp::Prim(prim, args) => Some(u64::from(price(*prim, program.elem(args[0])))),
        op => op.blocks().is_empty().then_some(1),
    };
    let work = par
        .body
        .stmts
        .iter()
        .try_fold(0, |sum, stmt| Some(sum + work(stmt)?));
    par.privates().next().is_none()
        && points.is_some_and(|points| points <= SHORTEST)
        && (points.zip(work)).is_some_and(|(points, work)| points * work <= LITTLE)
}

/// The points of a kernel, one after the other.
fn in_order(par: &mut Par, span: crate::ir::SpanId) -> KernelOp {
    let body = std::mem::take(&mut *par.body);
    let mut inner = Block {
        params: Vec::new(),
        ..body
    };
    let mut axes = body.params.iter().zip(&par.extents).rev().peekable();
    loop {
        let Some((&index, &extent)) = axes.next() else {
            unreachable!("a kernel has an axis");
        };
        inner.params = vec![index];
        let one = KernelOp::For {
            extent,
            reverse: false,
            body: Box::new(inner),
        };
        if axes.peek().is_none() {
            return one;
        }
        inner = Block {
            params: Vec::new(),
            stmts: vec![Stmt::new(Vec::new(), one, span)],
            results: Vec::new(),
        };
    }
}
