//! Structs, aliases and index sets: they only leave their companion.

use proc_macro2::TokenStream;
use quote::ToTokens;

use super::function::payload;
use super::{item_name, item_vis};
use crate::syntax::link::{
    Entry, EntryKind, Gathering, Names, RequestKind, companion, unique_name,
};
use crate::syntax::names::Uses;

/// The companion.
pub(super) fn finish(gathering: &Gathering, uses: &Uses) -> TokenStream {
    let request = &gathering.request;
    let Ok(mut item) = syn::parse2::<syn::Item>(request.item.clone()) else {
        return TokenStream::new();
    };
    let (name, vis) = (item_name(&item), item_vis(&item).clone());
    let unique = unique_name(&name, &request.site, &request.item);
    strip_attributes(&mut item);
    let kind = match request.kind {
        RequestKind::IndexSet => EntryKind::IndexSet,
        RequestKind::Type
        | RequestKind::Function
        | RequestKind::Explain
        | RequestKind::Transform
        | RequestKind::Define => EntryKind::Type,
    };
    let own = Entry {
        kind,
        name: unique.clone(),
        args: TokenStream::new(),
        item: item.into_token_stream(),
        names: Names {
            types: gathering.meanings(&uses.types),
            ..Names::default()
        },
        constants: Vec::new(),
    };
    companion(&name, &vis, &unique, &payload(gathering, own))
}

/// Attributes, documentation above all, are nothing to those who link.
fn strip_attributes(item: &mut syn::Item) {
    let strip = |fields: &mut syn::Fields| fields.iter_mut().for_each(|field| field.attrs.clear());
    match item {
        syn::Item::Struct(item) => {
            item.attrs.clear();
            strip(&mut item.fields);
        }
        syn::Item::Enum(item) => {
            item.attrs.clear();
            for variant in &mut item.variants {
                variant.attrs.clear();
                strip(&mut variant.fields);
            }
        }
        syn::Item::Type(item) => item.attrs.clear(),
        _ => {}
    }
}
