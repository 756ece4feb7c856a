//! Tables of the host that are filled with an identity, and then first asked for as what a kernel
//! combines into by the operator that it belongs to: what the kernel gives is such a table already.

use std::collections::BTreeMap;

use crate::analysis::effects::asked;
use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::{Block, Lit, Program, ValueId};

/// Those of a block of the host outside of loops, in which memory is made once for all iterations.
pub(super) fn of_block(program: &Program<Cpu>, block: &mut Block<Cpu>) {
    let mut filled: BTreeMap<ValueId, Lit> = BTreeMap::new();
    for stmt in &mut block.stmts {
        match &mut stmt.op {
            CpuOp::Alloc { fill: Some(fill) } => {
                filled.insert(stmt.results[0], *fill);
            }
            CpuOp::Own(Own::Par(par)) => {
                let inside: Vec<_> = par.body.free();
                for acc in &mut par.accs {
                    let first = filled.remove(&acc.target);
                    let identity = acc.monoid.identity(program.elem(acc.target).repr());
                    acc.becomes = first == Some(identity) && !inside.contains(&acc.target);
                    #[cfg(test)]
                    if acc.becomes {
                        crate::testing::entered::enter(&crate::testing::entered::BECOMES);
                    }
                }
            }
            CpuOp::If {
                then, otherwise, ..
            } => {
                of_block(program, then);
                of_block(program, otherwise);
            }
            // Its kernels run by rows.
            CpuOp::Own(Own::Tile(_)) => filled.clear(),
            _ => {}
        }
        for used in asked(stmt) {
            filled.remove(&used);
        }
    }
}
