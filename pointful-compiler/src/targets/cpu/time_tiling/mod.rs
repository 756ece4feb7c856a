//! Time tiling: steps of a loop of the host that are kernels over the same rows are run several at a
//! time, a tile of rows at a time.
//!
//! # The idea
//!
//! A step of a stencil is one pass over memory for next to no work. A *row* is what belongs to one
//! index of the kernels' first axis. A tile of rows that a cache holds may advance several steps
//! before the next tile does, as long as a kernel writes in its own rows, and reads what these
//! kernels write not far from there. How far is found out from the indices ([`reach`]): neighbours
//! by constants, whatever is done about them at the ends but counting around.
//!
//! What is done with what kernels add up is done once all steps have run, in their order.
//! Kernels that follow each other without a loop are [one such step](fuse_rows).
//!
//! # Why it is sound
//!
//! A row is never further than the reach from rows that are behind it: of two kernels that touch the
//! same row, or rows within reach of each other, the earlier one comes first. Statements beside the
//! kernels ask for nothing that these write.
//!
//! # Before and after
//!
//! ```text
//! for %0: T {                          tile %0: T rows I reach 1 writes u 0, v 0 swap u v {
//!   %1 = const 0.0f64                    %1 = const 0.0f64
//!   %2 = var %1                          %2 = var %1
//!   par %3: I, … (add %4 = %2) { …       par %3: I, … (add %4 = %2) { …
//!     %5 = load u[i ± 1, …]        ▶       %5 = load u[i ± 1, …]
//!     store v[%3, …], %5                   store v[%3, …], %5
//!   }                                    }
//!   %6 = get %2                          %6 = get %2
//!   combine max total[], %6              combine max total[], %6
//!   swap u, v                          }
//! }
//! ```

mod fuse_rows;
mod reach;

use std::borrow::Borrow;
use std::collections::BTreeMap;

use self::fuse_rows::sequence;
use self::reach::{Place, Uses};
use crate::analysis::effects::{for_each_length, is_pure};
use crate::analysis::numbers::Numbers;
use crate::ir::stages::cpu::{Acc, Cpu, CpuOp, Own, Tile};
use crate::ir::{Block, Extent, Operation, Program, SpanId, Stmt, ValueId, ValueSet};
use crate::ops::Prim;
use crate::pass::Pass;

/// The pass.
pub const TIME_TILING: Pass<Cpu> = Pass {
    name: "time_tiling",
    about: "run several steps, or several kernels, by tiles of rows",
    run: time_tiling,
};

/// Runs steps of loops of the host, and kernels in a row, by tiles of rows.
pub fn time_tiling(mut program: Program<Cpu>) -> Program<Cpu> {
    // What only the caller knows may not be fit for other threads.
    if calls(&program.body) {
        return program;
    }
    let numbers = Numbers::of(&program.body);
    let body = std::mem::take(&mut program.body);
    let mut tiling = Tiling {
        program,
        numbers: &numbers,
    };
    let stmts = tiling.stmts(body.stmts);
    let body = Block { stmts, ..body };
    Program {
        body,
        ..tiling.program
    }
}

/// Whether a function of the caller's is called.
fn calls(block: &Block<Cpu>) -> bool {
    block.stmts.iter().any(|stmt| {
        matches!(stmt.op, CpuOp::Prim(Prim::Call(_), _)) || stmt.op.blocks().into_iter().any(calls)
    })
}

/// What is known of a program.
#[derive(Clone, Copy)]
struct Known<'p> {
    program: &'p Program<Cpu>,
    numbers: &'p Numbers,
}

impl<'p> Known<'p> {
    fn dims(self, value: ValueId) -> &'p [Extent] {
        &self.program.ty(value).dims
    }

    fn resolve(self, extent: Extent) -> Extent {
        self.numbers.resolve(extent)
    }

    fn integer(self, value: ValueId) -> Option<i64> {
        self.numbers.integer(value)
    }

    /// Whether a statement has an extent, at any depth, that is one of these values.
    fn has_extent(self, stmt: &Stmt<Cpu>, values: &ValueSet) -> bool {
        let is_one = |extent: Extent| matches!(self.resolve(extent), Extent::Value(value) if values.contains(&value));
        let mut has = stmt
            .op
            .reads_any(|operand| self.dims(operand).iter().copied().any(is_one));
        for_each_length(self.program, stmt, &mut |length| {
            has |= is_one(Extent::Value(length))
        });
        let mut inner = stmt.op.blocks().into_iter().flat_map(|block| &block.stmts);
        has || inner.any(|stmt| self.has_extent(stmt, values))
    }
}

