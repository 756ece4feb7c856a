//! Scheduling: from definitions of whole arrays back to loops. This is contraction.
//!
//! # The idea
//!
//! A Bulk program says what every array is at every point, not when or where. Most arrays never
//! need to exist: a value that its readers read at their own point is computed there (*on demand*),
//! in the outermost loop in which it is known. What is left are [*tasks*](tasks): reductions,
//! scatters, updates, loops, values too dear to compute twice, and the results. Tasks that run over
//! the same axes share their [loops](tree); the value of a task is kept in the innermost loop
//! around all its readers, as a scalar if they share all its axes, else in a buffer over the axes
//! they do not share. What is done with the values that a sequential loop collects is done
//! [in the loop's steps](guests) where that may be. Loops outside of which nothing is parallel yet
//! become kernels.
//!
//! # Why it is sound
//!
//! 1. A task is put after everything it waits for, and into a loop with it only when it reads it at
//!    that loop's own index.
//! 2. A parallel loop has no reader of another iteration's value (by 1), and what its iterations
//!    combine into is an accumulator.
//! 3. A buffer is changed in place only when nobody reads the old contents any more; else it is
//!    copied.
//! 4. What carries a guard, or is wanted on one side of a select only, is computed inside that
//!    branch.
//!
//! # Before and after
//!
//! ```text
//! %0[n, k, d] = sub points, centres          par %n: N (add s) {
//! %1[n, k, d] = mul %0, %0                     var m = inf
//! %2[n, k] = reduce add [d] %1                 for k { var q = 0; for d { combine add q, … }; combine min m, q }
//! %3[n] = reduce min [k] %2                    combine add s, m
//! %4 = reduce add [n] %3                     }
//! ```

mod accumulate;
mod build;
mod coalesce;
mod contract;
mod extrema;
mod facts;
mod fills;
mod folds;
mod guests;
mod held;
mod layout;
mod loops;
mod masked;
mod nested;
mod order;
mod padding;
mod region;
mod renames;
mod reuse;
mod scans;
mod tasks;
#[cfg(test)]
mod tests;
mod tree;
mod unmade;
mod unread;

use build::{Builder, Location};
pub(crate) use contract::Shape;
use facts::Facts;
pub(crate) use facts::{is_cheap, is_simple, mixed, price};
use padding::{Need, Pads};
use tasks::Delivery;

use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::stages::kernels::Kernels;
use crate::ir::{AxisId, Program, ValueId, ValueSet};

/// How a result of the function comes about.
enum Outcome {
    /// A scalar, computed at the end.
    Scalar(ValueId),
    /// Stored in the buffer made for the delivery of this number.
    Stored(usize),
    /// The buffer in which a task leaves it.
    Left(ValueId),
}

/// Schedules a program.
///
/// What is stored is known once it is scheduled. Products of matrices that could be contractions,
/// were they and their factors stored, become these if they are stored anyway, and then the program
/// is scheduled again.
pub fn schedule(program: Program<Bulk>) -> Program<Kernels> {
    let mut program = unmade::guarded(program);
    let mut stored = ValueSet::new();
    let mut contractions = 0;
    let mut done: Option<Program<Kernels>> = None;
    loop {
        program = prepared(program, &stored);
        let pads = Pads::default();
        let facts = Facts::new(&program, &pads, &stored);
        let (found, refused) = (facts.contractions(), facts.refuses());
        if let Some(done) = done.take_if(|_| found <= contractions) {
            return done;
        }
        #[cfg(test)]
        if !stored.is_empty() {
            crate::testing::entered::enter(&crate::testing::entered::STORED);
        }
        let scheduled = padded(&program, &stored);
        if !refused {
            return scheduled.program;
        }
        contractions = found;
        stored.extend(&scheduled.stored);
        done = Some(scheduled.program);
    }
}

/// Schedules a program, with room for what has to be padded.
fn padded(program: &Program<Bulk>, stored: &ValueSet) -> Scheduled {
    let mut program = program.clone();
    let mut pads = Pads::default();
    loop {
        match attempt(&program, &pads, stored) {
            Ok(done) => return done,
            Err(needs) => pads.provide(&mut program, needs),
        }
    }
}

/// A scheduled program, and the values that are stored as a whole in it: on the host, over all of
/// their axes.
struct Scheduled {
    program: Program<Kernels>,
    stored: ValueSet,
}

