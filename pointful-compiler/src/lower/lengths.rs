//! Lengths of constant arrays that nothing says but the arrays themselves.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::quote;

/// The length of an array's axis, the array being this expression.
pub(crate) fn of_axis(array: &TokenStream, depth: usize) -> TokenStream {
    let constant = quote!(::pointful::__private::constant);
    let ty = (0..depth).fold(
        quote!(#constant::of(&#array)),
        |ty, _| quote!(#constant::elements(#ty)),
    );
    quote!(#constant::length(#ty))
}

/// Tokens at this place.
pub(super) fn located(tokens: TokenStream, span: Span) -> TokenStream {
    let at = |mut token: TokenTree| {
        if let TokenTree::Group(group) = &token {
            let inner = located(group.stream(), span);
            token = TokenTree::Group(Group::new(group.delimiter(), inner));
        }
        token.set_span(token.span().located_at(span));
        token
    };
    tokens.into_iter().map(at).collect()
}

/// The array of which an expression is the length of an axis, if it is one.
pub(super) fn array(length: &str) -> Option<String> {
    let length: syn::ExprCall = syn::parse_str(length).ok()?;
    let mut inner = &length;
    loop {
        let argument = inner.args.first()?;
        let syn::Expr::Path(function) = &*inner.func else {
            return None;
        };
        match argument {
            syn::Expr::Call(call) => inner = call,
            syn::Expr::Reference(array) => {
                let path = &function.path;
                let own = path
                    .segments
                    .iter()
                    .any(|segment| segment.ident == "__private");
                let array = &array.expr;
                return own.then(|| quote!(#array).to_string().replace(' ', ""));
            }
            _ => return None,
        }
    }
}
