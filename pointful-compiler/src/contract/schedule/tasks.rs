//! What has to be done in a block, and what each piece of work waits for.
//!
//! A *task* is a statement that cannot be computed at the point where its value is needed (a
//! reduction, a loop, an update …), a value that is worth computing once, or the delivery of an
//! array to its buffer. Everything else is computed on demand by the tasks that need it.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::facts::{Cond, Facts, Wanted, is_simple, on_demand, without};
use super::guests::{Visitor, invite};
use super::order::wants_neighbours;
use crate::analysis::dataflow::Flow;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::{AxisId, Block, Extent, Operation, Program, Stmt, ValueId};

/// A task: an index into [`Tasks::list`].
pub(super) type TaskId = usize;

/// What a task does.
#[derive(Clone, Copy)]
pub(super) enum Kind<'p> {
    /// Runs a statement.
    Run(&'p Stmt<Bulk>),
    /// Computes a value once.
    Keep(ValueId),
    /// Stores an array in the buffer that waits for it: the number says which.
    Deliver(ValueId, usize),
}

/// One task waits for another.
pub(super) struct Read {
    pub(super) task: TaskId,
    /// Axes of the other's result along which it must be complete first.
    pub(super) complete: Vec<AxisId>,
    /// Whether the reader's place is made from it: it must be complete before the loops and
    /// conditions that the reader is in.
    pub(super) first: bool,
    /// Whether it says how long the reader's place is: it must be complete before a condition that
    /// the reader stands behind.
    pub(super) length: bool,
    /// Which of the other's results are read.
    pub(super) values: Vec<ValueId>,
}

pub(super) struct Task<'p> {
    pub(super) kind: Kind<'p>,
    /// Axes it runs over that are not open around the block, outermost first.
    pub(super) order: Vec<AxisId>,
    /// Those that its result does not have.
    pub(super) reduced: Vec<AxisId>,
    /// Those along which it must proceed in order.
    pub(super) sequential: Vec<AxisId>,
    /// Whether it is a sum that neighbouring points want to go through together: see
    /// [`order`](super::order).
    pub(super) neighbours: bool,
    /// Whether the order of its loops is decided, so that they are not exchanged to share others':
    /// see [`order`](super::order).
    pub(super) settled: bool,
    /// Whether it has loops of its own, although others compute what it sums at the same points.
    pub(super) apart: bool,
    /// A condition without which it need not or must not run.
    pub(super) guard: Option<Cond>,
    /// The condition under which there is anything along its axes, if one of them is of one place
    /// or none.
    pub(super) exists: Option<Cond>,
    /// Where an accumulation or a change does something: those with the same condition at the same
    /// points share a branch.
    pub(super) mask: Option<Cond>,
    pub(super) reads: Vec<Read>,
    /// Whether it came from a block around this one, in which its place was made.
    pub(super) visits: bool,
    /// The loop in whose steps it is done: see [`guests`](super::guests).
    pub(super) guest_of: Option<TaskId>,
    /// Whether only other guests of the same loop read the results of a guest.
    pub(super) inside: bool,
    /// What is done in the steps of a loop.
    pub(super) guests: Vec<TaskId>,
    /// What it collects that only its guests read, so that it is not stored.
    pub(super) taken: Vec<ValueId>,
}

impl<'p> Kind<'p> {
    /// The values it makes available.
    pub(super) fn results(self) -> Vec<ValueId> {
        match self {
            Kind::Run(stmt) => stmt.results.clone(),
            Kind::Keep(value) => vec![value],
            Kind::Deliver(..) => Vec::new(),
        }
    }

    /// The statement that it is.
    fn statement(self, facts: &Facts<'p>) -> Option<&'p Stmt<Bulk>> {
        match self {
            Kind::Run(stmt) => Some(stmt),
            Kind::Keep(value) => facts.site(value),
            Kind::Deliver(..) => None,
        }
    }
}

impl Task<'_> {
    /// The values it makes available.
    pub(super) fn results(&self) -> Vec<ValueId> {
        self.kind.results()
    }
}

/// An array and the order of axes in which a buffer waits for it.
#[derive(Clone)]
pub(super) struct Delivery {
    pub(super) value: ValueId,
    pub(super) dims: Vec<AxisId>,
}

/// The tasks of a block, each after those it waits for.
pub(super) struct Tasks<'p> {
    pub(super) list: Vec<Task<'p>>,
    /// Tasks that a value needed at the end of the block waits for.
    pub(super) finals: Vec<TaskId>,
    /// Their results that it waits for.
    pub(super) final_values: Vec<ValueId>,
}

