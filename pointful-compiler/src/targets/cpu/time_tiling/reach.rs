//! What the kernels of a step do to buffers: where they write, and how far from their own rows they
//! read.

use std::collections::BTreeMap;

use super::Known;
use crate::analysis::parts::Parts;
use crate::ir::stages::cpu::{Along, Cpu, CpuOp, Own};
use crate::ir::{Block, Extent, Operation, Stmt, ValueId, ValueSet};
use crate::ops::Prim;
use crate::targets::cpu::split::{Base, Reach, moved};

/// The furthest neighbour that counts as near.
const FAR: u64 = 64;
/// The row itself.
const ROW: Reach = Reach::INDEX;
/// Where in its own row a kernel writes a buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// The row is the first index.
    First,
    /// The row is one of the indices.
    Row,
}

/// What a kernel does to buffers that are not its own.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// The axis that is looked at, and where along it.
    pub(super) written: BTreeMap<ValueId, (usize, Place)>,
    /// And how many rows away, as far as that is known.
    pub(super) read: BTreeMap<ValueId, (usize, Option<u64>)>,
    /// All that it asks for.
    pub(super) asked: ValueSet,
    /// Whether it accumulates.
    pub(super) accumulates: bool,
}

impl Uses {
    /// And the extent of its rows. None if it does more than reading and writing elements. In each
    /// of several steps it may accumulate in variables only, as what it does is kept for all of
    /// them.
    pub(super) fn of(
        known: Known<'_>,
        stmt: &Stmt<Cpu>,
        step: Option<ValueId>,
    ) -> Option<(Extent, Self)> {
        match &stmt.op {
            CpuOp::Own(Own::Par(par)) => {
                let is_small = |target: ValueId| step.is_none() || known.dims(target).is_empty();
                if !par.folds.is_empty() || !par.accs.iter().all(|acc| is_small(acc.target)) {
                    return None;
                }
                let rows = *par.extents.first()?;
                let mut look = Look {
                    known,
                    step,
                    rows: match par.extents[..] {
                        [_] => Rows::Points(Parts::of(par)),
                        _ => Rows::Index(par.body.params[0]),
                    },
                    own: par.accs.iter().map(|acc| acc.private).collect(),
                    near: BTreeMap::new(),
                    uses: Self::default(),
                };
                look.block(&par.body)?;
                look.uses.asked.extend(par.body.free());
                look.uses.accumulates = !par.accs.is_empty();
                Some((known.resolve(rows), look.uses))
            }
            CpuOp::Contract {
                out,
                factors,
                along,
                add,
                absorb: _,
            } => {
                let step = step.map(Along::At);
                let axis = |along: &[Along]| usize::from(along.len() > 1 && step == Some(along[0]));
                let rows = axis(&along[0]);
                let row = along[0]
                    .get(rows)
                    .filter(|row| matches!(row, Along::Axis(_)))?;
                let mut uses = Self::default();
                uses.asked.extend(stmt.op.operands());
                uses.written.insert(*out, (rows, Place::First));
                if *add {
                    uses.read.insert(*out, (rows, Some(0)));
                }
                for (factor, along) in factors.iter().zip(&along[1..]) {
                    let is_axis = |along: &&Along| matches!(along, Along::Axis(_));
                    if along.contains(row) && along.iter().find(is_axis) != Some(row) {
                        return None;
                    }
                    let axis = axis(along);
                    let own = (along.get(axis) == Some(row)).then_some(0);
                    let before = uses.read.insert(*factor, (axis, own));
                    if before.is_some_and(|before| before != (axis, own)) {
                        return None;
                    }
                }
                Some((known.resolve(*known.dims(*out).get(rows)?), uses))
            }
            _ => None,
        }
    }
}

/// What the index of a row is.
enum Rows {
    /// This one.
    Index(ValueId),
    /// Those of the loops through a part of the only axis.
    Points(Parts),
}

impl Rows {
    fn is_row(&self, index: ValueId) -> bool {
        match self {
            Self::Index(row) => *row == index,
            Self::Points(parts) => parts.goes_through(index),
        }
    }
}

struct Look<'k> {
    known: Known<'k>,
    /// The index of the step, if there are several.
    step: Option<ValueId>,
    rows: Rows,
    /// What the kernel binds.
    own: ValueSet,
    /// Integers, counted from the row or from zero.
    near: BTreeMap<ValueId, Reach>,
    uses: Uses,
}

