//! The kernel program in the making: open loops, and values computed where they are needed.
//!
//! *Frames* are the blocks being written, from the host's outermost to the innermost open one; each binds the indices of its axes.
//! [`Builder::eval`] gives a Bulk value at the current point. It is computed in the outermost frame in which everything it depends on is known,
//! once, and remembered until that frame closes: what does not change in an inner loop is computed outside it.

use std::collections::BTreeMap;

use super::facts::{Cond, Facts, Wanted};
use super::padding::Need;
use crate::ir::stages::bulk::BulkOp;
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{AxisId, Block, Elem, Extent, Lit, Program, Scalar, SpanId, Stmt, Type, ValueId};
use crate::ops::Prim;

/// Where the value of a task is found once it is complete.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Location {
    /// A scalar place, read in the frame of this depth.
    Var { place: ValueId, depth: usize },
    /// A buffer over these axes; other axes of the value are open around it.
    Buffer {
        buffer: ValueId,
        dims: Vec<AxisId>,
        depth: usize,
    },
}

/// A block being written.
struct Frame {
    stmts: Vec<Stmt<Kernels>>,
    /// What it is entered with.
    params: Vec<ValueId>,
    /// The axes it opens and the indices that stand for them.
    axes: Vec<(AxisId, ValueId)>,
    /// Bulk values remembered in it.
    memo: Vec<ValueId>,
    /// What is known to hold in it.
    held: Option<Cond>,
}

pub(super) struct Builder<'p> {
    pub(super) facts: Facts<'p>,
    pub(super) out: Program<Kernels>,
    frames: Vec<Frame>,
    /// By Bulk value: the scalar that holds it, and in which frame.
    memo: Vec<Option<(ValueId, usize)>>,
    /// By Bulk value.
    location: Vec<Option<Location>>,
    /// The frame of the kernel being written, if one is.
    pub(super) kernel: Option<usize>,
    /// The Bulk blocks being written and the frames they are in, outermost first.
    pub(super) blocks: Vec<(usize, usize)>,
    /// What would have to be padded.
    pub(super) needs: Vec<Need>,
    /// What stands for arrays that loops are about to collect: their values in the current steps.
    pub(super) steps: BTreeMap<ValueId, ValueId>,
}

impl<'p> Builder<'p> {
    pub(super) fn new(facts: Facts<'p>) -> Self {
        let n = facts.program.values.len();
        let mut out = Program::new(facts.program.name.clone());
        out.sizes.clone_from(&facts.program.sizes);
        let mut this = Self {
            facts,
            out,
            frames: Vec::new(),
            memo: vec![None; n],
            location: vec![None; n],
            kernel: None,
            blocks: Vec::new(),
            needs: Vec::new(),
            steps: BTreeMap::new(),
        };
        this.push(Vec::new(), None);
        let program = this.facts.program;
        for param in &program.params {
            let ty = program.ty(param.value);
            let elem = this.elem(ty.elem);
            let dims = ty.dims.iter().map(|&axis| this.extent_of(axis)).collect();
            let span = program.values[param.value.index()].span;
            let value = this
                .out
                .param(param.name.clone(), Type { elem, dims }, param.owned, span);
            if ty.dims.is_empty() {
                this.remember(param.value, value, 0);
            } else {
                let dims = ty.dims.clone();
                this.locate(
                    param.value,
                    Location::Buffer {
                        buffer: value,
                        dims,
                        depth: 0,
                    },
                );
            }
        }
        this
    }

    // Frames.

    /// Opens a block.
    pub(super) fn push(&mut self, axes: Vec<(AxisId, ValueId)>, held: Option<Cond>) {
        self.frames.push(Frame {
            stmts: Vec::new(),
            params: axes.iter().map(|&(_, index)| index).collect(),
            axes,
            memo: Vec::new(),
            held,
        });
    }

    /// Opens the block of a loop that counts something else than an axis.
    pub(super) fn push_loop(&mut self, counter: ValueId) {
        self.push(Vec::new(), None);
        let frame = self.frames.last_mut();
        frame.expect("it was just opened").params.push(counter);
    }

