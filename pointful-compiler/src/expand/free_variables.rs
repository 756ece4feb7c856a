//! What a block of Point reads from outside, extents included, and whether it may panic.

use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Elem, Extent, Operation, Program, ValueId, ValueSet};
use crate::ops::Prim;

/// The extents that an operation names itself.
pub(super) fn extents(op: &PointOp) -> Option<Extent> {
    match op {
        PointOp::Size(extent) | PointOp::For { extent, .. } | PointOp::Loop { extent, .. } => {
            Some(*extent)
        }
        PointOp::Prim(prim, _) => prim.extent(),
        PointOp::Const(_)
        | PointOp::Index { .. }
        | PointOp::Array(_)
        | PointOp::Reduce { .. }
        | PointOp::ArgReduce { .. }
        | PointOp::Fold { .. }
        | PointOp::Scan { .. }
        | PointOp::While { .. }
        | PointOp::Derive { .. }
        | PointOp::Rule { .. }
        | PointOp::If { .. }
        | PointOp::Accum { .. }
        | PointOp::Accumulate { .. }
        | PointOp::Get { .. }
        | PointOp::Assert { .. }
        | PointOp::Update { .. } => None,
    }
}

/// Values bound outside the block that it reads: as operands, as results, or as extents of what it
/// binds. In order of first use.
pub(super) fn reads(program: &Program<Point>, block: &Block<Point>) -> Vec<ValueId> {
    let mut reads = Reads {
        program,
        bound: ValueSet::new(),
        seen: ValueSet::new(),
        free: Vec::new(),
    };
    reads.block(block);
    reads.free
}

struct Reads<'a> {
    program: &'a Program<Point>,
    bound: ValueSet,
    seen: ValueSet,
    free: Vec<ValueId>,
}

impl Reads<'_> {
    fn block(&mut self, block: &Block<Point>) {
        self.bind(&block.params);
        for stmt in &block.stmts {
            for value in stmt.op.operands() {
                self.read(value);
            }
            self.extent(extents(&stmt.op));
            for inner in stmt.op.blocks() {
                self.block(inner);
            }
            self.bind(&stmt.results);
        }
        for &value in &block.results {
            self.read(value);
        }
    }

    fn bind(&mut self, values: &[ValueId]) {
        for &value in values {
            self.bound.insert(value);
            let ty = self.program.ty(value);
            if let Elem::Index(extent) = ty.elem {
                self.extent(Some(extent));
            }
            for &extent in &ty.dims {
                self.extent(Some(extent));
            }
        }
    }

    fn extent(&mut self, extent: Option<Extent>) {
        if let Some(Extent::Value(value)) = extent {
            self.read(value);
        }
    }

    fn read(&mut self, value: ValueId) {
        if !self.bound.contains(&value) && self.seen.insert(value) {
            self.free.push(value);
        }
    }
}

/// Whether running the block may panic or not end, or trusts something that only the loops around
/// it make true.
pub(super) fn may_panic(program: &Program<Point>, block: &Block<Point>) -> bool {
    block.stmts.iter().any(|stmt| match &stmt.op {
        PointOp::Prim(prim, args) => {
            matches!(prim, Prim::Trust(_)) || prim.may_panic(program.elem(args[0]))
        }
        PointOp::ArgReduce { .. }
        | PointOp::Assert { .. }
        | PointOp::While { .. }
        | PointOp::Derive { .. }
        | PointOp::Rule { .. } => true,
        PointOp::For { .. }
        | PointOp::Fold { .. }
        | PointOp::Scan { .. }
        | PointOp::Loop { .. }
        | PointOp::If { .. } => stmt
            .op
            .blocks()
            .into_iter()
            .any(|inner| may_panic(program, inner)),
        PointOp::Const(_)
        | PointOp::Size(_)
        | PointOp::Index { .. }
        | PointOp::Array(_)
        | PointOp::Reduce { .. }
        | PointOp::Accum { .. }
        | PointOp::Accumulate { .. }
        | PointOp::Get { .. }
        | PointOp::Update { .. } => false,
    })
}
