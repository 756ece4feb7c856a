//! Enums whose variants hold values: a struct of one field, the sum of tuples of what they hold.
//!
//! ```text
//! enum Shape { Circle(f64), Rect { w: f64, h: f64 }, Nothing }
//!
//! Shape                 a struct of one Either<(f64,), Either<(f64, f64), ()>>
//! Shape::Rect { w, h }  (Either::Right(Either::Left((w, h))),)
//! ```
//!
//! so whatever is done with structs and with values of one of two kinds is done with them.

use proc_macro2::{Ident, Span};

use super::signature::{last_name, path_span};
use super::{Expr, Infer, Kind};
use crate::diag::lowering as say;
use crate::lower::hir::{Arm, Block, Origin, Pattern, irrefutable};
use crate::lower::solve::SetKind;
use crate::lower::types::Ty;
use crate::syntax::tree::{self, Enum, TypeDefKind, VariantFields, path_key};

/// A variant that is named.
struct Named<'a> {
    /// The enum.
    id: usize,
    item: &'a Enum,
    /// The variant, if there is such a one.
    number: Option<usize>,
}

/// What values of a variant are.
struct Variant {
    /// The enum.
    ty: Ty,
    /// Which kind of two it is, and of which type, outermost first.
    kinds: Vec<(bool, Ty)>,
    /// What it holds.
    held: Vec<Ty>,
}

