//! Loops inside of a kernel whose iterations are as independent as points are.

use std::collections::BTreeMap;

use crate::analysis::accesses::{Accesses, At, Kind};
use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::{Block, Operation, ValueId};

/// Whether the iterations of a loop do not see each other: each stores to places of its own, which
/// nothing in the loop reads.
pub(crate) fn independent(body: &Block<Cpu>) -> bool {
    let accesses = Accesses::of(&body.stmts);
    // By buffer: the dimension along which an iteration has a place of its own.
    let mut stored: BTreeMap<ValueId, usize> = BTreeMap::new();
    let apart = accesses
        .outside()
        .all(|access| match (access.kind, access.at) {
            (Kind::Read, _) => true,
            (Kind::Write, At::Element(indices)) => (indices.iter())
                .position(|&own| own == body.params[0])
                .is_some_and(|own| *stored.entry(access.place).or_insert(own) == own),
            _ => false,
        });
    let mut reads = accesses
        .outside()
        .filter(|access| access.kind == Kind::Read);
    apart && reads.all(|read| !stored.contains_key(&read.place)) && is_plain(body)
}

/// Whether a block is loops of numbers, without memory of its own.
fn is_plain(block: &Block<Cpu>) -> bool {
    block.stmts.iter().all(|stmt| {
        let plain = matches!(
            &stmt.op,
            CpuOp::Const(_)
                | CpuOp::Size(_)
                | CpuOp::Prim(..)
                | CpuOp::Select(..)
                | CpuOp::Load { .. }
                | CpuOp::Store { .. }
                | CpuOp::Combine { .. }
                | CpuOp::Var(_)
                | CpuOp::Get(_)
                | CpuOp::Set { .. }
                | CpuOp::For { .. }
                | CpuOp::Own(Own::Bound { .. } | Own::Range { .. })
        );
        plain && stmt.op.blocks().into_iter().all(is_plain)
    })
}
