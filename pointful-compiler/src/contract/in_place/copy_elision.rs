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
//! So it is if no point of the kernel, or of a loop that stands for one, reads what another changes:
//! its own place, or, of a row that is changed, another row.
//! If points do, or another kernel reads it as it was, what is read is written down before, as far
//! as it is a few rows, or the like: a column that is changed in each step of a loop, or two that
//! change places, are then no longer a table that is copied in each of them. A kernel that reads all of
//! it, as one that keeps a state for the way back does, moves in front of the copy.

use std::collections::{BTreeMap, BTreeSet};

use super::{Look, has_angles, place_of, rename};
use crate::analysis::accesses::changes;
use crate::analysis::effects::{asked, is_pure, needed};
use crate::analysis::numbers::Numbers;
use crate::contract::materialize::write_down;
use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{Block, Extent, Operation, Program, Stmt, ValueId, ValueSet};

/// What is around a block.
#[derive(Clone, Copy)]
pub(super) struct Around<'n> {
    pub(super) numbers: &'n Numbers,
    pub(super) in_kernel: bool,
}

/// Changes copies where they were copied from.
pub(super) fn copies(
    program: &mut Program<Kernels>,
    around: Around<'_>,
    block: &mut Block<Kernels>,
) {
    let mut copied = false;
    for stmt in &mut block.stmts {
        copied |= matches!(stmt.op, KernelOp::Copy(_));
        let inside = Around {
            in_kernel: around.in_kernel || matches!(stmt.op, KernelOp::Own(_)),
            ..around
        };
        let inner = stmt.op.blocks_mut().into_iter();
        inner.for_each(|inner| copies(program, inside, inner));
    }
    if copied {
        readers_first(program, block);
    }
    // Of copies of copies one goes after the other.
    let mut goes_on = copied;
    while goes_on {
        goes_on = elided(program, around, block);
    }
}

/// Which statements of a block ask for a value, in order.
fn uses(block: &Block<Kernels>) -> BTreeMap<ValueId, Vec<usize>> {
    let mut uses: BTreeMap<ValueId, Vec<usize>> = BTreeMap::new();
    for (number, stmt) in block.stmts.iter().enumerate() {
        for value in asked(stmt) {
            uses.entry(value).or_default().push(number);
        }
    }
    uses
}

/// Moves kernels that read an array as it was in front of a copy of it that is changed before they
/// do.
fn readers_first(program: &Program<Kernels>, block: &mut Block<Kernels>) {
    let mut uses = self::uses(block);
    for number in 0..block.stmts.len() {
        let KernelOp::Copy(source) = block.stmts[number].op else {
            continue;
        };
        let of_copy = uses.get(&block.stmts[number].results[0]);
        let Some(&first) = of_copy.and_then(|all| all.first()) else {
            continue;
        };
        let is_swap = |at: usize| matches!(block.stmts[at].op, KernelOp::Swap(..));
        let readers = uses[&source].iter().copied();
        let readers: Vec<usize> = readers.filter(|&at| at > first && !is_swap(at)).collect();
        let Some(&last) = readers.last() else {
            continue;
        };
        if parts(program, &block.stmts[first..=last], source).is_some()
            || !readers
                .iter()
                .all(|&at| moves(program, &block.stmts[number..=at]))
        {
            continue;
        }
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::READERS_FIRST);
        for (moved, at) in readers.into_iter().enumerate() {
            block.stmts[number + moved..=at].rotate_right(1);
        }
        uses = self::uses(block);
    }
}

