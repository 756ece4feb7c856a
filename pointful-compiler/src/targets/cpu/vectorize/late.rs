//! Writes that wait until all lanes have run.

use std::collections::BTreeMap;

use crate::contract::cloning::Renamed;
use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::{Block, Elem, Extent, Program, SpanId, Stmt, Type, ValueId};
use crate::targets::cpu::statements::{bind, scalar};

/// What lanes keep for writes, by the buffer that is written: each write, and the array in which a
/// lane keeps its value.
pub(super) struct Late {
    /// The number of a lane that keeps.
    pub(super) lane: ValueId,
    width: u64,
    span: SpanId,
    writes: BTreeMap<ValueId, Vec<(Stmt<Cpu>, ValueId)>>,
}

impl Late {
    pub(super) fn new(program: &mut Program<Cpu>, width: u64, span: SpanId) -> Self {
        Self {
            lane: scalar(program, Elem::Index(Extent::Const(width)), span),
            width,
            span,
            writes: BTreeMap::new(),
        }
    }

    /// Keeps what a statement writes: `arrays` are what comes before the lanes, `each` a lane.
    pub(super) fn keep(
        &mut self,
        program: &mut Program<Cpu>,
        stmt: &Stmt<Cpu>,
        arrays: &mut Vec<Stmt<Cpu>>,
        each: &mut Vec<Stmt<Cpu>>,
    ) {
        let (CpuOp::Store {
            buffer: place,
            value,
            ..
        }
        | CpuOp::Combine { place, value, .. }) = stmt.op
        else {
            unreachable!("what waits is written into a buffer")
        };
        let elem = program.elem(value);
        let kept = array(program, elem, self.width, None, self.span, arrays);
        let store = CpuOp::Store {
            buffer: kept,
            indices: vec![self.lane],
            value,
        };
        each.push(Stmt::new(Vec::new(), store, self.span));
        let writes = self.writes.entry(place).or_default();
        writes.push((stmt.clone(), kept));
    }

    /// The lanes that write: for each buffer in their order. `index`: what the writes call a lane's
    /// index; `names`: what else they know by another name.
    pub(super) fn written(
        self,
        program: &mut Program<Cpu>,
        strip: ValueId,
        index: ValueId,
        names: &mut Renamed,
    ) -> Vec<Stmt<Cpu>> {
        let mut all = Vec::new();
        for writes in self.writes.into_values() {
            let lane = scalar(program, Elem::Index(Extent::Const(self.width)), self.span);
            let mut block = Block {
                params: vec![index],
                ..Block::default()
            };
            for (mut stmt, kept) in writes {
                let load = CpuOp::Load {
                    buffer: kept,
                    indices: vec![lane],
                };
                let elem = program.elem(kept);
                let loaded = bind(program, load, elem, self.span, &mut block.stmts);
                if let CpuOp::Store { value, .. } | CpuOp::Combine { value, .. } = &mut stmt.op {
                    *value = loaded;
                }
                block.stmts.push(stmt);
            }
            names.block(program, &mut block);
            block.params.insert(0, lane);
            all.push(lanes(strip, true, block, self.span));
        }
        all
    }
}

/// The lanes of a strip.
pub(super) fn lanes(strip: ValueId, in_order: bool, body: Block<Cpu>, span: SpanId) -> Stmt<Cpu> {
    let op = Own::Lanes {
        strip,
        in_order,
        body: Box::new(body),
    };
    Stmt::new(Vec::new(), CpuOp::Own(op), span)
}

/// A short array.
pub(super) fn array(
    program: &mut Program<Cpu>,
    elem: Elem,
    length: u64,
    fill: Option<crate::ir::Lit>,
    span: SpanId,
    out: &mut Vec<Stmt<Cpu>>,
) -> ValueId {
    let array = program.value(Type::table(elem, vec![Extent::Const(length)]), span);
    out.push(Stmt::new(vec![array], CpuOp::Alloc { fill }, span));
    array
}
