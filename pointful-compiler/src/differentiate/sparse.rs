//! Accumulations that derivatives make of reads, made cheaper where it is known where they go.
//!
//! The cotangent of an element that was picked (a minimum, a table read at one index) is an array
//! that is zero but in one place. What is multiplied by it, or summed, need not be computed
//! anywhere else: the place is moved outwards, through products and sums, until what is left is one
//! accumulation of what there is at the place.
//!
//! ```text
//! %0[n, k] = scatter add 0 [k := %e] over [] %v      %1[n] = gather x [k := %e]
//! %1[n, k] = mul x, %0                               %2[n] = mul %1, %v
//! %2[k] = reduce add [n] %1                          %3[k] = scatter add 0 [k := %e] over [n] %2
//! ```

mod factoring;
mod index_set_splitting;
mod one_hot;
mod scatter_to_gather;

use std::collections::BTreeSet;

use super::builder::Builder;
use super::constant_indices::Defs;
use super::scalarize::write_down;
use crate::analysis::dataflow::Flow;
use crate::canonicalize::dce;
use crate::canonicalize::substitution::Subst;
use crate::contract::is_cheap;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Block, Extent, Lit, Monoid, Operation, Program, Scalar, Stmt, ValueId};
use crate::ops::Prim;
use crate::pass::Pass;

/// The pass.
pub const SPARSE: Pass<Bulk> = Pass {
    name: "sparse",
    about: "compute what is accumulated in one place at that place only, read what is accumulated at a shift at the shift back, and multiply sums",
    run: sparse,
};

/// How many cheap definitions a read elsewhere is moved through.
const THROUGH: u32 = 8;

/// So many cheap definitions are rather stored than evaluated twice.
const AGAIN: u32 = 3;

/// Moves places outwards, and turns shifts back.
pub fn sparse(mut program: Program<Bulk>) -> Program<Bulk> {
    let body = std::mem::take(&mut program.body);
    let mut summed = BTreeSet::new();
    sums(&body, &mut summed);
    let mut walk = Walk {
        b: Builder::new(program),
        defs: Defs::default(),
        summed,
        subst: Subst::new(),
        depth: 0,
        lanes: Vec::new(),
    };
    let body = walk.block(body);
    let Walk { b, subst, .. } = walk;
    let mut program = b.program;
    program.body = body;
    subst.types(&mut program);
    Bulk::retype(&mut program);
    write_down(dce(program))
}

/// Finds the axes along which something is added up.
fn sums(block: &Block<Bulk>, summed: &mut BTreeSet<AxisId>) {
    for stmt in &block.stmts {
        if let BulkOp::Reduce { axes: over, .. } | BulkOp::Scatter { over, .. } = &stmt.op {
            summed.extend(over);
        }
        for inner in stmt.op.blocks() {
            sums(inner, summed);
        }
    }
}

struct Walk {
    b: Builder,
    defs: Defs,
    /// The axes along which something is added up.
    summed: BTreeSet<AxisId>,
    subst: Subst,
    /// How many blocks are around.
    depth: u32,
    /// The lanes of loops around.
    lanes: Vec<AxisId>,
}

impl Walk {
    fn block(&mut self, mut block: Block<Bulk>) -> Block<Bulk> {
        self.b.enter();
        self.depth += 1;
        for stmt in std::mem::take(&mut block.stmts) {
            self.stmt(stmt);
        }
        self.depth -= 1;
        self.subst.results(&mut block);
        block.stmts = self.b.leave().primal;
        block
    }

    fn stmt(&mut self, mut stmt: Stmt<Bulk>) {
        self.subst.stmt(&mut stmt);
        let around = self.lanes.len();
        self.lanes.extend(stmt.op.lanes());
        for inner in stmt.op.blocks_mut() {
            let block = std::mem::take(inner);
            *inner = self.block(block);
        }
        self.lanes.truncate(around);
        self.b.span = stmt.span;
        let made = self.b.program.values.len();
        if let (&[result], None) = (stmt.results.as_slice(), stmt.guard)
            && let Some(value) = self
                .moved(&stmt.op)
                .or_else(|| self.shifted(&stmt.op))
                .or_else(|| self.at_members(&stmt.op))
                .or_else(|| self.chosen(&stmt.op))
                .or_else(|| self.added_to_state(&stmt.op))
                .or_else(|| self.factored(&stmt.op))
        {
            let order = self.b.dims(result);
            if value.index() >= made {
                self.b.lay_out(value, &order);
            }
            return self.subst.replace(result, value);
        }
        self.defs.note(&stmt);
        self.b.push(stmt);
    }

