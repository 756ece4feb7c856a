//! `println!` and its kin, and `dbg!`: what they show, as the message of an `assert!` shows it.

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Token, punctuated::Punctuated};

use super::Parser;
use super::assert::format_string;
use crate::diag::syntax as diag;
use crate::ir::{Message, Piece};
use crate::syntax::tree::{Expr, ExprKind, Output};

/// Expressions with commas between them.
type List = Punctuated<syn::Expr, Token![,]>;

impl Parser {
    /// `println!("{x}")`, `eprint!("…")`
    pub(super) fn print(&mut self, call: &syn::Macro, name: &str) -> ExprKind {
        let args = match call.parse_body_with(List::parse_terminated) {
            Ok(args) => args,
            Err(error) => {
                self.error(error.into());
                return ExprKind::Infer;
            }
        };
        let (mut message, shown) = match args.first().map(|first| (first, format_string(first))) {
            None => (Message::default(), Vec::new()),
            Some((first, Some((message, shown)))) => {
                let shown = self.shown(&shown, args.iter().skip(1), first.span());
                (message, shown)
            }
            Some((first, None)) => {
                self.error(diag::print_format(first.span(), name));
                (Message::default(), Vec::new())
            }
        };
        if name.ends_with("ln") {
            message.pieces.push(Piece::Text("\n".to_owned()));
        }
        let output = match name.starts_with('e') {
            true => Output::Error,
            false => Output::Standard,
        };
        ExprKind::Print {
            output,
            message,
            shown,
        }
    }

    /// `dbg!(x)` is `x`, `dbg!(x, y)` a tuple.
    pub(super) fn debug(&mut self, call: &syn::Macro, span: Span) -> ExprKind {
        let args = match call.parse_body_with(List::parse_terminated) {
            Ok(args) => args,
            Err(error) => {
                self.error(error.into());
                return ExprKind::Infer;
            }
        };
        let place = place(span);
        let mut values = args.iter().map(|arg| ExprKind::Debug {
            text: format!("{place} {} = ", as_written(arg)),
            value: self.boxed(arg),
        });
        match args.len() {
            0 => ExprKind::Print {
                output: Output::Error,
                message: Message::plain(format!("{place}\n")),
                shown: Vec::new(),
            },
            1 => values.next().unwrap_or(ExprKind::Infer),
            _ => ExprKind::Tuple(values.map(|kind| Expr { kind, span }).collect()),
        }
    }
}

/// `[src/lib.rs:3:5]`
fn place(span: Span) -> String {
    let start = span.start();
    format!("[{}:{}:{}]", span.file(), start.line, start.column + 1)
}

/// An expression with spaces where they usually stand.
fn as_written(arg: &syn::Expr) -> String {
    let tokens: Vec<char> = arg.to_token_stream().to_string().chars().collect();
    let mut text = String::new();
    for (k, &c) in tokens.iter().enumerate() {
        let (before, after) = (text.chars().last(), tokens.get(k + 1));
        let ends = |c: char| c.is_alphanumeric() || matches!(c, '_' | ')' | ']' | '!');
        let applies = matches!(after, Some('(' | '[')) && before.is_some_and(ends);
        let clings = matches!(after, Some('.' | ',' | '?' | ';' | ')' | ']'))
            || matches!(before, Some('.' | '(' | '['));
        if c != ' ' || !(applies || clings) {
            text.push(c);
        }
    }
    text
}