/// What a statement is of steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    /// A buffer of a step, which may as well be that of the step before; of a sequence also a
    /// variable, and what is computed for the kernels. It comes before all steps.
    Made,
    /// What is computed in each step for the kernels.
    Before,
    /// A parallel nest or a contraction.
    Kernel,
    /// What is done with what is accumulated, once all steps have run, in their order.
    After,
    /// Buffers change places after each step.
    Swap,
}

/// Steps that may be run by tiles of rows.
#[derive(Debug)]
struct Plan {
    /// What each statement is.
    parts: Vec<Part>,
    /// The extent of all kernels' first axis.
    rows: Extent,
    /// How many rows away a kernel reads of what these kernels write.
    reach: u64,
    /// Buffers that change places after each step.
    pairs: Vec<(ValueId, ValueId)>,
    /// Buffers that the steps write, and the axis that the kernels' first goes along: 0, or 1 if
    /// the one before it goes along the steps.
    written: BTreeMap<ValueId, usize>,
}

impl Plan {
    fn new() -> Self {
        Self {
            parts: Vec::new(),
            rows: Extent::Const(0),
            reach: 0,
            pairs: Vec::new(),
            written: BTreeMap::new(),
        }
    }

    /// Whether the body of a loop of the host is such steps.
    fn of_steps(known: Known<'_>, body: &Block<Cpu>) -> Option<Self> {
        let step = *body.params.first()?;
        let mut plan = Self::new();
        let mut uses: Vec<Uses> = Vec::new();
        // What is known only after the kernels, and what is asked for or changed then.
        let (mut late, mut after) = (ValueSet::new(), ValueSet::new());
        for stmt in &body.stmts {
            let is_late = stmt.op.reads_any(|value| late.contains(&value));
            plan.parts.push(match &stmt.op {
                CpuOp::Alloc { fill: None } => Part::Made,
                op if op.is_kernel() && plan.pairs.is_empty() => {
                    let (rows, own) = Uses::of(known, stmt, Some(step))?;
                    if !uses.is_empty() && rows != plan.rows {
                        return None;
                    }
                    plan.rows = rows;
                    // All sums of a step are merged before anything is done with one.
                    let targets = accs(stmt).iter().map(|acc| acc.target);
                    if targets.clone().any(|target| after.contains(&target)) {
                        return None;
                    }
                    late.extend(targets);
                    uses.push(own);
                    Part::Kernel
                }
                CpuOp::Swap(a, b) => {
                    let swapped =
                        |&(c, d): &(ValueId, ValueId)| [c, d].iter().any(|x| x == a || x == b);
                    if plan.pairs.iter().any(swapped) {
                        return None;
                    }
                    plan.pairs.push((*a, *b));
                    Part::Swap
                }
                CpuOp::Var(_) if !is_late => {
                    late.extend(&stmt.results);
                    Part::Before
                }
                CpuOp::Var(_) | CpuOp::Get(_) => {
                    late.extend(&stmt.results);
                    Part::After
                }
                CpuOp::Set { place, .. } => {
                    late.insert(*place);
                    Part::After
                }
                _ if !is_pure(known.program, stmt) => return None,
                _ if is_late => {
                    late.extend(&stmt.results);
                    Part::After
                }
                _ => Part::Before,
            });
            if plan.parts.last() == Some(&Part::After) {
                after.extend(&stmt.op.operands());
                after.extend(&stmt.results);
            }
        }
        // How much there is to do is known before the loop.
        let bound = body.stmts.iter().flat_map(|stmt| &stmt.results);
        let bound: ValueSet = bound.chain(&body.params).copied().collect();
        let known_before = |part| {
            let mut some = plan.some(&body.stmts, part);
            some.all(|stmt| !known.has_extent(stmt, &bound))
        };
        let is_known = [Part::Made, Part::Kernel].into_iter().all(known_before);
        let sums = uses.iter().filter(|uses| uses.accumulates).count();
        let fits = is_known
            && !uses.is_empty()
            && plan.fits(known, &uses)
            && (sums > 0 || !plan.parts.contains(&Part::After))
            && uses.iter().all(|uses| uses.asked.is_disjoint(&late))
            && !plan.asks_beside_kernels(&body.stmts);
        fits.then_some(plan)
    }

