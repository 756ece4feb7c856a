//! Dead code: takes away what no result and no assertion needs.
//!
//! # The idea
//!
//! Mark and sweep. What the function returns is needed, and so are assertions; what a needed value
//! or statement reads is needed. Statements that give several values are looked into
//! ([`Flow::slots`]): of a loop, only the states and collected values that matter remain. What is
//! combined into an accumulator is needed if the accumulator is read.
//!
//! # Why it is sound
//!
//! Only assertions are there for their panic. A `check` whose index nobody uses may go, and a
//! `while` whose states nobody reads, too: what a program computes stays the same, and it fails at
//! most less often.
//!
//! # Before and after
//!
//! ```text
//! %0 = mul x, x                                  %1 = loop %2: T (%3 = a) {
//! %1, %4 = loop %2: T (%3 = a, %5 = b) {           %6 = add %3, x
//!   %6 = add %3, x                                 yield %6
//!   %7 = mul %5, %0                              }
//!   yield %6, %7                                 return %1
//! }
//! return %1
//! ```

use crate::analysis::dataflow::{Effect, Flow, Slots};
use crate::ir::stages::bulk::Bulk;
use crate::ir::stages::point::Point;
use crate::ir::{Block, Operation, Program, Stmt, ValueId};
use crate::pass::Pass;

/// The pass at the Point stage.
pub const DCE_POINT: Pass<Point> = Pass {
    name: "dce",
    about: "take away what no result and no assertion needs",
    run: dce::<Point>,
};

/// The pass at the Bulk stage.
pub const DCE_BULK: Pass<Bulk> = Pass {
    name: "dce",
    about: "take away what no result and no assertion needs",
    run: dce::<Bulk>,
};

/// Takes away what no result and no assertion needs.
#[allow(private_bounds, reason = "how values flow is the passes' own business")]
pub fn dce<S: Flow>(mut program: Program<S>) -> Program<S> {
    let mut marks = Marks::new(&program);
    marks.index(&program.body, None);
    marks.roots();
    marks.run();
    let live = marks.live;
    let mut next = 0;
    sweep(&mut program.body, &live, &mut next);
    program
}

/// Where a value is bound.
#[derive(Clone, Copy)]
enum Def {
    Parameter,
    Result { stmt: usize, k: usize },
    BlockParam { stmt: usize, k: usize },
}

/// A statement, and the one around it. They are numbered in the order of the text, outer ones
/// first.
struct Node<'a, S: Flow> {
    stmt: &'a Stmt<S>,
    parent: Option<usize>,
}

#[derive(Default)]
struct Live {
    values: Vec<bool>,
    stmts: Vec<bool>,
}

struct Marks<'a, S: Flow> {
    program: &'a Program<S>,
    nodes: Vec<Node<'a, S>>,
    defs: Vec<Def>,
    /// Statements that combine into an accumulator, by the accumulator.
    into: Vec<Vec<usize>>,
    live: Live,
    work: Vec<ValueId>,
}

impl<'a, S: Flow> Marks<'a, S> {
    fn new(program: &'a Program<S>) -> Self {
        let count = program.values.len();
        Self {
            program,
            nodes: Vec::new(),
            defs: vec![Def::Parameter; count],
            into: vec![Vec::new(); count],
            live: Live {
                values: vec![false; count],
                stmts: Vec::new(),
            },
            work: Vec::new(),
        }
    }

    /// Numbers the statements and notes where values are bound.
    fn index(&mut self, block: &'a Block<S>, parent: Option<usize>) {
        for stmt in &block.stmts {
            let id = self.nodes.len();
            self.nodes.push(Node { stmt, parent });
            self.live.stmts.push(false);
            for (k, result) in stmt.results.iter().enumerate() {
                self.defs[result.index()] = Def::Result { stmt: id, k };
            }
            if let Effect::Into(acc) = S::effect(&stmt.op) {
                self.into[acc.index()].push(id);
            }
            for inner in stmt.op.blocks() {
                for (k, param) in inner.params.iter().enumerate() {
                    self.defs[param.index()] = Def::BlockParam { stmt: id, k };
                }
                self.index(inner, Some(id));
            }
        }
    }

