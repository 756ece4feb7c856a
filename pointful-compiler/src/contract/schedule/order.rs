//! The order of a task's loops, where it is free.
//!
//! # The idea
//!
//! The loops of a reduction may stand in any order. As a task they are those of its operand, which
//! is how loops come to be shared. Where that turns out to be dear in the [tree](super::tree) that
//! has grown, tasks are given another order, and it grows again:
//!
//! - *Accumulators that are copied.* A parallel loop that is summed over gives every piece of the
//!   work a copy of the sum. For a number or a few that is nothing; for a matrix it is most of the
//!   work. If all tasks of such a loop keep one more axis, that one goes outside, and nothing is
//!   copied; else the sum gets loops of its own, over what it keeps, with the sum inside of them.
//! - *Sums into short rows.* A sum that reads what others compute at the same point shares their
//!   loops, and combines into its table in each iteration. Where rows of the table are too short
//!   for vectors, as the places of a window are, it gets loops of its own, in which what it sums
//!   lies in rows.
//! - *Sums over rows.* Where the rows of a table are summed up into a row, they are so one after the
//!   other, as they lie in memory: pieces of the work may be [columns](crate::ir::stages::cpu).
//! - *Sums in memory.* A sum that shares its loops with nobody is run in the order in which an
//!   iteration touches memory least: in a variable if the elements come in a row or the points
//!   around do, else along the axis that elements and sums both lie along.
//!
//! # Why it is sound
//!
//! Sums commute, and a tree is grown from scratch for the new orders, by the same rules.

use super::facts::{Facts, on_demand, without};
use super::tasks::{Kind, Task, TaskId, Tasks};
use super::tree::{NodeId, NodeKind, Tree};
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::{AxisId, Extent, Operation, Stmt, ValueId};

/// How long an axis is taken to be of which nothing is known.
const LONG: u64 = 64;

/// The same of an axis that is summed over: what is many is more often summed than kept.
const LONGER: u64 = 4 * LONG;

/// Accumulators of this many elements are not copied for each piece of the work if there is another
/// way.
const LARGE: u64 = LONG * LONG;

/// What it costs that something is not in the nearest cache, against what it costs to compute with
/// it.
const MISS: u64 = 4;

/// How many elements are computed at once where they are neighbours.
const AT_ONCE: u64 = 8;

/// How many times as long a sum must take among the loops of others for loops of its own, between
/// which something is stored.
const MUCH: u64 = 4;

/// Constant loops up to this length are unrolled: their elements are as good as neighbours.
pub(super) const UNROLLED: u64 = 16;

/// Reorders loops of tasks with which the tree would be cheaper; whether there were any. `host`:
/// whether the block is outside every kernel.
pub(super) fn improve<'p>(
    facts: &Facts<'p>,
    tasks: &mut Tasks<'p>,
    tree: &Tree,
    open: &[AxisId],
    host: bool,
) -> bool {
    let mut improve = Improve {
        facts,
        list: &mut tasks.list,
        tree,
        changed: false,
    };
    improve.children(0, &mut open.to_vec(), host);
    improve.changed
}

struct Improve<'i, 'p> {
    facts: &'i Facts<'p>,
    list: &'i mut [Task<'p>],
    tree: &'i Tree,
    changed: bool,
}

