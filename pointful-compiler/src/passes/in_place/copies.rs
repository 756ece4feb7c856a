//! Copies that are changed and take the place of what was copied are changed there, and of what is read later no more is kept than that.
//!
//! ```text
//! %1 = copy %0
//! par %2: I {                                    par %2: I {
//!   %3 = load %0[%2, %j] %4 = load %0[%2, %k]      %3 = load %0[%2, %j] %4 = load %0[%2, %k]
//!   %5 = sub %3, %4 store %1[%2, %j], %5     ▶     %5 = sub %3, %4 store %0[%2, %j], %5
//! }                                              }
//! swap %0, %1
//! ```
//!
//! So it is if no point of the kernel reads what another changes. If points do, or another kernel reads it as it was, what is read is written down before, as far as it is the same
//! row, or the like, for all that read: a column that is changed in each step of a loop is then no longer a table that is copied in each of them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Look, has_angles, rename};
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{Block, Elem, Extent, Operation, Program, Stmt, Type, ValueId};
use crate::passes::effects::asked;

/// Changes copies where they were copied from.
pub(super) fn copies(program: &mut Program<Kernels>, block: &mut Block<Kernels>) {
    let mut number = 0;
    while number < block.stmts.len() {
        if !matches!(block.stmts[number].op, KernelOp::Par { .. }) {
            for inner in block.stmts[number].op.blocks_mut() {
                copies(program, inner);
            }
        }
        let Some(copied) = Copied::of(program, block, number) else {
            number += 1;
            continue;
        };
        block.stmts.remove(copied.swap);
        if let Some(fixed) = &copied.kept {
            keep(program, block, &copied, fixed);
        }
        block.stmts.remove(number);
        rename(&BTreeMap::from([(copied.copy, copied.source)]), block);
    }
}

/// A copy that is changed where it was copied from.
struct Copied {
    source: ValueId,
    copy: ValueId,
    /// The first statement that asks for the copy, and the one that exchanges both.
    first: usize,
    swap: usize,
    /// What has to be kept: for each dimension, the one place along it if there is only one.
    kept: Option<Vec<Option<ValueId>>>,
}

impl Copied {
    /// If the statement of this number is such a copy.
    fn of(program: &Program<Kernels>, block: &Block<Kernels>, number: usize) -> Option<Self> {
        let KernelOp::Copy(source) = block.stmts[number].op else {
            return None;
        };
        let copy = block.stmts[number].results[0];
        let asks = |stmt: &Stmt<Kernels>, value| asked(stmt).contains(&value);
        let exchanges = |stmt: &Stmt<Kernels>| match stmt.op {
            KernelOp::Swap(a, b) => [a, b] == [source, copy] || [a, b] == [copy, source],
            _ => false,
        };
        let later = &block.stmts[number + 1..];
        let first = later.iter().position(|stmt| asks(stmt, copy))?;
        let swap = later.iter().position(exchanges)?;
        let changing = later.get(first..swap)?;
        let is_needed = later[..first].iter().any(|stmt| asks(stmt, source))
            || later[swap + 1..].iter().any(|stmt| asks(stmt, copy))
            || block.results.contains(&copy);
        if is_needed {
            return None;
        }
        let (kernel, rest) = changing.split_first()?;
        let alone = !rest.iter().any(|stmt| asks(stmt, source));
        let kept = match alone && is_pointwise(kernel, source, copy) {
            true => None,
            false => Some(fixed(program, changing, source)?),
        };
        Some(Self {
            source,
            copy,
            first: number + 1 + first,
            swap: number + 1 + swap,
            kept,
        })
    }
}

/// Whether no point of a kernel reads of an array what another point changes in its copy, or has changed itself.
fn is_pointwise(kernel: &Stmt<Kernels>, source: ValueId, copy: ValueId) -> bool {
    let KernelOp::Par {
        extents,
        folds,
        body,
        ..
    } = &kernel.op
    else {
        return false;
    };
    let look = Look::of(&kernel.op, body);
    let Some(written) = look.stored.get(&copy) else {
        return false;
    };
    let many = body.params.iter().zip(extents);
    let many = many.filter(|(_, extent)| **extent != Extent::Const(1));
    let points: Vec<ValueId> = many.map(|(&point, _)| point).collect();
    let is_own = |(indices, time): &(Vec<ValueId>, usize)| {
        let both = || indices.iter().zip(&written.indices);
        let apart = |point: &ValueId| both().any(|(read, write)| [read, write] == [point; 2]);
        *time < written.time && points.iter().all(apart)
    };
    // A piece of the work that meets a far angle is done again, unless it reads what it writes.
    folds.is_empty()
        && !has_angles(body)
        && [copy, source]
            .iter()
            .all(|place| !look.others.contains(place))
        && !look.loaded.contains_key(&copy)
        && !look.stored.contains_key(&source)
        && written.loops.len() == body.params.len()
        && look.loaded.get(&source).into_iter().flatten().all(is_own)
}

