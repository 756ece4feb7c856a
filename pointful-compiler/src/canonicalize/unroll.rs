//! Full unrolling: a `for` over a few members whose body asks which member it is becomes one
//! iteration after the other, each of which takes its own branch.
//!
//! ```text
//! %0 = for %1: 2 {                      %9 = neg %y
//!   %2 = cast usize %1                  %0 = array [%x, %9]
//!   %3 = const 0usize
//!   %4 = eq %2, %3
//!   %5 = if %4 { yield %x }        ▶
//!        else { %6 = neg %y
//!               yield %6 }
//!   yield %5
//! }
//! ```
//!
//! A loop over an axis evaluates both branches at every member, and its derivative multiplies that.
//! The conditions are constants once the loop is unrolled, and [`simplify`](mod@super::simplify) takes
//! the branches.
//!
//! # Why it is sound
//!
//! Iterations are independent but for accumulation, and they accumulate in the same order.

use smallvec::smallvec;

use super::cloning::Copy;
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Elem, Extent, Lit, Operation, Program, Scalar, Stmt, Type, ValueSet};
use crate::ops::Prim;
use crate::pass::Pass;

/// The pass.
pub const UNROLL: Pass<Point> = Pass {
    name: "unroll",
    about: "unroll loops over a few members that decide by the member what to do",
    run: unroll,
};

/// The most members.
const MEMBERS: u64 = 8;

/// The most statements that all iterations of a loop have, whatever branches they take.
const STATEMENTS: usize = 512;

/// Unrolls loops over a few members that decide by the member what to do.
pub fn unroll(program: Program<Point>) -> Program<Point> {
    program.rewritten(|program, body| {
        let mut constants = ValueSet::new();
        block(program, &mut constants, body);
    })
}

/// Unrolls inner loops before outer ones. `constants` are those so far.
fn block(program: &mut Program<Point>, constants: &mut ValueSet, block: &mut Block<Point>) {
    let mut stmts = Vec::with_capacity(block.stmts.len());
    for mut stmt in std::mem::take(&mut block.stmts) {
        if matches!(stmt.op, PointOp::Const(_)) {
            constants.extend(&stmt.results);
        }
        for inner in stmt.op.blocks_mut() {
            self::block(program, constants, inner);
        }
        match few_that_decide(&stmt, constants) {
            Some(members) => iterations(program, stmt, members, &mut stmts),
            None => stmts.push(stmt),
        }
    }
    block.stmts = stmts;
}

/// How many members a loop has that is to be unrolled.
fn few_that_decide(stmt: &Stmt<Point>, constants: &ValueSet) -> Option<u64> {
    let PointOp::For {
        extent: Extent::Const(members @ 2..=MEMBERS),
        body,
    } = &stmt.op
    else {
        return None;
    };
    let mut look = Look {
        constants,
        decided: ValueSet::from_iter([body.params[0]]),
        decides: false,
        statements: 0,
    };
    look.block(body);
    let statements = look.statements.saturating_mul(*members as usize);
    (look.decides && statements <= STATEMENTS).then_some(*members)
}

/// What is found out about a body.
struct Look<'c> {
    constants: &'c ValueSet,
    /// What the member alone decides.
    decided: ValueSet,
    /// Whether that decides a branch.
    decides: bool,
    statements: usize,
}

impl Look<'_> {
    fn block(&mut self, block: &Block<Point>) {
        self.statements += block.stmts.len();
        for stmt in &block.stmts {
            match &stmt.op {
                PointOp::Prim(_, args) => {
                    let is_known = |arg| self.decided.contains(arg) || self.constants.contains(arg);
                    if args.iter().all(is_known)
                        && args.iter().any(|arg| self.decided.contains(arg))
                    {
                        self.decided.extend(&stmt.results);
                    }
                }
                PointOp::If { cond, .. } => self.decides |= self.decided.contains(cond),
                _ => {}
            }
            for inner in stmt.op.blocks() {
                self.block(inner);
            }
        }
    }
}

/// Puts the iterations of a loop one after the other.
fn iterations(
    program: &mut Program<Point>,
    stmt: Stmt<Point>,
    members: u64,
    out: &mut Vec<Stmt<Point>>,
) {
    let PointOp::For { extent, body } = stmt.op else {
        return;
    };
    #[cfg(test)]
    crate::testing::entered::enter(&crate::testing::entered::UNROLLED);
    let mut results = vec![Vec::new(); stmt.results.len()];
    for member in 0..members {
        let number = program.value(Type::scalar(Elem::USIZE), stmt.span);
        let literal = PointOp::Const(Lit::Int(Scalar::Usize, i128::from(member)));
        out.push(Stmt::new(vec![number], literal, stmt.span));
        let index = program.value(Type::scalar(Elem::Index(extent)), stmt.span);
        let trust = PointOp::Prim(Prim::Trust(extent), smallvec![number]);
        out.push(Stmt::new(vec![index], trust, stmt.span));
        let mut copy = Copy::new(program, [(body.params[0], index)]);
        out.extend(body.stmts.iter().map(|stmt| copy.stmt(stmt)));
        for (all, &value) in results.iter_mut().zip(&body.results) {
            all.push(copy.get(value));
        }
    }
    for (values, result) in results.into_iter().zip(stmt.results) {
        out.push(Stmt::new(vec![result], PointOp::Array(values), stmt.span));
    }
}
