//! Parallel nests by parts of rows: pieces of any length, in any order; or by columns.

use std::ops::Range;

use super::memory::{Iteration, Memory, Toucher};
use super::{EvaluateOwn, Run, Slot};
use crate::eval::{EvalError, ScalarValue, combine, identity, mistyped};
use crate::ir::Monoid;
use crate::ir::stages::imperative::{Acc, Par};

/// The most rows, and parts of rows, that a piece has.
const MOST: usize = 3;

/// A piece of the work.
#[derive(Clone)]
enum Piece {
    /// Neighbouring points.
    Points(Range<usize>),
    /// Columns, of all rows.
    Columns(Range<usize>),
}

impl Piece {
    /// Neighbouring points of a nest of these extents, of each row if it is columns.
    fn points(&self, extents: &[usize]) -> Vec<Range<usize>> {
        match (self, extents) {
            (Self::Columns(Range { start, end }), [outer @ .., row]) => {
                let rows = 0..outer.iter().product();
                rows.map(|number| number * row + start..number * row + end)
                    .collect()
            }
            (Self::Points(points) | Self::Columns(points), _) => vec![points.clone()],
        }
    }
}

/// What copies of an accumulator hold, and where.
fn elements(acc: &Acc, copy: &Memory) -> Result<Vec<(usize, ScalarValue)>, EvalError> {
    let data = copy.to_data();
    let data = data.ok_or_else(|| mistyped(acc.private, "filled"))?;
    Ok(data.values.into_iter().enumerate().collect())
}

fn combine_all(
    monoid: Monoid,
    into: &mut Memory,
    elements: Vec<(usize, ScalarValue)>,
) -> Result<(), EvalError> {
    for (at, value) in elements {
        let before = into.load(at, Toucher::ANY)?;
        into.store(at, combine(monoid, before, value)?, Toucher::ANY)?;
    }
    Ok(())
}

/// A piece that is columns has changed nothing else in the tables that it shares with others.
fn own_columns<S: EvaluateOwn>(
    par: &Par<S>,
    columns: &Range<usize>,
    left: &[Memory],
) -> Result<(), EvalError> {
    for (acc, table) in par.accs.iter().zip(left) {
        let Some(&row) = table.shape.last() else {
            continue;
        };
        let data = (table.to_data()).ok_or_else(|| mistyped(acc.private, "filled"))?;
        let first = identity(acc.monoid, table.elem);
        let mut elements = data.values.iter().enumerate();
        if elements.any(|(at, &value)| !columns.contains(&(at % row)) && value != first) {
            return Err(EvalError::bug("a piece combines into another's column"));
        }
    }
    Ok(())
}

