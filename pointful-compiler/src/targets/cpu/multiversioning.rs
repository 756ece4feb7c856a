//! Function multiversioning: loops of the host are compiled for each level of the processor's
//! instruction set, as kernels are.
//!
//! ```text
//! for %j: %m {                           multiversion {
//!   %1 = load v[%j]                        for %j: %m {
//!   store v[%j], …                 ▶         %1 = load v[%j]
//! }                                          store v[%j], …
//!                                          }
//!                                        }
//! ```
//!
//! What the host does itself is compiled for the oldest processor that the program may run on. Its
//! loops become functions of their own, of which the runtime takes the one for the processor at
//! hand: with wider vectors, and with what variables hold in registers.
//!
//! Loops that make buffers, exchange them or launch kernels are looked into: their inner loops
//! become functions. So are loops that may stop at a check: these are in order anyway, or the
//! [slow one of two versions](mod@super::split).
//!
//! # Why it is sound
//!
//! The same statements run in the same order. No level contracts or reorders arithmetic.

use crate::analysis::numbers::Numbers;
use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::{Block, Extent, Operation, Program, Stmt};
use crate::ops::Prim;
use crate::pass::Pass;

use super::statements::with_body;
#[cfg(test)]
use crate::testing::entered::{MULTIVERSIONED, TOO_SHORT, enter};

/// Loops that are known to be shorter than this are not worth a call.
const SHORT: u64 = 8;

/// The pass.
pub const MULTIVERSIONING: Pass<Cpu> = Pass {
    name: "multiversioning",
    about: "compile loops of the host for each level of the processor's instruction set",
    run: multiversioning,
};

/// Compiles loops of the host for each level of the processor's instruction set.
pub fn multiversioning(program: Program<Cpu>) -> Program<Cpu> {
    with_body(program, |_, numbers, body| host(numbers, body))
}

fn host(numbers: &Numbers, block: &mut Block<Cpu>) {
    for stmt in &mut block.stmts {
        if matches!(stmt.op, CpuOp::Own(_)) {
            continue;
        }
        let is_loop = matches!(stmt.op, CpuOp::For { .. } | CpuOp::While { .. });
        if is_loop && stays(stmt) {
            if !is_long(numbers, stmt) {
                #[cfg(test)]
                enter(&TOO_SHORT);
                continue;
            }
            #[cfg(test)]
            enter(&MULTIVERSIONED);
            let version = Block {
                stmts: vec![stmt.clone()],
                ..Block::default()
            };
            stmt.op = CpuOp::Own(Own::Multiversion(Box::new(version)));
            continue;
        }
        for inner in stmt.op.blocks_mut() {
            host(numbers, inner);
        }
    }
}

/// Whether a statement works on what is there, to its end.
fn stays(stmt: &Stmt<Cpu>) -> bool {
    let itself = match &stmt.op {
        CpuOp::Prim(prim, _) => !matches!(prim, Prim::Check(_) | Prim::Call(_)),
        op => matches!(
            op,
            CpuOp::Const(_)
                | CpuOp::Size(_)
                | CpuOp::Select(..)
                | CpuOp::Load { .. }
                | CpuOp::Store { .. }
                | CpuOp::Combine { .. }
                | CpuOp::Var(_)
                | CpuOp::Get(_)
                | CpuOp::Set { .. }
                | CpuOp::If { .. }
                | CpuOp::For { .. }
                | CpuOp::While { .. }
                | CpuOp::Own(Own::Bound { .. } | Own::Range { .. })
        ),
    };
    let mut inside = stmt.op.blocks().into_iter().flat_map(|inner| &inner.stmts);
    itself && inside.all(stays)
}

/// Whether a loop, or one in it, may have many iterations.
fn is_long(numbers: &Numbers, stmt: &Stmt<Cpu>) -> bool {
    let itself = match &stmt.op {
        CpuOp::For { extent, .. } => {
            !matches!(numbers.resolve(*extent), Extent::Const(length) if length < SHORT)
        }
        CpuOp::While { .. } | CpuOp::Own(Own::Range { .. }) => true,
        _ => false,
    };
    let mut inside = stmt.op.blocks().into_iter().flat_map(|inner| &inner.stmts);
    itself || inside.any(|stmt| is_long(numbers, stmt))
}
