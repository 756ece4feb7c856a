//! Passes: functions from a program to a program, one idea each.

use crate::ir::{Program, Stage};

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
    use crate::canonicalize::{
        bounds_check_elimination, cse, dce, doall, owner_computes, simplify,
    };
    use crate::expand::{expand, loop_interchange};
    use crate::testing::{Options, check_between, check_derivatives, check_pass};

    #[test]
    fn random_programs_are_lifted() {
        check_pass(300, expand);
    }

    #[test]
    fn random_programs_are_tidied_in_point() {
        check_pass(300, simplify);
        check_pass(300, cse);
        check_pass(300, dce);
        check_pass(300, bounds_check_elimination);
        check_pass(300, doall);
        check_pass(300, owner_computes);
    }

    #[test]
    fn random_programs_are_tidied_in_bulk() {
        check_between(300, expand, simplify);
        check_between(300, expand, cse);
        check_between(300, expand, dce);
        check_between(300, expand, loop_interchange);
    }

    #[test]
    fn random_programs_are_differentiated() {
        check_derivatives(0..200, Options::default());
    }

    #[test]
    fn random_programs_are_tidied_throughout() {
        let point = |p| dce(cse(simplify(p)));
        check_between(300, point, |p| dce(cse(simplify(expand(p)))));
    }
}