impl<S: EvaluateOwn> Run<'_, S> {
    /// A nest whose block is run for parts of rows.
    pub(super) fn rows(&mut self, par: &Par<S>) -> Result<(), EvalError> {
        if self.now != Toucher::ANY {
            return Err(EvalError::bug("a parallel nest inside another"));
        }
        let extents = par.extents.iter().map(|&extent| self.extent(extent));
        let extents = extents.collect::<Result<Vec<usize>, _>>()?;
        self.meter.counts.kernels += 1;
        self.nests += 1;
        let pieces = match par.by_columns && self.meter.order.below(2) == 0 {
            true => {
                #[cfg(test)]
                crate::testing::entered::enter(&crate::testing::entered::BY_COLUMNS);
                self.columns(&extents)
            }
            false => self.cut(&extents).into_iter().map(Piece::Points).collect(),
        };
        let mut left = vec![Vec::new(); pieces.len().max(1)];
        if pieces.is_empty() {
            left[0] = self.privates(par)?;
        }
        for number in self.meter.order.shuffled(pieces.len()) {
            let now = Iteration {
                nest: self.nests,
                number: number as u64,
            };
            left[number] = self.piece(par, &extents, &pieces[number].points(&extents), now)?;
            if let Piece::Columns(columns) = &pieces[number] {
                own_columns(par, columns, &left[number])?;
            }
        }
        self.merge(par, left)
    }

    /// Where the points of a nest are cut into pieces.
    fn cut(&mut self, extents: &[usize]) -> Vec<Range<usize>> {
        let points: usize = extents.iter().product();
        let row = extents.last().copied().unwrap_or(1);
        let (mut pieces, mut from) = (Vec::new(), 0);
        while from < points {
            let most = match self.meter.order.below(2) {
                0 => MOST,
                _ => MOST * row,
            };
            let to = points.min(from + 1 + self.meter.order.below(most));
            pieces.push(from..to);
            from = to;
        }
        pieces
    }

    /// Where the columns of a nest are cut, if it has points.
    fn columns(&mut self, extents: &[usize]) -> Vec<Piece> {
        let points: usize = extents.iter().product();
        let row = extents.last().copied().unwrap_or(1);
        let (mut pieces, mut from) = (Vec::new(), 0);
        while points > 0 && from < row {
            let to = row.min(from + 1 + self.meter.order.below(MOST));
            pieces.push(Piece::Columns(from..to));
            from = to;
        }
        pieces
    }

    /// What a piece leaves in its private copies.
    pub(super) fn piece(
        &mut self,
        par: &Par<S>,
        extents: &[usize],
        points: &[Range<usize>],
        now: Iteration,
    ) -> Result<Vec<Memory>, EvalError> {
        self.missed = par.speculates.then_some(false);
        loop {
            for (slot, copy) in par.privates().zip(self.privates(par)?) {
                self.values[slot.index()] = Slot::Private(copy);
            }
            self.now.nest = Some(now);
            for points in points {
                self.points(par, extents, points.clone())?;
            }
            self.now = Toucher::ANY;
            let left = self.left(par.privates())?;
            if self.missed.take() != Some(true) {
                return Ok(left);
            }
        }
    }

    /// The parts of rows of neighbouring points.
    fn points(
        &mut self,
        par: &Par<S>,
        extents: &[usize],
        points: Range<usize>,
    ) -> Result<(), EvalError> {
        let Some((&row, outer)) = extents.split_last() else {
            return self.block(&par.body);
        };
        let mut at = points.start;
        while at < points.end {
            let (number, from) = (at / row, at % row);
            let to = row.min(from + points.end - at);
            let mut rest = number;
            let (indices, bounds) = par.body.params.split_at(outer.len());
            for (&index, &extent) in indices.iter().zip(outer).rev() {
                self.values[index.index()] = Slot::Scalar(ScalarValue::Usize(rest % extent));
                rest /= extent;
            }
            for (&bound, value) in bounds.iter().zip([from, to]) {
                self.values[bound.index()] = Slot::Scalar(ScalarValue::Usize(value));
            }
            self.block(&par.body)?;
            at += to - from;
        }
        Ok(())
    }

    /// Private copies for a piece that has not begun: of what is combined into, then of what is
    /// folded.
    pub(super) fn privates(&mut self, par: &Par<S>) -> Result<Vec<Memory>, EvalError> {
        let mut copies = Vec::new();
        for acc in &par.accs {
            let target = self.memory(acc.target)?;
            let fill = Some(identity(acc.monoid, target.elem));
            let mut copy = Memory::new(target.elem, target.shape.clone(), fill, Toucher::ANY);
            copy.notes = (acc.notes && self.meter.order.below(2) == 0).then(Vec::new);
            copies.push(copy);
        }
        for fold in &par.folds {
            copies.extend(self.copies(fold)?);
        }
        Ok(copies)
    }

    /// Merges what pieces have left, in the order of the points, and then into the targets.
    pub(super) fn merge(&mut self, par: &Par<S>, left: Vec<Vec<Memory>>) -> Result<(), EvalError> {
        let mut pieces = left.into_iter();
        let mut merged = pieces.next().unwrap_or_default();
        for (acc, copy) in par.accs.iter().zip(&mut merged) {
            let notes = copy.notes.take().unwrap_or_default();
            combine_all(acc.monoid, copy, notes)?;
        }
        for later in pieces {
            let (accs, folds) = later.split_at(par.accs.len());
            for ((acc, earlier), later) in par.accs.iter().zip(&mut merged).zip(accs) {
                let elements = match &later.notes {
                    Some(notes) => notes.clone(),
                    None => elements(acc, later)?,
                };
                combine_all(acc.monoid, earlier, elements)?;
            }
            let (mut earlier, mut later) = (&mut merged[par.accs.len()..], folds);
            for fold in &par.folds {
                let (own, others) = earlier.split_at_mut(fold.targets.len());
                let (after, rest) = later.split_at(fold.targets.len());
                self.join(fold, own, after.to_vec())?;
                (earlier, later) = (others, rest);
            }
        }
        let folded = merged.split_off(par.accs.len().min(merged.len()));
        for (acc, copy) in par.accs.iter().zip(merged) {
            let target = self.memory(acc.target)?;
            let first = identity(acc.monoid, target.elem);
            let target = elements(acc, target)?;
            if acc.becomes && target.iter().any(|&(_, value)| value != first) {
                return Err(EvalError::bug("what a table holds is lost"));
            }
            for (at, value) in elements(acc, &copy)? {
                self.combine(acc.monoid, acc.target, at, value)?;
            }
        }
        let mut folded = folded.into_iter();
        for fold in &par.folds {
            let copies: Vec<Memory> = folded.by_ref().take(fold.targets.len()).collect();
            self.join_targets(fold, copies)?;
        }
        Ok(())
    }
}
