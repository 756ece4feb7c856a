//! Arrays that are zero but at one place for each point of their other axes, moved outwards.
//!
//! What is multiplied by such an array, read or summed of it, or cleared in it, has one place, too,
//! or none.

use std::collections::BTreeSet;

use super::{THROUGH, Walk};
use crate::ir::stages::bulk::{BulkOp, Combine};
use crate::ir::{AxisId, Elem, Extent, Lit, Monoid, Operation, Scalar, ValueId};
use crate::ops::Prim;

/// How many places an array may have that are looked at one by one.
const FEW: usize = 4;

/// How long an axis is of which several places are not looked at one by one.
const SHORT: u64 = 16;

/// An array that is zero but at one place for each point of its other axes.
#[derive(Clone)]
struct Spot {
    at: Vec<(AxisId, ValueId)>,
    value: ValueId,
    mask: Option<ValueId>,
}

impl Walk {
    /// The one place of a value.
    fn spot(&mut self, value: ValueId) -> Option<Spot> {
        if let Some(at) = self.identity(value) {
            let one = Lit::of(self.b.program.elem(value).repr(), 1.0);
            let value = self.emit(BulkOp::Const(one));
            let spot = Spot {
                at: vec![at],
                value,
                mask: None,
            };
            return self.is_within_lanes(&spot).then_some(spot);
        }
        let mut spots = self.spots(value)?;
        spots.pop().filter(|_| spots.is_empty())
    }

    /// Whether a place does not depend on which lane of a loop looks at it: a lane does not look at
    /// others.
    fn is_within_lanes(&self, spot: &Spot) -> bool {
        !(spot.at.iter()).any(|(axis, _)| self.lanes.contains(axis))
    }

    /// Where the ones of an identity matrix are: along an axis of which sums are taken, for each
    /// point of the other.
    fn identity(&self, value: ValueId) -> Option<(AxisId, ValueId)> {
        let Some(BulkOp::Map(Prim::Cast(Scalar::F32 | Scalar::F64), args)) = self.defs.of(value)
        else {
            return None;
        };
        let Some(BulkOp::Map(Prim::Eq, args)) = self.defs.of(args[0]) else {
            return None;
        };
        let iota = |value: ValueId| match self.defs.of(value) {
            Some(BulkOp::Iota(axis)) => Some(*axis),
            _ => None,
        };
        let (first, second) = (iota(args[0])?, iota(args[1])?);
        let places = [(second, args[0]), (first, args[1])];
        let along = |(axis, _): &(AxisId, ValueId)| self.summed.contains(axis);
        places.into_iter().find(along).filter(|_| first != second)
    }

    /// The value of an operation on an array with one place, or with few.
    pub(super) fn moved(&mut self, op: &BulkOp) -> Option<ValueId> {
        self.moved_one(op).or_else(|| self.moved_each(op))
    }

