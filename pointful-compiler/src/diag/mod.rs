//! Diagnostics: what a user is told, and where.
//!
//! Every message stands in the catalogue, one function each: [`syntax`] for parsing and gathering,
//! [`lowering`] for names, types and index sets, [`derive`](mod@derive) for the derives. Messages
//! are lower case without a final dot; `help` says what to write instead.

pub mod derive;
pub mod lowering;
pub mod syntax;
pub mod transform;

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

use crate::syntax::tree::{Expr, ExprKind, LitKind, UnaryOp};

/// How a body makes a table.
const TABLE_MADE: &str = "a table is made by a loop, `for i in N { … }` or `for k in 0..n { … }`, or as `[x; 3]` or `[a, b, c]`";

/// One error: a place in the user's source, what is wrong, and what to do about it.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The user's token.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What to write instead, or where the expectation came from.
    pub help: Vec<String>,
    /// Whether it holds only while nobody knows the functions that a function takes: where another
    /// one calls it with them, nothing is wrong.
    pub alone: bool,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            help: Vec::new(),
            alone: false,
        }
    }

    /// Says that it does not hold where another function calls the function.
    pub fn alone(mut self) -> Self {
        self.alone = true;
        self
    }

    /// Adds a line that helps.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// The `compile_error!` that shows it.
    pub fn to_tokens(&self) -> TokenStream {
        let mut text = self.message.clone();
        for line in &self.help {
            text.push_str("\n  = help: ");
            text.push_str(line);
        }
        quote_spanned! {self.span=> ::core::compile_error! { #text }}
    }
}

/// What to write for a power with this exponent.
pub fn written_power(exponent: &Expr) -> String {
    match &exponent.kind {
        ExprKind::Paren(inner) => written_power(inner),
        ExprKind::Lit(lit) => match lit.kind {
            LitKind::Int { value, .. } => whole_power(value),
            LitKind::Float { value, .. } if value.fract() == 0.0 => whole_power(value as u128),
            LitKind::Float { value, .. } => format!("a power is written `.powf({value})`"),
            LitKind::Bool(_) => whole_power(2),
        },
        ExprKind::Unary(UnaryOp::Neg, _) => "a power is written `.powi(-1)` or `.powf(-0.5)`".into(),
        _ => "a power is written `.powf(p)`, with a whole exponent `.powi(n)`, and of an integer `.pow(n)`".into(),
    }
}

fn whole_power(exponent: u128) -> String {
    format!("a power is written `.powi({exponent})`, and of an integer `.pow({exponent})`")
}

impl From<syn::Error> for Diagnostic {
    fn from(error: syn::Error) -> Self {
        Self::new(error.span(), error.to_string())
    }
}

/// The errors of a phase, in source order of discovery. A phase goes on after an error as far as it
/// can; the next one begins only if there was none.
#[derive(Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Records an error.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// Takes back all but the first so many.
    pub fn forget(&mut self, kept: usize) {
        self.list.truncate(kept);
    }

    /// How many were recorded.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The gate at the end of a phase.
    pub fn gate<T>(self, value: T) -> Result<T, Vec<Diagnostic>> {
        if self.list.is_empty() {
            Ok(value)
        } else {
            Err(self.list)
        }
    }

    /// What was recorded.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.list
    }
}
