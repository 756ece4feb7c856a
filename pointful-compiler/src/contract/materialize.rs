//! Writing down elements of a buffer in another.

use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{Block, Elem, Extent, Program, SpanId, Stmt, Type, ValueId};

/// A buffer over these extents that has at each point the element of another whose indices are `at`
/// that point, and the statements that make it: of the host.
pub(crate) fn write_down(
    program: &mut Program<Kernels>,
    source: ValueId,
    extents: Vec<Extent>,
    at: impl FnOnce(&[ValueId]) -> Vec<ValueId>,
    span: SpanId,
) -> (ValueId, [Stmt<Kernels>; 2]) {
    let elem = program.elem(source);
    let buffer = program.value(Type::table(elem, extents.clone()), span);
    let index = |&extent: &Extent| program.value(Type::scalar(Elem::Index(extent)), span);
    let params: Vec<ValueId> = extents.iter().map(index).collect();
    let value = program.value(Type::scalar(elem), span);
    let load = KernelOp::Load {
        buffer: source,
        indices: at(&params),
    };
    let store = KernelOp::Store {
        buffer,
        indices: params.clone(),
        value,
    };
    let body = Block {
        params,
        stmts: vec![
            Stmt::new(vec![value], load, span),
            Stmt::new(Vec::new(), store, span),
        ],
        results: Vec::new(),
    };
    let par = KernelOp::Own(Par {
        number: 0,
        by_columns: false,
        speculates: false,
        name: program.name.clone(),
        extents,
        accs: Vec::new(),
        folds: Vec::new(),
        body: Box::new(body),
    });
    let alloc = KernelOp::Alloc { fill: None };
    let made = [
        Stmt::new(vec![buffer], alloc, span),
        Stmt::new(Vec::new(), par, span),
    ];
    (buffer, made)
}
