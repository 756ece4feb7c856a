//! The path by which a crate reaches pointful.
//!
//! Everything is emitted for a crate that calls it `pointful`. Where a crate has renamed the
//! dependency, that name is put in its place at last: `::pointful::Table` is `::pf::Table`.

use proc_macro2::{Group, Ident, Spacing, TokenStream, TokenTree};

/// The tokens with another name for pointful in the paths that begin with it.
pub fn renamed(tokens: TokenStream, name: &str) -> TokenStream {
    let mut before = Before::Other;
    let rename = |mut token: TokenTree| {
        match &token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), renamed(group.stream(), name));
                inner.set_span(group.span());
                token = inner.into();
            }
            TokenTree::Ident(ident) if before == Before::Colons && ident == "pointful" => {
                token = Ident::new(name, ident.span()).into();
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        before = before.followed_by(&token);
        token
    };
    tokens.into_iter().map(rename).collect()
}

/// What stands before a token.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    /// A segment of a path.
    Segment,
    /// The first of two colons that begin a path.
    Colon,
    /// Two colons that begin a path.
    Colons,
    /// What makes a word a lifetime.
    Quote,
    /// Anything else.
    Other,
}

impl Before {
    fn followed_by(self, token: &TokenTree) -> Self {
        match (self, token) {
            (Self::Quote, TokenTree::Ident(_)) => Self::Other,
            (_, TokenTree::Ident(ident)) if !ends(ident) => Self::Segment,
            (_, TokenTree::Punct(quote)) if quote.as_char() == '\'' => Self::Quote,
            (Self::Colon, TokenTree::Punct(colon)) if colon.as_char() == ':' => Self::Colons,
            (Self::Other, TokenTree::Punct(colon))
                if colon.as_char() == ':' && colon.spacing() == Spacing::Joint =>
            {
                Self::Colon
            }
            _ => Self::Other,
        }
    }
}

/// Whether a word is none of a path, so that a path may stand behind it.
fn ends(word: &Ident) -> bool {
    const WORDS: [&str; 15] = [
        "as", "const", "dyn", "else", "extern", "for", "if", "impl", "in", "let", "match", "mut",
        "return", "use", "where",
    ];
    WORDS.iter().any(|known| word == known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_begins_with_it_is_renamed() {
        let cases = [
            ("::pointful::Table", "::pf::Table"),
            ("f(::pointful::a(::pointful::b))", "f(::pf::a(::pf::b))"),
            ("use ::pointful::a as pointful;", "use ::pf::a as pointful;"),
            ("fn f() -> ::pointful::A {}", "fn f() -> ::pf::A {}"),
            ("x: ::pointful::A", "x: ::pf::A"),
            ("<A as ::pointful::B>::C", "<A as ::pf::B>::C"),
            ("&'a ::pointful::A", "&'a ::pf::A"),
            ("x::pointful::a", "x::pointful::a"),
            ("crate::pointful::a", "crate::pointful::a"),
            ("pointful::a", "pointful::a"),
            ("\"::pointful\"", "\"::pointful\""),
        ];
        for (before, after) in cases {
            let tokens: TokenStream = before.parse().expect(before);
            let expected: TokenStream = after.parse().expect(after);
            assert_eq!(renamed(tokens, "pf").to_string(), expected.to_string());
        }
    }
}
