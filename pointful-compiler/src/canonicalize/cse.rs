//! Common subexpressions: what was computed before is not computed again.
//!
//! # The idea
//!
//! One walk in the order of the program. Each operation without blocks is looked up among those
//! evaluated before in this block and the blocks around it, after its operands have been replaced;
//! if it is there, its result stands for the new one. Operands of commutative primitives are looked
//! up in one order.
//!
//! # Why it is sound
//!
//! Operations are pure, so the same operands give the same value. What was found has been evaluated
//! wherever the new one would be: it stands before it, in a block around it, and it has no guard or
//! the same one. Accumulators are left alone, for they are not values.
//!
//! # Before and after
//!
//! ```text
//! %0 = mul x, y                                  %0 = mul x, y
//! %1 = mul y, x                                  %2 = add %0, %0
//! %2 = add %0, %1                                return %2
//! return %2
//! ```

use rustc_hash::FxHashMap;

use super::substitution::Subst;
use crate::analysis::dataflow::{Effect, Flow};
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Args, Block, Operation, Program, ValueId, ValueSet};
use crate::ops::Prim;
use crate::pass::Pass;

/// The pass at the Point stage.
pub const CSE_POINT: Pass<Point> = Pass {
    name: "cse",
    about: "compute nothing twice",
    run: cse::<Point>,
};

/// The pass at the Bulk stage.
pub const CSE_BULK: Pass<Bulk> = Pass {
    name: "cse",
    about: "compute nothing twice",
    run: cse::<Bulk>,
};

/// A stage whose operations can be brought into the form in which they are looked up.
pub(crate) trait Lookup: Flow {
    /// The same operation, with operands that may change places in one order.
    fn normal(op: &Self::Op) -> Self::Op;
}

fn normal_args(prim: Prim, args: &[ValueId]) -> Args {
    let mut args = Args::from(args);
    if prim.is_commutative() {
        args.sort_unstable();
    }
    args
}

impl Lookup for Point {
    fn normal(op: &PointOp) -> PointOp {
        if let PointOp::Prim(prim, args) = op {
            PointOp::Prim(*prim, normal_args(*prim, args))
        } else {
            op.clone()
        }
    }
}

impl Lookup for Bulk {
    fn normal(op: &BulkOp) -> BulkOp {
        if let BulkOp::Map(prim, args) = op {
            BulkOp::Map(*prim, normal_args(*prim, args))
        } else {
            op.clone()
        }
    }
}

/// Computes nothing twice.
#[allow(private_bounds, reason = "how values flow is the passes' own business")]
pub fn cse<S: Lookup>(mut program: Program<S>) -> Program<S> {
    let mut body = std::mem::take(&mut program.body);
    let mut walk = Walk::of(|_, _| true);
    walk.block(&mut body);
    let subst = walk.subst;
    program.body = body;
    subst.types(&mut program);
    S::retype(&mut program);
    program
}

/// Computes no float twice in a block of a program that is being made, for another that reads what
/// it makes as well. Types stay as they are: none names a float, and what the lanes of a derivative
/// compute alike has their axes, so that it stands for nothing outside of them.
pub(crate) fn cse_of_floats(
    program: &Program<Bulk>,
    block: &mut Block<Bulk>,
    reader: &mut Block<Bulk>,
) {
    let made = block.stmts.iter().flat_map(|stmt| &stmt.results);
    let floats = made.filter(|&&value| program.elem(value).is_float());
    let floats: ValueSet = floats.copied().collect();
    let mut walk =
        Walk::of(|found, value| floats.contains(&found) && program.ty(found) == program.ty(value));
    walk.block(block);
    walk.open[0] = true;
    walk.block(reader);
}

/// What an operation is looked up by: itself and its guard.
type Key<S> = (<S as crate::ir::Stage>::Op, Option<ValueId>);

struct Walk<S: Lookup, M> {
    /// The result of what has been evaluated, and the number of the block that has done so. Never
    /// iterated over.
    known: FxHashMap<Key<S>, (ValueId, usize)>,
    /// Of each block so far, whether the walk is in it: what others have evaluated counts no more.
    open: Vec<bool>,
    subst: Subst,
    /// Whether the first value may stand for the second one.
    stands: M,
}

impl<S: Lookup, M: Fn(ValueId, ValueId) -> bool> Walk<S, M> {
    fn of(stands: M) -> Self {
        Self {
            known: FxHashMap::default(),
            open: Vec::new(),
            subst: Subst::new(),
            stands,
        }
    }

    fn block(&mut self, block: &mut Block<S>) {
        let number = self.open.len();
        self.open.push(true);
        block.stmts.retain_mut(|stmt| {
            self.subst.stmt(stmt);
            for inner in stmt.op.blocks_mut() {
                self.block(inner);
            }
            let plain = S::effect(&stmt.op) == Effect::None && stmt.op.blocks().is_empty();
            let (true, &[result]) = (plain, stmt.results.as_slice()) else {
                return true;
            };
            let mut key = (S::normal(&stmt.op), None);
            let mut found = self.found(&key);
            if found.is_none() && stmt.guard.is_some() {
                key.1 = stmt.guard;
                found = self.found(&key);
            }
            if let Some(found) = found.filter(|&found| (self.stands)(found, result)) {
                self.subst.replace(result, found);
                return false;
            }
            self.known.insert(key, (result, number));
            true
        });
        self.subst.results(block);
        self.open[number] = false;
    }

    fn found(&self, key: &Key<S>) -> Option<ValueId> {
        let (result, block) = self.known.get(key)?;
        self.open[*block].then_some(*result)
    }
}
