//! Runs the tasks of one block: walks its loop tree and writes the loops.

mod at_once;
mod place;
mod statement;

pub(super) use place::Place;

use std::collections::BTreeMap;

use self::at_once::at_once;
use super::build::{Builder, Location};
use super::facts::without;
use super::guests::Visitor;
use super::order::improve;
use super::tasks::{Around, Delivery, Kind, Task, TaskId, Tasks, tasks};
use super::tree::{NodeId, NodeKind, Tree, tree};
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::stages::kernels::{Acc, KernelOp, Par};
use crate::ir::{AxisId, Block, Extent, Operation, Stmt, ValueId};

/// A block on its way.
pub(super) struct Region<'p> {
    pub(super) block: usize,
    pub(super) tasks: Tasks<'p>,
    pub(super) tree: Tree,
    /// By task: the places that it combines or stores into, one for each result (and what else it
    /// needs).
    pub(super) places: Vec<Vec<Place>>,
    /// By task: whether it has run.
    pub(super) done: Vec<bool>,
    /// By delivery: the buffer and its axes. One that is not there yet is made before it is stored
    /// into: its extents may depend on other tasks.
    pub(super) outs: Vec<Out>,
    /// The delivery, by a task that keeps its value where that is stored: see [`at_once`](at_once::at_once).
    pub(super) at_once: BTreeMap<TaskId, TaskId>,
}

/// A buffer that waits for an array, and its axes.
pub(super) type Out = (Option<ValueId>, Vec<AxisId>);

