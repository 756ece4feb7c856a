//! What exclusive branches contribute to one cotangent is a choice, and not a sum.
//!
//! ```text
//! %2[i] = select c, %0, 0
//! %3[i] = select c, 0, %1     ▶    %4[i] = select c, %0, %1
//! %4[i] = add %3, %2
//! ```
//!
//! # Why it is sound
//!
//! One of them is zero where the other is not. That is seen from what has become of it so far: choices,
//! and tables that are read and changed, of which all that is left where the condition holds is zeros. At
//! another place along an axis of the condition it may hold or not, so there nothing is seen.

use super::builder::Builder;
use crate::analysis::dataflow::named_axes;
use crate::ir::stages::bulk::BulkOp;
use crate::ir::{Lit, ValueId};
use crate::ops::Prim;

/// How many definitions are looked at to see that a contribution is nothing: those of so many
/// branches.
const BRANCHES: u32 = 64;

/// How many conditions one is a conjunction of.
const CONDITIONS: usize = 64;

/// How deep it is looked whether two conditions are alike.
const ALIKE: u32 = 4;

/// A condition, and how it ends.
type Known = (ValueId, bool);

impl Builder {
    /// The sum of two contributions; a choice, if it is seen that one is nothing where the other
    /// is something.
    pub(super) fn add(&mut self, before: ValueId, value: ValueId) -> ValueId {
        let choice = match self.definition(value) {
            Some(&BulkOp::Select(cond, then, otherwise)) => {
                let vanishes = |is| self.is_nothing(before, (cond, is));
                if self.is_zero(otherwise) && vanishes(true) {
                    Some((cond, then, before))
                } else if self.is_zero(then) && vanishes(false) {
                    Some((cond, before, otherwise))
                } else {
                    None
                }
            }
            _ => None,
        };
        #[cfg(test)]
        crate::testing::entered::enter(match choice {
            Some(_) => &crate::testing::entered::ADDED_AS_CHOICE,
            None => &crate::testing::entered::ADDED_TO_ANOTHER,
        });
        match choice {
            Some((cond, then, otherwise)) => self.select(cond, then, otherwise),
            None => self.behind(None, |b| b.map(Prim::Add, &[before, value])),
        }
    }

    /// Whether it is seen that a value is zero where a condition ends so.
    fn is_nothing(&self, value: ValueId, known: Known) -> bool {
        let branch = Branch {
            b: self,
            cond: known.0,
            known: self.conjunction(known),
        };
        branch.vanishes(value, &mut { BRANCHES })
    }

    /// Whether a number is seen to be zero.
    pub(super) fn is_zero(&self, value: ValueId) -> bool {
        let zero = Lit::of(self.program.elem(value).repr(), 0.0);
        matches!(self.definition(value), Some(BulkOp::Const(lit)) if *lit == zero)
    }

    /// What all holds where a condition ends so.
    fn conjunction(&self, known: Known) -> Vec<Known> {
        let (mut open, mut all) = (vec![known], Vec::new());
        while let Some((cond, is)) = open.pop() {
            match (self.parts(cond), self.definition(cond)) {
                (Some((both, parts)), _) if both == is && all.len() + open.len() < CONDITIONS => {
                    open.extend(parts.map(|part| (part, is)));
                }
                #[cfg(test)]
                (Some((both, _)), _) if both == is => {
                    crate::testing::entered::enter(&crate::testing::entered::CONDITIONS_MANY);
                    all.push((cond, is));
                }
                (_, Some(BulkOp::Map(Prim::Not, args))) => open.push((args[0], !is)),
                _ => all.push((cond, is)),
            }
        }
        all
    }
}

/// Where a condition ends in one way.
struct Branch<'b> {
    b: &'b Builder,
    cond: ValueId,
    /// All that holds there.
    known: Vec<Known>,
}

impl Branch<'_> {
    /// Whether it is seen, by so many definitions, that a value is zero here.
    fn vanishes(&self, value: ValueId, left: &mut u32) -> bool {
        let Some(less) = left.checked_sub(1) else {
            #[cfg(test)]
            crate::testing::entered::enter(&crate::testing::entered::BRANCHES_MANY);
            return false;
        };
        *left = less;
        let Some(op) = self.b.definition(value) else {
            return false;
        };
        let along = &self.b.program.ty(self.cond).dims;
        if named_axes(op).iter().any(|axis| along.contains(axis)) {
            return false;
        }
        match *op {
            BulkOp::Select(cond, then, otherwise) => {
                (self.ends(cond, false) || self.vanishes(then, left))
                    && (self.ends(cond, true) || self.vanishes(otherwise, left))
            }
            BulkOp::Gather { table, .. } => self.vanishes(table, left),
            BulkOp::Update {
                table: base,
                value,
                mask,
                ..
            }
            | BulkOp::Scatter {
                base, value, mask, ..
            } => {
                self.vanishes(base, left)
                    && (mask.is_some_and(|mask| self.ends(mask, false))
                        || self.vanishes(value, left))
            }
            _ => self.b.is_zero(value),
        }
    }

    /// Whether it is seen that another condition ends so here: all that says so holds, or something
    /// does not that it would take to end otherwise.
    fn ends(&self, cond: ValueId, is: bool) -> bool {
        let holds = |all: Vec<Known>| all.iter().all(|&one| self.says(one));
        let fails = |all: Vec<Known>| all.iter().any(|&(cond, is)| self.says((cond, !is)));
        fails(self.b.conjunction((cond, !is))) || holds(self.b.conjunction((cond, is)))
    }

    /// Whether something that is known says how a single condition ends.
    fn says(&self, (cond, is): Known) -> bool {
        self.known.iter().any(|&(known, was)| {
            is == was && self.b.same(cond, known, ALIKE)
                || is != was && self.b.opposite(cond, known, ALIKE)
                || !is && was && self.exclude(cond, known)
        })
    }

    /// Whether one value is compared with two numbers.
    fn exclude(&self, a: ValueId, b: ValueId) -> bool {
        let [
            Some(BulkOp::Map(Prim::Eq, a)),
            Some(BulkOp::Map(Prim::Eq, b)),
        ] = [a, b].map(|value| self.b.definition(value))
        else {
            return false;
        };
        let numbers = [a[1], b[1]].map(|value| self.b.definition(value));
        let [
            Some(BulkOp::Const(Lit::Int(_, m))),
            Some(BulkOp::Const(Lit::Int(_, n))),
        ] = numbers
        else {
            return false;
        };
        m != n && self.b.same(a[0], b[0], ALIKE)
    }
}
