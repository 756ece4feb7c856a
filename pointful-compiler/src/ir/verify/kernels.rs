//! The invariants of Kernels alone: places, parallel loops, results.

use super::{Verify, VerifyError};
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::typing::Typing;
use crate::ir::{Block, Extent, Operation, Program, Stmt, Type, ValueId};

impl Verify for Kernels {
    fn expected(program: &Program<Self>, stmt: &Stmt<Self>) -> Result<Vec<Type<Extent>>, String> {
        let declared = stmt.results.first().map(|&r| program.ty(r).clone());
        Self::types(program, &stmt.op, declared)
    }

    fn fits(found: &Type<Extent>, expected: &Type<Extent>) -> bool {
        found == expected
    }

    fn private(op: &KernelOp) -> Vec<ValueId> {
        match op {
            KernelOp::Par { accs, .. } => accs.iter().map(|acc| acc.private).collect(),
            _ => Vec::new(),
        }
    }

    fn own(program: &Program<Self>) -> Result<(), VerifyError> {
        let mut places = Places {
            kind: vec![Kind::Value; program.values.len()],
            stmt: 0,
        };
        for param in &program.params {
            if program.ty(param.value).rank() > 0 {
                places.kind[param.value.index()] = if param.owned {
                    Kind::Own
                } else {
                    Kind::Borrowed
                };
            }
        }
        places.block(&program.body, false)?;
        let mut given: Vec<ValueId> = Vec::new();
        for &result in &program.body.results {
            let kind = places.kind[result.index()];
            let fine = kind == Kind::Value || (kind == Kind::Own && !given.contains(&result));
            if !fine {
                return Err(VerifyError {
                    invariant: 12,
                    stmt: None,
                    message: "a result cannot be given away".into(),
                });
            }
            given.push(result);
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A scalar.
    Value,
    Var,
    /// A buffer made here, or given by the caller.
    Own,
    /// A buffer that the caller keeps.
    Borrowed,
    /// A private accumulator.
    Private,
}

struct Places {
    kind: Vec<Kind>,
    stmt: usize,
}

impl Places {
    fn block(&mut self, block: &Block<Kernels>, in_par: bool) -> Result<(), VerifyError> {
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
            let is = |value: &ValueId, kinds: &[Kind]| kinds.contains(&self.kind[value.index()]);
            let legal = match &stmt.op {
                KernelOp::Get(place) => is(place, &[Kind::Var]),
                KernelOp::Set { place, value } => {
                    is(place, &[Kind::Var]) && is(value, &[Kind::Value])
                }
                KernelOp::Combine { place, value, .. } => {
                    is(place, &[Kind::Var, Kind::Own, Kind::Private]) && is(value, &[Kind::Value])
                }
                KernelOp::Load { buffer, indices } => {
                    is(buffer, &[Kind::Own, Kind::Borrowed])
                        && indices.iter().all(|v| is(v, &[Kind::Value]))
                }
                KernelOp::Store { buffer, value, .. } => {
                    is(buffer, &[Kind::Own]) && is(value, &[Kind::Value])
                }
                KernelOp::Copy(buffer) => is(buffer, &[Kind::Own, Kind::Borrowed]),
                KernelOp::Swap(a, b) => is(a, &[Kind::Own]) && is(b, &[Kind::Own]),
                KernelOp::Par { accs, .. } => accs
                    .iter()
                    .all(|acc| is(&acc.target, &[Kind::Var, Kind::Own])),
                op => op.operands().iter().all(|v| is(v, &[Kind::Value])),
            };
            if !legal {
                return error(
                    10,
                    "a place is used as a value, a value as a place, or a place in a way that it does not allow",
                );
            }
            match &stmt.op {
                KernelOp::Var(_) => self.kind[stmt.results[0].index()] = Kind::Var,
                KernelOp::Alloc { .. } | KernelOp::Copy(_) => {
                    self.kind[stmt.results[0].index()] = Kind::Own
                }
                KernelOp::Par { accs, .. } => {
                    if in_par {
                        return error(11, "a `par` inside a `par`");
                    }
                    for acc in accs {
                        self.kind[acc.private.index()] = Kind::Private;
                    }
                }
                _ => {}
            }
            let inside = in_par || matches!(stmt.op, KernelOp::Par { .. });
            for inner in stmt.op.blocks() {
                self.block(inner, inside)?;
            }
        }
        Ok(())
    }
}
