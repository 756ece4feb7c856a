//! Hierarchical parallelism: threads that run a point together share the iterations of its loops.
//!
//! # The idea
//!
//! A loop of a point becomes `lanes` if its iterations may be run in any order: what they combine
//! into variables has a monoid, and what they store in memory is at their own index. How many
//! threads a team has is computed by the host, from sizes alone: many where there are few points and
//! loops are long, one where there are points enough for a device. A nest that combines numbers and
//! has no loops of its own is run by parts whose points are shared out.
//!
//! # Why it is sound
//!
//! All threads of a team run the point, and know what it computes. Monoids are associative and
//! commutative; that sums are trees shows in their rounding alone, and the tree's shape depends on
//! nothing but sizes. Two iterations touch one element of memory only if neither changes it: at each
//! access to what they change, one axis has the loop's index.

use smallvec::smallvec;

use super::host::BLOCK;
use super::{Map, Stmts};
use crate::analysis::accesses::{Access, Accesses, At, Kind};
use crate::analysis::effects::length;
use crate::ir::stages::gpu::{Gpu, GpuOp, Lanes, Launch, Own};
use crate::ir::stages::imperative::Par;
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{
    Block, Elem, Extent, Monoid, Operation, Program, SpanId, Stmt, ValueId, ValueMap, ValueSet,
};
use crate::ops::Prim;

/// Loops of fewer iterations, if a constant says how many, are not worth a tree of sums.
const SHORT: u64 = 8;

/// How many iterations a team shares, as far as the host knows.
#[derive(PartialEq)]
enum Length {
    Of(Vec<Extent>),
    /// Those of one of so many parts.
    Part(Vec<Extent>, Extent),
    Unknown,
}

/// Loops of a launch that are being looked at.
struct Sharing {
    /// Arrays of a thread's.
    arrays: ValueSet,
    /// What the launch binds.
    bound: ValueSet,
    lengths: Vec<Length>,
}

impl Map {
    /// Lets teams run a launch, if there is something that they can share.
    pub(super) fn by_teams(&mut self, launch: &mut Launch, span: SpanId, out: &mut Stmts) {
        let mut sharing = Sharing {
            arrays: ValueSet::new(),
            bound: launch.body.bound(),
            lengths: Vec::new(),
        };
        if !sharing.note_arrays(&launch.body) {
            return;
        }
        sharing.block(&self.program, &mut launch.body);
        if !sharing.lengths.is_empty() {
            launch.block = BLOCK;
            launch.team = Some(self.team(&launch.extents, &sharing.lengths, span, out));
        }
    }

    /// How many threads a team has: as many as a block's if there are few points and something is as
    /// long; a warp's if there are not many points for as much of it as is used.
    fn team(
        &mut self,
        extents: &[Extent],
        lengths: &[Length],
        span: SpanId,
        out: &mut Stmts,
    ) -> ValueId {
        let ([warp, block], few) = (self.sizes.teams, self.sizes.few);
        let [one, two, few, twice_as_few, warp, block] =
            [1, 2, few, 2 * few, warp, block].map(|number| self.number(out, number, span));
        let points = self.product(out, extents, span);
        let mut longest = one;
        for length in lengths {
            let length = match length {
                Length::Of(extents) => self.product(out, extents, span),
                Length::Part(extents, parts) => {
                    let points = self.product(out, extents, span);
                    let parts = self.product(out, &[*parts], span);
                    self.of_numbers(out, Prim::Div, [points, parts], span)
                }
                Length::Unknown => warp,
            };
            longest = self.of_numbers(out, Prim::Max, [longest, length], span);
        }
        // One lane has nothing to share, so pairs are counted.
        let used = self.of_numbers(out, Prim::Min, [longest, warp], span);
        let pairs = self.of_numbers(out, Prim::Div, [used, two], span);
        let limit = self.of_numbers(out, Prim::Mul, [pairs, twice_as_few], span);
        let is_warps = self.is_less(out, [points, limit], span);
        let has_few = self.is_less(out, [points, few], span);
        let is_short = self.is_less(out, [longest, block], span);
        let select = GpuOp::Select(is_warps, warp, one);
        let small = self.bind(out, select, Elem::USIZE, span);
        let select = GpuOp::Select(is_short, small, block);
        let large = self.bind(out, select, Elem::USIZE, span);
        let select = GpuOp::Select(has_few, large, small);
        self.bind(out, select, Elem::USIZE, span)
    }