    /// Opens an axis in the innermost block, at the member of this number.
    pub(super) fn bind_axis(&mut self, axis: AxisId, number: ValueId) {
        let extent = self.extent_of(axis);
        let trust = KernelOp::Prim(Prim::Trust(extent), vec![number]);
        let index = self.scalar(self.depth(), trust, Elem::Index(extent), None);
        let frame = self.frames.last_mut();
        frame
            .expect("the host's is never closed")
            .axes
            .push((axis, index));
    }

    /// Closes the innermost block and gives its statements.
    pub(super) fn pop(&mut self) -> Block<Kernels> {
        let frame = self
            .frames
            .pop()
            .expect("frames are closed as often as they are opened");
        for value in frame.memo {
            self.memo[value.index()] = None;
        }
        Block {
            params: frame.params,
            stmts: frame.stmts,
            results: Vec::new(),
        }
    }

    /// How deep the innermost frame is.
    pub(super) fn depth(&self) -> usize {
        self.frames.len() - 1
    }

    /// The axes that are open.
    pub(super) fn open(&self) -> Vec<AxisId> {
        self.frames
            .iter()
            .flat_map(|frame| frame.axes.iter().map(|&(axis, _)| axis))
            .collect()
    }

    /// Whether axes are open that were not in the frame of this depth.
    pub(super) fn opened_since(&self, depth: usize) -> bool {
        self.frames[depth + 1..]
            .iter()
            .any(|frame| !frame.axes.is_empty())
    }

    /// The index that stands for an open axis, and the depth of its frame.
    pub(super) fn index(&self, axis: AxisId) -> (ValueId, usize) {
        let find = |(depth, frame): (usize, &Frame)| {
            frame
                .axes
                .iter()
                .find(|(a, _)| *a == axis)
                .map(|&(_, index)| (index, depth))
        };
        self.frames
            .iter()
            .enumerate()
            .rev()
            .find_map(find)
            .unwrap_or_else(|| {
                panic!(
                    "axis `{}` is not open",
                    self.facts.program.decls.axes[axis.0 as usize].name
                )
            })
    }

    /// A new index for an axis that is about to be opened, and the axis' extent.
    pub(super) fn new_index(&mut self, axis: AxisId) -> (ValueId, Extent) {
        let extent = self.extent_of(axis);
        let index = self
            .out
            .value(Type::scalar(Elem::Index(extent)), SpanId::NONE);
        self.out.values[index.index()].name =
            Some(self.facts.program.decls.axes[axis.0 as usize].name.clone());
        (index, extent)
    }

    /// A new index below an extent that is no axis'.
    pub(super) fn new_counter(&mut self, extent: Extent) -> ValueId {
        self.out
            .value(Type::scalar(Elem::Index(extent)), SpanId::NONE)
    }

    // Statements.

    /// Adds a statement that binds a scalar to the frame of this depth.
    pub(super) fn scalar(
        &mut self,
        depth: usize,
        op: KernelOp,
        elem: Elem,
        of: Option<ValueId>,
    ) -> ValueId {
        self.bind(depth, op, Type::scalar(elem), of)
    }

    /// Adds a statement that binds a value to the frame of this depth; `of` is the Bulk value whose name it carries.
    pub(super) fn bind(
        &mut self,
        depth: usize,
        op: KernelOp,
        ty: Type<Extent>,
        of: Option<ValueId>,
    ) -> ValueId {
        let source = of.map(|v| &self.facts.program.values[v.index()]);
        let span = source.map_or(SpanId::NONE, |v| v.span);
        let name = source.and_then(|v| v.name.clone());
        let value = self.out.value(ty, span);
        self.out.values[value.index()].name = name;
        self.frames[depth]
            .stmts
            .push(Stmt::new(vec![value], op, span));
        value
    }

    /// Adds a statement that binds nothing to the innermost frame.
    pub(super) fn run(&mut self, op: KernelOp) {
        self.run_from(op, SpanId::NONE);
    }

    /// The same, of what comes from this place.
    pub(super) fn run_from(&mut self, op: KernelOp, span: SpanId) {
        let depth = self.depth();
        self.frames[depth]
            .stmts
            .push(Stmt::new(Vec::new(), op, span));
    }

