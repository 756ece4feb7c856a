//! Bounds-check elimination: what counts from the index of a loop is checked no more where it is in
//! range for each member that the loop has, or for those for which a condition holds.
//!
//! ```text
//! %4 = loop %5: E (%6 = x) {           %4 = loop %5: E (%6 = x) {
//!   %7 = cast usize %5                   %7 = cast usize %5
//!   %8 = add %7, 1                ▶      %8 = add %7, 1
//!   %9 = check N %8                      %9 = trust N %8
//!   …                                    …
//! ```
//!
//! with `E` one less than `N`. So is what a condition around compares with the end that matters: `x[t -
//! 1]` where `t > 0`, `x[k]` where `k < size(N)`. A check that is left is a reason to look at elements
//! one by one, and something to be asked behind a condition alone.

use super::distances::Distances;
use super::ranges::{Conditions, Ranges};
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Operation, Program};
use crate::ops::Prim;
use crate::pass::Pass;
#[cfg(test)]
use crate::testing::entered::{IN_RANGE_SOMETIMES, UNCHECKED, enter};

/// The pass.
pub const BOUNDS_CHECK_ELIMINATION: Pass<Point> = Pass {
    name: "bounds_check_elimination",
    about: "check no more what is in range for each member of a loop",
    run: bounds_check_elimination,
};

/// Checks no more what is in range for each member of a loop, or where conditions hold.
pub fn bounds_check_elimination(program: Program<Point>) -> Program<Point> {
    let distances = Distances::of(&program.body);
    let mut body = program.body.clone();
    let conditions = Conditions::of(&program, &program.body, &distances);
    block(&mut body, &conditions, &Ranges::default());
    Program { body, ..program }
}

fn block(block: &mut Block<Point>, conditions: &Conditions<'_>, ranges: &Ranges) {
    for stmt in &mut block.stmts {
        match &mut stmt.op {
            PointOp::Prim(prim, args) => {
                if let Prim::Check(extent) = *prim
                    && ranges.has(conditions, args[0], extent)
                {
                    #[cfg(test)]
                    {
                        let anywhere = Ranges::default().has(conditions, args[0], extent);
                        enter(if anywhere {
                            &UNCHECKED
                        } else {
                            &IN_RANGE_SOMETIMES
                        });
                    }
                    *prim = Prim::Trust(extent);
                }
            }
            PointOp::If {
                cond,
                then,
                otherwise,
            } => {
                for (side, holds) in [(then, true), (otherwise, false)] {
                    let mut ranges = ranges.clone();
                    ranges.learn(conditions, *cond, holds);
                    self::block(side, conditions, &ranges);
                }
            }
            PointOp::While { cond, body, .. } => {
                self::block(cond, conditions, ranges);
                let mut ranges = ranges.clone();
                ranges.learn(conditions, cond.results[0], true);
                ranges.rename(&cond.params, &body.params);
                self::block(body, conditions, &ranges);
            }
            op => {
                for inner in op.blocks_mut() {
                    self::block(inner, conditions, ranges);
                }
            }
        }
    }
}
