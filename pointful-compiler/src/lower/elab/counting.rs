//! Products of index sets that may have more members than can be counted.

use super::{Elab, Run};
use crate::interface::{Access, Carrier, ExtentSource};
use crate::ir::stages::point::PointOp;
use crate::ir::{Extent, Lit, Message, Scalar, SizeId, SpanId};
use crate::ops::Prim;

impl Elab<'_> {
    /// Has a loop over a product panic if that has more members than can be counted.
    ///
    /// Of sets that tables are over no product has: memory holds the tables, and time would not
    /// suffice for the loop.
    pub(super) fn countable_loop(&mut self, axes: &[Extent], span: SpanId) -> Run<()> {
        let known = |axis: &&Extent| !matches!(axis, Extent::Const(_));
        let over_table = |axis: &Extent| match axis {
            Extent::Size(size) => self
                .carriers_of(*size)
                .any(|carrier| matches!(carrier, Carrier::Table(_))),
            Extent::Const(_) | Extent::Value(_) => true,
        };
        if axes.iter().filter(known).count() < 2 || axes.iter().all(over_table) {
            return Ok(());
        }
        self.countable(axes, span)
    }

    /// Panics if a product has more members than can be counted, unless something over the product
    /// shows that it has not.
    pub(super) fn countable(&mut self, axes: &[Extent], span: SpanId) -> Run<()> {
        if axes.len() < 2 || self.is_carried(axes) {
            return Ok(());
        }
        let mut total = self.size(axes[0], span);
        for axis in &axes[1..] {
            let size = self.size(*axis, span);
            let one = self.usize(1, span);
            let most = self.lit(Lit::Int(Scalar::Usize, i128::from(u64::MAX)), span);
            // A product of nothing with anything is nothing.
            let divisor = self.prim(Prim::Max, &[total, one], span)?;
            let room = self.prim(Prim::Div, &[most, divisor], span)?;
            let cond = self.prim(Prim::Le, &[size, room], span)?;
            let op = PointOp::Assert {
                cond,
                message: Message::plain(
                    "a product of index sets has more members than can be counted",
                ),
                shown: Vec::new(),
            };
            self.emit(Vec::new(), op, span);
            total = self.prim(Prim::Mul, &[total, size], span)?;
        }
        Ok(())
    }

    /// Whether one argument carries all of these extents, as a table over the product does.
    fn is_carried(&self, axes: &[Extent]) -> bool {
        let sizes: Vec<SizeId> = axes
            .iter()
            .filter_map(|axis| match axis {
                Extent::Size(size) => Some(*size),
                Extent::Const(_) | Extent::Value(_) => None,
            })
            .collect();
        let values = axes.iter().any(|axis| matches!(axis, Extent::Value(_)));
        let Some(&first) = sizes.first() else {
            return !values;
        };
        let count =
            |all: &mut dyn Iterator<Item = SizeId>, size| all.filter(|s| *s == size).count();
        let carries_all = |carrier: &Carrier| {
            sizes.iter().all(|&size| {
                let sources = &mut self.sources();
                let carried = &mut sources
                    .filter_map(|(size, source)| same(&source.carrier, carrier).then_some(size));
                count(carried, size) >= count(&mut sizes.iter().copied(), size)
            })
        };
        !values && self.carriers_of(first).any(carries_all)
    }

    fn carriers_of(&self, wanted: SizeId) -> impl Iterator<Item = &Carrier> {
        let sources = self.sources().filter(move |(size, _)| *size == wanted);
        sources.map(|(_, source)| &source.carrier)
    }

    /// What carries which size.
    fn sources(&self) -> impl Iterator<Item = (SizeId, &ExtentSource)> {
        let first = (0..).map(SizeId).zip(&self.interface.extents);
        let again = self.interface.checks.iter();
        first.chain(again.map(|(size, source)| (*size, source)))
    }
}

/// Whether these are the same part of the same argument.
fn same(one: &Carrier, other: &Carrier) -> bool {
    let name = |carrier| match carrier {
        &Carrier::Table(Access { ref name, .. }) => (0, Some(name.clone())),
        &Carrier::Elements(Access { ref name, .. }) => (1, Some(name.clone())),
        &Carrier::Extent(Access { ref name, .. }) => (2, Some(name.clone())),
        Carrier::Static(_) => (3, None),
    };
    name(one) == name(other)
}
