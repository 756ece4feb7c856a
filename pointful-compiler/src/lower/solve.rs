//! Unification of types and index sets.
//!
//! A variable remembers where it was made and why it was bound, so that a contradiction can say
//! where the expectation came from. Errors are terms too: [`Ty::Error`] and [`Set::Error`] equal
//! everything, so that one mistake is reported once.

use proc_macro2::Span;

use super::hir::LocalId;
use super::types::{Len, Set, Ty, atoms};
use crate::ir::Scalar;

/// What a type variable may become.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TyKind {
    /// Anything.
    Any,
    /// A number: what a constant is that is not indexed; decided by what it meets.
    Number,
    /// An integer type; `i64` unless something says otherwise.
    Int,
    /// A float type; `f64` unless something says otherwise.
    Float,
}

/// What a set variable may become.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SetKind {
    /// Any set.
    Free,
    /// An occurrence of `Dyn`: equal to other occurrences only.
    Dyn,
    /// `Dyn` in a result, a `let` or a call: also a range that the function computes, or a row.
    DynResult,
}

#[derive(Clone, Debug)]
struct TyVar {
    bound: Option<Ty>,
    kind: TyKind,
    /// An integer that some constant is: `usize` unless something says otherwise.
    length: bool,
    /// A constant that moves members, and so may be negative.
    moves: bool,
    /// A constant that is negated, and so is signed.
    negated: bool,
    span: Span,
}

#[derive(Clone, Debug)]
struct SetVar {
    bound: Option<Set>,
    kind: SetKind,
    span: Span,
    why: Option<String>,
}

/// Two terms that cannot be equal: the innermost ones that differ.
#[derive(Clone, Debug)]
pub(super) enum Clash {
    /// Two types.
    Types,
    /// Two sets; and what bound the left or the right one, if a variable stood there.
    Sets(Set, Set, Option<String>),
}

/// Variables and what they are bound to.
#[derive(Clone, Debug, Default)]
pub(super) struct Solver {
    types: Vec<TyVar>,
    sets: Vec<SetVar>,
    /// Constants and numbers that must be the same length: what only rustc knows.
    pub(super) equal: Vec<(String, String)>,
    /// What bindings made from now on are because of.
    pub(super) why: Option<String>,
    /// What ranges run over, by their numbers.
    pub(super) ranges: Vec<Range>,
}

/// What a range runs over.
#[derive(Clone, Debug)]
pub(super) struct Range {
    /// As it is written.
    pub(super) text: String,
    /// The set whose members they are.
    pub(super) of: Option<Set>,
    /// The variables that say where it begins and ends, where nothing else does: wherever they are
    /// the same values, it is the same range.
    pub(super) bounds: Option<Vec<LocalId>>,
}

impl Solver {
    /// A range as it is written.
    pub(super) fn range(&self, range: u32) -> &str {
        let known = self.ranges.get(range as usize);
        known.map_or("a range", |range| range.text.as_str())
    }

    /// The set whose members a range runs over.
    pub(super) fn members_of_range(&self, set: &Set) -> Option<Set> {
        let Set::Range(range) = self.set(set) else {
            return None;
        };
        self.ranges.get(range as usize)?.of.clone()
    }

    /// How many indices stand for how many axes, from the first on: a member of a product is an
    /// index for each of its parts, but one place in a range of such members, and a place in the
    /// range is such a member.
    pub(super) fn indexed(&self, axes: &[Set], indices: &[Ty]) -> Vec<(usize, usize)> {
        let parts = |set: &Set| match self.members_of_range(set).map(|of| self.set(&of)) {
            Some(of @ Set::Product(_)) => of.atoms().len().max(1),
            _ => 1,
        };
        let (mut axis, mut index) = (0, 0);
        let mut pairs = Vec::new();
        while axis < axes.len() && index < indices.len() {
            let (given, known) = match self.shallow(&indices[index]) {
                Ty::Member(set) if matches!(self.set(&set), Set::Range(_)) => {
                    let is_range = matches!(self.set(&axes[axis]), Set::Range(_) | Set::Var(_));
                    (1, if is_range { 1 } else { parts(&set) })
                }
                Ty::Member(_) | Ty::Offset(_) | Ty::Scalar(Scalar::Bool) => (parts(&axes[axis]), 1),
                _ => (1, 1),
            };
            let pair = (
                given.min(indices.len() - index),
                known.min(axes.len() - axis),
            );
            pairs.push(pair);
            (index, axis) = (index + pair.0, axis + pair.1);
        }
        pairs
    }

