//! Whether a piece of a kernel's work may bet that all of its angles are near, and begin anew when
//! one was far.
//!
//! What was computed of a far angle is *doubtful*: any number at all. It must not do what cannot be
//! undone, so a kernel bets only if
//!
//! * it reads no buffer of others that it writes, or another row of it, so that the second attempt
//!   finds what the first has found;
//! * what it stores to those buffers goes to the same elements whatever the angles: a doubtful
//!   value may be stored, but not at a doubtful position or behind a doubtful condition;
//! * nothing doubtful decides whether it panics, or how long it runs;
//! * it calls no function of the caller's, who would be called twice.

use super::accesses::{Accesses, At, Kind};
use super::numbers::Numbers;
use crate::ir::stages::cpu::{Cpu, CpuOp, Own, Par};
use crate::ir::{Block, Elem, Extent, Operation, Program, Stmt, ValueId, ValueSet};
use crate::ops::Prim;

/// Whether a function is shorter for near angles.
pub(crate) fn has_near(prim: Prim, elem: Elem) -> bool {
    prim.takes_angle() && elem.is_float()
}

/// Whether a kernel may bet, and has angles.
pub(crate) fn may_bet(program: &Program<Cpu>, numbers: &Numbers, par: &Par<Cpu>) -> bool {
    let mut look = Look {
        program,
        numbers,
        own: par.privates().collect(),
        doubtful: ValueSet::new(),
    };
    // Until nothing more is in doubt: an iteration of a loop may read what one before it has left in a place.
    loop {
        let before = look.doubtful.len();
        if look.block(&par.body, false).is_none() {
            return false;
        }
        if look.doubtful.len() == before {
            break;
        }
    }
    // Without anything doubtful there was no angle.
    !look.doubtful.is_empty() && !reads_what_it_writes(program, numbers, par)
}

/// Whether a kernel reads buffers of others that it writes.
fn reads_what_it_writes(program: &Program<Cpu>, numbers: &Numbers, par: &Par<Cpu>) -> bool {
    let accesses = Accesses::of(&par.body.stmts);
    let private: ValueSet = par.privates().collect();
    let of = |kind| {
        let found = accesses.outside().filter(move |access| access.kind == kind);
        let found = found.filter(|access| !private.contains(&access.place));
        found.collect::<Vec<_>>()
    };
    let is_same = |value| {
        let is_bound = par.body.params.contains(&value) || accesses.binds(&value);
        !is_bound && !program.elem(value).is_float()
    };
    let meet = |read: At<'_>, write: At<'_>| match (read, write) {
        (At::Element(read), At::Element(write)) => !numbers.are_apart(read, write, is_same),
        _ => true,
    };
    let (read, written) = (of(Kind::Read), of(Kind::Write));
    let same = || {
        let pairs = |read| written.iter().map(move |write| (read, write));
        let pairs = read.iter().flat_map(pairs);
        pairs.filter(|(read, write)| read.place == write.place)
    };
    let meets = same().any(|(read, write)| meet(read.at, write.at));
    #[cfg(test)]
    if !meets && same().next().is_some() {
        crate::testing::entered::enter(&crate::testing::entered::BET_BESIDE);
    }
    meets
}

/// What is found out about a body.
struct Look<'p> {
    program: &'p Program<Cpu>,
    numbers: &'p Numbers,
    /// Places that are made anew for each piece or iteration.
    own: ValueSet,
    /// Values computed of angles, and places that hold some.
    doubtful: ValueSet,
}