    /// Adds a statement that binds nothing to the frame of this depth.
    pub(super) fn run_at(&mut self, depth: usize, op: KernelOp) {
        let stmt = Stmt::new(Vec::new(), op, SpanId::NONE);
        self.frames[depth].stmts.push(stmt);
    }

    /// A constant in the innermost frame.
    pub(super) fn constant(&mut self, lit: Lit) -> ValueId {
        self.scalar(
            self.depth(),
            KernelOp::Const(lit),
            Elem::Scalar(lit.scalar()),
            None,
        )
    }

    // Types.

    /// The extent of an axis, its value computed if it is one.
    pub(super) fn extent_of(&mut self, axis: AxisId) -> Extent {
        self.extent(self.facts.extent(axis))
    }

    /// An index of an axis as one of the buffer's, whose room may be larger than the axis is here: the dimension of this number.
    fn widen(&mut self, index: ValueId, buffer: ValueId, number: usize, depth: usize) -> ValueId {
        let extent = self.out.ty(buffer).dims[number];
        let elem = Elem::Index(extent);
        if self.out.elem(index) == elem {
            return index;
        }
        let cast = KernelOp::Prim(Prim::Cast(Scalar::Usize), vec![index]);
        let plain = self.scalar(depth, cast, Elem::USIZE, None);
        let trust = KernelOp::Prim(Prim::Trust(extent), vec![plain]);
        self.scalar(depth, trust, elem, None)
    }

    /// An extent, its value computed if it is one.
    pub(super) fn extent(&mut self, extent: Extent) -> Extent {
        match extent {
            Extent::Const(_) | Extent::Size(_) => extent,
            Extent::Value(value) => Extent::Value(self.eval(value).0),
        }
    }

    /// An element type in terms of the kernel program.
    pub(super) fn elem(&mut self, elem: Elem) -> Elem {
        match elem {
            Elem::Scalar(_) => elem,
            Elem::Index(extent) => Elem::Index(self.extent(extent)),
        }
    }

    fn prim(&mut self, prim: Prim) -> Prim {
        match prim {
            Prim::Check(e) => Prim::Check(self.extent(e)),
            Prim::Wrap(e) => Prim::Wrap(self.extent(e)),
            Prim::ClampTo(e) => Prim::ClampTo(self.extent(e)),
            Prim::Mirror(e) => Prim::Mirror(self.extent(e)),
            Prim::InRange(e) => Prim::InRange(self.extent(e)),
            Prim::Trust(e) => Prim::Trust(self.extent(e)),
            plain => plain,
        }
    }

    // Values.

    /// Remembers that `scalar`, bound in the frame of this depth, holds `value`.
    pub(super) fn remember(&mut self, value: ValueId, scalar: ValueId, depth: usize) {
        self.memo[value.index()] = Some((scalar, depth));
        self.frames[depth].memo.push(value);
    }

    /// Says where a value is found from now on.
    pub(super) fn locate(&mut self, value: ValueId, location: Location) {
        self.location[value.index()] = Some(location);
    }

    pub(super) fn location(&self, value: ValueId) -> Option<&Location> {
        self.location[value.index()].as_ref()
    }

    /// Whether the value is at hand as a scalar.
    pub(super) fn is_known(&self, value: ValueId) -> bool {
        self.memo[value.index()].is_some()
    }

    /// The outermost frame in which something without operands is put: constants belong to the code that uses them.
    fn floor(&self) -> usize {
        self.kernel.unwrap_or(0)
    }

    /// The outermost frame that is only entered if the block of a value is: a loop around it may not run at all.
    fn reached(&self, value: ValueId) -> usize {
        let home = self.facts.home(value);
        self.blocks
            .iter()
            .rev()
            .find(|&&(block, _)| block == home)
            .map_or_else(|| self.depth(), |&(_, depth)| depth)
    }

    /// The frame of the innermost block.
    pub(super) fn frame_of_block(&self) -> usize {
        self.blocks.last().map_or(0, |&(_, depth)| depth)
    }

