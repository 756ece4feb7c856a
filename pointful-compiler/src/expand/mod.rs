//! The bulk-operation transform: pointwise loops become definitions of whole arrays.
//!
//! # The idea
//!
//! Lifting an expression under `for i` adds axis `i` to the definitions that depend on `i`, and to
//! no other. The axes have names, so nothing is pushed through anything: reading a table at the
//! loop's own index is the table itself, reading it elsewhere is a `gather`, and what does not
//! depend on a loop simply stays outside. What the program lines up is found first
//! ([`axis_unification`]); then one walk in the order of the program lifts every statement
//! ([`lift`]; [`control_flow`] and [`accumulators`] for those with blocks and effects).
//!
//! # Why it is sound
//!
//! Bulk evaluates everything everywhere, Point only what it reaches. So what can panic, or may not
//! end, keeps what it stood behind: a branch becomes its statement's guard, and a `for` that is not
//! one of the statement's axes must not be empty ([`guards`] computes this). What reads such a
//! value inherits the guard, until a `select` chooses. Element assignments in a branch are masked
//! instead ([`masked_updates`]).
//!
//! # Before and after
//!
//! ```text
//! fn mv(a: f32[I, K], x: f32[K]) -> f32[I] {      axes i: I, k: K
//!   %0 = for %1: I {                              fn mv(a: f32[i, k], x: f32[k]) -> f32[i] {
//!     %2 = for %3: K {                              %0[i, k] = mul a, x
//!       %4 = index a[%1, %3]                        %1[i] = reduce add [k] %0
//!       %5 = index x[%3]                            return %1[i]
//!       %6 = mul %4, %5                           }
//!       yield %6
//!     }
//!     %7 = reduce add %2
//!     yield %7
//!   }
//!   return %0
//! }
//! ```

mod accumulators;
mod axis_unification;
mod context;
mod control_flow;
mod free_variables;
mod guards;
mod lift;
mod loop_accumulators;
mod loop_interchange;
mod loop_rotation;
mod masked_updates;
mod rectangular_hull;
mod transformations;
mod union_find;

pub use loop_interchange::{LOOP_INTERCHANGE, loop_interchange};
pub use rectangular_hull::{RECTANGULAR_HULL, rectangular_hull};

use crate::ir::Program;
use crate::ir::stages::bulk::Bulk;
use crate::ir::stages::point::Point;
use crate::pass::Pass;

/// The pass.
pub const EXPAND: Pass<Point, Bulk> = Pass {
    name: "expand",
    about: "turn pointwise loops into definitions of whole arrays over named axes",
    run: expand,
};

/// The bulk-operation transform.
pub fn expand(program: Program<Point>) -> Program<Bulk> {
    let program = loop_rotation::rotate(program);
    let updates = masked_updates::Updates::new(&program);
    let axes = axis_unification::axes(&program, &updates);
    let mut lift = context::Lift::new(&program, axes, updates);
    lift.program();
    lift.out
}