/// Whether a statement runs a loop of its own at one point of its axes.
pub(super) fn leaf_loop(op: &BulkOp) -> bool {
    match op {
        BulkOp::Reduce {
            combine: Combine::Custom { op, .. },
            ..
        } => !is_simple(op),
        BulkOp::Scan { .. }
        | BulkOp::Loop { .. }
        | BulkOp::While { .. }
        | BulkOp::Derive { .. }
        | BulkOp::Rule { .. } => true,
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
        | BulkOp::Assert { .. } => false,
    }
}

/// What says how long anything inside a block is.
fn lengths(program: &Program<Bulk>, block: &Block<Bulk>, found: &mut Vec<ValueId>) {
    for stmt in &block.stmts {
        found.extend(Bulk::extents(program, &stmt.op));
        for inner in stmt.op.blocks() {
            lengths(program, inner, found);
        }
        let types = stmt.results.iter();
        found.extend(types.flat_map(|&result| Bulk::type_extents(program, result)));
    }
    let types = block.params.iter();
    found.extend(types.flat_map(|&param| Bulk::type_extents(program, param)));
}

/// Along which axes a block, and those inside it, read arrays at other points than the current one.
fn read_elsewhere(block: &Block<Bulk>, found: &mut BTreeMap<ValueId, Vec<AxisId>>) {
    for stmt in &block.stmts {
        if let BulkOp::Gather { table, at }
        | BulkOp::Update { table, at, .. }
        | BulkOp::Scatter {
            base: table, at, ..
        } = &stmt.op
        {
            let axes = at.iter().map(|&(axis, _)| axis);
            found.entry(*table).or_default().extend(axes);
        }
        for inner in stmt.op.blocks() {
            read_elsewhere(inner, found);
        }
    }
}

/// How a task is waited for.
#[derive(Clone, Default)]
struct Wait {
    /// Along which axes it must be complete.
    complete: Vec<AxisId>,
    /// See [`Read::first`].
    first: bool,
    /// See [`Read::length`].
    length: bool,
    /// See [`Read::values`].
    values: Vec<ValueId>,
}

/// Which tasks a value waits for.
type Waits = BTreeMap<TaskId, Wait>;

fn wait_for(waits: &mut Waits, other: &Waits, complete: &[AxisId]) {
    for (&task, wait) in other {
        let entry = waits.entry(task).or_default();
        for &axis in wait.complete.iter().chain(complete) {
            if !entry.complete.contains(&axis) {
                entry.complete.push(axis);
            }
        }
        for &value in &wait.values {
            if !entry.values.contains(&value) {
                entry.values.push(value);
            }
        }
    }
}

/// As `wait_for`, for what a place is made from.
fn wait_first(waits: &mut Waits, other: &Waits) {
    wait_for(waits, other, &[]);
    for task in other.keys() {
        waits.entry(*task).or_default().first = true;
    }
}

struct Survey<'f, 'p> {
    facts: &'f Facts<'p>,
    around: &'f Around<'f, 'p>,
    block: usize,
    task_of: BTreeMap<ValueId, TaskId>,
    memo: FxHashMap<ValueId, Rc<Waits>>,
}

