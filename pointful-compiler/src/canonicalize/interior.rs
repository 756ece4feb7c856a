//! Loops over nearly all places of an axis, as loops over all of them.
//!
//! ```text
//! for %2: E {                          for %6: N {
//!   %3 = trust N (add %2, 1)             %7 = in_range E (sub %6, 1)
//!   %4 = index x[%3]                     %5 = if %7 { %4 = index x[%6] … yield %8 }
//!   …                             ▶            else { %9 = index x[%6] yield %9 }
//!   yield %8                             yield %5
//! }                                    }
//! ```
//!
//! What reads the table that the loop makes is computed with it.

use smallvec::smallvec;

use super::distances::Distances;
use super::emit;
use super::substitution::Subst;
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{
    Block, Elem, Extent, Operation, Program, Scalar, SpanId, Stmt, Type, ValueId, ValueSet,
};
use crate::ops::Prim;

/// Neighbouring places of an axis.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// How many they are.
    pub(super) extent: Extent,
    pub(super) first: i128,
    /// The extent of the axis.
    pub(super) of: Extent,
}

impl Part {
    /// Whether a place is one of them, and which.
    pub(super) fn member(
        &self,
        program: &mut Program<Point>,
        place: ValueId,
        (into, span): (&mut Block<Point>, SpanId),
    ) -> (ValueId, ValueId) {
        let number = emit::number(
            program,
            Scalar::I64,
            (place, -self.first),
            (&mut *into, span),
        );
        let is_one = PointOp::Prim(Prim::InRange(self.extent), smallvec![number]);
        let cond = emit::op(program, is_one, Type::scalar(Elem::BOOL), (into, span));
        (cond, number)
    }

    /// The body of a loop over the axis, of one over the part, and of what it gives at other places.
    pub(super) fn interior(
        &self,
        (program, distances): (&mut Program<Point>, &Distances),
        mut body: Block<Point>,
        place: ValueId,
        otherwise: Block<Point>,
        span: SpanId,
    ) -> Block<Point> {
        let mut into = Block {
            params: vec![place],
            ..Block::default()
        };
        hoist(program, &mut body, &mut into);
        let index = body.params.remove(0);
        let (cond, number) = self.member(program, place, (&mut into, span));
        // What the iteration calls its place is the place, and its number is so far from that.
        let mut before = Block::default();
        let near = (place, -self.first);
        let count = emit::number(program, Scalar::Usize, near, (&mut before, span));
        let is_place = |value| {
            program.elem(value) == Elem::Index(self.of)
                && distances.is_at(value, (index, self.first))
        };
        let mut places = Subst::new();
        each(
            &body,
            &mut |stmt| match (&stmt.op, stmt.results.as_slice()) {
                (PointOp::Prim(Prim::Cast(Scalar::I64), of), &[value]) if of[..] == [index] => {
                    places.replace(value, number);
                }
                (PointOp::Prim(Prim::Cast(Scalar::Usize), of), &[value]) if of[..] == [index] => {
                    places.replace(value, count);
                }
                (_, &[value]) if is_place(value) => places.replace(value, place),
                _ => {}
            },
        );
        places.block(&mut body);
        let trust = PointOp::Prim(Prim::Trust(self.extent), smallvec![number]);
        let trust = Stmt::new(vec![index], trust, span);
        body.stmts
            .splice(0..0, before.stmts.into_iter().chain([trust]));
        let kept = otherwise.results.iter();
        let types: Vec<_> = kept.map(|&value| program.ty(value).clone()).collect();
        into.results = types
            .into_iter()
            .map(|ty| program.value(ty, span))
            .collect();
        let choice = PointOp::If {
            cond,
            then: Box::new(body),
            otherwise: Box::new(otherwise),
        };
        into.stmts
            .push(Stmt::new(into.results.clone(), choice, span));
        into
    }
}

/// Moves numbers that are the same in all iterations, as lengths of loops are, out of a body: behind a
/// condition they would depend on it. Floats stay, for the sake of their derivatives.
fn hoist(program: &Program<Point>, body: &mut Block<Point>, into: &mut Block<Point>) {
    let results = body.stmts.iter().flat_map(|stmt| &stmt.results);
    let mut bound: ValueSet = body.params.iter().chain(results).copied().collect();
    let is_number = |stmt: &Stmt<Point>, bound: &ValueSet| match &stmt.op {
        PointOp::Const(_) | PointOp::Size(Extent::Const(_) | Extent::Size(_)) => true,
        PointOp::Prim(prim, args) => {
            let is_total = prim.extent().is_none() && !prim.may_panic(program.elem(args[0]));
            let is_float = program.elem(stmt.results[0]).is_float();
            is_total && !is_float && args.iter().all(|arg| !bound.contains(arg))
        }
        _ => false,
    };
    for stmt in std::mem::take(&mut body.stmts) {
        match is_number(&stmt, &bound) {
            true => {
                bound.remove(&stmt.results[0]);
                into.stmts.push(stmt);
            }
            false => body.stmts.push(stmt),
        }
    }
}

/// Whether there is a loop in a block whose iterations follow each other.
pub(super) fn loops(block: &Block<Point>) -> bool {
    let mut found = false;
    each(block, &mut |stmt| {
        found |= matches!(stmt.op, PointOp::Loop { .. } | PointOp::While { .. });
    });
    found
}

/// Whether something in a block is combined into an accumulator.
pub(super) fn accumulates(block: &Block<Point>) -> bool {
    let mut found = false;
    each(block, &mut |stmt| {
        found |= matches!(stmt.op, PointOp::Accumulate { .. })
    });
    found
}

/// Visits the statements of a block, at any depth.
pub(super) fn each(block: &Block<Point>, visit: &mut dyn FnMut(&Stmt<Point>)) {
    for stmt in &block.stmts {
        visit(stmt);
        for inner in stmt.op.blocks() {
            each(inner, visit);
        }
    }
}
