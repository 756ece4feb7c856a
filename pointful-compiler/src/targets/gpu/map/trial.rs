//! Trials: how long arrays are at most whose lengths are computed at each point.
//!
//! # The idea
//!
//! The host makes memory before a launch, so it has to know how much. Where a point computes that,
//! another launch comes first: the same without all that no length depends on. Each of its points
//! notes the longest lengths that it meets, and the host takes the longest of all.
//!
//! A length may depend on elements of arrays that have such lengths themselves. Then the trial needs
//! memory for these, of which the host gives some: a point that meets a longer array ends there. The
//! host tries again until no array is longer than its memory.
//!
//! # Why it is sound
//!
//! A trial computes what the launch will: it begins with the same contents of all buffers, as it
//! changes copies of those that the host has. What it does not run changes no length. A check that
//! fails ends its point, as it will in the launch; what the launch would do after that is nothing.
//!
//! # Before and after
//!
//! ```text
//!                                   %3 = alloc usize[N]
//!                                   launch "lengths" trial block 256 %4: N {
//! par %1: N {                         …  %2 = load n[%4]  …  store %3[%4], %5
//!   %2 = load n[%1]                 }
//!   %6 = alloc f64[%2]              %7 = … the largest element of %3 …
//!   store %6[%8], %9            ▶   launch block 32 %1: N own (%10: f64[%7]) {
//!   …                                 %2 = load n[%1]
//! }                                   %11 = trust %7 %8
//!                                     store %10[%11], %9
//!                                     …
//!                                   }
//! ```

use smallvec::smallvec;

use super::host::{BLOCK, FEW};
use super::thread::{Length, Unknown};
use super::{Map, Missing, Stmts, load, store};
use crate::analysis::accesses::Accesses;
use crate::analysis::effects::{for_each_length, length};
use crate::contract::cloning::Renamed;
use crate::ir::stages::gpu::{Gpu, GpuOp, Launch, Own};
use crate::ir::stages::imperative::{Acc, Par};
use crate::ir::stages::kernels::KernelOp;
use crate::ir::{
    Block, Elem, Extent, Message, Monoid, Operation, Program, SpanId, Stmt, Type, ValueId, ValueSet,
};
use crate::ops::Prim;