    /// The set of which a type has members, or tuples of them for a product.
    pub(super) fn members(&self, ty: &Ty) -> Option<Set> {
        match self.shallow(ty) {
            Ty::Member(set) => Some(self.set(&set)),
            Ty::Tuple(parts) if !parts.is_empty() => {
                let part = |ty: &Ty| match self.shallow(ty) {
                    Ty::Scalar(Scalar::Bool) => Some(Set::Bool),
                    Ty::Tuple(parts) if parts.is_empty() => Some(Set::UNIT),
                    _ => self.members(ty),
                };
                parts
                    .iter()
                    .map(part)
                    .collect::<Option<_>>()
                    .map(Set::Product)
            }
            _ => None,
        }
    }

    /// A new type variable made at `span`.
    pub(super) fn fresh(&mut self, kind: TyKind, span: Span) -> Ty {
        self.types.push(TyVar {
            bound: None,
            kind,
            length: false,
            moves: false,
            negated: false,
            span,
        });
        Ty::Var(self.types.len() as u32 - 1)
    }

    /// A new set variable made at `span`.
    pub(super) fn fresh_set(&mut self, kind: SetKind, span: Span) -> Set {
        self.sets.push(SetVar {
            bound: None,
            kind,
            span,
            why: None,
        });
        Set::Var(self.sets.len() as u32 - 1)
    }

    /// What an unbound type variable may become.
    pub(super) fn kind(&self, var: u32) -> TyKind {
        self.types[var as usize].kind
    }

    /// Says that an unbound variable is a number.
    pub(super) fn narrow(&mut self, var: u32) {
        let kind = &mut self.types[var as usize].kind;
        if *kind == TyKind::Any {
            *kind = TyKind::Number;
        }
    }

    /// Says that an unbound variable is an integer by which members are moved.
    pub(super) fn move_by(&mut self, var: u32) {
        let var = &mut self.types[var as usize];
        (var.kind, var.length, var.moves) = (TyKind::Int, true, true);
    }

    /// Says that an unbound variable is a number that is negated.
    pub(super) fn negate(&mut self, var: u32) {
        self.types[var as usize].negated = true;
    }

    /// Says that an unbound variable is an integer up to which something counts.
    pub(super) fn count_to(&mut self, var: u32) {
        let var = &mut self.types[var as usize];
        (var.kind, var.length) = (TyKind::Int, !var.negated);
    }

    /// Whether members are moved by an unbound variable.
    pub(super) fn moves(&self, var: u32) -> bool {
        self.types[var as usize].moves
    }

    /// What an unbound set variable may become.
    pub(super) fn set_kind(&self, var: u32) -> SetKind {
        self.sets[var as usize].kind
    }

    /// The set with every bound variable replaced.
    pub(super) fn set(&self, set: &Set) -> Set {
        match set {
            Set::Var(v) => match &self.sets[*v as usize].bound {
                Some(bound) => self.set(bound),
                None => set.clone(),
            },
            Set::Product(parts) => Set::Product(parts.iter().map(|p| self.set(p)).collect()),
            Set::Record(id, parts) => Set::Record(*id, parts.iter().map(|p| self.set(p)).collect()),
            Set::Either(a, b) => Set::Either(Box::new(self.set(a)), Box::new(self.set(b))),
            Set::Ragged(rows, lengths) => {
                Set::Ragged(Box::new(self.set(rows)), Box::new(self.set(lengths)))
            }
            Set::Row(lengths, row) => Set::Row(Box::new(self.set(lengths)), *row),
            Set::Param(_)
            | Set::Named(_)
            | Set::Fin(_)
            | Set::Bool
            | Set::Range(_)
            | Set::Error => set.clone(),
        }
    }

    /// The components of all groups, resolved.
    pub(super) fn atoms(&self, groups: &[Set]) -> Vec<Set> {
        let resolved: Vec<Set> = groups.iter().map(|g| self.set(g)).collect();
        atoms(&resolved)
    }

    /// The type with its outermost constructor known, if it is known.
    pub(super) fn shallow(&self, ty: &Ty) -> Ty {
        match ty {
            Ty::Var(v) => match &self.types[*v as usize].bound {
                Some(bound) => self.shallow(bound),
                None => ty.clone(),
            },
            Ty::Member(set) => self.member(&self.set(set)),
            Ty::Table(groups, elem) => match self.shallow(elem) {
                inner @ Ty::Table(..) => Ty::table(groups.clone(), inner),
                _ => ty.clone(),
            },
            _ => ty.clone(),
        }
    }