/// Rewrites what is better otherwise before anything is decided. Each step looks at what the one
/// before has left, by the same facts if that has found nothing to do.
fn prepared(mut program: Program<Bulk>, stored: &ValueSet) -> Program<Bulk> {
    let pads = Pads::default();
    let mut facts = Facts::new(&program, &pads, stored);
    if let Some(found) = coalesce::coalesced(&facts) {
        program = coalesce::coalesce(program, &found);
        facts = Facts::new(&program, &pads, stored);
    }
    if let Some(found) = nested::nested(&facts) {
        program = nested::unnested(program, &found);
        facts = Facts::new(&program, &pads, stored);
    }
    if let Some(found) = masked::masked(&facts) {
        program = masked::with_zeros(program, &found);
        facts = Facts::new(&program, &pads, stored);
    }
    if let Some(found) = contract::added(&facts) {
        program = contract::add_in_place(program, &found);
        facts = Facts::new(&program, &pads, stored);
    }
    for (value, dims) in layout::orders(&facts) {
        program.values[value.index()].ty.dims = dims;
    }
    program
}

/// Schedules a program, unless something has to be padded for it.
fn attempt(
    program: &Program<Bulk>,
    pads: &Pads,
    stored: &ValueSet,
) -> Result<Scheduled, Vec<Need>> {
    let mut builder = Builder::new(Facts::new(program, pads, stored));
    let mut deliveries = Vec::new();
    let mut outs = Vec::new();
    let mut outcomes = Vec::new();
    let mut finals = Vec::new();
    let mut left: Vec<ValueId> = Vec::new();
    for (&value, dims) in program.body.results.iter().zip(&program.decls.results) {
        if dims.is_empty() {
            finals.push(value);
            outcomes.push(Outcome::Scalar(value));
        } else if is_left_in_buffer(program, &builder.facts, value, dims) && !left.contains(&value)
        {
            left.push(value);
            finals.push(value);
            outcomes.push(Outcome::Left(value));
        } else {
            deliveries.push(Delivery {
                value,
                dims: dims.clone(),
            });
            outcomes.push(Outcome::Stored(outs.len()));
            outs.push((None, dims.clone()));
        }
    }
    let outs = builder.block(&program.body, &deliveries, outs, &finals, &[]);
    let results = outcomes
        .into_iter()
        .map(|outcome| match outcome {
            Outcome::Scalar(value) => builder.eval(value).0,
            Outcome::Stored(slot) => outs[slot].0.expect("every delivery was made"),
            Outcome::Left(value) => match builder.location(value) {
                Some(Location::Buffer { buffer, .. }) => *buffer,
                Some(Location::Var { .. }) | None => {
                    unreachable!("the task leaves its result in a buffer")
                }
            },
        })
        .collect();
    let mut body = builder.pop();
    body.results = results;
    let mut out = builder.out;
    out.body = body;
    if !builder.needs.is_empty() {
        return Err(builder.needs);
    }
    if !pads.is_empty() {
        padding::fit(&mut out);
    }
    unread::unread(&mut out);
    fills::fills(&mut out);
    Ok(Scheduled {
        program: out,
        stored: builder.stored,
    })
}

/// Whether a task leaves the array in a buffer of its own, with its axes in this order, so that it
/// need not be stored again.
fn is_left_in_buffer(
    program: &Program<Bulk>,
    facts: &Facts<'_>,
    value: ValueId,
    dims: &[AxisId],
) -> bool {
    if program.ty(value).dims != dims {
        return false;
    }
    let owned = program.params.iter().any(|p| p.value == value && p.owned);
    owned
        || facts.site(value).is_some_and(|stmt| match &stmt.op {
            BulkOp::Scatter { .. }
            | BulkOp::Update { .. }
            | BulkOp::Pack { .. }
            | BulkOp::Scan { .. }
            | BulkOp::Loop { .. }
            | BulkOp::While { .. }
            | BulkOp::Derive { .. }
            | BulkOp::Rule { .. } => true,
            BulkOp::Reduce { .. } if facts.factors(stmt).is_some() => true,
            // A reduction whose own axes are inside its sum accumulates into a buffer anyway.
            BulkOp::Reduce { axes, .. } => facts
                .iteration(stmt)
                .first()
                .is_some_and(|first| axes.contains(first)),
            BulkOp::Const(_)
            | BulkOp::Size(_)
            | BulkOp::Iota(_)
            | BulkOp::Map(..)
            | BulkOp::Select(..)
            | BulkOp::Gather { .. }
            | BulkOp::Assert { .. } => false,
        })
}