impl Look<'_> {
    fn block(&mut self, block: &Block<Cpu>) -> Option<()> {
        self.own.extend(&block.params);
        let rows = block
            .params
            .iter()
            .filter(|&&param| self.rows.is_row(param));
        self.near.extend(rows.map(|&row| (row, ROW)));
        for stmt in &block.stmts {
            self.own.extend(&stmt.results);
            self.stmt(stmt)?;
            for inner in stmt.op.blocks() {
                self.block(inner)?;
            }
        }
        Some(())
    }

    fn stmt(&mut self, stmt: &Stmt<Cpu>) -> Option<()> {
        match &stmt.op {
            CpuOp::Load { buffer, indices } => {
                if !self.own.contains(buffer) {
                    let axis = self.axis(indices);
                    let near = indices.get(axis).and_then(|index| self.reach(index));
                    let near = near.filter(|near| near.from == Base::Index);
                    let reach = near
                        .map(|near| near.low.unsigned_abs().max(near.high.unsigned_abs()))
                        .filter(|&reach| reach <= FAR);
                    let before = self.uses.read.entry(*buffer).or_insert((axis, Some(0)));
                    before.1 = before.1.zip(reach).map(|(before, reach)| before.max(reach));
                    before.1 = before.1.filter(|_| before.0 == axis);
                }
            }
            CpuOp::Store {
                buffer, indices, ..
            } => {
                if !self.own.contains(buffer) {
                    let axis = self.axis(indices);
                    let place = match indices.iter().position(|&index| self.rows.is_row(index))? {
                        place if place == axis => Place::First,
                        _ => Place::Row,
                    };
                    let before = self.uses.written.insert(*buffer, (axis, place));
                    if before.is_some_and(|before| before != (axis, place)) {
                        return None;
                    }
                }
            }
            CpuOp::Prim(prim, args) => {
                if let Some(reach) = self.prim(*prim, args, stmt.results[0]) {
                    self.near.insert(stmt.results[0], reach);
                }
            }
            CpuOp::For { extent, body, .. } => self.counts(*extent, body.params[0]),
            // Of buffers and places of its own alone.
            CpuOp::Copy(_)
            | CpuOp::Combine { .. }
            | CpuOp::Set { .. }
            | CpuOp::Swap(..)
            | CpuOp::Contract { .. } => {
                let is_place = |value: &ValueId| self.known.is_place(*value);
                let mut places = stmt.op.operands().into_iter().filter(is_place);
                if !places.all(|place| self.own.contains(&place)) {
                    return None;
                }
            }
            CpuOp::Own(Own::Par(_) | Own::Tile(_)) => return None,
            CpuOp::Own(Own::Fold { place, .. }) => {
                self.own.contains(place).then_some(())?;
            }
            CpuOp::Own(Own::ArgCombine { best, at, .. } | Own::ArgFold { best, at, .. }) => {
                let own = self.own.contains(best) && self.own.contains(at);
                own.then_some(())?;
            }
            CpuOp::Own(Own::Transpose { extents, body }) => {
                for (&extent, &index) in extents.iter().zip(&body.params) {
                    self.counts(extent, index);
                }
            }
            CpuOp::Own(Own::Range { from, body, .. } | Own::Strips { from, body, .. }) => {
                let extent = self.known.program.elem(*from).extent()?;
                self.counts(extent, body.params[0]);
            }
            CpuOp::Own(Own::Bound { .. } | Own::Lanes { .. })
            | CpuOp::Const(_)
            | CpuOp::Size(_)
            | CpuOp::Select(..)
            | CpuOp::Alloc { .. }
            | CpuOp::Var(_)
            | CpuOp::Get(_)
            | CpuOp::Assert { .. }
            | CpuOp::While { .. }
            | CpuOp::If { .. } => {}
        }
        Some(())
    }

    /// Notes what is known of an index.
    fn counts(&mut self, extent: Extent, index: ValueId) {
        if let Extent::Const(length @ 1..) = self.known.resolve(extent)
            && let Ok(high) = i64::try_from(length - 1)
            && let Some(reach) = Reach::checked(Base::Zero, 0, high)
        {
            self.near.insert(index, reach);
        }
    }

    /// The axis of a buffer whose places are rows.
    fn axis(&self, indices: &[ValueId]) -> usize {
        usize::from(indices.len() > 1 && Some(indices[0]) == self.step)
    }

    fn reach(&self, value: &ValueId) -> Option<Reach> {
        match self.known.integer(*value) {
            Some(number) => Reach::checked(Base::Zero, number, number),
            None => self.near.get(value).cloned(),
        }
    }

    fn prim(&self, prim: Prim, args: &[ValueId], result: ValueId) -> Option<Reach> {
        match prim {
            Prim::Check(_) => self.reach(&args[0]),
            // Neither takes two numbers further apart than they are, and both leave a row where it is.
            Prim::ClampTo(_) | Prim::Mirror(_) => {
                let x = self.reach(&args[0]).filter(|x| x.from == Base::Index)?;
                let far = x.high.max(-x.low).max(0);
                Reach::checked(Base::Index, -far, far)
            }
            _ => moved(self.known.program, prim, args, result, |value| {
                self.reach(&value)
            }),
        }
    }
}