    /// The type with only type variables replaced.
    pub(super) fn raw(&self, ty: &Ty) -> Ty {
        match ty {
            Ty::Var(v) => match &self.types[*v as usize].bound {
                Some(bound) => self.raw(bound),
                None => ty.clone(),
            },
            _ => ty.clone(),
        }
    }

    /// The type of the members of a resolved set.
    pub(super) fn member(&self, set: &Set) -> Ty {
        match set {
            Set::Product(parts) => Ty::Tuple(parts.iter().map(|p| self.member(p)).collect()),
            Set::Bool => Ty::BOOL,
            Set::Error => Ty::Error,
            other => Ty::Member(other.clone()),
        }
    }

    /// The set whose members a type has.
    pub(super) fn set_of(&self, ty: &Ty) -> Option<Set> {
        match self.shallow(ty) {
            Ty::Member(set) | Ty::Offset(set) => Some(self.set(&set)),
            Ty::Scalar(Scalar::Bool) => Some(Set::Bool),
            Ty::Tuple(parts) => {
                let parts: Option<Vec<Set>> = parts.iter().map(|p| self.set_of(p)).collect();
                parts.map(Set::Product)
            }
            _ => None,
        }
    }

    /// The type with every bound variable replaced.
    pub(super) fn ty(&self, ty: &Ty) -> Ty {
        let all = |parts: &[Ty]| parts.iter().map(|p| self.ty(p)).collect::<Vec<_>>();
        match self.shallow(ty) {
            Ty::Table(groups, elem) => {
                Ty::table(groups.iter().map(|g| self.set(g)).collect(), self.ty(&elem))
            }
            Ty::Offset(set) => Ty::Offset(self.set(&set)),
            Ty::Extent(set) => Ty::Extent(self.set(&set)),
            Ty::Tuple(parts) => Ty::Tuple(all(&parts)),
            Ty::Struct(id, parts) => Ty::Struct(id, all(&parts)),
            Ty::Function(params, result) => Ty::Function(all(&params), Box::new(self.ty(&result))),
            Ty::Accum(inner) => Ty::Accum(Box::new(self.ty(&inner))),
            Ty::Option(inner) => Ty::Option(Box::new(self.ty(&inner))),
            Ty::Either(sides) => Ty::Either(Box::new(sides.each_ref().map(|side| self.ty(side)))),
            known @ (Ty::Var(_) | Ty::Scalar(_) | Ty::Float(_) | Ty::Member(_) | Ty::Error) => {
                known
            }
        }
    }

