//! How the arrays lie in memory that loops collect.
//!
//! The axes of an array in Bulk are in no order that means anything; where it is stored, the last
//! of them is the one along which its elements are neighbours. Most arrays are not stored, or are
//! as the author gave them. What a loop collects for the way back lies as its axes were opened, and
//! that is across what it is made of where a product is written by columns:
//!
//! ```text
//! for j { sum(for i { (x[i] + a[i][j]).exp() }) }      the exponentials: e[i, j], as `a` lies
//! ```
//!
//! So it is stored as most of what its elements are made of lies, and what is read of it again is
//! taken in the same order.
//!
//! A product of matrices may be written either way. It lies as the first array over the same axes:
//! `d[n, f] = Σ e[n, c] w[c, f]` as the layer `a[n, f]` does that it is an adjoint of, whatever the
//! order of its factors.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{Facts, on_demand};
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Block, Operation, Program, Stmt, ValueId, ValueMap};

/// How many definitions are looked through for what an array is made of.
const DEFINITIONS: usize = 64;

/// Better orders of the axes of collected arrays.
pub(super) fn orders(facts: &Facts<'_>) -> BTreeMap<ValueId, Vec<AxisId>> {
    let program = facts.program;
    let mut sites = ValueMap::new();
    note(&program.body, &mut sites);
    let mut orders = Orders {
        program,
        facts,
        sites,
        first: BTreeMap::new(),
        changed: BTreeMap::new(),
    };
    for param in &program.params {
        orders.meet(param.value);
    }
    orders.block(&program.body);
    orders.changed
}

/// The statements that bind values.
fn note<'p>(block: &'p Block<Bulk>, sites: &mut ValueMap<&'p Stmt<Bulk>>) {
    for stmt in &block.stmts {
        sites.extend(stmt.results.iter().map(|&result| (result, stmt)));
        for inner in stmt.op.blocks() {
            note(inner, sites);
        }
    }
}

struct Orders<'p> {
    program: &'p Program<Bulk>,
    facts: &'p Facts<'p>,
    sites: ValueMap<&'p Stmt<Bulk>>,
    /// How the first array over some axes lies.
    first: BTreeMap<BTreeSet<AxisId>, Vec<AxisId>>,
    /// Values whose axes are in another order.
    changed: BTreeMap<ValueId, Vec<AxisId>>,
}

impl<'p> Orders<'p> {
    fn dims(&self, value: ValueId) -> &[AxisId] {
        match self.changed.get(&value) {
            Some(dims) => dims,
            None => &self.program.ty(value).dims,
        }
    }

    fn block(&mut self, block: &'p Block<Bulk>) {
        for stmt in &block.stmts {
            if let BulkOp::Loop {
                init, lanes, body, ..
            } = &stmt.op
            {
                let collected = stmt.results.iter().zip(&body.results).skip(init.len());
                for (&result, &value) in collected {
                    if let Some(last) = self.last(value, lanes) {
                        self.end_with(result, last);
                    }
                }
            } else if let BulkOp::Scatter {
                base, at, value, ..
            } = &stmt.op
                && self.dims(*base).is_empty()
            {
                self.lie_as_scattered(stmt.results[0], at, *value);
            } else if let BulkOp::Scan { operands, .. } = &stmt.op {
                self.lie_as_scanned(&stmt.results, operands);
            } else if on_demand(&stmt.op) {
                self.follow(stmt);
            } else if self.facts.factors(stmt).is_some() {
                self.lie_as_first(stmt.results[0]);
            }
            for &result in &stmt.results {
                if self.facts.is_task(result) {
                    self.meet(result);
                }
            }
            for inner in stmt.op.blocks() {
                self.block(inner);
            }
        }
    }

    /// Notes how an array that is stored lies.
    fn meet(&mut self, value: ValueId) {
        let dims = self.dims(value).to_vec();
        if dims.len() > 1 {
            let axes = dims.iter().copied().collect();
            self.first.entry(axes).or_insert(dims);
        }
    }

    /// Ends a new array with the axis along which it is added to next to next.
    fn lie_as_scattered(&mut self, result: ValueId, at: &[(AxisId, ValueId)], value: ValueId) {
        let Some(last) = self.last(value, &[]) else {
            return;
        };
        let mut along = at.iter().filter(|&&(_, index)| self.dims(index) == [last]);
        if let Some(&(axis, _)) = along.next() {
            #[cfg(test)]
            if self.dims(result).last() != Some(&axis) {
                crate::testing::entered::enter(&crate::testing::entered::LIES_AS_ADDED);
            }
            self.end_with(result, axis);
        }
    }