impl Look<'_> {
    fn is_doubtful(&self, values: &[ValueId]) -> bool {
        values.iter().any(|value| self.doubtful.contains(value))
    }

    /// Whether an extent is a number that the kernel computes of angles.
    fn is_doubtful_extent(&self, extent: Extent) -> bool {
        match self.numbers.resolve(extent) {
            Extent::Value(value) => self.doubtful.contains(&value),
            Extent::Const(_) | Extent::Size(_) => false,
        }
    }

    /// A change of places of the kernel's own, which come to hold something doubtful if it is;
    /// `None` if they are others'.
    fn changes(&mut self, places: &[ValueId], doubtful: bool) -> Option<()> {
        if doubtful {
            self.doubtful.extend(places);
        }
        places
            .iter()
            .all(|place| self.own.contains(place))
            .then_some(())
    }

    /// Looks at a block, which is run or not by a doubtful condition if `maybe`; `None` if a kernel
    /// that does this must not bet.
    fn block(&mut self, block: &Block<Cpu>, maybe: bool) -> Option<()> {
        block
            .stmts
            .iter()
            .try_for_each(|stmt| self.stmt(stmt, maybe))
    }

    fn stmt(&mut self, stmt: &Stmt<Cpu>, maybe: bool) -> Option<()> {
        // What is computed of something doubtful is as well.
        let operands = stmt.op.operands();
        let mut doubtful = self.is_doubtful(&operands);
        match &stmt.op {
            CpuOp::Const(_) | CpuOp::Select(..) | CpuOp::Get(_) | CpuOp::Load { .. } => {}
            CpuOp::Size(extent) => doubtful = self.is_doubtful_extent(*extent),
            CpuOp::Prim(prim, args) => {
                let elem = self.program.elem(args[0]);
                doubtful |= has_near(*prim, elem);
                if !self.may_be_doubtful(*prim, elem, doubtful, maybe) {
                    return None;
                }
            }
            CpuOp::Var(_) => {
                self.own.insert(stmt.results[0]);
            }
            CpuOp::Alloc { .. } | CpuOp::Copy(_) => {
                self.own.insert(stmt.results[0]);
                self.has_sure_extents(stmt.results[0], maybe)
                    .then_some(())?;
            }
            CpuOp::Store {
                buffer, indices, ..
            } => {
                if self.own.contains(buffer) {
                    self.changes(&[*buffer], doubtful || maybe)?;
                } else if maybe || self.is_doubtful(indices) {
                    return None;
                }
            }
            CpuOp::Combine { place, .. } | CpuOp::Set { place, .. } => {
                self.changes(&[*place], doubtful || maybe)?;
            }
            CpuOp::Swap(a, b) => self.changes(&[*a, *b], doubtful || maybe)?,
            CpuOp::For { extent, body, .. } => {
                self.is_sure_extent(*extent, maybe).then_some(())?;
                self.block(body, maybe)?;
            }
            CpuOp::Assert { cond, .. } => {
                if maybe || self.is_doubtful(&[*cond]) {
                    return None;
                }
            }
            CpuOp::While { cond, body } => {
                self.block(cond, maybe)?;
                if maybe || self.is_doubtful(&cond.results) {
                    return None;
                }
                self.block(body, maybe)?;
            }
            CpuOp::If {
                then, otherwise, ..
            } => {
                self.block(then, maybe || doubtful)?;
                self.block(otherwise, maybe || doubtful)?;
            }
            // What a library multiplies would be multiplied twice, which is most of what such a kernel does.
            CpuOp::Contract { .. } => return None,
            // The host's.
            CpuOp::Own(Own::Par(_) | Own::Tile(_) | Own::Multiversion(_)) => return None,
            // Bounds are made of what decides how often a loop runs.
            CpuOp::Own(Own::Bound { .. } | Own::Range { .. } | Own::Strips { .. }) => {
                if maybe || doubtful {
                    return None;
                }
                for inner in stmt.op.blocks() {
                    self.block(inner, maybe)?;
                }
            }
            CpuOp::Own(Own::Lanes { body, .. } | Own::Transpose { body, .. }) => {
                self.block(body, maybe)?;
            }
            CpuOp::Own(Own::Fold { place, .. }) => self.changes(&[*place], doubtful || maybe)?,
            CpuOp::Own(Own::ArgCombine { best, at, .. } | Own::ArgFold { best, at, .. }) => {
                self.changes(&[*best, *at], doubtful || maybe)?;
            }
        }
        if doubtful {
            self.doubtful.extend(&stmt.results);
        }
        Some(())
    }

    /// Whether a primitive may have operands that are doubtful, or be behind a condition that is.
    fn may_be_doubtful(&self, prim: Prim, elem: Elem, doubtful: bool, maybe: bool) -> bool {
        match prim {
            Prim::Call(_) => false,
            // That it is in range was known of what should have been computed.
            Prim::Trust(_) => !doubtful,
            Prim::Check(extent)
            | Prim::Wrap(extent)
            | Prim::ClampTo(extent)
            | Prim::Mirror(extent)
            | Prim::InRange(extent)
                if self.is_doubtful_extent(extent) =>
            {
                false
            }
            _ => !(prim.may_panic(elem) && (doubtful || maybe)),
        }
    }

    /// Whether nothing doubtful decides how large a number of iterations or of elements is, or
    /// whether there are so many.
    fn is_sure_extent(&self, extent: Extent, maybe: bool) -> bool {
        let counted = matches!(self.numbers.resolve(extent), Extent::Value(_));
        !(self.is_doubtful_extent(extent) || (counted && maybe))
    }

    fn has_sure_extents(&self, buffer: ValueId, maybe: bool) -> bool {
        let mut extents = self.program.ty(buffer).dims.iter();
        extents.all(|&extent| self.is_sure_extent(extent, maybe))
    }
}