/// Whether the last of these statements, a kernel that only reads and writes, may as well be the
/// first.
fn moves(program: &Program<Kernels>, stmts: &[Stmt<Kernels>]) -> bool {
    let Some((kernel, between)) = stmts.split_last() else {
        return false;
    };
    let KernelOp::Own(Par {
        accs, folds, body, ..
    }) = &kernel.op
    else {
        return false;
    };
    let is_total =
        |stmt: &Stmt<Kernels>| matches!(stmt.op, KernelOp::Store { .. }) || is_pure(program, stmt);
    let needed = needed(program, kernel);
    let (mut own, mut others) = (ValueSet::new(), ValueSet::new());
    changes(std::slice::from_ref(kernel), &mut own);
    changes(between, &mut others);
    accs.is_empty()
        && folds.is_empty()
        && body.stmts.iter().all(is_total)
        && !needed.iter().any(|value| others.contains(value))
        && between.iter().all(|stmt| {
            !stmt.results.iter().any(|result| needed.contains(result))
                && !asked(stmt).iter().any(|value| own.contains(value))
        })
}

/// Changes some copies where they were copied from, unless there are none.
fn elided(program: &mut Program<Kernels>, around: Around<'_>, block: &mut Block<Kernels>) -> bool {
    let uses = uses(block);
    let all = 0..block.stmts.len();
    let found = all.filter_map(|number| Copied::of((program, around), block, &uses, number));
    let found: Vec<Copied> = found.collect();
    let mut places = BTreeMap::new();
    let mut taken = ValueSet::new();
    let mut gone = BTreeSet::new();
    let mut before: BTreeMap<usize, Vec<Stmt<Kernels>>> = BTreeMap::new();
    for copied in &found {
        // Of several copies of one array only one is changed there: after it, the array is another.
        if !taken.insert(place_of(&places, copied.source)) {
            #[cfg(test)]
            crate::testing::entered::enter(&crate::testing::entered::COPIED_TWICE);
            continue;
        }
        #[cfg(test)]
        copied.count(&block.stmts[copied.first]);
        let made = keep(program, block, copied);
        before.entry(copied.first).or_default().extend(made);
        gone.insert(copied.number);
        gone.extend(copied.swap);
        places.insert(copied.copy, place_of(&places, copied.source));
    }
    block.edit(before, &gone);
    rename(&places, block);
    !found.is_empty()
}

/// A copy that is changed where it was copied from.
struct Copied {
    source: ValueId,
    copy: ValueId,
    /// The statement that copies, and the first that asks for the copy.
    number: usize,
    first: usize,
    /// The one that exchanges both, if they do not both end with the block.
    swap: Option<usize>,
    /// Before which statement the source is read for the last time.
    end: usize,
    /// What has to be kept.
    kept: Vec<Part>,
}

/// Of an array a row, or the like: for each dimension, the one place along it if there is only one.
type Part = Vec<Option<ValueId>>;

/// How many parts are kept of an array.
const PARTS: usize = 4;