    /// Gives what is scanned the order of a table that lies otherwise than it was made.
    fn lie_as_scanned(&mut self, results: &[ValueId], tables: &[ValueId]) {
        let mut changed = tables.iter().filter_map(|table| self.changed.get(table));
        let Some(order) = changed.next().cloned() else {
            return;
        };
        let axes: BTreeSet<AxisId> = order.iter().copied().collect();
        for &result in results {
            let own: BTreeSet<AxisId> = self.dims(result).iter().copied().collect();
            if own == axes {
                #[cfg(test)]
                crate::testing::entered::enter(&crate::testing::entered::LIES_AS_SCANNED);
                self.changed.insert(result, order.clone());
            }
        }
    }

    /// Gives an array the order of the first one over the same axes.
    fn lie_as_first(&mut self, value: ValueId) {
        let axes: BTreeSet<AxisId> = self.dims(value).iter().copied().collect();
        if let Some(dims) = self.first.get(&axes)
            && dims != self.dims(value)
        {
            self.changed.insert(value, dims.clone());
        }
    }

    /// Moves an axis of an array to its end.
    fn end_with(&mut self, value: ValueId, last: AxisId) {
        let mut dims = self.dims(value).to_vec();
        if dims.last() != Some(&last) {
            dims.retain(|axis| *axis != last);
            dims.push(last);
            self.changed.insert(value, dims);
        }
    }

    /// The axis along which most of what an array is made of lies, if there are several to choose
    /// from.
    fn last(&self, value: ValueId, lanes: &[AxisId]) -> Option<AxisId> {
        let own: Vec<AxisId> = self.dims(value).to_vec();
        let own: Vec<AxisId> = own
            .into_iter()
            .filter(|axis| !lanes.contains(axis))
            .collect();
        if own.len() < 2 {
            return None;
        }
        let mut votes: BTreeMap<AxisId, usize> = BTreeMap::new();
        let (mut seen, mut left) = (BTreeSet::new(), vec![value]);
        while let Some(value) = left.pop() {
            if self.dims(value).len() < 2 || !seen.insert(value) || seen.len() > DEFINITIONS {
                continue;
            }
            let Some(stmt) = self.sites.get(&value).filter(|stmt| on_demand(&stmt.op)) else {
                let dims = self.dims(value).iter().map(|&axis| vec![axis]);
                vote(&dims.collect::<Vec<_>>(), &own, &mut votes);
                continue;
            };
            match &stmt.op {
                BulkOp::Gather { table, at } => {
                    let place = |axis: &AxisId| match at.iter().find(|(moved, _)| moved == axis) {
                        Some(&(_, index)) => self.dims(index).to_vec(),
                        None => vec![*axis],
                    };
                    let dims: Vec<_> = self.dims(*table).iter().map(place).collect();
                    vote(&dims, &own, &mut votes);
                }
                op => left.extend(op.operands()),
            }
        }
        let all: usize = votes.values().sum();
        let most = votes.into_iter().find(|&(_, count)| 2 * count > all);
        most.map(|(axis, _)| axis)
    }

    /// Takes what is made of reordered arrays in their order, unless it is made of others too that
    /// lie otherwise.
    fn follow(&mut self, stmt: &Stmt<Bulk>) {
        let operands = stmt.op.operands();
        let Some(first) = operands
            .iter()
            .find(|value| self.changed.contains_key(value))
        else {
            return;
        };
        let result = stmt.results[0];
        let order = self.dims(*first).to_vec();
        let shared = |value: ValueId| -> Vec<AxisId> {
            let dims = self.dims(value).iter();
            dims.copied().filter(|axis| order.contains(axis)).collect()
        };
        let agrees = |value: &ValueId| {
            let places = shared(*value);
            let places = places
                .iter()
                .map(|axis| order.iter().position(|a| a == axis));
            places.is_sorted()
        };
        if !operands.iter().all(agrees) {
            return;
        }
        let mut sorted = shared(result).into_iter().collect::<Vec<_>>();
        sorted.sort_by_key(|axis| order.iter().position(|a| a == axis));
        let mut sorted = sorted.into_iter();
        let own = self.dims(result).to_vec();
        let dims: Vec<AxisId> = own
            .iter()
            .map(|axis| match order.contains(axis) {
                true => sorted.next().unwrap_or(*axis),
                false => *axis,
            })
            .collect();
        if dims != own {
            self.changed.insert(result, dims);
        }
    }
}

/// Notes along which of these axes something lies, if it depends on several: each of its dimensions
/// on some axes.
fn vote(dims: &[Vec<AxisId>], own: &[AxisId], votes: &mut BTreeMap<AxisId, usize>) {
    let depends = |axes: &&Vec<AxisId>| axes.iter().any(|axis| own.contains(axis));
    if dims.iter().filter(depends).count() < 2 {
        return;
    }
    if let Some([last]) = dims.last().map(Vec::as_slice)
        && own.contains(last)
    {
        *votes.entry(*last).or_default() += 1;
    }
}
