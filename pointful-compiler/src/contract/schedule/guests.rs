//! What is done with the values that a loop collects, done in the loop's own steps.
//!
//! # The idea
//!
//! A loop that collects a value in each step, for others to sum or to store, need not keep what it
//! collects: those others can take each value as it comes. They become *guests* of the loop. A
//! guest runs at the end of a step, at the loop's own index; in it, what the loop collects stands
//! for the step's value.
//!
//! ```text
//! %0, %1[t] = loop %2: t (%3 = x) {         var s = x; var sum = 0
//!   %4 = mul %3, %3                         for t {
//!   yield %4; %3                              combine add sum, s * w[t]
//! }                                           s = s * s
//! %5[t] = mul %1, w                         }
//! %6 = reduce add [t] %5
//! ```
//!
//! # Why it is sound
//!
//! 1. A guest reads what the loop collects at the loop's own index and lanes, and of what else it
//!    reads nothing waits for the loop: the loop waits for all of that, so it is there.
//! 2. Results of a guest that are not complete before the loop ends are only read after it; others
//!    may be read by further guests of the same step.
//! 3. A guest whose order matters runs along the loop's axis only, and the loop runs forwards.
//! 4. A guest runs wherever the loop runs and nowhere else, so a condition on the loop must be one
//!    on the guest.

use super::facts::{Cond, Facts, without};
use super::loops::prefixes;
use super::region::{Out, Place, Region};
use super::scans::{in_blocks, is_dear};
use super::tasks::{Kind, Read, Task, TaskId};
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::{AxisId, Block, Operation, Stmt, ValueId, Values};

/// A guest, as the block sees it that is a step of the loop.
pub(super) struct Visitor<'p> {
    pub(super) kind: Kind<'p>,
    /// The axes that it runs over.
    pub(super) order: Vec<AxisId>,
    /// A condition without which it need not or must not run.
    pub(super) guard: Option<Cond>,
    /// Its places, if they are made outside the loop.
    pub(super) places: Option<Vec<Place>>,
}

/// The guests of a loop, as its steps see them.
pub(super) struct Guests<'p> {
    pub(super) visitors: Vec<Visitor<'p>>,
    /// Arrays that the loop collects, with what stands for them in a step.
    pub(super) steps: Vec<(ValueId, ValueId)>,
}

impl<'p> Guests<'p> {
    /// Those of the task `this`. The buffers that deliveries among them go to are added to those of
    /// the step.
    pub(super) fn new(region: &Region<'p>, this: TaskId, outs: &mut Vec<Out>) -> Self {
        let list = &region.tasks.list;
        let visitor = |&guest: &TaskId| {
            let task = &list[guest];
            let kind = match task.kind {
                Kind::Deliver(value, slot) => {
                    outs.push(region.outs[slot].clone());
                    Kind::Deliver(value, outs.len() - 1)
                }
                kind @ (Kind::Run(_) | Kind::Keep(_)) => kind,
            };
            Visitor {
                kind,
                order: task.order.clone(),
                guard: task.guard.filter(|_| list[this].guard != task.guard),
                places: (!task.inside).then(|| region.places[guest].clone()),
            }
        };
        let visitors: Vec<_> = list[this].guests.iter().map(visitor).collect();
        let collector = match list[this].kind {
            Kind::Run(stmt) if !visitors.is_empty() => Collector::new(stmt),
            Kind::Run(_) | Kind::Keep(_) | Kind::Deliver(..) => None,
        };
        let steps = collector.map_or_else(Vec::new, |collector| {
            let pairs = collector.results.iter().zip(&collector.values);

            pairs.map(|(&result, &value)| (result, value)).collect()
        });
        Self { visitors, steps }
    }
}

/// What a loop collects.
struct Collector<'p> {
    /// The loop's axis.
    axis: AxisId,
    reverse: bool,
    /// The arrays.
    results: &'p [ValueId],
    /// What each of them gets in a step.
    values: Vec<ValueId>,
}

