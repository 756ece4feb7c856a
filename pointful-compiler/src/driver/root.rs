//! What asks, parsed: an item, a path, a definition.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::Token;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::spanned::Spanned;

use super::subject;
use crate::diag::{Diagnostic, syntax as diag};
use crate::link::beside::{self, Missing, Sources};
use crate::link::{Request, RequestKind, cycles};
use crate::lower::is_method;
use crate::syntax::depth::check_function;
use crate::syntax::names::{
    TYPES, Uses, WORDS, function_uses, hides_macro, is_called_with_bang, is_reserved,
    is_reserved_type, spelled_like, type_uses,
};
use crate::syntax::parse::{
    parse_annotated, parse_index_set, parse_transform, parse_type, transform_name,
};
use crate::syntax::tree::{Function, Transform, Transformed, path_key};

/// What asks, parsed.
pub(super) enum Root {
    Function(Box<syn::ItemFn>, Box<Function>, Uses),
    Type(Uses),
    Explain(syn::Path, Option<Transform>),
    Transform(Transform),
    Define(Box<Definition>, Transform),
}

impl Root {
    pub(super) fn parse(request: &Request) -> Result<Self, Vec<Diagnostic>> {
        let read = |error: syn::Error| vec![Diagnostic::from(error)];
        match request.kind {
            RequestKind::Function => {
                let item: syn::ItemFn = syn::parse2(request.item.clone()).map_err(read)?;
                check_function(&item).map_err(|error| vec![error])?;
                let function = parse_annotated(&item, request.args.clone())?;
                let uses = function_uses(&function);
                check_names(&function, &uses)?;
                Ok(Self::Function(Box::new(item), Box::new(function), uses))
            }
            RequestKind::Type => {
                check_type_name(request)?;
                let item = syn::parse2(request.item.clone()).map_err(read)?;
                Ok(Self::Type(type_uses(&parse_type(&item)?)))
            }
            RequestKind::IndexSet => {
                check_type_name(request)?;
                let item = syn::parse2(request.item.clone()).map_err(read)?;
                Ok(Self::Type(type_uses(&parse_index_set(&item)?)))
            }
            RequestKind::Explain => {
                if let Ok(path) = syn::parse2(request.item.clone()) {
                    return Ok(Self::Explain(path, None));
                }
                let form = |_| vec![diag::explain_form(request.item.span())];
                let call: syn::Macro = syn::parse2(request.item.clone()).map_err(form)?;
                let transform = transform_of(&call, diag::explain_form)?;
                Ok(Self::Explain(innermost(&transform), Some(transform)))
            }
            RequestKind::Transform => {
                let mut name: Ident = syn::parse2(request.args.clone()).map_err(read)?;
                // The macro's own name is no token here, so errors of the transformation as a whole point at its argument.
                if let Some(first) = request.item.clone().into_iter().next() {
                    name.set_span(first.span());
                }
                let transform =
                    parse_transform(&name, request.item.clone()).map_err(|error| vec![error])?;
                Ok(Self::Transform(transform))
            }
            RequestKind::Define => {
                let definition: Definition = syn::parse2(request.item.clone()).map_err(read)?;
                let transform = transform_of(&definition.call, diag::define_form)?;
                if let Some(error) = reserved(&definition.name) {
                    return Err(vec![error]);
                }
                Ok(Self::Define(Box::new(definition), transform))
            }
        }
    }

    /// The paths to ask.
    pub(super) fn asks(&self) -> Vec<syn::Path> {
        match self {
            Self::Function(_, _, uses) => {
                uses.functions.iter().chain(&uses.types).cloned().collect()
            }
            Self::Type(uses) => uses.types.clone(),
            Self::Explain(path, _) => vec![path.clone()],
            Self::Transform(transform) | Self::Define(_, transform) => vec![innermost(transform)],
        }
    }

    /// What is wrong with paths to what has no companion: see [`beside`].
    pub(super) fn missing(&self) -> Vec<Diagnostic> {
        let types = match self {
            Self::Function(_, _, uses) | Self::Type(uses) => uses.types.as_slice(),
            Self::Explain(..) | Self::Transform(_) | Self::Define(..) => &[],
        };
        let (asks, sources) = (self.asks(), Sources::of_files());
        let found = asks.iter().filter_map(|path| {
            let (span, name) = (path.span(), path_key(path));
            Some(match beside::missing(path, &sources)? {
                Missing::Unmarked(unmarked) => diag::unmarked(span, &name, &unmarked),
                Missing::Plain => diag::plain_rust(path.segments.last()?.span(), &name),
                Missing::Absent(known) => {
                    let is_type = types.contains(path);
                    let (what, words) = match is_type {
                        true => ("type or set", TYPES.as_slice()),
                        false => ("function", WORDS.as_slice()),
                    };
                    let known = known
                        .iter()
                        .filter(|(keyword, _)| (*keyword != "fn") == is_type);
                    let known = known.map(|(_, name)| name.as_str());
                    let meant = spelled_like(&name, known.chain(words.iter().copied()));
                    match !is_type && is_method(&name) {
                        true => diag::method_as_function(span, &name),
                        false => diag::unknown_item(span, what, &name, meant),
                    }
                }
            })
        });
        found.collect()
    }

