//! What a kernel makes of an array that nobody reads again takes its place.
//!
//! ```text
//! contract %0[0, 1] = a[0, 2], b[2, 1]           contract %0[0, 1] = a[0, 2], b[2, 1]
//! %1 = alloc f32[I, J]                           par %2: I, %3: J {
//! par %2: I, %3: J {                       ▶       %4 = load %0[%2, %3] %5 = tanh %4 store %0[%2, %3], %5
//!   %4 = load %0[%2, %3] %5 = tanh %4            }
//!   store %1[%2, %3], %5
//! }
//! ```
//!
//! So do [copies](copy_elision) that are changed.
//!
//! An array that is made and used up point for point is no array, unless something else than a
//! kernel makes it, as a library makes products of matrices. Each element is read at its own point
//! only, before it is written there, in whatever order points are visited.

mod copy_elision;

use std::collections::{BTreeMap, BTreeSet};

use self::copy_elision::Around;
use crate::analysis::effects::asked;
use crate::analysis::numbers::Numbers;
use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{Block, Operation, Program, ValueId, ValueSet};
use crate::pass::Pass;

/// The pass.
pub const IN_PLACE: Pass<Kernels> = Pass {
    name: "in_place",
    about: "store what kernels make of arrays that nobody reads again in their places",
    run: in_place,
};

/// Stores what kernels make of arrays that nobody reads again in their places.
pub fn in_place(program: Program<Kernels>) -> Program<Kernels> {
    let numbers = Numbers::of(&program.body);
    program.rewritten(|program, body| {
        let around = Around {
            numbers: &numbers,
            in_kernel: false,
        };
        copy_elision::copies(program, around, body);
        block(program, body);
    })
}

fn block(program: &Program<Kernels>, block: &mut Block<Kernels>) {
    let mut made = ValueSet::new();
    let mut fresh = ValueSet::new();
    let (mut first, mut last) = (BTreeMap::new(), BTreeMap::new());
    for (number, stmt) in block.stmts.iter_mut().enumerate() {
        match &mut stmt.op {
            KernelOp::Alloc { fill: None } => fresh.extend(&stmt.results),
            KernelOp::Own(Par { .. }) => {}
            op => op
                .blocks_mut()
                .into_iter()
                .for_each(|inner| self::block(program, inner)),
        }
        if matches!(stmt.op, KernelOp::Alloc { .. } | KernelOp::Copy(_)) {
            made.extend(&stmt.results);
        }
        let is_array = |value: &ValueId| program.ty(*value).rank() > 0;
        for value in asked(stmt).into_iter().filter(is_array) {
            first.entry(value).or_insert(number);
            last.insert(value, number);
        }
    }
    for &result in &block.results {
        last.insert(result, block.stmts.len());
    }
    let mut places = BTreeMap::new();
    for (number, stmt) in block.stmts.iter().enumerate() {
        let KernelOp::Own(Par { folds, body, .. }) = &stmt.op else {
            continue;
        };
        // A piece of the work that meets a far angle is done again, unless it reads what it writes.
        if has_angles(body) {
            continue;
        }
        let mut look = Look::of(&stmt.op, body);
        look.others
            .extend(folds.iter().flat_map(|fold| fold.join.free()));
        for (&new, written) in &look.stored {
            let begins = fresh.contains(&new) && first[&new] == number && last[&new] > number;
            if !begins || !look.is_each_once(new, written) {
                continue;
            }
            let ends = |old: &&ValueId| {
                let place = place_of(&places, **old);
                made.contains(&place)
                    && last[&place] == number
                    && program.ty(place) == program.ty(new)
                    && look.is_read_before(**old, written)
            };
            if let Some(&old) = look.loaded.keys().find(ends) {
                let place = place_of(&places, old);
                places.insert(new, place);
                last.insert(place, last[&new]);
            }
        }
    }
    if places.is_empty() {
        return;
    }
    let is_placed = |value: &ValueId| places.contains_key(value);
    block
        .stmts
        .retain(|stmt| !stmt.results.iter().any(is_placed));
    rename(&places, block);
}

