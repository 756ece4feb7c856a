//! Patterns of `let`, `for`, closures and `match`.

use proc_macro2::Span;

use super::Infer;
use super::expr::pattern_span;
use super::reference::is_reference;
use super::signature::{last_name, path_span};
use crate::diag::lowering as say;
use crate::lower::hir::{Origin, Pattern, Value, irrefutable};
use crate::lower::solve::{SetKind, TyKind};
use crate::lower::types::{Set, Ty};
use crate::syntax::tree::{self, TypeDefKind, path_key};

impl<'a> Infer<'_, 'a> {
    /// Binds the names of a pattern that takes a value of this type apart.
    pub(super) fn pattern(
        &mut self,
        pattern: &'a tree::Pattern,
        ty: &Ty,
        origin: Origin,
    ) -> Pattern {
        match pattern {
            // A name alone is a variable wherever it is not this word.
            tree::Pattern::Name { name, .. } if *name == "None" => {
                let held = self.unknown(name.span());
                Pattern::Present(self.option(&held, name.span(), ty), None)
            }
            tree::Pattern::Name { name, mutable } => {
                let local = self.bind(&name.to_string(), ty.clone(), *mutable, origin, name.span());
                Pattern::Bind(local)
            }
            tree::Pattern::Wild(_) => Pattern::Wild,
            tree::Pattern::Tuple(parts, span) => self.tuple_pattern(parts, *span, ty, origin),
            tree::Pattern::Typed(inner, written) => {
                let want = self.written(written, SetKind::DynResult);
                let span = pattern_span(inner).unwrap_or(written.span);
                self.expect(&want, ty, span, || "the pattern says so".into());
                let pattern = self.pattern(inner, &want, origin);
                if is_reference(written) {
                    self.may_be_reference(&pattern);
                }
                pattern
            }
            tree::Pattern::Variant { path, inner, span } => {
                if let (Some(right), [inner]) = (side(&path_key(path)), inner.as_slice()) {
                    return self.side_pattern(right, inner, *span, ty, origin);
                }
                match (path_key(path).as_str(), inner.as_slice()) {
                    ("Some" | "Option::Some", [inner]) => {
                        return self.some_pattern(inner, *span, ty, origin);
                    }
                    ("None" | "Option::None", []) => {
                        let held = self.unknown(*span);
                        return Pattern::Present(self.option(&held, *span, ty), None);
                    }
                    _ => {}
                }
                if self.is_variant(path) {
                    return self.variant_pattern(path, inner, ty, origin);
                }
                if !inner.is_empty() {
                    let what = format!("the pattern `{}(…)`", path_key(path));
                    self.report(say::not_available(*span, &what));
                    for part in inner {
                        self.pattern(part, &Ty::Error, origin);
                    }
                    return Pattern::Wild;
                }
                match self.variant(path) {
                    Some((id, Some(ordinal))) => {
                        let want = Ty::Member(Set::Named(id));
                        self.expect(&want, ty, *span, || {
                            "the pattern names a member of it".into()
                        });
                        Pattern::Member(ordinal)
                    }
                    Some((id, None)) => {
                        let owner = self.shared.linked.types[id].name.to_string();
                        self.report(say::unknown_member(
                            path_span(path),
                            &last_name(path),
                            &owner,
                        ));
                        Pattern::Wild
                    }
                    None => {
                        self.report(say::unknown_name(path_span(path), &path_key(path)));
                        Pattern::Wild
                    }
                }
            }
            tree::Pattern::Struct {
                path, fields, rest, ..
            } => self.struct_pattern(path, (fields, *rest), ty, origin),
            tree::Pattern::Lit(lit, negative) => {
                let (value, want) = match &lit.kind {
                    tree::LitKind::Int { value, suffix } => (
                        Value::Int(i128::try_from(*value).unwrap_or(i128::MAX)),
                        suffix.map_or_else(|| self.solver.fresh(TyKind::Int, lit.span), Ty::Scalar),
                    ),
                    tree::LitKind::Float { value, suffix } => (
                        Value::Float(*value),
                        suffix
                            .map_or_else(|| self.solver.fresh(TyKind::Float, lit.span), Ty::Scalar),
                    ),
                    tree::LitKind::Bool(b) => (Value::Bool(*b), Ty::BOOL),
                };
                self.expect(ty, &want, lit.span, || {
                    "the value matched is of that type".into()
                });
                Pattern::Lit(match (negative, value) {
                    (true, Value::Int(n)) => Value::Int(-n),
                    (true, Value::Float(x)) => Value::Float(-x),
                    (_, value) => value,
                })
            }
        }
    }

    /// As [`Self::pattern`], where there is no other way to go on if the value does not fit.
    pub(super) fn binding(
        &mut self,
        pattern: &'a tree::Pattern,
        ty: &Ty,
        origin: Origin,
    ) -> Pattern {
        let errors = self.shared.diags.len();
        let lowered = self.pattern(pattern, ty, origin);
        if irrefutable(&lowered) {
            return lowered;
        }
        if self.solver.shallow(ty) != Ty::Error && self.shared.diags.len() == errors {
            self.report(say::refutable(
                pattern_span(pattern).unwrap_or_else(Span::call_site),
            ));
        }
        Pattern::Wild
    }

    /// Reports names in capitals among the patterns of a `match`: they would be variables that take
    /// every value.
    pub(super) fn no_capitals(&mut self, pattern: &tree::Pattern) {
        match pattern {
            tree::Pattern::Name { name, .. } => {
                let text = name.to_string();
                if text != "None" && text.starts_with(char::is_uppercase) {
                    self.report(say::capital_pattern(name.span(), &text));
                }
            }
            tree::Pattern::Tuple(parts, _) => parts.iter().for_each(|p| self.no_capitals(p)),
            tree::Pattern::Typed(inner, _) => self.no_capitals(inner),
            tree::Pattern::Variant { inner, .. } => {
                inner.iter().for_each(|p| self.no_capitals(p));
            }
            tree::Pattern::Struct { fields, .. } => {
                fields.iter().for_each(|(_, p)| self.no_capitals(p));
            }
            tree::Pattern::Wild(_) | tree::Pattern::Lit(..) => {}
        }
    }

    /// `Either::Left(p)`
    fn side_pattern(
        &mut self,
        right: bool,
        inner: &'a tree::Pattern,
        span: Span,
        ty: &Ty,
        origin: Origin,
    ) -> Pattern {
        if let Ty::Either(sides) = self.solver.shallow(ty) {
            let inner = self.pattern(inner, &sides[usize::from(right)], origin);
            return Pattern::Side(right, Ty::Either(sides), Box::new(inner));
        }
        let sets = [0, 1].map(|_| self.solver.fresh_set(SetKind::Free, span));
        let [left_set, right_set] = sets.clone();
        let of = Ty::Member(Set::Either(Box::new(left_set), Box::new(right_set)));
        self.expect(ty, &of, span, || {
            "the pattern is a member of an `Either`".into()
        });
        let member = self.solver.set(&sets[usize::from(right)]);
        let member = self.solver.member(&member);
        let inner = self.pattern(inner, &member, origin);
        Pattern::Side(right, of, Box::new(inner))
    }

    /// `Some(p)`
    fn some_pattern(
        &mut self,
        inner: &'a tree::Pattern,
        span: Span,
        ty: &Ty,
        origin: Origin,
    ) -> Pattern {
        let held = self.unknown(span);
        let of = self.option(&held, span, ty);
        let inner = self.pattern(inner, &held, origin);
        Pattern::Present(of, Some(Box::new(inner)))
    }

    /// The type of an `Option`, which a value must have.
    fn option(&mut self, held: &Ty, span: Span, ty: &Ty) -> Ty {
        let want = Ty::Option(Box::new(held.clone()));
        if !self.expect(ty, &want, span, || "the pattern is for an `Option`".into()) {
            let _ = self.solver.unify(held, &Ty::Error);
        }
        want
    }

    fn tuple_pattern(
        &mut self,
        parts: &'a [tree::Pattern],
        span: Span,
        ty: &Ty,
        origin: Origin,
    ) -> Pattern {
        let types: Vec<Ty> = match self.solver.shallow(ty) {
            Ty::Tuple(types) if types.len() == parts.len() => types,
            // A table of tuples is a tuple of tables.
            Ty::Table(groups, elem) => match self.solver.shallow(&elem) {
                Ty::Tuple(types) if types.len() == parts.len() => types
                    .into_iter()
                    .map(|t| Ty::table(groups.clone(), t))
                    .collect(),
                _ => {
                    let shown = self.show(ty);
                    self.report(say::tuple_pattern(span, parts.len(), &shown));
                    vec![Ty::Error; parts.len()]
                }
            },
            Ty::Error => vec![Ty::Error; parts.len()],
            Ty::Var(_) => {
                let types: Vec<Ty> = parts.iter().map(|_| self.unknown(span)).collect();
                self.expect(ty, &Ty::Tuple(types.clone()), span, || {
                    "the pattern is a tuple".into()
                });
                types
            }
            Ty::Member(set @ Set::Var(_)) => {
                let sets: Vec<Set> = parts
                    .iter()
                    .map(|p| {
                        self.solver
                            .fresh_set(SetKind::Free, pattern_span(p).unwrap_or(span))
                    })
                    .collect();
                let _ = self.solver.unify_sets(&set, &Set::Product(sets.clone()));
                sets.into_iter().map(Ty::Member).collect()
            }
            _ => {
                let shown = self.show(ty);
                self.report(say::tuple_pattern(span, parts.len(), &shown));
                vec![Ty::Error; parts.len()]
            }
        };
        let parts = parts
            .iter()
            .zip(&types)
            .map(|(p, t)| self.pattern(p, t, origin))
            .collect();
        Pattern::Tuple(parts)
    }

    fn struct_pattern(
        &mut self,
        path: &'a syn::Path,
        (fields, rest): (&'a [(proc_macro2::Ident, tree::Pattern)], bool),
        ty: &Ty,
        origin: Origin,
    ) -> Pattern {
        if self.is_variant(path) {
            return self.variant_fields_pattern(path, (fields, rest), ty, origin);
        }
        let written = self.path_type(path, &[], SetKind::Dyn);
        let named = match &written {
            Ty::Struct(id, _) | Ty::Member(Set::Record(id, _)) => Some(*id),
            Ty::Error => {
                for (_, pattern) in fields {
                    self.pattern(pattern, &Ty::Error, origin);
                }
                return Pattern::Wild;
            }
            _ => None,
        };
        let arity = match self.solver.shallow(ty) {
            Ty::Struct(id, parts) if named == Some(id) => parts.len(),
            Ty::Member(Set::Record(id, parts)) if named == Some(id) => parts.len(),
            _ => {
                let shown = self.show(ty);
                self.report(say::struct_pattern(
                    path_span(path),
                    &path_key(path),
                    &shown,
                ));
                for (_, pattern) in fields {
                    self.pattern(pattern, &Ty::Error, origin);
                }
                return Pattern::Wild;
            }
        };
        // The value says which sets a generic struct is over.
        self.expect(ty, &written, path_span(path), || {
            "the pattern is for that type".into()
        });
        let declared = match named.map(|id| &self.shared.linked.types[id].item.kind) {
            Some(TypeDefKind::Struct(declared) | TypeDefKind::ProductSet(declared)) => {
                declared.as_slice()
            }
            _ => &[],
        };
        let unnamed = declared
            .iter()
            .filter(|(field, _)| fields.iter().all(|(name, _)| name != field));
        let unnamed: Vec<String> = unnamed.map(|(field, _)| format!("`{field}`")).collect();
        let known = |(name, _): &(_, _)| declared.iter().any(|(field, _)| field == name);
        if !rest && !unnamed.is_empty() && fields.iter().all(known) {
            self.report(say::unnamed_fields(path_span(path), &unnamed.join(", ")));
        }
        let mut parts = vec![Pattern::Wild; arity];
        for (name, pattern) in fields {
            match self.part(ty, &syn::Member::Named(name.clone())) {
                Some((k, part)) => parts[k] = self.pattern(pattern, &part, origin),
                None => {
                    let shown = self.show(ty);
                    self.report(say::unknown_field(name.span(), &name.to_string(), &shown));
                    self.pattern(pattern, &Ty::Error, origin);
                }
            }
        }
        Pattern::Tuple(parts)
    }
}

/// Whether a path is `Either::Right`, or `Either::Left`, or neither.
pub(super) fn side(name: &str) -> Option<bool> {
    match name {
        "Either::Left" => Some(false),
        "Either::Right" => Some(true),
        _ => None,
    }
}
