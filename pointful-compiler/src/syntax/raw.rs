//! Raw identifiers of words that need not be raw: to Rust `r#x` and `x` are one name.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};

/// The tokens with names written in one way: raw only where they are words of Rust.
pub fn plain_names(tokens: TokenStream) -> TokenStream {
    if has_raw(&tokens) {
        replaced(tokens)
    } else {
        tokens
    }
}

fn replaced(tokens: TokenStream) -> TokenStream {
    let plain = |token| match token {
        TokenTree::Ident(name) => TokenTree::Ident(plain_name(name)),
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), replaced(group.stream()));
            inner.set_span(group.span());
            TokenTree::Group(inner)
        }
        token @ (TokenTree::Punct(_) | TokenTree::Literal(_)) => token,
    };
    tokens.into_iter().map(plain).collect()
}

fn has_raw(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(name) => name.to_string().starts_with("r#"),
        TokenTree::Group(group) => has_raw(&group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

fn plain_name(name: Ident) -> Ident {
    let text = name.to_string();
    let Some(word) = text.strip_prefix("r#") else {
        return name;
    };
    // The parser knows the words of all editions but this one.
    if word == "gen" || syn::parse_str::<Ident>(word).is_err() {
        return name;
    }
    Ident::new(word, name.span())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_raw_where_they_must_be() {
        let tokens: TokenStream = "fn r#f(r#x: T) { r#x + (r#type, r#gen, y) }"
            .parse()
            .expect("tokens");
        let expected: TokenStream = "fn f(x: T) { x + (r#type, r#gen, y) }"
            .parse()
            .expect("tokens");
        assert_eq!(plain_names(tokens).to_string(), expected.to_string());
    }
}
