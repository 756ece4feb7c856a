//! Which loops the tasks of a block share: a tree of loops with tasks at its leaves.
//!
//! Tasks are taken in order. A task joins the first loop over one of its axes that it may join,
//! else it opens one. It may join a loop over `x` if every task that it waits for is in an earlier
//! loop, or in this one and needed only at the same `x` (so that loops are only ever fused along
//! axes that two tasks share by name). The same is then done inside each loop.
//!
//! What no reader can share loops with is done as early as it can be, so that it does not stand
//! between tasks that share some. And of what is kept only for tasks of one later loop, point for
//! point, nothing is stored: it moves there.

use std::collections::BTreeMap;

use super::facts::{Cond, without};
use super::tasks::{Kind, Task, TaskId, Tasks};
use crate::ir::stages::bulk::BulkOp;
use crate::ir::{AxisId, Operation, ValueId};

/// A node: an index into [`Tree::nodes`]. The root is 0.
pub(super) type NodeId = usize;

#[derive(Clone, Debug)]
pub(super) enum NodeKind {
    /// The block itself.
    Root,
    /// A loop over an axis; `in_order` when a task inside has to proceed in order.
    Loop { axis: AxisId, in_order: bool },
    /// Tasks that run only if a condition holds.
    If(Cond),
    /// One task, all of whose axes are open.
    Leaf(TaskId),
}

pub(super) struct Node {
    pub(super) kind: NodeKind,
    pub(super) parent: NodeId,
    pub(super) children: Vec<NodeId>,
}

pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    /// By task: where its result is kept, the deepest node around it and all that read it.
    pub(super) place: Vec<NodeId>,
    /// By task: its leaf.
    pub(super) leaf: Vec<NodeId>,
    /// By result that is read: the deepest node around the task and all that read this result.
    values: BTreeMap<ValueId, NodeId>,
    /// By task: its guests, which are done where it is.
    guests: Vec<Vec<TaskId>>,
}

/// A loop, condition or task in the making.
struct Cluster {
    key: NodeKind,
    tasks: Vec<TaskId>,
}

struct Grower<'t, 'p> {
    tasks: &'t [Task<'p>],
    /// By task: whether it runs over something that none of its readers begins with.
    apart: Vec<bool>,
    guard_axes: &'t dyn Fn(Cond) -> Vec<AxisId>,
    nodes: Vec<Node>,
    leaf: Vec<NodeId>,
}

/// Grows the tree. `host`: whether the block is outside every kernel, so that loops in order must
/// stay apart from parallel ones. `guard_axes`: the axes of a condition that are not open around
/// the block.
pub(super) fn tree(
    tasks: &Tasks<'_>,
    host: bool,
    guard_axes: &dyn Fn(Cond) -> Vec<AxisId>,
) -> Tree {
    let root = Node {
        kind: NodeKind::Root,
        parent: 0,
        children: Vec::new(),
    };
    let mut grower = Grower {
        tasks: &tasks.list,
        apart: apart(&tasks.list),
        guard_axes,
        nodes: vec![root],
        leaf: vec![0; tasks.list.len()],
    };
    let all: Vec<TaskId> = (0..tasks.list.len())
        .filter(|&task| tasks.list[task].guest_of.is_none())
        .collect();
    grower.grow(0, &all, &mut Vec::new(), &mut Vec::new(), host);
    let Grower {
        nodes, mut leaf, ..
    } = grower;
    for (task, Task { guest_of, .. }) in tasks.list.iter().enumerate() {
        if let Some(host) = *guest_of {
            leaf[task] = leaf[host];
        }
    }
    let mut tree = Tree {
        nodes,
        place: Vec::new(),
        leaf,
        values: BTreeMap::new(),
        guests: tasks.list.iter().map(|task| task.guests.clone()).collect(),
    };
    tree.place = tree
        .leaf
        .iter()
        .map(|&leaf| tree.nodes[leaf].parent)
        .collect();
    for (reader, task) in tasks.list.iter().enumerate() {
        if task.visits || matches!(task.kind, Kind::Deliver(..)) {
            tree.place[reader] = 0;
        }
        for read in &task.reads {
            tree.place[read.task] = tree.meet(tree.place[read.task], tree.leaf[reader]);
            let own = tree.nodes[tree.leaf[read.task]].parent;
            for &value in &read.values {
                let known = tree.values.get(&value).copied().unwrap_or(own);
                let meet = tree.meet(known, tree.leaf[reader]);
                tree.values.insert(value, meet);
            }
        }
    }
    for &task in &tasks.finals {
        tree.place[task] = 0;
    }
    for &value in &tasks.final_values {
        tree.values.insert(value, 0);
    }
    tree
}

