//! What a merged accumulation becomes: its elements next to each other.

use std::collections::BTreeMap;

use super::{Common, Group, Piece, Walk, length};
use crate::ir::stages::bulk::BulkOp;
use crate::ir::{AxisId, Lit, Monoid, ValueId};
use crate::ops::Prim;

impl Walk {
    /// Adds a group to a sum.
    pub(super) fn put(&mut self, group: &Group, sum: Option<ValueId>, like: ValueId) -> ValueId {
        let table = self.table(group, like);
        let Common { at, over, mask, .. } = group.common.clone();
        if at.is_empty() {
            return self.plus(sum, table);
        }
        let base = match sum {
            Some(sum) if !group.apart => sum,
            _ => self.zero(like),
        };
        let scatter = self.emit(BulkOp::Scatter {
            monoid: Monoid::Add,
            base,
            at,
            over,
            value: table,
            mask,
        });
        let order = self.b.dims(like);
        self.b.lay_out(scatter, &order);
        if group.apart {
            self.plus(sum, scatter)
        } else {
            scatter
        }
    }

    pub(super) fn zero(&mut self, like: ValueId) -> ValueId {
        let zero = Lit::of(self.b.program.elem(like).repr(), 0.0);
        self.emit(BulkOp::Const(zero))
    }

    /// What a group accumulates, as a table over its axes.
    pub(super) fn table(&mut self, group: &Group, like: ValueId) -> ValueId {
        if group.common.at.is_empty() && group.is_moving() {
            let mut sum = None;
            for &scatter in &group.scatters {
                let value = self.compared(scatter);
                sum = Some(self.plus(sum, value));
            }
            return sum.unwrap_or_else(|| self.zero(like));
        }
        let mut places = BTreeMap::new();
        for (place, pieces) in &group.places {
            let mut sum = None;
            for piece in pieces {
                let value = self.piece(group, piece);
                sum = Some(self.plus(sum, value));
            }
            places.insert(place.as_slice(), sum.expect("something arrives"));
        }
        let zero = self.zero(like);
        self.pack(&group.common.axes, &places, zero)
    }

    /// A table of which these elements are not zero.
    pub(super) fn pack(
        &mut self,
        axes: &[AxisId],
        places: &BTreeMap<&[u64], ValueId>,
        zero: ValueId,
    ) -> ValueId {
        let Some((&axis, inner)) = axes.split_first() else {
            return places.values().next().copied().unwrap_or(zero);
        };
        if places.is_empty() {
            return zero;
        }
        let mut values = Vec::new();
        for k in 0..length(&self.b, axis) {
            let here = places.iter().filter(|(place, _)| place[0] == k);
            let here = here.map(|(place, &value)| (&place[1..], value)).collect();
            values.push(self.pack(inner, &here, zero));
        }
        self.emit(BulkOp::Pack { axis, values })
    }

    /// What is accumulated at one place for each point of what it has: there it is, and elsewhere
    /// is nothing. This need not be stored.
    pub(super) fn compared(&mut self, scatter: ValueId) -> ValueId {
        let Some(BulkOp::Scatter {
            at,
            value,
            mask,
            over,
            ..
        }) = self.defs.of(scatter).cloned()
        else {
            unreachable!("an accumulation");
        };
        let mut value = self.b.masked_sum(mask, value, &over);
        // Where there is nothing to go over nobody has asked for the place.
        let known = at.iter().all(|&(_, index)| self.b.is_specified(index));
        let asked = match known {
            true => None,
            false => self.b.reached(&over, &at, None),
        };
        for &(axis, index) in &at {
            let iota = self.emit(BulkOp::Iota(axis));
            let here = self.b.map(Prim::Eq, &[iota, index]);
            let here = self.b.both(asked, Some(here));
            value = self.b.masked(here, value);
        }
        value
    }

    /// What a piece is: summed over what is not left to an accumulation.
    pub(super) fn piece(&mut self, group: &Group, piece: &Piece) -> ValueId {
        let mut value = piece.value;
        if group.common.at.is_empty() {
            let Common { mask, over, .. } = &group.common;
            value = self.b.masked_sum(*mask, value, over);
        }
        let from: Vec<(AxisId, ValueId)> = piece
            .from
            .iter()
            .map(|&(axis, k)| (axis, self.index(axis, k)))
            .collect();
        value = self.b.gather(value, &from);
        for &(axis, k) in &piece.only {
            let iota = self.emit(BulkOp::Iota(axis));
            let index = self.index(axis, k);
            let here = self.b.map(Prim::Eq, &[iota, index]);
            value = self.b.masked(Some(here), value);
        }
        value
    }

    pub(super) fn index(&mut self, axis: AxisId, k: u64) -> ValueId {
        let number = self
            .b
            .usize(usize::try_from(k).expect("a place of a small table"));
        self.b.index(axis, number)
    }
}
