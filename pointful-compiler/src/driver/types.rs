//! Structs, aliases and index sets leave their companion. Structs are vectors as well, where their
//! floats are of one type.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::devices::moved;
use super::enums::sum;
use super::function::{carried, lengths, payload};
use super::tables::tables;
use super::{item_name, item_vis};
use crate::link::{
    Entry, EntryKind, Exported, Gathering, Names, RequestKind, companion, unique_name,
};
use crate::syntax::names::Uses;
use crate::syntax::parse::parse_type;
use crate::syntax::tree::{TypeItem, path_key};
use crate::syntax::vector::{Coordinate, vector};

/// The companion.
pub(super) fn finish(gathering: &Gathering, uses: &Uses) -> TokenStream {
    let request = &gathering.request;
    let Ok(mut item) = syn::parse2::<syn::Item>(request.item.clone()) else {
        return TokenStream::new();
    };
    let (name, vis) = (item_name(&item), item_vis(&item).clone());
    let unique = unique_name(&name, &request.site, &request.item);
    strip_attributes(&mut item);
    let names = Names {
        types: gathering.meanings(&uses.types),
        ..Names::default()
    };
    let (record, space, tables, moved) = match request.kind {
        RequestKind::Type => (
            record(&item),
            vector_space(gathering, &item, &names),
            tables(gathering, &item, &names),
            moved(gathering, &item, &names),
        ),
        RequestKind::IndexSet
        | RequestKind::Function
        | RequestKind::Explain
        | RequestKind::Transform
        | RequestKind::Define => (None, None, None, None),
    };
    let fields = fields(&item);
    // A member of an index set is a number.
    let sum = matches!(request.kind, RequestKind::Type).then(|| sum(&item));
    let kind = match request.kind {
        RequestKind::IndexSet => EntryKind::IndexSet,
        RequestKind::Type
        | RequestKind::Function
        | RequestKind::Explain
        | RequestKind::Transform
        | RequestKind::Define => EntryKind::Type,
    };
    let (own, values) = constants(gathering, uses, &unique);
    let carrier = (!values.is_empty()).then(|| {
        let (count, name) = (values.len(), Ident::new(&name.to_string(), Span::call_site()));
        quote! {
            #[doc(hidden)]
            #[allow(non_upper_case_globals, dead_code, reason = "only others' expansions name this constant")]
            #vis const #name: [usize; #count] = [#(#values),*];
        }
    });
    let own = Entry {
        kind,
        name: unique.clone(),
        args: TokenStream::new(),
        item: item.into_token_stream(),
        names,
        constants: own,
    };
    let companion = companion(&name, &vis, &unique, &payload(gathering, own));
    quote!(#companion #carrier #record #fields #sum #space #tables #moved)
}

/// The lengths in a definition, and those in definitions that it names: an array of the type's own
/// name, in the namespace of values, has them.
fn constants(
    gathering: &Gathering,
    uses: &Uses,
    unique: &Ident,
) -> (Vec<Exported>, Vec<TokenStream>) {
    let mut exported = Vec::new();
    let mut values = Vec::new();
    for (at, path) in uses.lengths.iter().enumerate() {
        exported.push(Exported {
            path: path_key(path),
            name: format_ident!("{unique}_{at}"),
            ty: quote!(usize),
        });
        values.push(path.to_token_stream());
    }
    let carried = carried(gathering);
    for length in lengths(gathering) {
        if let Some((_, _, value)) = carried.iter().find(|(name, ..)| *name == length.name) {
            values.push(value.clone());
            exported.push(length);
        }
    }
    (exported, values)
}

/// How a struct is made of its fields.
pub(super) fn record(item: &syn::Item) -> Option<TokenStream> {
    let syn::Item::Struct(syn::ItemStruct {
        ident,
        generics,
        fields,
        ..
    }) = item
    else {
        return None;
    };
    let (generics, arguments, conditions) = generics.split_for_impl();
    let names: Vec<_> = fields
        .iter()
        .filter_map(|field| field.ident.as_ref())
        .collect();
    let types: Vec<_> = fields.iter().map(|field| &field.ty).collect();
    Some(quote! {
        #[doc(hidden)]
        impl #generics ::pointful::__private::Record<(#(#types,)*)> for #ident #arguments #conditions {
            #[inline]
            fn from_fields((#(#names,)*): (#(#types,)*)) -> Self {
                Self { #(#names),* }
            }
        }
    })
}

/// How fields are reached where their names are private.
pub(super) fn fields(item: &syn::Item) -> TokenStream {
    let syn::Item::Struct(item) = item else {
        return TokenStream::new();
    };
    let name = &item.ident;
    let (generics, arguments, conditions) = item.generics.split_for_impl();
    let field = |(at, field): (usize, &syn::Field)| {
        let syn::Field { ident, ty, vis, .. } = field;
        let hidden = ident.is_some() && !matches!(vis, syn::Visibility::Public(_));
        hidden.then(|| {
            quote! {
                #[doc(hidden)]
                impl #generics ::pointful::__private::Field<#at, #ty> for #name #arguments #conditions {
                    #[inline]
                    fn field(&self) -> &#ty {
                        &self.#ident
                    }
                }
                #[doc(hidden)]
                impl #generics ::pointful::__private::FieldMut<#at, #ty> for #name #arguments #conditions {
                    #[inline]
                    fn field_mut(&mut self) -> &mut #ty {
                        &mut self.#ident
                    }
                }
            }
        })
    };
    item.fields.iter().enumerate().filter_map(field).collect()
}

