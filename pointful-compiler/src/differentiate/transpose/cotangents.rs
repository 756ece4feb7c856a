//! Cotangents: what is known of each value, and what waits to be added to it.

use super::{Pending, StandIn, Sum, Transpose};
use crate::ir::stages::bulk::BulkOp;
use crate::ir::{AxisId, Extent, Monoid, ValueId};
use crate::ops::Prim;

impl Transpose<'_> {
    pub(super) fn known(&mut self, value: ValueId) -> Option<ValueId> {
        self.top().cotangents.get(&value).copied()
    }

    /// The cotangent of a value so far; of one from outside, the state that holds it.
    pub(super) fn current(&mut self, value: ValueId) -> Option<ValueId> {
        let frame = self.frames.len() - 1;
        self.current_in(frame, value)
    }

    pub(super) fn current_in(&mut self, frame: usize, value: ValueId) -> Option<ValueId> {
        if let Some(&cotangent) = self.frames[frame].cotangents.get(&value) {
            return Some(cotangent);
        }
        if self.frames[frame].bound.contains(&value) || frame == 0 {
            return None;
        }
        let own = self.b.dims(value);
        let lanes = self.frames[frame].lanes.clone();
        let continued = lanes.iter().all(|lane| own.contains(lane));
        let before = if continued {
            self.current_in(frame - 1, value)
        } else {
            None
        };
        let mut dims = lanes;
        dims.extend(
            own.iter()
                .copied()
                .filter(|axis| !dims.contains(axis))
                .collect::<Vec<_>>(),
        );
        let elem = self.b.program.elem(value);
        let state = self.b.param(elem, dims);
        let init = before.unwrap_or(ValueId(u32::MAX));
        self.frames[frame].sums.push(Sum {
            of: value,
            state,
            init,
            continued,
        });
        self.frames[frame].cotangents.insert(value, state);
        Some(state)
    }

    pub(super) fn set(&mut self, value: ValueId, cotangent: ValueId) {
        self.top().cotangents.insert(value, cotangent);
    }

    /// Adds to the cotangent of `of` what has been computed at each point of `space` (and of the
    /// lanes).
    pub(super) fn contribute(&mut self, of: ValueId, value: ValueId, space: &[AxisId]) {
        if !self.linear.contains(&of) {
            return;
        }
        let (own, lanes) = (self.b.dims(of), self.lanes());
        let mut over: Vec<AxisId> = Vec::new();
        for &axis in space {
            if !own.contains(&axis) && !lanes.contains(&axis) && !over.contains(&axis) {
                over.push(axis);
            }
        }
        let made = self.b.program.values.len();
        let value = self.b.behind(None, |b| b.sum(value, &over));
        let top = self.top();
        let is_param = top.bound.contains(&of) && !top.inside.contains(&of);
        if value.index() >= made && is_param {
            // What is returned is laid out as that of which it is the cotangent.
            self.b.lay_out(value, &own);
        }
        let sum = match self.current(of) {
            Some(before) => self.b.add(before, value),
            None => value,
        };
        self.set(of, sum);
    }

    /// Adds to the cotangent of `of` at computed places.
    pub(super) fn accumulate(&mut self, mut new: Pending) {
        if !self.linear.contains(&new.of) {
            return;
        }
        let lanes = self.lanes();
        // What is made here has a cotangent in each lane; and so has what gets more in one iteration than in another, which cannot be collected.
        if self.is_ragged(&new) {
            self.name_apart(&mut new);
            new.over.retain(|axis| !lanes.contains(axis));
        } else if self.top().bound.contains(&new.of) {
            new.over.retain(|axis| !lanes.contains(axis));
        }
        let mixes = new.over.iter().any(|axis| lanes.contains(axis));
        if mixes || self.one_each(&new) {
            return self.top().pending.push(new);
        }
        let before = self.current(new.of);
        // Outside of loops, what is accumulated over many points waits for nothing, and is added afterwards. Inside of them a table that is
        // cleared and added in each iteration would cost more than the few elements that change.
        let apart = self.frames.len() == 1 && !new.over.is_empty();
        let base = match before {
            Some(base) if !apart => base,
            _ => self.b.number(new.value, 0.0),
        };
        let Pending {
            of,
            at,
            over,
            value,
            mask,
        } = new;
        let sum = self.b.behind(None, |b| {
            b.emit(BulkOp::Scatter {
                monoid: Monoid::Add,
                base,
                at,
                over,
                value,
                mask,
            })
        });
        // It is laid out as that of which it is the cotangent.
        let order = self.b.dims(of);
        self.b.lay_out(sum, &order);
        let sum = match before {
            Some(before) if apart => self.b.behind(None, |b| b.map(Prim::Add, &[before, sum])),
            _ => sum,
        };
        self.set(of, sum);
    }

    /// Whether the innermost loop computes how much there is of what is added.
    fn is_ragged(&self, new: &Pending) -> bool {
        let Some(frame) = self.frames.last() else {
            return false;
        };
        let places = new.at.iter().map(|&(_, place)| place);
        let read = places.chain([new.value]).chain(new.mask);
        let axes = read.flat_map(|value| self.b.dims(value));
        let mut axes = axes.chain(new.over.iter().copied());
        axes.any(|axis| match self.b.extent(axis) {
            Extent::Value(length) => !self.outside(frame, length),
            Extent::Const(_) | Extent::Size(_) => false,
        })
    }

    /// Accumulates into a stand-in if that is along lanes.
    fn name_apart(&mut self, new: &mut Pending) {
        let lanes = self.lanes();
        let along = new.at.iter().map(|&(axis, _)| axis);
        let along: Vec<AxisId> = along.filter(|axis| lanes.contains(axis)).collect();
        if along.is_empty() {
            return;
        }
        let is_same = |stand_in: &StandIn| {
            stand_in.of == new.of
                && stand_in
                    .axes
                    .iter()
                    .map(|&(lane, _)| lane)
                    .eq(along.iter().copied())
        };
        let known = self
            .stand_ins
            .iter()
            .find(|(_, stand_in)| is_same(stand_in));
        let value = match known {
            Some((&value, _)) => value,
            None => {
                let named = |&lane: &AxisId| {
                    let name = self.b.program.decls.axes[lane.0 as usize].name.clone();
                    (lane, self.b.axis(&name, self.b.extent(lane)))
                };
                let axes: Vec<(AxisId, AxisId)> = along.iter().map(named).collect();
                let mut ty = self.b.program.ty(new.of).clone();
                ty.dims
                    .iter_mut()
                    .for_each(|axis| *axis = renamed(&axes, *axis));
                let value = self.b.param(ty.elem, ty.dims);
                self.linear.insert(value);
                let of = new.of;
                self.stand_ins.insert(value, StandIn { of, axes });
                value
            }
        };
        let axes = &self.stand_ins[&value].axes;
        new.at
            .iter_mut()
            .for_each(|(axis, _)| *axis = renamed(axes, *axis));
        new.of = value;
    }

    /// Adds what all lanes of a loop have made of a cotangent, at the points of `space`, once the
    /// loop has ended.
    pub(super) fn contribute_lanes(&mut self, of: ValueId, value: ValueId, space: &[AxisId]) {
        let lanes = self.lanes();
        let Some(StandIn { of: own, axes }) = self.stand_ins.get(&of) else {
            return self.contribute(of, value, space);
        };
        if axes.iter().any(|(lane, _)| lanes.contains(lane)) {
            return self.contribute(of, value, space);
        }
        let (own, axes) = (*own, axes.clone());
        // Other lanes may be as long as those say that the table is along.
        let kept = [self.b.dims(of), lanes].concat();
        let mut summed = space.to_vec();
        summed.retain(|axis| !kept.contains(axis));
        let value = self.b.behind(None, |b| {
            let sum = b.sum(value, &summed);
            let at = axes
                .iter()
                .map(|&(lane, axis)| (axis, b.emit(BulkOp::Iota(lane))));
            let at: Vec<(AxisId, ValueId)> = at.collect();
            b.gather(sum, &at)
        });
        let space = self.b.dims(own);
        self.contribute(own, value, &space);
    }

    /// Whether each iteration adds to a place of its own outside, and all places are new: then
    /// nothing is added up, and what the places get is collected.
    pub(super) fn one_each(&self, new: &Pending) -> bool {
        let Some(frame) = self.frames.last() else {
            return false;
        };
        let own = frame.index.and_then(|index| new.own_place(index));
        let outside = !frame.bound.contains(&new.of);
        own.is_some() && outside && new.over.is_empty() && !self.has_cotangent(new.of)
    }

    /// Whether something has been added to the cotangent of a value, here or around.
    pub(super) fn has_cotangent(&self, value: ValueId) -> bool {
        for frame in self.frames.iter().rev() {
            if frame.cotangents.contains_key(&value) {
                return true;
            }
            if frame.bound.contains(&value) {
                return false;
            }
        }
        false
    }
}

fn renamed(axes: &[(AxisId, AxisId)], axis: AxisId) -> AxisId {
    let found = axes.iter().find(|&&(lane, _)| lane == axis);
    found.map_or(axis, |&(_, other)| other)
}