impl Map {
    /// Finds out the lengths that a launch needs to be known, and takes the marks of its arrays away.
    pub(super) fn find_out(
        &mut self,
        unknown: &Unknown,
        launch: &mut Launch,
        span: SpanId,
        out: &mut Stmts,
    ) -> Result<(), Missing> {
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::TRIED);
        let slice = Slice::of(&self.program, unknown, &launch.body.stmts);
        let zero = self.number(out, 0, span);
        let longest: Vec<ValueId> = unknown
            .lengths
            .iter()
            .map(|_| self.bind(out, GpuOp::Var(zero), Elem::USIZE, span))
            .collect();
        if slice.limited.is_empty() {
            self.trial(&slice, launch, &longest, Renamed::default(), span, out)?;
        } else {
            self.trials(&slice, launch, &longest, span, out)?;
        }
        for (length, &longest) in unknown.lengths.iter().zip(&longest) {
            out.push(Stmt::new(vec![length.most], GpuOp::Get(longest), span));
        }
        without_marks(unknown, &mut launch.body);
        Ok(())
    }

    /// Tries until no array is longer than its memory.
    fn trials(
        &mut self,
        slice: &Slice<'_>,
        launch: &Launch,
        longest: &[ValueId],
        span: SpanId,
        out: &mut Stmts,
    ) -> Result<(), Missing> {
        let zero = self.number(out, 0, span);
        let limits: Vec<ValueId> = slice
            .limited
            .iter()
            .map(|_| self.bind(out, GpuOp::Var(zero), Elem::USIZE, span))
            .collect();
        let mut stmts = Stmts::new();
        let mut renamed = Renamed::default();
        let mut given = Vec::new();
        for (&limited, &limit) in slice.limited.iter().zip(&limits) {
            let limit = self.bind(&mut stmts, GpuOp::Get(limit), Elem::USIZE, span);
            renamed.insert(slice.unknown.lengths[limited].most, limit);
            given.push(limit);
        }
        self.trial(slice, launch, longest, renamed, span, &mut stmts)?;
        let two = self.number(&mut stmts, 2, span);
        let mut again = None;
        for ((&limited, place), given) in slice.limited.iter().zip(limits).zip(given) {
            let found = GpuOp::Get(longest[limited]);
            let found = self.bind(&mut stmts, found, Elem::USIZE, span);
            let longer = GpuOp::Prim(Prim::Lt, smallvec![given, found]);
            let longer = self.bind(&mut stmts, longer, Elem::BOOL, span);
            // Twice as much at least, so that there are few trials.
            let twice = self.of_numbers(&mut stmts, Prim::Mul, [given, two], span);
            let value = self.of_numbers(&mut stmts, Prim::Max, [twice, found], span);
            stmts.push(Stmt::new(Vec::new(), GpuOp::Set { place, value }, span));
            again = Some(match again {
                None => longer,
                Some(others) => {
                    let either = GpuOp::Prim(Prim::Or, smallvec![others, longer]);
                    self.bind(&mut stmts, either, Elem::BOOL, span)
                }
            });
        }
        let cond = Box::new(Block {
            params: Vec::new(),
            stmts,
            results: again.into_iter().collect(),
        });
        let body = Box::new(Block {
            params: Vec::new(),
            stmts: Vec::new(),
            results: Vec::new(),
        });
        let trials = GpuOp::While { cond, body };
        out.push(Stmt::new(Vec::new(), trials, span));
        Ok(())
    }

    /// One trial. `longest`: variables that become no less than any length of these that it meets.
    /// `renamed`: how much memory it has.
    fn trial(
        &mut self,
        slice: &Slice<'_>,
        launch: &Launch,
        longest: &[ValueId],
        mut renamed: Renamed,
        span: SpanId,
        out: &mut Stmts,
    ) -> Result<(), Missing> {
        let own = launch.own().iter().copied();
        let own: Vec<ValueId> = own.filter(|own| slice.wanted.contains(own)).collect();
        for buffer in slice.changed(launch.own()) {
            let copy = self.program.value(self.program.ty(buffer).clone(), span);
            out.push(Stmt::new(vec![copy], GpuOp::Copy(buffer), span));
            renamed.insert(buffer, copy);
        }
        let of_points = Type::table(Elem::USIZE, launch.extents.clone());
        let notes: Vec<ValueId> = longest
            .iter()
            .map(|_| self.buffer(out, of_points.clone(), span))
            .collect();
        let mut stmts = Stmts::new();
        let zero = self.number(&mut stmts, 0, span);
        for &note in &notes {
            stmts.push(store(note, launch.indices().to_vec(), zero, span));
        }
        let noting = Noting {
            slice,
            notes: &notes,
            point: launch.indices(),
        };
        self.noting(&noting, slice.stmts.clone(), &mut stmts);
        let mut body = Block {
            params: [launch.indices(), &own].concat(),
            stmts,
            results: Vec::new(),
        };
        renamed.block(&mut self.program, &mut body);
        let trial = Launch {
            name: "lengths".to_owned(),
            trial: true,
            block: if own.is_empty() { BLOCK } else { FEW },
            team: None,
            extents: launch.extents.clone(),
            body: Box::new(body),
        };
        let trial = GpuOp::Own(Own::Launch(trial));
        out.push(Stmt::new(Vec::new(), trial, span));
        self.largest(&launch.extents, &notes, longest, span, out)
    }

    /// The statements of a trial: where an array is made, its lengths are noted.
    fn noting(&mut self, noting: &Noting<'_>, stmts: Stmts, out: &mut Stmts) {
        for mut stmt in stmts {
            if let Some(longer) = noting.slice.unknown.marked(&stmt) {
                self.note(noting, stmt.results[0], longer, stmt.span, out);
                continue;
            }
            for block in stmt.op.blocks_mut() {
                let inner = std::mem::take(&mut block.stmts);
                self.noting(noting, inner, &mut block.stmts);
            }
            out.push(stmt);
        }
    }

    /// Notes how long an array is, and ends the point if it has memory that is not as long.
    fn note(
        &mut self,
        noting: &Noting<'_>,
        array: ValueId,
        longer: ValueId,
        span: SpanId,
        out: &mut Stmts,
    ) {
        let Noting {
            slice,
            notes,
            point,
        } = noting;
        for extent in self.program.ty(array).dims.clone() {
            let lengths = slice.unknown.lengths.iter().zip(*notes);
            let of = |length: &Length| Extent::Value(length.of) == extent;
            let Some((&length, &note)) = lengths.clone().find(|(length, _)| of(length)) else {
                continue;
            };
            let before = load(note, point.to_vec());
            let before = self.bind(out, before, Elem::USIZE, span);
            let most = self.of_numbers(out, Prim::Max, [before, length.of], span);
            out.push(store(note, point.to_vec(), most, span));
            if slice.wanted.contains(&longer) {
                let fits = GpuOp::Prim(Prim::Le, smallvec![length.of, length.most]);
                let fits = self.bind(out, fits, Elem::BOOL, span);
                out.push(Stmt::new(Vec::new(), asserted(fits), span));
            }
        }
    }

    /// The largest elements of tables over the same extents, and of what variables hold.
    fn largest(
        &mut self,
        extents: &[Extent],
        tables: &[ValueId],
        vars: &[ValueId],
        span: SpanId,
        out: &mut Stmts,
    ) -> Result<(), Missing> {
        let point = self.indices(extents, span);
        let (mut accs, mut stmts) = (Vec::new(), Vec::new());
        for (&table, &var) in tables.iter().zip(vars) {
            let (private, value) = (self.value(Elem::USIZE, span), self.value(Elem::USIZE, span));
            accs.push(Acc::new(Monoid::Max, var, private));
            let element = KernelOp::Load {
                buffer: table,
                indices: point.clone(),
            };
            stmts.push(Stmt::new(vec![value], element, span));
            let combine = KernelOp::Combine {
                monoid: Monoid::Max,
                place: private,
                indices: Vec::new(),
                value,
            };
            stmts.push(Stmt::new(Vec::new(), combine, span));
        }
        let par = Par {
            name: "longest".to_owned(),
            number: 0,
            extents: extents.to_vec(),
            by_columns: false,
            speculates: false,
            accs,
            folds: Vec::new(),
            body: Box::new(Block {
                params: point,
                stmts,
                results: Vec::new(),
            }),
        };
        self.par(par, span, out)
    }
}

