//! Owner computes: where each iteration of a loop changes a slice of a table of its own, it computes
//! the slice, and the table is what all of them give.
//!
//! ```text
//! %1 = loop %2: W (%3 = x) {              %1 = for %2: W {
//!   %4 = loop %5: H (%6 = %3) {             %3 = for %7: H { %8 = index x[%7, %2] yield %8 }
//!     %7 = index %6[%5, %2]                 %4 = loop %5: H (%6 = %3) {
//!     %8 = sin %7                    ▶        %7 = index %6[%5]
//!     %9 = update %6[%5, %2], %8              %8 = sin %7
//!     yield %9                                %9 = update %6[%5], %8
//!   }                                         yield %9
//!   yield %4                                }
//! }                                         yield %4
//!                                         }
//! ```
//!
//! Of the table on the right an index is exchanged with another. Iterations that share nothing else
//! follow in no order, a derivative keeps what an iteration needs and not the table, and it reads
//! where it would add up.
//!
//! # Which loops
//!
//! A table is *owned* if everything that reads or changes it in the loop does so at one place along
//! one axis, and the place is the loop's own index, or that and a number ([`distances`](super::distances)): other
//! iterations are elsewhere. If the places are not all of the axis, the others keep what they have;
//! they have to be almost all, of this axis and of the others. A loop that hands on anything else as
//! well stays as it is: `lower` has taken the tables of which its iterations have rows.
//!
//! # Why it is sound
//!
//! A *version* of a table is the state or what changes make of one; a *view* is what its first
//! indices select ([`legality`]). All versions in an iteration are alike but in the slice, so the
//! slice says what they are, and no other iteration reads or changes it. A check of a place that
//! may fail is no place of the loop's own, so that it stays.
//!
//! # What it costs
//!
//! Slices that are not all of an axis, or with which a loop begins, are copied from the table and to
//! it. A derivative is worth that; else only loops are taken in which such loops are loops that are
//! taken as well: what they compute is computed for the table.

mod legality;

use self::legality::Owned;
use super::distances::Distances;
use super::emit;
use super::interior::{Part, accumulates, loops};
use super::substitution::Subst;
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Elem, Extent, Operation, Program, SpanId, Stmt, Type, ValueId};
use crate::pass::Pass;

/// The pass.
pub const OWNER_COMPUTES: Pass<Point> = Pass {
    name: "owner_computes",
    about: "let iterations that change a slice of a table each compute it in any order",
    run: owner_computes,
};

/// Lets iterations that change a slice of a table each compute it in any order.
pub fn owner_computes(program: Program<Point>) -> Program<Point> {
    let distances = Distances::of(&program.body);
    let mut subst = Subst::new();
    let mut program = program.rewritten(|program, body| {
        let mut walk = Walk {
            program,
            distances: &distances,
            derived: false,
            subst: &mut subst,
        };
        walk.block(body);
    });
    subst.types(&mut program);
    program
}

struct Walk<'w> {
    program: &'w mut Program<Point>,
    distances: &'w Distances,
    /// Whether what is walked through is differentiated.
    derived: bool,
    subst: &'w mut Subst,
}