impl Copied {
    /// If the statement of this number is such a copy. `uses`: which statements ask for a value, in
    /// order.
    fn of(
        (program, around): (&Program<Kernels>, Around<'_>),
        block: &Block<Kernels>,
        uses: &BTreeMap<ValueId, Vec<usize>>,
        number: usize,
    ) -> Option<Self> {
        let KernelOp::Copy(source) = block.stmts[number].op else {
            return None;
        };
        let copy = block.stmts[number].results[0];
        let (of_copy, of_source) = (uses.get(&copy)?, uses.get(&source)?);
        let (&first, &last) = (of_copy.first()?, of_copy.last()?);
        // The exchange is the last that is done with the copy, or nothing more is done with the source.
        let swap = match block.stmts[last].op {
            KernelOp::Swap(a, b) => [[a, b], [b, a]].contains(&[source, copy]).then_some(last),
            _ => None,
        };
        let mut before = block.stmts[..number].iter();
        let is_made = |stmt: &Stmt<Kernels>| {
            matches!(stmt.op, KernelOp::Alloc { .. } | KernelOp::Copy(_))
                && stmt.results.contains(&source)
        };
        let ends = swap.is_some()
            || before.any(is_made) && of_source.last()? < &last && !block.results.contains(&source);
        let end = swap.unwrap_or(of_source.last()? + 1).max(first + 1);
        let is_read = |from: usize, to: usize| {
            let at = of_source.partition_point(|&at| at < from);
            of_source.get(at).is_some_and(|&at| at < to)
        };
        let mut changed = ValueSet::new();
        changes(&block.stmts[number + 1..first], &mut changed);
        if !ends
            || swap == Some(first)
            || changed.contains(&source)
            || swap.is_some() && block.results.contains(&copy)
        {
            return None;
        }
        let changing = &block.stmts[first..end];
        let kept = match !is_read(first + 1, end)
            && is_pointwise((program, around), &changing[0], source, copy)
        {
            true => Vec::new(),
            // A kernel writes down.
            false if around.in_kernel => return None,
            false => parts(program, changing, source)?,
        };
        Some(Self {
            source,
            copy,
            number,
            first,
            swap,
            end,
            kept,
        })
    }
}

#[cfg(test)]
impl Copied {
    fn count(&self, changing: &Stmt<Kernels>) {
        use crate::testing::entered::{
            CHANGED_BY_ANGLES, CHANGED_BY_LOOPS, CHANGED_IN_BRANCHES, PARTS_KEPT, enter,
        };
        match &changing.op {
            KernelOp::Own(Par { body, .. }) if self.kept.is_empty() && has_angles(body) => {
                enter(&CHANGED_BY_ANGLES);
            }
            _ if self.kept.len() > 1 => enter(&PARTS_KEPT),
            KernelOp::For { .. } if self.kept.is_empty() => enter(&CHANGED_BY_LOOPS),
            KernelOp::If { .. } if self.kept.is_empty() => enter(&CHANGED_IN_BRANCHES),
            _ => {}
        }
    }
}

/// Whether no point of a kernel, or iteration of a loop, reads of an array what another one changes
/// in its copy, or has changed itself. Of branches each may have one of these.
fn is_pointwise(
    (program, around): (&Program<Kernels>, Around<'_>),
    stmt: &Stmt<Kernels>,
    source: ValueId,
    copy: ValueId,
) -> bool {
    let (body, extents, folds) = match &stmt.op {
        KernelOp::Own(Par {
            body,
            extents,
            folds,
            ..
        }) => (body, &extents[..], &folds[..]),
        KernelOp::For { body, extent, .. } => (body, std::slice::from_ref(extent), &[][..]),
        KernelOp::If {
            then, otherwise, ..
        } => {
            let touches = |stmt: &&Stmt<Kernels>| {
                let asked = asked(stmt);
                [source, copy].iter().any(|array| asked.contains(array))
            };
            return [then, otherwise].into_iter().all(|branch| {
                let mut touching = branch.stmts.iter().filter(touches);
                let one = touching.next();
                touching.next().is_none()
                    && one.is_none_or(|one| is_pointwise((program, around), one, source, copy))
            });
        }
        _ => return false,
    };
    let is_loop = matches!(stmt.op, KernelOp::For { .. });
    let look = Look::of(&stmt.op, body);
    let Some(written) = look.stored.get(&copy) else {
        return false;
    };
    let many = body.params.iter().zip(extents);
    let many = many.filter(|(_, extent)| **extent != Extent::Const(1));
    let mut points: Vec<ValueId> = many.map(|(&point, _)| point).collect();
    // A nest of loops that stands for a kernel over as many axes.
    let inner = &written.loops[body.params.len()..];
    let is_nest = (is_loop || inner.is_empty()) && inner.iter().all(Option::is_some);
    points.extend(inner.iter().flatten());
    let is_own = |(indices, time): &(Vec<ValueId>, usize)| {
        let both = || indices.iter().zip(&written.indices);
        let apart = |point: &ValueId| both().any(|(read, write)| [read, write] == [point; 2]);
        *time < written.time && points.iter().all(apart)
    };
    // At another place along an axis where all write at the same.
    let bound = body.bound();
    let is_same = |value| !bound.contains(&value) && !program.elem(value).is_float();
    let is_elsewhere =
        |indices: &[ValueId]| around.numbers.are_apart(indices, &written.indices, is_same);
    // A piece of the work that meets a far angle is done again, unless it reads what it writes: that is
    // worth a copy of as much as is computed, and of no more.
    let is_part = points.len() < written.indices.len();
    let reads = || look.loaded.get(&source).into_iter().flatten();
    let fits = folds.is_empty()
        && (is_part || !has_angles(body))
        && [copy, source]
            .iter()
            .all(|place| !look.others.contains(place))
        && !look.loaded.contains_key(&copy)
        && !look.stored.contains_key(&source)
        && is_nest
        && reads().all(|read| is_own(read) || is_elsewhere(&read.0));
    #[cfg(test)]
    if fits && !reads().all(is_own) {
        crate::testing::entered::enter(&crate::testing::entered::CHANGED_BESIDE);
    }
    fits
}

/// The parts of an array that statements read: some, but not all of its dimensions are at one place.
/// None if there are many, or something else is done with it.
fn parts(program: &Program<Kernels>, stmts: &[Stmt<Kernels>], array: ValueId) -> Option<Vec<Part>> {
    let mut bound: BTreeSet<ValueId> = BTreeSet::new();
    let mut loads: Vec<&[ValueId]> = Vec::new();
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
            loads.push(indices);
        } else if stmt.op.operands().contains(&array) {
            return None;
        }
    }
    let mut parts: Vec<Part> = Vec::new();
    for indices in loads {
        let outside = |index: &ValueId| Some(*index).filter(|index| !bound.contains(index));
        let part: Part = indices.iter().map(outside).collect();
        if !parts.iter().any(|other| covers(other, indices)) {
            parts.retain(|other| !is_part_of(other, &part));
            parts.push(part);
        }
    }
    #[cfg(test)]
    if parts.len() > PARTS {
        crate::testing::entered::enter(&crate::testing::entered::PARTS_MANY);
    }
    let rank = program.ty(array).rank();
    let is_few = |part: &Part| (1..rank).contains(&part.iter().flatten().count());
    (parts.len() <= PARTS && parts.iter().all(is_few)).then_some(parts)
}

