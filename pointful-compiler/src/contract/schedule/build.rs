//! The kernel program in the making: open loops, and values computed where they are needed.
//!
//! *Frames* are the blocks being written, from the host's outermost to the innermost open one; each
//! binds the indices of its axes. [`Builder::eval`] gives a Bulk value at the current point. It is
//! computed in the outermost frame in which everything it depends on is known, once, and remembered
//! until that frame closes: what does not change in an inner loop is computed outside it.

mod eval;

use smallvec::smallvec;

use std::collections::BTreeMap;

use super::facts::{Cond, Facts};
use super::padding::Need;
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{
    AxisId, Block, Elem, Extent, Lit, Program, Scalar, SpanId, Stmt, Type, ValueId, ValueSet,
};
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
    /// What is stored as a whole: on the host, over all of its axes.
    pub(super) stored: ValueSet,
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
            stored: ValueSet::new(),
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
        let trust = KernelOp::Prim(Prim::Trust(extent), smallvec![number]);
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

    /// Adds a statement that binds a value to the frame of this depth; `of` is the Bulk value whose
    /// name it carries.
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
        self.run_at(self.depth(), op, span);
    }

    /// Adds a statement that binds nothing, and comes from this place, to the frame of this depth.
    pub(super) fn run_at(&mut self, depth: usize, op: KernelOp, span: SpanId) {
        let stmt = Stmt::new(Vec::new(), op, span);
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

    /// An index of an axis as one of the buffer's, whose room may be larger than the axis is here:
    /// the dimension of this number.
    pub(super) fn widen(
        &mut self,
        index: ValueId,
        buffer: ValueId,
        number: usize,
        depth: usize,
    ) -> ValueId {
        let extent = self.out.ty(buffer).dims[number];
        let elem = Elem::Index(extent);
        if self.out.elem(index) == elem {
            return index;
        }
        let cast = KernelOp::Prim(Prim::Cast(Scalar::Usize), smallvec![index]);
        let plain = self.scalar(depth, cast, Elem::USIZE, None);
        let trust = KernelOp::Prim(Prim::Trust(extent), smallvec![plain]);
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
            Elem::Scalar(_) | Elem::Bound(_) => elem,
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
