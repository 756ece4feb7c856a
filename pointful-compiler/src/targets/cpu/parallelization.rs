//! Parallelization: a loop of the host whose iterations touch elements of their own is a kernel.
//!
//! ```text
//! for %i: N - k - 1 {                              par %i: N - k - 1 {
//!   %1 = trust N %i + k + 1                          %1 = trust N %i + k + 1
//!   %s = var 0.0                                     %s = var 0.0
//!   par %m: k (add %p = %s) {                        for %m: k {
//!     … load l[%1, %m], load l[k, %m] …      ▶         … load l[%1, %m], load l[k, %m] …
//!     combine add %p[], …                              combine add %s[], …
//!   }                                                }
//!   store l[%1, k], …                                store l[%1, k], …
//! }                                                }
//! ```
//!
//! What is written with assignments runs on all threads and in vectors then: factorizations, the
//! update of a matrix by a row and a column, sweeps over every other element. A perfect nest of such
//! loops is one kernel over several axes. Kernels inside become loops, unless the loop is short: then
//! it may be they that are long, and it stays.
//!
//! # Why it is sound
//!
//! No iteration writes what another one reads or writes: the [dependence test](crate::analysis::dependence) says so
//! of each pair of accesses, of which one is in any earlier iteration. Variables are made in the
//! iteration that uses them. What calls a function of the author's is left alone.

use std::collections::BTreeMap;

use super::tiling::Writer;
use super::versioning::by_length;
use crate::analysis::dependence::{Access, Scope, When};
use crate::analysis::effects::{is_pure, length};
use crate::analysis::indices::{Scalars, is_known};
use crate::analysis::numbers::Numbers;
use crate::contract::disjoint_updates::add_in_place;
use crate::contract::serialization::{in_order_throughout, longest};
use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{AxisId, Block, Extent, Monoid, Operation, Program, Stmt, ValueId, ValueSet};
use crate::ops::Prim;
use crate::pass::Pass;

/// The length of a loop whose kernels become loops, at least: a few pieces for each thread.
const LEAST: u64 = 16;

/// What is asked of lengths that are numbers of the author's, or may be `n - 1` of no members: of a
/// kernel indices may be as large.
const MOST: u64 = 1 << 31;

/// Loops that are known to be no longer than this are not worth a kernel.
const SHORT: u64 = 8;

/// How many accesses to what it changes a loop may have: each pair is a question.
const ACCESSES: usize = 24;

/// The pass.
pub const PARALLELIZATION: Pass<Kernels> = Pass {
    name: "parallelization",
    about: "run loops of the host as kernels whose iterations touch elements of their own",
    run: parallelization,
};

/// Runs loops of the host as kernels whose iterations touch elements of their own.
pub fn parallelization(program: Program<Kernels>) -> Program<Kernels> {
    let mut planner = Planner {
        program: &program,
        scalars: Scalars::of(&program),
        numbers: Numbers::of(&program.body),
        plans: BTreeMap::new(),
    };
    planner.block(&program.body);
    let plans = planner.plans;
    if plans.is_empty() {
        return program;
    }
    program.rewritten(|program, body| rewrite(program, &plans, body))
}

/// What becomes of a loop.
struct Plan {
    /// The loop without kernels,
    inside: Stmt<Kernels>,
    /// and how many there were.
    kernels: usize,
    /// How many loops of a perfect nest it is one kernel with, itself among them.
    loops: usize,
    /// How long it is at most as a kernel.
    most: u64,
    /// What it adds to elements of, and by what name.
    added: BTreeMap<ValueId, ValueId>,
}

/// Finds the outermost loops whose iterations are independent.
struct Planner<'p> {
    program: &'p Program<Kernels>,
    scalars: Scalars<'p>,
    numbers: Numbers,
    /// By the index of the loop.
    plans: BTreeMap<ValueId, Plan>,
}

impl Planner<'_> {
    fn block(&mut self, block: &Block<Kernels>) {
        for stmt in &block.stmts {
            if matches!(stmt.op, KernelOp::Own(_)) {
                continue;
            }
            if let KernelOp::For { extent, body, .. } = &stmt.op
                && let Some(plan) = self.plan(stmt, *extent, body)
            {
                self.plans.insert(body.params[0], plan);
                continue;
            }
            for inner in stmt.op.blocks() {
                self.block(inner);
            }
        }
    }

    fn plan(
        &mut self,
        stmt: &Stmt<Kernels>,
        extent: Extent,
        body: &Block<Kernels>,
    ) -> Option<Plan> {
        if !is_long(extent, body) {
            return None;
        }
        let most = match is_known(&self.scalars, extent) {
            true => u64::MAX,
            false => MOST,
        };
        self.scalars.asked = length(extent).filter(|_| most == MOST);
        let added = independent(&self.scalars, stmt);
        self.scalars.asked = None;
        let added = added?;
        let mut inside = stmt.clone();
        let kernels = in_order_throughout(self.program, &self.numbers, &mut inside)?;
        Some(Plan {
            inside,
            kernels,
            loops: 1 + nested(self.program, &self.scalars, body),
            most,
            added,
        })
    }
}