impl<'p> Survey<'_, 'p> {
    fn waits(&mut self, value: ValueId) -> Rc<Waits> {
        if let Some(waits) = self.memo.get(&value) {
            return Rc::clone(waits);
        }
        let home = self.facts.home(value);
        let waits = if let Some(&task) = self.task_of.get(&value) {
            let wait = Wait {
                values: vec![value],
                ..Wait::default()
            };
            Rc::new(Waits::from([(task, wait)]))
        } else if let Some(step) = self.around.steps.get(&value) {
            self.waits(*step)
        } else if let Some(stmt) = self.facts.site(value)
            && (home == self.block
                || (self.around.homes.contains(&home) && !self.facts.is_task(value)))
        {
            Rc::new(self.statement_waits(stmt))
        } else {
            Rc::default()
        };
        self.memo.insert(value, Rc::clone(&waits));
        waits
    }

    /// What the statement itself reads; not what opening its axes needs.
    fn statement_waits(&mut self, stmt: &Stmt<Bulk>) -> Waits {
        let mut waits = Waits::new();
        let add = |this: &mut Self, value: ValueId, complete: &[AxisId], waits: &mut Waits| {
            let other = this.waits(value);
            wait_for(waits, &other, complete);
        };
        let first = |this: &mut Self, value: ValueId, waits: &mut Waits| {
            let other = this.waits(value);
            wait_first(waits, &other);
        };
        let moved = |at: &[(AxisId, ValueId)]| at.iter().map(|&(axis, _)| axis).collect::<Vec<_>>();
        match &stmt.op {
            BulkOp::Const(_) | BulkOp::Iota(_) | BulkOp::Size(_) => {}
            BulkOp::Map(_, args) => args.iter().for_each(|&v| add(self, v, &[], &mut waits)),
            BulkOp::Pack { values, .. } => {
                values.iter().for_each(|&v| add(self, v, &[], &mut waits))
            }
            BulkOp::Select(..) | BulkOp::Assert { .. } => {
                stmt.op
                    .operands()
                    .iter()
                    .for_each(|&v| add(self, v, &[], &mut waits));
            }
            BulkOp::Gather { table, at } => {
                add(self, *table, &moved(at), &mut waits);
                at.iter().for_each(|&(_, v)| add(self, v, &[], &mut waits));
            }
            BulkOp::Scatter {
                base,
                at,
                value,
                mask,
                ..
            }
            | BulkOp::Update {
                table: base,
                at,
                value,
                mask,
            } if !self.facts.is_leaf(stmt) => {
                add(self, *base, &moved(at), &mut waits);
                first(self, *base, &mut waits);
                at.iter()
                    .map(|(_, v)| v)
                    .chain([value])
                    .chain(mask)
                    .for_each(|&v| add(self, v, &[], &mut waits));
            }
            BulkOp::Reduce {
                combine, operands, ..
            } if !self.facts.is_leaf(stmt) => {
                operands.iter().for_each(|&v| add(self, v, &[], &mut waits));
                if let Combine::Custom { init, op } = combine {
                    init.iter().for_each(|&v| first(self, v, &mut waits));
                    // Outside of kernels it is also applied when the loops have ended, to what they have found.
                    for value in op.free() {
                        if self.around.host {
                            first(self, value, &mut waits);
                        } else {
                            add(self, value, &[], &mut waits);
                        }
                    }
                }
            }
            BulkOp::Reduce { .. }
            | BulkOp::Scatter { .. }
            | BulkOp::Update { .. }
            | BulkOp::Scan { .. }
            | BulkOp::Loop { .. }
            | BulkOp::While { .. }
            | BulkOp::Derive { .. }
            | BulkOp::Rule { .. } => {
                if let BulkOp::Scatter { base, .. } = &stmt.op {
                    first(self, *base, &mut waits);
                }
                // The whole loop runs at one point of its lanes: along all other axes what it reads must be there.
                let lanes = self.facts.iteration(stmt);
                let mut elsewhere = BTreeMap::new();
                for block in stmt.op.blocks() {
                    read_elsewhere(block, &mut elsewhere);
                }
                let inside = stmt.op.blocks().into_iter().flat_map(|block| {
                    let mut read = block.free();
                    lengths(self.facts.program, block, &mut read);
                    read
                });
                for value in stmt.op.operands().into_iter().chain(inside) {
                    let other = self.waits(value);
                    for (&task, wait) in &*other {
                        let mut complete = wait.complete.clone();
                        // A lane may read what is at another.
                        complete.extend(elsewhere.get(&value).into_iter().flatten());
                        for (&result, _) in self.task_of.iter().filter(|(_, t)| **t == task) {
                            complete.extend(without(self.facts.axes(result), &lanes));
                        }
                        let wait = Wait {
                            values: wait.values.clone(),
                            ..Wait::default()
                        };
                        let other = Waits::from([(task, wait)]);
                        wait_for(&mut waits, &other, &complete);
                    }
                }
            }
        }
        // A buffer may have to be made outside of the condition under which both it and its length are computed.
        for &result in &stmt.results {
            for extent in Bulk::type_extents(self.facts.program, result) {
                add(self, extent, &[], &mut waits);
            }
            for &axis in self.facts.axes(result) {
                if let Extent::Value(length) = self.facts.extent(axis) {
                    for &task in self.waits(length).keys() {
                        waits.entry(task).or_default().length = true;
                    }
                }
            }
            for pad in self.facts.pads.of(result) {
                add(self, pad, &[], &mut waits);
            }
        }
        for extent in Bulk::extents(self.facts.program, &stmt.op) {
            add(self, extent, &[], &mut waits);
        }
        if let Some(guard) = stmt.guard {
            add(self, guard, &[], &mut waits);
        }
        waits
    }

    /// The condition under which a task may be run, if there is one and it is known by the time the
    /// task is: it is the same along all axes but those that the task has a loop for and keeps.
    ///
    /// That an axis is not empty need not be asked before running along it.
    fn guard(&mut self, stmt: &Stmt<Bulk>, waits: &mut Waits, this: TaskId) -> Option<Cond> {
        let holds = |this: &Self, cond: ValueId| {
            let axes = this.facts.iteration(stmt);
            axes.iter().any(|&axis| this.facts.is_not_empty(cond, axis))
        };
        if let Some(guard) = stmt.guard {
            return (!holds(self, guard)).then_some((guard, true));
        }
        // Of nothing there is no extremal element, and nothing is what is left of an axis in a branch that is not taken.
        if let BulkOp::Reduce {
            combine: Combine::ArgMin | Combine::ArgMax,
            ..
        } = &stmt.op
        {
            return None;
        }
        if self.facts.is_plain_work(stmt) {
            return None;
        }
        let first = self.facts.wanted(*stmt.results.first()?);
        let same = stmt.results.iter().all(|&r| self.facts.wanted(r) == first);
        let Wanted::When((cond, side)) = first else {
            return None;
        };
        let loops = without(&self.facts.iteration(stmt), &self.facts.reduced(stmt));
        if !same
            || (side && holds(self, cond))
            || self
                .facts
                .axes(cond)
                .iter()
                .any(|axis| !loops.contains(axis))
        {
            return None;
        }
        self.ask(cond, waits, this).then_some((cond, side))
    }

    /// The condition under which there is anything along the axes of a task, if one of them is of
    /// one place or none.
    fn exists(&mut self, stmt: &Stmt<Bulk>, waits: &mut Waits, this: TaskId) -> Option<Cond> {
        let axes = self.facts.iteration(stmt);
        let exists = axes.into_iter().find_map(|axis| self.facts.exists(axis))?;
        self.ask(exists, waits, this).then_some((exists, true))
    }

    /// Whether a condition is known by the time a task is run; the task then waits for it.
    fn ask(&mut self, cond: ValueId, waits: &mut Waits, this: TaskId) -> bool {
        let other = self.waits(cond);
        let known = other.keys().all(|&task| task < this);
        if known {
            wait_for(waits, &other, &[]);
        }
        known
    }
}

