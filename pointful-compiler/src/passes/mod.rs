//! Passes: functions from a program to a program, one idea each.

use crate::ir::{Program, Stage};

pub(crate) use schedule::{is_cheap, mixed};

pub mod ad;
pub mod ahead;
pub mod bulk;
pub mod cse;
pub mod dce;
pub(crate) mod effects;
pub mod factors;
pub mod fission;
mod flow;
pub mod hand_on;
pub mod in_place;
pub mod invariants;
pub mod join;
mod lanes;
pub mod online;
pub mod owned;
pub mod registers;
mod renamed;
pub mod schedule;
pub mod simplify;
mod subst;
pub mod tiles;
mod write_down;

pub use ad::{derive, dual, sparse};
pub use ahead::ahead;
pub use bulk::bulk;
pub use cse::cse;
pub use dce::dce;
pub use factors::factors;
pub use fission::fission;
pub use hand_on::hand_on;
pub use in_place::in_place;
pub use invariants::invariants;
pub use join::join;
pub use online::online;
pub use owned::owned;
pub use registers::registers;
pub use simplify::simplify;
pub use tiles::tiles;

/// A pass as a value, so that dumps, timings and tests can name it.
#[derive(Clone, Copy)]
pub struct Pass<A: Stage, B: Stage = A> {
    /// What it is called in dumps and filetests.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// The pass itself.
    pub run: fn(Program<A>) -> Program<B>,
}

#[cfg(test)]
mod tests {
    use super::{bulk, cse, dce, simplify};
    use crate::testing::{Options, check_between, check_derivatives, check_pass};

    #[test]
    fn random_programs_are_lifted() {
        check_pass(300, bulk);
    }

    #[test]
    fn random_programs_are_tidied_in_point() {
        check_pass(300, simplify);
        check_pass(300, cse);
        check_pass(300, dce);
    }

    #[test]
    fn random_programs_are_tidied_in_bulk() {
        check_between(300, bulk, simplify);
        check_between(300, bulk, cse);
        check_between(300, bulk, dce);
    }

    #[test]
    fn random_programs_are_differentiated() {
        check_derivatives(0..200, Options::default());
    }

    #[test]
    fn random_programs_are_tidied_throughout() {
        let point = |p| dce(cse(simplify(p)));
        check_between(300, point, |p| dce(cse(simplify(bulk(p)))));
    }
}
