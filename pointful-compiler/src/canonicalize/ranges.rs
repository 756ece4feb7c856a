//! Ranges: between which numbers an integer lies, as conditions say.

use std::collections::BTreeMap;

use super::distances::Distances;
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Extent, Lit, Operation, Program, Scalar, ValueId};
use crate::ops::Prim;

/// Bounds of integers, where some conditions hold.
#[derive(Clone, Default)]
pub(super) struct Ranges {
    least: BTreeMap<ValueId, i128>,
    most: BTreeMap<ValueId, i128>,
    /// By how much an integer is less than an extent, at least.
    less: BTreeMap<(ValueId, Extent), i128>,
}

/// What a condition compares.
enum Term {
    Number(i128),
    /// An integer that is not known, and a number.
    Integer(ValueId, i128),
    /// How many members there are, and a number.
    Size(Extent, i128),
}

impl Ranges {
    /// From now on a condition holds, or does not.
    pub(super) fn learn(&mut self, of: &Conditions<'_>, cond: ValueId, holds: bool) {
        if let Some(&(first, second, both)) = of.chained.get(&cond)
            && both == holds
        {
            self.learn(of, first, holds);
            self.learn(of, second, holds);
        }
        let Some(PointOp::Prim(prim, args)) = of.distances.op(cond) else {
            return;
        };
        match (prim, args.as_slice(), holds) {
            (Prim::Not, &[cond], _) => self.learn(of, cond, !holds),
            (Prim::And, &[a, b], true) | (Prim::Or, &[a, b], false) => {
                self.learn(of, a, holds);
                self.learn(of, b, holds);
            }
            (Prim::Lt, &[a, b], true) | (Prim::Ge, &[a, b], false) => self.at_most(of, a, b, -1),
            (Prim::Le, &[a, b], true) | (Prim::Gt, &[a, b], false) => self.at_most(of, a, b, 0),
            (Prim::Gt, &[a, b], true) | (Prim::Le, &[a, b], false) => self.at_most(of, b, a, -1),
            (Prim::Ge, &[a, b], true) | (Prim::Lt, &[a, b], false) => self.at_most(of, b, a, 0),
            (Prim::Eq, &[a, b], true) | (Prim::Ne, &[a, b], false) => {
                self.at_most(of, a, b, 0);
                self.at_most(of, b, a, 0);
            }
            (Prim::Ne, &[a, b], true) | (Prim::Eq, &[a, b], false) => {
                self.other_than(of, a, b);
                self.other_than(of, b, a);
            }
            _ => {}
        }
    }

    /// `a ≤ b + by`
    fn at_most(&mut self, of: &Conditions<'_>, a: ValueId, b: ValueId, by: i128) {
        match (of.term(a), of.term(b)) {
            (Some(Term::Number(number)), Some(Term::Integer(origin, far))) => {
                raise(&mut self.least, origin, number - by - far);
            }
            (Some(Term::Integer(origin, far)), Some(Term::Number(number))) => {
                let most = number + by - far;
                let known = self.most.entry(origin).or_insert(most);
                *known = most.min(*known);
            }
            (Some(Term::Integer(origin, far)), Some(Term::Size(extent, beyond)))
                if of.is_size(b, extent, beyond, origin) =>
            {
                raise(&mut self.less, (origin, extent), far - by - beyond);
            }
            _ => {}
        }
    }

    /// `a ≠ b`, where `b` is the first or the last that `a` may be.
    fn other_than(&mut self, of: &Conditions<'_>, a: ValueId, b: ValueId) {
        let Some(Term::Integer(origin, far)) = of.term(a) else {
            return;
        };
        match of.term(b) {
            Some(Term::Number(number)) if self.least(of, origin) == Some(number - far) => {
                raise(&mut self.least, origin, number - far + 1);
            }
            Some(Term::Size(extent, beyond))
                if self.less(of, origin, extent) == Some(far - beyond)
                    && of.is_size(b, extent, beyond, origin) =>
            {
                raise(&mut self.less, (origin, extent), far - beyond + 1);
            }
            _ => {}
        }
    }

    fn least(&self, of: &Conditions<'_>, origin: ValueId) -> Option<i128> {
        let known = self.least.get(&origin).copied();
        known.max(of.is_unsigned(origin).then_some(0))
    }

    fn less(&self, of: &Conditions<'_>, origin: ValueId, extent: Extent) -> Option<i128> {
        let known = self.less.get(&(origin, extent)).copied();
        // The last member comes before the end.
        let member = of.axis(origin);
        let member = member.and_then(|axis| Some(of.distances.less(axis, extent)? + 1));
        let number = match (extent, self.most.get(&origin)) {
            (Extent::Const(length), Some(most)) => Some(i128::from(length) - most),
            _ => None,
        };
        known.max(member).max(number)
    }

