//! Short code, written token by token where it goes.
//!
//! Streams of tokens are kept by rustc, which is asked a few times for each one that is put into
//! another. Most of what is emitted is the sum of two variables with a name: as a stream of its own
//! it would cost more than to find out what to emit.

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt};

use super::names::ident;

/// A variable or a literal: mostly one token.
#[derive(Clone)]
pub(crate) enum Word {
    /// One token.
    One(TokenTree),
    /// More, as a negative number is.
    More(TokenStream),
}

impl ToTokens for Word {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::One(token) => tokens.append(token.clone()),
            Self::More(more) => more.to_tokens(tokens),
        }
    }
}

impl From<Ident> for Word {
    fn from(name: Ident) -> Self {
        Self::One(name.into())
    }
}

impl From<Literal> for Word {
    fn from(literal: Literal) -> Self {
        Self::One(literal.into())
    }
}

/// An expression.
pub(crate) enum Expr<'w> {
    /// A variable or a literal.
    Word(&'w Word),
    /// `-x`
    Prefix(&'static str, &'w Word),
    /// `x + y`
    Infix(&'w Word, &'static str, &'w Word),
    /// Any other.
    Tokens(TokenStream),
}

impl ToTokens for Expr<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Word(word) => word.to_tokens(tokens),
            Self::Prefix(operator, x) => {
                punct(tokens, operator);
                x.to_tokens(tokens);
            }
            Self::Infix(x, operator, y) => {
                x.to_tokens(tokens);
                punct(tokens, operator);
                y.to_tokens(tokens);
            }
            Self::Tokens(more) => more.to_tokens(tokens),
        }
    }
}

/// Writes a stream behind another. As trees, by which `extend` takes it otherwise, rustc would hand
/// each one over and take it back.
pub(super) fn append(tokens: &mut TokenStream, more: TokenStream) {
    tokens.extend([more]);
}

/// Writes `let name = value;`.
pub(crate) fn bind(tokens: &mut TokenStream, name: &Ident, value: &impl ToTokens) {
    tokens.append(ident("let"));
    set(tokens, name, value);
}

/// Writes `place = value;`.
pub(crate) fn set(tokens: &mut TokenStream, place: &impl ToTokens, value: &impl ToTokens) {
    place.to_tokens(tokens);
    punct(tokens, "=");
    value.to_tokens(tokens);
    punct(tokens, ";");
}

/// Writes `if cond { then } else { otherwise }`.
pub(super) fn choose(
    tokens: &mut TokenStream,
    cond: &impl ToTokens,
    then: TokenStream,
    otherwise: Option<TokenStream>,
) {
    tokens.append(ident("if"));
    cond.to_tokens(tokens);
    tokens.append(braces(then));
    if let Some(otherwise) = otherwise {
        tokens.append(ident("else"));
        tokens.append(braces(otherwise));
    }
}

fn braces(inner: TokenStream) -> Group {
    let mut group = Group::new(Delimiter::Brace, inner);
    group.set_span(Span::mixed_site());
    group
}

fn punct(tokens: &mut TokenStream, text: &str) {
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let spacing = match chars.peek() {
            Some(_) => Spacing::Joint,
            None => Spacing::Alone,
        };
        let mut punct = Punct::new(char, spacing);
        punct.set_span(Span::mixed_site());
        tokens.append(punct);
    }
}