/// Where a trial notes what it finds.
struct Noting<'s> {
    slice: &'s Slice<'s>,
    /// A table over the points for each length,
    notes: &'s [ValueId],
    /// and the point.
    point: &'s [ValueId],
}

/// What lengths depend on, of the statements of a launch.
struct Slice<'u> {
    unknown: &'u Unknown,
    /// The values and places that they depend on.
    wanted: ValueSet,
    stmts: Stmts,
    /// The lengths, by number, of arrays whose elements they depend on.
    limited: Vec<usize>,
}

impl<'u> Slice<'u> {
    fn of(program: &Program<Gpu>, unknown: &'u Unknown, stmts: &[Stmt<Gpu>]) -> Self {
        // What comes after the last array has no say.
        let has_mark = |stmt: &Stmt<Gpu>| has_mark(unknown, stmt);
        let end = stmts.iter().rposition(has_mark).map_or(0, |last| last + 1);
        let stmts = &stmts[..end];
        let mut slice = Self {
            unknown,
            wanted: ValueSet::new(),
            stmts: Stmts::new(),
            limited: Vec::new(),
        };
        let mut known = None;
        while known != Some(slice.wanted.len()) {
            known = Some(slice.wanted.len());
            slice.want(program, stmts);
        }
        slice.stmts = slice.kept(stmts.to_vec());
        let arrays = unknown.arrays.iter().map(|&(_, longer)| longer);
        let arrays = arrays.filter(|longer| slice.wanted.contains(longer));
        let limits = arrays.flat_map(|longer| program.ty(longer).dims.iter().copied());
        let limits: ValueSet = limits.filter_map(length).collect();
        let lengths = unknown.lengths.iter().enumerate();
        let limited = lengths.filter(|(_, length)| limits.contains(&length.most));
        slice.limited = limited.map(|(number, _)| number).collect();
        slice
    }

