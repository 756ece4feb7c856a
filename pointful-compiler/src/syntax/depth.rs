//! How deeply code is nested, found out before anything that recurses looks at it.
//!
//! The parser, every walk over its trees and even dropping them go one call deeper for each level.
//! A stack that overflows takes the compiler with it and says nothing, so what no person writes is
//! an error: [`check_tokens`] bounds what the parser descends into, [`check_function`] the tree
//! that it gives, of which `a + a + …` is as deep as it is long.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::Token;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::diag::{Diagnostic, syntax as diag};

/// Delimiters inside each other.
const GROUPS: usize = 128;

/// Operators or words in a row, such as `!!x` or `&&T`.
const IN_A_ROW: usize = 64;

/// Tokens before the next `;` or `,` of which each may open a level without a delimiter: `A<B<…`,
/// `else if …`, `|x| |y| …`.
const OPENING: usize = 512;

/// Tokens before the next `;` or `,`, of which a chain of operators is made.
const IN_A_CHAIN: usize = 8192;

/// Expressions, types or patterns inside each other.
const LEVELS: usize = 256;

/// What lies between two separators.
#[derive(Default)]
struct Segment {
    tokens: usize,
    opening: usize,
    operators: usize,
    words: usize,
}

impl Segment {
    /// Whether there is too much of something with this token.
    fn takes(&mut self, token: &TokenTree) -> bool {
        match token {
            TokenTree::Punct(p) if matches!(p.as_char(), ';' | ',') => {
                *self = Self::default();
                return true;
            }
            TokenTree::Punct(p) => {
                self.operators += 1;
                self.words = 0;
                let opens = matches!(p.as_char(), '<' | '>' | '|' | '=' | '@' | '\'');
                self.opening += usize::from(opens);
            }
            TokenTree::Ident(word) => {
                self.operators = 0;
                self.words += 1;
                let opens = ["else", "const", "mut", "return", "break", "move"]
                    .iter()
                    .any(|w| word == w);
                self.opening += usize::from(opens);
            }
            TokenTree::Literal(_) | TokenTree::Group(_) => {
                self.operators = 0;
                self.words = 0;
            }
        }
        self.tokens += 1;
        self.tokens <= IN_A_CHAIN
            && self.opening <= OPENING
            && self.operators <= IN_A_ROW
            && self.words <= IN_A_ROW
    }
}

/// An error if a parser would have to descend too far.
///
/// # Errors
///
/// Where it becomes too much.
pub fn check_tokens(tokens: &TokenStream) -> Result<(), Diagnostic> {
    let mut open = vec![(tokens.clone().into_iter(), Segment::default())];
    while let Some((rest, segment)) = open.last_mut() {
        let Some(token) = rest.next() else {
            open.pop();
            continue;
        };
        if !segment.takes(&token) {
            return Err(diag::too_deep(token.span()));
        }
        if let TokenTree::Group(group) = token {
            if open.len() > GROUPS {
                return Err(diag::too_deep(group.span()));
            }
            open.push((group.stream().into_iter(), Segment::default()));
        }
    }
    Ok(())
}

/// An error if walks over the function's tree would have to descend too far.
///
/// # Errors
///
/// The first expression, type or pattern that is too deep inside others.
pub fn check_function(function: &syn::ItemFn) -> Result<(), Diagnostic> {
    let mut walk = Walk {
        level: 0,
        found: None,
    };
    walk.visit_item_fn(function);
    walk.found.map_or(Ok(()), |span| Err(diag::too_deep(span)))
}

/// Descends no further than is allowed.
struct Walk {
    level: usize,
    found: Option<Span>,
}

impl Walk {
    fn below(&mut self, span: impl FnOnce() -> Span, descend: impl FnOnce(&mut Self)) {
        if self.found.is_some() {
            return;
        }
        if self.level == LEVELS {
            self.found = Some(span());
            return;
        }
        self.level += 1;
        descend(self);
        self.level -= 1;
    }
}

impl<'ast> Visit<'ast> for Walk {
    fn visit_expr(&mut self, expr: &'ast syn::Expr) {
        self.below(|| own_span(expr), |walk| visit::visit_expr(walk, expr));
    }

    fn visit_type(&mut self, ty: &'ast syn::Type) {
        self.below(|| ty.span(), |walk| visit::visit_type(walk, ty));
    }

    /// What the language's macros are given is expressions.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let args = Punctuated::<syn::Expr, Token![,]>::parse_terminated;
        let Ok(args) = call.parse_body_with(args) else {
            return;
        };
        args.iter().for_each(|arg| self.visit_expr(arg));
    }

    fn visit_pat(&mut self, pattern: &'ast syn::Pat) {
        self.below(|| pattern.span(), |walk| visit::visit_pat(walk, pattern));
    }
}

/// A token of the expression's own: a span of all of it would have to walk what is too deep.
fn own_span(expr: &syn::Expr) -> Span {
    match expr {
        syn::Expr::Binary(binary) => binary.op.span(),
        syn::Expr::MethodCall(call) => call.method.span(),
        syn::Expr::Field(field) => field.dot_token.span(),
        syn::Expr::Index(index) => index.bracket_token.span.join(),
        syn::Expr::Call(call) => call.paren_token.span.join(),
        syn::Expr::Cast(cast) => cast.as_token.span(),
        syn::Expr::Assign(assign) => assign.eq_token.span(),
        syn::Expr::Try(tried) => tried.question_token.span(),
        // What goes deeper to the right does not go deeper than the parser went.
        other => other.span(),
    }
}
