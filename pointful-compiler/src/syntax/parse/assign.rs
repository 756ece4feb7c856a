//! Assignment to several places at once: `(a, t[i]) = e` is `{ let (x, y) = e; a = x; t[i] = y; }`,
//! as in Rust.

use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;

use super::Parser;
use crate::syntax::tree::{Block, Expr, ExprKind, Pattern, Stmt};

impl Parser {
    pub(super) fn assign(&mut self, assign: &syn::ExprAssign, span: Span) -> ExprKind {
        if !matches!(*assign.left, syn::Expr::Tuple(_) | syn::Expr::Infer(_)) {
            return ExprKind::Assign {
                op: None,
                op_span: assign.eq_token.span,
                place: self.boxed(&assign.left),
                value: self.boxed(&assign.right),
            };
        }
        let value = self.expr(&assign.right);
        let mut stores = Vec::new();
        let pattern = self.places(&assign.left, assign.eq_token.span, &mut stores);
        let bind = Stmt::Let {
            pattern,
            ty: None,
            value,
            span,
        };
        ExprKind::Block(Block {
            stmts: std::iter::once(bind).chain(stores).collect(),
            value: None,
            span,
        })
    }

    /// The pattern that takes a value apart, and the stores of its parts.
    fn places(&mut self, target: &syn::Expr, op_span: Span, stores: &mut Vec<Stmt>) -> Pattern {
        let span = target.span();
        match target {
            syn::Expr::Infer(_) => Pattern::Wild(span),
            syn::Expr::Paren(inner) => self.places(&inner.expr, op_span, stores),
            syn::Expr::Tuple(tuple) => {
                let parts = tuple.elems.iter();
                let parts = parts.map(|part| self.places(part, op_span, stores));
                Pattern::Tuple(parts.collect(), span)
            }
            place => {
                // The name is out of the way of the user's, and is read by one store only.
                let name = Ident::new(&format!("__pointful_part_{}", stores.len()), span);
                let value = ExprKind::Path(name.clone().into());
                let kind = ExprKind::Assign {
                    op: None,
                    op_span,
                    place: self.boxed(place),
                    value: Box::new(Expr { kind: value, span }),
                };
                stores.push(Stmt::Expr {
                    expr: Expr { kind, span },
                    semicolon: true,
                });
                Pattern::Name {
                    name,
                    mutable: false,
                }
            }
        }
    }
}
