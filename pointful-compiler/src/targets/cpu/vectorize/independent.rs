//! Loops inside of a kernel whose iterations are as independent as points are.

use std::collections::BTreeMap;

use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::{Block, Operation, ValueId, ValueSet};

/// Whether the iterations of a loop do not see each other: each stores to places of its own, which
/// nothing in the loop reads.
pub(crate) fn independent(body: &Block<Cpu>) -> bool {
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
    fn block(&mut self, block: &Block<Cpu>, index: ValueId) -> bool {
        block.stmts.iter().all(|stmt| {
            self.bound.extend(&stmt.results);
            let own = match &stmt.op {
                CpuOp::Load { buffer, .. } => {
                    self.read.insert(*buffer);
                    true
                }
                CpuOp::Store {
                    buffer, indices, ..
                } => indices
                    .iter()
                    .position(|&own| own == index)
                    .is_some_and(|own| *self.stored.entry(*buffer).or_insert(own) == own),
                CpuOp::Combine { place, .. } | CpuOp::Set { place, .. } => {
                    self.bound.contains(place)
                }
                CpuOp::Const(_)
                | CpuOp::Size(_)
                | CpuOp::Prim(..)
                | CpuOp::Select(..)
                | CpuOp::Var(_)
                | CpuOp::Get(_)
                | CpuOp::For { .. }
                | CpuOp::Own(Own::Bound { .. } | Own::Range { .. }) => true,
                CpuOp::Alloc { .. }
                | CpuOp::Copy(_)
                | CpuOp::Swap(..)
                | CpuOp::Contract { .. }
                | CpuOp::Own(
                    Own::Par(_)
                    | Own::Tile(_)
                    | Own::Transpose { .. }
                    | Own::Strips { .. }
                    | Own::Lanes { .. }
                    | Own::Fold { .. }
                    | Own::ArgCombine { .. }
                    | Own::ArgFold { .. },
                )
                | CpuOp::Assert { .. }
                | CpuOp::While { .. }
                | CpuOp::If { .. } => false,
            };
            own && stmt
                .op
                .blocks()
                .iter()
                .all(|inner| self.block(inner, index))
        })
    }
}
