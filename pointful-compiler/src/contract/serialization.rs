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

use super::schedule::price;
use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{Block, Extent, Operation, Program, Stmt};
use crate::pass::Pass;

/// The most points, and the most additions that they do together: of very few points as many as
/// [`scalar_replacement`](super::scalar_replacement) writes down.
const FEW: (u64, u64) = (4, 1024);
const MORE: (u64, u64) = (16, 512);

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

/// Whether a kernel has few points, combines nothing, and does little.
fn is_little(program: &Program<Kernels>, par: &Par) -> bool {
    let work = around(&par.extents, work(program, &par.body));
    let points = around(&par.extents, Some(1));
    let fits = |(points, work): (u64, u64)| {
        let most = |(most, most_work)| points <= most && work <= most_work;
        points > 0 && (most(FEW) || most(MORE))
    };
    par.privates().next().is_none() && points.zip(work).is_some_and(fits)
}

/// So much for each point of a nest, if its lengths are known.
fn around(extents: &[Extent], each: Option<u64>) -> Option<u64> {
    extents.iter().try_fold(each?, |all, extent| match extent {
        Extent::Const(length) => all.checked_mul(*length),
        Extent::Size(_) | Extent::Value(_) => None,
    })
}

/// What a block does, in additions, if the lengths of its loops are known.
fn work(program: &Program<Kernels>, block: &Block<Kernels>) -> Option<u64> {
    block.stmts.iter().try_fold(0_u64, |sum, stmt| {
        let own = match &stmt.op {
            KernelOp::Prim(prim, args) => Some(u64::from(price(*prim, program.elem(args[0])))),
            KernelOp::For { extent, body, .. } => around(&[*extent], work(program, body)),
            KernelOp::While { .. } | KernelOp::Contract { .. } | KernelOp::Own(_) => None,
            op => (op.blocks().into_iter())
                .try_fold(1_u64, |sum, inner| sum.checked_add(work(program, inner)?)),
        };
        sum.checked_add(own?)
    })
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
