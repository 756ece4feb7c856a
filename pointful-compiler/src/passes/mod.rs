//! Passes: functions from a program to a program, one idea each.

use crate::ir::{Program, Stage};

pub mod bulk;
pub mod cse;
pub mod dce;
mod flow;
pub mod schedule;
pub mod simplify;
mod subst;

pub use bulk::bulk;
pub use cse::cse;
pub use dce::dce;
pub use simplify::simplify;

/// A pass as a value, so that dumps, timings and tests can name it.
#[derive(Clone, Copy)]
pub struct Pass<A: Stage, B: Stage = A> {
    /// What it is called in dumps and filetests.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// The pass itself.
    pub run: fn(&Program<A>) -> Program<B>,
}