    /// In which frame it is known that `cond` holds, if it is.
    pub(super) fn known(&self, cond: Cond) -> Option<usize> {
        if let Some(depth) = self
            .frames
            .iter()
            .position(|frame| frame.held == Some(cond))
        {
            return Some(depth);
        }
        match (&self.facts.site(cond.0)?.op, cond.1) {
            (BulkOp::Map(Prim::And, args), true) | (BulkOp::Map(Prim::Or, args), false) => Some(
                self.known((args[0], cond.1))?
                    .max(self.known((args[1], cond.1))?),
            ),
            (BulkOp::Map(Prim::Not, args), side) => self.known((args[0], !side)),
            // In a loop over a set it has members.
            (BulkOp::Map(Prim::Gt, _), true) => self.frames.iter().position(|frame| {
                let mut axes = frame.axes.iter();
                axes.any(|&(axis, _)| self.facts.is_not_empty(cond.0, axis))
            }),
            _ => None,
        }
    }

    /// The scalar that `value` is at the current point, and the depth of the frame that binds it.
    pub(super) fn eval(&mut self, value: ValueId) -> (ValueId, usize) {
        if let Some(found) = self.memo[value.index()] {
            return found;
        }
        if let Some(&step) = self.steps.get(&value) {
            return self.eval(step);
        }
        let (scalar, depth) = if self.is_position(value) {
            self.position(value)
        } else if let Some(location) = self.location[value.index()].clone() {
            self.fetch(value, &location)
        } else {
            self.compute(value)
        };
        self.remember(value, scalar, depth);
        (scalar, depth)
    }

    pub(super) fn fetch(&mut self, value: ValueId, location: &Location) -> (ValueId, usize) {
        match location {
            &Location::Var { place, depth } => {
                let elem = self.out.elem(place);
                let depth = depth.max(self.least(value));
                (
                    self.scalar(depth, KernelOp::Get(place), elem, Some(value)),
                    depth,
                )
            }
            Location::Buffer {
                buffer,
                dims,
                depth,
            } => self.load(value, *buffer, dims, &[], *depth),
        }
    }

    fn load(
        &mut self,
        value: ValueId,
        buffer: ValueId,
        dims: &[AxisId],
        at: &[(AxisId, ValueId)],
        depth: usize,
    ) -> (ValueId, usize) {
        let mut depth = depth.max(self.least(value));
        let mut indices = Vec::new();
        for &axis in dims {
            let (index, d) = match at.iter().find(|(a, _)| *a == axis) {
                Some(&(_, index)) => self.eval(index),
                None => self.index(axis),
            };
            depth = depth.max(d);
            indices.push(index);
        }
        for (number, index) in indices.iter_mut().enumerate() {
            *index = self.widen(*index, buffer, number, depth);
        }
        let elem = self.out.elem(buffer);
        let mut scalar = self.scalar(depth, KernelOp::Load { buffer, indices }, elem, Some(value));
        let own = self.facts.program.elem(value);
        if !self.facts.pads.is_empty()
            && let (Elem::Index(found), Elem::Index(extent)) = (elem, self.elem(own))
            && found != extent
        {
            let op = KernelOp::Prim(Prim::Trust(extent), vec![scalar]);
            depth = self.depth();
            scalar = self.scalar(depth, op, Elem::Index(extent), Some(value));
        }
        (scalar, depth)
    }

    /// The outermost frame that a value may be computed in although its operands are known further out:
    /// inside the branch that alone wants it, or that it may be evaluated in.
    fn least(&self, value: ValueId) -> usize {
        let guard = self.facts.site(value).and_then(|stmt| stmt.guard);
        let guarded = guard.and_then(|g| self.known((g, true))).unwrap_or(0);
        match self.facts.wanted(value) {
            Wanted::When(cond) => self.known(cond).unwrap_or(0).max(guarded),
            Wanted::Always | Wanted::Never => guarded,
        }
    }

