//! What the kernels of a step do to buffers: where they write, and how far from their own rows they
//! read.

use std::collections::BTreeMap;

use super::Known;
use crate::analysis::accesses::{Access, Accesses, At, Kind};
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
                    near: BTreeMap::new(),
                    uses: Self::default(),
                };
                look.block(&par.body)?;
                let copies: ValueSet = par.accs.iter().map(|acc| acc.private).collect();
                let accesses = Accesses::of(&par.body.stmts);
                let mut others = accesses.outside();
                others.try_for_each(|access| match copies.contains(&access.place) {
                    true => Some(()),
                    false => look.access(access),
                })?;
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
                mask: None,
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
    /// Integers, counted from the row or from zero.
    near: BTreeMap<ValueId, Reach>,
    uses: Uses,
}

impl Look<'_> {
    /// Finds out how far integers are from the row. None if there are kernels inside.
    fn block(&mut self, block: &Block<Cpu>) -> Option<()> {
        let is_row = |param: &&ValueId| self.rows.is_row(**param);
        let rows: Vec<ValueId> = block.params.iter().filter(is_row).copied().collect();
        self.near.extend(rows.into_iter().map(|row| (row, ROW)));
        for stmt in &block.stmts {
            self.stmt(stmt)?;
            for inner in stmt.op.blocks() {
                self.block(inner)?;
            }
        }
        Some(())
    }

    fn stmt(&mut self, stmt: &Stmt<Cpu>) -> Option<()> {
        match &stmt.op {
            CpuOp::Prim(prim, args) => {
                if let Some(reach) = self.prim(*prim, args, stmt.results[0]) {
                    self.near.insert(stmt.results[0], reach);
                }
            }
            CpuOp::For { extent, body, .. } => self.counts(*extent, body.params[0]),
            CpuOp::Own(Own::Par(_) | Own::Tile(_)) => return None,
            CpuOp::Own(Own::Transpose { extents, body }) => {
                for (&extent, &index) in extents.iter().zip(&body.params) {
                    self.counts(extent, index);
                }
            }
            CpuOp::Own(Own::Range { from, body, .. } | Own::Strips { from, body, .. }) => {
                let extent = self.known.program.elem(*from).extent()?;
                self.counts(extent, body.params[0]);
            }
            _ => {}
        }
        Some(())
    }

    /// Notes what is done to a place of others'. None if it is more than reading and writing
    /// elements.
    fn access(&mut self, access: &Access<'_>) -> Option<()> {
        match (access.kind, access.at) {
            (Kind::Read, At::Variable) => {}
            (Kind::Read, At::Element(indices)) => {
                let axis = self.axis(indices);
                let near = indices.get(axis).and_then(|index| self.reach(index));
                let near = near.filter(|near| near.from == Base::Index);
                let reach = near
                    .map(|near| near.low.unsigned_abs().max(near.high.unsigned_abs()))
                    .filter(|&reach| reach <= FAR);
                let before = self
                    .uses
                    .read
                    .entry(access.place)
                    .or_insert((axis, Some(0)));
                before.1 = before.1.zip(reach).map(|(before, reach)| before.max(reach));
                before.1 = before.1.filter(|_| before.0 == axis);
            }
            (Kind::Write, At::Element(indices)) => {
                let axis = self.axis(indices);
                let place = match indices.iter().position(|&index| self.rows.is_row(index))? {
                    place if place == axis => Place::First,
                    _ => Place::Row,
                };
                let before = self.uses.written.insert(access.place, (axis, place));
                if before.is_some_and(|before| before != (axis, place)) {
                    return None;
                }
            }
            _ => return None,
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
            })
            .filter(|reach| !reach.wrapped),
        }
    }
}
