//! What a `for` runs over.

use syn::spanned::Spanned;

use super::Parser;
use super::attributes::attributes_of;
use crate::diag::syntax as diag;
use crate::syntax::start;
use crate::syntax::tree::{Iter, Set, SetKind};

/// `it.rev()`
const REV: &str = "rev";

/// `it.skip(n)`
const SKIP: &str = "skip";

/// `t.rows()`
const ROWS: &str = "rows";

/// What there is between a set, range or table and the loop over it.
pub const ADAPTORS: [&str; 3] = [REV, SKIP, ROWS];

impl Parser {
    pub(super) fn iter(&mut self, expr: &syn::Expr) -> Iter {
        self.no_attributes(attributes_of(expr), "an expression");
        match expr {
            syn::Expr::Range(range) => Iter::Range {
                start: range.start.as_ref().map(|start| Box::new(self.expr(start))),
                end: range.end.as_ref().map(|end| Box::new(self.expr(end))),
                inclusive: matches!(range.limits, syn::RangeLimits::Closed(_)),
                span: start::of_range(range),
            },
            syn::Expr::Paren(inner) => self.iter(&inner.expr),
            syn::Expr::Group(inner) => self.iter(&inner.expr),
            syn::Expr::MethodCall(call) => self.adaptor(call),
            syn::Expr::Field(_) | syn::Expr::Index(_) => Iter::Rows(Box::new(self.expr(expr))),
            other => Iter::Set(self.set_kind(other)),
        }
    }

    /// `it.rev()`, `it.skip(n)`
    fn adaptor(&mut self, call: &syn::ExprMethodCall) -> Iter {
        self.no_turbofish(call);
        let name = call.method.to_string();
        let args: Vec<_> = call.args.iter().collect();
        match (name.as_str(), args.as_slice()) {
            (REV, []) => Iter::Rev(Box::new(self.iter(&call.receiver)), call.span()),
            (SKIP, [count]) => {
                let inner = self.iter(&call.receiver);
                Iter::Skip(Box::new(inner), Box::new(self.expr(count)), call.span())
            }
            (ROWS, []) => Iter::Rows(Box::new(self.expr(&call.receiver))),
            (REV, _) => self.no_iter(diag::adaptor_arguments(call.span(), ".rev()"), call),
            (ROWS, _) => self.no_iter(diag::adaptor_arguments(call.span(), ".rows()"), call),
            (SKIP, _) => self.no_iter(diag::adaptor_arguments(call.span(), ".skip(n)"), call),
            ("iter" | "iter_mut" | "into_iter", _) => {
                self.no_iter(diag::iterates_table(call.span()), call)
            }
            ("indices" | "extent", _) => self.no_iter(diag::not_iterable(call.span()), call),
            (name, _) => self.no_iter(diag::unknown_adaptor(call.method.span(), name), call),
        }
    }

    fn no_iter(&mut self, diagnostic: crate::diag::Diagnostic, call: &syn::ExprMethodCall) -> Iter {
        self.error(diagnostic);
        Iter::Set(Set {
            kind: SetKind::Infer,
            span: call.span(),
        })
    }

    /// An index set where an expression stands.
    fn set_expr(&mut self, expr: &syn::Expr) -> Set {
        self.no_attributes(attributes_of(expr), "an expression");
        self.set_kind(expr)
    }

    fn set_kind(&mut self, expr: &syn::Expr) -> Set {
        let span = start::of_expr(expr);
        let kind = match expr {
            syn::Expr::Infer(_) => SetKind::Infer,
            syn::Expr::Path(path) if path.qself.is_none() => self.set_path(&path.path),
            syn::Expr::Tuple(tuple) if tuple.elems.is_empty() => SetKind::Unit,
            syn::Expr::Tuple(tuple) => {
                SetKind::Product(tuple.elems.iter().map(|elem| self.set_expr(elem)).collect())
            }
            syn::Expr::Paren(inner) => return self.set_expr(&inner.expr),
            syn::Expr::Group(inner) => return self.set_expr(&inner.expr),
            syn::Expr::Range(_) => {
                self.error(diag::range_in_product(expr.span()));
                SetKind::Infer
            }
            syn::Expr::Reference(_) => {
                self.error(diag::iterates_table(expr.span()));
                SetKind::Infer
            }
            // `Fin<3>` without the turbofish is two comparisons.
            syn::Expr::Binary(binary) if is_word(&binary.left) => {
                self.error(diag::not_iterable(expr.span()).help(
                    "a set with arguments is written with `::` here: `Fin::<3>`, `Either::<A, B>`",
                ));
                SetKind::Infer
            }
            _ => {
                self.error(diag::not_iterable(expr.span()));
                SetKind::Infer
            }
        };
        Set { kind, span }
    }
}

/// Whether an expression begins as `Fin<…` does.
fn is_word(expr: &syn::Expr) -> bool {
    match expr {
        syn::Expr::Path(path) => path.path.is_ident("Fin") || path.path.is_ident("Either"),
        syn::Expr::Binary(binary) => is_word(&binary.left),
        _ => false,
    }
}
