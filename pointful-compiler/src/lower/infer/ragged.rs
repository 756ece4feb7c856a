//! `Ragged<I, T>`: rows of different lengths.
//!
//! Its values are a table over one set, that of the values of all rows, so whatever is done to each
//! of them is done as with any table. The set knows which one has a row for each member, and what
//! stands for the lengths of rows, which is a set variable as an occurrence of `Dyn` is. A row is a
//! table over the places in it:
//!
//! ```text
//! a: Ragged<N, T>        a table over the values of rows of N, whose lengths are L
//! a[i], i a variable     a table over the places in row i of L
//! a[e]                   a table over a set of its own, as is a table over a range
//! ```
//!
//! so rows at one member fit each other where the lengths are the same, and those at two members do
//! not. Lengths that meet are one variable then, and parameters with them must agree at entry.

use proc_macro2::Span;

use super::Infer;
use crate::diag::lowering as say;
use crate::lower::hir::{Expr, Kind, LocalId, Pattern};
use crate::lower::solve::SetKind;
use crate::lower::types::{Set, Ty};
use crate::syntax::tree;

impl<'a> Infer<'_, 'a> {
    /// `Ragged<I, T>` as written.
    pub(super) fn written_ragged(
        &mut self,
        set: &'a tree::Set,
        elem: &'a tree::Type,
        dynamic: SetKind,
    ) -> Ty {
        let rows = self.written_set(set, dynamic);
        let (at, span) = (set.span, elem.span);
        let elem = self.written(elem, dynamic);
        let resolved = self.solver.set(&rows);
        if matches!(resolved, Set::Product(_) | Set::Record(..)) {
            let shown = self.show_set(&resolved);
            self.report(say::ragged_rows(at, &shown));
            return Ty::Error;
        }
        match &elem {
            Ty::Error => return Ty::Error,
            Ty::Scalar(_) | Ty::Float(_) | Ty::Var(_) => {}
            Ty::Member(set) if !matches!(set, Set::Record(..)) => {}
            other => {
                let shown = self.show(other);
                self.report(say::ragged_elements(span, &shown));
                return Ty::Error;
            }
        }
        let lengths = self.solver.fresh_set(dynamic, at);
        let set = Set::Ragged(Box::new(rows), Box::new(lengths));
        Ty::table(vec![set], elem)
    }

    /// Whether a type is a table of rows of different lengths, or of such ones.
    pub(super) fn is_ragged(&self, ty: &Ty) -> bool {
        let (groups, _) = self.split(ty);
        let atoms = self.solver.atoms(&groups);
        atoms.iter().any(|set| matches!(set, Set::Ragged(..)))
    }

    /// Whether there are rows of different lengths anywhere in a value.
    pub(super) fn has_ragged(&self, ty: &Ty) -> bool {
        match self.solver.shallow(ty) {
            Ty::Tuple(parts) | Ty::Struct(_, parts) => {
                parts.iter().any(|part| self.has_ragged(part))
            }
            other => self.is_ragged(&other),
        }
    }

    /// What a table with rows of different lengths is over for these indices: of each first index
    /// into such rows there is a set of members, and one of the places in the row there. None if it
    /// has no such rows, or no index chooses among them.
    pub(super) fn with_rows(
        &mut self,
        groups: &[Set],
        indices: &[(Ty, Span)],
        names: &[Option<LocalId>],
    ) -> Option<Vec<Set>> {
        let atoms = self.solver.atoms(groups);
        let at = atoms
            .iter()
            .position(|set| matches!(set, Set::Ragged(..)))?;
        let Set::Ragged(rows, lengths) = &atoms[at] else {
            return None;
        };
        let (index, _) = indices.get(at)?;
        let index = self.solver.shallow(index);
        if matches!(&index, Ty::Member(set) if matches!(self.solver.set(set), Set::Ragged(..))) {
            return None;
        }
        let is_member = match &index {
            Ty::Var(_) => self.is_open(&index) && !self.is_constant(&index),
            other => self.solver.set_of(other).is_some() && !matches!(other, Ty::Offset(_)),
        };
        let name = match indices.len() == names.len() {
            true => names[at],
            false => None,
        };
        let row = match name {
            Some(name) if is_member => Set::Row(lengths.clone(), name.0),
            _ => self.range("a row".into()),
        };
        let mut sets = atoms[..at].to_vec();
        sets.extend([(**rows).clone(), row]);
        sets.extend_from_slice(&atoms[at + 1..]);
        Some(sets)
    }

    /// The variables that indices are, where they are variables that never change.
    pub(super) fn index_names(&self, parts: &[Expr]) -> Vec<Option<LocalId>> {
        let name = |part: &Expr| match part.kind {
            Kind::Local(local) if !self.local(local).mutable => Some(local),
            _ => None,
        };
        parts.iter().map(name).collect()
    }

    /// Reports variables whose types have rows at variables that are bound only after them: what
    /// such a row is would change while the variable holds it.
    pub(super) fn rows_at_later_members(&mut self) {
        for k in 0..self.locals.len() {
            let local = self.locals[k].clone();
            if let Some(member) = latest_member(&self.solver.ty(&local.ty))
                && member as usize > k
            {
                let member = self.locals[member as usize].name.clone();
                self.report(say::row_at_later(local.span, &local.name, &member));
            }
        }
    }

    /// What the rows are that iterations over all members of a set make, one at each, if their
    /// values begin with the places in a row there.
    pub(super) fn rows_made(&self, set: &Set, pattern: &Pattern, value: &Ty) -> Option<Ty> {
        let Pattern::Bind(member) = pattern else {
            return None;
        };
        match self.solver.shallow(value) {
            Ty::Tuple(parts) => {
                let made = parts.iter().map(|part| self.rows_made(set, pattern, part));
                let made: Vec<Option<Ty>> = made.collect();
                if made.iter().all(Option::is_none) {
                    return None;
                }
                let parts = made.into_iter().zip(parts);
                let parts = parts
                    .map(|(made, part)| made.unwrap_or_else(|| Ty::table(vec![set.clone()], part)));
                Some(Ty::Tuple(parts.collect()))
            }
            Ty::Table(groups, elem) => {
                let mut atoms = self.solver.atoms(&groups);
                match atoms.first() {
                    Some(Set::Row(lengths, row)) if *row == member.0 => {
                        let rows = Box::new(self.solver.set(set));
                        atoms[0] = Set::Ragged(rows, lengths.clone());
                        Some(Ty::Table(atoms, elem))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// The variable bound last among those at which a resolved type has rows.
fn latest_member(ty: &Ty) -> Option<u32> {
    let of_set = |set: &Set| -> Option<u32> {
        let sets = set.atoms().into_iter();
        sets.filter_map(|set| match set {
            Set::Row(_, member) => Some(member),
            Set::Either(a, b) => latest_member(&Ty::Extent(*a)).max(latest_member(&Ty::Extent(*b))),
            Set::Record(_, parts) => latest_member(&Ty::Extent(Set::Product(parts))),
            _ => None,
        })
        .max()
    };
    let of_all = |types: &[Ty]| types.iter().filter_map(latest_member).max();
    match ty {
        Ty::Member(set) | Ty::Offset(set) | Ty::Extent(set) => of_set(set),
        Ty::Table(groups, elem) => {
            let sets = groups.iter().filter_map(of_set).max();
            sets.max(latest_member(elem))
        }
        Ty::Tuple(parts) | Ty::Struct(_, parts) => of_all(parts),
        Ty::Either(sides) => of_all(&sides[..]),
        Ty::Function(params, result) => of_all(params).max(latest_member(result)),
        Ty::Accum(inner) | Ty::Option(inner) => latest_member(inner),
        Ty::Var(_) | Ty::Scalar(_) | Ty::Float(_) | Ty::Error => None,
    }
}
