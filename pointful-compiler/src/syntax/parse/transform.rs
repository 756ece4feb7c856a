//! `grad!(f, wrt = x)` and the other transformations.

use proc_macro2::{Ident, Span, TokenStream};
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Token, parenthesized, token};

use super::Parser;
use super::attributes::value_arguments;
use crate::diag::{Diagnostic, syntax as diag};
use crate::syntax::tree::{Block, Expr, ExprKind, Pattern, Stmt, Transform, Transformed};

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
    Closure(syn::ExprClosure),
}

impl Parse for Argument {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        if input.peek(Token![|]) || input.peek(Token![||]) || input.peek(Token![move]) {
            return input.parse().map(Argument::Closure);
        }
        let path: syn::Path = input.parse()?;
        if !input.peek(Token![!]) {
            return Ok(Argument::Path(path));
        }
        let bang_token = input.parse()?;
        let content;
        let paren = parenthesized!(content in input);
        Ok(Argument::Macro(syn::Macro {
            path,
            bang_token,
            delimiter: syn::MacroDelimiter::Paren(paren),
            tokens: content.parse()?,
        }))
    }
}

impl Parse for Args {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let of = input.parse()?;
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

/// Parses the arguments of the transformation `name!(…)` where no closure can be compiled.
pub fn parse_transform(name: &Ident, args: TokenStream) -> Result<Transform, Diagnostic> {
    match read(name, args)? {
        (transform, None) => Ok(transform),
        (_, Some(closure)) => Err(diag::closure_outside(
            closure.or1_token.span,
            &name.to_string(),
        )),
    }
}

impl Parser {
    /// The transformation `name!(…)` as an expression. A closure that is written in it is bound in
    /// front: `grad!(|y| e)` is `{ let closure = |y| e; grad!(closure) }`.
    pub(super) fn transformation(
        &mut self,
        name: &Ident,
        args: TokenStream,
        span: Span,
    ) -> Result<ExprKind, Diagnostic> {
        let (transform, closure) = read(name, args)?;
        let transform = ExprKind::Transform(transform);
        let Some(closure) = closure else {
            return Ok(transform);
        };
        let value = self.expr(&syn::Expr::Closure(closure));
        let bound = Stmt::Let {
            pattern: Pattern::Name {
                name: closure_name(value.span),
                mutable: false,
            },
            ty: None,
            span: value.span,
            value,
        };
        Ok(ExprKind::Block(Block {
            stmts: vec![bound],
            value: Some(Box::new(Expr {
                kind: transform,
                span,
            })),
            span,
        }))
    }
}

/// What a closure is called that is written in a transformation.
fn closure_name(span: Span) -> Ident {
    Ident::new("closure", span)
}

/// Reads the arguments of the transformation `name!(…)`. A closure among them stands beside it and
/// has a name in it.
fn read(
    name: &Ident,
    args: TokenStream,
) -> Result<(Transform, Option<syn::ExprClosure>), Diagnostic> {
    let word = name.to_string();
    let span = first_span(&args).unwrap_or(name.span());
    let args = Args::parse
        .parse2(args)
        .map_err(|error| diag::transform_form(error_span(&error, span), &word))?;
    let mut closure = None;
    let of = match args.of {
        Argument::Path(path) => match value_arguments(&path) {
            Some(error) => return Err(error),
            None => Transformed::Path(path),
        },
        Argument::Macro(call) => match transform_name(&call.path) {
            Some(inner) => {
                let (inner, written) = read(inner, call.tokens)?;
                closure = written;
                Transformed::Transform(Box::new(inner))
            }
            None => return Err(diag::transform_form(span, &word)),
        },
        Argument::Closure(written) => {
            let name = closure_name(written.or1_token.span);
            closure = Some(written);
            Transformed::Path(name.into())
        }
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
    let transform = Transform {
        name: name.clone(),
        of,
        options: args.options,
    };
    Ok((transform, closure))
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