impl<'p> Survey<'_, 'p> {
    /// A task that does a thing; a delivery has an order of its own.
    fn task(&self, kind: Kind<'p>, waits: Waits, guard: Option<Cond>) -> Task<'p> {
        let stmt = kind.statement(self.facts);
        let iteration = stmt.map_or_else(Vec::new, |stmt| self.facts.iteration(stmt));
        let reads = waits.into_iter().map(|(task, wait)| Read {
            task,
            complete: wait.complete,
            first: wait.first,
            length: wait.length,
            values: wait.values,
        });
        Task {
            kind,
            order: without(&iteration, self.around.open),
            reduced: stmt.map_or_else(Vec::new, |stmt| self.facts.reduced(stmt)),
            sequential: stmt.map_or_else(Vec::new, |stmt| in_order(self.facts, stmt)),
            neighbours: stmt.is_some_and(|stmt| wants_neighbours(self.facts, stmt, &iteration)),
            settled: false,
            apart: false,
            guard,
            exists: None,
            mask: stmt.and_then(|stmt| mask(&stmt.op)),
            reads: reads.collect(),
            visits: false,
            guest_of: None,
            inside: false,
            guests: Vec::new(),
            taken: Vec::new(),
        }
    }
}

/// Where an accumulation or a change does something.
fn mask(op: &BulkOp) -> Option<Cond> {
    match op {
        BulkOp::Scatter { mask, .. } | BulkOp::Update { mask, .. } => mask.map(|mask| (mask, true)),
        BulkOp::Const(_)
        | BulkOp::Size(_)
        | BulkOp::Iota(_)
        | BulkOp::Map(..)
        | BulkOp::Select(..)
        | BulkOp::Gather { .. }
        | BulkOp::Pack { .. }
        | BulkOp::Reduce { .. }
        | BulkOp::Scan { .. }
        | BulkOp::Assert { .. }
        | BulkOp::Loop { .. }
        | BulkOp::While { .. }
        | BulkOp::Derive { .. }
        | BulkOp::Rule { .. } => None,
    }
}

