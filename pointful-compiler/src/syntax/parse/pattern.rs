//! Patterns.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::spanned::Spanned;

use super::Parser;
use super::attributes::value_arguments;
use crate::diag::syntax as diag;
use crate::syntax::start;
use crate::syntax::tree::Pattern;

impl Parser {
    pub(super) fn pattern(&mut self, pattern: &syn::Pat) -> Pattern {
        let span = start::of_pattern(pattern);
        match pattern {
            syn::Pat::Ident(ident) => {
                if let Some(by_ref) = &ident.by_ref {
                    self.error(diag::unsupported(
                        by_ref.span,
                        "`ref`",
                        "bind the value itself",
                    ));
                }
                if let Some((at, _)) = &ident.subpat {
                    self.error(diag::unsupported(
                        at.span,
                        "`@` in a pattern",
                        "bind the value, then take it apart",
                    ));
                }
                if let Some(token) = ident.mutability.filter(|_| ident.ident == "None") {
                    self.error(diag::unsupported(
                        token.span,
                        "`mut None`",
                        "leave `mut` out: `None` is no variable",
                    ));
                }
                Pattern::Name {
                    name: ident.ident.clone(),
                    mutable: ident.mutability.is_some(),
                }
            }
            syn::Pat::Wild(_) => Pattern::Wild(span),
            syn::Pat::Tuple(tuple) => Pattern::Tuple(self.patterns(&tuple.elems), span),
            syn::Pat::Paren(inner) => self.pattern(&inner.pat),
            syn::Pat::Type(typed) => {
                let inner = self.pattern(&typed.pat);
                Pattern::Typed(Box::new(inner), self.ty(&typed.ty))
            }
            syn::Pat::Path(path) if path.qself.is_none() => Pattern::Variant {
                path: self.pattern_path(&path.path),
                inner: Vec::new(),
                span,
            },
            syn::Pat::TupleStruct(variant) if variant.elems.is_empty() => self.bad_pattern(
                span,
                "a pattern with empty parentheses",
                "leave the parentheses out: a member without parts has none",
            ),
            syn::Pat::TupleStruct(variant) if variant.qself.is_none() => Pattern::Variant {
                path: self.pattern_path(&variant.path),
                inner: self.patterns(&variant.elems),
                span,
            },
            syn::Pat::Struct(pattern) if pattern.qself.is_none() => {
                self.struct_pattern(pattern, span)
            }
            syn::Pat::Lit(lit) => {
                let (lit, negative) = magnitude(&lit.lit);
                Pattern::Lit(self.literal(&lit), negative)
            }
            syn::Pat::Reference(_) => self.bad_pattern(
                span,
                "a reference pattern",
                "leave `&` out: scalars are copied and tables are shared",
            ),
            syn::Pat::Range(_) => {
                self.bad_pattern(span, "a range pattern", "write `if a <= x && x <= b`")
            }
            syn::Pat::Rest(_) => self.bad_pattern(
                span,
                "`..` in a pattern",
                "name every part, or write `_` for it",
            ),
            syn::Pat::Slice(_) => {
                self.bad_pattern(span, "a slice pattern", "index the table: `t[0]`")
            }
            syn::Pat::Or(_) => self.bad_pattern(
                span,
                "`|` inside a pattern",
                "write it between the patterns of a `match` arm",
            ),
            _ => {
                self.error(diag::unknown_construct(span, "pattern"));
                Pattern::Wild(span)
            }
        }
    }

    /// The alternatives of a `match` arm.
    pub(super) fn alternatives(&mut self, pattern: &syn::Pat) -> Vec<Pattern> {
        match pattern {
            syn::Pat::Or(alternatives) => {
                let cases = alternatives.cases.iter();
                let cases: Vec<Pattern> = cases.map(|case| self.alternative(case)).collect();
                self.alike(&cases);
                cases
            }
            syn::Pat::Paren(inner) => self.alternatives(&inner.pat),
            other => vec![self.alternative(other)],
        }
    }

    fn alternative(&mut self, pattern: &syn::Pat) -> Pattern {
        let pattern = self.pattern(pattern);
        self.bound_once([&pattern]);
        pattern
    }

    /// All alternatives bind the same names.
    fn alike(&mut self, cases: &[Pattern]) {
        let names = |case: &'_ Pattern| {
            let mut names = Vec::new();
            case.names(&mut names);
            names.into_iter().cloned().collect::<Vec<_>>()
        };
        let all: Vec<_> = cases.iter().map(names).collect();
        let in_some = |name: &&Ident| all.iter().any(|names| !names.contains(name));
        if let Some(name) = all.iter().flatten().find(in_some) {
            self.error(diag::bound_in_some(name.span(), &name.to_string()));
        }
    }

    /// Patterns that are matched together bind a name once.
    pub(super) fn bound_once<'p>(&mut self, patterns: impl IntoIterator<Item = &'p Pattern>) {
        let mut names = Vec::new();
        patterns
            .into_iter()
            .for_each(|pattern| pattern.names(&mut names));
        for (at, name) in names.iter().enumerate() {
            if names[..at].contains(name) {
                self.error(diag::bound_twice(name.span(), &name.to_string()));
            }
        }
    }

    /// The path to a struct or a member; the value that is matched says what it is generic in.
    fn pattern_path(&mut self, path: &syn::Path) -> syn::Path {
        value_arguments(path)
            .into_iter()
            .for_each(|error| self.error(error));
        path.clone()
    }

    fn patterns<'a>(&mut self, patterns: impl IntoIterator<Item = &'a syn::Pat>) -> Vec<Pattern> {
        patterns
            .into_iter()
            .map(|pattern| self.pattern(pattern))
            .collect()
    }

    fn struct_pattern(&mut self, pattern: &syn::PatStruct, span: Span) -> Pattern {
        let mut fields = Vec::new();
        for field in &pattern.fields {
            self.no_attributes(&field.attrs, "a field");
            match &field.member {
                syn::Member::Named(name) => {
                    if self.given_once(&fields, name) {
                        fields.push((name.clone(), self.pattern(&field.pat)));
                    }
                }
                syn::Member::Unnamed(index) => {
                    self.error(diag::unsupported(
                        index.span,
                        "a field by number in a pattern",
                        "write `Name(p, q)`",
                    ));
                }
            }
        }
        if let Some(rest) = &pattern.rest {
            self.no_attributes(&rest.attrs, "`..`");
        }
        Pattern::Struct {
            path: self.pattern_path(&pattern.path),
            fields,
            rest: pattern.rest.is_some(),
            span,
        }
    }

    fn bad_pattern(&mut self, span: Span, what: &str, instead: &str) -> Pattern {
        self.error(diag::unsupported(span, what, instead));
        Pattern::Wild(span)
    }
}

/// A literal without its sign, which is part of the token in a pattern, and whether it had one.
fn magnitude(lit: &syn::Lit) -> (syn::Lit, bool) {
    let text = lit.to_token_stream().to_string();
    let without = |text: &str| match lit {
        syn::Lit::Int(int) => Some(syn::LitInt::new(text, int.span()).into()),
        syn::Lit::Float(float) => Some(syn::LitFloat::new(text, float.span()).into()),
        _ => None,
    };
    match text.strip_prefix('-').and_then(|rest| without(rest.trim())) {
        Some(magnitude) => (magnitude, true),
        None => (lit.clone(), false),
    }
}
