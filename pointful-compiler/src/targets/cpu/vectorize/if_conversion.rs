//! If-conversion: both sides of a branch are computed, and what they change is selected.
//!
//! # The idea
//!
//! Lanes that go different ways are no vector. So all of them go both ways, one after the other,
//! and where a side changes a place, a lane that does not take it keeps what was there. Branches
//! inside of branches are taken where the branches around them are.
//!
//! # Why it is sound
//!
//! A lane that does not take a side computes something that nobody looks at. It can do so where
//! nothing is stored, nothing runs long, and nothing is asked of an index that only the side itself
//! has found to be one ([`converts`]).
//!
//! # Before and after
//!
//! ```text
//! if %c {                            %2 = mul %1, %1
//!   %2 = mul %1, %1                  %3 = load %p[%l]  %4 = add %3, %2
//!   combine add %p[%l], %2           %5 = select %c, %4, %3  store %p[%l], %5
//! } else {                     ▶     %6 = not %c
//!   set %v, %1                       %7 = get %v  %8 = select %6, %1, %7  set %v, %8
//! }
//! ```

use smallvec::smallvec;

use crate::ir::stages::cpu::{Cpu, CpuOp};
use crate::ir::{Block, Elem, Operation, Program, SpanId, Stmt, ValueId, ValueSet};
use crate::ops::Prim;
use crate::targets::cpu::statements::{bind, prim};

/// Whether a branch with these sides can be converted.
pub(super) fn converts(sides: [&Block<Cpu>; 2]) -> bool {
    let mut bound = ValueSet::new();
    sides.into_iter().all(|side| is_straight(side, &mut bound))
}

/// Whether a side may be computed where it is not taken. `bound`: what such sides bind.
fn is_straight(side: &Block<Cpu>, bound: &mut ValueSet) -> bool {
    side.stmts.iter().all(|stmt| {
        let fits = match &stmt.op {
            // Elsewhere it may be no index.
            CpuOp::Prim(Prim::Trust(_), _) => false,
            CpuOp::Load { indices, .. } => !indices.iter().any(|index| bound.contains(index)),
            CpuOp::Combine { indices, .. } => indices.is_empty(),
            CpuOp::If {
                then, otherwise, ..
            } => is_straight(then, bound) && is_straight(otherwise, bound),
            CpuOp::Const(_)
            | CpuOp::Size(_)
            | CpuOp::Prim(..)
            | CpuOp::Select(..)
            | CpuOp::Var(_)
            | CpuOp::Get(_)
            | CpuOp::Set { .. } => true,
            CpuOp::Alloc { .. }
            | CpuOp::Copy(_)
            | CpuOp::Store { .. }
            | CpuOp::Swap(..)
            | CpuOp::Contract { .. }
            | CpuOp::For { .. }
            | CpuOp::Assert { .. }
            | CpuOp::While { .. }
            | CpuOp::Own(_) => false,
        };
        bound.extend(&stmt.results);
        fits
    })
}

/// Converts all branches of a block. What they combine into may be elements by now.
pub(super) fn if_conversion(program: &mut Program<Cpu>, block: &mut Block<Cpu>) {
    let stmts = Vec::with_capacity(block.stmts.len());
    let before = std::mem::replace(&mut block.stmts, stmts);
    let mut converted = Converted {
        program,
        stmts: &mut block.stmts,
    };
    converted.side(before, None);
}

/// A block without branches, as it is written.
struct Converted<'p> {
    program: &'p mut Program<Cpu>,
    stmts: &'p mut Vec<Stmt<Cpu>>,
}

impl Converted<'_> {
    /// What is done where `mask` says so, or everywhere.
    fn side(&mut self, stmts: Vec<Stmt<Cpu>>, mask: Option<ValueId>) {
        for mut stmt in stmts {
            let span = stmt.span;
            match (stmt.op, mask) {
                (
                    CpuOp::If {
                        cond,
                        then,
                        otherwise,
                    },
                    _,
                ) => {
                    for (side, taken) in [(then, true), (otherwise, false)] {
                        if !side.stmts.is_empty() {
                            let mask = self.mask(mask, cond, taken, span);
                            self.side(side.stmts, Some(mask));
                        }
                    }
                }
                (CpuOp::Set { place, value }, Some(mask)) => {
                    let old = self.bind(CpuOp::Get(place), place, span);
                    let value = self.bind(CpuOp::Select(mask, value, old), place, span);
                    self.push(CpuOp::Set { place, value }, span);
                }
                (
                    CpuOp::Combine {
                        monoid,
                        place,
                        indices,
                        value,
                    },
                    Some(mask),
                ) => {
                    let is_var = indices.is_empty();
                    let old = match is_var {
                        true => CpuOp::Get(place),
                        false => CpuOp::Load {
                            buffer: place,
                            indices: indices.clone(),
                        },
                    };
                    let old = self.bind(old, place, span);
                    if monoid.is_idempotent() {
                        // Combined with itself a place stays what it is, however often.
                        let value = self.bind(CpuOp::Select(mask, value, old), place, span);
                        let op = CpuOp::Combine {
                            monoid,
                            place,
                            indices,
                            value,
                        };
                        self.push(op, span);
                        continue;
                    }
                    let combined = CpuOp::Prim(Prim::combining(monoid), smallvec![old, value]);
                    let combined = self.bind(combined, place, span);
                    let value = self.bind(CpuOp::Select(mask, combined, old), place, span);
                    let changed = match is_var {
                        true => CpuOp::Set { place, value },
                        false => CpuOp::Store {
                            buffer: place,
                            indices,
                            value,
                        },
                    };
                    self.push(changed, span);
                }
                (mut op, _) => {
                    for inner in op.blocks_mut() {
                        if_conversion(self.program, inner);
                    }
                    stmt.op = op;
                    self.stmts.push(stmt);
                }
            }
        }
    }

    /// Where a side of a branch is taken.
    fn mask(
        &mut self,
        around: Option<ValueId>,
        cond: ValueId,
        taken: bool,
        span: SpanId,
    ) -> ValueId {
        let mut asked =
            |of, args: &[ValueId]| prim(self.program, of, args, Elem::BOOL, span, self.stmts);
        let own = if taken {
            cond
        } else {
            asked(Prim::Not, &[cond])
        };
        match around {
            Some(around) => asked(Prim::And, &[around, own]),
            None => own,
        }
    }

    /// A value of the type that a place holds.
    fn bind(&mut self, op: CpuOp, place: ValueId, span: SpanId) -> ValueId {
        let elem = self.program.elem(place);
        bind(self.program, op, elem, span, self.stmts)
    }

    fn push(&mut self, op: CpuOp, span: SpanId) {
        self.stmts.push(Stmt::new(Vec::new(), op, span));
    }
}
