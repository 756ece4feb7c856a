//! Loops inside of a kernel whose iterations are as independent as points are.

use std::collections::BTreeMap;

use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{Block, Operation, ValueId, ValueSet};

/// Whether the iterations of a loop do not see each other: each stores to places of its own, which
/// nothing in the loop reads.
pub(in crate::emit) fn independent(body: &Block<Kernels>) -> bool {
    let mut seen = Seen::default();
    seen.block(body, body.params[0]) && !seen.stored.keys().any(|buffer| seen.read.contains(buffer))
}

/// What a loop does to memory.
#[derive(Default)]
struct Seen {
    bound: ValueSet,
    read: ValueSet,
    /// By buffer: the dimension along which an iteration has a place of its own.
    stored: BTreeMap<ValueId, usize>,
}

impl Seen {
    /// Looks at a block; whether nothing in it is seen by other iterations but what it stores.
    fn block(&mut self, block: &Block<Kernels>, index: ValueId) -> bool {
        block.stmts.iter().all(|stmt| {
            self.bound.extend(&stmt.results);
            let own = match &stmt.op {
                KernelOp::Load { buffer, .. } => {
                    self.read.insert(*buffer);
                    true
                }
                KernelOp::Store {
                    buffer, indices, ..
                } => indices
                    .iter()
                    .position(|&own| own == index)
                    .is_some_and(|own| *self.stored.entry(*buffer).or_insert(own) == own),
                KernelOp::Combine { place, .. } | KernelOp::Set { place, .. } => {
                    self.bound.contains(place)
                }
                KernelOp::Const(_)
                | KernelOp::Size(_)
                | KernelOp::Prim(..)
                | KernelOp::Select(..)
                | KernelOp::Var(_)
                | KernelOp::Get(_)
                | KernelOp::For { .. } => true,
                KernelOp::Alloc { .. }
                | KernelOp::Copy(_)
                | KernelOp::Swap(..)
                | KernelOp::Contract { .. }
                | KernelOp::Own(Par { .. })
                | KernelOp::Assert { .. }
                | KernelOp::While { .. }
                | KernelOp::If { .. } => false,
            };
            own && stmt
                .op
                .blocks()
                .iter()
                .all(|inner| self.block(inner, index))
        })
    }
}