impl<'a> Infer<'_, 'a> {
    /// The enum and variant that a path names.
    fn named_variant(&self, path: &syn::Path) -> Option<Named<'a>> {
        let id = self.owner_of(path)?;
        let linked = self.shared.linked;
        let TypeDefKind::Enum(item) = &linked.types[id].item.kind else {
            return None;
        };
        let last = last_name(path);
        let number = item.variants.iter().position(|v| v.name == last);
        Some(Named { id, item, number })
    }

    /// Whether a path names a variant of an enum that holds values, or would if there were one.
    pub(super) fn is_variant(&self, path: &syn::Path) -> bool {
        self.named_variant(path).is_some()
    }

    /// The variant that a path names, and what it holds by name or number; reports that there is
    /// none.
    fn variant_at(&mut self, path: &syn::Path) -> Option<(Variant, &'a VariantFields)> {
        let Named { id, item, number } = self.named_variant(path)?;
        let Some(number) = number else {
            let owner = self.shared.linked.types[id].name.to_string();
            let names = item.variants.iter().map(|v| format!("`{}`", v.name));
            let names = names.collect::<Vec<_>>().join(", ");
            self.report(say::unknown_variant(
                path_span(path),
                &last_name(path),
                &owner,
                &names,
            ));
            return None;
        };
        let ty = self.type_defined(id, &[], path_span(path), SetKind::Dyn);
        let (kinds, held) = self.kinds_of(&ty, number, item.variants.len());
        Some((Variant { ty, kinds, held }, &item.variants[number].fields))
    }

    /// Where in the sum a variant is, of so many, and what it holds.
    fn kinds_of(&self, ty: &Ty, number: usize, count: usize) -> (Vec<(bool, Ty)>, Vec<Ty>) {
        let Ty::Struct(_, parts) = ty else {
            return (Vec::new(), Vec::new());
        };
        let mut kinds = Vec::new();
        let mut at = parts.first().cloned().unwrap_or(Ty::Error);
        for second in steps(number, count) {
            let Ty::Either(sides) = self.solver.shallow(&at) else {
                break;
            };
            let next = sides[usize::from(second)].clone();
            kinds.push((second, Ty::Either(sides)));
            at = next;
        }
        match self.solver.shallow(&at) {
            Ty::Tuple(held) => (kinds, held),
            _ => (kinds, Vec::new()),
        }
    }

    /// `Shape::Circle(r)`, `Shape::Nothing`
    pub(super) fn variant_value(
        &mut self,
        path: &syn::Path,
        args: &'a [tree::Expr],
        span: Span,
    ) -> Expr {
        let Some((variant, fields)) = self.variant_at(path) else {
            args.iter().for_each(|arg| drop(self.expr(arg, None)));
            return self.poison(span);
        };
        if *fields != VariantFields::Tuple(args.len()) {
            args.iter().for_each(|arg| drop(self.expr(arg, None)));
            return self.fail(say::variant_form(path_span(path), &form(path, fields)));
        }
        let mut parts = Vec::new();
        for (arg, want) in args.iter().zip(&variant.held) {
            let part = self.expr(arg, Some(want));
            self.expect(want, &part.ty, arg.span, || "the variant holds that".into());
            parts.push(part);
        }
        self.of_variant(variant, parts, span)
    }

    /// `Shape::Rect { w, h: 2.0 }`
    pub(super) fn variant_literal(
        &mut self,
        path: &syn::Path,
        fields: &'a [(Ident, tree::Expr)],
        base: Option<&'a tree::Expr>,
        span: Span,
    ) -> Expr {
        let found = self.variant_at(path);
        let Some((variant, VariantFields::Named(names))) = found.as_ref() else {
            fields.iter().for_each(|(_, x)| drop(self.expr(x, None)));
            return match found {
                Some((_, declared)) => {
                    self.fail(say::variant_form(path_span(path), &form(path, declared)))
                }
                None => self.poison(span),
            };
        };
        let known = |(name, _): &(Ident, _)| names.contains(name);
        let all = fields.len() == names.len() && fields.iter().all(known);
        if !all || base.is_some() {
            fields.iter().for_each(|(_, x)| drop(self.expr(x, None)));
            let form = form(path, &VariantFields::Named(names.clone()));
            return self.fail(say::variant_form(path_span(path), &form));
        }
        let mut given = Vec::new();
        for (name, value) in fields {
            let Some(k) = names.iter().position(|known| known == name) else {
                continue;
            };
            let want = &variant.held[k];
            let part = self.expr(value, Some(want));
            self.expect(want, &part.ty, value.span, || {
                format!("the field `{name}` is of that type")
            });
            given.push((k, part));
        }
        let (stmts, parts) = self.as_declared(given, span);
        let Some((variant, _)) = found else {
            return self.poison(span);
        };
        let ty = variant.ty.clone();
        let value = self.of_variant(variant, parts, span);
        let block = Block {
            stmts,
            value: Some(Box::new(value)),
        };
        self.made(Kind::Block(block), ty, span)
    }

    fn of_variant(&mut self, variant: Variant, parts: Vec<Expr>, span: Span) -> Expr {
        let mut value = self.made(Kind::Tuple(parts), Ty::Tuple(variant.held), span);
        for (second, ty) in variant.kinds.into_iter().rev() {
            value = self.made(Kind::OneOf(second, Box::new(value)), ty, span);
        }
        self.made(Kind::Tuple(vec![value]), variant.ty, span)
    }

    /// `Shape::Circle(p)`, `Shape::Nothing`
    pub(super) fn variant_pattern(
        &mut self,
        path: &syn::Path,
        inner: &'a [tree::Pattern],
        ty: &Ty,
        origin: Origin,
    ) -> Pattern {
        let found = self.pattern_variant(path, ty);
        let Some((variant, fields)) = found else {
            return self.nothing_bound(inner, origin);
        };
        if *fields != VariantFields::Tuple(inner.len()) {
            self.report(say::variant_form(path_span(path), &form(path, fields)));
            return self.nothing_bound(inner, origin);
        }
        let parts = inner.iter().zip(&variant.held);
        let parts = parts.map(|(p, ty)| self.pattern(p, ty, origin)).collect();
        fits_variant(variant, parts)
    }

    /// `Shape::Rect { w, .. }`
    pub(super) fn variant_fields_pattern(
        &mut self,
        path: &syn::Path,
        (fields, rest): (&'a [(Ident, tree::Pattern)], bool),
        ty: &Ty,
        origin: Origin,
    ) -> Pattern {
        let patterns = fields.iter().map(|(_, pattern)| pattern);
        let Some((variant, declared)) = self.pattern_variant(path, ty) else {
            return self.nothing_bound(patterns, origin);
        };
        let names = match declared {
            VariantFields::Named(names) => names.as_slice(),
            VariantFields::Tuple(_) => &[],
        };
        let known = |(name, _): &(Ident, _)| names.contains(name);
        let complete = rest || fields.len() == names.len();
        if names.is_empty() || !complete || !fields.iter().all(known) {
            self.report(say::variant_form(path_span(path), &form(path, declared)));
            return self.nothing_bound(patterns, origin);
        }
        let mut parts = vec![Pattern::Wild; names.len()];
        for (name, pattern) in fields {
            if let Some(k) = names.iter().position(|known| known == name) {
                parts[k] = self.pattern(pattern, &variant.held[k], origin);
            }
        }
        fits_variant(variant, parts)
    }

    /// The variant that a pattern for a value of this type names.
    fn pattern_variant(
        &mut self,
        path: &syn::Path,
        ty: &Ty,
    ) -> Option<(Variant, &'a VariantFields)> {
        let (variant, fields) = self.variant_at(path)?;
        let fits = self.expect(ty, &variant.ty, path_span(path), || {
            "the pattern is for that type".into()
        });
        fits.then_some((variant, fields))
    }

    /// Binds the names in patterns that take nothing apart.
    fn nothing_bound(
        &mut self,
        patterns: impl IntoIterator<Item = &'a tree::Pattern>,
        origin: Origin,
    ) -> Pattern {
        for pattern in patterns {
            self.pattern(pattern, &Ty::Error, origin);
        }
        Pattern::Wild
    }

    /// The variants of an enum of which some value is taken by no arm.
    pub(super) fn missing_variants(&self, ty: &Ty, arms: &[Arm]) -> Vec<String> {
        let Ty::Struct(id, _) = self.solver.shallow(ty) else {
            return Vec::new();
        };
        let linked = self.shared.linked;
        let TypeDefKind::Enum(item) = &linked.types[id].item.kind else {
            return Vec::new();
        };
        let patterns = arms.iter().filter(|arm| arm.guard.is_none());
        let patterns: Vec<&Pattern> = patterns.flat_map(|arm| &arm.patterns).collect();
        let count = item.variants.len();
        let ty = self.solver.ty(ty);
        let is_missing = |number: &usize| {
            let (_, held) = self.kinds_of(&ty, *number, count);
            let steps = steps(*number, count);
            let those = patterns.iter().copied();
            let those: Vec<&Pattern> = those.filter_map(|p| within(p, &steps)).collect();
            !self.all_taken(&those, &Ty::Tuple(held))
        };
        let missing = (0..count).filter(is_missing);
        let name = &linked.types[id].name;
        missing
            .map(|number| format!("`{name}::{}`", item.variants[number].name))
            .collect()
    }
}