    /// Adds what statements that are kept depend on.
    fn want(&mut self, program: &Program<Gpu>, stmts: &[Stmt<Gpu>]) {
        for stmt in stmts.iter().rev() {
            for block in stmt.op.blocks() {
                self.want(program, &block.stmts);
            }
            if !self.keeps(stmt) {
                continue;
            }
            match &stmt.op {
                GpuOp::Assert { cond, .. } => self.wanted.extend([*cond]),
                op => self.wanted.extend(op.operands()),
            }
            for block in stmt.op.blocks() {
                self.wanted.extend(&block.results);
            }
            for_each_length(program, stmt, &mut |length| self.wanted.extend([length]));
        }
    }

    /// Whether a statement, or one in it, has a say.
    fn keeps(&self, stmt: &Stmt<Gpu>) -> bool {
        let is_wanted = |value: &ValueId| self.wanted.contains(value);
        let own = match &stmt.op {
            GpuOp::Assert { .. } => true,
            GpuOp::Alloc { .. } if self.unknown.marked(stmt).is_some() => true,
            GpuOp::Store { buffer, .. } => is_wanted(buffer),
            GpuOp::Set { place, .. } | GpuOp::Combine { place, .. } => is_wanted(place),
            GpuOp::Swap(a, b) => is_wanted(a) || is_wanted(b),
            _ => stmt.results.iter().any(is_wanted),
        };
        own || inside(stmt).any(|inner| self.keeps(inner))
    }

    /// The statements that are kept. Nobody sees what their assertions say.
    fn kept(&self, stmts: Stmts) -> Stmts {
        let kept = stmts.into_iter().filter(|stmt| self.keeps(stmt));
        let kept = kept.map(|mut stmt| {
            if let GpuOp::Assert { cond, .. } = stmt.op {
                stmt.op = asserted(cond);
            }
            for block in stmt.op.blocks_mut() {
                block.stmts = self.kept(std::mem::take(&mut block.stmts));
            }
            stmt
        });
        kept.collect()
    }

    /// The buffers that it changes and are not the thread's.
    fn changed(&self, own: &[ValueId]) -> Vec<ValueId> {
        let accesses = Accesses::of(&self.stmts);
        let changed = accesses.changed();
        let changed = changed.iter();
        let changed = changed.filter(|place| !accesses.binds(place) && !own.contains(place));
        changed.collect()
    }
}

/// Whether an array is made whose length is to be found out, by a statement or by one in it.
fn has_mark(unknown: &Unknown, stmt: &Stmt<Gpu>) -> bool {
    unknown.marked(stmt).is_some() || inside(stmt).any(|inner| has_mark(unknown, inner))
}

fn without_marks(unknown: &Unknown, block: &mut Block<Gpu>) {
    block.stmts.retain(|stmt| unknown.marked(stmt).is_none());
    for stmt in &mut block.stmts {
        for inner in stmt.op.blocks_mut() {
            without_marks(unknown, inner);
        }
    }
}

fn inside(stmt: &Stmt<Gpu>) -> impl Iterator<Item = &Stmt<Gpu>> {
    stmt.op.blocks().into_iter().flat_map(|block| &block.stmts)
}

/// An assertion that says nothing.
fn asserted(cond: ValueId) -> GpuOp {
    GpuOp::Assert {
        cond,
        message: Message::default(),
        shown: Vec::new(),
    }
}
