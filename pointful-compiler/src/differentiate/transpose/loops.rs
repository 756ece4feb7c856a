//! Loops the other way.

use super::{Frame, Pending, Transpose, has};
use crate::differentiate::residuals::{as_member, kept_by_lanes};
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Block, Stmt, ValueId};

impl Transpose<'_> {
    /// A loop, in the other direction.
    pub(super) fn sequential(&mut self, stmt: Stmt<Bulk>) {
        let given: Vec<Option<ValueId>> = stmt
            .results
            .iter()
            .map(|&result| self.known(result))
            .collect();
        if given.iter().all(Option::is_none) {
            return;
        }
        let BulkOp::Loop {
            axis,
            reverse,
            mut lanes,
            init,
            body,
            ..
        } = stmt.op
        else {
            return;
        };
        let guard = self.b.guard.take();
        let around = self.lanes();
        let mut own = lanes.clone();
        own.retain(|lane| !around.contains(lane));
        for lane in around {
            if !lanes.contains(&lane) {
                lanes.push(lane);
            }
        }
        let (index, states) = (body.params[0], body.params[1..].to_vec());
        let along = axis;
        self.enter(lanes.clone(), &states);
        self.bind(&body.stmts);
        self.top().inside.insert(index);
        self.top().index = Some(index);
        let count = init.len();
        let turned: Vec<ValueId> = states
            .iter()
            .map(|&state| {
                let ty = self.b.program.ty(state).clone();
                let mut dims = lanes.clone();
                dims.extend(ty.dims.into_iter().filter(|axis| !lanes.contains(axis)));
                self.b.param(ty.elem, dims)
            })
            .collect();
        // What the lanes have in common has one cotangent, which one of them takes.
        let takers: Vec<Vec<ValueId>> = (stmt.results.iter().zip(&given).skip(count))
            .map(|(&result, given)| {
                let common = self.b.dims(result);
                let mut lanes = own.clone();
                lanes.retain(|lane| given.is_some() && !common.contains(lane));
                self.b.first(&lanes, guard)
            })
            .collect();
        self.b.enter();
        for (k, &value) in body.results.iter().enumerate() {
            let space = self.b.dims(value);
            if k < count {
                let space = [space, self.b.dims(turned[k])].concat();
                self.contribute(value, turned[k], &space);
            } else if let Some(collected) = given[k] {
                let mut now = self.b.gather(collected, &[(along, index)]);
                for &taker in &takers[k - count] {
                    now = self.b.masked(Some(taker), now);
                }
                let space = [space, self.b.dims(now)].concat();
                self.contribute(value, now, &space);
            }
        }
        self.block(body.stmts);
        let mut results = Vec::new();
        for &state in &states {
            let cotangent = match self.known(state) {
                Some(cotangent) => cotangent,
                None => self.b.number(state, 0.0),
            };
            results.push(cotangent);
        }
        let frame = self.frames.pop().expect("this block");
        results.extend(frame.sums.iter().map(|sum| frame.cotangents[&sum.of]));
        let mut collected: Vec<ValueId> = Vec::new();
        for pending in &frame.pending {
            let read = pending.at.iter().map(|&(_, place)| place);
            for value in read.chain([pending.value]).chain(pending.mask) {
                let own = value != index && !self.outside(&frame, value);
                if own && !collected.contains(&value) {
                    collected.push(value);
                }
            }
        }
        let fixed = results.len();
        let mut stmts = self.b.leave().primal;
        results.extend(kept_by_lanes(self.b, &mut stmts, &collected));

        let mut starts: Vec<ValueId> = Vec::new();
        for (k, &state) in turned.iter().enumerate() {
            starts.push(match given[k] {
                Some(cotangent) => cotangent,
                None => self.b.number(state, 0.0),
            });
        }
        let mut before = Vec::new();
        for sum in &frame.sums {
            let start = if sum.init == ValueId(u32::MAX) {
                self.b.number(sum.state, 0.0)
            } else {
                sum.init
            };
            before.push(start);
        }
        starts.extend(&before);
        self.b.guard = guard;
        let sums = frame.sums.iter().map(|sum| sum.state);
        let params: Vec<ValueId> = [index]
            .into_iter()
            .chain(turned.iter().copied())
            .chain(sums)
            .collect();
        // What the loop reads along its own axis has that axis, and so has its cotangent, which is a state now. A loop cannot have its own
        // axis in its states, so this one runs along another of the same length: that of a table of which each place gets what is collected,
        // or a new one.
        let mut own = (frame.pending.iter()).filter_map(|pending| pending.own_place(index));
        let free =
            |axis: &AxisId| !lanes.contains(axis) && !has(&self.b.program, &params, &stmts, *axis);
        let axis = own.find(free).unwrap_or_else(|| {
            let name = self.b.program.decls.axes[along.0 as usize].name.clone();
            self.b.axis(&name, self.b.extent(along))
        });
        let outs = self.b.emit_all(BulkOp::Loop {
            axis,
            reverse: !reverse,
            checkpoint: None,
            lanes: lanes.clone(),
            init: starts,
            body: Box::new(Block {
                params,
                stmts,
                results,
            }),
        });
        // What goes on takes the place of what was there before, so other sums of the same value are
        // added after it.
        let sums = frame.sums.iter().enumerate();
        let (continued, apart): (Vec<_>, Vec<_>) = sums.partition(|(_, sum)| sum.continued);
        for (k, sum) in continued.into_iter().chain(apart) {
            let out = outs[count + k];
            if sum.continued {
                let out = match guard {
                    Some(guard) => self.b.select(guard, out, before[k]),
                    None => out,
                };
                self.set(sum.of, out);
            } else {
                let out = self.b.masked(guard, out);
                let space = self.b.dims(sum.state);
                self.contribute_lanes(sum.of, out, &space);
            }
        }
        let arrays = &outs[fixed..];
        for &array in arrays {
            self.b.in_lanes(array, &lanes, axis);
        }
        for pending in frame.pending {
            let b = &mut *self.b;
            let mut outside = |value: ValueId| {
                if value == index {
                    return b.behind(None, |b| b.emit(BulkOp::Iota(axis)));
                }
                match collected.iter().position(|&other| other == value) {
                    Some(k) => arrays[k],
                    None => value,
                }
            };
            let value = outside(pending.value);
            let mask = pending.mask.map(&mut outside);
            let places: Vec<ValueId> = pending.at.iter().map(|&(_, at)| outside(at)).collect();
            let mask = self.b.behind(None, |b| b.both(guard, mask));
            let at = pending.at.iter().zip(places).map(|(&(axis, of), kept)| {
                let elem = self.b.program.elem(of);
                (axis, self.b.behind(mask, |b| as_member(b, kept, elem)))
            });
            let at: Vec<(AxisId, ValueId)> = at.collect();
            let mut over = pending.over.clone();
            let around = self.lanes();
            if let Some(own) = pending.own_place(index)
                && !over.iter().any(|axis| around.contains(axis))
            {
                // Each place gets what its own iteration gives.
                let mut value = self.b.masked(mask, value);
                if over.contains(&own) {
                    // All lanes along it send there what they have.
                    value = self.b.behind(None, |b| b.sum(value, &[own]));
                }
                if own != axis {
                    let here = self.b.behind(None, |b| b.emit(BulkOp::Iota(own)));
                    value = self.b.behind(None, |b| b.gather(value, &[(axis, here)]));
                }
                over.extend(self.b.dims(pending.of));
                self.contribute(pending.of, value, &over);
                continue;
            }
            over.push(axis);
            self.accumulate(Pending {
                of: pending.of,
                at,
                over,
                value,
                mask,
            });
        }
        for (k, &start) in init.iter().enumerate() {
            let value = self.b.masked(guard, outs[k]);
            let space = self.b.dims(turned[k]);
            self.contribute(start, value, &space);
        }
    }

    /// Whether a value comes from outside of a block that has been turned round.
    pub(super) fn outside(&self, frame: &Frame, value: ValueId) -> bool {
        !frame.inside.contains(&value) && value.index() < frame.mark
    }
}
