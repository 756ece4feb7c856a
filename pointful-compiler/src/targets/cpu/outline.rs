//! Outlining: from Kernels to Cpu, where a parallel nest is run by parts of its rows.
//!
//! # The idea
//!
//! The block of a nest becomes that of a loop over the last axis, from where a part of a row begins to
//! where it ends. All other operations are the same in both stages.
//!
//! # Why it is sound
//!
//! The parts of a nest's rows are its points, each in one part; and the points of a nest may be run in
//! any order.
//!
//! # Before and after
//!
//! ```text
//! par %1: I, %2: J {                   par %1: I, %2..%3: J {
//!   %3 = load x[%1, %2]                  range %4: J in %2..%3 {
//!   store %0[%1, %2], %3         ▶         %5 = load x[%1, %4]
//! }                                        store %0[%1, %4], %5
//!                                        }
//!                                      }
//! ```

use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::stages::imperative::{Fold, ImperativeOp, Par};
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{Block, Elem, Program, SpanId, Stmt, Type, Value};
use crate::pass::Pass;

/// The pass.
pub const OUTLINE: Pass<Kernels, Cpu> = Pass {
    name: "outline",
    about: "run parallel nests by parts of their rows",
    run: outline,
};

/// What a processor is to do for a program.
pub fn outline(program: Program<Kernels>) -> Program<Cpu> {
    let mut outlined = Outline {
        values: program.values,
    };
    let body = outlined.block(program.body);
    Program {
        name: program.name,
        sizes: program.sizes,
        params: program.params,
        values: outlined.values,
        decls: (),
        body,
    }
}

struct Outline {
    values: Vec<Value<crate::ir::Extent>>,
}

impl Outline {
    fn block(&mut self, block: Block<Kernels>) -> Block<Cpu> {
        let stmts = block.stmts.into_iter().map(|stmt| Stmt {
            results: stmt.results,
            op: self.op(stmt.op, stmt.span),
            guard: stmt.guard,
            span: stmt.span,
        });
        Block {
            params: block.params,
            stmts: stmts.collect(),
            results: block.results,
        }
    }

    fn boxed(&mut self, block: Box<Block<Kernels>>) -> Box<Block<Cpu>> {
        Box::new(self.block(*block))
    }

    fn op(&mut self, op: KernelOp, span: SpanId) -> CpuOp {
        match op {
            ImperativeOp::Const(lit) => ImperativeOp::Const(lit),
            ImperativeOp::Size(extent) => ImperativeOp::Size(extent),
            ImperativeOp::Prim(prim, args) => ImperativeOp::Prim(prim, args),
            ImperativeOp::Select(cond, then, otherwise) => {
                ImperativeOp::Select(cond, then, otherwise)
            }
            ImperativeOp::Alloc { fill } => ImperativeOp::Alloc { fill },
            ImperativeOp::Copy(buffer) => ImperativeOp::Copy(buffer),
            ImperativeOp::Load { buffer, indices } => ImperativeOp::Load { buffer, indices },
            ImperativeOp::Store {
                buffer,
                indices,
                value,
            } => ImperativeOp::Store {
                buffer,
                indices,
                value,
            },
            ImperativeOp::Combine {
                monoid,
                place,
                indices,
                value,
            } => ImperativeOp::Combine {
                monoid,
                place,
                indices,
                value,
            },
            ImperativeOp::Var(value) => ImperativeOp::Var(value),
            ImperativeOp::Get(place) => ImperativeOp::Get(place),
            ImperativeOp::Set { place, value } => ImperativeOp::Set { place, value },
            ImperativeOp::Swap(a, b) => ImperativeOp::Swap(a, b),
            ImperativeOp::Contract {
                out,
                factors,
                along,
                add,
            } => ImperativeOp::Contract {
                out,
                factors,
                along,
                add,
            },
            ImperativeOp::For {
                extent,
                reverse,
                body,
            } => ImperativeOp::For {
                extent,
                reverse,
                body: self.boxed(body),
            },
            ImperativeOp::Assert {
                cond,
                message,
                shown,
            } => ImperativeOp::Assert {
                cond,
                message,
                shown,
            },
            ImperativeOp::While { cond, body } => ImperativeOp::While {
                cond: self.boxed(cond),
                body: self.boxed(body),
            },
            ImperativeOp::If {
                cond,
                then,
                otherwise,
            } => ImperativeOp::If {
                cond,
                then: self.boxed(then),
                otherwise: self.boxed(otherwise),
            },
            ImperativeOp::Own(par) => ImperativeOp::Own(Own::Par(self.par(par, span))),
        }
    }

    /// A nest: the loop over its last axis is a loop of its block.
    fn par(&mut self, par: Par<Kernels>, span: SpanId) -> Par<Cpu> {
        let mut body = self.boxed(par.body);
        if let (Some(index), Some(&row)) = (body.params.pop(), par.extents.last()) {
            let [from, to] = [(); 2].map(|()| {
                let id = crate::ir::ValueId(
                    u32::try_from(self.values.len()).expect("fewer than 2^32 values"),
                );
                self.values.push(Value {
                    ty: Type::scalar(Elem::Bound(row)),
                    name: None,
                    span,
                });
                id
            });
            let mut params = std::mem::take(&mut body.params);
            params.extend([from, to]);
            body.params.push(index);
            let range = ImperativeOp::Own(Own::Range { from, to, body });
            body = Box::new(Block {
                params,
                stmts: vec![Stmt::new(Vec::new(), range, span)],
                results: Vec::new(),
            });
        }
        let folds = par.folds.into_iter().map(|fold| Fold {
            targets: fold.targets,
            privates: fold.privates,
            first: fold.first,
            join: self.block(fold.join),
        });
        Par {
            name: par.name,
            extents: par.extents,
            accs: par.accs,
            folds: folds.collect(),
            body,
        }
    }
}
