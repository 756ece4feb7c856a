//! `println!` and `dbg!`.
//!
//! A function that prints has a variable of its own that each print assigns: so what is printed
//! has an order, as what is assigned has.

use proc_macro2::Span;

use super::Infer;
use crate::diag::lowering as say;
use crate::ir::{Message, Scalar};
use crate::lower::hir::{Expr, Kind, Local, LocalId, Origin, Print};
use crate::lower::types::Ty;
use crate::syntax::tree::{self, Output};

impl<'a> Infer<'_, 'a> {
    /// `println!("… {}", x)`
    pub(super) fn print(
        &mut self,
        output: Output,
        message: &Message,
        shown: &'a [tree::Expr],
        span: Span,
    ) -> Expr {
        if !self.closures.is_empty() {
            return self.fail(say::closure_prints(span));
        }
        let print = Print {
            printed: self.printed(span),
            output,
            message: message.clone(),
            shown: shown.iter().map(|value| self.expr(value, None)).collect(),
        };
        self.made(Kind::Print(Box::new(print)), Ty::UNIT, span)
    }

    /// `dbg!(x)`
    pub(super) fn debug(
        &mut self,
        text: &str,
        value: &'a tree::Expr,
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        if !self.closures.is_empty() {
            return self.fail(say::closure_prints(span));
        }
        let printed = self.printed(span);
        let value = self.expr(value, want);
        let ty = value.ty.clone();
        let kind = Kind::Debug(printed, text.to_owned(), Box::new(value));
        self.made(kind, ty, span)
    }

    /// The variable that a call of a function changes if that prints. Calls in closures print
    /// nothing: when a closure is called, and in which order, nothing says.
    pub(super) fn printed_by(&mut self, position: usize, span: Span) -> Option<LocalId> {
        let prints = self.shared.done[position].printed.is_some();
        (prints && self.closures.is_empty()).then(|| self.printed(span))
    }

    /// The function's variable for what it prints.
    fn printed(&mut self, span: Span) -> LocalId {
        let new = LocalId(self.locals.len() as u32);
        let printed = *self.printed.get_or_insert(new);
        if printed == new {
            self.locals.push(Local {
                name: "what is printed".to_owned(),
                ty: Ty::Scalar(Scalar::Usize),
                mutable: true,
                origin: Origin::Let,
                reference: false,
                params: Vec::new(),
                span,
            });
        }
        printed
    }
}
