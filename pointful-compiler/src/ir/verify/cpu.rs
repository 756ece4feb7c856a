//! The invariants of Cpu alone: strips, and what their lanes may do.

use super::imperative::Kind;
use super::{Places, VerifyError, VerifyOwn};
use crate::ir::stages::cpu::{Cpu, CpuOp, Own, Par};
use crate::ir::{Block, Elem, Extent, Operation, ValueId, ValueSet};

impl VerifyOwn for Cpu {
    fn operands_own(places: &Places<'_, Self>, own: &Own) -> Result<(), VerifyError> {
        match own {
            Own::Par(par) => places.targets(par),
            Own::Bound { .. } | Own::Range { .. } | Own::Strips { .. } => {
                places.scalars(&own.operands())
            }
            Own::Lanes { strip, body, .. } => match (places.kind(*strip), &body.params[..]) {
                (Kind::Strip(width), &[lane, _]) => {
                    match places.program.elem(lane) == Elem::Index(Extent::Const(width)) {
                        true => Ok(()),
                        false => places.error(18, *strip, "is a strip of another width"),
                    }
                }
                _ => places.error(18, *strip, "is no strip"),
            },
            Own::Fold {
                monoid,
                place,
                lanes,
            } => {
                places.buffer(*lanes)?;
                match places.kind(*place) {
                    Kind::Private(own) if own == *monoid => Ok(()),
                    Kind::Private(_) => places.error(14, *place, "accumulates by another monoid"),
                    _ => {
                        places.var(*place)?;
                        places.changed(*place)
                    }
                }
            }
            Own::ArgCombine {
                best,
                at,
                lane,
                value,
                place,
                ..
            } => {
                for array in [*best, *at] {
                    places.buffer(array)?;
                    places.changed(array)?;
                }
                places.scalars(&[*lane, *value, *place])
            }
            Own::ArgFold {
                best,
                at,
                lanes: [best_lanes, at_lanes],
                ..
            } => {
                for (var, array) in [(*best, *best_lanes), (*at, *at_lanes)] {
                    places.buffer(array)?;
                    places.var(var)?;
                    places.changed(var)?;
                }
                Ok(())
            }
        }
    }

    fn enter_own(places: &mut Places<'_, Self>, own: &Own) {
        if let Own::Strips { width, body, .. } = own {
            places.note(body.params[0], Kind::Strip(*width));
        }
    }

    fn leave_own(places: &Places<'_, Self>, own: &Own) -> Result<(), VerifyError> {
        match own {
            Own::Lanes {
                in_order: false,
                body,
                ..
            } => {
                let mut lane = Lane {
                    places,
                    own: &body.params,
                    bound: ValueSet::new(),
                };
                lane.block(body)
            }
            Own::Strips {
                overlapping: true,
                body,
                ..
            } => {
                let mut strip = Again {
                    places,
                    bound: ValueSet::new(),
                    read: ValueSet::new(),
                    written: ValueSet::new(),
                };
                strip.block(body)?;
                match strip
                    .written
                    .iter()
                    .find(|place| strip.read.contains(place))
                {
                    Some(place) => places.error(
                        20,
                        place,
                        "is read and written by iterations that run again",
                    ),
                    None => Ok(()),
                }
            }
            Own::Par(par) if par.by_columns => columns(places, par),
            _ => Ok(()),
        }
    }
}

/// Invariant 21: where a nest by columns combines.
fn columns(places: &Places<'_, Cpu>, par: &Par<Cpu>) -> Result<(), VerifyError> {
    let (Some(column), true) = (par.extents.last(), par.folds.is_empty()) else {
        return places.error(21, par.body.params[0], "is of a nest that has no columns");
    };
    let dims = |private: ValueId| &places.program.ty(private).dims;
    let mut tables = ValueSet::new();
    for acc in par.accs.iter().filter(|acc| !dims(acc.private).is_empty()) {
        if dims(acc.private).last() != Some(column) {
            return places.error(21, acc.private, "has other columns than the nest");
        }
        tables.insert(acc.private);
    }
    combines(places, &par.body, &tables, &mut ValueSet::new())
}

fn combines(
    places: &Places<'_, Cpu>,
    block: &Block<Cpu>,
    tables: &ValueSet,
    columns: &mut ValueSet,
) -> Result<(), VerifyError> {
    for stmt in &block.stmts {
        if let CpuOp::Own(Own::Range { body, .. } | Own::Lanes { body, .. }) = &stmt.op {
            columns.extend(&body.params);
        }
        if let CpuOp::Combine { place, indices, .. } = &stmt.op
            && tables.contains(place)
            && !indices.last().is_some_and(|last| columns.contains(last))
        {
            return places.error(21, *place, "is combined into beside the column");
        }
        for inner in stmt.op.blocks() {
            combines(places, inner, tables, columns)?;
        }
    }
    Ok(())
}

