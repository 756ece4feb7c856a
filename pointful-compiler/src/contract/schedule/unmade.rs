//! What a loop collects alike in all of its lanes is made by none of them where there are none.
//!
//! Of a place that is not there Bulk reads nothing. A processor that reads at such an index, of a
//! table that may be empty, reads beyond its end: what does not have the lanes is computed outside
//! of them. So it stands behind a guard, which says that there are lanes; what is written there, behind
//! a mask.
//!
//! ```text
//! %1[w], %2[t] = loop %3: t lanes [w] (…) { … yield …; %4 }        %7 = size W
//! %5[t] = gather q [j := %2]                                 ▶     %8 = gt %7, 0
//!                                                                  %5[t] = gather q [j := %2] if %8
//! ```
//!
//! Inside of some of those lanes the guard says that there are others there: in a triangle the first
//! row may have none.

use smallvec::smallvec;

use crate::analysis::dataflow::may_lack_lanes;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::typing::Typing;
use crate::ir::{
    AxisId, Block, Extent, Lit, Monoid, Operation, Program, Scalar, SpanId, Stmt, ValueId, ValueMap,
};
use crate::ops::Prim;

/// Puts reads and writes at what perhaps no lane has made behind guards.
pub(super) fn guarded(program: Program<Bulk>) -> Program<Bulk> {
    if !lacks(&program, &program.body) {
        return program;
    }
    program.rewritten(|program, body| {
        let mut walk = Walk {
            program,
            lanes: ValueMap::new(),
            open: Vec::new(),
            depth: ValueMap::new(),
            made: Vec::new(),
            known: Vec::new(),
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
    /// By value: the lanes without which nobody has made it, or what it is computed from.
    lanes: ValueMap<Vec<Vec<AxisId>>>,
    /// The lanes of the loops around.
    open: Vec<AxisId>,
    /// By value that a block inside binds: how deep that is.
    depth: ValueMap<usize>,
    /// By depth of the blocks around: what is to stand in front of the statement that is there.
    made: Vec<Vec<Stmt<Bulk>>>,
    /// By that depth: the conditions of lanes that were asked for.
    known: Vec<Vec<(Vec<AxisId>, Vec<ValueId>)>>,
}

impl Walk<'_> {
    fn block(&mut self, block: &mut Block<Bulk>) {
        let depth = self.made.len();
        self.made.push(Vec::new());
        self.known.push(Vec::new());
        self.bind(&block.params, depth);
        let room = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::replace(&mut block.stmts, room) {
            self.bind(&stmt.results, depth);
            self.stmt(&mut stmt);
            block.stmts.append(&mut self.made[depth]);
            block.stmts.push(stmt);
        }
        self.made.pop();
        self.known.pop();
    }

    fn bind(&mut self, values: &[ValueId], depth: usize) {
        for &value in values {
            self.depth.insert(value, depth);
        }
    }

    fn stmt(&mut self, stmt: &mut Stmt<Bulk>) {
        let (BulkOp::Gather { at, .. } | BulkOp::Scatter { at, .. } | BulkOp::Update { at, .. }) =
            &stmt.op
        else {
            return self.carry(stmt);
        };
        let indices: Vec<ValueId> = at.iter().map(|&(_, index)| index).collect();
        let own = stmt.results.iter().flat_map(|&result| self.dims(result));
        let here: Vec<AxisId> = self.open.iter().chain(own).copied().collect();
        for cond in self.conditions(&indices, &here) {
            #[cfg(test)]
            crate::testing::entered::enter(&crate::testing::entered::UNMADE);
            let known = match &mut stmt.op {
                BulkOp::Scatter { mask, .. } | BulkOp::Update { mask, .. } => mask,
                _ => &mut stmt.guard,
            };
            *known = Some(match *known {
                Some(known) => self.both(cond, known),
                None => cond,
            });
        }
        self.carry(stmt);
    }

    /// Notes what the results of a statement are made of.
    fn carry(&mut self, stmt: &mut Stmt<Bulk>) {
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
            let mut without = self.of(&[value]);
            without.retain(|lanes| lanes.iter().all(|&lane| self.is_outside(lane, depth)));
            let own = self.dims(result);
            let lacking = closed.iter().filter(|lane| !own.contains(lane));
            let lacking: Vec<AxisId> = lacking.copied().collect();
            without.extend((!lacking.is_empty()).then_some(lacking));
            self.add(&[result], &without);
        }
    }

    /// Whether it is known outside of blocks of this depth how long an axis is.
    fn is_outside(&self, axis: AxisId, depth: usize) -> bool {
        match self.extent(axis) {
            Extent::Value(size) => self.depth.get(&size).is_none_or(|&inner| inner < depth),
            Extent::Const(_) | Extent::Size(_) => true,
        }
    }

    fn extent(&self, axis: AxisId) -> Extent {
        self.program.decls.axes[axis.0 as usize].extent
    }

    /// The lanes without which there are not all of some values.
    fn of(&self, values: &[ValueId]) -> Vec<Vec<AxisId>> {
        let lanes = values.iter().filter_map(|value| self.lanes.get(value));
        let mut lanes: Vec<Vec<AxisId>> = lanes.flatten().cloned().collect();
        lanes.sort_unstable();
        lanes.dedup();
        lanes
    }

    fn add(&mut self, values: &[ValueId], lanes: &[Vec<AxisId>]) {
        for &value in values.iter().filter(|_| !lanes.is_empty()) {
            self.lanes.or_default(value).extend_from_slice(lanes);
        }
    }

    /// What must hold, at a member of each of the axes that are here, for all of some values to be
    /// made.
    fn conditions(&mut self, values: &[ValueId], here: &[AxisId]) -> Vec<ValueId> {
        let mut conds = Vec::new();
        for mut lanes in self.of(values) {
            lanes.retain(|lane| !here.contains(lane));
            let mut known = self.known.iter().flatten();
            conds.extend(match known.find(|(known, _)| *known == lanes) {
                Some((_, known)) => known.clone(),
                None => {
                    let new = self.any(&lanes);
                    let depths = new.iter().filter_map(|cond| self.depth.get(cond));
                    let depth = depths.copied().max().unwrap_or(0);
                    self.known[depth].push((lanes, new.clone()));
                    new
                }
            });
        }
        conds.sort_unstable();
        conds.dedup();
        conds
    }

    /// The conditions that say together that there is something along some axes.
    fn any(&mut self, axes: &[AxisId]) -> Vec<ValueId> {
        let mut conds = Vec::new();
        let mut varying = None;
        for &axis in axes {
            let size = match self.extent(axis) {
                Extent::Const(1..) => continue,
                Extent::Value(size) => size,
                extent @ (Extent::Const(0) | Extent::Size(_)) => {
                    self.emit(BulkOp::Size(extent), &[])
                }
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
