//! Conditions of `while` that accumulate.
//!
//! A condition in Bulk gives a truth value and nothing else, so what it accumulates would be lost.
//! Such a loop is turned round before lifting: the condition is evaluated before the loop and at
//! the end of each iteration, and the loop goes on while the last answer was yes. It is evaluated
//! as often as before, on the same states, in the same order.

use std::collections::BTreeMap;

use crate::analysis::dataflow::{Effect, Flow};
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Elem, Extent, Operation, Program, Stmt, Type, ValueId};

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
    let mut copy = Copy {
        program,
        map: cond
            .params
            .iter()
            .copied()
            .zip(args.iter().copied())
            .collect(),
    };
    let stmts = copy.stmts(&cond.stmts);
    into.extend(stmts);
    copy.get(cond.results[0])
}

/// Copies statements, with new values for those that they bind.
struct Copy<'a> {
    program: &'a mut Program<Point>,
    map: BTreeMap<ValueId, ValueId>,
}

impl Copy<'_> {
    fn get(&self, value: ValueId) -> ValueId {
        self.map.get(&value).copied().unwrap_or(value)
    }

    fn bind(&mut self, value: ValueId) -> ValueId {
        let mut known = self.program.values[value.index()].clone();
        let extent = |extent: &mut Extent| match extent {
            Extent::Value(value) => *value = self.get(*value),
            Extent::Const(_) | Extent::Size(_) => {}
        };
        if let Elem::Index(of) = &mut known.ty.elem {
            extent(of);
        }
        known.ty.dims.iter_mut().for_each(extent);
        let copy = self.program.value(known.ty, known.span);
        self.program.values[copy.index()].name = known.name;
        self.map.insert(value, copy);
        copy
    }

    fn stmts(&mut self, stmts: &[Stmt<Point>]) -> Vec<Stmt<Point>> {
        stmts.iter().map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&mut self, stmt: &Stmt<Point>) -> Stmt<Point> {
        let mut copy = stmt.clone();
        let mut visit = |value: &mut ValueId| *value = self.get(*value);
        copy.op.for_each_operand_mut(&mut visit);
        Point::for_each_extent_mut(&mut copy.op, &mut visit);
        for inner in copy.op.blocks_mut() {
            inner.params = inner.params.iter().map(|&param| self.bind(param)).collect();
            inner.stmts = self.stmts(&inner.stmts);
            inner.results = inner.results.iter().map(|&value| self.get(value)).collect();
        }
        copy.results = stmt.results.iter().map(|&value| self.bind(value)).collect();
        copy
    }
}
