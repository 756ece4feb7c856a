//! Bounds-check elimination: what counts from the index of a loop is checked no more where it is in
//! range for each member that the loop has.
//!
//! ```text
//! %4 = loop %5: E (%6 = x) {           %4 = loop %5: E (%6 = x) {
//!   %7 = cast usize %5                   %7 = cast usize %5
//!   %8 = add %7, 1                ▶      %8 = add %7, 1
//!   %9 = check N %8                      %9 = trust N %8
//!   …                                    …
//! ```
//!
//! with `E` one less than `N`. A check that is left is a reason to look at elements one by one, and
//! something to be asked behind a condition alone.

use super::distances::Distances;
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Operation, Program};
use crate::ops::Prim;
use crate::pass::Pass;

/// The pass.
pub const BOUNDS_CHECK_ELIMINATION: Pass<Point> = Pass {
    name: "bounds_check_elimination",
    about: "check no more what is in range for each member of a loop",
    run: bounds_check_elimination,
};

/// Checks no more what is in range for each member of a loop.
pub fn bounds_check_elimination(program: Program<Point>) -> Program<Point> {
    let distances = Distances::of(&program.body);
    program.rewritten(|_, body| block(body, &distances))
}

fn block(block: &mut Block<Point>, distances: &Distances) {
    for stmt in &mut block.stmts {
        if let PointOp::Prim(prim, args) = &mut stmt.op
            && let Prim::Check(extent) = *prim
            && distances.is_within(args[0], extent)
        {
            #[cfg(test)]
            crate::testing::entered::enter(&crate::testing::entered::UNCHECKED);
            *prim = Prim::Trust(extent);
        }
        for inner in stmt.op.blocks_mut() {
            self::block(inner, distances);
        }
    }
}
