//! The bulk-operation transform: pointwise loops become definitions of whole arrays.
//!
//! # The idea
//!
//! Lifting an expression under `for i` adds axis `i` to the definitions that depend on `i`, and to no other. The axes have names, so nothing
//! is pushed through anything: reading a table at the loop's own index is the table itself, reading it elsewhere is a `gather`, and what does
//! not depend on a loop simply stays outside. What the program lines up is found first ([`axes`]); then one walk in the order of the program
//! lifts every statement ([`lift`]; [`control`] and [`accumulate`] for those with blocks and effects).
//!
//! # Why it is sound
//!
//! Bulk evaluates everything everywhere, Point only what it reaches. So what can panic, or may not end, keeps what it stood behind:
//! a branch becomes its statement's guard, and a `for` that is not one of the statement's axes must not be empty ([`guard`] computes this).
//! What reads such a value inherits the guard, until a `select` chooses. Element assignments in a branch are masked instead ([`updates`]).
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

mod accumulate;
mod axes;
mod carry;
mod classes;
mod control;
mod derive;
mod guard;
mod lift;
mod reads;
mod rotate;
mod state;
mod updates;

use super::Pass;
use crate::ir::Program;
use crate::ir::stages::bulk::Bulk;
use crate::ir::stages::point::Point;

/// The pass.
pub const BULK: Pass<Point, Bulk> = Pass {
    name: "bulk",
    about: "turn pointwise loops into definitions of whole arrays over named axes",
    run: bulk,
};

/// The bulk-operation transform.
pub fn bulk(program: Program<Point>) -> Program<Bulk> {
    let program = rotate::rotate(program);
    let updates = updates::Updates::new(&program);
    let axes = axes::axes(&program, &updates);
    let mut lift = state::Lift::new(&program, axes, updates);
    lift.program();
    lift.out
}