/// By task: whether it is a value or a sum that others read, over some axes of which the first is
/// that of none of them.
fn apart(tasks: &[Task<'_>]) -> Vec<bool> {
    let first = |task: &Task<'_>| task.order.first().copied();
    let mut readers = vec![0; tasks.len()];
    let mut near = vec![0; tasks.len()];
    for task in tasks {
        for read in &task.reads {
            readers[read.task] += 1;
            near[read.task] += usize::from(first(task) == first(&tasks[read.task]));
        }
    }
    let is_value = |task: &Task<'_>| match task.kind {
        Kind::Run(stmt) => matches!(stmt.op, BulkOp::Reduce { .. }),
        Kind::Keep(_) => true,
        Kind::Deliver(..) => false,
    };
    let apart = |(number, task): (usize, &Task<'_>)| {
        let free = is_value(task) && task.sequential.is_empty() && !task.order.is_empty();
        free && readers[number] > 0 && near[number] == 0
    };
    tasks.iter().enumerate().map(apart).collect()
}

impl Grower<'_, '_> {
    fn grow(
        &mut self,
        parent: NodeId,
        tasks: &[TaskId],
        open: &mut Vec<AxisId>,
        held: &mut Vec<Cond>,
        host: bool,
    ) {
        let mut clusters: Vec<Cluster> = Vec::new();
        // By task: the cluster it is in.
        let mut cluster_of: BTreeMap<TaskId, usize> = BTreeMap::new();
        for &id in tasks {
            let task = &self.tasks[id];
            let rest: Vec<AxisId> = task
                .order
                .iter()
                .copied()
                .filter(|a| !open.contains(a))
                .collect();
            let near: Vec<(usize, &super::tasks::Read)> = task
                .reads
                .iter()
                .filter_map(|read| cluster_of.get(&read.task).map(|&c| (c, read)))
                .collect();
            let after = near.iter().map(|&(c, _)| c + 1).max().unwrap_or(0);
            // A branch that only says where something is accumulated is no reason to leave a loop.
            let mask = task.mask.filter(|_| rest.is_empty());
            let mut guards = task.guard.into_iter().chain(task.exists).chain(mask);
            let guard = guards.find(|g| {
                !held.contains(g) && (self.guard_axes)(*g).iter().all(|a| open.contains(a))
            });
            let joined = if let Some(guard) = guard {
                let first = near.iter().map(|&(c, _)| c).max().unwrap_or(0);
                (first..clusters.len()).find(|&c| {
                    matches!(clusters[c].key, NodeKind::If(g) if g == guard)
                        && near.iter().all(|&(near, read)| {
                            near < c || (near == c && !read.first && !read.length)
                        })
                })
            } else {
                (0..clusters.len())
                    .find(|&c| self.may_join(&clusters[c], c, id, &rest, &near, host, open))
            };
            let cluster = joined.unwrap_or_else(|| {
                debug_assert!(after <= clusters.len());
                let key = match (guard, rest.first()) {
                    (Some(guard), _) => NodeKind::If(guard),
                    (None, Some(&axis)) => NodeKind::Loop {
                        axis,
                        in_order: host && task.sequential.contains(&axis),
                    },
                    (None, None) => NodeKind::Leaf(id),
                };
                let place = match guard {
                    None if self.apart[id] => after,
                    _ => clusters.len(),
                };
                if place < clusters.len() {
                    for cluster in cluster_of.values_mut() {
                        *cluster += usize::from(*cluster >= place);
                    }
                }
                let tasks = Vec::new();
                clusters.insert(place, Cluster { key, tasks });
                place
            });
            clusters[cluster].tasks.push(id);
            let all = std::iter::once(&id).chain(&task.guests);
            cluster_of.extend(all.map(|&id| (id, cluster)));
        }
        if host {
            self.postpone(&mut clusters, &mut cluster_of);
        }
        for Cluster { key, tasks } in clusters.into_iter().filter(|c| !c.tasks.is_empty()) {
            let node = self.nodes.len();
            self.nodes.push(Node {
                kind: key.clone(),
                parent,
                children: Vec::new(),
            });
            self.nodes[parent].children.push(node);
            match key {
                NodeKind::Leaf(task) => self.leaf[task] = node,
                NodeKind::If(cond) => {
                    held.push(cond);
                    self.grow(node, &tasks, open, held, host);
                    held.pop();
                }
                NodeKind::Loop { axis, in_order } => {
                    open.push(axis);
                    self.grow(node, &tasks, open, held, host && in_order);
                    open.pop();
                }
                NodeKind::Root => {}
            }
        }
    }