impl<'p> Builder<'p> {
    /// Runs a block in the innermost frame. Each delivery is stored in its buffer. `visitors` are
    /// guests of the loop whose step it is.
    pub(super) fn block(
        &mut self,
        block: &'p Block<Bulk>,
        deliveries: &[Delivery],
        outs: Vec<Out>,
        finals: &[ValueId],
        visitors: &[Visitor<'p>],
    ) -> Vec<Out> {
        let open = self.open();
        let homes: Vec<usize> = if self.steps.is_empty() {
            Vec::new()
        } else {
            self.blocks.iter().map(|&(block, _)| block).collect()
        };
        let around = Around {
            open: &open,
            host: self.kernel.is_none(),
            steps: &self.steps,
            homes: &homes,
            visitors,
        };
        let mut tasks = tasks(&self.facts, block, &around, deliveries, finals);
        let facts = &self.facts;
        let host = self.kernel.is_none();
        let tree = loop {
            let tree = tree(&tasks, host, &|cond| without(facts.axes(cond.0), &open));
            if !improve(facts, &mut tasks, &tree, &open, host) {
                break tree;
            }
        };
        let at_once = at_once(&self.facts, &tasks.list, &tree, &outs);
        let n = tasks.list.len();
        let mut places = vec![Vec::new(); n - visitors.len()];
        places.extend(
            visitors
                .iter()
                .map(|v| v.places.clone().unwrap_or_default()),
        );
        let mut region = Region {
            block: self.facts.block(block),
            tasks,
            tree,
            places,
            done: vec![false; n],
            outs,
            at_once,
        };
        self.blocks.push((region.block, self.depth()));
        self.children(&mut region, 0);
        self.blocks.pop();
        region.outs
    }

    fn children(&mut self, region: &mut Region<'p>, node: NodeId) {
        for child in region.tree.nodes[node].children.clone() {
            self.node(region, node, child);
        }
    }

    fn node(&mut self, region: &mut Region<'p>, parent: NodeId, node: NodeId) {
        for task in region.tree.tasks_below(node) {
            if region.tree.place[task] == parent {
                self.prepare(region, task, node);
            }
        }
        match region.tree.nodes[node].kind.clone() {
            NodeKind::Root => unreachable!("the root is nobody's child"),
            NodeKind::Leaf(task) => {
                self.task(region, task);
                for task in region.tree.tasks_below(node) {
                    region.done[task] = true;
                }
            }
            NodeKind::If(cond) => {
                let test = self.test(cond);
                self.push(Vec::new(), Some(cond));
                let mut before = Vec::new();
                for child in region.tree.nodes[node].children.clone() {
                    self.node(region, node, child);
                    before.extend(self.read_from_here(region, child));
                }
                let then = self.pop();
                for (result, location) in before {
                    self.locate(result, location);
                }
                self.run(KernelOp::If {
                    cond: test,
                    then: Box::new(then),
                    otherwise: Box::new(Block::default()),
                });
            }
            NodeKind::Loop { axis, in_order } => {
                if self.kernel.is_none() && !in_order {
                    self.par(region, node);
                } else {
                    let held = self.hold(region, &region.tree.tasks_below(node), axis);
                    let (index, extent) = self.new_index(axis);
                    self.push(vec![(axis, index)], None);
                    self.children(region, node);
                    let body = self.pop();
                    self.run(KernelOp::For {
                        extent,
                        reverse: false,
                        body: Box::new(body),
                    });
                    self.release(region, held);
                }
            }
        }
    }

    /// Lets what tasks give be read in the innermost frame only, which they have changed it in: in
    /// front of the branch it was another. Gives where it was read.
    fn read_from_here(&mut self, region: &Region<'p>, node: NodeId) -> Vec<(ValueId, Location)> {
        let tasks = region.tree.tasks_below(node).into_iter();
        let results = tasks.flat_map(|task| region.tasks.list[task].results());
        let mut before = Vec::new();
        for result in results.collect::<Vec<_>>() {
            let Some(location) = self.location(result).cloned() else {
                continue;
            };
            let mut here = location.clone();
            let (Location::Var { depth, .. } | Location::Buffer { depth, .. }) = &mut here;
            *depth = self.depth();
            self.locate(result, here);
            before.push((result, location));
        }
        before
    }

    /// A kernel: this loop and those directly inside it that are as parallel.
    fn par(&mut self, region: &mut Region<'p>, node: NodeId) {
        let mut chain: Vec<AxisId> = Vec::new();
        let mut last = node;
        while let NodeKind::Loop {
            axis,
            in_order: false,
        } = region.tree.nodes[last].kind
        {
            chain.push(axis);
            let [child] = region.tree.nodes[last].children[..] else {
                break;
            };
            let NodeKind::Loop {
                axis: next,
                in_order: false,
            } = region.tree.nodes[child].kind
            else {
                break;
            };
            let placed = region
                .tree
                .tasks_below(child)
                .iter()
                .any(|&t| region.tree.place[t] == last);
            let ragged = match self.facts.extent(next) {
                Extent::Value(v) => {
                    !self.facts.axes(v).is_empty()
                        || self.location(v).is_none() && !self.is_known(v)
                }
                Extent::Const(_) | Extent::Size(_) => false,
            };
            // A sum for each outer index that runs along the inner axis stays in one iteration.
            let split = region.tree.tasks_below(child).iter().any(|&t| {
                let reduced = &region.tasks.list[t].reduced;
                reduced.contains(&next) && !chain.iter().any(|a| reduced.contains(a))
            });
            // Iterations that write the same go one after the other.
            let ordered = region.tree.tasks_below(child).iter().any(|&t| {
                let sequential = &region.tasks.list[t].sequential;
                sequential.contains(&next)
            });
            #[cfg(test)]
            if ordered && !(placed || ragged || split) {
                crate::testing::entered::enter(&crate::testing::entered::ORDERED);
            }
            if placed || ragged || split || ordered {
                break;
            }
            last = child;
        }
        let mut bound = Vec::new();
        let mut extents = Vec::new();
        for &axis in &chain {
            let (index, extent) = self.new_index(axis);
            bound.push((axis, index));
            extents.push(extent);
        }
        let (mut accs, mut folds) = (Vec::new(), Vec::new());
        let mut shared = Vec::new();
        for task in region.tree.tasks_below(node) {
            let Kind::Run(stmt) = region.tasks.list[task].kind else {
                continue;
            };
            let combine = match &stmt.op {
                BulkOp::Reduce { combine, .. } => combine.clone(),
                BulkOp::Scatter { monoid, .. } => Combine::Monoid(*monoid),
                _ => continue,
            };
            let combined = region.tasks.list[task]
                .reduced
                .iter()
                .any(|a| chain.contains(a));
            if combined && !region.tree.is_below(region.tree.place[task], node) {
                shared.push((task, region.places[task].clone()));
                if let Combine::Monoid(monoid) = combine {
                    let target = region.places[task][0].id;
                    let private = self.private_copy(&mut region.places[task][0]);
                    accs.push(Acc::new(monoid, target, private));
                } else {
                    folds.push(self.folded(stmt, &mut region.places[task]));
                }
            }
        }
        let name = self.kernel_name(region, node);
        self.push(bound, None);
        self.kernel = Some(self.depth());
        self.children(region, last);
        self.kernel = None;
        let body = self.pop();
        self.run(KernelOp::Own(Par {
            number: 0,
            by_columns: false,
            speculates: false,
            name,
            extents,
            accs,
            folds,
            body: Box::new(body),
        }));
        for (task, places) in shared {
            region.places[task] = places;
        }
    }

    /// What a kernel computes: the names that the source gives to its results.
    fn kernel_name(&self, region: &Region<'p>, node: NodeId) -> String {
        let mut names: Vec<&str> = Vec::new();
        for task in region.tree.tasks_below(node) {
            let task = &region.tasks.list[task];
            let values = match task.kind {
                Kind::Deliver(value, _) => vec![value],
                Kind::Run(_) | Kind::Keep(_) => task.results(),
            };
            for value in values {
                if let Some(name) = &self.facts.program.values[value.index()].name
                    && !names.contains(&name.as_str())
                {
                    names.push(name);
                }
            }
        }
        names.truncate(3);
        if names.is_empty() {
            self.out.name.clone()
        } else {
            names.join("_")
        }
    }

    /// Where a delivery is stored; made in the innermost frame if it is not there yet.
    fn out(&mut self, region: &mut Region<'p>, value: ValueId, slot: usize) -> Place {
        let (buffer, dims) = region.outs[slot].clone();
        let id = buffer.unwrap_or_else(|| {
            self.reused(region, value, &dims).unwrap_or_else(|| {
                let elem = self.elem(self.facts.program.elem(value));
                self.place_of(elem, dims.clone(), None, Some(value)).id
            })
        });
        region.outs[slot].0 = Some(id);
        Place {
            id,
            dims,
            is_buffer: true,
        }
    }

    /// Makes the places of a task in the innermost frame, before the node it is in is entered.
    fn prepare(&mut self, region: &mut Region<'p>, task: TaskId, node: NodeId) {
        let Task { visits, inside, .. } = region.tasks.list[task];
        if visits || inside {
            return;
        }
        let here = region.tree.leaf[task] == node;
        let depth = self.depth();
        match region.tasks.list[task].kind {
            Kind::Deliver(value, slot) => {
                self.out(region, value, slot);
            }
            Kind::Keep(value) => {
                if let Some(&delivery) = region.at_once.get(&task)
                    && let Kind::Deliver(_, slot) = region.tasks.list[delivery].kind
                {
                    let place = self.out(region, value, slot);
                    self.locate(value, place.location(depth));
                    region.places[task] = vec![place];
                } else if !here || !self.rest(value).is_empty() {
                    let fill = self.unspecified(region, task, value);
                    let place = self.place(value, fill);
                    self.locate(value, place.location(depth));
                    region.places[task] = vec![place];
                }
            }
            Kind::Run(stmt) => match &stmt.op {
                BulkOp::Assert { .. } => {}
                _ if self.facts.is_leaf(stmt) && here => {}
                BulkOp::Scan { .. }
                | BulkOp::Loop { .. }
                | BulkOp::While { .. }
                | BulkOp::Derive { .. }
                | BulkOp::Rule { .. }
                | BulkOp::Pack { .. } => {
                    self.plain_places(region, task, stmt);
                }
                BulkOp::Reduce { .. } if self.facts.is_leaf(stmt) => {
                    self.plain_places(region, task, stmt)
                }
                BulkOp::Reduce { combine, .. } => self.reduce_places(region, task, stmt, combine),
                BulkOp::Scatter { .. } | BulkOp::Update { .. } => {
                    let place = self.versioned(region, task, stmt);
                    self.locate(stmt.results[0], place.location(depth));
                    region.places[task] = vec![place];
                }
                BulkOp::Const(_)
                | BulkOp::Size(_)
                | BulkOp::Iota(_)
                | BulkOp::Map(..)
                | BulkOp::Select(..)
                | BulkOp::Gather { .. } => unreachable!("computed on demand"),
            },
        }
    }
}

impl<'p> Region<'p> {
    /// Whether nothing will read `value` any more once `this` has run, so that its buffer may be
    /// changed.
    ///
    /// Reads that are still to come are done now if they are of single elements and the result
    /// stays at hand. `alone`: `this` runs at many points, so it must not itself read the value but
    /// through its base.
    pub(super) fn is_last_use(
        &self,
        builder: &mut Builder<'p>,
        value: ValueId,
        this: TaskId,
        alone: bool,
    ) -> bool {
        if builder.facts.home(value) != self.block || builder.facts.given(value) {
            return false;
        }
        let Kind::Run(own) = self.tasks.list[this].kind else {
            return false;
        };
        if own.op.operands().iter().filter(|&&v| v == value).count() > 1 {
            return false;
        }
        let mut now = Vec::new();
        let last = builder.facts.readers(value).iter().all(|&(reader, home)| {
            let Some(owner) = builder.facts.statement_of(reader, home, self.block) else {
                return false;
            };
            (std::ptr::eq(owner, own) && std::ptr::eq(reader, own))
                || self.has_run(builder, owner, this, alone, true, &mut now)
        });
        let frame = builder.frame_of_block();
        last && now.into_iter().all(|value| builder.eval(value).1 <= frame)
    }

