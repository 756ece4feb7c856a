//! Blocks and statements.

use syn::spanned::Spanned;

use super::Parser;
use crate::diag::syntax as diag;
use crate::syntax::tree::{Block, Expr, Stmt};

impl Parser {
    pub(super) fn block(&mut self, block: &syn::Block) -> Block {
        let mut stmts = Vec::new();
        let mut value = None;
        let last = block.stmts.len().saturating_sub(1);
        for (at, stmt) in block.stmts.iter().enumerate() {
            match stmt {
                syn::Stmt::Local(local) => stmts.extend(self.local(local)),
                syn::Stmt::Item(item) => self.item(item),
                // A semicolon alone.
                syn::Stmt::Expr(syn::Expr::Verbatim(nothing), Some(_)) if nothing.is_empty() => {}
                syn::Stmt::Expr(expr, semicolon) => {
                    let expr = self.expr(expr);
                    value = self.statement(&mut stmts, expr, semicolon.is_some(), at == last);
                }
                syn::Stmt::Macro(call) => {
                    self.no_attributes(&call.attrs, "a macro");
                    let expr = self.macro_call(&call.mac);
                    value = self.statement(&mut stmts, expr, call.semi_token.is_some(), at == last);
                }
            }
        }
        Block {
            stmts,
            value: value.map(Box::new),
            span: block.brace_token.span.join(),
        }
    }

    /// An expression in statement position: the block's value if it is the last without a
    /// semicolon.
    fn statement(
        &mut self,
        stmts: &mut Vec<Stmt>,
        expr: Expr,
        semicolon: bool,
        last: bool,
    ) -> Option<Expr> {
        if last && !semicolon {
            return Some(expr);
        }
        stmts.push(Stmt::Expr { expr, semicolon });
        None
    }

    fn local(&mut self, local: &syn::Local) -> Option<Stmt> {
        self.no_attributes(&local.attrs, "a `let`");
        let (pattern, ty) = match &local.pat {
            syn::Pat::Type(typed) => (self.pattern(&typed.pat), Some(self.ty(&typed.ty))),
            pattern => (self.pattern(pattern), None),
        };
        self.bound_once([&pattern]);
        let Some(init) = &local.init else {
            self.error(diag::uninitialised(local.span()));
            return None;
        };
        if let Some((token, _)) = &init.diverge {
            self.error(diag::unsupported(
                token.span,
                "`let … else`",
                "write a `match`",
            ));
        }
        Some(Stmt::Let {
            pattern,
            ty,
            value: self.expr(&init.expr),
            span: local.let_token.span,
        })
    }

    /// Items have no place in a body; the diagnostic names the kind.
    fn item(&mut self, item: &syn::Item) {
        let (what, instead) = match item {
            syn::Item::Fn(_) => (
                "a function inside a function",
                "write it outside with `#[pointful]`, or a closure: `let f = |x| …;`",
            ),
            syn::Item::Const(_) => (
                "a `const` inside a function",
                "write it outside, or use `let`",
            ),
            syn::Item::Static(_) => ("a `static`", "write a `const` outside"),
            syn::Item::Use(_) => ("a `use` inside a function", "write it outside"),
            syn::Item::Macro(_) => ("a macro definition", "write a closure: `let f = |x| …;`"),
            _ => ("an item inside a function", "write it outside"),
        };
        self.error(diag::unsupported(item.span(), what, instead));
    }
}
