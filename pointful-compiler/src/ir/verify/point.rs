//! The invariants of Point alone: accumulators.

use crate::ir::typing::Types;
use std::collections::BTreeMap;

use super::{Verify, VerifyError};
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::typing::Typing;
use crate::ir::{Block, Elem, Extent, Operation, Program, Stmt, Type, ValueId, Values};

impl Verify for Point {
    fn expected(program: &Program<Self>, stmt: &Stmt<Self>) -> Result<Types<Extent>, String> {
        Self::types(program, &stmt.op, None)
    }

    fn fits(found: &Type<Extent>, expected: &Type<Extent>) -> bool {
        found == expected
    }

    fn dim_extent(_: &Program<Self>, dim: Extent) -> Option<Extent> {
        Some(dim)
    }

    fn extents(_: &Program<Self>, op: &PointOp) -> Option<Vec<Extent>> {
        Some(match op {
            PointOp::Size(extent) | PointOp::For { extent, .. } | PointOp::Loop { extent, .. } => {
                vec![*extent]
            }
            PointOp::Prim(prim, _) => prim.extent().into_iter().collect(),
            PointOp::Const(_)
            | PointOp::Index { .. }
            | PointOp::Array(_)
            | PointOp::Reduce { .. }
            | PointOp::ArgReduce { .. }
            | PointOp::Fold { .. }
            | PointOp::Scan { .. }
            | PointOp::While { .. }
            | PointOp::Derive { .. }
            | PointOp::Rule { .. }
            | PointOp::If { .. }
            | PointOp::Accum { .. }
            | PointOp::Accumulate { .. }
            | PointOp::Get { .. }
            | PointOp::Assert { .. }
            | PointOp::Update { .. } => Vec::new(),
        })
    }

    fn counts(ty: &Type<Extent>) -> bool {
        *ty == Type::scalar(Elem::USIZE)
    }

    fn private(_: &PointOp) -> Vec<ValueId> {
        Vec::new()
    }

    fn own(program: &Program<Self>) -> Result<(), VerifyError> {
        Accumulators {
            program,
            found: BTreeMap::new(),
            blocks: 0,
            stmt: 0,
        }
        .block(&program.body, None, false)
    }
}

/// What became of the accumulators so far.
struct Accumulators<'p> {
    program: &'p Program<Point>,
    /// Each with the number of its block until it is taken.
    found: BTreeMap<ValueId, Option<usize>>,
    blocks: usize,
    stmt: usize,
}

impl Accumulators<'_> {
    fn error<T>(
        &self,
        invariant: u32,
        stmt: Option<usize>,
        value: ValueId,
        what: &str,
    ) -> Result<T, VerifyError> {
        Err(VerifyError::about(
            self.program,
            invariant,
            stmt,
            value,
            what,
        ))
    }

    fn block(
        &mut self,
        block: &Block<Point>,
        around: Option<usize>,
        in_operator: bool,
    ) -> Result<(), VerifyError> {
        let number = self.blocks;
        self.blocks += 1;
        for stmt in &block.stmts {
            let at = Some(self.stmt);
            self.stmt += 1;
            if let Some(guard) = stmt.guard {
                return self.error(7, at, guard, "is a guard outside of Bulk");
            }
            let read = match &stmt.op {
                PointOp::Accumulate {
                    acc,
                    indices,
                    value,
                } => {
                    if in_operator {
                        return self.error(9, at, *acc, "is accumulated into by an operator");
                    }
                    match self.found.get(acc) {
                        None => return self.error(8, at, *acc, "is no accumulator"),
                        Some(None) => return self.error(8, at, *acc, "was got before"),
                        Some(Some(_)) => indices.iter().chain([value]).copied().collect(),
                    }
                }
                PointOp::Get { acc } => {
                    match self.found.insert(*acc, None) {
                        None => return self.error(8, at, *acc, "is no accumulator"),
                        Some(None) => return self.error(8, at, *acc, "was got before"),
                        Some(Some(home)) if home != number => {
                            return self.error(8, at, *acc, "is got in another block than its own");
                        }
                        Some(Some(_)) => {}
                    }
                    Values::new()
                }
                op => op.operands(),
            };
            self.read(at, &read)?;
            let operator = matches!(stmt.op, PointOp::Fold { .. } | PointOp::Scan { .. });
            for inner in stmt.op.blocks() {
                self.block(inner, at, in_operator || operator)?;
            }
            if let PointOp::Accum { .. } = stmt.op {
                self.found.insert(stmt.results[0], Some(number));
            }
        }
        self.read(around, &block.results)
    }

    fn read(&self, stmt: Option<usize>, values: &[ValueId]) -> Result<(), VerifyError> {
        match values.iter().find(|value| self.found.contains_key(value)) {
            Some(&acc) => self.error(8, stmt, acc, "is an accumulator and not a value"),
            None => Ok(()),
        }
    }
}