    /// Moves values to the later cluster that all of their readers are in.
    fn postpone(&self, clusters: &mut [Cluster], cluster_of: &mut BTreeMap<TaskId, usize>) {
        let mut readers: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
        for (reader, task) in self.tasks.iter().enumerate() {
            for read in &task.reads {
                readers.entry(read.task).or_default().push(reader);
            }
        }
        let moved: Vec<TaskId> = cluster_of.keys().copied().rev().collect();
        for id in moved {
            let own = cluster_of[&id];
            let readers = readers.get(&id).map_or(&[][..], Vec::as_slice);
            let Some(&later) = readers.first().and_then(|reader| cluster_of.get(reader)) else {
                continue;
            };
            let together = readers
                .iter()
                .all(|reader| cluster_of.get(reader) == Some(&later));
            if together && later > own && self.may_wait(id, readers, &clusters[own + 1..=later]) {
                clusters[own].tasks.retain(|&task| task != id);
                let tasks = &mut clusters[later].tasks;
                let place = tasks.partition_point(|&task| task < id);
                tasks.insert(place, id);
                cluster_of.insert(id, later);
            }
        }
    }

    /// Whether a value may be computed where its readers are, in the last of these clusters: none
    /// of them needs more of it than one point, and none changes in place what it is made of.
    fn may_wait(&self, id: TaskId, readers: &[TaskId], clusters: &[Cluster]) -> bool {
        let task = &self.tasks[id];
        let Some(cluster) = clusters.last() else {
            return false;
        };
        let NodeKind::Loop {
            axis,
            in_order: false,
        } = cluster.key
        else {
            return false;
        };
        let free = matches!(task.kind, Kind::Keep(_))
            && task.order.first() == Some(&axis)
            && task.reduced.is_empty()
            && task.sequential.is_empty()
            && task.guard.is_none()
            && task.exists.is_none()
            && task.mask.is_none()
            && task.guest_of.is_none()
            && task.guests.is_empty()
            && !task.visits;
        let at_a_point = |&reader: &TaskId| {
            let reads = self.tasks[reader].reads.iter();
            reads
                .filter(|read| read.task == id)
                .all(|read| !read.first && !read.length && !read.complete.contains(&axis))
        };
        let made_of: Vec<ValueId> = task
            .reads
            .iter()
            .flat_map(|read| read.values.iter().copied())
            .collect();
        let changes = |&other: &TaskId| match self.tasks[other].kind {
            Kind::Run(stmt) => match &stmt.op {
                BulkOp::Scatter { .. }
                | BulkOp::Update { .. }
                | BulkOp::Loop { .. }
                | BulkOp::While { .. } => stmt
                    .op
                    .operands()
                    .iter()
                    .any(|value| made_of.contains(value)),
                _ => false,
            },
            Kind::Keep(_) | Kind::Deliver(..) => false,
        };
        free && readers.iter().all(at_a_point)
            && !clusters
                .iter()
                .flat_map(|cluster| &cluster.tasks)
                .any(changes)
            && !cluster
                .tasks
                .iter()
                .any(|&other| self.are_strangers(id, other, true, &[]))
    }