    /// Makes two types equal.
    pub(super) fn unify(&mut self, a: &Ty, b: &Ty) -> Result<(), Clash> {
        let (a, b) = (self.shallow(a), self.shallow(b));
        match (&a, &b) {
            (Ty::Error, _) | (_, Ty::Error) => Ok(()),
            (Ty::Var(x), Ty::Var(y)) => {
                if x != y {
                    let (keep, drop) = match (self.kind(*x), self.kind(*y)) {
                        (TyKind::Any, _) => (*y, *x),
                        (_, TyKind::Any) => (*x, *y),
                        (TyKind::Number, _) => (*y, *x),
                        (_, TyKind::Number) => (*x, *y),
                        (p, q) if p == q => (*x, *y),
                        _ => return Err(Clash::Types),
                    };
                    let dropped = &mut self.types[drop as usize];
                    let length = dropped.length || dropped.kind == TyKind::Number;
                    let (moves, negated) = (dropped.moves, dropped.negated);
                    dropped.bound = Some(Ty::Var(keep));
                    let kept = &mut self.types[keep as usize];
                    kept.length |= length;
                    kept.moves |= moves;
                    kept.negated |= negated;
                }
                Ok(())
            }
            (Ty::Var(v), other) | (other, Ty::Var(v)) => self.bind(*v, other),
            (Ty::Scalar(x), Ty::Scalar(y)) if x == y => Ok(()),
            (Ty::Float(x), Ty::Float(y)) if x == y => Ok(()),
            (Ty::Member(x), Ty::Member(y))
            | (Ty::Offset(x), Ty::Offset(y))
            | (Ty::Extent(x), Ty::Extent(y)) => self.unify_sets(x, y),
            // A member of a set not known yet may turn out to be a tuple or a truth value.
            (Ty::Member(Set::Var(_)), Ty::Tuple(parts))
            | (Ty::Tuple(parts), Ty::Member(Set::Var(_))) => {
                let set = match (&a, &b) {
                    (Ty::Member(set), _) | (_, Ty::Member(set)) => set.clone(),
                    _ => return Err(Clash::Types),
                };
                let mut sets = Vec::new();
                for part in parts {
                    match self.shallow(part) {
                        Ty::Member(s) => sets.push(s),
                        _ => return Err(Clash::Types),
                    }
                }
                self.unify_sets(&set, &Set::Product(sets))
            }
            (Ty::Member(set @ Set::Var(_)), Ty::Scalar(Scalar::Bool))
            | (Ty::Scalar(Scalar::Bool), Ty::Member(set @ Set::Var(_))) => {
                self.unify_sets(set, &Set::Bool)
            }
            (Ty::Table(g, x), Ty::Table(h, y)) => self.unify_tables(g, x, h, y),
            // A table of tuples is a tuple of tables.
            (Ty::Table(groups, elem), Ty::Tuple(tables))
            | (Ty::Tuple(tables), Ty::Table(groups, elem)) => match self.shallow(elem) {
                Ty::Tuple(cells) if cells.len() == tables.len() => {
                    cells.iter().zip(tables).try_for_each(|(cell, table)| {
                        self.unify(&Ty::table(groups.clone(), cell.clone()), table)
                    })
                }
                _ => Err(Clash::Types),
            },
            // A table over `()` is its one element.
            (Ty::Table(groups, elem), other) | (other, Ty::Table(groups, elem))
                if self.atoms(groups).is_empty() =>
            {
                self.unify(elem, other)
            }
            (Ty::Tuple(x), Ty::Tuple(y)) if x.len() == y.len() => self.unify_all(x, y),
            (Ty::Struct(i, x), Ty::Struct(j, y)) if i == j => self.unify_all(x, y),
            (Ty::Function(p, r), Ty::Function(q, s)) if p.len() == q.len() => {
                self.unify_all(p, q)?;
                self.unify(r, s)
            }
            (Ty::Accum(x), Ty::Accum(y)) | (Ty::Option(x), Ty::Option(y)) => self.unify(x, y),
            (Ty::Either(x), Ty::Either(y)) => self.unify_all(&x[..], &y[..]),
            _ => Err(Clash::Types),
        }
    }

    fn unify_all(&mut self, a: &[Ty], b: &[Ty]) -> Result<(), Clash> {
        a.iter().zip(b).try_for_each(|(x, y)| self.unify(x, y))
    }

    /// Takes the values of all rows of a `Ragged`, as derivatives by them have, for `Dyn` in a
    /// result.
    fn are_values(&mut self, a: &Set, b: &Set) -> bool {
        let (var, values) = match (self.set(a), self.set(b)) {
            (Set::Var(var), values @ Set::Ragged(..))
            | (values @ Set::Ragged(..), Set::Var(var)) => (var, values),
            _ => return false,
        };
        let is_result = self.set_kind(var) == SetKind::DynResult;
        if is_result {
            self.bind_set(var, values);
        }
        is_result
    }

    fn unify_tables(&mut self, g: &[Set], x: &Ty, h: &[Set], y: &Ty) -> Result<(), Clash> {
        let (a, b) = (self.atoms(g), self.atoms(h));
        for (s, t) in a.iter().zip(&b) {
            if a.len().max(b.len()) > 1 && self.are_values(s, t) {
                continue;
            }
            self.unify_sets(s, t)?;
        }
        // Axes that one side has and the other does not know of yet belong to its element.
        match a.len().cmp(&b.len()) {
            std::cmp::Ordering::Equal => self.unify(x, y),
            std::cmp::Ordering::Less => self.unify(
                x,
                &Ty::table(
                    super::types::drop_atoms(&self.groups(h), a.len()),
                    y.clone(),
                ),
            ),
            std::cmp::Ordering::Greater => self.unify(
                &Ty::table(
                    super::types::drop_atoms(&self.groups(g), b.len()),
                    x.clone(),
                ),
                y,
            ),
        }
    }

    /// The groups, resolved.
    pub(super) fn groups(&self, groups: &[Set]) -> Vec<Set> {
        groups.iter().map(|g| self.set(g)).collect()
    }

