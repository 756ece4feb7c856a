//! Distances from an axis' own index that are known only when a loop over it begins.
//!
//! `x.get(t + lag)` is in range for `t` from `-lag` to the length of `x` without `lag`; and where
//! `lag` is the index of a loop inside, from 0 to the length of `x` without that of the loop. Both
//! are sums of what is known before the loop.

use std::collections::BTreeMap;

use proc_macro2::{Literal, Span, TokenStream};

use super::{Look, Reach};
use crate::emit::tokens;
use crate::emit::unit::Unit;
use crate::ir::stages::kernels::{Kernels, PlaceKind};
use crate::ir::{Block, Elem, Extent, Operation, Scalar, ValueId, ValueSet};

/// The most terms of a sum, and the most sums at an end of an interior.
const MOST: usize = 4;

/// Something that is known before a loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::emit) enum Term {
    Value(ValueId),
    Length(Extent),
}

/// What is added, and what is subtracted.
pub(in crate::emit) type Terms = Vec<(Term, bool)>;

/// Sums that come to the least and the greatest distance.
#[derive(Clone, Default, PartialEq, Debug)]
pub(in crate::emit) struct Far {
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
    pub(in crate::emit) const NONE: Self = Self {
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

    pub(in crate::emit) fn is_none(&self) -> bool {
        self.low.is_empty() && self.high.is_empty()
    }

    /// Whether it is never negative.
    pub(super) fn is_natural(&self, unit: &Unit<'_>) -> bool {
        self.low.iter().all(|&(term, minus)| {
            let natural = match term {
                Term::Value(value) => unit.scalar(value) == Scalar::Usize,
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
    from: BTreeMap<Terms, i64>,
    /// and what it is less than.
    below: BTreeMap<Terms, i64>,
}

impl Ends {
    pub(super) fn is_empty(&self) -> bool {
        self.from.is_empty() && self.below.is_empty()
    }

    /// What an index is not less than.
    pub(super) fn from(&self, unit: &Unit<'_>) -> impl Iterator<Item = TokenStream> {
        self.from.iter().map(|end| sum_of(unit, end))
    }

    /// What it is less than.
    pub(super) fn below(&self, unit: &Unit<'_>) -> impl Iterator<Item = TokenStream> {
        self.below.iter().map(|end| sum_of(unit, end))
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

/// A sum, as an `i128`, which holds each of them.
fn sum_of(unit: &Unit<'_>, (terms, number): (&Terms, &i64)) -> TokenStream {
    let mut number = Literal::i128_suffixed(i128::from(*number));
    number.set_span(Span::mixed_site());
    let mut sum = tokens!(#number);
    for &(term, minus) in terms {
        let term = match term {
            Term::Value(value) => unit.value(value),
            Term::Length(extent) => unit.extent(extent),
        };
        sum.extend(if minus {
            tokens!(-(#term as i128))
        } else {
            tokens!(+(#term as i128))
        });
    }
    tokens!((#sum))
}

/// What a block binds, at any depth.
pub(super) fn bound(block: &Block<Kernels>, all: &mut ValueSet) {
    all.extend(&block.params);
    for stmt in &block.stmts {
        all.extend(&stmt.results);
        for inner in stmt.op.blocks() {
            bound(inner, all);
        }
    }
}

impl Look<'_> {
    /// What is known of a number that comes from outside of the loop, of which nothing else is.
    pub(super) fn known_outside(&self, value: ValueId) -> Option<Reach> {
        let is_whole = matches!(
            self.unit.program.elem(value),
            Elem::Scalar(Scalar::I64 | Scalar::Usize)
        );
        let known = is_whole
            && self.unit.kind(value) == PlaceKind::Scalar
            && !self.bound.as_ref()?.contains(&value);
        known.then(|| Reach::of(Far::by(value)))
    }

    /// What is known of the index of a loop inside.
    pub(super) fn index_inside(&self, extent: Extent) -> Option<Reach> {
        // What goes through the same axis is no distance.
        let bound = self.bound.as_ref()?;
        let own = matches!(extent, Extent::Value(value) if bound.contains(&value));
        (extent != self.extent && !own).then(|| Reach {
            high: -1,
            ..Reach::of(Far::up_to(extent))
        })
    }
}