    /// Whether a statement has run, once those values are computed that it puts into `now`.
    /// `element`: whether it is what reads the buffer.
    fn has_run(
        &self,
        builder: &Builder<'p>,
        stmt: &'p Stmt<Bulk>,
        this: TaskId,
        alone: bool,
        element: bool,
        now: &mut Vec<ValueId>,
    ) -> bool {
        let own = |task: &super::tasks::Task<'p>| match task.kind {
            Kind::Run(s) => std::ptr::eq(s, stmt),
            Kind::Keep(v) => stmt.results.contains(&v),
            Kind::Deliver(..) => false,
        };
        if let Some(task) = self.tasks.list.iter().position(own) {
            return (task == this && !alone) || self.done[task] || self.tree.is_before(task, this);
        }
        // Computed on demand: for whom?
        let [result] = stmt.results[..] else {
            return false;
        };
        let wanted = now.len();
        let mut readers = builder.facts.readers(result).iter();
        let all_ran = !builder.facts.given(result)
            && readers.all(|&(reader, home)| {
                let owner = builder.facts.statement_of(reader, home, self.block);
                owner.is_some_and(|owner| self.has_run(builder, owner, this, alone, false, now))
            });
        if all_ran {
            return true;
        }
        now.truncate(wanted);
        // A scalar computed in the block's own frame is at hand for everything that follows. Behind a guard it leaves there a variable,
        // which is worth less than a copy if it is the element itself.
        let stays = self.tree.place[this] == 0
            && (element || stmt.guard.is_none())
            && builder.rest(result).is_empty()
            && self.is_ready(builder, result);
        if stays {
            now.push(result);
        }
        stays
    }

    /// Whether everything that a value computed on demand depends on has been done.
    fn is_ready(&self, builder: &Builder<'p>, value: ValueId) -> bool {
        let makes = |task: &super::tasks::Task<'p>| task.results().contains(&value);
        if let Some(task) = self.tasks.list.iter().position(makes) {
            return self.done[task];
        }
        match builder.facts.site(value) {
            Some(stmt) if builder.facts.home(value) == self.block => {
                let decided = match stmt.op {
                    BulkOp::Select(cond, ..) => builder.facts.is_asked(cond),
                    _ => true,
                };
                let mut operands = stmt.op.operands().into_iter().chain(stmt.guard);
                decided && operands.all(|operand| self.is_ready(builder, operand))
            }
            _ => true,
        }
    }
}
