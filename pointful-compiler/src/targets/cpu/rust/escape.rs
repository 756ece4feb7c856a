//! Escape analysis: which buffers the caller of a function may get. They are allocated so that they
//! can become a `Vec`; where a buffer lies changes no value.

use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::{Block, Operation, ValueId, ValueSet};

/// The results of a function's body, and the buffers that exchange their memory with one of them.
pub(super) fn escaping(body: &Block<Cpu>) -> ValueSet {
    let mut escaping = ValueSet::new();
    escaping.extend(body.results.iter().copied());
    let mut exchanges = Vec::new();
    collect(body, &mut exchanges);
    while let Some(at) = exchanges
        .iter()
        .position(|(a, b)| escaping.contains(a) || escaping.contains(b))
    {
        let (a, b) = exchanges.swap_remove(at);
        escaping.extend([a, b]);
    }
    escaping
}

/// The exchanges of a block and of those inside of it.
fn collect(block: &Block<Cpu>, exchanges: &mut Vec<(ValueId, ValueId)>) {
    for stmt in &block.stmts {
        match &stmt.op {
            CpuOp::Swap(a, b) => exchanges.push((*a, *b)),
            CpuOp::Own(Own::Tile(tile)) => exchanges.extend(&tile.swaps),
            _ => {}
        }
        for inner in stmt.op.blocks() {
            collect(inner, exchanges);
        }
    }
}