impl Walk<'_> {
    /// Outer loops before inner ones: what those own is less.
    fn block(&mut self, block: &mut Block<Point>) {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            let shared = self.shared(&mut stmt);
            let derived = self.derived;
            self.derived |= matches!(stmt.op, PointOp::Derive { .. });
            for inner in stmt.op.blocks_mut() {
                self.block(inner);
            }
            self.derived = derived;
            match shared {
                Some(shared) => self.tables(stmt, &shared, &mut stmts),
                None => stmts.push(stmt),
            }
        }
        block.stmts = stmts;
    }

    /// If each state of a loop is a table that the iterations share between them, makes it a `for`
    /// that reads slices which [`tables`](Self::tables) will make.
    fn shared(&mut self, stmt: &mut Stmt<Point>) -> Option<Shared> {
        let PointOp::Loop {
            extent,
            checkpoint: None,
            init,
            body,
            reverse,
        } = &mut stmt.op
        else {
            return None;
        };
        // Contributions arrive in the order of iterations.
        if init.is_empty() || (*reverse && accumulates(body)) {
            return None;
        }
        let owned = self.owned((*extent, body), init)?;
        let is_part = owned.iter().any(|owned| owned.first.is_some());
        let is_copied = |init: &[ValueId]| {
            let is_version = |value| owned.iter().any(|table| table.versions.contains_key(value));
            is_part || init.iter().any(is_version)
        };
        if !self.derived && !self.dissolves(body, &is_copied) {
            return None;
        }
        #[cfg(test)]
        {
            use crate::testing::entered::{OWNED, OWNED_MOST, enter};
            enter(&OWNED);
            if is_part {
                enter(&OWNED_MOST);
            }
        }
        body.params.truncate(1);
        for owned in &owned {
            owned.narrow(self.program, self.subst, body);
        }
        self.subst.block(body);
        let extent = *extent;
        let body = std::mem::take(body);
        let tables = stmt.results[..owned.len()].to_vec();
        for (result, owned) in stmt.results.iter_mut().zip(&owned) {
            let mut ty = self.program.ty(owned.state).clone();
            ty.dims.insert(0, extent);
            *result = self.program.value(ty, stmt.span);
        }
        stmt.op = PointOp::For { extent, body };
        Some(Shared { owned, tables })
    }

    /// The states of a loop, if the iterations share each of them.
    fn owned(&self, of: (Extent, &Block<Point>), init: &[ValueId]) -> Option<Vec<Owned>> {
        let mut slots = init.iter().enumerate();
        // Most loops end at the first.
        let first = Owned::of(self.program, self.distances, of, slots.next()?)?;
        let others = slots.map(|slot| Owned::of(self.program, self.distances, of, slot));
        std::iter::once(Some(first)).chain(others).collect()
    }

    /// Whether the loops in a block are such, too, as far as slices are copied for what they begin with.
    fn dissolves(&self, block: &Block<Point>, is_copied: &dyn Fn(&[ValueId]) -> bool) -> bool {
        block.stmts.iter().all(|stmt| {
            let dissolves = match &stmt.op {
                PointOp::Loop {
                    extent, init, body, ..
                } => !is_copied(init) || self.owned((*extent, body), init).is_some(),
                PointOp::While { init, .. } => !is_copied(init),
                _ => true,
            };
            let mut inner = stmt.op.blocks().into_iter();
            dissolves && inner.all(|block| self.dissolves(block, is_copied))
        })
    }

    /// Adds a loop that computes slices, with what these are before, and what makes tables of them.
    fn tables(&mut self, mut stmt: Stmt<Point>, shared: &Shared, stmts: &mut Vec<Stmt<Point>>) {
        let span = stmt.span;
        let is_interior = self.interior(&mut stmt, &shared.owned).is_some();
        let PointOp::For { extent, body } = &mut stmt.op else {
            return;
        };
        let extent = *extent;
        for owned in shared.owned.iter().filter(|_| !is_interior) {
            let mut first = Block::default();
            let place = self.place(owned, body.params[0], (&mut first, span));
            first
                .stmts
                .push(self.slice(owned, place, (owned.state, span)));
            body.stmts.splice(0..0, first.stmts);
        }
        let mut after = Vec::new();
        for ((result, owned), &table) in
            (stmt.results.iter_mut().zip(&shared.owned)).zip(&shared.tables)
        {
            match extent == owned.of && owned.axis == 0 {
                true => *result = table,
                false => after.push(self.table(owned, (*result, extent), (table, span))),
            }
        }
        stmts.push(stmt);
        stmts.extend(after);
    }

    /// Makes a loop without loops inside that has nearly all places of an axis one over the axis, of
    /// which the other places keep what they have ([`interior`](super::interior)).
    fn interior(&mut self, stmt: &mut Stmt<Point>, owned: &[Owned]) -> Option<()> {
        let PointOp::For { extent, body } = &mut stmt.op else {
            return None;
        };
        let part = Part {
            extent: *extent,
            first: owned[0].first?,
            of: owned[0].of,
        };
        let alike = |other: &Owned| (other.first, other.of) == (owned[0].first, owned[0].of);
        if !owned.iter().all(alike) || stmt.results.len() > owned.len() || loops(body) {
            return None;
        }
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::OWNED_INTERIOR);
        let span = stmt.span;
        let index = Type::scalar(Elem::Index(part.of));
        let place = self.program.value(index, span);
        let (mut slices, mut otherwise) = (Vec::new(), Block::default());
        for (owned, result) in owned.iter().zip(&mut stmt.results) {
            slices.push(self.slice(owned, place, (owned.state, span)));
            let mut ty = self.program.ty(owned.state).clone();
            let kept = self.program.value(ty.clone(), span);
            otherwise.stmts.push(self.slice(owned, place, (kept, span)));
            otherwise.results.push(kept);
            ty.dims.insert(0, part.of);
            *result = self.program.value(ty, span);
        }
        body.stmts.splice(0..0, slices);
        let inner = std::mem::take(&mut **body);
        let over = (&mut *self.program, self.distances);
        (*extent, **body) = (part.of, part.interior(over, inner, place, otherwise, span));
        Some(())
    }

    /// The statement that selects a slice of a table.
    fn slice(&mut self, owned: &Owned, place: ValueId, result: (ValueId, SpanId)) -> Stmt<Point> {
        self.nest(owned, owned.axis, result, &mut |walk, indices| {
            let mut into = Block::default();
            let indices = [indices, &[place]].concat();
            let value = emit::index(walk.program, owned.table, indices, (&mut into, result.1));
            into.results.push(value);
            into
        })
    }

    /// The statement that makes a table of slices over an extent, which may be the axis.
    fn table(
        &mut self,
        owned: &Owned,
        (slices, over): (ValueId, Extent),
        result: (ValueId, SpanId),
    ) -> Stmt<Point> {
        let (axis, span) = (owned.axis, result.1);
        self.nest(owned, axis + 1, result, &mut |walk, indices| {
            let (place, before) = (indices[axis], &indices[..axis]);
            let mut into = Block::default();
            let at = |index| [&[index], before].concat();
            let value = match owned.first {
                _ if over == owned.of => {
                    emit::index(walk.program, slices, at(place), (&mut into, span))
                }
                None => {
                    let index = emit::trust(walk.program, place, over, (&mut into, span));
                    emit::index(walk.program, slices, at(index), (&mut into, span))
                }
                Some(first) => {
                    let of = owned.of;
                    let part = Part {
                        extent: over,
                        first,
                        of,
                    };
                    let (cond, number) = part.member(walk.program, place, (&mut into, span));
                    let (mut then, mut otherwise) = (Block::default(), Block::default());
                    let index = emit::trust(walk.program, number, over, (&mut then, span));
                    let value = emit::index(walk.program, slices, at(index), (&mut then, span));
                    then.results.push(value);
                    let kept = emit::index(
                        walk.program,
                        owned.table,
                        indices.to_vec(),
                        (&mut otherwise, span),
                    );
                    otherwise.results.push(kept);
                    let ty = walk.program.ty(value).clone();
                    let (then, otherwise) = (Box::new(then), Box::new(otherwise));
                    let choice = PointOp::If {
                        cond,
                        then,
                        otherwise,
                    };
                    emit::op(walk.program, choice, ty, (&mut into, span))
                }
            };
            into.results.push(value);
            into
        })
    }

    /// The statement that makes a table over the leading axes of another by what is computed at each of
    /// their places.
    fn nest(
        &mut self,
        owned: &Owned,
        depth: usize,
        (result, span): (ValueId, SpanId),
        inner: &mut dyn FnMut(&mut Self, &[ValueId]) -> Block<Point>,
    ) -> Stmt<Point> {
        let over = &self.program.ty(owned.table).dims[..depth].to_vec();
        let indices: Vec<ValueId> = over
            .iter()
            .map(|extent| self.program.value(Type::scalar(Elem::Index(*extent)), span))
            .collect();
        let mut block = inner(self, &indices);
        for (depth, (&index, &extent)) in indices.iter().zip(over).enumerate().rev() {
            let mut ty = self.program.ty(block.results[0]).clone();
            ty.dims.insert(0, extent);
            block.params.push(index);
            let table = if depth == 0 {
                result
            } else {
                self.program.value(ty, span)
            };
            let body = Box::new(std::mem::take(&mut block));
            let stmt = Stmt::new(vec![table], PointOp::For { extent, body }, span);
            block.stmts.push(stmt);
            block.results.push(table);
        }
        let mut stmt = block
            .stmts
            .pop()
            .expect("the operation that gives the result");
        stmt.results = vec![result];
        stmt
    }

    /// Where an iteration has its slice.
    fn place(
        &mut self,
        owned: &Owned,
        index: ValueId,
        into: (&mut Block<Point>, SpanId),
    ) -> ValueId {
        let own = (index, owned.first.unwrap_or(0));
        emit::place(self.program, own, owned.of, into)
    }
}

/// A loop whose iterations share tables between them, and what these tables are after it.
struct Shared {
    owned: Vec<Owned>,
    tables: Vec<ValueId>,
}
