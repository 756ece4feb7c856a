//! Parts of rows: which loops of a kernel go through a part of its own rows.

use crate::ir::stages::cpu::{Cpu, CpuOp, Own, Par};
use crate::ir::{Block, Operation, ValueId, ValueSet};
use crate::ops::Prim;

/// The bounds and the indices of a part that a kernel's block is run for.
#[derive(Clone, Default)]
pub(crate) struct Parts {
    /// Bounds and variables that are never before the part begins.
    from: ValueSet,
    /// And never behind its end.
    to: ValueSet,
    /// Indices that are always in the part.
    indices: ValueSet,
}

impl Parts {
    /// Of a kernel.
    pub(crate) fn of(par: &Par<Cpu>) -> Self {
        let mut parts = Self::default();
        if let [.., from, to] = par.body.params[..]
            && !par.extents.is_empty()
        {
            parts.from.insert(from);
            parts.from.insert(to);
            parts.to.insert(from);
            parts.to.insert(to);
            parts.block(&par.body);
        }
        parts
    }

    /// Whether an index is always in the part.
    pub(crate) fn goes_through(&self, index: ValueId) -> bool {
        self.indices.contains(&index)
    }

    /// Variables begin, and are set to, what is found before it is asked for: no loop moves a bound
    /// back.
    fn block(&mut self, block: &Block<Cpu>) {
        for stmt in &block.stmts {
            let of = |side: &ValueSet, all: bool| match &stmt.op {
                CpuOp::Prim(Prim::Max | Prim::Min, args) if all => {
                    args.iter().all(|arg| side.contains(arg))
                }
                CpuOp::Prim(Prim::Max | Prim::Min, args) => {
                    args.iter().any(|arg| side.contains(arg))
                }
                CpuOp::Select(_, x, y) => side.contains(x) && side.contains(y),
                CpuOp::Var(x) | CpuOp::Get(x) => side.contains(x),
                CpuOp::Own(Own::Strips { from, to, .. }) => {
                    side.contains(from) && side.contains(to)
                }
                _ => false,
            };
            let is = |prim: Prim| matches!(&stmt.op, CpuOp::Prim(own, _) if *own == prim);
            if of(&self.from, is(Prim::Min)) {
                self.from.extend(&stmt.results);
            }
            if of(&self.to, is(Prim::Max)) {
                self.to.extend(&stmt.results);
            }
            match &stmt.op {
                CpuOp::Own(
                    Own::Range { from, to, body, .. } | Own::Strips { from, to, body, .. },
                ) if self.from.contains(from) && self.to.contains(to) => {
                    self.indices.insert(body.params[0]);
                }
                CpuOp::Own(Own::Lanes { strip, body, .. }) if self.indices.contains(strip) => {
                    self.indices.insert(body.params[1]);
                }
                CpuOp::Set { place, value } => {
                    for side in [&mut self.from, &mut self.to] {
                        if !side.contains(value) {
                            side.remove(place);
                        }
                    }
                }
                _ => {}
            }
            for inner in stmt.op.blocks() {
                self.block(inner);
            }
        }
    }
}
