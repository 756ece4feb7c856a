//! How many iterations of both loops lie between two cells that touch the same element.

use std::collections::BTreeMap;

use super::Nest;
use crate::analysis::numbers::Numbers;
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{Operation, Program, Stmt, ValueId};
use crate::targets::cpu::split::{Base, Reach, moved};

/// Which values lie at a known distance from an index of one of both loops.
pub(super) struct Distances<'n> {
    reverse: [bool; 2],
    /// Of the outer loop, and of the inner one.
    known: [BTreeMap<ValueId, Reach>; 2],
    numbers: &'n Numbers,
}

impl<'n> Distances<'n> {
    pub(super) fn of(program: &Program<Kernels>, numbers: &'n Numbers, nest: &Nest<'_>) -> Self {
        let inner = nest.inner.iter().map(|&index| (index, Reach::INDEX));
        let mut found = Self {
            reverse: nest.reverse,
            known: [
                BTreeMap::from([(nest.outer, Reach::INDEX)]),
                inner.collect(),
            ],
            numbers,
        };
        for stmt in nest.around[0].iter().chain(&nest.cell) {
            found.look(program, stmt);
        }
        found
    }

    fn look(&mut self, program: &Program<Kernels>, stmt: &Stmt<Kernels>) {
        if let KernelOp::Prim(prim, args) = &stmt.op {
            let result = stmt.results[0];
            for of in 0..2 {
                let reach = moved(program, *prim, args, result, |value| {
                    self.known[of].get(&value).cloned().or_else(|| {
                        let number = self.numbers.integer(value)?;
                        Reach::checked(Base::Zero, number, number)
                    })
                });
                if let Some(reach) = reach.filter(|reach| reach.from == Base::Index) {
                    self.known[of].insert(result, reach);
                }
            }
        }
        for inner in stmt.op.blocks() {
            for stmt in &inner.stmts {
                self.look(program, stmt);
            }
        }
    }

    /// Of which loop's index an index is, and how many iterations after that.
    fn place(&self, index: &ValueId) -> Option<(usize, i64)> {
        let of = self
            .known
            .iter()
            .position(|known| known.contains_key(index))?;
        let reach = &self.known[of][index];
        let sign = if self.reverse[of] { -1 } else { 1 };
        (reach.low == reach.high).then_some((of, sign * reach.low))
    }

    /// Whether two cells stay in their order, of which one changes the element at these indices and
    /// the other touches that at those.
    pub(super) fn keep_order(&self, one: &[ValueId], other: &[ValueId]) -> bool {
        let mut apart = [None; 2];
        for (a, b) in one.iter().zip(other) {
            let (Some((of, a)), Some((of_other, b))) = (self.place(a), self.place(b)) else {
                continue;
            };
            if of != of_other {
                continue;
            }
            // At two distances at once it is never the same element.
            if apart[of]
                .replace(a - b)
                .is_some_and(|before| before != a - b)
            {
                return true;
            }
        }
        match apart {
            [Some(outer), Some(inner)] => {
                let before = if outer == 0 { inner } else { outer };
                before.signum() == (outer + inner).signum()
            }
            [Some(only), None] | [None, Some(only)] => only == 0,
            [None, None] => false,
        }
    }
}
