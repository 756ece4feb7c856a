//! Patterns.

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;

use super::Parser;
use crate::diag::syntax as diag;
use crate::syntax::tree::Pattern;

impl Parser {
    pub(super) fn pattern(&mut self, pattern: &syn::Pat) -> Pattern {
        let span = pattern.span();
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
                path: path.path.clone(),
                inner: Vec::new(),
                span,
            },
            syn::Pat::TupleStruct(variant) if variant.qself.is_none() => Pattern::Variant {
                path: variant.path.clone(),
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
            syn::Pat::Or(alternatives) => alternatives
                .cases
                .iter()
                .map(|case| self.pattern(case))
                .collect(),
            syn::Pat::Paren(inner) => self.alternatives(&inner.pat),
            other => vec![self.pattern(other)],
        }
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
            match &field.member {
                syn::Member::Named(name) => fields.push((name.clone(), self.pattern(&field.pat))),
                syn::Member::Unnamed(index) => {
                    self.error(diag::unsupported(
                        index.span,
                        "a field by number in a pattern",
                        "write `Name(p, q)`",
                    ));
                }
            }
        }
        // The remaining fields are bound by nothing, so `..` needs no node.
        Pattern::Struct {
            path: pattern.path.clone(),
            fields,
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
