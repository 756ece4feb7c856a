//! The online form of a softmax: a maximum, and the exponentials of what lies below it, in one pass
//! over data.
//!
//! ```text
//! par %i: N (max %m = %a) { … combine max %m[], %x }      par %t: tiles (max %m = %a) {
//! %h = get %a                                               for %i: T { … combine max %top[], %x }
//! par %i: N (add %s = %b) {                                 combine max %m[], %top
//!   %d = sub %x, %h                                         for %i: T { … store e[%i], (exp (sub %x, %top)); combine add %s[], … }
//!   %y = exp %d                                         ▶   store tops[%t], %top   store sums[%t], %s
//!   store e[%i], %y                                       }
//!   combine add %s[], %y                                  %h = get %a
//! }                                                       par %t: tiles (add %s = %b) { tops[%t] = exp (sub tops[%t], %h); … sums[%t] * tops[%t] … }
//! par %i: N { … load e[%i] … }                            par %t: tiles { for %i: T { … e[%i] * tops[%t] … } }
//! ```
//!
//! A tile has a maximum of its own, below which its exponentials are taken while a cache holds it.
//! Afterwards the tile's sums are brought to what all lie below, and its exponentials by who reads
//! them. A vector that no cache holds is read once less, which is what its softmax waits for. A
//! shorter one has no tiles: then the kernels run as they were.
//!
//! Only where exponentials are kept: without that there are two passes, of which the first only
//! compares, and one that does both takes as long.
//!
//! # Why it is sound
//!
//! `exp(x - h)` is `exp(x - t) * exp(t - h)` for each finite `t`, and `exp(x - t)` is not too
//! large, as `t` is the tile's maximum. Of nothing but minus infinity the smallest finite number
//! takes its place: exponentials are 0, and the factor is. For infinity 0 does: what is finite
//! stays so, and what is infinite stays that, or is no number, as it would have been.
//!
//! Points of both kernels use what the kernels change at their own place only, so that no tile sees
//! another's.

mod analysis;
mod rewrite;
#[cfg(test)]
mod tests;

use self::analysis::Plan;
use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{Block, Operation, Program};
use crate::pass::Pass;

/// How an axis, or the steps of a loop, are cut into tiles.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Points of a tile, or steps.
    pub tile: u64,
    /// How many there are at least: with fewer all is as it was.
    pub least: u64,
}

/// What a tile reads and writes stays in the nearest cache, and what shorter axes do in caches
/// anyway.
const CACHED: Size = Size {
    tile: 1 << 10,
    least: 1 << 19,
};

/// The pass.
pub const ONLINE_SOFTMAX: Pass<Kernels> = Pass {
    name: "online_softmax",
    about: "take a maximum and exponentials below it in one pass over data, tile by tile",
    run: online_softmax,
};

/// Takes a maximum and exponentials below it in one pass over data.
pub fn online_softmax(program: Program<Kernels>) -> Program<Kernels> {
    online_softmax_of(program, CACHED)
}

/// [`online_softmax`] with tiles of this size.
pub fn online_softmax_of(program: Program<Kernels>, size: Size) -> Program<Kernels> {
    program.rewritten(|program, body| host(program, size, body))
}

/// Looks for such kernels in what the host does.
fn host(program: &mut Program<Kernels>, size: Size, block: &mut Block<Kernels>) {
    let mut next = 0;
    while next < block.stmts.len() {
        next = match Plan::of(program, size, block, next) {
            Some(plan) => plan.carry_out(program, size, block),
            None => {
                let stmt = &mut block.stmts[next];
                if !matches!(stmt.op, KernelOp::Own(Par { .. })) {
                    for inner in stmt.op.blocks_mut() {
                        host(program, size, inner);
                    }
                }
                next + 1
            }
        };
    }
}