    fn is_less(&mut self, out: &mut Stmts, [x, y]: [ValueId; 2], span: SpanId) -> ValueId {
        let less = GpuOp::Prim(Prim::Lt, smallvec![x, y]);
        self.bind(out, less, Elem::BOOL, span)
    }

    /// Whether the points of parts are shared out: what they combine are numbers, and none of them
    /// has a loop of its own that is worth it, or much memory.
    pub(super) fn shares_points(&self, par: &Par<Kernels>) -> bool {
        let are_numbers = par.folds.is_empty()
            && (par.accs.iter()).all(|acc| self.program.ty(acc.target).rank() == 0);
        !par.extents.is_empty() && are_numbers && self.is_small(&par.body)
    }

    fn is_small(&self, block: &Block<Kernels>) -> bool {
        block.stmts.iter().all(|stmt| {
            let is_small = match &stmt.op {
                KernelOp::For { extent, .. } => matches!(extent, Extent::Const(_)),
                KernelOp::Alloc { .. } => self.fits_thread(stmt.results[0]),
                KernelOp::Copy(_) | KernelOp::Contract { .. } => false,
                _ => true,
            };
            is_small
                && stmt
                    .op
                    .blocks()
                    .into_iter()
                    .all(|inner| self.is_small(inner))
        })
    }
}

impl Sharing {
    /// Notes arrays; whether each is always the thread's.
    fn note_arrays(&mut self, block: &Block<Gpu>) -> bool {
        block.stmts.iter().all(|stmt| match &stmt.op {
            GpuOp::Alloc { .. } => {
                self.arrays.extend(&stmt.results);
                true
            }
            GpuOp::Swap(a, b) => self.arrays.contains(a) == self.arrays.contains(b),
            op => (op.blocks().into_iter()).all(|inner| self.note_arrays(inner)),
        })
    }

    fn block(&mut self, program: &Program<Gpu>, block: &mut Block<Gpu>) {
        for stmt in &mut block.stmts {
            if let GpuOp::Own(Own::Lanes(lanes)) = &stmt.op {
                self.shares(program, lanes);
                continue;
            }
            if let Some(lanes) = self.lanes(&stmt.op) {
                self.shares(program, &lanes);
                stmt.op = GpuOp::Own(Own::Lanes(lanes));
                continue;
            }
            for inner in stmt.op.blocks_mut() {
                self.block(program, inner);
            }
        }
    }

    /// Notes how long something is that is shared.
    fn shares(&mut self, program: &Program<Gpu>, lanes: &Lanes) {
        let is_known = |&extent: &Extent| length(extent).is_none_or(|of| !self.bound.contains(&of));
        let known = lanes.extents.iter().all(is_known);
        let parts = lanes.of.map(|of| program.elem(of).extent());
        let length = match parts {
            Some(Some(parts)) if known => Length::Part(lanes.extents.clone(), parts),
            None if known => Length::Of(lanes.extents.clone()),
            _ => Length::Unknown,
        };
        if !self.lengths.contains(&length) {
            self.lengths.push(length);
        }
    }

