//! Outlining: from Kernels to Cpu, where a parallel nest is run by parts of its rows.
//!
//! # The idea
//!
//! The block of a nest becomes that of a loop over the last axis, from where a part of a row begins
//! to where it ends. What is the same for all points of a row stands in front of that loop, and
//! checks that ask the same in all iterations of a loop inside of a point in front of it
//! ([`invariants`]). Where the points of a column are all that combine into an element, the nest is
//! one [by columns](columns). All other operations are the same in both stages.
//!
//! # Why it is sound
//!
//! The parts of a nest's rows are its points, each in one part; and the points of a nest may be run
//! in any order. A part has a point, so that what is moved would have been computed anyway; a loop
//! is asked whether it has an iteration.
//!
//! # Before and after
//!
//! ```text
//! par %1: I, %2: J {                   par %1: I, %2..%3: J {
//!   %3 = load w[%1]                      %4 = load w[%1]
//!   %4 = load x[%1, %2]                  range %5: J in %2..%3 {
//!   %5 = mul %3, %4              ▶         %6 = load x[%1, %5]
//!   store %0[%1, %2], %5                   %7 = mul %4, %6
//! }                                        store %0[%1, %5], %7
//!                                        }
//!                                      }
//! ```

mod columns;
mod invariants;

use std::convert::Infallible;

use smallvec::smallvec;

use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::stages::imperative::{Fold, ImperativeOp, Par};
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{Block, Elem, Extent, Lit, Program, Scalar, SpanId, Stmt, Type, Value, ValueId};
use crate::ops::Prim;
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
        nests: 0,
        in_kernel: false,
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
    values: Vec<Value<Extent>>,
    /// How many there have been.
    nests: usize,
    in_kernel: bool,
}

impl Outline {
    fn block(&mut self, block: Block<Kernels>) -> Block<Cpu> {
        Block {
            params: block.params,
            stmts: self.stmts(block.stmts),
            results: block.results,
        }
    }

    fn stmts(&mut self, stmts: Vec<Stmt<Kernels>>) -> Vec<Stmt<Cpu>> {
        let mut out = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            let op = match stmt.op {
                ImperativeOp::For {
                    extent,
                    reverse,
                    body,
                } if self.in_kernel => self.each(extent, reverse, *body, stmt.span, &mut out),
                op => self.op(op, stmt.span),
            };
            out.push(Stmt {
                results: stmt.results,
                op,
                guard: stmt.guard,
                span: stmt.span,
            });
        }
        out
    }

    /// A loop inside of a point, with its checks in front of it.
    fn each(
        &mut self,
        extent: Extent,
        reverse: bool,
        body: Block<Kernels>,
        span: SpanId,
        out: &mut Vec<Stmt<Cpu>>,
    ) -> CpuOp {
        let each = |body| ImperativeOp::For {
            extent,
            reverse,
            body: Box::new(body),
        };
        let Some((checks, others)) = invariants::checks(&body) else {
            return each(self.block(body));
        };
        let size = self.bind(ImperativeOp::Size(extent), Elem::USIZE, span, out);
        let zero = ImperativeOp::Const(Lit::Int(Scalar::Usize, 0));
        let zero = self.bind(zero, Elem::USIZE, span, out);
        let some = ImperativeOp::Prim(Prim::Gt, smallvec![size, zero]);
        let cond = self.bind(some, Elem::BOOL, span, out);
        let mut then = Block {
            stmts: self.stmts(checks),
            ..Block::default()
        };
        let others = each(self.block(others));
        then.stmts.push(Stmt::new(Vec::new(), others, span));
        ImperativeOp::If {
            cond,
            then: Box::new(then),
            otherwise: Box::default(),
        }
    }

    fn bind(&mut self, op: CpuOp, elem: Elem, span: SpanId, out: &mut Vec<Stmt<Cpu>>) -> ValueId {
        let value = self.value(elem, span);
        out.push(Stmt::new(vec![value], op, span));
        value
    }

    fn value(&mut self, elem: Elem, span: SpanId) -> ValueId {
        let id = u32::try_from(self.values.len()).expect("fewer than 2^32 values");
        self.values.push(Value {
            ty: Type::scalar(elem),
            name: None,
            span,
        });
        ValueId(id)
    }

    fn op(&mut self, op: KernelOp, span: SpanId) -> CpuOp {
        match op {
            ImperativeOp::Own(par) => ImperativeOp::Own(Own::Par(self.par(par, span))),
            op => {
                let Ok(op) = op.in_stage::<_, Infallible>(|block| Ok(self.block(block)));
                op
            }
        }
    }

    /// A nest: the loop over its last axis is a loop of its block.
    fn par(&mut self, par: Par<Kernels>, span: SpanId) -> Par<Cpu> {
        self.in_kernel = true;
        let by_columns = columns::owns(&self.values, &par);
        let body = match *par.extents {
            [] => self.block(*par.body),
            [row] => self.rows(Vec::new(), *par.body, row, span),
            [.., row] => {
                let (same, body) = invariants::of_row(*par.body);
                self.rows(same, body, row, span)
            }
        };
        let folds = par.folds.into_iter().map(|fold| Fold {
            targets: fold.targets,
            privates: fold.privates,
            first: fold.first,
            join: self.block(fold.join),
        });
        let folds = folds.collect();
        self.in_kernel = false;
        let number = self.nests;
        self.nests += 1;
        Par {
            name: par.name,
            number,
            by_columns,
            speculates: false,
            extents: par.extents,
            accs: par.accs,
            folds,
            body: Box::new(body),
        }
    }

    /// What is done for a part of a row: what is the same for all its points, and the points.
    fn rows(
        &mut self,
        same: Vec<Stmt<Kernels>>,
        points: Block<Kernels>,
        row: Extent,
        span: SpanId,
    ) -> Block<Cpu> {
        let [from, to] = [(); 2].map(|()| self.value(Elem::Bound(row), span));
        let mut stmts = self.stmts(same);
        let mut body = Box::new(self.block(points));
        let mut params = std::mem::take(&mut body.params);
        body.params.extend(params.pop());
        params.extend([from, to]);
        let range = ImperativeOp::Own(Own::Range {
            cold: false,
            from,
            to,
            body,
        });
        stmts.push(Stmt::new(Vec::new(), range, span));
        Block {
            params,
            stmts,
            results: Vec::new(),
        }
    }
}