impl<'p> Improve<'_, 'p> {
    fn children(&mut self, node: NodeId, open: &mut Vec<AxisId>, host: bool) {
        for &child in &self.tree.nodes[node].children {
            match self.tree.nodes[child].kind {
                NodeKind::Root | NodeKind::Leaf(_) => {}
                NodeKind::If(_) => self.children(child, open, host),
                NodeKind::Loop { axis, in_order } => {
                    let all = self.tree.tasks_below(child);
                    let done = match self.only_sum(&all) {
                        Some(task) => self.alone(task, open, host),
                        None => {
                            (host && !in_order && self.together(&all, axis, open))
                                || all.iter().any(|&task| self.apart(task, axis, open))
                        }
                    };
                    if !done {
                        open.push(axis);
                        self.children(child, open, host && in_order);
                        open.pop();
                    }
                }
            }
        }
    }

    /// The one task that the others do nothing but follow, point for point.
    fn only_sum(&self, all: &[TaskId]) -> Option<TaskId> {
        let (&first, others) = all.split_first()?;
        let own = &self.list[first];
        let follows = |&task: &TaskId| {
            let other = &self.list[task];
            other.reduced.is_empty()
                && other.sequential.is_empty()
                && other
                    .order
                    .iter()
                    .all(|axis| own.order.contains(axis) && !own.reduced.contains(axis))
                && other.reads.iter().all(|read| read.complete.is_empty())
        };
        others.iter().all(follows).then_some(first)
    }

    /// The axes of a task's accumulator if a loop over `axis` would combine into it.
    fn accumulated(&self, task: TaskId, axis: AxisId, open: &[AxisId]) -> Vec<AxisId> {
        let Kind::Run(stmt) = self.list[task].kind else {
            return Vec::new();
        };
        if !self.list[task].reduced.contains(&axis) {
            return Vec::new();
        }
        without(self.facts.axes(stmt.results[0]), open)
    }

    fn is_large(&self, axes: &[AxisId]) -> bool {
        let lengths = axes.iter().map(|&axis| match self.facts.extent(axis) {
            Extent::Const(length) => length,
            Extent::Size(_) | Extent::Value(_) => LONG,
        });
        lengths.fold(1, u64::saturating_mul) >= LARGE
    }

    /// The tasks of a parallel loop over `axis`.
    fn together(&mut self, all: &[TaskId], axis: AxisId, open: &[AxisId]) -> bool {
        let large = |this: &Self, task: TaskId| {
            let axes = this.accumulated(task, axis, open);
            this.is_large(&axes)
        };
        let large: Vec<TaskId> = all.iter().copied().filter(|&t| large(self, t)).collect();
        let Some(&first) = large.first() else {
            return false;
        };
        let outer = self.list[first].order.clone();
        let shared = outer
            .into_iter()
            .find(|&outer| outer != axis && self.may_stand_outside(outer, all, open));
        let again = || all.iter().all(|&task| self.list[task].settled);
        if let Some(outer) = shared.filter(|&outer| !again() && self.pays(outer, all, &large)) {
            for &task in all {
                let order = with_first(&self.list[task].order, outer);
                self.list[task].order = order;
                self.list[task].settled = true;
            }
            self.changed = true;
            return true;
        }
        large.into_iter().any(|task| self.alone(task, open, true))
    }

    /// Whether a loop outside of all of these tasks costs less than twice what those of the `large`
    /// sums apart do: much is not stored then.
    fn pays(&self, outer: AxisId, all: &[TaskId], large: &[TaskId]) -> bool {
        let (mut together, mut apart) = (0, 0_u64);
        for &task in all {
            let Kind::Run(stmt) = self.list[task].kind else {
                continue;
            };
            let BulkOp::Reduce { operands, axes, .. } = &stmt.op else {
                continue;
            };
            let nest = Nest::new(self.facts, stmt.results[0], operands[0], axes);
            let order = &self.list[task].order;
            let kept = without(order, axes);
            together = nest
                .cost(&with_first(order, outer), false)
                .saturating_add(together);
            let own = match nest.best(&kept, axes, true, true) {
                Some((_, cost)) if large.contains(&task) => cost,
                Some(_) | None => nest.cost(order, true),
            };
            apart = own.saturating_add(apart);
        }
        together <= apart.saturating_mul(2)
    }

    /// Whether all of these tasks run over the axis, each of its points for itself.
    fn may_stand_outside(&self, axis: AxisId, all: &[TaskId], open: &[AxisId]) -> bool {
        self.is_large(&[axis, axis])
            && !matches!(self.facts.extent(axis), Extent::Value(_))
            && all.iter().all(|&task| {
                let own = &self.list[task];
                own.order.contains(&axis)
                    && !open.contains(&axis)
                    && !own.reduced.contains(&axis)
                    && !own.sequential.contains(&axis)
                    && own
                        .reads
                        .iter()
                        .all(|read| !all.contains(&read.task) || !read.complete.contains(&axis))
            })
    }

    /// A sum that shares a loop that it sums over, and combines into a table whose innermost axis
    /// is too short for vectors, gets loops of its own if what it sums lies in rows.
    fn apart(&mut self, task: TaskId, axis: AxisId, open: &[AxisId]) -> bool {
        if self.list[task].apart {
            return false;
        }
        let Some((stmt, [order, kept, reduced])) = self.free(task, open) else {
            return false;
        };
        let BulkOp::Reduce {
            combine: Combine::Monoid(_),
            operands,
            axes,
        } = &stmt.op
        else {
            return false;
        };
        let short = |&axis: &AxisId| matches!(self.facts.extent(axis), Extent::Const(length) if length < AT_ONCE / 2);
        if !reduced.contains(&axis) || !order.last().is_some_and(short) || kept.iter().all(short) {
            return false;
        }
        let nest = Nest::new(self.facts, stmt.results[0], operands[0], axes);
        let Some((best, cost)) = nest.best(&kept, &reduced, false, false) else {
            return false;
        };
        let one_by_one = nest.cost(&order, false).saturating_mul(AT_ONCE);
        if one_by_one < cost.saturating_mul(MUCH) {
            return false;
        }
        self.list[task].apart = true;
        self.reorder(task, &order, best);
        true
    }

    /// A task's order of loops, where it is still free, and what it keeps and sums over of that.
    fn free(&self, task: TaskId, open: &[AxisId]) -> Option<(&'p Stmt<Bulk>, [Vec<AxisId>; 3])> {
        let own = &self.list[task];
        let Kind::Run(stmt) = own.kind else {
            return None;
        };
        let order = without(&own.order, open);
        let kept = without(self.facts.axes(*stmt.results.first()?), open);
        let reduced = without(&own.reduced, open);
        let depends = |&axis: &AxisId| matches!(self.facts.extent(axis), Extent::Value(_));
        let free = own.guest_of.is_none() && own.guests.is_empty() && !own.visits;
        let fits = free
            && !kept.is_empty()
            && !reduced.is_empty()
            && order.len() == kept.len() + reduced.len()
            && !order.iter().any(depends);
        fits.then_some((stmt, [order, kept, reduced]))
    }

    /// Gives a task another order of those loops that are not open.
    fn reorder(&mut self, task: TaskId, order: &[AxisId], best: Vec<AxisId>) {
        let before: Vec<AxisId> = without(&self.list[task].order, order);
        self.list[task].order = [before, best].concat();
        self.list[task].settled = true;
        self.changed = true;
    }

    /// A task with loops of its own.
    fn alone(&mut self, task: TaskId, open: &[AxisId], host: bool) -> bool {
        if self.list[task].settled {
            return false;
        }
        let Some((stmt, [order, kept, reduced])) = self.free(task, open) else {
            return false;
        };
        let BulkOp::Reduce {
            combine,
            axes,
            operands,
        } = &stmt.op
        else {
            return false;
        };
        // Fewer points in parallel than there were are a bargain only where what each piece has a copy of is large.
        let copied = host && reduced.contains(&order[0]);
        if copied && !self.is_large(&kept) {
            return false;
        }
        // What such an operator combines stays as it was written, unless copies of it are large.
        if !copied && !matches!(combine, Combine::Monoid(_)) {
            return false;
        }
        self.list[task].settled = true;
        let nest = Nest::new(self.facts, stmt.results[0], operands[0], axes);
        if host && !copied && !self.is_large(&kept) && nest.streams(&kept) {
            #[cfg(test)]
            crate::testing::entered::enter(&crate::testing::entered::STREAMED);
            self.reorder(task, &order, [reduced, kept].concat());
            return true;
        }
        let Some((best, cost)) = nest.best(&kept, &reduced, host, copied || !host) else {
            return false;
        };
        if best == order || (!copied && cost >= nest.cost(&order, host)) {
            return false;
        }
        self.reorder(task, &order, best);
        true
    }
}

