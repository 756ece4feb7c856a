//! Loop interchange: a loop in order, whose steps compute points of arrays each from what is at that
//! point, becomes a loop in order at each of the points.
//!
//! ```text
//! %1[s, t] = loop %2: a (%3[s, t] = x) {             %1[s, t] = loop %2: a lanes [s] (%3[s, t] = x) {
//!   %4[s] = gather %3 [t := %5]                        %4[s] = gather %3 [t := %5]
//!   …                                           ▶      …
//!   %6[s, t] = update %3 [t := %7] %8                  %6[s, t] = update %3 [t := %7] %8
//!   yield %6                                           yield %6
//! }                                                  }
//! ```
//!
//! So are paths of a simulation that are advanced together, `for t in … { for s in S { x[s][t] = … } }`.
//! On the left each step walks down a column; on the right each point walks along its row, waits
//! for no other, and a derivative keeps its numbers and not the array of each step.
//!
//! # Which loops
//!
//! All states have the axis first, and nothing that a step makes is read, written, or combined at
//! another place of it. It is not done where more of what a step reads and writes lies beside what
//! the neighbouring point does than beside what the next step does, nor for axes of a few points
//! alone: a vector of three numbers is the state of one loop.
//!
//! # Why it is sound
//!
//! What a lane's steps read is outside of the loop, or of the same lane.

use crate::analysis::dataflow::named_axes;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{
    AxisId, Block, Extent, Lit, Operation, Program, Stmt, ValueId, ValueMap, ValueSet,
};
use crate::ops::Prim;
use crate::pass::Pass;
#[cfg(test)]
use crate::testing::entered::{COLUMNS_STAY, FEW_STAY, INTERCHANGED, enter};

/// So many points are no lane on their own: a step keeps the numbers of all of them in registers, and
/// what they share is computed once.
const FEW: u64 = 8;

/// The pass.
pub const LOOP_INTERCHANGE: Pass<Bulk> = Pass {
    name: "loop_interchange",
    about: "run a loop at each point of the arrays that its steps compute point by point",
    run: loop_interchange,
};

/// Runs loops at each point of the arrays that their steps compute point by point.
pub fn loop_interchange(program: Program<Bulk>) -> Program<Bulk> {
    let mut members = Members::default();
    program.rewritten(|program, body| members.block(program, body))
}

/// The conditions that an extent has members.
#[derive(Default)]
struct Members {
    zeros: ValueSet,
    sizes: ValueMap<Extent>,
    there: ValueMap<Extent>,
}

impl Members {
    fn block(&mut self, program: &Program<Bulk>, block: &mut Block<Bulk>) {
        for stmt in &mut block.stmts {
            self.define(stmt);
            if let Some(interchanged) = self.interchanged(program, stmt) {
                *stmt = interchanged;
            }
            for inner in stmt.op.blocks_mut() {
                self.block(program, inner);
            }
        }
    }

    /// A loop with all lanes that it may have, up to the last one of more than a few points.
    fn interchanged(&self, program: &Program<Bulk>, stmt: &Stmt<Bulk>) -> Option<Stmt<Bulk>> {
        let mut with_all = stmt.clone();
        let mut interchanged = None;
        while let Some(lane) = lane(program, &with_all) {
            let extent = program.decls.axes[lane.0 as usize].extent;
            add(program, lane, &mut with_all);
            for inner in with_all.op.blocks_mut() {
                self.in_lane(extent, inner);
            }
            let is_few = matches!(extent, Extent::Const(points) if points <= FEW);
            #[cfg(test)]
            enter(if is_few { &FEW_STAY } else { &INTERCHANGED });
            if !is_few {
                interchanged = Some(with_all.clone());
            }
        }
        interchanged
    }

    fn define(&mut self, stmt: &Stmt<Bulk>) {
        match &stmt.op {
            BulkOp::Const(Lit::Int(_, 0)) => {
                self.zeros.insert(stmt.results[0]);
            }
            BulkOp::Size(extent) => {
                self.sizes.insert(stmt.results[0], *extent);
            }
            BulkOp::Map(Prim::Gt, args) if self.zeros.contains(&args[1]) => {
                if let Some(&extent) = self.sizes.get(&args[0]) {
                    self.there.insert(stmt.results[0], extent);
                }
            }
            _ => {}
        }
    }

    /// A lane is there: nothing in it needs to ask whether there is one.
    fn in_lane(&self, extent: Extent, block: &mut Block<Bulk>) {
        for stmt in &mut block.stmts {
            let there = |guard: ValueId| self.there.get(&guard) == Some(&extent);
            stmt.guard = stmt.guard.filter(|&guard| !there(guard));
            for inner in stmt.op.blocks_mut() {
                self.in_lane(extent, inner);
            }
        }
    }
}

