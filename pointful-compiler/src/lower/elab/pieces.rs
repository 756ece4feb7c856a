//! Accumulators with an operator of their own whose elements are put to at computed places.
//!
//! # The idea
//!
//! A loop that puts is one after the other. But its operator is associative, so the loop may be cut
//! into pieces of which each begins with the identity everywhere, in a table of its own; the tables
//! are combined in their order by a `reduce`. Pieces are as long as the sizes say and nothing else,
//! so the bits are the same on any number of threads. A piece does some sixteen times as much as its
//! table has elements, so tables of pieces are little beside what is put.
//!
//! ```text
//! %0 = loop %1: N (%2 = %h) {          %0 = for %3: P {
//!   … %2[at] ⊕ x[%1] …                   %4 = loop %5: L (%6 = identity) {
//! }                                        … %6[at] ⊕ x[%3 · l + %5] …
//!                                        }
//!                                      }
//!                                      %7 = fold (%h) %0 { ⊕ }
//! ```
//!
//! # Where it is not done
//!
//! - On the way back of a derivative: what an element contributes depends on those before it.
//! - In a loop that is parallel itself, or that carries the accumulator.

use super::loops::{Iteration, Order};
use super::monoid::own_of;
use super::value::Val;
use super::{Elab, Run};
use crate::ir::{Extent, Scalar, SpanId, ValueId};
use crate::lower::effects::{Effects, Path};
use crate::lower::hir::For;
use crate::lower::types::{Set, Ty};
use crate::ops::Prim;

/// What a piece puts for each element of its table.
const PER_ELEMENT: u64 = 16;

/// What a piece puts at least.
const LEAST: u64 = 4096;

/// The two, as far as tests do not ask for less: what they run is small.
fn sizes() -> (u64, u64) {
    #[cfg(test)]
    if let Some(sizes) = crate::testing::entered::PIECES_OF.get() {
        return sizes;
    }
    (PER_ELEMENT, LEAST)
}

/// A loop in pieces.
struct Pieces {
    /// By axis of the loop: how long a piece is along it.
    lengths: Vec<ValueId>,
    /// By axis: how many there are along it.
    counts: Vec<ValueId>,
}

impl<'a> Elab<'a> {
    /// Whether a loop that carries these accumulators, and nothing else, is cut into pieces.
    pub(super) fn goes_in_pieces(
        &self,
        f: &For,
        axes: &[Extent],
        states: &[Path],
        effects: &Effects<'_>,
    ) -> bool {
        let begins_here = |path: &Path| {
            let val = self.frame.env[path.0.0 as usize].as_ref();
            let own = val.filter(|_| path.1.is_empty()).and_then(own_of);
            own.is_some_and(|(own, axes)| axes == 0 && own.block == self.serial())
        };
        let known = axes.iter().try_fold(1_u64, |total, axis| match axis {
            Extent::Const(n) => Some(total.saturating_mul(*n)),
            Extent::Size(_) | Extent::Value(_) => None,
        });
        let is_short = effects.inmost().is_empty() && known.is_some_and(|total| total < sizes().1);
        !states.is_empty()
            && states.iter().all(begins_here)
            && self.ty(&f.value) == Ty::UNIT
            && f.checkpoint.is_none()
            && !f.reverse
            && !is_short
            && self.parallel + self.backwards + self.operators == 0
    }