    fn bind(&mut self, var: u32, ty: &Ty) -> Result<(), Clash> {
        let fits = match self.kind(var) {
            TyKind::Any => true,
            TyKind::Number => {
                matches!(ty, Ty::Scalar(s) if *s != Scalar::Bool) || matches!(ty, Ty::Float(_))
            }
            TyKind::Int => matches!(ty, Ty::Scalar(s) if s.is_int()),
            TyKind::Float => {
                matches!(ty, Ty::Scalar(s) if s.is_float()) || matches!(ty, Ty::Float(_))
            }
        };
        if !fits || self.occurs(var, ty) {
            return Err(Clash::Types);
        }
        self.types[var as usize].bound = Some(ty.clone());
        Ok(())
    }

    fn occurs(&self, var: u32, ty: &Ty) -> bool {
        match self.shallow(ty) {
            Ty::Var(v) => v == var,
            Ty::Table(_, inner) | Ty::Accum(inner) | Ty::Option(inner) => self.occurs(var, &inner),
            Ty::Tuple(parts) | Ty::Struct(_, parts) => parts.iter().any(|p| self.occurs(var, p)),
            Ty::Either(sides) => sides.iter().any(|side| self.occurs(var, side)),
            Ty::Function(params, result) => {
                params.iter().any(|p| self.occurs(var, p)) || self.occurs(var, &result)
            }
            Ty::Scalar(_)
            | Ty::Float(_)
            | Ty::Member(_)
            | Ty::Offset(_)
            | Ty::Extent(_)
            | Ty::Error => false,
        }
    }

    /// Makes two sets equal.
    pub(super) fn unify_sets(&mut self, a: &Set, b: &Set) -> Result<(), Clash> {
        let why = self.reason(a).or_else(|| self.reason(b));
        let (a, b) = (self.set(a), self.set(b));
        let clash = || Err(Clash::Sets(a.clone(), b.clone(), why.clone()));
        match (&a, &b) {
            (Set::Error, _) | (_, Set::Error) => Ok(()),
            (Set::Var(x), Set::Var(y)) => {
                if x != y {
                    let (keep, drop) = match (self.set_kind(*x), self.set_kind(*y)) {
                        (SetKind::Free, _) => (*y, *x),
                        (_, SetKind::Free) => (*x, *y),
                        (SetKind::DynResult, SetKind::Dyn) => (*y, *x),
                        (SetKind::Dyn, SetKind::Dyn | SetKind::DynResult)
                        | (SetKind::DynResult, SetKind::DynResult) => (*x.min(y), *x.max(y)),
                    };
                    self.bind_set(drop, Set::Var(keep));
                }
                Ok(())
            }
            (Set::Var(v), other) | (other, Set::Var(v)) => {
                let fits = match self.set_kind(*v) {
                    SetKind::Free => !contains_var(other, *v),
                    SetKind::Dyn => false,
                    SetKind::DynResult => matches!(other, Set::Range(_) | Set::Row(..)),
                };
                if !fits {
                    return clash();
                }
                self.bind_set(*v, other.clone());
                Ok(())
            }
            (Set::Product(x), Set::Product(y)) if x.len() == y.len() => {
                x.iter().zip(y).try_for_each(|(s, t)| self.unify_sets(s, t))
            }
            (Set::Record(i, x), Set::Record(j, y)) if i == j => {
                x.iter().zip(y).try_for_each(|(s, t)| self.unify_sets(s, t))
            }
            (Set::Either(p, q), Set::Either(r, s)) | (Set::Ragged(p, q), Set::Ragged(r, s)) => {
                self.unify_sets(p, r)?;
                self.unify_sets(q, s)
            }
            (Set::Row(p, i), Set::Row(q, j)) if i == j => self.unify_sets(p, q),
            _ if a == b => Ok(()),
            // They may be one constant by two names, or two of one value.
            (Set::Fin(Len::Const(x)), Set::Fin(Len::Const(y))) => {
                if let (Some(n), Some(m)) = (self.number(x), self.number(y))
                    && n != m
                {
                    return clash();
                }
                self.equal.push((x.clone(), y.clone()));
                Ok(())
            }
            // The constant may be that number.
            (Set::Fin(Len::Const(x)), Set::Fin(Len::Lit(n)))
            | (Set::Fin(Len::Lit(n)), Set::Fin(Len::Const(x))) => {
                if self.number(x).is_some_and(|known| known != *n) {
                    return clash();
                }
                self.equal.push((x.clone(), n.to_string()));
                Ok(())
            }
            _ => clash(),
        }
    }