    /// A nest of loops as lanes: as many of its levels as may be run in any order.
    fn lanes(&self, op: &GpuOp) -> Option<Lanes> {
        let mut levels: Vec<(Extent, ValueId, &Block<Gpu>)> = Vec::new();
        let mut constants: Vec<&[Stmt<Gpu>]> = Vec::new();
        let mut next = op;
        while let GpuOp::For { extent, body, .. } = next {
            let is_inner = length(*extent).is_some_and(|of| {
                let mut earlier = constants.iter().copied().flatten();
                earlier.any(|stmt| stmt.results.contains(&of))
            });
            if is_inner {
                break;
            }
            levels.push((*extent, body.params[0], body));
            let Some((last, before)) = body.stmts.split_last() else {
                break;
            };
            let are_constants =
                (before.iter()).all(|stmt| matches!(stmt.op, GpuOp::Const(_) | GpuOp::Size(_)));
            if !are_constants {
                break;
            }
            constants.push(before);
            next = &last.op;
        }
        (1..=levels.len()).rev().find_map(|depth| {
            let (extents, indices): (Vec<Extent>, Vec<ValueId>) = levels[..depth]
                .iter()
                .map(|&(extent, index, _)| (extent, index))
                .unzip();
            let body = levels[depth - 1].2;
            let accs = self.in_any_order(body, &indices)?;
            let is_short = extents
                .iter()
                .try_fold(1_u64, |product, extent| match extent {
                    Extent::Const(number) => product.checked_mul(*number),
                    Extent::Size(_) | Extent::Value(_) => None,
                })
                .is_some_and(|length| length < SHORT);
            if is_short && !accs.is_empty() {
                return None;
            }
            let earlier = constants[..depth - 1].iter().copied().flatten();
            Some(Lanes {
                extents,
                of: None,
                accs,
                body: Box::new(Block {
                    params: indices,
                    stmts: earlier.chain(&body.stmts).cloned().collect(),
                    results: Vec::new(),
                }),
            })
        })
    }

    /// What iterations combine into variables, if they may be run in any order.
    fn in_any_order(
        &self,
        body: &Block<Gpu>,
        indices: &[ValueId],
    ) -> Option<Vec<(Monoid, ValueId)>> {
        let mut found = Found::default();
        found.block(body)?;
        let accesses = Accesses::of(&body.stmts);
        let changed = accesses.changed();
        let mut accs: Vec<(Monoid, ValueId)> = Vec::new();
        for access in accesses.outside() {
            match (access.kind, access.at) {
                (Kind::Combine, At::Variable) => {
                    let &monoid = found.monoids.get(&access.place)?;
                    if !accs.iter().any(|&(_, var)| var == access.place) {
                        accs.push((monoid, access.place));
                    }
                }
                (_, At::Variable) if changed.contains(&access.place) => return None,
                (_, At::Any) if changed.contains(&access.place) => return None,
                _ => {}
            }
        }
        let is_own = |buffer: &ValueId| {
            let at: Vec<&Access<'_>> = (accesses.outside())
                .filter(|access| access.place == *buffer && access.at != At::Variable)
                .collect();
            at.is_empty() || indices.iter().all(|&index| found.have_all(&at, index))
        };
        let mut changed = changed.iter();
        let fine = changed.all(|place| !self.arrays.contains(&place) && is_own(&place));
        fine.then_some(accs)
    }
}

/// What a loop's body has.
#[derive(Default)]
struct Found {
    /// By which monoid variables are combined into.
    monoids: ValueMap<Monoid>,
    /// Indices that are others under another type.
    trusted: ValueMap<ValueId>,
}

impl Found {
    /// Looks at a block; nothing if a place is combined into by two monoids, or it has parts.
    fn block(&mut self, block: &Block<Gpu>) -> Option<()> {
        for stmt in &block.stmts {
            match &stmt.op {
                GpuOp::Own(_) => return None,
                GpuOp::Combine { monoid, place, .. } => {
                    let known = self.monoids.insert(*place, *monoid);
                    if known.is_some_and(|known| known != *monoid) {
                        return None;
                    }
                }
                GpuOp::Prim(Prim::Trust(_), args) => {
                    self.trusted.insert(stmt.results[0], args[0]);
                }
                _ => {}
            }
            for inner in stmt.op.blocks() {
                self.block(inner)?;
            }
        }
        Some(())
    }

    /// Whether all accesses have an index along one axis.
    fn have_all(&self, all: &[&Access<'_>], index: ValueId) -> bool {
        let axes = |access: &Access<'_>| -> Vec<usize> {
            let At::Element(at) = access.at else {
                return Vec::new();
            };
            let axes = at.iter().enumerate();
            let axes = axes.filter(|&(_, &at)| self.untrusted(at) == index);
            axes.map(|(axis, _)| axis).collect()
        };
        let mut common = axes(all[0]);
        for access in &all[1..] {
            let axes = axes(access);
            common.retain(|axis| axes.contains(axis));
        }
        !common.is_empty()
    }

    fn untrusted(&self, mut index: ValueId) -> ValueId {
        while let Some(&of) = self.trusted.get(&index) {
            index = of;
        }
        index
    }
}