/// Along which dimensions all that statements read of an array is at one place: some, but not all of them. None if they do something else with it.
fn fixed(
    program: &Program<Kernels>,
    stmts: &[Stmt<Kernels>],
    array: ValueId,
) -> Option<Vec<Option<ValueId>>> {
    let mut bound: BTreeSet<ValueId> = BTreeSet::new();
    let mut fixed: Option<Vec<Option<ValueId>>> = None;
    let mut open: Vec<&Stmt<Kernels>> = stmts.iter().collect();
    while let Some(stmt) = open.pop() {
        bound.extend(&stmt.results);
        for inner in stmt.op.blocks() {
            bound.extend(&inner.params);
            open.extend(&inner.stmts);
        }
        if let KernelOp::Load { buffer, indices } = &stmt.op
            && *buffer == array
        {
            let fixed = fixed.get_or_insert_with(|| indices.iter().copied().map(Some).collect());
            for (fixed, index) in fixed.iter_mut().zip(indices) {
                *fixed = fixed.filter(|fixed| fixed == index);
            }
        } else if stmt.op.operands().contains(&array) {
            return None;
        }
    }
    let mut fixed = fixed?;
    for place in &mut fixed {
        *place = place.filter(|place| !bound.contains(place));
    }
    let few = fixed.iter().flatten().count();
    (0 < few && few < program.ty(array).rank()).then_some(fixed)
}

/// Writes down what is read of an array before its copy is changed, and reads it there.
fn keep(
    program: &mut Program<Kernels>,
    block: &mut Block<Kernels>,
    copied: &Copied,
    fixed: &[Option<ValueId>],
) {
    let (Copied { source, .. }, span) = (copied, block.stmts[copied.first].span);
    let Type { elem, dims } = program.ty(*source).clone();
    let extents: Vec<Extent> = (dims.iter().zip(fixed))
        .filter(|(_, place)| place.is_none())
        .map(|(&extent, _)| extent)
        .collect();
    let kept = program.value(Type::table(elem, extents.clone()), span);
    for stmt in &mut block.stmts[copied.first..copied.swap] {
        read_there(stmt, *source, kept, fixed);
    }
    let index = |&extent: &Extent| program.value(Type::scalar(Elem::Index(extent)), span);
    let params: Vec<ValueId> = extents.iter().map(index).collect();
    let mut along = params.iter();
    let at = |place: &Option<ValueId>| place.or_else(|| along.next().copied());
    let indices = fixed.iter().filter_map(at).collect();
    let value = program.value(Type::scalar(elem), span);
    let load = KernelOp::Load {
        buffer: *source,
        indices,
    };
    let store = KernelOp::Store {
        buffer: kept,
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
    let par = KernelOp::Par {
        name: program.name.clone(),
        extents,
        accs: Vec::new(),
        folds: Vec::new(),
        body,
    };
    let alloc = Stmt::new(vec![kept], KernelOp::Alloc { fill: None }, span);
    let before = [alloc, Stmt::new(Vec::new(), par, span)];
    block.stmts.splice(copied.first..copied.first, before);
}

fn read_there(stmt: &mut Stmt<Kernels>, source: ValueId, kept: ValueId, fixed: &[Option<ValueId>]) {
    if let KernelOp::Load { buffer, indices } = &mut stmt.op
        && *buffer == source
    {
        *buffer = kept;
        let mut places = fixed.iter();
        indices.retain(|_| places.next().is_some_and(Option::is_none));
    }
    for inner in stmt.op.blocks_mut() {
        for stmt in &mut inner.stmts {
            read_there(stmt, source, kept, fixed);
        }
    }
}
