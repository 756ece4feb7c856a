//! Copies that are changed and take the place of what was copied are changed there, and of what is
//! read later no more is kept than that.
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
//! So it is if no point of the kernel reads what another changes. If points do, or another kernel
//! reads it as it was, what is read is written down before, as far as it is the same row, or the
//! like, for all that read: a column that is changed in each step of a loop is then no longer a
//! table that is copied in each of them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Look, has_angles, place_of, rename};
use crate::analysis::effects::asked;
use crate::contract::materialize::write_down;
use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{Block, Extent, Operation, Program, Stmt, ValueId};

/// Changes copies where they were copied from.
pub(super) fn copies(program: &mut Program<Kernels>, block: &mut Block<Kernels>) {
    let mut copied = false;
    for stmt in &mut block.stmts {
        copied |= matches!(stmt.op, KernelOp::Copy(_));
        if !matches!(stmt.op, KernelOp::Own(Par { .. })) {
            let inner = stmt.op.blocks_mut();
            inner.into_iter().for_each(|inner| copies(program, inner));
        }
    }
    if !copied {
        return;
    }
    let mut uses: BTreeMap<ValueId, Vec<usize>> = BTreeMap::new();
    let mut found = Vec::new();
    for (number, stmt) in block.stmts.iter().enumerate() {
        for value in asked(stmt) {
            uses.entry(value).or_default().push(number);
        }
    }
    for number in 0..block.stmts.len() {
        found.extend(Copied::of(program, block, &uses, number));
    }
    let mut places = BTreeMap::new();
    let mut gone = BTreeSet::new();
    let mut before: BTreeMap<usize, Vec<Stmt<Kernels>>> = BTreeMap::new();
    for copied in found {
        if let Some(fixed) = &copied.kept {
            let made = keep(program, block, &copied, fixed);
            before.entry(copied.first).or_default().extend(made);
        }
        gone.extend([copied.number, copied.swap]);
        places.insert(copied.copy, place_of(&places, copied.source));
    }
    block.edit(before, &gone);
    rename(&places, block);
}

/// A copy that is changed where it was copied from.
struct Copied {
    source: ValueId,
    copy: ValueId,
    /// The statement that copies, the first that asks for the copy, and the one that exchanges
    /// both.
    number: usize,
    first: usize,
    swap: usize,
    /// What has to be kept: for each dimension, the one place along it if there is only one.
    kept: Option<Vec<Option<ValueId>>>,
}

impl Copied {
    /// If the statement of this number is such a copy. `uses`: which statements ask for a value, in
    /// order.
    fn of(
        program: &Program<Kernels>,
        block: &Block<Kernels>,
        uses: &BTreeMap<ValueId, Vec<usize>>,
        number: usize,
    ) -> Option<Self> {
        let KernelOp::Copy(source) = block.stmts[number].op else {
            return None;
        };
        let copy = block.stmts[number].results[0];
        // The exchange is the last that is done with the copy: else both are needed.
        let (of_copy, of_source) = (uses.get(&copy)?, uses.get(&source)?);
        let (&first, &swap) = (of_copy.first()?, of_copy.last()?);
        let KernelOp::Swap(a, b) = block.stmts[swap].op else {
            return None;
        };
        let is_read = |from: usize, to: usize| {
            let at = of_source.partition_point(|&at| at < from);
            of_source.get(at).is_some_and(|&at| at < to)
        };
        let is_exchanged = [a, b] == [source, copy] || [a, b] == [copy, source];
        if !is_exchanged
            || first == swap
            || is_read(number + 1, first)
            || block.results.contains(&copy)
        {
            return None;
        }
        let changing = &block.stmts[first..swap];
        let kept = match !is_read(first + 1, swap) && is_pointwise(&changing[0], source, copy) {
            true => None,
            false => Some(fixed(program, changing, source)?),
        };
        Some(Self {
            source,
            copy,
            number,
            first,
            swap,
            kept,
        })
    }
}

/// Whether no point of a kernel reads of an array what another point changes in its copy, or has
/// changed itself.
fn is_pointwise(kernel: &Stmt<Kernels>, source: ValueId, copy: ValueId) -> bool {
    let KernelOp::Own(Par {
        extents,
        folds,
        body,
        ..
    }) = &kernel.op
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

/// Along which dimensions all that statements read of an array is at one place: some, but not all
/// of them. None if they do something else with it.
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
) -> [Stmt<Kernels>; 2] {
    let dims = program.ty(copied.source).dims.iter().zip(fixed);
    let along = dims.filter(|(_, place)| place.is_none());
    let extents = along.map(|(&extent, _)| extent).collect();
    let at = |params: &[ValueId]| {
        let mut along = params.iter().copied();
        fixed
            .iter()
            .filter_map(|place| place.or_else(|| along.next()))
            .collect()
    };
    let span = block.stmts[copied.first].span;
    let (kept, made) = write_down(program, copied.source, extents, at, span);
    for stmt in &mut block.stmts[copied.first..copied.swap] {
        read_there(stmt, copied.source, kept, fixed);
    }
    made
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
