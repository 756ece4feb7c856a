//! Sums of products of two arrays: products of matrices, in any orientation and in batches, which a library multiplies.
//!
//! ```text
//! %0[i, j, k] = mul a, b             %0 = alloc f64[I, J]
//! %1[i, j] = reduce add [k] %0       contract %0[0, 1] = a[0, 2], b[2, 1]
//! ```
//!
//! # Which
//!
//! The sum runs along axes that both factors have, and each of them has an axis of the result that the other has not: so every element of a factor
//! is needed again and again, and a loop that computes one element of the result after the other would fetch it from memory each time. The factors are
//! arrays, or made arrays, which costs little beside the products. On matrices that are known to be small a call costs more than it saves.
//!
//! What is multiplied and the result become arrays, which they need not be if they are used up at once: with more axes than a matrix they might be
//! larger than memory. So they are matrices, or needed as a whole anyway, or no larger than a parameter.
//!
//! A library computes whole arrays on all threads, so what is in lanes or in a kernel stays a loop.

use std::collections::BTreeMap;

use super::build::{Builder, Location};
use super::facts::Facts;
use super::region::{Place, Region};
use super::tasks::TaskId;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::stages::kernels::{Along, KernelOp};
use crate::ir::{AxisId, Extent, Monoid, Param, Stmt, ValueId};
use crate::ops::Prim;

/// Elements that a matrix has at least along its rows, its columns and the summed axes, as far as that is known.
const LEAST: u64 = 8;

/// The factors of the products that a statement outside of all lanes sums up, if that is a contraction.
pub(super) fn contraction(facts: &Facts<'_>, stmt: &Stmt<Bulk>) -> Option<[ValueId; 2]> {
    let BulkOp::Reduce {
        combine: Combine::Monoid(Monoid::Add),
        axes: summed,
        operands,
    } = &stmt.op
    else {
        return None;
    };
    let (&result, &product) = (stmt.results.first()?, operands.first()?);
    let site = facts.site(product)?;
    let BulkOp::Map(Prim::Mul, args) = &site.op else {
        return None;
    };
    let &[left, right] = args.as_slice() else {
        return None;
    };
    let alone = facts.readers(product).len() == 1 && !facts.given(product);
    let same_block = facts.home(product) == facts.home(result);
    let guarded = stmt.guard.is_some() || site.guard.is_some();
    if !alone || !same_block || guarded || !facts.program.elem(result).is_float() {
        return None;
    }
    let [a, b] = [left, right].map(|factor| facts.axes(factor));
    let rows = a.iter().filter(|axis| !b.contains(axis));
    let columns = b.iter().filter(|axis| !a.contains(axis));
    let both = summed
        .iter()
        .all(|axis| a.contains(axis) && b.contains(axis));
    let large = |axes: &mut dyn Iterator<Item = &AxisId>| {
        let mut known = Some(1u64);
        let mut any = false;
        for &axis in axes {
            any = true;
            known = match (known, facts.extent(axis)) {
                (Some(known), Extent::Const(length)) => Some(known.saturating_mul(length)),
                _ => None,
            };
        }
        any && known.is_none_or(|known| known >= LEAST)
    };
    let matrices =
        large(&mut rows.clone()) && large(&mut columns.clone()) && large(&mut summed.iter());
    let all = a.iter().chain(b).chain(facts.axes(result));
    let regular = all.copied().all(|axis| facts.is_regular(axis));
    let given = rows
        .chain(columns)
        .all(|axis| facts.axes(result).contains(axis));
    let fits = |value: ValueId| {
        let axes = facts.axes(value);
        let covers = |param: &Param| {
            axes.iter()
                .all(|axis| facts.axes(param.value).contains(axis))
        };
        let mut params = facts.program.params.iter();
        axes.len() <= 2 || params.any(covers) || is_whole(facts, value, 16)
    };
    let stored = [result, left, right].into_iter().all(fits);
    (both && matrices && regular && given && stored).then_some([left, right])
}

/// Whether an array is needed as a whole, or one is that is computed of it point for point.
fn is_whole(facts: &Facts<'_>, value: ValueId, budget: u32) -> bool {
    let axes = facts.axes(value).len();
    let same = |stmt: &Stmt<Bulk>| {
        let pointwise = matches!(stmt.op, BulkOp::Map(..) | BulkOp::Select(..));
        pointwise && facts.axes(stmt.results[0]).len() == axes
    };
    let mut readers = facts.readers(value).iter();
    facts.given(value)
        || facts.is_gathered(value)
        || budget > 0
            && readers
                .any(|&(reader, _)| same(reader) && is_whole(facts, reader.results[0], budget / 2))
}

impl Facts<'_> {
    /// Whether the length of an axis is known before the program's first statement.
    fn is_regular(&self, axis: AxisId) -> bool {
        match self.extent(axis) {
            Extent::Const(_) | Extent::Size(_) => true,
            Extent::Value(_) => false,
        }
    }
}

impl<'p> Builder<'p> {
    /// Hands a contraction to the library.
    pub(super) fn contract(
        &mut self,
        region: &mut Region<'p>,
        task: TaskId,
        stmt: &'p Stmt<Bulk>,
        factors: [ValueId; 2],
    ) {
        let result = stmt.results[0];
        let place = match region.places[task].first() {
            Some(place) => place.clone(),
            None => {
                let place = self.place(result, None);
                self.locate(result, place.location(self.depth()));
                place
            }
        };
        if place.is_nowhere() {
            return;
        }
        let factors = factors.map(|factor| self.whole(factor));
        let mut numbers: BTreeMap<AxisId, usize> = BTreeMap::new();
        let mut number = |dims: &[AxisId]| {
            let number = |axis: &AxisId| {
                let next = numbers.len();
                Along::Axis(*numbers.entry(*axis).or_insert(next))
            };
            dims.iter().map(number).collect()
        };
        let along = [
            number(&place.dims),
            number(&factors[0].1),
            number(&factors[1].1),
        ];
        self.run_from(
            KernelOp::Contract {
                out: place.id,
                factors: factors.map(|(buffer, _)| buffer),
                along,
                add: false,
            },
            stmt.span,
        );
    }

    /// The buffer in which an array is, and its axes there; one is made if it is in none.
    fn whole(&mut self, value: ValueId) -> (ValueId, Vec<AxisId>) {
        if let Some(Location::Buffer { buffer, dims, .. }) = self.location(value).cloned() {
            return (buffer, dims);
        }
        let place: Place = self.place(value, None);
        self.fill(&place, value);
        (place.id, place.dims)
    }
}
