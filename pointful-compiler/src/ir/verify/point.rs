//! The invariants of Point alone: accumulators.

use std::collections::BTreeMap;

use super::{Verify, VerifyError};
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::typing::Typing;
use crate::ir::{Block, Extent, Operation, Program, Stmt, Type, ValueId};

impl Verify for Point {
    fn expected(program: &Program<Self>, stmt: &Stmt<Self>) -> Result<Vec<Type<Extent>>, String> {
        Self::types(program, &stmt.op, None)
    }

    fn fits(found: &Type<Extent>, expected: &Type<Extent>) -> bool {
        found == expected
    }

    fn own(program: &Program<Self>) -> Result<(), VerifyError> {
        Accumulators {
            open: BTreeMap::new(),
            blocks: 0,
            stmt: 0,
        }
        .block(&program.body, false)
    }
}

struct Accumulators {
    /// The accumulators that were not taken yet, each with the number of its block.
    open: BTreeMap<ValueId, Option<usize>>,
    blocks: usize,
    stmt: usize,
}

impl Accumulators {
    fn block(&mut self, block: &Block<Point>, in_operator: bool) -> Result<(), VerifyError> {
        let number = self.blocks;
        self.blocks += 1;
        for stmt in &block.stmts {
            let at = Some(self.stmt);
            self.stmt += 1;
            let error = |invariant, message: &str| {
                Err(VerifyError {
                    invariant,
                    stmt: at,
                    message: message.into(),
                })
            };
            if stmt.guard.is_some() {
                return error(7, "a guard outside of Bulk");
            }
            let used = match &stmt.op {
                PointOp::Accumulate {
                    acc,
                    indices,
                    value,
                } => {
                    if in_operator {
                        return error(6, "an accumulation inside an operator");
                    }
                    match self.open.get(acc) {
                        None => return error(5, "what is accumulated into is no accumulator"),
                        Some(None) => return error(5, "an accumulation after `get`"),
                        Some(Some(_)) => indices.iter().chain([value]).copied().collect(),
                    }
                }
                PointOp::Get { acc } => {
                    match self.open.get(acc) {
                        None => return error(5, "what is got is no accumulator"),
                        Some(None) => return error(5, "an accumulator is got twice"),
                        Some(Some(home)) if *home != number => {
                            return error(5, "`get` stands in another block than its accumulator");
                        }
                        Some(Some(_)) => {}
                    }
                    self.open.insert(*acc, None);
                    Vec::new()
                }
                op => op.operands(),
            };
            if used.iter().any(|v| self.open.contains_key(v)) {
                return error(5, "an accumulator is read as a value");
            }
            let operator = matches!(stmt.op, PointOp::Fold { .. } | PointOp::Scan { .. });
            for inner in stmt.op.blocks() {
                self.block(inner, in_operator || operator)?;
            }
            if let PointOp::Accum { .. } = stmt.op {
                self.open.insert(stmt.results[0], Some(number));
            }
        }
        if block.results.iter().any(|v| self.open.contains_key(v)) {
            return Err(VerifyError {
                invariant: 5,
                stmt: self.stmt.checked_sub(1),
                message: "an accumulator leaves its block".into(),
            });
        }
        Ok(())
    }
}