    /// The statements that are this.
    fn some<'p>(&self, stmts: &'p [Stmt<Cpu>], part: Part) -> impl Iterator<Item = &'p Stmt<Cpu>> {
        let parts = self.parts.iter().zip(stmts);
        parts.filter_map(move |(own, stmt)| (*own == part).then_some(stmt))
    }

    /// Whether kernels that use buffers so may run out of order. Notes which of them they write,
    /// and how far away they read.
    fn fits(&mut self, known: Known<'_>, uses: &[impl Borrow<Uses>]) -> bool {
        let uses: Vec<&Uses> = uses.iter().map(Borrow::borrow).collect();
        let swapped = self.pairs.iter().flat_map(|&(a, b)| [(a, 0), (b, 0)]);
        let written = uses.iter().flat_map(|uses| uses.written.iter());
        let written = written.map(|(&buffer, &(axis, _))| (buffer, axis));
        self.written.clear();
        for (buffer, axis) in swapped.chain(written) {
            if *self.written.entry(buffer).or_insert(axis) != axis {
                return false;
            }
        }
        let near = |(buffer, (_, reach)): (&ValueId, &(usize, Option<u64>))| {
            let is_written = self.written.contains_key(buffer);
            reach.filter(|_| is_written).unwrap_or(0)
        };
        let reaches = uses.iter().flat_map(|uses| uses.read.iter().map(near));
        self.reach = reaches.max().unwrap_or(0);
        let is_read = |buffer: &ValueId| {
            self.pairs.iter().any(|(a, b)| a == buffer || b == buffer)
                || uses.iter().any(|uses| uses.read.contains_key(buffer))
        };
        // What another kernel writes may be the same elements, in other rows.
        let writers = |buffer: &ValueId| {
            let writes = uses.iter().filter(|uses| uses.written.contains_key(buffer));
            writes.count()
        };
        let has_rows = |buffer: &ValueId| {
            let rows = known.dims(*buffer).get(self.written[buffer]);
            rows.is_some_and(|&rows| known.resolve(rows) == self.rows)
        };
        uses.iter().all(|uses| {
            let in_place = |buffer| uses.written.contains_key(buffer);
            uses.written.iter().all(|(buffer, (_, place))| match place {
                Place::First => has_rows(buffer),
                Place::Row => !is_read(buffer) && writers(buffer) == 1,
            }) && uses.read.iter().all(|(buffer, (axis, reach))| {
                let Some(written) = self.written.get(buffer) else {
                    return true;
                };
                let near = reach.is_some_and(|reach| reach == 0 || !in_place(buffer));
                near && written == axis && has_rows(buffer)
            })
        })
    }

    /// Whether what is done before all steps or after them asks for what they write, which differs
    /// from step to step.
    fn asks_beside_kernels(&self, stmts: &[Stmt<Cpu>]) -> bool {
        let mut beside = (self.some(stmts, Part::Before)).chain(self.some(stmts, Part::After));
        beside.any(|stmt| self.asks_for_written(stmt))
    }

    /// Whether a statement asks for what the kernels write.
    fn asks_for_written(&self, stmt: &Stmt<Cpu>) -> bool {
        stmt.op.reads_any(|value| self.written.contains_key(&value))
    }

    /// The tile whose steps have this body.
    fn tile(&self, steps: Option<(Extent, bool)>, body: Block<Cpu>) -> CpuOp {
        CpuOp::Own(Own::Tile(Tile {
            extents: std::iter::once(self.rows)
                .chain(steps.map(|(extent, _)| extent))
                .collect(),
            reverse: steps.is_some_and(|(_, reverse)| reverse),
            reach: self.reach,
            writes: self.written.iter().map(|(&b, &axis)| (b, axis)).collect(),
            swaps: self.pairs.clone(),
            body: Box::new(body),
        }))
    }
}