    fn roots(&mut self) {
        self.values(S::result_extents(self.program));
        for k in 0..self.program.body.results.len() {
            self.value(self.program.body.results[k]);
        }
        for id in 0..self.nodes.len() {
            if S::effect(&self.nodes[id].stmt.op) == Effect::Assert {
                self.stmt(id);
            }
        }
    }

    fn run(&mut self) {
        while let Some(value) = self.work.pop() {
            for extent in S::type_extents(self.program, value) {
                self.value(extent);
            }
            for k in 0..self.into[value.index()].len() {
                self.stmt(self.into[value.index()][k]);
            }
            match self.defs[value.index()] {
                Def::Parameter => {}
                Def::Result { stmt, k } => {
                    self.stmt(stmt);
                    self.slot(stmt, k);
                }
                Def::BlockParam { stmt, k } => {
                    self.stmt(stmt);
                    if let Slots::States { indices, .. } = S::slots(&self.nodes[stmt].stmt.op)
                        && k >= indices
                    {
                        self.slot(stmt, k - indices);
                    }
                }
            }
        }
    }

    fn value(&mut self, value: ValueId) {
        if !std::mem::replace(&mut self.live.values[value.index()], true) {
            self.work.push(value);
        }
    }

    fn values(&mut self, values: impl IntoIterator<Item = ValueId>) {
        for value in values {
            self.value(value);
        }
    }

    /// A statement is needed, whatever it is needed for.
    fn stmt(&mut self, id: usize) {
        if std::mem::replace(&mut self.live.stmts[id], true) {
            return;
        }
        let Node { stmt, parent } = self.nodes[id];
        if let Some(parent) = parent {
            self.stmt(parent);
        }
        self.values(stmt.guard);
        self.values(S::extents(self.program, &stmt.op));
        match S::slots(&stmt.op) {
            Slots::Operands | Slots::Blocks => self.values(stmt.op.operands()),
            // What is no initial state, and what decides how long to go on.
            Slots::States { states, .. } => {
                self.values(stmt.op.operands().into_iter().skip(states));
                let blocks = stmt.op.blocks();
                for cond in &blocks[..blocks.len() - 1] {
                    self.values(cond.results.iter().copied());
                }
            }
            Slots::Whole => {
                self.values(stmt.op.operands());
                for block in stmt.op.blocks() {
                    self.values(block.results.iter().copied());
                }
            }
        }
    }

    /// Result `k` of a statement is needed.
    fn slot(&mut self, id: usize, k: usize) {
        let stmt = self.nodes[id].stmt;
        match S::slots(&stmt.op) {
            Slots::Operands | Slots::Whole => {}
            Slots::Blocks => {
                let results: Vec<ValueId> = stmt
                    .op
                    .blocks()
                    .into_iter()
                    .map(|block| block.results[k])
                    .collect();
                self.values(results);
            }
            Slots::States { states, .. } => {
                if k < states {
                    self.values(stmt.op.operands().into_iter().skip(k).take(1));
                }
                self.values(stmt.op.blocks().last().map(|body| body.results[k]));
            }
        }
    }
}

impl<S: Flow> Clone for Node<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Flow> Copy for Node<'_, S> {}

/// Removes what is not marked. `next` is the number of the next statement.
fn sweep<S: Flow>(block: &mut Block<S>, live: &Live, next: &mut usize) {
    block.stmts.retain_mut(|stmt| {
        let id = *next;
        *next += 1;
        for inner in stmt.op.blocks_mut() {
            sweep(inner, live, next);
        }
        if live.stmts[id] {
            trim(stmt, live);
        }
        live.stmts[id]
    });
}

/// Removes the results of a statement that are not needed.
fn trim<S: Flow>(stmt: &mut Stmt<S>, live: &Live) {
    let (states, indices) = match S::slots(&stmt.op) {
        Slots::Operands | Slots::Whole => return,
        Slots::Blocks => (0, 0),
        Slots::States { states, indices } => (states, indices),
    };
    for k in (0..stmt.results.len()).rev() {
        let mut needed = live.values[stmt.results[k].index()];
        if k < states {
            let blocks = stmt.op.blocks();
            needed |= blocks
                .iter()
                .any(|block| live.values[block.params[k + indices].index()]);
        }
        if !needed {
            S::remove(&mut stmt.op, k);
            stmt.results.remove(k);
        }
    }
}
