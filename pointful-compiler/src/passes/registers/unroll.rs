//! Loops of constant length, each iteration written down.

use std::collections::BTreeMap;

use super::{Loop, SHORTEST};
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{
    Block, Elem, Extent, Lit, Operation, Program, Scalar, Stmt, Type, ValueId, ValueSet,
};
use crate::ops::Prim;
use crate::passes::renamed::Renamed;

/// The most work, in additions, that is written down for a loop: functions are inlined, and loops that compute them are run in vectors.
const MOST: u64 = 256;
/// The same for the shortest loops, which are less than that to whoever reads them.
const MOST_SHORTEST: u64 = 1024;

impl Loop {
    /// Whether it does not become too much.
    pub(super) fn may_be_unrolled(&self) -> bool {
        let most = match self.trips <= SHORTEST {
            true => MOST_SHORTEST,
            false => MOST,
        };
        !self.launches && self.trips.saturating_mul(self.work) <= most
    }
}

/// Unrolls loops, given by their indices.
pub(super) fn unroll(mut program: Program<Kernels>, loops: &ValueSet) -> Program<Kernels> {
    if loops.is_empty() {
        return program;
    }
    let body = std::mem::take(&mut program.body);
    let mut walk = Walk {
        program,
        loops,
        names: Renamed::default(),
        indices: BTreeMap::new(),
    };
    let body = walk.block(body, false);
    let mut program = walk.program;
    program.body = body;
    program
}

struct Walk<'a> {
    program: Program<Kernels>,
    loops: &'a ValueSet,
    names: Renamed,
    /// The indices that have become numbers which every type holds.
    indices: BTreeMap<ValueId, i8>,
}

impl Walk<'_> {
    /// A block, or a copy of it that binds values of its own. There is no kernel in what is copied.
    fn block(&mut self, block: Block<Kernels>, copy: bool) -> Block<Kernels> {
        let params = block.params.into_iter();
        let params = params.map(|param| self.bind(param, copy)).collect();
        let mut stmts = Vec::new();
        for stmt in block.stmts {
            self.stmt(stmt, copy, &mut stmts);
        }
        let results = block
            .results
            .iter()
            .map(|&value| self.names.get(value))
            .collect();
        Block {
            params,
            stmts,
            results,
        }
    }

    fn stmt(&mut self, mut stmt: Stmt<Kernels>, copy: bool, out: &mut Vec<Stmt<Kernels>>) {
        self.names.read(&mut stmt);
        match stmt.op {
            KernelOp::For {
                extent: Extent::Const(trips),
                reverse,
                body,
            } if self.loops.contains(&body.params[0]) => {
                for k in 0..trips {
                    let k = if reverse { trips - 1 - k } else { k };
                    let index = self.index(k, trips, out);
                    self.names.insert(body.params[0], index);
                    for inner in &body.stmts {
                        self.stmt(inner.clone(), true, out);
                    }
                }
            }
            mut op => {
                if let KernelOp::Prim(Prim::Cast(scalar), args) = &op
                    && let Some(&number) = self.indices.get(&args[0])
                {
                    op = KernelOp::Const(Lit::of(*scalar, f64::from(number)));
                }
                for inner in op.blocks_mut() {
                    let block = std::mem::take(inner);
                    *inner = self.block(block, copy);
                }
                let results = stmt.results.into_iter();
                stmt.results = results.map(|value| self.bind(value, copy)).collect();
                out.push(Stmt { op, ..stmt });
            }
        }
    }

    /// The index of iteration `k`.
    fn index(&mut self, k: u64, trips: u64, out: &mut Vec<Stmt<Kernels>>) -> ValueId {
        let extent = Extent::Const(trips);
        let number = KernelOp::Const(Lit::Int(Scalar::Usize, i128::from(k)));
        let number = self.push(number, Elem::USIZE, out);
        let trust = KernelOp::Prim(Prim::Trust(extent), vec![number]);
        let index = self.push(trust, Elem::Index(extent), out);
        if let Ok(k) = i8::try_from(k) {
            self.indices.insert(index, k);
        }
        index
    }

    fn push(&mut self, op: KernelOp, elem: Elem, out: &mut Vec<Stmt<Kernels>>) -> ValueId {
        let span = crate::ir::SpanId::NONE;
        let value = self.program.value(Type::scalar(elem), span);
        out.push(Stmt::new(vec![value], op, span));
        value
    }

    fn bind(&mut self, value: ValueId, copy: bool) -> ValueId {
        if !copy {
            return value;
        }
        self.names.bind(&mut self.program, value)
    }
}
