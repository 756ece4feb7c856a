//! `assert!`: a condition, a format string, and what it shows.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Token, punctuated::Punctuated};

use super::Parser;
use crate::diag::syntax as diag;
use crate::ir::{Message, Shown};
use crate::syntax::tree::{Expr, ExprKind};

impl Parser {
    pub(super) fn assert(&mut self, call: &syn::Macro) -> ExprKind {
        let args = match call.parse_body::<Args>() {
            Ok(args) => args,
            Err(error) => {
                self.error(error.into());
                return ExprKind::Infer;
            }
        };
        let cond = self.boxed(&args.cond);
        let (message, shown) = match args.rest.first() {
            None => (Message::plain(failed(&args.cond)), Vec::new()),
            Some(first) => match format_string(first) {
                Some((message, shown)) => {
                    let span = first.span();
                    let rest = args.rest.iter().skip(1);
                    (message, self.shown(&shown, rest, span))
                }
                None => {
                    self.error(diag::assert_message(first.span()));
                    (Message::default(), Vec::new())
                }
            },
        };
        ExprKind::Assert {
            cond,
            message,
            shown,
        }
    }

    /// What the placeholders of a message name, in their order.
    pub(super) fn shown<'e>(
        &mut self,
        shown: &[Shown],
        args: impl Iterator<Item = &'e syn::Expr>,
        span: Span,
    ) -> Vec<Expr> {
        let args: Vec<Arg> = args.map(|arg| self.argument(arg)).collect();
        let mut used = vec![false; args.len()];
        let mut next = 0;
        let mut found = Vec::new();
        for placeholder in shown {
            let (at, text) = match placeholder {
                Shown::Next => {
                    next += 1;
                    (Some(next - 1), String::new())
                }
                Shown::At(at) => (Some(*at), at.to_string()),
                Shown::Named(name) => {
                    let at = args.iter().position(|arg| arg.name == Some(name.clone()));
                    (at, name.clone())
                }
            };
            match (at.and_then(|at| Some((at, args.get(at)?))), placeholder) {
                (Some((at, arg)), _) => {
                    used[at] = true;
                    found.push(arg.value.clone());
                }
                // A variable or a constant, named in the text itself.
                (None, Shown::Named(name)) if syn::parse_str::<Ident>(name).is_ok() => {
                    let path = Ident::new(name, span).into();
                    found.push(Expr {
                        kind: ExprKind::Path(path),
                        span,
                    });
                }
                (None, _) => self.error(diag::assert_placeholder(span, &text)),
            }
        }
        for (arg, _) in args.iter().zip(&used).filter(|(_, used)| !**used) {
            self.error(diag::assert_argument(arg.value.span));
        }
        found
    }

    /// `x`, `name = x`
    fn argument(&mut self, arg: &syn::Expr) -> Arg {
        let named = match arg {
            syn::Expr::Assign(assign) => match &*assign.left {
                syn::Expr::Path(path) => path.path.get_ident().map(|name| (name, &*assign.right)),
                _ => None,
            },
            _ => None,
        };
        let (name, value) = match named {
            Some((name, value)) => (Some(name.to_string()), value),
            None => (None, arg),
        };
        Arg {
            name,
            value: self.expr(value),
        }
    }
}

/// What stands behind the message.
struct Arg {
    name: Option<String>,
    value: Expr,
}

/// What Rust's own `assert!` says without a message.
fn failed(cond: &syn::Expr) -> String {
    format!("assertion failed: {}", cond.to_token_stream())
}

/// A literal that is a format string, and what its placeholders name.
pub(super) fn format_string(expr: &syn::Expr) -> Option<(Message, Vec<Shown>)> {
    match expr {
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) => Message::parse(&text.value()),
        _ => None,
    }
}

/// `condition`, `condition, "message"`, `condition, "message {}", x`
struct Args {
    cond: syn::Expr,
    rest: Punctuated<syn::Expr, Token![,]>,
}

impl Parse for Args {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let cond = input.parse()?;
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        Ok(Self {
            cond,
            rest: Punctuated::parse_terminated(input)?,
        })
    }
}