    /// The value at the current point although it may have a place, which is being filled.
    pub(super) fn compute(&mut self, value: ValueId) -> (ValueId, usize) {
        let stmt = self
            .facts
            .site(value)
            .expect("a value without a location is computed by a statement");
        if let Some(guard) = stmt.guard
            && self.known((guard, true)).is_none()
        {
            return self.choose((guard, true), value, Some(value), None);
        }
        let elem = self.elem(self.facts.program.elem(value));
        let mut depth = self.least(value);
        match &stmt.op {
            BulkOp::Const(lit) => {
                depth = depth.max(self.floor());
                let scalar = self.scalar(depth, KernelOp::Const(*lit), elem, Some(value));
                (scalar, depth)
            }
            BulkOp::Size(extent) => {
                let extent = self.extent(*extent);
                // The extent may have been computed in an inner frame.
                if let Extent::Value(_) = extent {
                    depth = self.depth();
                }
                (
                    self.scalar(depth, KernelOp::Size(extent), elem, Some(value)),
                    depth,
                )
            }
            BulkOp::Iota(axis) => self.index(*axis),
            BulkOp::Map(prim, args) => {
                let prim = self.prim(*prim);
                if prim_extent(prim).is_some_and(|e| matches!(e, Extent::Value(_))) {
                    depth = self.depth();
                }
                let elems: Vec<Elem> = args.iter().map(|&v| self.facts.program.elem(v)).collect();
                if prim.may_panic(&elems) {
                    depth = depth.max(self.reached(value));
                }
                let (operands, depth) = self.eval_all(args, depth);
                let op = KernelOp::Prim(prim, operands);
                (self.scalar(depth, op, elem, Some(value)), depth)
            }
            BulkOp::Select(cond, then, otherwise) => {
                let (cond, then, otherwise) = (*cond, *then, *otherwise);
                if self.is_branch(then, (cond, true)) || self.is_branch(otherwise, (cond, false)) {
                    return self.choose((cond, true), value, Some(then), Some(otherwise));
                }
                let (operands, depth) = self.eval_all(&[cond, then, otherwise], depth);
                let op = KernelOp::Select(operands[0], operands[1], operands[2]);
                (self.scalar(depth, op, elem, Some(value)), depth)
            }
            BulkOp::Gather { table, .. } if self.steps.contains_key(table) => self.eval(*table),
            BulkOp::Gather { table, at } => match self.location[table.index()].clone() {
                Some(Location::Buffer {
                    buffer,
                    dims,
                    depth,
                }) => {
                    // It is filled in the branch that it stands behind, if that is still being written.
                    let depth = depth.max(self.least(*table));
                    let (scalar, depth) = self.load(value, buffer, &dims, at, depth);
                    self.position_of(value, *table, scalar, depth)
                }
                Some(Location::Var { .. }) | None => {
                    debug_assert!(at.is_empty(), "what is read elsewhere is stored");
                    self.eval(*table)
                }
            },
            BulkOp::Pack { .. }
            | BulkOp::Reduce { .. }
            | BulkOp::Scan { .. }
            | BulkOp::Scatter { .. }
            | BulkOp::Update { .. }
            | BulkOp::Assert { .. }
            | BulkOp::Loop { .. }
            | BulkOp::While { .. }
            | BulkOp::Derive { .. }
            | BulkOp::Rule { .. } => {
                unreachable!("tasks have a location when they are read: {:?}", stmt.op)
            }
        }
    }

    /// Scalars at the current point, and the outermost frame, not outside `depth`, in which all are known.
    /// Constants are known everywhere: each frame that needs one has its own.
    fn eval_all(&mut self, values: &[ValueId], mut depth: usize) -> (Vec<ValueId>, usize) {
        let literal = |this: &Self, value: ValueId| match this.facts.site(value)?.op {
            BulkOp::Const(lit) => Some(lit),
            _ => None,
        };
        for &value in values {
            if literal(self, value).is_none() {
                depth = depth.max(self.eval(value).1);
            }
        }
        let scalars = values
            .iter()
            .map(
                |&value| match (literal(self, value), self.memo[value.index()]) {
                    (Some(lit), None) => {
                        let scalar = self.scalar(
                            depth,
                            KernelOp::Const(lit),
                            Elem::Scalar(lit.scalar()),
                            Some(value),
                        );
                        self.remember(value, scalar, depth);
                        scalar
                    }
                    (Some(lit), Some((_, bound))) if bound > depth => self.scalar(
                        depth,
                        KernelOp::Const(lit),
                        Elem::Scalar(lit.scalar()),
                        Some(value),
                    ),
                    (_, _) => self.eval(value).0,
                },
            )
            .collect();
        (scalars, depth)
    }