    /// Whether a value is a place of an axis.
    pub(super) fn has(&self, of: &Conditions<'_>, value: ValueId, extent: Extent) -> bool {
        let (origin, by) = of.origin(value);
        let natural = self.least(of, origin).is_some_and(|least| least + by >= 0);
        natural && (self.less(of, origin, extent)).is_some_and(|less| less > by)
    }

    /// What is known of some values is known of others, which are the same.
    pub(super) fn rename(&mut self, from: &[ValueId], to: &[ValueId]) {
        for (from, &to) in from.iter().zip(to) {
            for known in [&mut self.least, &mut self.most] {
                if let Some(&number) = known.get(from) {
                    known.insert(to, number);
                }
            }
            let less = self.less.iter().filter(|((origin, _), _)| origin == from);
            let less: Vec<_> = less.map(|(&(_, extent), &by)| ((to, extent), by)).collect();
            self.less.extend(less);
        }
    }
}

/// The greater of two lower bounds.
fn raise<K: Ord>(bounds: &mut BTreeMap<K, i128>, key: K, number: i128) {
    let bound = bounds.entry(key).or_insert(number);
    *bound = number.max(*bound);
}

/// The conditions of a program.
pub(super) struct Conditions<'p> {
    program: &'p Program<Point>,
    distances: &'p Distances,
    /// What is asked after another, where that holds: both hold. Or where it does not: if the truth
    /// value is false, neither holds.
    chained: BTreeMap<ValueId, (ValueId, ValueId, bool)>,
}

impl<'p> Conditions<'p> {
    pub(super) fn of(
        program: &'p Program<Point>,
        body: &Block<Point>,
        distances: &'p Distances,
    ) -> Self {
        let mut conditions = Self {
            program,
            distances,
            chained: BTreeMap::new(),
        };
        conditions.look(body);
        conditions
    }

    fn look(&mut self, block: &Block<Point>) {
        for stmt in &block.stmts {
            if let PointOp::If {
                cond,
                then,
                otherwise,
            } = &stmt.op
                && let ([result], [then], [otherwise]) =
                    (&*stmt.results, &*then.results, &*otherwise.results)
            {
                if self.is_truth(*otherwise, false) {
                    self.chained.insert(*result, (*cond, *then, true));
                } else if self.is_truth(*then, true) {
                    self.chained.insert(*result, (*cond, *otherwise, false));
                }
            }
            for inner in stmt.op.blocks() {
                self.look(inner);
            }
        }
    }

    fn is_truth(&self, value: ValueId, truth: bool) -> bool {
        let op = self.distances.op(value);
        matches!(op, Some(PointOp::Const(Lit::Bool(is))) if *is == truth)
    }

    /// The extent of the axis of which a value is a member.
    fn axis(&self, value: ValueId) -> Option<Extent> {
        self.program.elem(value).extent()
    }

    /// A member to which a value is near, and how far that is; of any other value, itself. Of members
    /// alone it is known that nothing overflows on the way.
    fn origin(&self, value: ValueId) -> (ValueId, i128) {
        let (origin, by) = self.distances.offset(value);
        match self.axis(origin) {
            Some(_) => (origin, by),
            None => (value, 0),
        }
    }

    /// Members are.
    fn is_unsigned(&self, value: ValueId) -> bool {
        self.program.elem(value).repr() == Scalar::Usize
    }

    /// What an operand of a comparison is. Less than nothing is a large number if it is unsigned.
    fn term(&self, value: ValueId) -> Option<Term> {
        let (origin, by) = self.distances.offset(value);
        match self.distances.op(origin) {
            Some(PointOp::Const(Lit::Int(_, number))) if by == 0 => {
                return Some(Term::Number(*number));
            }
            Some(PointOp::Size(extent)) => return Some(Term::Size(*extent, by)),
            _ => {}
        }
        let (origin, by) = self.origin(value);
        let fits = by >= 0 || !self.is_unsigned(value);
        (fits && self.program.elem(value).repr().is_int()).then_some(Term::Integer(origin, by))
    }

    /// Whether a value is that number of members and so many, where there is this integer.
    fn is_size(&self, value: ValueId, extent: Extent, by: i128, beside: ValueId) -> bool {
        by >= 0 || !self.is_unsigned(value) || by == -1 && self.axis(beside) == Some(extent)
    }
}
