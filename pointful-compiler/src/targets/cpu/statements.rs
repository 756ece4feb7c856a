//! Statements of Cpu that passes add.

use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::{Elem, Extent, Program, Scalar, SpanId, Stmt, Type, ValueId};
use crate::ops::Prim;

/// A new scalar.
pub(super) fn scalar(program: &mut Program<Cpu>, elem: Elem, span: SpanId) -> ValueId {
    program.value(Type::scalar(elem), span)
}

/// A statement that binds a scalar.
pub(super) fn bind(
    program: &mut Program<Cpu>,
    op: CpuOp,
    elem: Elem,
    span: SpanId,
    out: &mut Vec<Stmt<Cpu>>,
) -> ValueId {
    let value = scalar(program, elem, span);
    out.push(Stmt::new(vec![value], op, span));
    value
}

/// A primitive.
pub(super) fn prim(
    program: &mut Program<Cpu>,
    prim: Prim,
    args: &[ValueId],
    elem: Elem,
    span: SpanId,
    out: &mut Vec<Stmt<Cpu>>,
) -> ValueId {
    bind(program, CpuOp::Prim(prim, args.into()), elem, span, out)
}

/// The number that an index or a bound is.
pub(super) fn number(
    program: &mut Program<Cpu>,
    value: ValueId,
    span: SpanId,
    out: &mut Vec<Stmt<Cpu>>,
) -> ValueId {
    let cast = Prim::Cast(Scalar::Usize);
    prim(program, cast, &[value], Elem::USIZE, span, out)
}

/// The bound that is nearest to a sum.
pub(super) fn bound(
    program: &mut Program<Cpu>,
    extent: Extent,
    number: i64,
    terms: Vec<(ValueId, bool)>,
    span: SpanId,
    out: &mut Vec<Stmt<Cpu>>,
) -> ValueId {
    let op = Own::Bound {
        extent,
        number,
        terms,
    };
    bind(program, CpuOp::Own(op), Elem::Bound(extent), span, out)
}
