//! Privatization: what pieces of the work have of their own of a table that they combine into, and
//! what becomes of it.
//!
//! # The idea
//!
//! Each piece has a private copy, so that none waits for another; copies are merged in the order of
//! the points. Of a large table whose places are computed, as in a histogram, a piece may note what
//! goes where instead ([`notes`], binning). A new table, made for what a kernel combines into it,
//! becomes the merged copies and is not made before ([`becomes`]).
//!
//! # Before and after
//!
//! ```text
//! %0 = alloc f64[K] fill 0.0f64            %0 = alloc f64[K] fill 0.0f64
//! par %1..%2: N (add %3 = %0) {      ▶     par %1..%2: N (add %3 = %0 notes becomes) {
//!   … combine add %3[%4], %5                 … combine add %3[%4], %5
//! }                                        }
//! ```

mod becomes;
mod notes;

use crate::analysis::numbers::Numbers;
use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::{Block, Operation, Program};
use crate::pass::Pass;

/// The pass.
pub const PRIVATIZE: Pass<Cpu> = Pass {
    name: "privatize",
    about: "choose what pieces have of the tables that they combine into",
    run: privatize,
};

/// Chooses what pieces have of the tables that they combine into.
pub fn privatize(mut program: Program<Cpu>) -> Program<Cpu> {
    let numbers = Numbers::of(&program.body);
    let mut body = std::mem::take(&mut program.body);
    noted(&program, &numbers, &mut body);
    becomes::of_block(&program, &mut body);
    Program { body, ..program }
}

fn noted(program: &Program<Cpu>, numbers: &Numbers, block: &mut Block<Cpu>) {
    for stmt in &mut block.stmts {
        if let CpuOp::Own(Own::Par(par)) = &mut stmt.op {
            notes::of_kernel(program, numbers, par);
        } else {
            for inner in stmt.op.blocks_mut() {
                noted(program, numbers, inner);
            }
        }
    }
}

#[cfg(test)]
mod tests;
