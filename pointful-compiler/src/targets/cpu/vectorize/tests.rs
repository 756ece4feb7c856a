use std::cell::Cell;

use super::reductions::{Lanes, reductions_by};
use super::short_loops::short_loops_by;
use crate::canonicalize::{cse, dce, simplify};
use crate::contract::{scalar_replacement, schedule::schedule};
use crate::expand::expand;
use crate::ir::Program;
use crate::ir::stages::cpu::Cpu;
use crate::ir::stages::point::Point;
use crate::targets::cpu::outline;
use crate::testing::check_between;

/// A program as it arrives here.
fn outlined(program: Program<Point>) -> Program<Cpu> {
    let bulk = expand(dce(cse(simplify(program))));
    outline(scalar_replacement(schedule(dce(cse(simplify(bulk))))))
}

#[test]
fn reductions_of_random_programs_are_split() {
    for lanes in [2, 3] {
        let changed = Cell::new(0);
        let lanes = Lanes {
            bytes: 8 * lanes,
            strips: 1,
        };
        check_between(500, outlined, |program| {
            let split = reductions_by(program.clone(), lanes);
            changed.set(changed.get() + u32::from(split.body != program.body));
            split
        });
        let changed = changed.get();
        assert!(
            changed * 20 > 500,
            "only {changed} of 500 programs have lanes"
        );
    }
}

#[test]
fn short_rows_of_random_programs_are_strips() {
    let changed = Cell::new(0);
    check_between(500, outlined, |program| {
        let strips = short_loops_by(program.clone(), 24);
        changed.set(changed.get() + u32::from(strips.body != program.body));
        strips
    });
    let changed = changed.get();
    assert!(
        changed * 20 > 500,
        "only {changed} of 500 programs have short rows"
    );
}
