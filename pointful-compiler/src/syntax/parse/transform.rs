//! `grad!(f, wrt = x)` and the other transformations.

use proc_macro2::{Ident, Span, TokenStream};
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Token, parenthesized, token};

use crate::diag::{Diagnostic, syntax as diag};
use crate::syntax::tree::{Transform, Transformed};

/// The transformations, by the names of their macros.
pub const TRANSFORMS: [&str; 9] = [
    "grad",
    "value_and_grad",
    "vjp",
    "jvp",
    "linearize",
    "jacobian",
    "hessian",
    "hvp",
    "vmap",
];

/// The arguments of one macro.
struct Args {
    of: Argument,
    options: Vec<(Ident, Vec<Ident>)>,
}

/// What is transformed, before it is known to be sensible.
enum Argument {
    Path(syn::Path),
    Macro(syn::Macro),
}

impl Parse for Args {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let path: syn::Path = input.parse()?;
        let of = if input.peek(Token![!]) {
            let bang_token = input.parse()?;
            let content;
            let paren = parenthesized!(content in input);
            Argument::Macro(syn::Macro {
                path,
                bang_token,
                delimiter: syn::MacroDelimiter::Paren(paren),
                tokens: content.parse()?,
            })
        } else {
            Argument::Path(path)
        };
        let mut options = Vec::new();
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let name: Ident = input.parse()?;
            // At the end of the input syn would point at the macro's call.
            if !input.peek(Token![=]) {
                return Err(syn::Error::new(name.span(), "expected `=` behind it"));
            }
            input.parse::<Token![=]>()?;
            let mut values = Vec::new();
            if input.peek(token::Paren) {
                let content;
                parenthesized!(content in input);
                values.extend(content.parse_terminated(Ident::parse, Token![,])?);
            } else {
                values.push(input.parse()?);
            }
            options.push((name, values));
        }
        Ok(Self { of, options })
    }
}

/// Parses the arguments of the transformation `name!(…)`.
pub fn parse_transform(name: &Ident, args: TokenStream) -> Result<Transform, Diagnostic> {
    let word = name.to_string();
    let span = first_span(&args).unwrap_or(name.span());
    let args = Args::parse
        .parse2(args)
        .map_err(|error| diag::transform_form(error_span(&error, span), &word))?;
    let of = match args.of {
        Argument::Path(path) => Transformed::Path(path),
        Argument::Macro(call) => {
            let inner = call.path.segments.last().map(|last| last.ident.clone());
            match inner.filter(|inner| TRANSFORMS.contains(&inner.to_string().as_str())) {
                Some(inner) => {
                    Transformed::Transform(Box::new(parse_transform(&inner, call.tokens)?))
                }
                None => return Err(diag::transform_form(span, &word)),
            }
        }
    };
    let option = if word == "vmap" { "over" } else { "wrt" };
    for (at, (given, names)) in args.options.iter().enumerate() {
        if given != option {
            return Err(diag::transform_option(
                given.span(),
                &word,
                &given.to_string(),
            ));
        }
        if at > 0 {
            return Err(diag::repeated(given.span(), option));
        }
        if names.is_empty() {
            return Err(diag::transform_form(given.span(), &word));
        }
    }
    Ok(Transform {
        name: name.clone(),
        of,
        options: args.options,
    })
}

fn first_span(tokens: &TokenStream) -> Option<Span> {
    tokens.clone().into_iter().next().map(|tree| tree.span())
}

/// At the end of the input syn points at the macro's call; the first token is a better place.
fn error_span(error: &syn::Error, fallback: Span) -> Span {
    if error.to_string().starts_with("unexpected end of input") {
        fallback
    } else {
        error.span()
    }
}
