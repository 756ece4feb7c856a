//! Loops of constant length, each iteration written down.

use smallvec::{SmallVec, smallvec};

use super::{Loop, SHORTEST};
use crate::canonicalize::simplify::folded;
use crate::contract::cloning::Renamed;
use crate::eval::ScalarValue;
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{
    Block, Elem, Extent, Lit, Operation, Program, Scalar, Stmt, Type, ValueId, ValueMap, ValueSet,
};
use crate::ops::Prim;

/// The most work, in additions, that is written down for a loop: functions are inlined, and loops
/// that compute them are run in vectors.
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
        known: ValueMap::new(),
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
    /// Numbers that are known, as the indices are.
    known: ValueMap<ScalarValue>,
}

impl Walk<'_> {
    /// A block, or a copy of it that binds values of its own. There is no kernel in what is copied.
    fn block(&mut self, block: Block<Kernels>, copy: bool) -> Block<Kernels> {
        let params = block.params.into_iter();
        let params = params.map(|param| self.bind(param, copy)).collect();
        let mut stmts = Vec::with_capacity(block.stmts.len());
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
                let known = match &op {
                    KernelOp::Const(lit) => Some(ScalarValue::from_lit(*lit)),
                    KernelOp::Prim(prim, args) if copy => self.folded(*prim, args),
                    _ => None,
                };
                if let (Some(known), KernelOp::Prim(..)) = (known, &op) {
                    op = self.constant(known, stmt.results[0], op, out);
                }
                for inner in op.blocks_mut() {
                    let block = std::mem::take(inner);
                    *inner = self.block(block, copy);
                }
                let results = stmt.results.into_iter();
                stmt.results = results.map(|value| self.bind(value, copy)).collect();
                self.known.extend(stmt.results.first().copied().zip(known));
                out.push(Stmt { op, ..stmt });
            }
        }
    }

    /// What a number is that is computed of known ones.
    fn folded(&self, prim: Prim, args: &[ValueId]) -> Option<ScalarValue> {
        let args = args.iter().map(|arg| self.known.get(arg).copied());
        folded(prim, &args.collect::<Option<SmallVec<[_; 2]>>>()?)
    }

    /// A statement that gives such a number, instead of one that computes it.
    fn constant(
        &mut self,
        known: ScalarValue,
        result: ValueId,
        op: KernelOp,
        out: &mut Vec<Stmt<Kernels>>,
    ) -> KernelOp {
        match (self.program.elem(result), &op) {
            (Elem::Scalar(_), _) => KernelOp::Const(known.to_lit()),
            (Elem::Bound(_), _) | (Elem::Index(_), KernelOp::Prim(Prim::Trust(_), _)) => op,
            (Elem::Index(extent), _) => {
                let number = self.push(KernelOp::Const(known.to_lit()), Elem::USIZE, out);
                KernelOp::Prim(Prim::Trust(extent), smallvec![number])
            }
        }
    }

    /// The index of iteration `k`.
    fn index(&mut self, k: u64, trips: u64, out: &mut Vec<Stmt<Kernels>>) -> ValueId {
        let extent = Extent::Const(trips);
        let number = KernelOp::Const(Lit::Int(Scalar::Usize, i128::from(k)));
        let number = self.push(number, Elem::USIZE, out);
        let trust = KernelOp::Prim(Prim::Trust(extent), smallvec![number]);
        let index = self.push(trust, Elem::Index(extent), out);
        if let Ok(k) = usize::try_from(k) {
            self.known.insert(index, ScalarValue::Usize(k));
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
