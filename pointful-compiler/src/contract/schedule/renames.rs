//! Arrays that are others under another name.
//!
//! A step that is written `x = for j in N { … }` where `x` is known along `i` gives the array over
//! `j`, read at `i`. Where only its elements in memory are wanted that is the same array: what
//! waits for it over `i` may as well be given what it reads, over `j`.

use super::facts::Facts;
use super::tasks::Delivery;
use crate::ir::AxisId;
use crate::ir::stages::bulk::BulkOp;

impl Facts<'_> {
    /// The array that has the same elements in the same order, and is not another one under new
    /// names of axes. `open`: axes whose names stay.
    pub(super) fn original(&self, mut wanted: Delivery, open: &[AxisId]) -> Delivery {
        while let Some(inner) = self.renamed(&wanted, open) {
            wanted = inner;
        }
        wanted
    }

    /// What an array is under its old names.
    fn renamed(&self, wanted: &Delivery, open: &[AxisId]) -> Option<Delivery> {
        let stmt = self.site(wanted.value)?;
        let BulkOp::Gather { table, at } = &stmt.op else {
            return None;
        };
        let within = self.site(*table).is_some() && self.home(*table) == self.home(wanted.value);
        if stmt.guard.is_some() || !within || !self.pads.is_empty() {
            return None;
        }
        let mut dims = wanted.dims.clone();
        for &(old, index) in at {
            let Some(BulkOp::Iota(new)) = self.site(index).map(|stmt| &stmt.op) else {
                return None;
            };
            let place = wanted.dims.iter().position(|axis| axis == new)?;
            if self.extent(old) != self.extent(*new) || open.contains(&old) {
                return None;
            }
            dims[place] = old;
        }
        // Every axis is there once, and none is left over.
        let axes = self.axes(*table);
        let one_to_one = (1..dims.len()).all(|k| !dims[..k].contains(&dims[k]));
        let all = dims.iter().all(|axis| axes.contains(axis))
            && axes
                .iter()
                .all(|axis| dims.contains(axis) || open.contains(axis));
        (one_to_one && all).then_some(Delivery {
            value: *table,
            dims,
        })
    }
}