    /// Whether one side of a select is worth a branch: it is dear and wanted there only, or must not be evaluated elsewhere.
    fn is_branch(&self, value: ValueId, cond: Cond) -> bool {
        if let Some(&step) = self.steps.get(&value) {
            return self.is_branch(step, cond);
        }
        if self.is_known(value) || self.location[value.index()].is_some() {
            return false;
        }
        let Some(stmt) = self.facts.site(value) else {
            return false;
        };
        stmt.guard.is_some_and(|g| self.known((g, true)).is_none())
            || (self.facts.wanted(value) == Wanted::When(cond)
                && (self.facts.is_dear(value)
                    || crate::ir::Operation::operands(&stmt.op)
                        .iter()
                        .any(|&v| self.is_branch(v, cond))))
    }

    /// `if cond { then } else { otherwise }` as a scalar in the innermost frame; a missing side leaves a zero that nobody looks at.
    /// When `value` is itself guarded, `then` is `value`, computed again with its guard known.
    pub(super) fn choose(
        &mut self,
        cond: Cond,
        value: ValueId,
        then: Option<ValueId>,
        otherwise: Option<ValueId>,
    ) -> (ValueId, usize) {
        let depth = self.depth();
        let (test, _) = self.eval(cond.0);
        let elem = self.elem(self.facts.program.elem(value));
        // Indices are kept as plain numbers meanwhile: there may be no index to begin with.
        let repr = elem.repr();
        let zero = self.constant(Lit::of(repr, 0.0));
        let place = self.scalar(depth, KernelOp::Var(zero), Elem::Scalar(repr), Some(value));
        let mut blocks = Vec::new();
        for (side, source) in [(true, then), (false, otherwise)] {
            self.push(Vec::new(), Some((cond.0, side)));
            if let Some(source) = source {
                let (mut scalar, _) = if source != value {
                    self.eval(source)
                } else if self.is_position(value) {
                    self.position(value)
                } else {
                    self.compute(value)
                };
                if elem != Elem::Scalar(repr) {
                    scalar = self.scalar(
                        self.depth(),
                        KernelOp::Prim(Prim::Cast(repr), vec![scalar]),
                        Elem::Scalar(repr),
                        None,
                    );
                }
                self.run(KernelOp::Set {
                    place,
                    value: scalar,
                });
            }
            blocks.push(self.pop());
        }
        let otherwise = blocks.pop().expect("two sides");
        let then = blocks.pop().expect("two sides");
        self.run(KernelOp::If {
            cond: test,
            then,
            otherwise,
        });
        let mut scalar = self.scalar(depth, KernelOp::Get(place), Elem::Scalar(repr), Some(value));
        if let Elem::Index(extent) = elem {
            scalar = self.scalar(
                depth,
                KernelOp::Prim(Prim::Trust(extent), vec![scalar]),
                elem,
                Some(value),
            );
        }
        (scalar, depth)
    }

    /// The condition as a truth value in the innermost frame.
    pub(super) fn test(&mut self, cond: Cond) -> ValueId {
        let (test, _) = self.eval(cond.0);
        if cond.1 {
            return test;
        }
        self.scalar(
            self.depth(),
            KernelOp::Prim(Prim::Not, vec![test]),
            Elem::Scalar(Scalar::Bool),
            None,
        )
    }

    /// Indices into a buffer over these axes: given ones, or those of the open axes.
    pub(super) fn indices(
        &mut self,
        buffer: ValueId,
        dims: &[AxisId],
        at: &[(AxisId, ValueId)],
    ) -> Vec<ValueId> {
        let depth = self.depth();
        let mut indices = Vec::new();
        for (number, &axis) in dims.iter().enumerate() {
            let index = match at.iter().find(|(a, _)| *a == axis) {
                Some(&(_, index)) => self.eval(index).0,
                None => self.index(axis).0,
            };
            indices.push(self.widen(index, buffer, number, depth));
        }
        indices
    }
}

/// The extent that a primitive carries.
fn prim_extent(prim: Prim) -> Option<Extent> {
    match prim {
        Prim::Check(e)
        | Prim::Wrap(e)
        | Prim::ClampTo(e)
        | Prim::Mirror(e)
        | Prim::InRange(e)
        | Prim::Trust(e) => Some(e),
        _ => None,
    }
}
