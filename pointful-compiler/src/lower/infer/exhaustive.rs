//! Whether the arms of a `match` take every value.
//!
//! Columns of patterns are taken apart from the left: for each way a value of the first column's
//! type can begin, the rows that fit it must take everything that may follow.

use super::Infer;
use crate::lower::hir::{Arm, Pattern, Value, irrefutable};
use crate::lower::types::{Set, Ty, enum_len};

/// What stands where a pattern says nothing.
const ANY: &Pattern = &Pattern::Wild;

impl Infer<'_, '_> {
    /// Whether some arm takes every value of a type.
    pub(super) fn exhaustive(&self, ty: &Ty, arms: &[Arm]) -> bool {
        let arms = arms.iter().filter(|arm| arm.guard.is_none());
        let patterns: Vec<&Pattern> = arms.flat_map(|arm| &arm.patterns).collect();
        self.all_taken(&patterns, ty)
    }

    /// Whether some pattern takes every value of a type.
    pub(super) fn all_taken(&self, patterns: &[&Pattern], ty: &Ty) -> bool {
        let rows: Vec<Vec<&Pattern>> = patterns.iter().map(|pattern| vec![*pattern]).collect();
        self.complete(&rows, std::slice::from_ref(ty))
    }

    /// Whether every sequence of values of these types fits a row.
    fn complete(&self, rows: &[Vec<&Pattern>], types: &[Ty]) -> bool {
        let Some((ty, rest)) = types.split_first() else {
            return !rows.is_empty();
        };
        // Rows that fit where a value begins in one way; `inner` says what they then have in front, if they have that way.
        let those = |inner: &dyn Fn(&Pattern) -> Option<Vec<&Pattern>>, width: usize| {
            let fit = rows.iter().filter_map(|row| {
                let (first, rest) = row.split_first()?;
                let front = if irrefutable(first) && !matches!(first, Pattern::Tuple(_)) {
                    vec![ANY; width]
                } else {
                    inner(first)?
                };
                Some([front.as_slice(), rest].concat())
            });
            fit.collect::<Vec<_>>()
        };
        let with = |parts: Vec<Ty>, rows: Vec<Vec<&Pattern>>| {
            self.complete(&rows, &[parts.as_slice(), rest].concat())
        };
        if rows.iter().all(|row| irrefutable(row[0])) {
            return with(Vec::new(), those(&|_| Some(Vec::new()), 0));
        }
        let member = |set: &Set| self.solver.member(&self.solver.set(set));
        match self.solver.shallow(ty) {
            Ty::Error => true,
            Ty::Tuple(parts) | Ty::Struct(_, parts) => {
                let width = parts.len();
                with(parts, those(&components, width))
            }
            Ty::Member(Set::Record(_, sets)) => {
                let parts: Vec<Ty> = sets.iter().map(member).collect();
                let width = parts.len();
                with(parts, those(&components, width))
            }
            Ty::Scalar(crate::ir::Scalar::Bool) => [true, false].into_iter().all(|b| {
                let same = |p: &Pattern| matches!(p, Pattern::Lit(Value::Bool(x)) if *x == b);
                with(Vec::new(), those(&|p| same(p).then(Vec::new), 0))
            }),
            Ty::Member(Set::Named(id)) => {
                let count = enum_len(self.shared.linked, id).unwrap_or(0) as u64;
                let each = |k: u64| {
                    let same = |p: &Pattern| matches!(p, Pattern::Member(x) if *x == k);
                    with(Vec::new(), those(&|p| same(p).then(Vec::new), 0))
                };
                count > 0 && (0..count).all(each)
            }
            Ty::Member(Set::Either(a, b)) => [(false, &a), (true, &b)]
                .iter()
                .all(|(side, set)| with(vec![member(set)], those(&|p| inside(p, Some(*side)), 1))),
            Ty::Either(sides) => [(false, &sides[0]), (true, &sides[1])]
                .iter()
                .all(|(side, ty)| with(vec![(*ty).clone()], those(&|p| inside(p, Some(*side)), 1))),
            Ty::Option(held) => {
                with(vec![(*held).clone()], those(&|p| inside(p, None), 1))
                    && with(Vec::new(), those(&absent, 0))
            }
            // Of numbers there are too many to name them all.
            _ => with(Vec::new(), those(&|_| None, 0)),
        }
    }
}

/// What a pattern says of what is on one side of an `Either`, or in an `Option`.
fn inside(pattern: &Pattern, side: Option<bool>) -> Option<Vec<&Pattern>> {
    match pattern {
        Pattern::Side(right, _, inner) if Some(*right) == side => Some(vec![inner]),
        Pattern::Present(_, Some(inner)) if side.is_none() => Some(vec![inner]),
        Pattern::Bind(_)
        | Pattern::Wild
        | Pattern::Lit(_)
        | Pattern::Member(_)
        | Pattern::Tuple(_)
        | Pattern::Side(..)
        | Pattern::Present(..) => None,
    }
}

/// What a pattern says of the parts of a tuple.
fn components(pattern: &Pattern) -> Option<Vec<&Pattern>> {
    match pattern {
        Pattern::Tuple(parts) => Some(parts.iter().collect()),
        Pattern::Bind(_)
        | Pattern::Wild
        | Pattern::Lit(_)
        | Pattern::Member(_)
        | Pattern::Side(..)
        | Pattern::Present(..) => None,
    }
}

/// What `None` says of what follows, which is nothing.
fn absent(pattern: &Pattern) -> Option<Vec<&Pattern>> {
    matches!(pattern, Pattern::Present(_, None)).then(Vec::new)
}
