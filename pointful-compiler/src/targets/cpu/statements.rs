//! Statements of Cpu that passes add, and how they find those that they change.

use crate::analysis::numbers::Numbers;
use crate::ir::stages::cpu::{Cpu, CpuOp, Own, Par};
use crate::ir::{Block, Elem, Extent, Operation, Program, Scalar, SpanId, Stmt, Type, ValueId};
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

/// The program whose body is changed so, by who knows its types and its numbers.
pub(super) fn with_body(
    mut program: Program<Cpu>,
    change: impl FnOnce(&Program<Cpu>, &Numbers, &mut Block<Cpu>),
) -> Program<Cpu> {
    let numbers = Numbers::of(&program.body);
    let mut body = std::mem::take(&mut program.body);
    change(&program, &numbers, &mut body);
    Program { body, ..program }
}

/// Visits each parallel nest.
pub(super) fn for_each_nest(block: &mut Block<Cpu>, visit: &mut dyn FnMut(&mut Par<Cpu>)) {
    for stmt in &mut block.stmts {
        if let CpuOp::Own(Own::Par(par)) = &mut stmt.op {
            visit(par);
        } else {
            for inner in stmt.op.blocks_mut() {
                for_each_nest(inner, visit);
            }
        }
    }
}