/// Where an array is now.
fn place_of(places: &BTreeMap<ValueId, ValueId>, array: ValueId) -> ValueId {
    *places.get(&array).unwrap_or(&array)
}

fn rename(places: &BTreeMap<ValueId, ValueId>, block: &mut Block<Kernels>) {
    let mut rename_one = |value: &mut ValueId| *value = place_of(places, *value);
    block.results.iter_mut().for_each(&mut rename_one);
    for stmt in &mut block.stmts {
        stmt.op.for_each_operand_mut(&mut rename_one);
        for inner in stmt.op.blocks_mut() {
            rename(places, inner);
        }
    }
}

fn has_angles(block: &Block<Kernels>) -> bool {
    block.stmts.iter().any(|stmt| {
        matches!(&stmt.op, KernelOp::Prim(prim, _) if prim.takes_angle())
            || stmt.op.blocks().into_iter().any(has_angles)
    })
}

/// A `store`: where, in which loops, and after how many other statements.
struct Written {
    indices: Vec<ValueId>,
    loops: Vec<Option<ValueId>>,
    time: usize,
}

/// What a kernel does to buffers.
#[derive(Default)]
struct Look {
    /// The indices of the loops that are open; a `while` has none.
    loops: Vec<Option<ValueId>>,
    time: usize,
    /// Where each buffer is loaded, and when.
    loaded: BTreeMap<ValueId, Vec<(Vec<ValueId>, usize)>>,
    /// The last of each buffer's stores.
    stored: BTreeMap<ValueId, Written>,
    /// What something else is done with, or stored to again.
    others: ValueSet,
}

impl Look {
    /// Looks at a kernel.
    fn of(kernel: &KernelOp, body: &Block<Kernels>) -> Self {
        let mut look = Self::default();
        look.others.extend(kernel.operands());
        look.loops = body.params.iter().copied().map(Some).collect();
        look.block(body);
        look
    }

    fn block(&mut self, block: &Block<Kernels>) {
        for stmt in &block.stmts {
            self.time += 1;
            match &stmt.op {
                KernelOp::Load { buffer, indices } => {
                    let loads = self.loaded.entry(*buffer).or_default();
                    loads.push((indices.clone(), self.time));
                }
                KernelOp::Store {
                    buffer, indices, ..
                } => {
                    let written = Written {
                        indices: indices.clone(),
                        loops: self.loops.clone(),
                        time: self.time,
                    };
                    if self.stored.insert(*buffer, written).is_some() {
                        self.others.insert(*buffer);
                    }
                }
                op => self.others.extend(op.operands()),
            }
            for inner in stmt.op.blocks() {
                let opens = match stmt.op {
                    KernelOp::For { .. } => Some(inner.params.first().copied()),
                    KernelOp::While { .. } => Some(None),
                    _ => None,
                };
                self.loops.extend(opens);
                self.block(inner);
                if opens.is_some() {
                    self.loops.pop();
                }
            }
        }
    }

    /// Whether a buffer is only stored to, each element at most once: there is an index for each
    /// loop.
    fn is_each_once(&self, buffer: ValueId, written: &Written) -> bool {
        let indices: BTreeSet<_> = written.indices.iter().copied().map(Some).collect();
        let loops: BTreeSet<_> = written.loops.iter().copied().collect();
        !self.loaded.contains_key(&buffer) && !self.others.contains(&buffer) && indices == loops
    }

    /// Whether a buffer is only loaded, where and before something is written.
    fn is_read_before(&self, buffer: ValueId, written: &Written) -> bool {
        let before = |(indices, time): &(Vec<ValueId>, usize)| {
            *indices == written.indices && *time < written.time
        };
        !self.stored.contains_key(&buffer)
            && !self.others.contains(&buffer)
            && self.loaded[&buffer].iter().all(before)
    }
}
