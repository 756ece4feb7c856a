//! Index-set splitting of accumulations: one whose mask says at which members of a short axis it
//! happens is one for each of them, without the mask. What goes to a place that is known then is
//! added up first, and put there.
//!
//! ```text
//! %0[q, x] = scatter add 0 [q := trust 3 1, x := wrap %i] over [r, x] %v where r == 1
//! ▶
//! %1[x] = gather %v [r := 1]
//! %2[x] = scatter add 0 [x := wrap %i] over [x] %1        which is a read, the shift back
//! %0[q, x] = scatter add 0 [q := 1] over [] %2
//! ```
//!
//! A switch over the directions of a lattice goes back as reads, as it went forwards.

use smallvec::smallvec;

use super::{THROUGH, Walk};
use crate::differentiate::constant_indices::{Point, is_small};
use crate::eval::ScalarValue;
use crate::ir::stages::bulk::BulkOp;
use crate::ir::{AxisId, Extent, Monoid, ValueId};
use crate::ops::Prim;

/// For how many members something is written down.
const FEW: usize = 2;

impl Walk {
    /// An accumulation at some members of a short axis, or at places of which some are known.
    pub(super) fn at_members(&mut self, op: &BulkOp) -> Option<ValueId> {
        let BulkOp::Scatter {
            monoid: Monoid::Add,
            base,
            at,
            over,
            value,
            mask,
        } = op
        else {
            return None;
        };
        let scatter = Scatter {
            base: *base,
            at: at.clone(),
            over: over.clone(),
            value: *value,
            mask: *mask,
        };
        let split = mask.and_then(|mask| {
            let mut axes = over.iter().copied().filter(|&axis| is_small(&self.b, axis));
            axes.find_map(|axis| Some((axis, self.members(mask, axis)?)))
        });
        match split {
            Some((axis, members)) if members.len() <= FEW => self.at_each(scatter, axis, &members),
            // If all places are, they will be written down.
            _ if scatter.at.iter().all(|&place| self.is_known(place)) => None,
            _ => self.at_known_place(scatter),
        }
    }

    fn is_known(&self, (axis, index): (AxisId, ValueId)) -> bool {
        is_small(&self.b, axis) && self.defs.value_at(index, &Point::new()).is_some()
    }

    /// What a mask asks at a member of an axis beside what holds there.
    fn rest_of_mask(
        &mut self,
        mask: Option<ValueId>,
        axis: AxisId,
        (member, index): (u64, ValueId),
    ) -> Option<ValueId> {
        let mut parts = Vec::new();
        self.conjuncts(mask?, &mut parts);
        let mut rest = None;
        for part in parts {
            if self.truth(part, &vec![(axis, member)]) != Some(true) {
                let part = self.at_member(part, axis, index);
                rest = self.b.both(rest, Some(part));
            }
        }
        rest
    }

    /// The members of a short axis at which a condition may hold, if it says so of each and holds
    /// not at all of them.
    fn members(&self, mask: ValueId, axis: AxisId) -> Option<Vec<u64>> {
        let Extent::Const(length) = self.b.extent(axis) else {
            return None;
        };
        let mut parts = Vec::new();
        self.conjuncts(mask, &mut parts);
        // Only what is known at all members says something.
        let known = parts.into_iter().filter_map(|part| {
            let truths = (0..length).map(|k| self.truth(part, &vec![(axis, k)]));
            truths.collect::<Option<Vec<bool>>>()
        });
        let mut holds = vec![true; usize::try_from(length).ok()?];
        for truths in known {
            for (holds, truth) in holds.iter_mut().zip(truths) {
                *holds &= truth;
            }
        }
        let members: Vec<u64> = (0..)
            .zip(&holds)
            .filter(|(_, holds)| **holds)
            .map(|(k, _)| k)
            .collect();
        (members.len() < holds.len()).then_some(members)
    }