/// The next axis after a loop's lanes, if it is to be one.
fn lane(program: &Program<Bulk>, stmt: &Stmt<Bulk>) -> Option<AxisId> {
    let BulkOp::Loop { lanes, body, .. } = &stmt.op else {
        return None;
    };
    let lane = *program.ty(*body.params.get(1)?).dims.get(lanes.len())?;
    let steps = Steps {
        program,
        lane,
        bound: body.bound(),
    };
    (steps.statement(stmt) && steps_are_near(program, lane, body)).then_some(lane)
}

/// What the steps of a loop do along an axis.
struct Steps<'p> {
    program: &'p Program<Bulk>,
    lane: AxisId,
    /// What is bound in the loop.
    bound: ValueSet,
}

impl Steps<'_> {
    fn has_lane(&self, value: ValueId) -> bool {
        self.program.ty(value).dims.contains(&self.lane)
    }

    /// Whether a statement in the loop, or the loop, does at each place of the axis what it does with
    /// what is there.
    fn statement(&self, stmt: &Stmt<Bulk>) -> bool {
        let fits = match &stmt.op {
            BulkOp::Iota(_) => true,
            BulkOp::Gather { table, at } => {
                let elsewhere = at.iter().any(|(axis, _)| *axis == self.lane);
                !elsewhere || !self.bound.contains(table)
            }
            // It fails where there is nothing along the axis.
            BulkOp::Assert { cond, .. } => self.has_lane(*cond),
            op if op.lanes().contains(&self.lane) => true,
            BulkOp::Loop {
                axis, lanes, body, ..
            } => *axis != self.lane && self.states(lanes.len(), &body.params[1..], stmt),
            BulkOp::While { .. } | BulkOp::Derive { .. } | BulkOp::Rule { .. } => {
                !self.touches(stmt)
            }
            op => !named_axes(op).contains(&self.lane),
        };
        let mut inner = stmt.op.blocks().into_iter().flat_map(|block| &block.stmts);
        fits && inner.all(|stmt| self.statement(stmt))
    }

    /// Whether a loop has the axis next to its lanes in all of its states, or nowhere.
    fn states(&self, lanes: usize, states: &[ValueId], stmt: &Stmt<Bulk>) -> bool {
        let first = |&state: &ValueId| self.program.ty(state).dims.get(lanes) == Some(&self.lane);
        !states.is_empty() && states.iter().all(first) || !self.touches(stmt)
    }

    /// Whether something that a statement binds has the axis.
    fn touches(&self, stmt: &Stmt<Bulk>) -> bool {
        let mut inner = stmt.op.blocks().into_iter();
        stmt.results.iter().any(|&value| self.has_lane(value))
            || inner.any(|block| block.bound().iter().any(|value| self.has_lane(value)))
    }
}

/// Whether what steps access lies beside each other in memory as often as what points of an axis do.
fn steps_are_near(program: &Program<Bulk>, lane: AxisId, body: &Block<Bulk>) -> bool {
    let mut strides = Strides {
        program,
        lane,
        moving: ValueSet::from_iter([body.params[0]]),
        nearer: 0,
    };
    strides.block(body);
    #[cfg(test)]
    if strides.nearer < 0 {
        enter(&COLUMNS_STAY);
    }
    strides.nearer >= 0
}

/// Which of two neighbours accesses lie beside each other for.
struct Strides<'p> {
    program: &'p Program<Bulk>,
    lane: AxisId,
    /// What is computed of the loop's index.
    moving: ValueSet,
    /// How much more often steps are neighbours.
    nearer: i64,
}

impl Strides<'_> {
    fn block(&mut self, block: &Block<Bulk>) {
        for stmt in &block.stmts {
            match &stmt.op {
                BulkOp::Map(_, args) if args.iter().any(|arg| self.moving.contains(arg)) => {
                    self.moving.extend(&stmt.results);
                }
                BulkOp::Gather { table, at } | BulkOp::Update { table, at, .. } => {
                    self.access(*table, at);
                }
                _ => {}
            }
            for inner in stmt.op.blocks() {
                self.block(inner);
            }
        }
    }

    fn access(&mut self, table: ValueId, at: &[(AxisId, ValueId)]) {
        let dims = &self.program.ty(table).dims;
        let place = |axis| dims.iter().position(|&dim| dim == axis);
        let Some(lane) = place(self.lane) else {
            return;
        };
        let moves = at.iter().filter(|(_, index)| self.moving.contains(index));
        for step in moves.filter_map(|&(axis, _)| place(axis)) {
            self.nearer += if step > lane { 1 } else { -1 };
        }
    }
}

/// Adds a lane to a loop, and to those inside whose states have it.
fn add(program: &Program<Bulk>, lane: AxisId, stmt: &mut Stmt<Bulk>) {
    if let BulkOp::Loop { lanes, body, .. } = &mut stmt.op
        && !lanes.contains(&lane)
    {
        let has_lane = |&state: &ValueId| program.ty(state).dims.contains(&lane);
        if body.params[1..].iter().any(has_lane) {
            lanes.push(lane);
        }
    }
    for inner in stmt.op.blocks_mut() {
        for stmt in &mut inner.stmts {
            add(program, lane, stmt);
        }
    }
}
