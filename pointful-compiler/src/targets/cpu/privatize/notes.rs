//! Tables that points combine into at places that are computed, as in a histogram. Rows that are
//! looked up are no such thing: their loops are vectors, which the choice between copies and notes
//! slows down.

use crate::analysis::numbers::Numbers;
use crate::ir::stages::cpu::{Cpu, CpuOp, Par};
use crate::ir::{Block, Extent, Operation, Program, ValueId, ValueSet};
use crate::ops::Prim;

/// Tables that are known to be of fewer bytes are copied in any case.
const SMALL_BYTES: u64 = 1 << 24;

/// Chooses notes for those of a kernel's tables that are only combined into, at places that are
/// computed along their last axis.
pub(super) fn of_kernel(program: &Program<Cpu>, numbers: &Numbers, par: &mut Par<Cpu>) {
    let is_large = |target: ValueId| {
        let ty = program.ty(target);
        let bytes = ty
            .dims
            .iter()
            .try_fold(ty.elem.repr().bytes(), |bytes, &dim| {
                match numbers.resolve(dim) {
                    Extent::Const(length) => Some(bytes.saturating_mul(length)),
                    Extent::Size(_) | Extent::Value(_) => None,
                }
            });
        !ty.dims.is_empty() && bytes.is_none_or(|bytes| bytes >= SMALL_BYTES)
    };
    if !par.accs.iter().any(|acc| is_large(acc.target)) {
        return;
    }
    let mut look = Look::default();
    look.block(&par.body);
    for acc in par.accs.iter_mut().filter(|acc| is_large(acc.target)) {
        acc.notes = look.scattered.contains(&acc.private) && !look.used.contains(&acc.private);
        #[cfg(test)]
        if acc.notes {
            crate::testing::entered::enter(&crate::testing::entered::NOTED);
        }
    }
}

/// What a kernel does with places.
#[derive(Default)]
struct Look {
    /// What is computed in the kernel, of more than an index.
    computed: ValueSet,
    /// What something is combined into at a computed place.
    scattered: ValueSet,
    /// What is used in another way than to combine into it.
    used: ValueSet,
}

impl Look {
    fn block(&mut self, block: &Block<Cpu>) {
        for stmt in &block.stmts {
            match &stmt.op {
                CpuOp::Combine {
                    place,
                    indices,
                    value,
                    ..
                } => {
                    if indices
                        .last()
                        .is_some_and(|last| self.computed.contains(last))
                    {
                        self.scattered.insert(*place);
                    }
                    self.used.insert(*value);
                    continue;
                }
                CpuOp::Const(_) | CpuOp::Size(_) => {}
                CpuOp::Prim(Prim::Trust(_) | Prim::Check(_) | Prim::Cast(_), args)
                    if !self.computed.contains(&args[0]) => {}
                _ => self.computed.extend(&stmt.results),
            }
            self.used.extend(&stmt.op.operands());
            for inner in stmt.op.blocks() {
                self.block(inner);
            }
        }
        self.used.extend(&block.results);
    }
}