    /// Whether a task may become part of a cluster that is a loop.
    #[expect(
        clippy::too_many_arguments,
        reason = "what is known of the task, and of where it would go"
    )]
    fn may_join(
        &self,
        cluster: &Cluster,
        number: usize,
        id: TaskId,
        rest: &[AxisId],
        near: &[(usize, &super::tasks::Read)],
        host: bool,
        open: &[AxisId],
    ) -> bool {
        let NodeKind::Loop { axis, in_order } = cluster.key else {
            return false;
        };
        let task = &self.tasks[id];
        if !rest.contains(&axis) || (host && task.sequential.contains(&axis) != in_order) {
            return false;
        }
        // A task whose loops would be exchanged for it joins what it reads, but not if that is smaller by one of the loops that would
        // come to stand inside: to store it is little, and to go through memory in another order is much.
        let here = |&&(c, _): &&(usize, &super::tasks::Read)| c == number;
        let follows = near.iter().any(|read| here(&read));
        let as_large = |a: &AxisId| {
            let mut read = near.iter().filter(here);
            read.any(|(_, read)| self.tasks[read.task].order.contains(a))
        };
        let mut inside = rest.iter().take_while(|&&a| a != axis);
        if rest[0] != axis && (task.settled || !follows || !inside.all(as_large)) {
            return false;
        }
        let strange = |&other: &TaskId| self.are_strangers(id, other, follows, open);
        if host && !in_order && cluster.tasks.iter().any(strange) {
            return false;
        }
        near.iter().all(|&(c, read)| {
            let other = &self.tasks[read.task];
            c < number
                || (c == number
                    && !read.first
                    && other.order.contains(&axis)
                    && !other.reduced.contains(&axis)
                    && !read.complete.contains(&axis))
        })
    }

    /// Whether two tasks would be less parallel together than apart, and that counts: they sum into
    /// tables of different axes, and neither waits for the other, so that nothing would have to be
    /// stored between them; or neighbouring points of one want to be computed together, and the
    /// other does not run over all the axes that it takes to have neighbours.
    fn are_strangers(&self, a: TaskId, b: TaskId, follows: bool, open: &[AxisId]) -> bool {
        let runs = |task: TaskId| {
            let Task { order, reduced, .. } = &self.tasks[task];
            let mut rest = order.iter().filter(|axis| !open.contains(axis)).peekable();
            let within = rest.peek().is_some_and(|axis| !reduced.contains(axis));
            let sums = rest.any(|axis| reduced.contains(axis));
            (sums, sums && within && self.tasks[task].neighbours)
        };
        let ((sums_a, near_a), (sums_b, near_b)) = (runs(a), runs(b));
        // Most pairs are decided here.
        if !(near_a || near_b || (!follows && sums_a && sums_b)) {
            return false;
        }
        let kept = |task: TaskId| {
            let Task { order, reduced, .. } = &self.tasks[task];
            without(&without(order, open), reduced)
        };
        let (of_a, of_b) = (kept(a), kept(b));
        let (more, less) = (
            !without(&of_a, &of_b).is_empty(),
            !without(&of_b, &of_a).is_empty(),
        );
        (near_a && more)
            || (near_b && less)
            || (!follows && sums_a && sums_b && of_a.len() > 1 && of_b.len() > 1 && (more || less))
    }
}

impl Tree {
    /// The deepest node that is around (or is) both.
    fn meet(&self, mut a: NodeId, mut b: NodeId) -> NodeId {
        // Parents have smaller numbers than their children.
        while a != b {
            if a > b {
                a = self.nodes[a].parent;
            } else {
                b = self.nodes[b].parent;
            }
        }
        a
    }

    /// Whether a result of a task is read where the task runs only.
    pub(super) fn stays(&self, task: TaskId, result: ValueId) -> bool {
        self.values.get(&result) == Some(&self.nodes[self.leaf[task]].parent)
    }

    /// Whether a task is done by the time another begins that shares branches with it, inside of
    /// the loops that the other's place is made in.
    pub(super) fn is_before(&self, task: TaskId, other: TaskId) -> bool {
        let mut inner = self.leaf[other];
        while inner != self.place[other] {
            let outer = self.nodes[inner].parent;
            if self.is_below(self.leaf[task], outer) {
                let mut children = self.nodes[outer].children.iter();
                let first = children
                    .find(|&&child| child == inner || self.is_below(self.leaf[task], child));
                return first != Some(&inner) && self.is_straight(outer, self.place[other]);
            }
            inner = outer;
        }
        false
    }

    /// Whether only branches are between a node and one around it.
    fn is_straight(&self, node: NodeId, around: NodeId) -> bool {
        node == around
            || matches!(self.nodes[node].kind, NodeKind::If(_))
                && self.is_straight(self.nodes[node].parent, around)
    }

    /// Whether `node` is `ancestor` or below it.
    pub(super) fn is_below(&self, mut node: NodeId, ancestor: NodeId) -> bool {
        while node > ancestor {
            node = self.nodes[node].parent;
        }
        node == ancestor
    }

    /// The tasks at the leaves below `node`, in order, and their guests.
    pub(super) fn tasks_below(&self, node: NodeId) -> Vec<TaskId> {
        match self.nodes[node].kind {
            NodeKind::Leaf(task) => [&[task], self.guests[task].as_slice()].concat(),
            NodeKind::Root | NodeKind::Loop { .. } | NodeKind::If(_) => self.nodes[node]
                .children
                .iter()
                .flat_map(|&child| self.tasks_below(child))
                .collect(),
        }
    }
}
