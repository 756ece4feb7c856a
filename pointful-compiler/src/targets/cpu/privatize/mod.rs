//! Privatization: what pieces of the work have of their own of a table that they combine into, and
//! what becomes of it.
//!
//! # The idea
//!
//! Each piece has a private copy, so that none waits for another; copies are merged in the order of
//! the points. Of a large table whose places are computed, as in a histogram, a piece may note what
//! goes where instead ([`notes`], binning). A new table, made for what a kernel combines into it,
//! becomes the merged copies and is not made before ([`becomes`]).
//!
//! # Before and after
//!
//! ```text
//! %0 = alloc f64[K] fill 0.0f64            %0 = alloc f64[K] fill 0.0f64
//! par %1..%2: N (add %3 = %0) {      ▶     par %1..%2: N (add %3 = %0 notes becomes) {
//!   … combine add %3[%4], %5                 … combine add %3[%4], %5
//! }                                        }
//! ```

mod becomes;
mod notes;

use super::statements::{for_each_nest, with_body};
use crate::ir::Program;
use crate::ir::stages::cpu::Cpu;
use crate::pass::Pass;

/// The pass.
pub const PRIVATIZE: Pass<Cpu> = Pass {
    name: "privatize",
    about: "choose what pieces have of the tables that they combine into",
    run: privatize,
};

/// Chooses what pieces have of the tables that they combine into.
pub fn privatize(program: Program<Cpu>) -> Program<Cpu> {
    with_body(program, |program, numbers, body| {
        for_each_nest(body, &mut |par| notes::of_kernel(program, numbers, par));
        becomes::of_block(program, body);
    })
}

#[cfg(test)]
mod tests;