/// The implementation of `VectorSpace` for a struct.
fn vector_space(gathering: &Gathering, item: &syn::Item, names: &Names) -> Option<TokenStream> {
    let syn::Item::Struct(structure) = item else {
        return None;
    };
    space(gathering, &parse_type(item).ok()?, names, structure)
}

/// The implementation of `VectorSpace` for a struct that has the vectors that `item` has.
pub(super) fn space(
    gathering: &Gathering,
    item: &TypeItem,
    names: &Names,
    structure: &syn::ItemStruct,
) -> Option<TokenStream> {
    let (types, scope) = gathering.named_types(names)?;
    let vector = vector(item, &types, &scope)?;
    let scalar = match vector.scalar {
        Coordinate::Scalar(scalar) => {
            let name = Ident::new(scalar.name(), Span::call_site());
            quote!(::core::primitive::#name)
        }
        Coordinate::Generic(name) => name.into_token_stream(),
    };
    let name = &structure.ident;
    let (generics, arguments, conditions) = structure.generics.split_for_impl();
    let parts: Vec<_> = vector.parts.iter().map(|part| quote!(#(#part).*)).collect();
    let space = quote!(::pointful::__private::VectorSpace);
    Some(quote! {
        impl #generics #space for #name #arguments #conditions {
            type Scalar = #scalar;
            fn visit(&self, f: &mut impl ::core::ops::FnMut(&[Self::Scalar])) {
                #(#space::visit(&self.#parts, f);)*
            }
            fn visit_mut(&mut self, f: &mut impl ::core::ops::FnMut(&mut [Self::Scalar])) {
                #(#space::visit_mut(&mut self.#parts, f);)*
            }
            #[track_caller]
            fn visit_with(&self, other: &Self, f: &mut impl ::core::ops::FnMut(&[Self::Scalar], &[Self::Scalar])) {
                #(#space::visit_with(&self.#parts, &other.#parts, f);)*
            }
            #[track_caller]
            fn visit_mut_with(&mut self, other: &Self, f: &mut impl ::core::ops::FnMut(&mut [Self::Scalar], &[Self::Scalar])) {
                #(#space::visit_mut_with(&mut self.#parts, &other.#parts, f);)*
            }
        }
    })
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