    fn truth(&self, condition: ValueId, point: &Point) -> Option<bool> {
        match self.defs.value_at(condition, point)? {
            ScalarValue::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    /// What all has to hold for a condition to.
    fn conjuncts(&self, condition: ValueId, found: &mut Vec<ValueId>) {
        match self.defs.used(condition) {
            Some(BulkOp::Map(Prim::And, args)) => {
                args.iter().for_each(|&arg| self.conjuncts(arg, found));
            }
            _ => found.push(condition),
        }
    }

    /// One accumulation for each of these members.
    fn at_each(&mut self, scatter: Scatter, axis: AxisId, members: &[u64]) -> Option<ValueId> {
        let mut all = scatter.base;
        for &member in members {
            let point = vec![(axis, member)];
            let index = self.known_index(axis, i128::from(member))?;
            let mask = self.rest_of_mask(scatter.mask, axis, (member, index));
            let at = scatter.at.iter().map(|&(along, place)| {
                let known = self.defs.value_at(place, &point);
                let place = match known.and_then(|known| known.int()) {
                    Some(known) => self.known_index(along, known)?,
                    None => self.at_member(place, axis, index),
                };
                Some((along, place))
            });
            let at: Vec<_> = at.collect::<Option<_>>()?;
            let part = Scatter {
                base: all,
                at,
                over: scatter
                    .over
                    .iter()
                    .copied()
                    .filter(|&other| other != axis)
                    .collect(),
                value: self.at_member(scatter.value, axis, index),
                mask,
            };
            let op = part.clone().op();
            all = self
                .moved(&op)
                .or_else(|| self.shifted(&op))
                .or_else(|| self.at_members(&op))
                .or_else(|| self.at_known_place(part))?;
        }
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::SPLIT_MEMBERS);
        Some(all)
    }

    /// What goes to a place that is known: added up without it, if that is a read, and put there.
    fn at_known_place(&mut self, scatter: Scatter) -> Option<ValueId> {
        let places = scatter.at.iter().copied();
        let (known, rest): (Vec<_>, Vec<_>) = places.partition(|&place| self.is_known(place));
        if known.is_empty() {
            return None;
        }
        // A constant behind a condition has the condition's axes, which are added up along.
        let known = known.into_iter().map(|(axis, index)| {
            let number = self.defs.value_at(index, &Point::new())?.int()?;
            Some((axis, self.known_index(axis, number)?))
        });
        let known: Vec<_> = known.collect::<Option<_>>()?;
        let base = scatter.base;
        let value = if rest.is_empty() {
            self.b
                .masked_sum(scatter.mask, scatter.value, &scatter.over)
        } else {
            let zero = self.b.number(scatter.value, 0.0);
            self.defs
                .insert(zero, BulkOp::Const(self.zero(scatter.value)));
            let elsewhere = Scatter {
                base: zero,
                at: rest,
                ..scatter
            };
            self.shifted(&elsewhere.op())?
        };
        let put = Scatter {
            base,
            at: known,
            over: Vec::new(),
            value,
            mask: None,
        };
        Some(self.emit(put.op()))
    }

    /// A member of a short axis, as an index.
    fn known_index(&mut self, axis: AxisId, number: i128) -> Option<ValueId> {
        let extent = self.b.extent(axis);
        match extent {
            Extent::Const(length) if (0..i128::from(length)).contains(&number) => {}
            _ => return None,
        }
        let number = self.integer(number);
        Some(self.emit(BulkOp::Map(Prim::Trust(extent), smallvec![number])))
    }

    /// A value at a member of an axis.
    fn at_member(&mut self, value: ValueId, axis: AxisId, index: ValueId) -> ValueId {
        self.read_at(value, &[(axis, index)], &[], &mut { THROUGH })
    }
}

/// The parts of an accumulation that adds up.
#[derive(Clone)]
struct Scatter {
    base: ValueId,
    at: Vec<(AxisId, ValueId)>,
    over: Vec<AxisId>,
    value: ValueId,
    mask: Option<ValueId>,
}

impl Scatter {
    fn op(self) -> BulkOp {
        let Self {
            base,
            at,
            over,
            value,
            mask,
        } = self;
        BulkOp::Scatter {
            monoid: Monoid::Add,
            base,
            at,
            over,
            value,
            mask,
        }
    }
}