    fn emit(&mut self, op: BulkOp) -> ValueId {
        let value = self.b.emit(op.clone());
        if self.b.guard.is_none() {
            self.defs.insert(value, op);
        }
        value
    }

    /// How two factors are multiplied: with a number that is known there is nothing to absorb.
    fn times(&self, times: Prim, factors: [ValueId; 2]) -> Prim {
        match factors.iter().any(|&factor| self.defs.is_finite(factor)) {
            true => Prim::Mul,
            false => times,
        }
    }

    /// Takes from `left` what it takes to compute something at each of its points from what is
    /// dear, or the same at many.
    fn work(&self, value: ValueId, left: &mut u32) {
        let dims = self.b.dims(value).len();
        if let Some(op @ (BulkOp::Map(..) | BulkOp::Select(..))) = self.defs.used(value)
            && is_cheap(&self.b.program, op)
            && *left > 0
        {
            *left -= 1;
            for operand in op.operands() {
                if self.b.dims(operand).len() == dims {
                    self.work(operand, left);
                }
            }
        }
    }

    /// What is accumulated in places of its own, and added to a table that is there, is accumulated in that.
    ///
    /// ```text
    /// %1[i] = scatter add 0 [i := %e] over [n] %v      %2[i] = scatter add x [i := %e] over [n] %v
    /// %2[i] = add x, %1                             ▶
    /// ```
    fn added_to_state(&mut self, op: &BulkOp) -> Option<ValueId> {
        let BulkOp::Map(Prim::Add, args) = op else {
            return None;
        };
        let axes = |value| BTreeSet::from_iter(self.b.dims(value));
        for (table, other) in [(args[0], args[1]), (args[1], args[0])] {
            let is_there = matches!(
                self.defs.used(table),
                None | Some(BulkOp::Scatter { .. } | BulkOp::Update { .. })
            );
            // In front of loops an array is made anyway.
            if self.depth > 1
                && is_there
                && let Some(mut scatter) = self.defs.of(other).cloned()
                && let BulkOp::Scatter {
                    monoid, base, at, ..
                } = &mut scatter
                && *monoid == Monoid::Add
                && self.defs.is_zero(*base)
                && axes(table) == axes(other)
                && let places = at.iter().map(|&(axis, _)| axis)
                && self.b.program.adds_at(table, places, &self.lanes)
            {
                #[cfg(test)]
                crate::testing::entered::enter(&crate::testing::entered::ACCUMULATED);
                *base = table;
                return Some(self.emit(scatter));
            }
        }
        None
    }

    /// What is added in one place to an array that is computed point for point: at each point it is
    /// known whether it is the place.
    fn chosen(&mut self, op: &BulkOp) -> Option<ValueId> {
        let BulkOp::Scatter {
            monoid: Monoid::Add,
            base,
            at,
            over,
            value,
            mask,
        } = op
        else {
            return None;
        };
        let computed = matches!(
            self.defs.of(*base),
            Some(BulkOp::Map(..) | BulkOp::Select(..))
        );
        // Inside of a loop an array that changes in one place is changed in place. What takes more to compute again than to store is stored.
        let mut left = AGAIN;
        self.work(*base, &mut left);
        if !over.is_empty() || at.is_empty() || !computed || self.depth > 1 || left == 0 {
            return None;
        }
        // Where there is a point there is something along its axes.
        let needed = |mask: &ValueId| !at.iter().any(|&(axis, _)| self.b.has_members(*mask, axis));
        let mut here = mask.filter(needed);
        for &(axis, index) in at {
            let is_place = self.b.behind(*mask, |b| {
                let iota = b.emit(BulkOp::Iota(axis));
                let own = b.map(Prim::Cast(Scalar::Usize), &[iota]);
                let place = b.map(Prim::Cast(Scalar::Usize), &[index]);
                b.map(Prim::Eq, &[own, place])
            });
            here = self.b.both(here, Some(is_place));
        }
        let more = self.b.behind(*mask, |b| b.map(Prim::Add, &[*base, *value]));
        Some(self.b.select(here?, more, *base))
    }