    /// Runs it so, given an iteration.
    pub(super) fn in_pieces(
        &mut self,
        axes: &[Extent],
        states: &[Path],
        effects: &Effects<'_>,
        span: SpanId,
        iteration: &mut Iteration<'_, 'a>,
    ) -> Run<Vec<ValueId>> {
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::PIECES);
        let mut before = Vec::new();
        for path in states {
            before.push(self.read(path, span)?);
        }
        let length = self.piece_length(&before, effects, span)?;
        let pieces = self.cut(axes, length, span)?;
        let mut count = self.usize(1, span);
        for &along in &pieces.counts {
            count = self.prim(Prim::Mul, &[count, along], span)?;
        }
        let count = self.extent_of(count);
        let mut tables = self.tabulate(&[count], span, &mut |s, at| {
            for (path, whole) in states.iter().zip(&before) {
                s.begin_own(path, whole, span)?;
            }
            let firsts = s.firsts(&pieces, at[0], span)?;
            let extents = s.rest_of(&pieces, &firsts, axes, span)?;
            let mut indices = Vec::new();
            let order = Order::FORWARDS;
            s.nest(&extents, order, states, &mut indices, span, &mut |s, at| {
                let mut members = Vec::new();
                for ((&first, &step), &axis) in firsts.iter().zip(at).zip(axes) {
                    let step = s.cast(step, Scalar::Usize, span)?;
                    let number = s.prim(Prim::Add, &[first, step], span)?;
                    members.push(s.trust(number, axis, span)?);
                }
                iteration(s, &members)
            })?;
            s.state_leaves(states, span)
        })?;
        for (path, whole) in states.iter().zip(&before).rev() {
            let count_of = self.leaves(whole, span)?.len();
            let made = tables.split_off(tables.len().saturating_sub(count_of));
            self.end_own(path, whole, (made, &[count]), span)?;
        }
        Ok(tables)
    }

    /// How many iterations a piece has.
    fn piece_length(
        &mut self,
        accums: &[Val<'a>],
        effects: &Effects<'_>,
        span: SpanId,
    ) -> Run<ValueId> {
        let mut elements = self.usize(0, span);
        for accum in accums {
            for leaf in self.leaves(accum, span)? {
                let dims = self.program.ty(leaf).dims.clone();
                let total = self.total(&dims, span)?;
                elements = self.prim(Prim::Add, &[elements, total], span)?;
            }
        }
        let (each, least) = sizes();
        let (each, least) = (self.usize(each, span), self.usize(least, span));
        let most = self.prim(Prim::Mul, &[elements, each], span)?;
        let most = self.prim(Prim::Max, &[most, least], span)?;
        // Loops inside put so often.
        let mut inside = Vec::new();
        for set in effects.inmost() {
            if self.is_known(set) {
                inside.extend(self.space(set, span)?.axes());
            }
        }
        let inside = self.total(&inside, span)?;
        let inside = self.at_least_one(inside, span)?;
        let length = self.prim(Prim::Div, &[most, inside], span)?;
        self.at_least_one(length, span)
    }

    /// Whether a set is more than what a loop inside runs over.
    fn is_known(&self, set: &Set) -> bool {
        match self.functions[self.frame.function].solver.set(set) {
            Set::Product(parts) | Set::Record(_, parts) => parts.iter().all(|p| self.is_known(p)),
            Set::Either(a, b) => self.is_known(&a) && self.is_known(&b),
            set @ Set::Var(_) => self.frame.inner.contains_key(&set),
            Set::Param(_) | Set::Named(_) | Set::Fin(_) | Set::Bool => true,
            Set::Ragged(_, lengths) => self.is_known(&lengths),
            Set::Range(_) | Set::Row(..) | Set::Error => false,
        }
    }

    /// Cuts axes into pieces of so many points, which follow each other row by row: of several
    /// rows, or else of a part of one.
    fn cut(&mut self, axes: &[Extent], mut length: ValueId, span: SpanId) -> Run<Pieces> {
        let (mut lengths, mut counts) = (Vec::new(), Vec::new());
        let one = self.usize(1, span);
        for &axis in axes.iter().rev() {
            let size = self.size(axis, span);
            let row = self.at_least_one(size, span)?;
            let along = self.prim(Prim::Min, &[length, row], span)?;
            let above = self.prim(Prim::Sub, &[along, one], span)?;
            let above = self.prim(Prim::Add, &[size, above], span)?;
            counts.push(self.prim(Prim::Div, &[above, along], span)?);
            lengths.push(along);
            length = self.prim(Prim::Div, &[length, row], span)?;
            length = self.at_least_one(length, span)?;
        }
        lengths.reverse();
        counts.reverse();
        Ok(Pieces { lengths, counts })
    }

    /// Where a piece begins along each axis.
    fn firsts(&mut self, pieces: &Pieces, piece: ValueId, span: SpanId) -> Run<Vec<ValueId>> {
        let mut rest = self.cast(piece, Scalar::Usize, span)?;
        let mut firsts = Vec::new();
        let along = pieces.lengths.iter().zip(&pieces.counts).enumerate();
        for (k, (&length, &count)) in along.rev() {
            let mut place = rest;
            if k > 0 {
                place = self.prim(Prim::Rem, &[rest, count], span)?;
                rest = self.prim(Prim::Div, &[rest, count], span)?;
            }
            firsts.push(self.prim(Prim::Mul, &[place, length], span)?);
        }
        firsts.reverse();
        Ok(firsts)
    }

    /// What a piece that begins there runs over: the last ones along an axis may be shorter.
    fn rest_of(
        &mut self,
        pieces: &Pieces,
        firsts: &[ValueId],
        axes: &[Extent],
        span: SpanId,
    ) -> Run<Vec<Extent>> {
        let mut extents = Vec::new();
        for ((&length, &first), &axis) in pieces.lengths.iter().zip(firsts).zip(axes) {
            let size = self.size(axis, span);
            let left = self.prim(Prim::Sub, &[size, first], span)?;
            let count = self.prim(Prim::Min, &[length, left], span)?;
            extents.push(self.extent_of(count));
        }
        Ok(extents)
    }

    fn at_least_one(&mut self, number: ValueId, span: SpanId) -> Run<ValueId> {
        let one = self.usize(1, span);
        self.prim(Prim::Max, &[number, one], span)
    }
}
