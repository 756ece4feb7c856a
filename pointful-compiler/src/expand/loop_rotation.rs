//! Conditions of `while` that accumulate.
//!
//! A condition in Bulk gives a truth value and nothing else, so what it accumulates would be lost.
//! Such a loop is turned round before lifting: the condition is evaluated before the loop and at
//! the end of each iteration, and the loop goes on while the last answer was yes. It is evaluated
//! as often as before, on the same states, in the same order.

use crate::analysis::dataflow::{Effect, Flow};
use crate::canonicalize::cloning::Copy;
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Elem, Operation, Program, Stmt, Type, ValueId};

/// The program with every such loop turned round.
pub(super) fn rotate(program: Program<Point>) -> Program<Point> {
    if !any(&program.body) {
        return program;
    }
    program.rewritten(block)
}

fn any(block: &Block<Point>) -> bool {
    block
        .stmts
        .iter()
        .any(|stmt| accumulating(&stmt.op) || stmt.op.blocks().into_iter().any(any))
}

/// Whether this is a `while` with a condition that combines something into an accumulator, its own
/// aside.
fn accumulating(op: &PointOp) -> bool {
    match op {
        PointOp::While { cond, .. } => {
            let free = cond.free();
            let mut accumulators = Vec::new();
            targets(cond, &mut accumulators);
            accumulators.iter().any(|acc| free.contains(acc))
        }
        _ => false,
    }
}

fn targets(block: &Block<Point>, found: &mut Vec<ValueId>) {
    for stmt in &block.stmts {
        if let Effect::Into(acc) = Point::effect(&stmt.op) {
            found.push(acc);
        }
        for inner in stmt.op.blocks() {
            targets(inner, found);
        }
    }
}

fn block(program: &mut Program<Point>, into: &mut Block<Point>) {
    for mut stmt in std::mem::take(&mut into.stmts) {
        let turn = accumulating(&stmt.op);
        for inner in stmt.op.blocks_mut() {
            block(program, inner);
        }
        if turn {
            turn_round(program, &mut stmt, &mut into.stmts);
        }
        into.stmts.push(stmt);
    }
}

/// Turns a `while` round; what comes before it is added to `before`.
fn turn_round(program: &mut Program<Point>, stmt: &mut Stmt<Point>, before: &mut Vec<Stmt<Point>>) {
    let span = stmt.span;
    let PointOp::While {
        init, cond, body, ..
    } = &mut stmt.op
    else {
        return;
    };
    let mut truth = || program.value(Type::scalar(Elem::BOOL), span);
    let (asked, carried, last) = (truth(), truth(), truth());
    let first = inline(program, cond, init, before);
    let next = inline(program, cond, &body.results, &mut body.stmts);
    init.push(first);
    body.params.push(carried);
    body.results.push(next);
    cond.params.push(asked);
    cond.stmts.clear();
    cond.results = vec![asked];
    stmt.results.push(last);
}

/// Adds a copy of a condition that reads these values for its parameters; gives its answer.
fn inline(
    program: &mut Program<Point>,
    cond: &Block<Point>,
    args: &[ValueId],
    into: &mut Vec<Stmt<Point>>,
) -> ValueId {
    let params = cond.params.iter().copied().zip(args.iter().copied());
    let mut copy = Copy::new(program, params);
    into.extend(cond.stmts.iter().map(|stmt| copy.stmt(stmt)));
    copy.get(cond.results[0])
}
