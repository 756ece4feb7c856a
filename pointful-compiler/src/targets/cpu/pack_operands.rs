//! What a loop of the host multiplies by in each of its steps, and lies in memory across the way in
//! which the product is written, is written down in front of the loop as it is wanted.
//!
//! ```text
//! for %t: T {                                    %1 = alloc f32[K, C]
//!   contract %0[0, 1] = w[1, 2], x[%t, 0, 2]     par %k: K, %c: C { %2 = load w[%c, %k] store %1[%k, %c], %2 }
//! }                                          ▶   for %t: T {
//!                                                  contract %0[0, 1] = %1[2, 1], x[%t, 0, 2]
//!                                                }
//! ```
//!
//! The library packs factors into strips before it multiplies, unless they lie like the product. In
//! each step that would be done again, and with few rows in the other factor it takes a good part
//! of the time.

use std::collections::BTreeMap;

use crate::analysis::accesses::changes;
use crate::contract::materialize::write_down;
use crate::ir::stages::kernels::{Along, KernelOp, Kernels, Par};
use crate::ir::{Block, Extent, Operation, Program, SpanId, Stmt, ValueId, ValueSet};
use crate::pass::Pass;

/// Steps below which it does not pay.
const FEW: u64 = 4;

/// The pass.
pub const PACK_OPERANDS: Pass<Kernels> = Pass {
    name: "pack_operands",
    about: "write down in front of a loop, as products want it, what they multiply by in each step",
    run: pack_operands,
};

/// Writes down in front of a loop, as products want it, what they multiply by in each step.
pub fn pack_operands(program: Program<Kernels>) -> Program<Kernels> {
    program.rewritten(block)
}

fn block(program: &mut Program<Kernels>, block: &mut Block<Kernels>) {
    for mut stmt in std::mem::take(&mut block.stmts) {
        let many = match &stmt.op {
            KernelOp::Own(Par { .. }) => {
                block.stmts.push(stmt);
                continue;
            }
            KernelOp::For { extent, .. } => !matches!(extent, Extent::Const(..FEW)),
            KernelOp::While { .. } => true,
            _ => false,
        };
        if many {
            let mut turned = Turned {
                program,
                changed: ValueSet::new(),
                known: BTreeMap::new(),
                before: Vec::new(),
            };
            for inner in stmt.op.blocks_mut() {
                changes(&inner.stmts, &mut turned.changed);
                turned.changed.extend(&inner.bound());
            }
            for inner in stmt.op.blocks_mut() {
                turned.block(inner);
            }
            block.stmts.append(&mut turned.before);
        }
        for inner in stmt.op.blocks_mut() {
            self::block(program, inner);
        }
        block.stmts.push(stmt);
    }
}

/// What is written down in front of a loop.
struct Turned<'p> {
    program: &'p mut Program<Kernels>,
    /// What the loop changes or makes.
    changed: ValueSet,
    /// Factors in the order of axes that is wanted.
    known: BTreeMap<(ValueId, Vec<usize>), ValueId>,
    before: Vec<Stmt<Kernels>>,
}

impl Turned<'_> {
    fn block(&mut self, block: &mut Block<Kernels>) {
        for stmt in &mut block.stmts {
            match &mut stmt.op {
                KernelOp::Contract {
                    factors,
                    along: [out, left, right],
                    ..
                } => {
                    for (factor, along) in factors.iter_mut().zip([left, right]) {
                        if !self.changed.contains(factor)
                            && let Some(order) = wanted(out, along)
                        {
                            *along = order.iter().map(|&place| along[place]).collect();
                            *factor = self.turned(*factor, order, stmt.span);
                        }
                    }
                }
                KernelOp::Own(Par { .. }) => {}
                op => op
                    .blocks_mut()
                    .into_iter()
                    .for_each(|inner| self.block(inner)),
            }
        }
    }

    /// A factor with its axes in this order.
    fn turned(&mut self, factor: ValueId, order: Vec<usize>, span: SpanId) -> ValueId {
        if let Some(&known) = self.known.get(&(factor, order.clone())) {
            return known;
        }
        let dims = &self.program.ty(factor).dims;
        let extents = order.iter().map(|&place| dims[place]).collect();
        let at = |params: &[ValueId]| {
            let mut indices = params.to_vec();
            for (&place, &index) in order.iter().zip(params) {
                indices[place] = index;
            }
            indices
        };
        let (buffer, made) = write_down(self.program, factor, extents, at, span);
        self.before.extend(made);
        self.known.insert((factor, order), buffer);
        buffer
    }
}

/// The order of a factor's axes in which neighbours in the product are neighbours in the factor, if
/// it is another: what is summed comes first.
pub(crate) fn wanted(out: &[Along], factor: &[Along]) -> Option<Vec<usize>> {
    let place = |along: &Along| out.iter().position(|other| other == along);
    let (last, end) = (factor.last()?, out.last()?);
    let whole = factor.iter().all(|along| along.index().is_none());
    if !whole || place(last).is_some() || !factor.contains(end) {
        return None;
    }
    let mut order: Vec<usize> = (0..factor.len()).collect();
    // Stable: summed axes keep their order, and others get that of the product.
    order.sort_by_key(|&axis| place(&factor[axis]));
    Some(order)
}
