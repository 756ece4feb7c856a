//! Programs with mistakes: sources in which single tokens are changed.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// What is done to one token.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    LeaveOut,
    Double,
    /// With the next one.
    Exchange,
    Replace(TokenTree),
    /// A group without what is in it.
    Empty,
    /// In so many parentheses.
    Wrap(usize),
    Repeat(usize),
}

fn wrapped(token: TokenTree, delimiter: Delimiter, times: usize) -> TokenTree {
    (0..times).fold(token, |inner, _| {
        TokenTree::Group(Group::new(delimiter, inner.into()))
    })
}

/// The tokens with a change at the token that `at` counts down to, groups counted before what is in
/// them.
pub(crate) fn changed(tokens: TokenStream, at: &mut usize, change: &Change) -> TokenStream {
    let mut out: Vec<TokenTree> = Vec::new();
    let mut exchange = None;
    for token in tokens {
        let here = *at == 0;
        *at = at.wrapping_sub(1);
        let token = match token {
            TokenTree::Group(group) if !here => {
                let inner = changed(group.stream(), at, change);
                TokenTree::Group(Group::new(group.delimiter(), inner))
            }
            other => other,
        };
        let before = exchange.take();
        if here {
            match (change, token) {
                (Change::LeaveOut, _) => {}
                (Change::Double, token) => out.extend([token.clone(), token]),
                (Change::Exchange, token) => exchange = Some(token),
                (Change::Replace(other), _) => out.push(other.clone()),
                (Change::Empty, TokenTree::Group(group)) => {
                    out.push(TokenTree::Group(Group::new(
                        group.delimiter(),
                        TokenStream::new(),
                    )));
                }
                (Change::Empty, token) => out.push(token),
                (Change::Wrap(times), token) => {
                    out.push(wrapped(token, Delimiter::Parenthesis, *times));
                }
                (Change::Repeat(times), token) => {
                    out.extend(std::iter::repeat_n(token, *times));
                }
            }
        } else {
            out.push(token);
        }
        out.extend(before);
    }
    out.extend(exchange);
    out.into_iter().collect()
}

/// All tokens, those in groups after their group.
pub(crate) fn flat(tokens: TokenStream, out: &mut Vec<TokenTree>) {
    for token in tokens {
        out.push(token.clone());
        if let TokenTree::Group(group) = token {
            flat(group.stream(), out);
        }
    }
}