fn is_long(extent: Extent, body: &Block<Kernels>) -> bool {
    longest(&[extent], body)[0].is_none_or(|length| length > SHORT)
}

/// How many loops of a perfect nest with this body have independent iterations.
fn nested(program: &Program<Kernels>, scalars: &Scalars<'_>, body: &Block<Kernels>) -> usize {
    let Some(inner) = perfect(program, body) else {
        return 0;
    };
    match &inner.op {
        KernelOp::For { extent, body, .. }
            if is_known(scalars, *extent) && independent(scalars, inner).is_some() =>
        {
            1 + nested(program, scalars, body)
        }
        _ => 0,
    }
}

/// The loop that a block is, but for what it computes of numbers in front of it: that each iteration
/// may do for itself, too.
fn perfect<'b>(program: &Program<Kernels>, block: &'b Block<Kernels>) -> Option<&'b Stmt<Kernels>> {
    let (inner, before) = block.stmts.split_last()?;
    let KernelOp::For { extent, .. } = &inner.op else {
        return None;
    };
    let is_number =
        |stmt: &Stmt<Kernels>| is_pure(program, stmt) && !matches!(stmt.op, KernelOp::Load { .. });
    let bound = |value: ValueId| {
        block.params.contains(&value) || before.iter().any(|stmt| stmt.results.contains(&value))
    };
    (before.iter().all(is_number) && !length(*extent).is_some_and(bound)).then_some(inner)
}

/// What a loop adds to elements of, if none of its iterations changes what another one touches.
fn independent(scalars: &Scalars<'_>, stmt: &Stmt<Kernels>) -> Option<BTreeMap<ValueId, ValueId>> {
    let KernelOp::For { reverse, body, .. } = &stmt.op else {
        return None;
    };
    let mut touched = Touched::default();
    touched.bound.extend(&body.params);
    if !touched.block(body, &mut Vec::new()) {
        return None;
    }
    let changed: ValueSet = touched.writes().map(|touch| touch.buffer).collect();
    touched.all.retain(|touch| changed.contains(&touch.buffer));
    if touched.all.is_empty() || touched.all.len() > ACCESSES {
        return None;
    }
    let mut scope = Scope::new(body.params[0], *reverse);
    scope.bind_values(&body.params, false);
    scope.bind(&body.stmts, false);
    let meet = |one: &Touch, other: &Touch| {
        scope.may_meet(
            scalars,
            &one.axes(),
            &one.at,
            &other.at,
            When::LaterIteration,
        )
    };
    let are = touched.writes().all(|write| {
        let mut others = touched
            .all
            .iter()
            .filter(|other| other.buffer == write.buffer);
        others.all(|other| !meet(other, write) && !meet(write, other))
    });
    #[cfg(test)]
    if !are {
        crate::testing::entered::enter(&crate::testing::entered::CARRIED);
    }
    are.then_some(touched.added)
}

/// An access to an element of a buffer.
struct Touch {
    buffer: ValueId,
    at: Access,
    writes: bool,
}

impl Touch {
    fn axes(&self) -> Vec<AxisId> {
        self.at.at.iter().map(|&(axis, _)| axis).collect()
    }
}

/// What an iteration touches of what is around the loop.
#[derive(Default)]
struct Touched {
    all: Vec<Touch>,
    /// What it adds to elements of, and by what name.
    added: BTreeMap<ValueId, ValueId>,
    bound: ValueSet,
}

impl Touched {
    fn writes(&self) -> impl Iterator<Item = &Touch> {
        self.all.iter().filter(|touch| touch.writes)
    }

    fn touch(&mut self, buffer: ValueId, indices: &[ValueId], holds: &[ValueId], writes: bool) {
        let axes = (0..).map(AxisId);
        let at = Access {
            at: axes.zip(indices.iter().copied()).collect(),
            holds: holds.to_vec(),
        };
        self.all.push(Touch { buffer, at, writes });
    }

    /// Notes what a block touches where conditions hold, unless it does what no point of a kernel
    /// may.
    fn block(&mut self, block: &Block<Kernels>, holds: &mut Vec<ValueId>) -> bool {
        block.stmts.iter().all(|stmt| self.stmt(stmt, holds))
    }

