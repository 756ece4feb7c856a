//! The terms of a sum, and what is known of each.

use std::collections::BTreeSet;

use super::{Choice, Common, Known, Piece, Term, Walk};
use crate::differentiate::constant_indices::{Point, is_small, points};
use crate::ir::stages::bulk::BulkOp;
use crate::ir::{AxisId, Monoid, ValueId};
use crate::ops::Prim;

impl Walk {
    /// The terms of the sum that a value is.
    pub(super) fn terms(&self, sum: ValueId) -> Vec<Term> {
        let mut terms = Vec::new();
        let mut left = vec![sum];
        while let Some(value) = left.pop() {
            if self.defs.is_zero(value) {
                continue;
            }
            let own = value == sum || self.inner.contains(&value);
            match self.defs.of(value) {
                Some(BulkOp::Map(Prim::Add, args)) if own => left.extend(args.iter().rev()),
                Some(BulkOp::Scatter {
                    monoid: Monoid::Add,
                    base,
                    at,
                    over,
                    ..
                }) if own => {
                    let apart = self.defs.is_zero(*base);
                    let known = self.known(value);
                    let renames = |&(_, index): &(AxisId, ValueId)| {
                        matches!(self.defs.of(index), Some(BulkOp::Iota(_)))
                    };
                    terms.push(
                        if apart && known.is_none() && over.is_empty() && at.iter().all(renames) {
                            Term::Renamed(value)
                        } else {
                            Term::Scatter {
                                value,
                                apart,
                                known,
                            }
                        },
                    );
                    left.push(*base);
                }
                // It is read place by place: it does not matter who else reads it.
                Some(BulkOp::Pack { .. }) => terms.push(match self.written(value) {
                    Some(known) => Term::Pack(value, known),
                    None => Term::Other(value),
                }),
                Some(&BulkOp::Select(cond, then, otherwise)) if own => {
                    let choice = |when: bool, value: ValueId, other: ValueId| {
                        (self.defs.is_zero(other) && self.defs.is_anywhere(value))
                            .then_some(Choice { cond, when, value })
                    };
                    let choice =
                        choice(true, then, otherwise).or_else(|| choice(false, otherwise, then));
                    terms.push(match choice {
                        Some(choice) => Term::Chosen(value, choice),
                        None => Term::Other(value),
                    });
                }
                _ => terms.push(Term::Other(value)),
            }
        }
        terms
    }

    /// What is chosen by one condition, chosen once. It is merged with others of the same axes
    /// only, so that nothing is done more often.
    pub(super) fn chosen(&mut self, terms: &mut Vec<Term>) -> bool {
        let mut merged = false;
        let mut k = 0;
        while k < terms.len() {
            let Term::Chosen(like, Choice { cond, .. }) = terms[k] else {
                k += 1;
                continue;
            };
            let dims = |walk: &Self, value: ValueId| -> BTreeSet<AxisId> {
                walk.b.dims(value).into_iter().collect()
            };
            let own = dims(self, like);
            let joins = |walk: &Self, term: &Term| match term {
                Term::Chosen(value, choice) => choice.cond == cond && dims(walk, *value) == own,
                _ => false,
            };
            let mut sides = [None, None];
            let mut count = 0;
            let (group, rest): (Vec<Term>, Vec<Term>) =
                terms.drain(k..).partition(|term| joins(self, term));
            for term in &group {
                if let Term::Chosen(_, Choice { when, value, .. }) = *term {
                    count += 1;
                    let side = &mut sides[usize::from(!when)];
                    *side = Some(self.plus(*side, value));
                }
            }
            let value = if count > 1 {
                merged = true;
                let zero = self.zero(like);
                let [then, otherwise] = sides.map(|side| side.unwrap_or(zero));
                let order = self.b.dims(like);
                let value = self.emit(BulkOp::Select(cond, then, otherwise));
                self.b.lay_out(value, &order);
                value
            } else {
                like
            };
            terms.push(Term::Other(value));
            terms.extend(rest);
            k += 1;
        }
        merged
    }

    /// What an accumulation is, if some of its places are known.
    pub(super) fn known(&self, scatter: ValueId) -> Option<Known> {
        let Some(BulkOp::Scatter {
            at,
            over,
            value,
            mask,
            ..
        }) = self.defs.of(scatter)
        else {
            return None;
        };
        let mut common = Common {
            axes: Vec::new(),
            at: Vec::new(),
            over: Vec::new(),
            mask: *mask,
        };
        // What is known of the places, for all points of the axes along which they are known.
        let mut along: Vec<AxisId> = Vec::new();
        let mut tables = Vec::new();
        for &(axis, index) in at {
            let small = is_small(&self.b, axis);
            match self.defs.known(&self.b, index).filter(|_| small) {
                Some(table) => {
                    let anywhere = matches!(table.as_slice(), [(point, _)] if point.is_empty());
                    let dims = if anywhere {
                        Vec::new()
                    } else {
                        self.b.dims(index)
                    };
                    let new = dims.into_iter().filter(|dim| !along.contains(dim));
                    along.extend(new.collect::<Vec<_>>());
                    tables.push((axis, table));
                }
                None => common.at.push((axis, index)),
            }
        }
        if tables.is_empty() {
            return None;
        }
        tables.sort_by_key(|(axis, _)| *axis);
        common.axes = tables.iter().map(|(axis, _)| *axis).collect();
        let all = common.axes.iter().copied();
        points(&self.b, &all.collect::<Vec<_>>())?;
        common.over = over
            .iter()
            .copied()
            .filter(|axis| !along.contains(axis))
            .collect();
        let (from, only): (Vec<AxisId>, Vec<AxisId>) =
            along.iter().partition(|axis| over.contains(axis));
        let apart = |value: ValueId| !self.b.dims(value).iter().any(|axis| along.contains(axis));
        let rest = common.at.iter().map(|&(_, index)| index).chain(*mask);
        // What stays an accumulation must be one of all its pieces at once.
        if !common.at.is_empty() && (!rest.into_iter().all(apart) || !only.is_empty()) {
            return None;
        }
        let mut pieces = Vec::new();
        for point in points(&self.b, &along)? {
            let coordinate = |(_, table): &(AxisId, Vec<(Point, u64)>)| {
                let here = |(at, _): &&(Point, u64)| at.iter().all(|one| point.contains(one));
                table.iter().find(here).map(|(_, place)| *place)
            };
            let place: Vec<u64> = tables.iter().map(coordinate).collect::<Option<_>>()?;
            let part = |axes: &[AxisId]| {
                let of = |(axis, _): &&(AxisId, u64)| axes.contains(axis);
                point.iter().filter(of).copied().collect::<Point>()
            };
            let piece = Piece {
                value: *value,
                from: part(&from),
                only: part(&only),
            };
            pieces.push((place, piece));
        }
        Some(Known { common, pieces })
    }

    /// A table that has been written down, of few places.
    pub(super) fn written(&self, pack: ValueId) -> Option<Known> {
        let Some(BulkOp::Pack { axis, values }) = self.defs.of(pack) else {
            return None;
        };
        let common = Common {
            axes: vec![*axis],
            at: Vec::new(),
            over: Vec::new(),
            mask: None,
        };
        let filled = values
            .iter()
            .zip(0..)
            .filter(|(v, _)| !self.defs.is_zero(**v));
        let pieces = filled.map(|(&value, k)| {
            let piece = Piece {
                value,
                from: Point::new(),
                only: Point::new(),
            };
            (vec![k], piece)
        });
        let pieces = pieces.collect();
        is_small(&self.b, *axis).then_some(Known { common, pieces })
    }
}