/// Invariant 19: what a lane may do.
struct Lane<'p, 'v> {
    places: &'v Places<'p, Cpu>,
    /// Its number and its index.
    own: &'v [ValueId],
    bound: ValueSet,
}

impl Lane<'_, '_> {
    fn block(&mut self, block: &Block<Cpu>) -> Result<(), VerifyError> {
        self.bound.extend(&block.params);
        for stmt in &block.stmts {
            self.op(&stmt.op)?;
            self.bound.extend(&stmt.results);
            for inner in stmt.op.blocks() {
                self.block(inner)?;
            }
        }
        Ok(())
    }

    fn op(&self, op: &CpuOp) -> Result<(), VerifyError> {
        match op {
            CpuOp::Store {
                buffer: place,
                indices,
                ..
            } => self.changes(*place, indices),
            CpuOp::Combine {
                monoid,
                place,
                indices,
                ..
            } => {
                // In whatever order: the same bits.
                let any_order =
                    !self.places.program.elem(*place).is_float() || monoid.is_idempotent();
                match any_order {
                    true => Ok(()),
                    false => self.changes(*place, indices),
                }
            }
            CpuOp::Set { place, .. } => self.changes(*place, &[]),
            CpuOp::Swap(a, _) => self.error(*a, "is swapped by a lane"),
            CpuOp::Contract { out, .. } => self.error(*out, "is multiplied by a lane"),
            CpuOp::While { .. } | CpuOp::Assert { .. } => self.error(
                self.own[0],
                "is the number of a lane that may end otherwise than others",
            ),
            CpuOp::Own(Own::ArgCombine { best, at, lane, .. }) => {
                self.changes(*best, &[*lane])?;
                self.changes(*at, &[*lane])
            }
            CpuOp::Own(_) => self.error(
                self.own[0],
                "is the number of a lane with a loop of its own",
            ),
            CpuOp::Const(_)
            | CpuOp::Size(_)
            | CpuOp::Prim(..)
            | CpuOp::Select(..)
            | CpuOp::Alloc { .. }
            | CpuOp::Copy(_)
            | CpuOp::Load { .. }
            | CpuOp::Var(_)
            | CpuOp::Get(_)
            | CpuOp::For { .. }
            | CpuOp::If { .. } => Ok(()),
        }
    }

    /// A place is the lane's own, or an element at its number or its index.
    fn changes(&self, place: ValueId, indices: &[ValueId]) -> Result<(), VerifyError> {
        let own =
            self.bound.contains(&place) || indices.iter().any(|index| self.own.contains(index));
        match own {
            true => Ok(()),
            false => self.error(place, "is changed by all lanes"),
        }
    }

    fn error(&self, value: ValueId, what: &str) -> Result<(), VerifyError> {
        self.places.error(19, value, what)
    }
}

/// Invariant 20: what iterations that run again may do.
struct Again<'p, 'v> {
    places: &'v Places<'p, Cpu>,
    bound: ValueSet,
    read: ValueSet,
    written: ValueSet,
}

impl Again<'_, '_> {
    fn block(&mut self, block: &Block<Cpu>) -> Result<(), VerifyError> {
        for stmt in &block.stmts {
            match &stmt.op {
                CpuOp::Load { buffer: place, .. } | CpuOp::Get(place) | CpuOp::Copy(place) => {
                    self.note(*place, false);
                }
                CpuOp::Store { buffer: place, .. } | CpuOp::Set { place, .. } => {
                    self.note(*place, true);
                }
                CpuOp::Combine { monoid, place, .. }
                | CpuOp::Own(Own::Fold { monoid, place, .. }) => {
                    if !self.bound.contains(place) && !monoid.is_idempotent() {
                        return self.places.error(
                            20,
                            *place,
                            "is combined into by iterations that run again",
                        );
                    }
                }
                CpuOp::Swap(a, b) => {
                    for place in [*a, *b] {
                        self.note(place, false);
                        self.note(place, true);
                    }
                }
                CpuOp::Contract { out, factors, .. } => {
                    factors.iter().for_each(|&factor| self.note(factor, false));
                    self.note(*out, false);
                    self.note(*out, true);
                }
                // A second look at an element finds nothing better.
                CpuOp::Const(_)
                | CpuOp::Size(_)
                | CpuOp::Prim(..)
                | CpuOp::Select(..)
                | CpuOp::Alloc { .. }
                | CpuOp::Var(_)
                | CpuOp::For { .. }
                | CpuOp::Assert { .. }
                | CpuOp::While { .. }
                | CpuOp::If { .. }
                | CpuOp::Own(_) => {}
            }
            self.bound.extend(&stmt.results);
            for inner in stmt.op.blocks() {
                self.block(inner)?;
            }
        }
        Ok(())
    }

    fn note(&mut self, place: ValueId, written: bool) {
        if !self.bound.contains(&place) {
            let found = if written {
                &mut self.written
            } else {
                &mut self.read
            };
            found.insert(place);
        }
    }
}
