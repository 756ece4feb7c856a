//! Runs the tasks of one block: walks its loop tree and writes the loops.

use super::build::{Builder, Location};
use super::facts::without;
use super::guests::Visitor;
use super::order::improve;
use super::tasks::{Around, Delivery, Kind, Task, TaskId, Tasks, leaf_loop, tasks};
use super::tree::{NodeId, NodeKind, Tree, tree};
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::stages::kernels::{Acc, KernelOp};
use crate::ir::{AxisId, Block, Extent, Lit, Operation, Stmt, Type, ValueId};

/// A block on its way.
pub(super) struct Region<'p> {
    pub(super) block: usize,
    pub(super) tasks: Tasks<'p>,
    pub(super) tree: Tree,
    /// By task: the places that it combines or stores into, one for each result (and what else it needs).
    pub(super) places: Vec<Vec<Place>>,
    /// By task: whether it has run.
    pub(super) done: Vec<bool>,
    /// By delivery: the buffer and its axes.
    /// One that is not there yet is made before it is stored into: its extents may depend on other tasks.
    pub(super) outs: Vec<Out>,
}

/// A buffer that waits for an array, and its axes.
pub(super) type Out = (Option<ValueId>, Vec<AxisId>);

/// A `var` or a buffer.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) id: ValueId,
    /// The axes of a buffer; none for a `var`.
    pub(super) dims: Vec<AxisId>,
    pub(super) is_buffer: bool,
}

impl Place {
    /// Stands for a place that is made where the task runs, for nothing else reads what is there.
    pub(super) const OWN: Place = Place {
        id: ValueId(u32::MAX - 1),
        dims: Vec::new(),
        is_buffer: false,
    };

    /// Stands for the place of a result that nobody looks at.
    const NOWHERE: Place = Place {
        id: ValueId(u32::MAX),
        dims: Vec::new(),
        is_buffer: false,
    };

    pub(super) fn is_nowhere(&self) -> bool {
        self.id == Self::NOWHERE.id
    }

    /// See [`Place::OWN`].
    pub(super) fn is_own(&self) -> bool {
        self.id == Self::OWN.id
    }

    /// As a location read in the frame of this depth.
    pub(super) fn location(&self, depth: usize) -> Location {
        if self.is_buffer {
            Location::Buffer {
                buffer: self.id,
                dims: self.dims.clone(),
                depth,
            }
        } else {
            Location::Var {
                place: self.id,
                depth,
            }
        }
    }
}

