//! What statements of imperative stages do, beside binding values.

use crate::ir::stages::imperative::{Imperative, ImperativeOp};
use crate::ir::{Block, Extent, Operation, Program, Stmt, Type, ValueId, ValueSet};
use crate::ops::Prim;

/// Whether a statement does nothing but bind a scalar, whenever it is run.
pub(crate) fn is_pure<S: Imperative>(program: &Program<S>, stmt: &Stmt<S>) -> bool {
    match &stmt.op {
        ImperativeOp::Const(_)
        | ImperativeOp::Size(_)
        | ImperativeOp::Select(..)
        | ImperativeOp::Load { .. } => true,
        ImperativeOp::Prim(prim, args) => {
            !matches!(prim, Prim::Call(_)) && !prim.may_panic(program.elem(args[0]))
        }
        ImperativeOp::Alloc { .. }
        | ImperativeOp::Copy(_)
        | ImperativeOp::Store { .. }
        | ImperativeOp::Combine { .. }
        | ImperativeOp::Var(_)
        | ImperativeOp::Get(_)
        | ImperativeOp::Set { .. }
        | ImperativeOp::Swap(..)
        | ImperativeOp::Contract { .. }
        | ImperativeOp::For { .. }
        | ImperativeOp::Own(_)
        | ImperativeOp::Assert { .. }
        | ImperativeOp::While { .. }
        | ImperativeOp::If { .. } => false,
    }
}

/// Calls `visit` with each computed extent that a statement names, or that the types of its results
/// have.
pub(crate) fn for_each_length<S: Imperative>(
    program: &Program<S>,
    stmt: &Stmt<S>,
    visit: &mut dyn FnMut(ValueId),
) {
    let mut extent = |extent: Extent| length(extent).into_iter().for_each(&mut *visit);
    match &stmt.op {
        ImperativeOp::Size(named) | ImperativeOp::For { extent: named, .. } => extent(*named),
        ImperativeOp::Own(own) => S::extents(own).iter().copied().for_each(&mut extent),
        ImperativeOp::Prim(prim, _) => prim.extent().into_iter().for_each(&mut extent),
        ImperativeOp::Const(_)
        | ImperativeOp::Select(..)
        | ImperativeOp::Alloc { .. }
        | ImperativeOp::Copy(_)
        | ImperativeOp::Load { .. }
        | ImperativeOp::Store { .. }
        | ImperativeOp::Combine { .. }
        | ImperativeOp::Var(_)
        | ImperativeOp::Get(_)
        | ImperativeOp::Set { .. }
        | ImperativeOp::Swap(..)
        | ImperativeOp::Contract { .. }
        | ImperativeOp::Assert { .. }
        | ImperativeOp::While { .. }
        | ImperativeOp::If { .. } => {}
    }
    for &result in &stmt.results {
        let ty = program.ty(result);
        ty.dims.iter().copied().for_each(&mut extent);
        ty.elem.extent().into_iter().for_each(&mut extent);
    }
}

/// Calls `visit` with each extent that an operation names.
pub(crate) fn for_each_extent_mut<S: Imperative>(
    op: &mut ImperativeOp<S>,
    visit: &mut dyn FnMut(&mut Extent),
) {
    match op {
        ImperativeOp::Size(extent) | ImperativeOp::For { extent, .. } => visit(extent),
        ImperativeOp::Own(own) => S::extents_mut(own).iter_mut().for_each(visit),
        ImperativeOp::Prim(prim, _) => {
            if let Some(mut extent) = prim.extent() {
                visit(&mut extent);
                *prim = prim.with_extent(extent);
            }
        }
        ImperativeOp::Const(_)
        | ImperativeOp::Select(..)
        | ImperativeOp::Alloc { .. }
        | ImperativeOp::Copy(_)
        | ImperativeOp::Load { .. }
        | ImperativeOp::Store { .. }
        | ImperativeOp::Combine { .. }
        | ImperativeOp::Var(_)
        | ImperativeOp::Get(_)
        | ImperativeOp::Set { .. }
        | ImperativeOp::Swap(..)
        | ImperativeOp::Contract { .. }
        | ImperativeOp::Assert { .. }
        | ImperativeOp::While { .. }
        | ImperativeOp::If { .. } => {}
    }
}

/// All that a statement has to do with and does not bind itself.
pub(crate) fn asked<S: Imperative>(stmt: &Stmt<S>) -> Vec<ValueId> {
    let inside = stmt.op.blocks().into_iter().flat_map(Block::free);
    stmt.op.operands().into_iter().chain(inside).collect()
}

/// The computed lengths that a statement names at any depth and does not bind itself.
pub(crate) fn named_lengths<S: Imperative>(program: &Program<S>, stmt: &Stmt<S>) -> Vec<ValueId> {
    fn walk<S: Imperative>(
        program: &Program<S>,
        stmt: &Stmt<S>,
        named: &mut Vec<ValueId>,
        bound: &mut ValueSet,
    ) {
        for_each_length(program, stmt, &mut |length| named.push(length));
        for inner in stmt.op.blocks() {
            bound.extend(&inner.params);
            for stmt in &inner.stmts {
                walk(program, stmt, named, bound);
                bound.extend(&stmt.results);
            }
        }
    }
    let (mut named, mut bound) = (Vec::new(), ValueSet::new());
    walk(program, stmt, &mut named, &mut bound);
    named.retain(|length| !bound.contains(length));
    named
}

/// All that must be bound where a statement stands: what it [asks](asked) for, and lengths.
pub(crate) fn needed<S: Imperative>(program: &Program<S>, stmt: &Stmt<S>) -> Vec<ValueId> {
    [asked(stmt), named_lengths(program, stmt)].concat()
}

/// The values that are extents, of types or of what an operation names.
pub(crate) fn lengths<S: Imperative>(program: &Program<S>) -> ValueSet {
    fn walk<S: Imperative>(program: &Program<S>, block: &Block<S>, found: &mut ValueSet) {
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
