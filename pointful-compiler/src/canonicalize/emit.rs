//! Statements of Point that passes make: indices near others, and what is read at them.

use smallvec::smallvec;

use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Elem, Extent, Lit, Program, Scalar, SpanId, Stmt, Type, ValueId};
use crate::ops::Prim;

/// An operation.
pub(super) fn op(
    program: &mut Program<Point>,
    op: PointOp,
    ty: Type<Extent>,
    (into, span): (&mut Block<Point>, SpanId),
) -> ValueId {
    let value = program.value(ty, span);
    into.stmts.push(Stmt::new(vec![value], op, span));
    value
}

/// An index and a number, as an integer.
pub(super) fn number(
    program: &mut Program<Point>,
    scalar: Scalar,
    (index, by): (ValueId, i128),
    (into, span): (&mut Block<Point>, SpanId),
) -> ValueId {
    let int = || Type::scalar(Elem::Scalar(scalar));
    let here = PointOp::Prim(Prim::Cast(scalar), smallvec![index]);
    let here = op(program, here, int(), (into, span));
    let number = PointOp::Const(Lit::Int(scalar, by.abs()));
    let number = op(program, number, int(), (into, span));
    let prim = if by < 0 { Prim::Sub } else { Prim::Add };
    let of = PointOp::Prim(prim, smallvec![here, number]);
    op(program, of, int(), (into, span))
}

/// The index of that number.
pub(super) fn trust(
    program: &mut Program<Point>,
    number: ValueId,
    extent: Extent,
    into: (&mut Block<Point>, SpanId),
) -> ValueId {
    let index = PointOp::Prim(Prim::Trust(extent), smallvec![number]);
    op(program, index, Type::scalar(Elem::Index(extent)), into)
}

/// The index of an extent that is a number more than another index, which is known to be one.
pub(super) fn place(
    program: &mut Program<Point>,
    (index, by): (ValueId, i128),
    of: Extent,
    (into, span): (&mut Block<Point>, SpanId),
) -> ValueId {
    if by == 0 && program.elem(index) == Elem::Index(of) {
        return index;
    }
    let number = match by {
        0 => index,
        _ => number(program, Scalar::I64, (index, by), (into, span)),
    };
    trust(program, number, of, (into, span))
}

/// What is read at indices.
pub(super) fn index(
    program: &mut Program<Point>,
    table: ValueId,
    indices: Vec<ValueId>,
    into: (&mut Block<Point>, SpanId),
) -> ValueId {
    let mut ty = program.ty(table).clone();
    ty.dims.drain(..indices.len());
    op(program, PointOp::Index { table, indices }, ty, into)
}

/// A table in which another value is put at indices.
pub(super) fn update(
    program: &mut Program<Point>,
    table: ValueId,
    indices: Vec<ValueId>,
    value: ValueId,
    into: (&mut Block<Point>, SpanId),
) -> ValueId {
    let ty = program.ty(table).clone();
    let change = PointOp::Update {
        table,
        indices,
        value,
    };
    op(program, change, ty, into)
}