impl<'p> Builder<'p> {
    /// Runs a block in the innermost frame. Each delivery is stored in its buffer. `visitors` are guests of the loop whose step it is.
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
                self.children(region, node);
                let then = self.pop();
                self.run(KernelOp::If {
                    cond: test,
                    then,
                    otherwise: Block::default(),
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
                        body,
                    });
                    self.release(region, held);
                }
            }
        }
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
            if placed || ragged || split {
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
                    accs.push(Acc {
                        monoid,
                        target,
                        private,
                    });
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
        self.run(KernelOp::Par {
            name,
            extents,
            accs,
            folds,
            body,
        });
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
                if let (None, dims) = region.outs[slot].clone() {
                    let buffer = self.reused(region, value, &dims).unwrap_or_else(|| {
                        let elem = self.elem(self.facts.program.elem(value));
                        self.place_of(elem, dims, None, Some(value)).id
                    });
                    region.outs[slot].0 = Some(buffer);
                }
            }
            Kind::Keep(value) => {
                if !here || !self.rest(value).is_empty() {
                    let fill = self.unspecified(region, task, value);
                    let place = self.place(value, fill);
                    self.locate(value, place.location(depth));
                    region.places[task] = vec![place];
                }
            }
            Kind::Run(stmt) => match &stmt.op {
                BulkOp::Assert { .. } => {}
                op if leaf_loop(op) && here => {}
                BulkOp::Scan { .. }
                | BulkOp::Loop { .. }
                | BulkOp::While { .. }
                | BulkOp::Derive { .. }
                | BulkOp::Rule { .. }
                | BulkOp::Pack { .. } => {
                    self.plain_places(region, task, stmt);
                }
                op @ BulkOp::Reduce { .. } if leaf_loop(op) => {
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

    fn plain_places(&mut self, region: &mut Region<'p>, task: TaskId, stmt: &'p Stmt<Bulk>) {
        for &result in &stmt.results {
            if !self.facts.is_read(result) || region.tasks.list[task].taken.contains(&result) {
                region.places[task].push(Place::NOWHERE);
                continue;
            }
            let lane = matches!(stmt.op, BulkOp::Loop { .. } | BulkOp::While { .. });
            if lane && region.tree.stays(task, result) {
                region.places[task].push(Place::OWN);
                continue;
            }
            let fill = self.unspecified(region, task, result);
            let place = self.place(result, fill);
            self.locate(result, place.location(self.depth()));
            region.places[task].push(place);
        }
    }

    /// What stands where a task does not run: nobody uses it, but it may be read before that is known.
    fn unspecified(&self, region: &Region<'p>, task: TaskId, value: ValueId) -> Option<Lit> {
        region.tasks.list[task]
            .guard
            .map(|_| Lit::of(self.facts.program.elem(value).repr(), 0.0))
    }

    /// The axes of a value that are not open, in its own order as far as they can be opened in it.
    pub(super) fn rest(&self, value: ValueId) -> Vec<AxisId> {
        let rest = without(self.facts.axes(value), &self.open());
        self.facts.nested(rest)
    }

    /// A new place for a value in the innermost frame: a `var` or a buffer over its axes that are not open.
    pub(super) fn place(&mut self, value: ValueId, fill: Option<Lit>) -> Place {
        let dims = self.rest(value);
        let elem = match self.facts.program.elem(value) {
            crate::ir::Elem::Index(extent) => {
                crate::ir::Elem::Index(self.padded(extent, Some(value)))
            }
            scalar @ crate::ir::Elem::Scalar(_) => scalar,
        };
        self.place_of(elem, dims, fill, Some(value))
    }

    pub(super) fn place_of(
        &mut self,
        elem: crate::ir::Elem,
        dims: Vec<AxisId>,
        fill: Option<Lit>,
        of: Option<ValueId>,
    ) -> Place {
        let depth = self.depth();
        if dims.is_empty() {
            let lit = fill.unwrap_or_else(|| Lit::of(elem.repr(), 0.0));
            let mut first = self.constant(lit);
            if let crate::ir::Elem::Index(extent) = elem {
                first = self.scalar(
                    depth,
                    KernelOp::Prim(crate::ops::Prim::Trust(extent), vec![first]),
                    elem,
                    None,
                );
            }
            let id = self.scalar(depth, KernelOp::Var(first), elem, of);
            return Place {
                id,
                dims,
                is_buffer: false,
            };
        }
        let extents = dims
            .iter()
            .map(|&axis| self.padded(self.facts.extent(axis), of))
            .collect();
        let id = self.bind(
            depth,
            KernelOp::Alloc { fill },
            Type::table(elem, extents),
            of,
        );
        Place {
            id,
            dims,
            is_buffer: true,
        }
    }

    /// What a place holds at the current point.
    pub(super) fn read(&mut self, place: &Place) -> ValueId {
        let depth = self.depth();
        let elem = self.out.elem(place.id);
        let op = if place.is_buffer {
            KernelOp::Load {
                buffer: place.id,
                indices: self.indices(place.id, &place.dims, &[]),
            }
        } else {
            KernelOp::Get(place.id)
        };
        self.scalar(depth, op, elem, None)
    }

    /// Puts a value into a place at the current point.
    pub(super) fn write(&mut self, place: &Place, value: ValueId) {
        let op = if place.is_buffer {
            KernelOp::Store {
                buffer: place.id,
                indices: self.indices(place.id, &place.dims, &[]),
                value,
            }
        } else {
            KernelOp::Set {
                place: place.id,
                value,
            }
        };
        self.run(op);
    }

    /// Runs one task: all its axes are open.
    fn task(&mut self, region: &mut Region<'p>, task: TaskId) {
        match region.tasks.list[task].kind {
            Kind::Keep(value) => match region.places[task].first().cloned() {
                None => {
                    self.eval(value);
                }
                Some(place) => {
                    let (scalar, _) = self.compute(value);
                    self.write(&place, scalar);
                    // Readers in the same iteration need not load it.
                    let depth = self.depth();
                    self.remember(value, scalar, depth);
                }
            },
            Kind::Deliver(value, slot) => {
                let (scalar, _) = self.eval(value);
                let (Some(buffer), dims) = region.outs[slot].clone() else {
                    unreachable!("the buffer was made before its loops")
                };
                let indices = self.indices(buffer, &dims, &[]);
                self.run(KernelOp::Store {
                    buffer,
                    indices,
                    value: scalar,
                });
            }
            Kind::Run(stmt) => self.statement(region, task, stmt),
        }
    }

    fn statement(&mut self, region: &mut Region<'p>, task: TaskId, stmt: &'p Stmt<Bulk>) {
        match &stmt.op {
            BulkOp::Reduce {
                combine: Combine::Custom { init, op },
                axes,
                operands,
            } if leaf_loop(&stmt.op) => {
                self.fold(region, task, stmt, axes[0], init, operands, op);
            }
            BulkOp::Reduce {
                combine,
                axes,
                operands,
            } => self.combine(region, task, combine, axes, operands),
            BulkOp::Scan { .. } => self.scan(region, task, stmt),
            BulkOp::Scatter {
                monoid,
                at,
                value,
                mask,
                ..
            } => {
                let place = region.places[task][0].clone();
                let monoid = *monoid;
                self.masked(*mask, |this| {
                    let indices = this.indices(place.id, &place.dims, at);
                    let (value, _) = this.eval(*value);
                    this.combine_one(stmt.results[0], monoid, &place, indices, value);
                });
            }
            BulkOp::Update {
                at, value, mask, ..
            } => {
                let place = region.places[task][0].clone();
                self.masked(*mask, |this| {
                    let indices = this.indices(place.id, &place.dims, at);
                    let (value, _) = this.eval(*value);
                    this.run(KernelOp::Store {
                        buffer: place.id,
                        indices,
                        value,
                    });
                });
            }
            BulkOp::Pack { axis, values } => {
                let place = region.places[task][0].clone();
                let extent = self.extent_of(*axis);
                for (k, &value) in values.iter().enumerate() {
                    let (scalar, _) = self.eval(value);
                    let number = self.constant(Lit::Int(crate::ir::Scalar::Usize, k as i128));
                    let elem = crate::ir::Elem::Index(extent);
                    let op = KernelOp::Prim(crate::ops::Prim::Trust(extent), vec![number]);
                    let index = self.scalar(self.depth(), op, elem, None);
                    let indices = place
                        .dims
                        .iter()
                        .map(|a| if a == axis { index } else { self.index(*a).0 })
                        .collect();
                    self.run(KernelOp::Store {
                        buffer: place.id,
                        indices,
                        value: scalar,
                    });
                }
            }
            BulkOp::Assert {
                cond,
                message,
                shown,
            } => {
                let (cond, _) = self.eval(*cond);
                let shown = shown.iter().map(|&value| self.eval(value).0).collect();
                self.run(KernelOp::Assert {
                    cond,
                    message: message.clone(),
                    shown,
                });
            }
            BulkOp::Loop {
                axis,
                reverse,
                init,
                body,
                ..
            } => {
                self.sequential_loop(region, task, stmt, *axis, *reverse, init, body);
            }
            BulkOp::While {
                init,
                cond,
                body,
                bound,
                ..
            } => {
                self.while_loop(region, task, stmt, init, cond, body, *bound);
            }
            BulkOp::Const(_)
            | BulkOp::Size(_)
            | BulkOp::Iota(_)
            | BulkOp::Map(..)
            | BulkOp::Select(..)
            | BulkOp::Gather { .. } => unreachable!("computed on demand"),
            BulkOp::Derive { .. } | BulkOp::Rule { .. } => {
                unreachable!("derivatives are taken before programs are scheduled")
            }
        }
    }

    /// Runs `body` where the mask holds.
    fn masked(&mut self, mask: Option<ValueId>, body: impl FnOnce(&mut Self)) {
        let asked = |mask: &ValueId| self.known((*mask, true)).is_none();
        let Some(mask) = mask.filter(asked) else {
            return body(self);
        };
        let test = self.test((mask, true));
        self.push(Vec::new(), Some((mask, true)));
        body(self);
        let then = self.pop();
        self.run(KernelOp::If {
            cond: test,
            then,
            otherwise: Block::default(),
        });
    }
}

impl<'p> Region<'p> {
    /// Whether nothing will read `value` any more once `this` has run, so that its buffer may be changed.
    ///
    /// Reads that are still to come are done now if they are of single elements and the result stays at hand.
    /// `alone`: `this` runs at many points, so it must not itself read the value but through its base.
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
        let readers = builder.facts.readers(value).to_vec();
        readers.into_iter().all(|(reader, home)| {
            let Some(owner) = builder.facts.statement_of(reader, home, self.block) else {
                return false;
            };
            (std::ptr::eq(owner, own) && std::ptr::eq(reader, own))
                || self.has_run(builder, owner, this, alone)
        })
    }

    fn has_run(
        &self,
        builder: &mut Builder<'p>,
        stmt: &'p Stmt<Bulk>,
        this: TaskId,
        alone: bool,
    ) -> bool {
        let own = |task: &super::tasks::Task<'p>| match task.kind {
            Kind::Run(s) => std::ptr::eq(s, stmt),
            Kind::Keep(v) => stmt.results.contains(&v),
            Kind::Deliver(..) => false,
        };
        if let Some(task) = self.tasks.list.iter().position(own) {
            return (task == this && !alone) || self.done[task];
        }
        // Computed on demand: for whom?
        let [result] = stmt.results[..] else {
            return false;
        };
        let all_ran = !builder.facts.given(result)
            && builder
                .facts
                .readers(result)
                .to_vec()
                .into_iter()
                .all(|(reader, home)| {
                    builder
                        .facts
                        .statement_of(reader, home, self.block)
                        .is_some_and(|owner| self.has_run(builder, owner, this, alone))
                });
        // A scalar computed in the block's own frame is at hand for everything that follows, but not one computed behind a condition.
        let stays = self.tree.place[this] == 0
            && stmt.guard.is_none()
            && builder.rest(result).is_empty()
            && self.is_ready(builder, result);
        all_ran || (stays && builder.eval(result).1 <= builder.frame_of_block())
    }

    /// Whether everything that a value computed on demand depends on has been done.
    fn is_ready(&self, builder: &Builder<'p>, value: ValueId) -> bool {
        let makes = |task: &super::tasks::Task<'p>| task.results().contains(&value);
        if let Some(task) = self.tasks.list.iter().position(makes) {
            return self.done[task];
        }
        match builder.facts.site(value) {
            Some(stmt) if builder.facts.home(value) == self.block => stmt
                .op
                .operands()
                .into_iter()
                .chain(stmt.guard)
                .all(|operand| self.is_ready(builder, operand)),
            _ => true,
        }
    }
}