    fn stmt(&mut self, stmt: &Stmt<Kernels>, holds: &mut Vec<ValueId>) -> bool {
        let may = match &stmt.op {
            KernelOp::Load { buffer, indices } => {
                self.touch(*buffer, indices, holds, false);
                true
            }
            KernelOp::Store {
                buffer, indices, ..
            } => {
                self.touch(*buffer, indices, holds, true);
                true
            }
            KernelOp::Combine { place, .. } if self.bound.contains(place) => true,
            KernelOp::Combine {
                monoid: Monoid::Add,
                place,
                indices,
                ..
            } if !indices.is_empty() => {
                self.touch(*place, indices, holds, true);
                self.added.insert(*place, *place);
                true
            }
            KernelOp::Combine { .. } => false,
            KernelOp::Get(place) | KernelOp::Set { place, .. } => self.bound.contains(place),
            KernelOp::Prim(prim, _) => !matches!(prim, Prim::Call(_)),
            KernelOp::If {
                cond,
                then,
                otherwise,
            } => {
                holds.push(*cond);
                let then = self.block(then, holds);
                holds.pop();
                then && self.block(otherwise, holds)
            }
            KernelOp::While { cond, body } => self.block(cond, holds) && self.block(body, holds),
            KernelOp::For { body, .. } => self.block(body, holds),
            // A sum for the variable of an iteration.
            KernelOp::Own(Par {
                accs, folds, body, ..
            }) => {
                self.bound.extend(accs.iter().map(|acc| acc.private));
                folds.is_empty()
                    && accs.iter().all(|acc| self.bound.contains(&acc.target))
                    && self.block(body, holds)
            }
            KernelOp::Const(_)
            | KernelOp::Size(_)
            | KernelOp::Select(..)
            | KernelOp::Var(_)
            | KernelOp::Assert { .. } => true,
            KernelOp::Alloc { .. }
            | KernelOp::Copy(_)
            | KernelOp::Swap(..)
            | KernelOp::Contract { .. } => false,
        };
        self.bound.extend(&stmt.results);
        may
    }
}

fn rewrite(
    program: &mut Program<Kernels>,
    plans: &BTreeMap<ValueId, Plan>,
    block: &mut Block<Kernels>,
) {
    let mut out = Writer::default();
    for mut stmt in std::mem::take(&mut block.stmts) {
        if let KernelOp::For { extent, body, .. } = &stmt.op
            && let Some(plan) = plans.get(&body.params[0])
        {
            #[cfg(test)]
            if plan.kernels > 0 {
                crate::testing::entered::enter(&crate::testing::entered::SUMMED_IN_PARALLEL);
            }
            #[cfg(test)]
            if plan.most == MOST {
                crate::testing::entered::enter(&crate::testing::entered::ASKED);
            }
            #[cfg(test)]
            if matches!(extent, Extent::Const(_)) {
                crate::testing::entered::enter(&crate::testing::entered::KNOWN_LENGTHS);
            }
            let least = if plan.kernels > 0 { LEAST } else { 0 };
            let mut parallel = Writer::default();
            parallel.stmts.push(kernel(program, plan));
            by_length(
                program,
                &[*extent],
                least..=plan.most,
                parallel,
                &stmt,
                &mut out,
            );
            continue;
        }
        if !matches!(stmt.op, KernelOp::Own(_)) {
            for inner in stmt.op.blocks_mut() {
                rewrite(program, plans, inner);
            }
        }
        out.stmts.push(stmt);
    }
    block.stmts = out.stmts;
}

/// A kernel over the indices of so many loops of a perfect nest.
fn kernel(program: &mut Program<Kernels>, plan: &Plan) -> Stmt<Kernels> {
    #[cfg(test)]
    crate::testing::entered::enter(&crate::testing::entered::PARALLELIZED);
    let span = plan.inside.span;
    let (mut extents, mut body) = (Vec::new(), Block::default());
    let mut next = Some(plan.inside.clone());
    for _ in 0..plan.loops {
        let Some(KernelOp::For {
            extent,
            body: inner,
            ..
        }) = next.take().map(|stmt| stmt.op)
        else {
            unreachable!("a perfect nest has so many loops");
        };
        extents.push(extent);
        body.params.extend(inner.params);
        body.stmts.extend(inner.stmts);
        if extents.len() < plan.loops {
            next = body.stmts.pop();
        }
    }
    add_in_place(program, &mut body, &plan.added);
    let par = Par {
        name: program.name.clone(),
        number: 0,
        extents,
        by_columns: false,
        speculates: false,
        accs: Vec::new(),
        folds: Vec::new(),
        body: Box::new(body),
    };
    Stmt::new(Vec::new(), KernelOp::Own(par), span)
}