/// Axes along which what is read was written down element by element: its elements are there at
/// once, and so they are read innermost.
fn written_down(list: &[Task<'_>], reads: &[Read]) -> Vec<AxisId> {
    let mut axes = Vec::new();
    let mut left: Vec<&Read> = reads.iter().collect();
    while let Some(read) = left.pop() {
        let task = &list[read.task];
        if let Kind::Run(stmt) = task.kind
            && let BulkOp::Pack { axis, .. } = stmt.op
            && !read.complete.contains(&axis)
            && !axes.contains(&axis)
        {
            axes.push(axis);
            left.extend(&task.reads);
        }
    }
    axes
}

/// Axes along which a statement must proceed in order: lanes of which a result does not know, for
/// all of them write it.
fn in_order(facts: &Facts<'_>, stmt: &Stmt<Bulk>) -> Vec<AxisId> {
    let mut axes = Vec::new();
    if facts.is_leaf(stmt) {
        let lanes = facts.iteration(stmt);
        for &result in &stmt.results {
            axes.extend(without(&lanes, facts.axes(result)));
        }
    }
    axes
}

/// What is known around a block whose tasks are listed.
pub(super) struct Around<'a, 'p> {
    /// The open axes.
    pub(super) open: &'a [AxisId],
    /// Whether the block is outside every kernel.
    pub(super) host: bool,
    /// What stands for arrays that a loop around it is about to collect: see
    /// [`guests`](super::guests).
    pub(super) steps: &'a BTreeMap<ValueId, ValueId>,
    /// The blocks around it that those who visit it come from.
    pub(super) homes: &'a [usize],
    /// Guests of the loop whose step the block is.
    pub(super) visitors: &'a [Visitor<'p>],
}

/// The tasks of `block`. `deliveries` are made at its end; `finals` are values needed there.
pub(super) fn tasks<'p>(
    facts: &Facts<'p>,
    block: &'p Block<Bulk>,
    around: &Around<'_, 'p>,
    deliveries: &[Delivery],
    finals: &[ValueId],
) -> Tasks<'p> {
    let mut survey = Survey {
        facts,
        around,
        block: facts.block(block),
        task_of: BTreeMap::new(),
        memo: FxHashMap::default(),
    };
    let mut list: Vec<Task<'p>> = Vec::new();
    let own: Vec<&'p Stmt<Bulk>> = block
        .stmts
        .iter()
        .filter(|stmt| !on_demand(&stmt.op) || facts.is_task(stmt.results[0]))
        .collect();
    // All of them are known before the first is looked at: a condition may wait for one that comes later.
    for (task, stmt) in own.iter().enumerate() {
        survey
            .task_of
            .extend(stmt.results.iter().map(|&result| (result, task)));
    }
    for (number, visitor) in around.visitors.iter().enumerate() {
        let task = own.len() + deliveries.len() + number;
        let results = visitor.kind.results().into_iter();
        survey.task_of.extend(results.map(|result| (result, task)));
    }
    for stmt in own {
        let kind = if on_demand(&stmt.op) {
            Kind::Keep(stmt.results[0])
        } else {
            Kind::Run(stmt)
        };
        let mut waits = survey.statement_waits(stmt);
        let guard = survey.guard(stmt, &mut waits, list.len());
        let exists = survey.exists(stmt, &mut waits, list.len());
        list.push(Task {
            exists,
            ..survey.task(kind, waits, guard)
        });
    }
    for (slot, delivery) in deliveries.iter().enumerate() {
        let mut waits = Waits::clone(&survey.waits(delivery.value));
        for &axis in &delivery.dims {
            if let Extent::Value(length) = facts.extent(axis) {
                let other = survey.waits(length);
                wait_for(&mut waits, &other, &[]);
            }
        }
        let kind = Kind::Deliver(delivery.value, slot);
        let task = survey.task(kind, waits, None);
        let written = written_down(&list, &task.reads);
        let apart = without(&delivery.dims, around.open);
        let (last, first): (Vec<_>, Vec<_>) = apart.iter().partition(|axis| written.contains(axis));
        list.push(Task {
            order: [first, last].concat(),
            ..task
        });
    }
    for visitor in around.visitors {
        let mut waits = match (visitor.kind, visitor.kind.statement(facts)) {
            (Kind::Deliver(value, _), _) => Waits::clone(&survey.waits(value)),
            (_, Some(stmt)) => survey.statement_waits(stmt),
            (_, None) => unreachable!("a task that is no delivery runs a statement"),
        };
        if let Some((cond, _)) = visitor.guard {
            let other = survey.waits(cond);
            wait_for(&mut waits, &other, &[]);
        }
        let task = survey.task(visitor.kind, waits, visitor.guard);
        list.push(Task {
            order: without(&visitor.order, around.open),
            visits: visitor.places.is_some(),
            ..task
        });
    }
    let mut last = Waits::new();
    for &value in finals {
        let other = survey.waits(value);
        wait_for(&mut last, &other, &[]);
    }
    let final_values: Vec<ValueId> = last.values().flat_map(|wait| wait.values.clone()).collect();
    invite(facts, &mut list, around.open, &final_values, around.host);
    Tasks {
        list,
        final_values,
        finals: last.into_keys().collect(),
    }
}
