//! Accumulators: each `accumulate` becomes a new value of its accumulator.
//!
//! Under the axes `O` that were opened since the accumulator was made, `accumulate acc[e], v` is a
//! scatter over `O`. If the positions are indices of axes in `O`, or there are none, it is less
//! than that: a reduction along the other axes of `O`, combined with what was there. So the three
//! patterns (complete reduction, segmented reduction, histogram) are told apart here and nowhere
//! else. The identity contributes everywhere: a minimum that began as NaN and met nothing is +∞, in
//! whatever pieces the work is done.
//!
//! Inside a sequential loop an accumulator is treated in one of three ways:
//!
//! - **State.** If the loop runs once for all of `O`, the accumulator is one more state of it.
//! - **Collected.** If it runs in lanes that contribute to one accumulator, no lane can own it.
//!   What is accumulated (positions, values and the condition) is collected over the iterations,
//!   and one scatter after the loop takes it all in.
//! - **Local.** A `while` cannot collect, so each lane accumulates for itself, beginning with the
//!   identity, and the lanes are combined afterwards.

use super::context::{AxisSet, Lift, Lifted, Reach};
use crate::ir::stages::bulk::{BulkOp, Combine};
use crate::ir::{AxisId, Monoid, ValueId};

/// An accumulator whose `get` has not been reached.
#[derive(Clone, Debug)]
pub(super) struct Accumulator {
    pub(super) monoid: Monoid,
    pub(super) dims: Vec<AxisId>,
    /// How many `for`s were open where it was made.
    pub(super) open_at: usize,
    /// How many scopes were open where it was made.
    pub(super) scope_at: usize,
    /// What has been accumulated; nothing inside a loop that collects.
    pub(super) current: Option<ValueId>,
}

impl Accumulator {
    /// The place where it was made.
    pub(super) fn reach(&self) -> Reach {
        Reach {
            open: self.open_at,
            scopes: self.scope_at,
        }
    }
}

/// Values on their way into an accumulator.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) acc: ValueId,
    pub(super) at: Vec<(AxisId, ValueId)>,
    pub(super) value: ValueId,
    pub(super) mask: Option<ValueId>,
    /// Axes that contribute, beside those that are open.
    pub(super) over: Vec<AxisId>,
}

/// How a loop treats an accumulator of the outside.
#[derive(Debug)]
pub(super) enum Treatment {
    State,
    Collected,
    Local,
}

/// An accumulator inside a loop.
#[derive(Debug)]
pub(super) struct Entered {
    pub(super) acc: ValueId,
    pub(super) treatment: Treatment,
    /// As it was outside.
    pub(super) outside: Accumulator,
}