    /// The same of an array that is the sum of a few with one place each: what is linear in it is
    /// done to each of them.
    ///
    /// ```text
    /// %0[n, k] = scatter add 0 [k := %e] over [] %v     %0[k] = scatter add 0 [k := %e] over [n] %v
    /// %1[n, k] = scatter add %0 [k := %f] over [] %w    %1[k] = scatter add %0 [k := %f] over [n] %w
    /// %2[k] = reduce add [n] %1
    /// ```
    fn moved_each(&mut self, op: &BulkOp) -> Option<ValueId> {
        let linear = |value: &ValueId| match op {
            BulkOp::Map(Prim::Mul | Prim::MulAbsorb | Prim::Neg | Prim::Cast(_), _) => true,
            BulkOp::Map(Prim::Div | Prim::DivAbsorb, args) => args[0] == *value,
            BulkOp::Select(cond, ..) => cond != value,
            BulkOp::Gather { table, .. } => table == value,
            BulkOp::Scatter { value: added, .. } => added == value,
            BulkOp::Reduce { operands, .. } => operands.len() == 1,
            _ => false,
        };
        let mut operands = op.operands().into_iter().filter(linear);
        let (whole, spots) = operands.find_map(|value| Some((value, self.spots(value)?)))?;
        let once = op
            .operands()
            .iter()
            .filter(|&&value| value == whole)
            .count()
            == 1;
        if !once || spots.len() == 1 {
            return None;
        }
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::EACH);
        let mut all: Option<ValueId> = None;
        for spot in spots {
            let part = self.put(spot, |_, value| value);
            let mut each = op.clone();
            each.for_each_operand_mut(&mut |operand| {
                if *operand == whole {
                    *operand = part;
                }
            });
            if let (BulkOp::Scatter { base, .. }, Some(before)) = (&mut each, all) {
                *base = before;
                all = Some(self.moved_one(&each)?);
                continue;
            }
            let part = self.moved_one(&each)?;
            all = Some(match all {
                None => part,
                Some(before) => {
                    let sum = BulkOp::Map(Prim::Add, [before, part].into_iter().collect());
                    self.moved_one(&sum).unwrap_or_else(|| self.emit(sum))
                }
            });
        }
        all
    }

    /// The places of an array that has few, one at least.
    fn spots(&mut self, value: ValueId) -> Option<Vec<Spot>> {
        let (mut spots, mut rest) = (Vec::new(), value);
        while let Some(BulkOp::Scatter {
            monoid: Monoid::Add,
            base,
            at,
            over,
            value,
            mask,
        }) = self.defs.of(rest)
            && over.is_empty()
            && !at.is_empty()
            && spots.len() < FEW
        {
            spots.push(Spot {
                at: at.clone(),
                value: *value,
                mask: *mask,
            });
            rest = *base;
        }
        // A few short rows are added up as fast as anybody asks for places in them.
        let long = |(axis, _): &(AxisId, ValueId)| match self.b.extent(*axis) {
            Extent::Const(length) => length > SHORT,
            Extent::Size(_) | Extent::Value(_) => true,
        };
        let few = spots.len() == 1 || spots.iter().all(|spot| spot.at.iter().any(long));
        let moves = few && spots.iter().all(|spot| self.is_within_lanes(spot));
        spots.reverse();
        (!spots.is_empty() && moves && self.defs.is_zero(rest)).then_some(spots)
    }

    /// The value of an operation on an array with one place.
    fn moved_one(&mut self, op: &BulkOp) -> Option<ValueId> {
        match op {
            &BulkOp::Map(times @ (Prim::Mul | Prim::MulAbsorb), ref args) => {
                let (k, spot) = (0..2).find_map(|k| Some((k, self.spot(args[k])?)))?;
                self.stands_apart(&spot, &self.b.dims(args[1 - k]))?;
                let factor = self.read(args[1 - k], &spot);
                let times = self.times(times, [factor, spot.value]);
                Some(self.put(spot, |walk, value| walk.b.map(times, &[factor, value])))
            }
            BulkOp::Map(by @ (Prim::Div | Prim::DivAbsorb), args) => {
                let spot = self.spot(args[0])?;
                self.stands_apart(&spot, &self.b.dims(args[1]))?;
                let divisor = self.read(args[1], &spot);
                Some(self.put(spot, |walk, value| walk.b.map(*by, &[value, divisor])))
            }
            BulkOp::Map(Prim::Add, args) => self.added(args),
            BulkOp::Map(prim @ (Prim::Neg | Prim::Cast(Scalar::F32 | Scalar::F64)), args) => {
                let spot = self.spot(args[0])?;
                Some(self.put(spot, |walk, value| walk.b.map(*prim, &[value])))
            }
            BulkOp::Select(cond, then, otherwise) => {
                let k = [*otherwise, *then]
                    .into_iter()
                    .position(|v| self.defs.is_zero(v))?;
                let spot = self.spot([*then, *otherwise][k])?;
                self.stands_apart(&spot, &self.b.dims(*cond))?;
                let cond = self.read(*cond, &spot);
                Some(self.put(spot, |walk, value| {
                    let zero = walk.b.number(value, 0.0);
                    let sides = [[value, zero], [zero, value]][k];
                    walk.b.select(cond, sides[0], sides[1])
                }))
            }
            BulkOp::Gather { table, at } => self.read_of(*table, at),
            BulkOp::Update {
                table,
                at,
                value,
                mask,
            } if self.defs.is_zero(*value) => self.cleared(*table, at, *mask),
            BulkOp::Scatter {
                monoid: Monoid::Add,
                base,
                at,
                over,
                value,
                mask,
            } => {
                let joined = match over.is_empty() {
                    true => self.joined(*base, at, *value, *mask),
                    false => None,
                };
                joined.or_else(|| self.accumulated(*base, at, over, *value, *mask))
            }
            BulkOp::Reduce {
                combine: Combine::Monoid(Monoid::Add),
                axes,
                operands,
            } => self.summed_up(axes, operands[0]),
            _ => None,
        }
    }

    /// What has one place is added to what is accumulated anyway.
    fn added(&mut self, args: &[ValueId]) -> Option<ValueId> {
        let accumulated =
            |value: ValueId| matches!(self.defs.of(value), Some(BulkOp::Scatter { .. }));
        let axes = |value: ValueId| self.b.dims(value).into_iter().collect();
        let [one, other]: [BTreeSet<AxisId>; 2] = [args[0], args[1]].map(axes);
        if one != other || !args.iter().all(|&arg| accumulated(arg)) {
            return None;
        }
        let (k, spots) = [1, 0]
            .into_iter()
            .find_map(|k| Some((k, self.spots(args[k])?)))?;
        let dims = self.b.dims(args[0]);
        for spot in &spots {
            self.stands_apart(spot, &dims)?;
        }
        let add = |base, spot| self.added_at(base, spot);
        Some(spots.into_iter().fold(args[1 - k], add))
    }

    /// What is added in one more place. In a place that the base has it is added before.
    fn added_at(&mut self, base: ValueId, spot: Spot) -> ValueId {
        let Spot { at, value, mask } = spot;
        self.joined(base, &at, value, mask).unwrap_or_else(|| {
            self.emit(BulkOp::Scatter {
                monoid: Monoid::Add,
                base,
                at,
                over: Vec::new(),
                value,
                mask,
            })
        })
    }

    /// It is there if that is the place, along the axes that are read; along the others it still
    /// has one.
    fn read_of(&mut self, table: ValueId, at: &[(AxisId, ValueId)]) -> Option<ValueId> {
        let Spot {
            at: places,
            value,
            mask,
        } = self.spot(table)?;
        let moved: Vec<AxisId> = at.iter().map(|&(axis, _)| axis).collect();
        let kept = places.iter().filter(|(axis, _)| !moved.contains(axis));
        let kept: Vec<AxisId> = kept.map(|&(axis, _)| axis).collect();
        self.even(&kept, places.iter().map(|&(_, place)| place), &moved)?;
        self.even(&[], at.iter().map(|&(_, index)| index), &kept)?;
        // Where it is must not depend on where it is.
        let known = places.iter().map(|&(_, place)| place).chain(mask);
        let known: Vec<ValueId> = known.chain([value]).collect();
        let turns = |&(axis, index): &(AxisId, ValueId)| {
            self.b.dims(index).iter().any(|axis| kept.contains(axis))
                && known.iter().any(|&v| self.b.dims(v).contains(&axis))
        };
        if at.iter().any(turns) {
            return None;
        }
        let read = |axis: AxisId| at.iter().find(|(moved, _)| *moved == axis);
        let mask = mask.map(|mask| self.read_at(mask, at, &[], &mut { THROUGH }));
        let outer = std::mem::replace(&mut self.b.guard, mask);
        let value = self.b.gather(value, at);
        let (mut left, mut met) = (Vec::new(), Vec::new());
        for (axis, place) in places {
            let place = self.read_at(place, at, &[], &mut { THROUGH });
            match read(axis) {
                Some(&(_, index)) => met.push((place, index)),
                None => left.push((axis, place)),
            }
        }
        let mut spot = Spot {
            at: left,
            value,
            mask,
        };
        for (place, index) in met {
            let index = self.read(index, &spot);
            let here = self.b.map(Prim::Eq, &[place, index]);
            spot.mask = self.b.both(spot.mask, Some(here));
        }
        self.b.guard = outer;
        match spot.mask {
            Some(here) if spot.at.is_empty() => Some(self.picked(here, value)),
            Some(_) => Some(self.put(spot, |_, value| value)),
            None => None,
        }
    }

    /// What is cleared is there unless that is the place.
    fn cleared(
        &mut self,
        table: ValueId,
        at: &[(AxisId, ValueId)],
        mask: Option<ValueId>,
    ) -> Option<ValueId> {
        if at.is_empty() {
            return None;
        }
        let mut spot = self.spot(table)?;
        let moved: Vec<AxisId> = spot.at.iter().map(|&(axis, _)| axis).collect();
        let read = at.iter().map(|&(_, index)| index).chain(mask);
        self.even(&moved, read, &moved)?;
        let outer = std::mem::replace(&mut self.b.guard, spot.mask);
        let mut cleared = mask.map(|mask| self.read(mask, &spot));
        for &(axis, index) in at {
            let place = match spot.at.iter().find(|(place, _)| *place == axis) {
                Some(&(_, place)) => place,
                None => self.emit(BulkOp::Iota(axis)),
            };
            let index = self.read(index, &spot);
            let here = self.b.map(Prim::Eq, &[place, index]);
            cleared = self.b.both(cleared, Some(here));
        }
        let left = self.b.map(Prim::Not, &[cleared?]);
        self.b.guard = outer;
        spot.mask = self.b.both(spot.mask, Some(left));
        Some(self.put(spot, |_, value| value))
    }

    /// What is added in a place of a base that has few is added before: there is no place more.
    fn joined(
        &mut self,
        base: ValueId,
        at: &[(AxisId, ValueId)],
        value: ValueId,
        mask: Option<ValueId>,
    ) -> Option<ValueId> {
        let mut spots = self.spots(base)?;
        let same = |spot: &&mut Spot| spot.at == at && spot.mask == mask;
        let spot = spots.iter_mut().find(same)?;
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::JOINED);
        let first = spot.value;
        spot.value = (self.b).behind(mask, |b| b.map(Prim::Add, &[first, value]));
        let mut spots = spots.into_iter();
        let first = spots.next()?;
        let first = self.put(first, |_, value| value);
        Some(spots.fold(first, |base, spot| self.added_at(base, spot)))
    }

    /// What is accumulated of it is so from there only; along an axis that is not gone over it is
    /// accumulated there.
    fn accumulated(
        &mut self,
        base: ValueId,
        at: &[(AxisId, ValueId)],
        over: &[AxisId],
        value: ValueId,
        mask: Option<ValueId>,
    ) -> Option<ValueId> {
        let spot = self.spot(value)?;
        let own = |axis: &AxisId| spot.at.iter().any(|(place, _)| place == axis);
        if at.iter().any(|(axis, _)| own(axis) && !over.contains(axis)) {
            return None;
        }
        let moved: Vec<AxisId> = spot.at.iter().map(|&(axis, _)| axis).collect();
        let read = at.iter().map(|&(_, index)| index).chain(mask);
        self.even(&moved, read, &moved)?;
        let known = [base, value].map(|value| self.b.dims(value));
        self.stands_apart(&spot, &[over, &known[0], &known[1]].concat())?;
        let places = at.iter();
        let places = places.map(|&(axis, index)| (axis, self.read(index, &spot)));
        let mut places: Vec<(AxisId, ValueId)> = places.collect();
        let asked = mask.map(|mask| self.read(mask, &spot));
        let left = spot.at.iter().filter(|(axis, _)| !over.contains(axis));
        places.extend(left);
        let mask = self.b.both(spot.mask, asked);
        Some(self.emit(BulkOp::Scatter {
            monoid: Monoid::Add,
            base,
            at: places,
            over: over.iter().copied().filter(|axis| !own(axis)).collect(),
            value: spot.value,
            mask,
        }))
    }

    /// A sum has only the terms that are there.
    fn summed_up(&mut self, axes: &[AxisId], operand: ValueId) -> Option<ValueId> {
        let spot = self.spot(operand)?;
        self.stands_apart(&spot, axes)?;
        let Spot { at, value, mask } = spot;
        let dims = self.b.dims(operand);
        if axes.iter().any(|axis| !dims.contains(axis)) {
            return None;
        }
        let place = |axis: &AxisId| at.iter().any(|(place, _)| place == axis);
        let over: Vec<AxisId> = axes.iter().copied().filter(|a| !place(a)).collect();
        let left: Vec<_> = at
            .iter()
            .copied()
            .filter(|(place, _)| !axes.contains(place))
            .collect();
        if left.is_empty() {
            return Some(self.b.masked_sum(mask, value, &over));
        }
        let base = self.b.number(value, 0.0);
        self.defs.insert(base, BulkOp::Const(self.zero(value)));
        Some(self.emit(BulkOp::Scatter {
            monoid: Monoid::Add,
            base,
            at: left,
            over,
            value,
            mask,
        }))
    }

    /// The value where a condition holds, else zero.
    fn picked(&mut self, cond: ValueId, value: ValueId) -> ValueId {
        let zero = self.b.number(value, 0.0);
        self.defs.insert(zero, BulkOp::Const(self.zero(value)));
        let op = BulkOp::Select(cond, value, zero);
        match self.moved(&op) {
            Some(moved) => moved,
            None => self.emit(op),
        }
    }

    /// Nothing along these axes can be read at one place if how long one is depends on the place.
    fn stands_apart(&self, spot: &Spot, axes: &[AxisId]) -> Option<()> {
        let moved: Vec<AxisId> = spot.at.iter().map(|&(axis, _)| axis).collect();
        (!self.b.program.leans(axes, &moved)).then_some(())
    }

    /// Whether all these axes are equally long everywhere, and all these values, read at one place
    /// along `moved`, are so along their axes and are indices of what is.
    fn even(
        &self,
        axes: &[AxisId],
        values: impl Iterator<Item = ValueId>,
        moved: &[AxisId],
    ) -> Option<()> {
        let varies = |extent: Extent| match extent {
            Extent::Value(extent) => !self.b.dims(extent).is_empty(),
            Extent::Const(_) | Extent::Size(_) => false,
        };
        if axes.iter().any(|&axis| varies(self.b.extent(axis))) {
            return None;
        }
        for value in values {
            let index = match self.b.program.elem(value) {
                Elem::Index(extent) => varies(extent),
                Elem::Scalar(_) | Elem::Bound(_) => false,
            };
            if index || self.b.program.leans(&self.b.dims(value), moved) {
                return None;
            }
        }
        Some(())
    }

    /// Another array at the place.
    fn read(&mut self, value: ValueId, spot: &Spot) -> ValueId {
        let outer = std::mem::replace(&mut self.b.guard, spot.mask);
        let read = self.read_at(value, &spot.at, &[], &mut { THROUGH });
        self.b.guard = outer;
        read
    }

    /// Puts something else in the place.
    fn put(&mut self, spot: Spot, make: impl FnOnce(&mut Self, ValueId) -> ValueId) -> ValueId {
        let outer = std::mem::replace(&mut self.b.guard, spot.mask);
        let value = make(self, spot.value);
        self.b.guard = outer;
        let base = self.b.number(value, 0.0);
        self.defs.insert(base, BulkOp::Const(self.zero(value)));
        self.emit(BulkOp::Scatter {
            monoid: Monoid::Add,
            base,
            at: spot.at,
            over: Vec::new(),
            value,
            mask: spot.mask,
        })
    }
}