    /// What is wrong if a function calls others that call it: see [`cycles`].
    pub(super) fn calls_itself_by_others(&self) -> Option<Diagnostic> {
        let Self::Function(item, _, uses) = self else {
            return None;
        };
        let name = item.sig.ident.to_string();
        // Most functions call none that stands beside them, which is seen at once.
        let beside = uses.functions.iter().any(|path| path.get_ident().is_some());
        let file = beside.then(|| item.sig.ident.span().local_file())??;
        let text = std::fs::read_to_string(file).ok()?;
        let way = cycles::calls_itself_by_others(&text, &name)?;
        let calls = |path: &&syn::Path| path_key(path) == way[1];
        let call = uses.functions.iter().find(calls)?;
        Some(diag::mutual_recursion(call.span(), &way))
    }
}

/// Why a function cannot have this name.
fn reserved(function: &Ident) -> Option<Diagnostic> {
    let (span, name) = (function.span(), function.to_string());
    if is_reserved(&name) {
        Some(diag::reserved_name(span, &name))
    } else if hides_macro(&name) {
        Some(diag::hidden_macro(span, &name))
    } else {
        None
    }
}

/// Whether the type that is asked about can have its name.
fn check_type_name(request: &Request) -> Result<(), Vec<Diagnostic>> {
    let name = subject(request);
    match is_reserved_type(&name.to_string()) {
        true => Err(vec![diag::reserved_type(name.span(), &name.to_string())]),
        false => Ok(()),
    }
}

/// What is wrong with names before anything is asked.
fn check_names(function: &Function, uses: &Uses) -> Result<(), Vec<Diagnostic>> {
    let name = function.name.to_string();
    let mut errors = Vec::new();
    errors.extend(reserved(&function.name));
    for path in &uses.functions {
        let key = path_key(path);
        if key == name || key == format!("self::{name}") {
            errors.push(diag::recursion(path.span(), &name));
        } else if is_called_with_bang(&key) {
            errors.push(diag::without_bang(path.span(), &key));
        } else if hides_macro(&key) {
            errors.push(diag::hidden_macro(path.span(), &key));
        }
    }
    for (name, meant) in &uses.unknown {
        errors.push(diag::unknown_variable(
            name.span(),
            &name.to_string(),
            meant.as_deref(),
        ));
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// The function that a transformation of transformations applies to.
pub(super) fn innermost(transform: &Transform) -> syn::Path {
    match &transform.of {
        Transformed::Path(path) => path.clone(),
        Transformed::Transform(inner) => innermost(inner),
    }
}

/// The transformation that a macro call is.
fn transform_of(
    call: &syn::Macro,
    otherwise: fn(proc_macro2::Span) -> Diagnostic,
) -> Result<Transform, Vec<Diagnostic>> {
    let name = transform_name(&call.path).ok_or_else(|| vec![otherwise(call.path.span())])?;
    parse_transform(name, call.tokens.clone()).map_err(|error| vec![error])
}

/// `pub fn loss_grad = grad!(loss);`
pub(super) struct Definition {
    pub(super) attrs: Vec<syn::Attribute>,
    pub(super) vis: syn::Visibility,
    pub(super) name: Ident,
    /// The transformation.
    call: syn::Macro,
}

impl Parse for Definition {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attrs = input.call(syn::Attribute::parse_outer)?;
        let vis = input.parse()?;
        input.parse::<Token![fn]>()?;
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        let call = input.parse()?;
        input.parse::<Token![;]>()?;
        Ok(Self {
            attrs,
            vis,
            name,
            call,
        })
    }
}

impl ToTokens for Definition {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self {
            attrs,
            vis,
            name,
            call,
        } = self;
        tokens.extend(quote!(#(#attrs)* #vis fn #name = #call;));
    }
}

/// What stands in `define! { … }`.
pub(super) fn definitions(tokens: TokenStream) -> Result<Vec<Definition>, Diagnostic> {
    let span = tokens.span();
    let parse = |input: ParseStream<'_>| {
        let mut definitions = Vec::new();
        while !input.is_empty() {
            definitions.push(input.parse()?);
        }
        Ok(definitions)
    };
    let found: Result<Vec<Definition>, syn::Error> = parse.parse2(tokens);
    match found {
        Ok(definitions) if !definitions.is_empty() => Ok(definitions),
        Ok(_) => Err(diag::define_form(span)),
        Err(error) => Err(diag::define_form(error.span())),
    }
}