/// These axes with one of them outermost.
fn with_first(order: &[AxisId], first: AxisId) -> Vec<AxisId> {
    [vec![first], without(order, &[first])].concat()
}

/// Whether the points of a reduction want to go through the sum several at a time, because its
/// elements do not lie in a row.
pub(super) fn wants_neighbours(facts: &Facts<'_>, stmt: &Stmt<Bulk>, order: &[AxisId]) -> bool {
    let BulkOp::Reduce {
        combine: Combine::Monoid(_),
        axes,
        operands,
    } = &stmt.op
    else {
        return false;
    };
    let nest = Nest::new(facts, stmt.results[0], operands[0], axes);
    let kept = without(order, axes);
    let split = order.first().is_some_and(|axis| axes.contains(axis));
    let best = |host: bool| nest.best(&kept, axes, host, split);
    match (best(true), best(false)) {
        (Some((_, together)), Some((_, alone))) => together < alone,
        (_, _) => false,
    }
}

/// What is read from memory, by its dimensions: the axes that each depends on.
type Load = Vec<Vec<AxisId>>;

/// What the operand of a reduction reads.
fn loads(facts: &Facts<'_>, operand: ValueId) -> Vec<Load> {
    let mut all = Vec::new();
    let mut seen = Vec::new();
    let mut left = vec![operand];
    while let Some(value) = left.pop() {
        if seen.contains(&value) || facts.axes(value).is_empty() {
            continue;
        }
        seen.push(value);
        let stmt = facts
            .site(value)
            .filter(|stmt| on_demand(&stmt.op) && !facts.is_task(value));
        let Some(stmt) = stmt else {
            all.push(facts.axes(value).iter().map(|&axis| vec![axis]).collect());
            continue;
        };
        match &stmt.op {
            BulkOp::Gather { table, at } => {
                let place = |axis: &AxisId| match at.iter().find(|(moved, _)| moved == axis) {
                    Some(&(_, index)) => facts.axes(index).to_vec(),
                    None => vec![*axis],
                };
                all.push(facts.axes(*table).iter().map(place).collect());
                left.extend(at.iter().map(|&(_, index)| index));
            }
            BulkOp::Iota(_) => {}
            op => left.extend(op.operands()),
        }
    }
    all
}