/// What a kernel accumulates.
fn accs(stmt: &Stmt<Cpu>) -> &[Acc] {
    match &stmt.op {
        CpuOp::Own(Own::Par(par)) => &par.accs,
        _ => &[],
    }
}

struct Tiling<'p> {
    program: Program<Cpu>,
    numbers: &'p Numbers,
}

impl Tiling<'_> {
    fn known(&self) -> Known<'_> {
        Known {
            program: &self.program,
            numbers: self.numbers,
        }
    }

    /// Statements of the host.
    fn stmts(&mut self, stmts: Vec<Stmt<Cpu>>) -> Vec<Stmt<Cpu>> {
        let mut out = Vec::with_capacity(stmts.len());
        let rows_of = |stmt: &Stmt<Cpu>| match stmt.op.is_kernel() {
            true => Uses::of(self.known(), stmt, None),
            false => None,
        };
        let uses: Vec<_> = stmts.iter().map(rows_of).collect();
        let mut rest = stmts.into_iter();
        while let Some(first) = rest.as_slice().first() {
            let plan = match first.op.is_kernel() {
                true => {
                    let at = uses.len() - rest.len();
                    sequence(self.known(), rest.as_slice(), &uses[at..])
                }
                false => None,
            };
            if let Some(plan) = plan {
                let some = rest.by_ref().take(plan.parts.len()).collect();
                self.fuse(plan, some, &mut out);
            } else if let Some(stmt) = rest.next() {
                self.stmt(stmt, &mut out);
            }
        }
        out
    }

    fn stmt(&mut self, mut stmt: Stmt<Cpu>, out: &mut Vec<Stmt<Cpu>>) {
        match stmt.op {
            CpuOp::Own(Own::Par(_)) => {}
            CpuOp::For {
                extent,
                reverse,
                body,
            } => match Plan::of_steps(self.known(), &body) {
                Some(plan) => return Self::split((plan, extent, reverse), *body, stmt.span, out),
                None => {
                    let body = Box::new(self.block(*body));
                    stmt.op = CpuOp::For {
                        extent,
                        reverse,
                        body,
                    };
                }
            },
            _ => {
                for inner in stmt.op.blocks_mut() {
                    *inner = self.block(std::mem::take(inner));
                }
            }
        }
        out.push(stmt);
    }

    fn block(&mut self, block: Block<Cpu>) -> Block<Cpu> {
        let stmts = self.stmts(block.stmts);
        Block { stmts, ..block }
    }

    /// A sequence of kernels, and what comes after it.
    fn fuse(&mut self, plan: Plan, stmts: Vec<Stmt<Cpu>>, out: &mut Vec<Stmt<Cpu>>) {
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::FUSED_ROWS);
        let span = stmts[0].span;
        let (mut body, mut after) = (Block::default(), Vec::new());
        for (stmt, part) in stmts.into_iter().zip(&plan.parts) {
            match part {
                Part::Kernel => body.stmts.push(stmt),
                Part::After => after.push(stmt),
                Part::Made | Part::Before | Part::Swap => out.push(stmt),
            }
        }
        out.push(Stmt::new(Vec::new(), plan.tile(None, body), span));
        out.extend(self.stmts(after));
    }

    /// The steps of a loop.
    fn split(
        (plan, extent, reverse): (Plan, Extent, bool),
        body: Block<Cpu>,
        span: SpanId,
        out: &mut Vec<Stmt<Cpu>>,
    ) {
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::TIME_TILED);
        #[cfg(test)]
        if body.stmts.iter().any(|stmt| !accs(stmt).is_empty()) {
            crate::testing::entered::enter(&crate::testing::entered::STEPS_ADD_UP);
        }
        let (mut before, mut kernels, mut after) = (Vec::new(), Vec::new(), Vec::new());
        for (stmt, part) in body.stmts.into_iter().zip(&plan.parts) {
            match part {
                Part::Made => out.push(stmt),
                Part::Before => before.push(stmt),
                Part::Kernel => kernels.push(stmt),
                Part::After => after.push(stmt),
                Part::Swap => {}
            }
        }
        let body = Block {
            params: body.params,
            stmts: [before, kernels, after].concat(),
            results: Vec::new(),
        };
        let tile = plan.tile(Some((extent, reverse)), body);
        out.push(Stmt::new(Vec::new(), tile, span));
    }
}

#[cfg(test)]
mod tests;
