//! What a loop collects alike in all of its lanes is made by none of them where there are none.
//!
//! Of a place that is not there Bulk reads nothing. A processor that reads at such an index, of a
//! table that may be empty, reads beyond its end: what does not have the lanes is computed outside
//! of them. So it stands behind a guard, which says that there are lanes.
//!
//! ```text
//! %1[w], %2[t] = loop %3: t lanes [w] (…) { … yield …; %4 }        %7 = size W
//! %5[t] = gather q [j := %2]                                 ▶     %8 = gt %7, 0
//!                                                                  %5[t] = gather q [j := %2] if %8
//! ```

use smallvec::smallvec;

use crate::analysis::dataflow::may_lack_lanes;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::typing::Typing;
use crate::ir::{
    AxisId, Block, Extent, Lit, Monoid, Operation, Program, Scalar, SpanId, Stmt, ValueId, ValueMap,
};
use crate::ops::Prim;

/// Puts reads at what perhaps no lane has made behind guards.
pub(super) fn guarded(program: Program<Bulk>) -> Program<Bulk> {
    if !lacks(&program, &program.body) {
        return program;
    }
    program.rewritten(|program, body| {
        let mut walk = Walk {
            program,
            conds: ValueMap::new(),
            open: Vec::new(),
            depth: ValueMap::new(),
            made: Vec::new(),
        };
        walk.block(body);
    })
}

/// Whether there is a loop with a result that perhaps no lane makes.
fn lacks(program: &Program<Bulk>, block: &Block<Bulk>) -> bool {
    block.stmts.iter().any(|stmt| {
        let mut results = stmt.results.iter();
        let mut inside = stmt.op.blocks().into_iter();
        results.any(|&result| may_lack_lanes(program, &stmt.op, result))
            || inside.any(|block| lacks(program, block))
    })
}

struct Walk<'p> {
    program: &'p mut Program<Bulk>,
    /// By value: the conditions without which nobody has made it, or what it is computed from.
    conds: ValueMap<Vec<ValueId>>,
    /// The lanes of the loops around.
    open: Vec<AxisId>,
    /// By value that a block inside binds: how deep that is.
    depth: ValueMap<usize>,
    /// By depth of the blocks around: what is to stand in front of the statement that is there.
    made: Vec<Vec<Stmt<Bulk>>>,
}

impl Walk<'_> {
    fn block(&mut self, block: &mut Block<Bulk>) {
        let depth = self.made.len();
        self.made.push(Vec::new());
        self.bind(&block.params, depth);
        let room = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::replace(&mut block.stmts, room) {
            self.bind(&stmt.results, depth);
            self.stmt(&mut stmt);
            block.stmts.append(&mut self.made[depth]);
            block.stmts.push(stmt);
        }
        self.made.pop();
    }

    fn bind(&mut self, values: &[ValueId], depth: usize) {
        for &value in values {
            self.depth.insert(value, depth);
        }
    }

    fn stmt(&mut self, stmt: &mut Stmt<Bulk>) {
        if let BulkOp::Gather { at, .. } = &stmt.op {
            let indices: Vec<ValueId> = at.iter().map(|&(_, index)| index).collect();
            for cond in self.of(&indices) {
                #[cfg(test)]
                super::entered::UNMADE.with(|times| times.set(times.get() + 1));
                let both = stmt.guard.map(|guard| self.both(cond, guard));
                stmt.guard = both.or(Some(cond));
            }
        }
        let operands = match &stmt.op {
            // One of them may be there.
            BulkOp::Select(..) => Vec::new(),
            op => self.of(&op.operands()),
        };
        self.add(&stmt.results, &operands);
        let (BulkOp::Loop { lanes, .. } | BulkOp::While { lanes, .. }) = &stmt.op else {
            return;
        };
        let around = self.open.len();
        let closed = lanes.iter().filter(|lane| !self.open.contains(lane));
        let closed: Vec<AxisId> = closed.copied().collect();
        self.open.extend(&closed);
        for inner in stmt.op.blocks_mut() {
            self.add(&inner.params, &operands);
            self.block(inner);
        }
        self.open.truncate(around);
        let depth = self.made.len();
        let given = stmt.op.blocks().last().map(|body| body.results.clone());
        for (&result, value) in stmt.results.iter().zip(given.unwrap_or_default()) {
            let mut conds = self.of(&[value]);
            conds.retain(|cond| self.depth.get(cond).is_none_or(|&inner| inner < depth));
            let own = self.program.ty(result).dims.clone();
            let lacking = closed.iter().filter(|lane| !own.contains(lane));
            conds.extend(self.any(&lacking.copied().collect::<Vec<_>>()));
            self.add(&[result], &conds);
        }
    }

    /// The conditions of some values.
    fn of(&self, values: &[ValueId]) -> Vec<ValueId> {
        let conds = values.iter().filter_map(|value| self.conds.get(value));
        let mut conds: Vec<ValueId> = conds.flatten().copied().collect();
        conds.sort_unstable();
        conds.dedup();
        conds
    }

    fn add(&mut self, values: &[ValueId], conds: &[ValueId]) {
        for &value in values.iter().filter(|_| !conds.is_empty()) {
            self.conds.or_default(value).extend(conds);
        }
    }

    /// The conditions that say together that there is something along some axes.
    fn any(&mut self, axes: &[AxisId]) -> Vec<ValueId> {
        let mut conds = Vec::new();
        let mut varying = None;
        for &axis in axes {
            let extent = self.program.decls.axes[axis.0 as usize].extent;
            let size = match extent {
                Extent::Const(1..) => continue,
                Extent::Value(size) => size,
                Extent::Const(0) | Extent::Size(_) => self.emit(BulkOp::Size(extent), &[]),
            };
            let zero = BulkOp::Const(Lit::Int(Scalar::Usize, 0));
            let zero = self.emit(zero, &[]);
            let some = BulkOp::Map(Prim::Gt, smallvec![size, zero]);
            let some = self.emit(some, &[size]);
            if self.dims(size).iter().any(|axis| axes.contains(axis)) {
                varying = Some(varying.map_or(some, |other| self.both(some, other)));
            } else {
                conds.push(some);
            }
        }
        conds.extend(varying.map(|varying| {
            let mut over = self.dims(varying).to_vec();
            over.retain(|axis| axes.contains(axis));
            let any = BulkOp::Reduce {
                combine: Combine::Monoid(Monoid::Or),
                axes: over,
                operands: vec![varying],
            };
            self.emit(any, &[varying])
        }));
        conds
    }

    fn dims(&self, value: ValueId) -> &[AxisId] {
        &self.program.ty(value).dims
    }

    /// Both; the second may be unspecified where the first does not hold.
    fn both(&mut self, first: ValueId, second: ValueId) -> ValueId {
        let never = self.emit(BulkOp::Const(Lit::Bool(false)), &[]);
        let both = BulkOp::Select(first, second, never);
        self.emit(both, &[first, second])
    }

    /// A value that is computed from these, as far outside as they are known.
    fn emit(&mut self, op: BulkOp, of: &[ValueId]) -> ValueId {
        let types = Bulk::types(self.program, &op, None).expect("conditions are well typed");
        let span = SpanId::NONE;
        let value = self.program.value(types[0].clone(), span);
        let depths = of.iter().filter_map(|value| self.depth.get(value));
        let depth = depths.copied().max().unwrap_or(0);
        self.depth.insert(value, depth);
        self.made[depth].push(Stmt::new(vec![value], op, span));
        value
    }
}