impl<'p> Collector<'p> {
    /// What a statement collects, if it is a loop that may do so.
    fn new(stmt: &'p Stmt<Bulk>) -> Option<Self> {
        let (axis, reverse, body, states): (_, _, &'p Block<Bulk>, _) = match &stmt.op {
            BulkOp::Loop {
                axis,
                reverse,
                init,
                body,
                ..
            } => (*axis, *reverse, body, init.len()),
            BulkOp::Scan {
                init,
                axis,
                reverse,
                full,
                op,
                ..
            } => {
                let wholes = if *full { init.len() } else { 0 };
                return Some(Self {
                    axis: *axis,
                    reverse: *reverse,
                    results: &stmt.results[wholes..],
                    values: prefixes(*full, op),
                });
            }
            BulkOp::Const(_)
            | BulkOp::Size(_)
            | BulkOp::Iota(_)
            | BulkOp::Map(..)
            | BulkOp::Select(..)
            | BulkOp::Gather { .. }
            | BulkOp::Pack { .. }
            | BulkOp::Reduce { .. }
            | BulkOp::Scatter { .. }
            | BulkOp::Update { .. }
            | BulkOp::Assert { .. }
            | BulkOp::While { .. }
            | BulkOp::Derive { .. }
            | BulkOp::Rule { .. } => return None,
        };
        Some(Self {
            axis,
            reverse,
            results: &stmt.results[states..],
            values: body.results[states..].to_vec(),
        })
    }
}

