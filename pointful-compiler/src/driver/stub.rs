//! What stands for a function with errors: its signature, so that who calls it has no errors of its
//! own, but for what rustc would say about that signature once more.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::quote;
use syn::visit_mut::{VisitMut, visit_path_mut};

use super::function::with_body;
use crate::ir::Scalar;
use crate::syntax::depth::check_tokens;
use crate::syntax::names::is_reserved_type;
use crate::syntax::parse::axes;

/// The user's signature with a body that is never run.
pub(super) fn stub(item: &syn::ItemFn) -> TokenStream {
    let mut item = item.clone();
    let axes = axes(&item.sig);
    let params = item.sig.inputs.iter().filter_map(parameter_name);
    let mut tables = Tables(params.collect());
    tables.visit_signature_mut(&mut item.sig);
    for param in item.sig.generics.type_params_mut() {
        // A type, as in `N: Dyn`, is no bound.
        let is_type = |bound: &syn::TypeParamBound| match bound {
            syn::TypeParamBound::Trait(bound) => {
                let name = bound.path.get_ident().map(Ident::to_string);
                name.is_some_and(|name| {
                    is_reserved_type(&name) && !matches!(name.as_str(), "IndexSet" | "Float")
                })
            }
            _ => false,
        };
        if param.bounds.iter().any(is_type) {
            param.bounds.clear();
        }
        if param.bounds.is_empty() && axes.contains(&param.ident) {
            param.bounds.push(syn::parse_quote!(::pointful::IndexSet));
        }
    }
    let name = item.sig.ident.to_string();
    let mut body = quote!({ ::pointful::__private::failed(#name) });
    // What never gives anything has every type but that of some function.
    if let syn::ReturnType::Type(_, ty) = &item.sig.output
        && let syn::Type::ImplTrait(bounds) = &**ty
        && let Some(params) = bounds.bounds.iter().find_map(function_params)
    {
        let params = (0..params).map(|_| quote!(_));
        body = quote!(move |#(#params),*| #body);
    } else if let syn::ReturnType::Type(_, ty) = &mut item.sig.output
        && let syn::Type::ImplTrait(_) | syn::Type::Slice(_) = &**ty
    {
        // What is never given has not every trait, and no slice is given.
        **ty = syn::parse_quote!(());
    }
    with_body(&item, &body, &[])
}

/// How many parameters the functions of a bound have, if it is one of functions.
fn function_params(bound: &syn::TypeParamBound) -> Option<usize> {
    let syn::TypeParamBound::Trait(bound) = bound else {
        return None;
    };
    match &bound.path.segments.last()?.arguments {
        syn::PathArguments::Parenthesized(args) => Some(args.inputs.len()),
        syn::PathArguments::None | syn::PathArguments::AngleBracketed(_) => None,
    }
}

/// A [`stub`] for an item whose body must not be parsed; of what is no function nothing.
pub(super) fn stub_of_tokens(item: TokenStream) -> TokenStream {
    without_body(item).map_or_else(TokenStream::new, |item| stub(&item))
}

/// A function with an empty body in place of one that cannot be read.
pub(super) fn without_body(item: TokenStream) -> Option<syn::ItemFn> {
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    let body = tokens.pop()?;
    let has_braces =
        matches!(&body, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    tokens.push(TokenTree::Group(Group::new(
        Delimiter::Brace,
        TokenStream::new(),
    )));
    let signature: TokenStream = tokens.into_iter().collect();
    check_tokens(&signature).ok().filter(|()| has_braces)?;
    syn::parse2(signature).ok()
}

/// Makes tables of what no table holds tables of numbers.
struct Tables(
    /// The names of parameters.
    Vec<Ident>,
);

impl VisitMut for Tables {
    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        visit_path_mut(self, path);
        let Some(last) = path.segments.last_mut() else {
            return;
        };
        // No parameter is a length.
        if last.ident == "Fin" && self.0.iter().any(|param| is_length(&last.arguments, param)) {
            last.arguments = syn::PathArguments::AngleBracketed(syn::parse_quote!(<0>));
        }
        if last.ident != "Table" {
            return;
        }
        let mut given: Vec<_> = match &mut last.arguments {
            syn::PathArguments::AngleBracketed(given) => given.args.iter_mut().collect(),
            _ => Vec::new(),
        };
        if let [
            syn::GenericArgument::Type(set),
            syn::GenericArgument::Type(element),
        ] = &mut given[..]
        {
            set_of_axes(set);
            if is_none(element) {
                *element = syn::parse_quote!(::core::primitive::f64);
            }
        } else {
            last.arguments = syn::PathArguments::AngleBracketed(
                syn::parse_quote!(<::pointful::Dyn, ::core::primitive::f64>),
            );
        }
    }
}

/// Whether an argument is this name.
fn is_length(arguments: &syn::PathArguments, name: &Ident) -> bool {
    let syn::PathArguments::AngleBracketed(given) = arguments else {
        return false;
    };
    let given = given.args.first();
    matches!(given, Some(syn::GenericArgument::Type(syn::Type::Path(path))) if path.path.is_ident(name))
}

fn parameter_name(param: &syn::FnArg) -> Option<Ident> {
    match param {
        syn::FnArg::Typed(typed) => match &*typed.pat {
            syn::Pat::Ident(name) => Some(name.ident.clone()),
            _ => None,
        },
        syn::FnArg::Receiver(_) => None,
    }
}

/// Makes sets of any length of what is seen to be no index set.
fn set_of_axes(set: &mut syn::Type) {
    match set {
        syn::Type::Tuple(product) => product.elems.iter_mut().for_each(set_of_axes),
        _ if is_none(set) || is_number(set) => *set = syn::parse_quote!(::pointful::Dyn),
        _ => {}
    }
}

/// Whether a type is seen to be no element: a table, an optional value, text, or a tuple of such or
/// of numbers, of which members consist.
fn is_none(ty: &syn::Type) -> bool {
    let name = match ty {
        syn::Type::Tuple(tuple) => {
            return tuple
                .elems
                .iter()
                .any(|part| is_none(part) || is_number(part));
        }
        syn::Type::Array(_) | syn::Type::Slice(_) | syn::Type::Reference(_) => return true,
        syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    };
    let holds = [
        "Table", "Ragged", "Option", "Vec", "Box", "String", "str", "char",
    ];
    name.is_some_and(|name| holds.contains(&name.as_str()))
}

fn is_number(ty: &syn::Type) -> bool {
    let syn::Type::Path(path) = ty else {
        return false;
    };
    let name = path.path.get_ident().map(Ident::to_string);
    name.is_some_and(|name| name != "bool" && Scalar::from_name(&name).is_some())
}