/// The loops of a reduction.
struct Nest<'n, 'p> {
    facts: &'n Facts<'p>,
    loads: Vec<Load>,
    /// The axes of the result as they lie in memory.
    result: &'p [AxisId],
    reduced: &'n [AxisId],
}

impl<'n, 'p> Nest<'n, 'p> {
    fn new(facts: &'n Facts<'p>, result: ValueId, operand: ValueId, reduced: &'n [AxisId]) -> Self {
        Self {
            facts,
            loads: loads(facts, operand),
            result: facts.axes(result),
            reduced,
        }
    }

    /// The cheapest order that begins with what is kept, and what it costs. `split`: whether some
    /// of that may stand inside of the sum.
    fn best(
        &self,
        kept: &[AxisId],
        reduced: &[AxisId],
        host: bool,
        split: bool,
    ) -> Option<(Vec<AxisId>, u64)> {
        let ending = |axes: &[AxisId], last: AxisId| [without(axes, &[last]), vec![last]].concat();
        let mut best: Option<(Vec<AxisId>, u64)> = None;
        let mut try_order = |order: Vec<AxisId>| {
            let cost = self.cost(&order, host);
            if best.as_ref().is_none_or(|&(_, least)| cost < least) {
                best = Some((order, cost));
            }
        };
        for &inner in reduced.iter().rev() {
            let reduced = ending(reduced, inner);
            for &last in kept.iter().rev() {
                let kept = ending(kept, last);
                try_order([&kept[..], &reduced].concat());
                let fewest = if split { 1 } else { kept.len() };
                for outside in fewest..kept.len() {
                    try_order([&kept[..outside], &reduced, &kept[outside..]].concat());
                }
            }
        }
        best
    }