    fn zero(&self, like: ValueId) -> Lit {
        Lit::of(self.b.program.elem(like).repr(), 0.0)
    }

    /// Whether reading elsewhere takes evaluating a few cheap definitions there, and nothing that
    /// would be stored for it.
    fn is_near(&self, value: ValueId, at: &[AxisId], budget: &mut u32) -> bool {
        let dims = self.b.dims(value);
        if at.iter().all(|axis| !dims.contains(axis)) {
            return true;
        }
        match self.defs.of(value) {
            Some(op @ (BulkOp::Map(..) | BulkOp::Select(..)))
                if is_cheap(&self.b.program, op) && !stays(&self.b, op) =>
            {
                let Some(left) = budget.checked_sub(1) else {
                    return false;
                };
                *budget = left;
                let mut operands = op.operands().into_iter();
                operands.all(|operand| self.is_near(operand, at, budget))
            }
            _ => true,
        }
    }

    /// Reads elsewhere what a few cheap definitions give: they are evaluated there. What is made of
    /// several arrays and read at each place several times, along the axes of windows, is made
    /// once.
    fn read_at(
        &mut self,
        value: ValueId,
        at: &[(AxisId, ValueId)],
        windows: &[AxisId],
        budget: &mut u32,
    ) -> ValueId {
        let dims = self.b.dims(value);
        if at.iter().all(|(axis, _)| !dims.contains(axis)) {
            return value;
        }
        let definition = self.defs.of(value).cloned();
        match definition {
            Some(op @ (BulkOp::Map(..) | BulkOp::Select(..)))
                if *budget > 0
                    && is_cheap(&self.b.program, &op)
                    && !stays(&self.b, &op)
                    && (windows.is_empty()
                        || windows.iter().any(|axis| dims.contains(axis))
                        || self.arrays(value, at).len() < 2) =>
            {
                *budget -= 1;
                let mut op = op;
                let mut operands = op.operands().into_iter();
                let mut read = Vec::new();
                for operand in operands.by_ref() {
                    read.push(self.read_at(operand, at, windows, budget));
                }
                let mut read = read.into_iter();
                op.for_each_operand_mut(&mut |operand| {
                    *operand = read.next().unwrap_or(*operand);
                });
                self.emit(op)
            }
            Some(BulkOp::Iota(axis)) => {
                let place = at.iter().find(|(place, _)| *place == axis);
                place.map_or(value, |&(_, index)| index)
            }
            _ => self.b.gather(value, at),
        }
    }

    /// What is read of memory when a value is evaluated elsewhere.
    fn arrays(&self, value: ValueId, at: &[(AxisId, ValueId)]) -> BTreeSet<ValueId> {
        let dims = self.b.dims(value);
        match self.defs.of(value) {
            _ if at.iter().all(|(axis, _)| !dims.contains(axis)) => BTreeSet::new(),
            Some(BulkOp::Iota(_)) => BTreeSet::new(),
            Some(op @ (BulkOp::Map(..) | BulkOp::Select(..))) => {
                let operands = op.operands().into_iter();
                operands
                    .flat_map(|operand| self.arrays(operand, at))
                    .collect()
            }
            _ => BTreeSet::from([value]),
        }
    }
}

fn value_of(op: &BulkOp) -> ValueId {
    match op {
        BulkOp::Scatter { value, .. } => *value,
        _ => unreachable!("only scatters are turned back"),
    }
}

/// Whether an operation may not be evaluated elsewhere: it may panic there, or measures what is not
/// equally long everywhere.
fn stays(b: &Builder, op: &BulkOp) -> bool {
    match op {
        BulkOp::Map(prim, args) => {
            let varies =
                |extent| matches!(extent, Extent::Value(length) if !b.dims(length).is_empty());
            matches!(prim, Prim::Trust(_))
                || prim.may_panic(b.program.elem(args[0]))
                || prim.extent().is_some_and(varies)
        }
        _ => false,
    }
}
