use std::cell::Cell;

use super::split_from;
use crate::canonicalize::{cse, dce, simplify};
use crate::contract::{scalar_replacement, schedule::schedule};
use crate::expand::expand;
use crate::ir::Program;
use crate::ir::stages::cpu::Cpu;
use crate::ir::stages::point::Point;
use crate::targets::cpu::outline;
use crate::testing::{Options, check_seeds};

/// A program as it arrives here.
fn outlined(program: Program<Point>) -> Program<Cpu> {
    let bulk = expand(dce(cse(simplify(program))));
    outline(scalar_replacement(schedule(dce(cse(simplify(bulk))))))
}

#[test]
fn random_programs_are_cut() {
    let changed = Cell::new(0);
    let options = Options {
        neighbours: 40,
        ..Options::default()
    };
    check_seeds(0..500, options, outlined, |program| {
        let cut = split_from(program.clone(), 2);
        changed.set(changed.get() + u32::from(cut.body != program.body));
        cut
    });
    let changed = changed.get();
    assert!(changed * 20 > 500, "only {changed} of 500 programs are cut");
}