impl Lift<'_> {
    /// `accum monoid base`.
    pub(super) fn make_accumulator(&mut self, acc: ValueId, monoid: Monoid, base: ValueId) {
        let base = self.value(base);
        let dims = self.dims(acc);
        let mut current = self.aligned(&base, &dims);
        let elem = self.out.elem(current);
        let extremum = matches!(monoid, Monoid::Min | Monoid::Max);
        if extremum && elem.is_float() && self.literal(current).is_none() {
            let identity = self.constant(monoid.identity(elem.repr()));
            current = self.map(monoid.prim(), &[current, identity], &dims);
        }
        let made = Accumulator {
            monoid,
            dims,
            open_at: self.open.len(),
            scope_at: self.scopes.len(),
            current: Some(current),
        };
        self.accs.insert(acc, made);
    }

    /// `accumulate acc[indices], value`.
    pub(super) fn accumulate(&mut self, acc: ValueId, indices: &[ValueId], value: ValueId) {
        let Accumulator {
            dims,
            open_at,
            scope_at,
            ..
        } = self.accs[&acc].clone();
        let (selected, rest) = dims.split_at(indices.len());
        let mut at: Vec<(AxisId, ValueId)> = Vec::new();
        for (&dim, &index) in selected.iter().zip(indices) {
            at.push((dim, self.value(index).value));
        }
        // The rest of the accumulator is met point for point, unless a contributing loop goes by the name of one of its axes.
        let value = self.value(value);
        let mut taken: AxisSet = self.deps(&value);
        taken.extend(&self.open[open_at..]);
        let mut over = Vec::new();
        let mut want = Vec::new();
        for &dim in rest {
            if taken.contains(&dim) {
                let fresh = self.new_axis(self.axis_extent(dim), None);
                at.push((dim, self.iota(fresh)));
                over.push(fresh);
                want.push(fresh);
            } else {
                want.push(dim);
            }
        }
        let value = self.aligned(&value, &want);
        let mask = self.mask(scope_at);
        self.contribute(Pending {
            acc,
            at,
            value,
            mask,
            over,
        });
    }

    /// The condition under which a value is put somewhere at the current place; it is known that
    /// the first `base` scopes are entered.
    pub(super) fn mask(&mut self, base: usize) -> Option<ValueId> {
        let depth = self.scopes.len();
        let base = self.frames[self.frames.len() - 1].base_scope.max(base);
        (depth > base).then(|| self.scope_guard(depth - 1))
    }

    /// Combines values into an accumulator, or leaves it to the loop around the current place.
    pub(super) fn contribute(&mut self, mut new: Pending) {
        let accumulator = self.accs[&new.acc].clone();
        let Some(base) = accumulator.current else {
            let frame = self.frames.len() - 1;
            let local = &self.open[self.frames[frame].base_open..];
            new.over = [local, &new.over].concat();
            self.frames[frame].pending.push(new);
            return;
        };
        let over = [&self.open[accumulator.open_at..], &new.over].concat();
        let segments: Vec<Option<AxisId>> = new
            .at
            .iter()
            .map(|&(_, index)| self.iota_axis(index).filter(|axis| over.contains(axis)))
            .collect();
        let distinct = |axis: &Option<AxisId>| {
            axis.is_some() && segments.iter().filter(|other| *other == axis).count() == 1
        };
        let acc = new.acc;
        let current = if segments.iter().all(distinct) {
            let segments = segments.iter().copied().flatten().collect();
            self.reduction(base, &accumulator, new, over, segments)
        } else {
            self.scatter(base, &accumulator, new, over)
        };
        self.accs.insert(
            acc,
            Accumulator {
                current: Some(current),
                ..accumulator
            },
        );
    }

    /// Where every position is the index of an axis of its own: a reduction along the others.
    fn reduction(
        &mut self,
        base: ValueId,
        accumulator: &Accumulator,
        new: Pending,
        over: Vec<AxisId>,
        segments: Vec<AxisId>,
    ) -> ValueId {
        let mut value = new.value;
        let mut dims = segments.clone();
        dims.extend(&accumulator.dims);
        if let Some(mask) = new.mask {
            let scalar = self.out.elem(value).repr();
            let identity = self.constant(accumulator.monoid.identity(scalar));
            value = self.select(mask, value, identity, &dims, accumulator.scope_at);
        }
        let others: Vec<AxisId> = over.into_iter().filter(|a| !segments.contains(a)).collect();
        let positions: Vec<AxisId> = new.at.iter().map(|&(axis, _)| axis).collect();
        self.at(accumulator.reach(), |lift| {
            if !others.is_empty() {
                value = lift.reduce(accumulator.monoid, others, value, &dims);
            }
            let segmented = Lifted {
                value,
                dims: segments,
            };
            let value = lift.aligned(&segmented, &positions);
            lift.map(accumulator.monoid.prim(), &[base, value], &accumulator.dims)
        })
    }

    /// `reduce monoid axes value`.
    pub(super) fn reduce(
        &mut self,
        monoid: Monoid,
        axes: Vec<AxisId>,
        value: ValueId,
        dims: &[AxisId],
    ) -> ValueId {
        let mut left = self.axes_of(value);
        for &axis in &axes {
            left.extend(self.extent_axes(self.axis_extent(axis)));
        }
        for axis in &axes {
            left.remove(axis);
        }
        let elem = self.out.elem(value);
        let op = BulkOp::Reduce {
            combine: Combine::Monoid(monoid),
            axes: axes.clone(),
            operands: vec![value],
        };
        let placement = self.place(&op, &left, dims, &axes, false);
        self.define_at(op, elem, left, dims, placement)
    }

    /// Where positions are computed.
    fn scatter(
        &mut self,
        base: ValueId,
        accumulator: &Accumulator,
        new: Pending,
        mut over: Vec<AxisId>,
    ) -> ValueId {
        let mut at = new.at;
        // An axis of the accumulator that is the loop's own stays where it is.
        at.retain(|&(axis, index)| {
            let own = self.iota_axis(index) == Some(axis) && over.contains(&axis);
            if own {
                over.retain(|&other| other != axis);
            }
            !own
        });
        let mut axes = AxisSet::new();
        for value in at
            .iter()
            .map(|&(_, e)| e)
            .chain([new.value])
            .chain(new.mask)
        {
            axes.extend(self.axes_of(value));
        }
        for &axis in &over {
            axes.extend(self.extent_axes(self.axis_extent(axis)));
        }
        for axis in &over {
            axes.remove(axis);
        }
        axes.extend(self.axes_of(base));
        axes.extend(at.iter().map(|&(axis, _)| axis));
        let elem = self.out.elem(base);
        let op = BulkOp::Scatter {
            monoid: accumulator.monoid,
            base,
            at: at.clone(),
            over: over.clone(),
            value: new.value,
            mask: new.mask,
        };
        // Positions are computed whether or not there is anything along the axes that they are positions on.
        let mut points = axes.clone();
        for (axis, _) in &at {
            points.remove(axis);
        }
        let dims = &accumulator.dims;
        let mut kept = dims.clone();
        kept.retain(|dim| points.contains(dim) || !axes.contains(dim));
        let placement = self.at(accumulator.reach(), |lift| {
            let (level, mut taint) = lift.operands_of(&op, &axes, &over);
            taint.depth = taint.depth.min(accumulator.scope_at);
            let mut placement = lift.guarded(level, taint, &points, &kept);
            // Where nothing is accumulated there is what there was before, unless that is behind the guard as well.
            let before = lift.taint_of([base]);
            if placement.guard.is_none() {
                placement.taint = before;
            } else {
                #[cfg(test)]
                if placement.taint.depth > before.depth {
                    crate::testing::entered::enter(&crate::testing::entered::FILLED_BEHIND);
                }
                placement.taint.depth = placement.taint.depth.max(before.depth);
                placement.taint.nonempty.extend(&before.nonempty);
            }
            lift.settled(&mut placement.taint, dims);
            placement
        });
        self.define_at(op, elem, axes, &accumulator.dims, placement)
    }
}