/// Whether an element is in a part.
fn covers(part: &Part, indices: &[ValueId]) -> bool {
    let mut places = part.iter().zip(indices);
    places.all(|(place, index)| place.is_none_or(|place| place == *index))
}

/// Whether a part is in another.
fn is_part_of(part: &Part, whole: &Part) -> bool {
    let mut places = whole.iter().zip(part);
    places.all(|(whole, own)| whole.is_none() || whole == own)
}

/// Writes down what is read of an array before its copy is changed, and reads it there.
fn keep(
    program: &mut Program<Kernels>,
    block: &mut Block<Kernels>,
    copied: &Copied,
) -> Vec<Stmt<Kernels>> {
    let span = block.stmts[copied.first].span;
    let mut kept = Vec::new();
    let mut made = Vec::new();
    for part in &copied.kept {
        let dims = program.ty(copied.source).dims.iter().zip(part);
        let along = dims.filter(|(_, place)| place.is_none());
        let extents = along.map(|(&extent, _)| extent).collect();
        let at = |params: &[ValueId]| {
            let mut along = params.iter().copied();
            part.iter()
                .filter_map(|place| place.or_else(|| along.next()))
                .collect()
        };
        let (array, stmts) = write_down(program, copied.source, extents, at, span);
        kept.push((part, array));
        made.extend(stmts);
    }
    for stmt in &mut block.stmts[copied.first..copied.end] {
        read_there(stmt, copied.source, &kept);
    }
    made
}

fn read_there(stmt: &mut Stmt<Kernels>, source: ValueId, kept: &[(&Part, ValueId)]) {
    if let KernelOp::Load { buffer, indices } = &mut stmt.op
        && *buffer == source
        && let Some((part, array)) = kept.iter().find(|(part, _)| covers(part, indices))
    {
        *buffer = *array;
        let mut places = part.iter();
        indices.retain(|_| places.next().is_some_and(Option::is_none));
    }
    for inner in stmt.op.blocks_mut() {
        for stmt in &mut inner.stmts {
            read_there(stmt, source, kept);
        }
    }
}