    /// What it takes to run loops in this order, in vector operations. `host`: whether the
    /// outermost of them are parallel.
    fn cost(&self, order: &[AxisId], host: bool) -> u64 {
        let Some(&inner) = order.last() else {
            return 0;
        };
        let is_reduced = |axis: &AxisId| self.reduced.contains(axis);
        let split = order.iter().position(is_reduced).unwrap_or(order.len());
        let in_variable = order[split..].iter().all(is_reduced);
        let unrolled =
            matches!(self.facts.extent(inner), Extent::Const(trips) if trips <= UNROLLED);
        // Points next to each other go through the sum together, if there are as many.
        let few =
            |axis| matches!(self.facts.extent(axis), Extent::Const(length) if length < AT_ONCE);
        let strip = host
            && in_variable
            && split > 0
            && !few(order[split - 1])
            && self.is_row(order[split - 1])
            && self
                .loads
                .iter()
                .any(|load| depends(load, order[split - 1]));
        let row = self.is_row(inner) && (in_variable || self.result.last() == Some(&inner));
        let read = self
            .loads
            .iter()
            .filter(|load| depends(load, inner))
            .count() as u64;
        let touched = if in_variable { read } else { read + 2 };
        let points = self.points(order.iter().copied());
        let mut cost = if strip || unrolled || row {
            touched
        } else {
            // What lies across is a line of memory for an element.
            let across = self
                .loads
                .iter()
                .filter(|load| !lies_along(load, inner))
                .count() as u64;
            AT_ONCE * touched + MISS * across
        }
        .saturating_mul(points);
        for load in &self.loads {
            cost = cost.saturating_add(
                MISS.saturating_mul(self.misses(order, |axis| depends(load, axis))),
            );
        }
        if !in_variable {
            let misses = self.misses(order, |axis| self.result.contains(&axis));
            cost = cost.saturating_add(MISS.saturating_mul(misses));
        }
        cost
    }

    /// How often something that depends on some of the axes comes from further away than the
    /// nearest cache: it stays there while a loop goes on that it does not depend on, if what is
    /// inside of that loop is little.
    fn misses(&self, order: &[AxisId], depends: impl Fn(AxisId) -> bool) -> u64 {
        let far = |place: usize| {
            let inside = order[place + 1..].iter().copied();
            depends(order[place]) || self.points(inside.filter(|&axis| depends(axis))) > LARGE
        };
        self.points(
            (0..order.len())
                .filter(|&place| far(place))
                .map(|place| order[place]),
        )
    }

    /// Whether a table is read whose rows lie along the last of the kept axes, as the result does,
    /// and of which each element that is summed is in another row.
    fn streams(&self, kept: &[AxisId]) -> bool {
        let Some(&last) = kept.last() else {
            return false;
        };
        let short = matches!(self.facts.extent(last), Extent::Const(length) if length <= UNROLLED);
        let is_reduced = |axes: &Vec<AxisId>| axes.iter().any(|axis| self.reduced.contains(axis));
        let across = |load: &Load| match load.split_last() {
            Some((row, rows)) => {
                row.contains(&last)
                    && lies_along(load, last)
                    && !is_reduced(row)
                    && rows.iter().any(is_reduced)
            }
            None => false,
        };
        !short && self.result.last() == Some(&last) && self.loads.iter().any(across)
    }

    fn points(&self, axes: impl Iterator<Item = AxisId>) -> u64 {
        let length = |axis: AxisId| match self.facts.extent(axis) {
            Extent::Const(length) => length,
            Extent::Size(_) | Extent::Value(_) if self.reduced.contains(&axis) => LONGER,
            Extent::Size(_) | Extent::Value(_) => LONG,
        };
        axes.map(length).fold(1, u64::saturating_mul)
    }

    /// Whether neighbours along the axis read neighbours, or the same.
    fn is_row(&self, axis: AxisId) -> bool {
        self.loads.iter().all(|load| lies_along(load, axis))
    }
}

fn depends(load: &Load, axis: AxisId) -> bool {
    load.iter().any(|axes| axes.contains(&axis))
}

/// Whether an axis is the innermost of what is read, or none of it.
fn lies_along(load: &Load, axis: AxisId) -> bool {
    match load.split_last() {
        Some((_, outer)) => outer.iter().all(|axes| !axes.contains(&axis)),
        None => true,
    }
}
