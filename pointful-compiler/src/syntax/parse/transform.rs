//! `grad!(f, wrt = x)` and the other transformations.

use proc_macro2::{Ident, Span, TokenStream};
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Token, parenthesized, token};

use super::attributes::value_arguments;
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

/// The transformation whose macro has this path.
pub fn transform_name(path: &syn::Path) -> Option<&Ident> {
    let is_ours = path_ends(path, &TRANSFORMS, &["pointful", "prelude"]);
    path.segments
        .last()
        .map(|last| &last.ident)
        .filter(|_| is_ours)
}

/// Whether a path ends with one of these names, alone or in one of these modules: anywhere else it
/// is some other macro's.
pub(super) fn path_ends(path: &syn::Path, names: &[&str], modules: &[&str]) -> bool {
    let mut segments = path.segments.iter().rev().map(|segment| &segment.ident);
    segments
        .next()
        .is_some_and(|last| names.iter().any(|name| last == name))
        && segments
            .next()
            .is_none_or(|owner| modules.iter().any(|module| owner == module))
}

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
        Argument::Path(path) => match value_arguments(&path) {
            Some(error) => return Err(error),
            None => Transformed::Path(path),
        },
        Argument::Macro(call) => match transform_name(&call.path) {
            Some(inner) => {
                let inner = parse_transform(inner, call.tokens)?;
                Transformed::Transform(Box::new(inner))
            }
            None => return Err(diag::transform_form(span, &word)),
        },
    };
    let option = if word == "vmap" { "over" } else { "wrt" };
    for (at, (given, names)) in args.options.iter().enumerate() {
        if given != option || word == "try_call" {
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
