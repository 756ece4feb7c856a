//! Distances from an axis' own index that are known only when a loop over it begins.
//!
//! `x.get(t + lag)` is in range for `t` from `-lag` to the length of `x` without `lag`; and where
//! `lag` is the index of a loop inside, from 0 to the length of `x` without that of the loop. Both
//! are sums of what is known before the loop.

use std::collections::BTreeMap;

use super::reach::Reach;
use crate::ir::{Elem, Extent, Program, Scalar, Stage, ValueId};

/// The most terms of a sum, and the most sums at an end of an interior.
const MOST: usize = 4;

/// Something that is known before a loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Term {
    Value(ValueId),
    Length(Extent),
}

/// What is added, and what is subtracted.
pub(super) type Terms = Vec<(Term, bool)>;

/// Sums that come to the least and the greatest distance.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Far {
    pub(super) low: Terms,
    pub(super) high: Terms,
}

fn negated(terms: &Terms) -> Terms {
    terms.iter().map(|&(term, minus)| (term, !minus)).collect()
}

fn sum(x: &Terms, y: &Terms) -> Option<Terms> {
    let all = [&x[..], y].concat();
    (all.len() <= MOST).then_some(all)
}

impl Far {
    /// Nothing.
    pub(super) const NONE: Self = Self {
        low: Vec::new(),
        high: Vec::new(),
    };

    /// Always the same.
    pub(super) fn by(value: ValueId) -> Self {
        let terms = vec![(Term::Value(value), false)];
        Self {
            low: terms.clone(),
            high: terms,
        }
    }

    /// Up to a length.
    pub(super) fn up_to(extent: Extent) -> Self {
        Self {
            low: Vec::new(),
            high: vec![(Term::Length(extent), false)],
        }
    }

    pub(super) fn is_none(&self) -> bool {
        self.low.is_empty() && self.high.is_empty()
    }

    /// Whether it is never negative.
    pub(super) fn is_natural<S: Stage<Dim = Extent>>(&self, program: &Program<S>) -> bool {
        self.low.iter().all(|&(term, minus)| {
            let natural = match term {
                Term::Value(value) => program.elem(value) == Elem::Scalar(Scalar::Usize),
                Term::Length(_) => true,
            };
            natural && !minus
        })
    }

    pub(super) fn plus(&self, other: &Self) -> Option<Self> {
        Some(Self {
            low: sum(&self.low, &other.low)?,
            high: sum(&self.high, &other.high)?,
        })
    }

    pub(super) fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&Self {
            low: negated(&other.high),
            high: negated(&other.low),
        })
    }
}

/// The ends of an interior of which nothing is known while compiling: sums, and the outermost
/// numbers that are added to each.
#[derive(Default, PartialEq, Debug)]
pub(super) struct Ends {
    /// What an index is not less than,
    pub(super) from: BTreeMap<Terms, i64>,
    /// and what it is less than.
    pub(super) below: BTreeMap<Terms, i64>,
}

impl Ends {
    pub(super) fn is_empty(&self) -> bool {
        self.from.is_empty() && self.below.is_empty()
    }

    /// Those of two interiors at once.
    pub(super) fn extend(&mut self, other: Self) {
        for (from, number) in other.from {
            let own = self.from.entry(from).or_insert(number);
            *own = (*own).max(number);
        }
        for (below, number) in other.below {
            let own = self.below.entry(below).or_insert(number);
            *own = (*own).min(number);
        }
    }

    /// The values that these sums are made of.
    pub(super) fn values(&self) -> impl Iterator<Item = ValueId> + '_ {
        let terms = self.from.keys().chain(self.below.keys()).flatten();
        terms.filter_map(|&(term, _)| match term {
            Term::Value(value) | Term::Length(Extent::Value(value)) => Some(value),
            Term::Length(Extent::Const(_) | Extent::Size(_)) => None,
        })
    }

    /// Makes it an interior in which these positions are in range. Whether that is not too much to
    /// ask.
    pub(super) fn keep_in(&mut self, reach: &Reach, extent: Extent) -> bool {
        let (mut from, mut below) = (negated(&reach.far.low), negated(&reach.far.high));
        // Distances as long as the axis itself leave no interior.
        let as_long = |&(term, _): &(Term, bool)| term == Term::Length(extent);
        if from.iter().chain(&below).any(as_long) {
            return false;
        }
        below.push((Term::Length(extent), false));
        from.sort_unstable();
        below.sort_unstable();
        let has_room =
            |ends: &BTreeMap<Terms, i64>, end| ends.len() < MOST || ends.contains_key(end);
        if !has_room(&self.from, &from) || !has_room(&self.below, &below) {
            return false;
        }
        if reach.low < 0 || !from.is_empty() {
            let number = self.from.entry(from).or_insert(-reach.low);
            *number = (*number).max(-reach.low);
        }
        let number = self.below.entry(below).or_insert(-reach.high);
        *number = (*number).min(-reach.high);
        true
    }
}