/// Which of two kinds a variant is in each sum on the way to it.
fn steps(number: usize, count: usize) -> Vec<bool> {
    let mut steps = vec![true; number];
    if number + 1 < count {
        steps.push(false);
    }
    steps
}

/// What a pattern for an enum says of what a variant holds, if it takes any of that.
fn within<'p>(pattern: &'p Pattern, steps: &[bool]) -> Option<&'p Pattern> {
    let mut at = match pattern {
        Pattern::Tuple(parts) => parts.first()?,
        other => other,
    };
    for step in steps {
        match at {
            Pattern::Side(second, _, inner) if second == step => at = inner,
            Pattern::Side(..) => return None,
            other => return irrefutable(other).then_some(&Pattern::Wild),
        }
    }
    Some(at)
}

fn fits_variant(variant: Variant, parts: Vec<Pattern>) -> Pattern {
    let mut pattern = Pattern::Tuple(parts);
    for (second, ty) in variant.kinds.into_iter().rev() {
        pattern = Pattern::Side(second, ty, Box::new(pattern));
    }
    Pattern::Tuple(vec![pattern])
}

/// How a variant is written.
fn form(path: &syn::Path, fields: &VariantFields) -> String {
    let path = path_key(path);
    match fields {
        VariantFields::Tuple(0) => path,
        VariantFields::Tuple(count) => format!("{path}({})", vec!["_"; *count].join(", ")),
        VariantFields::Named(names) => {
            let names: Vec<_> = names.iter().map(ToString::to_string).collect();
            format!("{path} {{ {} }}", names.join(", "))
        }
    }
}