    /// The number that a constant must be, if it must be one.
    fn number(&self, constant: &str) -> Option<u64> {
        let class = super::types::same_length(&self.equal, constant);
        class.into_iter().find_map(|value| value.parse().ok())
    }

    fn bind_set(&mut self, var: u32, set: Set) {
        let why = self.why.clone();
        let var = &mut self.sets[var as usize];
        var.bound = Some(set);
        var.why = why;
    }

    /// What bound the variables that the set was written with.
    pub(super) fn reason(&self, set: &Set) -> Option<String> {
        match set {
            Set::Var(v) => {
                let var = &self.sets[*v as usize];
                match &var.bound {
                    Some(bound) => var.why.clone().or_else(|| self.reason(bound)),
                    None => None,
                }
            }
            _ => None,
        }
    }

    /// Gives literals their default types.
    pub(super) fn default_literals(&mut self) {
        for var in &mut self.types {
            if var.bound.is_none() {
                match var.kind {
                    TyKind::Any | TyKind::Number => {}
                    TyKind::Int if var.length && !var.negated => var.bound = Some(Ty::USIZE),
                    TyKind::Int => var.bound = Some(Ty::Scalar(Scalar::I64)),
                    TyKind::Float => var.bound = Some(Ty::Scalar(Scalar::F64)),
                }
            }
        }
    }

    /// Takes everything in the type that nothing determines for something that was reported.
    pub(super) fn give_up(&mut self, ty: &Ty) {
        match self.shallow(ty) {
            Ty::Var(v) => self.types[v as usize].bound = Some(Ty::Error),
            Ty::Table(_, inner) | Ty::Accum(inner) | Ty::Option(inner) => self.give_up(&inner),
            Ty::Tuple(parts) | Ty::Struct(_, parts) => {
                parts.iter().for_each(|part| self.give_up(part));
            }
            Ty::Either(sides) => sides.iter().for_each(|side| self.give_up(side)),
            Ty::Function(params, result) => {
                params.iter().for_each(|param| self.give_up(param));
                self.give_up(&result);
            }
            Ty::Scalar(_)
            | Ty::Float(_)
            | Ty::Member(_)
            | Ty::Offset(_)
            | Ty::Extent(_)
            | Ty::Error => {}
        }
    }

    /// Where the first type variable in the type that nothing determines was made.
    pub(super) fn undetermined(&self, ty: &Ty) -> Option<Span> {
        match self.shallow(ty) {
            Ty::Var(v) => Some(self.types[v as usize].span),
            Ty::Table(_, inner) | Ty::Accum(inner) | Ty::Option(inner) => self.undetermined(&inner),
            Ty::Tuple(parts) | Ty::Struct(_, parts) => {
                parts.iter().find_map(|p| self.undetermined(p))
            }
            Ty::Either(sides) => sides.iter().find_map(|side| self.undetermined(side)),
            Ty::Function(params, result) => params
                .iter()
                .find_map(|p| self.undetermined(p))
                .or_else(|| self.undetermined(&result)),
            Ty::Scalar(_)
            | Ty::Float(_)
            | Ty::Member(_)
            | Ty::Offset(_)
            | Ty::Extent(_)
            | Ty::Error => None,
        }
    }

    /// The set variables that nothing determines, `Dyn` excepted, and where each was made; each is
    /// reported once.
    pub(super) fn undetermined_sets(&mut self) -> Vec<(u32, Span)> {
        let mut spans = Vec::new();
        for (k, var) in (0..).zip(&mut self.sets) {
            if var.bound.is_none() && var.kind == SetKind::Free {
                var.bound = Some(Set::Error);
                spans.push((k, var.span));
            }
        }
        spans
    }
}

fn contains_var(set: &Set, var: u32) -> bool {
    match set {
        Set::Var(v) => *v == var,
        Set::Product(parts) | Set::Record(_, parts) => parts.iter().any(|p| contains_var(p, var)),
        Set::Either(a, b) | Set::Ragged(a, b) => contains_var(a, var) || contains_var(b, var),
        Set::Row(lengths, _) => contains_var(lengths, var),
        Set::Param(_) | Set::Named(_) | Set::Fin(_) | Set::Bool | Set::Range(_) | Set::Error => {
            false
        }
    }
}