/// Makes guests of the tasks that may be. `open`: the axes around the block. `host`: whether it is
/// outside every kernel. `last`: values that are needed at its end.
pub(super) fn invite(
    facts: &Facts<'_>,
    list: &mut [Task<'_>],
    open: &[AxisId],
    last: &[ValueId],
    host: bool,
) {
    for this in 0..list.len() {
        let Kind::Run(stmt) = list[this].kind else {
            continue;
        };
        let Some(collector) = Collector::new(stmt) else {
            continue;
        };
        // A step of each block would do the work of others.
        let blocks = host && in_blocks(facts, stmt);
        if blocks && is_dear(facts, stmt) {
            continue;
        }
        let mut party = Party {
            facts,
            list,
            open,
            host: host
                && list[this]
                    .order
                    .iter()
                    .all(|axis| list[this].sequential.contains(axis)),
            this,
            collector,
            guests: Vec::new(),
        };
        party.gather();
        let guests = party.guests;
        // What somebody else reads as well is stored anyhow, and is read from there.
        let collected = Collector::new(stmt).map_or(&[][..], |c| c.results);
        let taken: Vec<ValueId> = collected
            .iter()
            .copied()
            .filter(|value| facts.is_read(*value) && !last.contains(value))
            .filter(|value| {
                list.iter().enumerate().all(|(reader, task)| {
                    guests.contains(&reader)
                        || !task
                            .reads
                            .iter()
                            .any(|read| read.task == this && read.values.contains(value))
                })
            })
            .collect();
        // What only sums read is stored for no block; what they store themselves is.
        let sums = |guest: &TaskId| matches!(list[*guest].kind, Kind::Run(stmt) if matches!(stmt.op, BulkOp::Reduce { .. }));
        let read = collected.iter().filter(|value| facts.is_read(**value));
        if blocks && !(guests.iter().all(sums) && read.count() == taken.len()) {
            continue;
        }
        if !taken.is_empty() {
            seat(facts, list, this, &guests, taken, last);
        }
    }
}

/// Writes down that `guests` are guests of the task `this`.
fn seat(
    facts: &Facts<'_>,
    list: &mut [Task<'_>],
    this: TaskId,
    guests: &[TaskId],
    taken: Vec<ValueId>,
    last: &[ValueId],
) {
    let lanes = list[this].order.clone();
    for &guest in guests {
        let results = list[guest].results();
        let leaves = matches!(list[guest].kind, Kind::Deliver(..))
            || results.iter().any(|result| last.contains(result))
            || list.iter().enumerate().any(|(reader, task)| {
                !guests.contains(&reader) && task.reads.iter().any(|read| read.task == guest)
            });
        list[guest].guest_of = Some(this);
        list[guest].inside = !leaves && !list[guest].visits;
        // The loop waits for what its guests wait for.
        for k in 0..list[guest].reads.len() {
            let read = &list[guest].reads[k];
            let (other, first, length) = (read.task, read.first, read.length);
            if other == this || guests.contains(&other) {
                continue;
            }
            let (mut complete, values) = (read.complete.clone(), read.values.clone());
            for result in list[other].results() {
                complete.extend(without(facts.axes(result), &lanes));
            }
            let reads = &mut list[this].reads;
            match reads.iter_mut().find(|read| read.task == other) {
                Some(read) => {
                    read.complete.extend(complete);
                    read.values.extend(values);
                    read.first |= first;
                    read.length |= length;
                }
                None => reads.push(Read {
                    task: other,
                    complete,
                    first,
                    length,
                    values,
                }),
            }
        }
    }
    list[this].guests = guests.to_vec();
    list[this].taken = taken;
}

/// A loop that looks for guests.
struct Party<'a, 'p> {
    facts: &'a Facts<'p>,
    list: &'a [Task<'p>],
    open: &'a [AxisId],
    /// Whether the host runs it.
    host: bool,
    this: TaskId,
    collector: Collector<'p>,
    guests: Vec<TaskId>,
}

impl Party<'_, '_> {
    fn gather(&mut self) {
        let mut waits = vec![false; self.list.len()];
        waits[self.this] = true;
        for guest in self.this + 1..self.list.len() {
            let reads = &self.list[guest].reads;
            waits[guest] = reads.iter().any(|read| waits[read.task]);
            if waits[guest] && self.may_come(guest, &waits) {
                self.guests.push(guest);
            }
        }
    }

    fn may_come(&self, guest: TaskId, waits: &[bool]) -> bool {
        let (task, own) = (&self.list[guest], &self.list[self.this]);
        let fits = |axis: &AxisId| {
            task.order.contains(axis)
                && task.sequential.contains(axis) == own.sequential.contains(axis)
        };
        task.guest_of.is_none()
            && task.order.contains(&self.collector.axis)
            && own.order.iter().all(fits)
            && (own.guard.is_none() || own.guard == task.guard)
            && self.suits(task)
            && task.reads.iter().all(|read| {
                let early = read.first || read.length;
                if read.task == self.this {
                    // Its states are not what they will be until it ends.
                    let collected = |value| self.collector.results.contains(value);
                    !early && read.complete.is_empty() && read.values.iter().all(collected)
                } else if self.guests.contains(&read.task) {
                    let other = &self.list[read.task];
                    let moves = |axis: &AxisId| {
                        other.reduced.contains(axis) || read.complete.contains(axis)
                    };
                    !early && !moves(&self.collector.axis) && !own.order.iter().any(moves)
                } else {
                    !waits[read.task] && read.task < self.this
                }
            })
            && self.pays(task)
    }

    /// Whether the task is of a kind that can be done a step at a time.
    fn suits(&self, task: &Task<'_>) -> bool {
        let Kind::Run(stmt) = task.kind else {
            return true;
        };
        match &stmt.op {
            BulkOp::Reduce { combine, axes, .. } => {
                let in_order = !matches!(combine, Combine::Monoid(_));
                let along = axes.contains(&self.collector.axis);
                !self.facts.is_leaf(stmt)
                    && (!in_order || !along || (axes.len() == 1 && !self.collector.reverse))
            }
            BulkOp::Scatter { .. } => !self.facts.is_leaf(stmt),
            BulkOp::Const(_)
            | BulkOp::Size(_)
            | BulkOp::Iota(_)
            | BulkOp::Map(..)
            | BulkOp::Select(..)
            | BulkOp::Gather { .. }
            | BulkOp::Pack { .. }
            | BulkOp::Scan { .. }
            | BulkOp::Update { .. }
            | BulkOp::Assert { .. }
            | BulkOp::Loop { .. }
            | BulkOp::While { .. }
            | BulkOp::Derive { .. }
            | BulkOp::Rule { .. } => false,
        }
    }

    /// Whether it costs no more there. Axes that a guest alone has are not run along in each step
    /// if what is collected would be computed again for each of their points, or if nothing else in
    /// the step is parallel; nor is anything dear that would be parallel elsewhere.
    fn pays(&self, task: &Task<'_>) -> bool {
        let facts = self.facts;
        let shared: Vec<AxisId> = task
            .reads
            .iter()
            .filter(|read| read.task == self.this || self.guests.contains(&read.task))
            .flat_map(|read| read.values.iter().flat_map(|&value| facts.axes(value)))
            .copied()
            .collect();
        let more = task.order.iter().any(|axis| !shared.contains(axis));
        let lanes = &self.list[self.this].order;
        let is_array = |value: ValueId| {
            let mut inner = without(facts.axes(value), lanes);
            inner.retain(|axis| *axis != self.collector.axis && !self.open.contains(axis));
            !inner.is_empty()
        };
        let again = || {
            let of = task.reads.iter().filter(|read| read.task == self.this);
            of.flat_map(|read| &read.values).any(|&read| {
                let mut pairs = self.collector.results.iter().zip(&self.collector.values);
                pairs.any(|(&result, &value)| {
                    result == read
                        && is_array(result)
                        && facts.is_dear(value)
                        && !facts.is_task(value)
                })
            })
        };
        let work = || match task.kind {
            Kind::Run(stmt) => stmt.op.operands(),
            Kind::Keep(value) | Kind::Deliver(value, _) => Values::from_slice(&[value]),
        };
        (!more || !(self.host || again()))
            && !(self.host && work().into_iter().any(|value| facts.is_dear(value)))
    }
}
