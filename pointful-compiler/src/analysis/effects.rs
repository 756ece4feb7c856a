//! What statements of Kernels do, beside binding values.

use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{Block, Elem, Extent, Operation, Program, Stmt, Type, ValueId, ValueSet};
use crate::ops::Prim;

/// Whether a statement does nothing but bind a scalar, whenever it is run.
pub(crate) fn is_pure(program: &Program<Kernels>, stmt: &Stmt<Kernels>) -> bool {
    match &stmt.op {
        KernelOp::Const(_) | KernelOp::Size(_) | KernelOp::Select(..) | KernelOp::Load { .. } => {
            true
        }
        KernelOp::Prim(prim, args) => {
            !matches!(prim, Prim::Call(_)) && !prim.may_panic(program.elem(args[0]))
        }
        KernelOp::Alloc { .. }
        | KernelOp::Copy(_)
        | KernelOp::Store { .. }
        | KernelOp::Combine { .. }
        | KernelOp::Var(_)
        | KernelOp::Get(_)
        | KernelOp::Set { .. }
        | KernelOp::Swap(..)
        | KernelOp::Contract { .. }
        | KernelOp::For { .. }
        | KernelOp::Own(Par { .. })
        | KernelOp::Assert { .. }
        | KernelOp::While { .. }
        | KernelOp::If { .. } => false,
    }
}

/// Calls `visit` with each computed extent that a statement names, or that the types of its results have.
pub(crate) fn for_each_length(
    program: &Program<Kernels>,
    stmt: &Stmt<Kernels>,
    visit: &mut dyn FnMut(ValueId),
) {
    let mut extent = |extent: Extent| length(extent).into_iter().for_each(&mut *visit);
    match &stmt.op {
        KernelOp::Size(named) | KernelOp::For { extent: named, .. } => extent(*named),
        KernelOp::Own(Par { extents, .. }) => extents.iter().copied().for_each(&mut extent),
        KernelOp::Prim(prim, _) => prim.extent().into_iter().for_each(&mut extent),
        KernelOp::Const(_)
        | KernelOp::Select(..)
        | KernelOp::Alloc { .. }
        | KernelOp::Copy(_)
        | KernelOp::Load { .. }
        | KernelOp::Store { .. }
        | KernelOp::Combine { .. }
        | KernelOp::Var(_)
        | KernelOp::Get(_)
        | KernelOp::Set { .. }
        | KernelOp::Swap(..)
        | KernelOp::Contract { .. }
        | KernelOp::Assert { .. }
        | KernelOp::While { .. }
        | KernelOp::If { .. } => {}
    }
    for &result in &stmt.results {
        let ty = program.ty(result);
        ty.dims.iter().copied().for_each(&mut extent);
        if let Elem::Index(of) = ty.elem {
            extent(of);
        }
    }
}

/// Calls `visit` with each extent that an operation names.
pub(crate) fn for_each_extent_mut(op: &mut KernelOp, visit: &mut dyn FnMut(&mut Extent)) {
    match op {
        KernelOp::Size(extent) | KernelOp::For { extent, .. } => visit(extent),
        KernelOp::Own(Par { extents, .. }) => extents.iter_mut().for_each(visit),
        KernelOp::Prim(prim, _) => {
            if let Some(mut extent) = prim.extent() {
                visit(&mut extent);
                *prim = prim.with_extent(extent);
            }
        }
        KernelOp::Const(_)
        | KernelOp::Select(..)
        | KernelOp::Alloc { .. }
        | KernelOp::Copy(_)
        | KernelOp::Load { .. }
        | KernelOp::Store { .. }
        | KernelOp::Combine { .. }
        | KernelOp::Var(_)
        | KernelOp::Get(_)
        | KernelOp::Set { .. }
        | KernelOp::Swap(..)
        | KernelOp::Contract { .. }
        | KernelOp::Assert { .. }
        | KernelOp::While { .. }
        | KernelOp::If { .. } => {}
    }
}

/// Buffers and `var`s that statements change, at any depth.
pub(crate) fn changes(stmts: &[Stmt<Kernels>], found: &mut ValueSet) {
    for stmt in stmts {
        match &stmt.op {
            KernelOp::Store { buffer: place, .. }
            | KernelOp::Combine { place, .. }
            | KernelOp::Set { place, .. }
            | KernelOp::Contract { out: place, .. } => {
                found.insert(*place);
            }
            KernelOp::Swap(a, b) => found.extend([*a, *b]),
            KernelOp::Const(_)
            | KernelOp::Size(_)
            | KernelOp::Prim(..)
            | KernelOp::Select(..)
            | KernelOp::Alloc { .. }
            | KernelOp::Copy(_)
            | KernelOp::Load { .. }
            | KernelOp::Var(_)
            | KernelOp::Get(_)
            | KernelOp::For { .. }
            | KernelOp::Own(Par { .. })
            | KernelOp::Assert { .. }
            | KernelOp::While { .. }
            | KernelOp::If { .. } => {}
        }
        for inner in stmt.op.blocks() {
            changes(&inner.stmts, found);
        }
    }
}

/// All that a statement has to do with and does not bind itself.
pub(crate) fn asked(stmt: &Stmt<Kernels>) -> Vec<ValueId> {
    let inside = stmt.op.blocks().into_iter().flat_map(Block::free);
    stmt.op.operands().into_iter().chain(inside).collect()
}

/// The values that are extents, of types or of what an operation names.
pub(crate) fn lengths(program: &Program<Kernels>) -> ValueSet {
    fn walk(program: &Program<Kernels>, block: &Block<Kernels>, found: &mut ValueSet) {
        for stmt in &block.stmts {
            for_each_length(program, stmt, &mut |length| {
                found.insert(length);
            });
            for inner in stmt.op.blocks() {
                walk(program, inner, found);
            }
        }
    }
    let own = |ty: &Type<Extent>| ty.elem.extent();
    let types = program.values.iter().map(|value| &value.ty);
    let all = types.flat_map(|ty| ty.dims.iter().copied().chain(own(ty)));
    let mut found = all.filter_map(length).collect();
    walk(program, &program.body, &mut found);
    found
}

/// The value that an extent is, if it is one.
pub(crate) fn length(extent: Extent) -> Option<ValueId> {
    match extent {
        Extent::Value(value) => Some(value),
        Extent::Const(_) | Extent::Size(_) => None,
    }
}
