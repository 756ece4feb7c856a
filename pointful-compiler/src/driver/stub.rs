//! What stands for a function with errors: its signature, so that who calls it has no errors of its
//! own, but for what rustc would say about that signature once more.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::quote;
use syn::visit_mut::{VisitMut, visit_path_mut};

use super::function::with_body;
use crate::ir::Scalar;
use crate::syntax::depth::check_tokens;

/// The user's signature with a body that is never run.
pub(super) fn stub(item: &syn::ItemFn) -> TokenStream {
    let mut item = item.clone();
    let mut tables = Tables::default();
    tables.visit_signature_mut(&mut item.sig);
    for param in item.sig.generics.type_params_mut() {
        if param.bounds.is_empty() && tables.sets.contains(&param.ident) {
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
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    tokens.pop();
    tokens.push(TokenTree::Group(Group::new(
        Delimiter::Brace,
        TokenStream::new(),
    )));
    let signature: TokenStream = tokens.into_iter().collect();
    match check_tokens(&signature).map(|()| syn::parse2(signature)) {
        Ok(Ok(item)) => stub(&item),
        Ok(Err(_)) | Err(_) => TokenStream::new(),
    }
}

/// Makes tables of what no table holds tables of numbers.
#[derive(Default)]
struct Tables {
    /// The names that stand for the index sets of tables.
    sets: Vec<Ident>,
}

impl VisitMut for Tables {
    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        visit_path_mut(self, path);
        if let Some(last) = path.segments.last_mut()
            && last.ident == "Table"
            && let syn::PathArguments::AngleBracketed(arguments) = &mut last.arguments
        {
            let mut types = arguments
                .args
                .iter_mut()
                .filter_map(|argument| match argument {
                    syn::GenericArgument::Type(ty) => Some(ty),
                    _ => None,
                });
            if let Some(set) = types.next() {
                names(set, &mut self.sets);
            }
            if let Some(element) = types.next().filter(|element| is_none(element)) {
                *element = syn::parse_quote!(::core::primitive::f64);
            }
        }
    }
}

/// Adds the names that a set, or each part of a product, is.
fn names(set: &syn::Type, found: &mut Vec<Ident>) {
    match set {
        syn::Type::Tuple(product) => product.elems.iter().for_each(|part| names(part, found)),
        syn::Type::Path(path) => found.extend(path.path.get_ident().cloned()),
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
