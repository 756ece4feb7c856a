//! How values of structs and enums are moved to devices and back: field by field, as a copy of what
//! has no elements and by the trait where tables are.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use super::enums::Kind;
use crate::link::{Gathering, Names};
use crate::syntax::generics::{definition, generic};
use crate::syntax::parse::parse_type;
use crate::syntax::tree::{Generic, GenericKind, Type, TypeArg, TypeDef, TypeDefKind, TypeKind};

/// The implementation of `ToDevice`; none where a field is a reference or a function, and where
/// tables do not live on devices.
pub(super) fn moved(gathering: &Gathering, item: &syn::Item, names: &Names) -> Option<TokenStream> {
    if !gathering.devices {
        return None;
    }
    let (types, scope) = gathering.named_types(names)?;
    let parsed = parse_type(item).ok()?;
    let moves = Moves {
        generics: &parsed.generics,
        types: &types,
        scope: &scope,
    };
    match (item, &parsed.kind) {
        (syn::Item::Struct(item), TypeDefKind::Struct(fields)) => {
            let moved: Option<Vec<_>> = fields
                .iter()
                .map(|(field, ty)| {
                    let value = moves.of(ty, &quote!(self.#field))?;
                    Some(quote!(#field: #value))
                })
                .collect();
            let moved = moved?;
            let body = quote!(Self { #(#moved),* });
            Some(implementation(&item.ident, &item.generics, &body))
        }
        (syn::Item::Enum(item), TypeDefKind::Enum(parsed)) => {
            let held = summands(&parsed.sum[0].1, item.variants.len())?;
            let arms = item.variants.iter().zip(held).map(|(variant, held)| {
                let TypeKind::Tuple(held) = &held.kind else {
                    return None;
                };
                let kind = Kind::of(variant);
                let (values, pattern) = (kind.values(), &kind.pattern);
                let moved: Option<Vec<_>> = values
                    .iter()
                    .zip(held)
                    .map(|(value, ty)| moves.of(ty, &quote!((*#value))))
                    .collect();
                let moved = moved?;
                Some(quote!(Self::#pattern => {
                    let (#(#values,)*) = (#(#moved,)*);
                    Self::#pattern
                }))
            });
            let arms = arms.collect::<Option<Vec<_>>>()?;
            let body = quote!(match self { #(#arms)* });
            Some(implementation(&item.ident, &item.generics, &body))
        }
        _ => None,
    }
}

/// The implementation for a struct all of whose fields are tables, structs and tuples of tables.
pub(super) fn tables_moved(gathering: &Gathering, item: &syn::ItemStruct) -> Option<TokenStream> {
    if !gathering.devices {
        return None;
    }
    let names = item.fields.iter().filter_map(|field| field.ident.as_ref());
    let fields = names.map(|name| {
        let moved = by_the_trait(&quote!(self.#name));
        quote!(#name: #moved)
    });
    let body = quote!(Self { #(#fields),* });
    Some(implementation(&item.ident, &item.generics, &body))
}

fn implementation(name: &syn::Ident, generics: &syn::Generics, body: &TokenStream) -> TokenStream {
    let (generics, arguments, conditions) = generics.split_for_impl();
    quote! {
        ::pointful::__private::device! {
            impl #generics ::pointful::__private::ToDevice for #name #arguments #conditions {
                fn moved(&self, to: ::core::option::Option<&::pointful::__private::Device>) -> ::core::result::Result<Self, ::pointful::__private::Error> {
                    let _ = to;
                    ::core::result::Result::Ok(#body)
                }
            }
        }
    }
}

fn by_the_trait(place: &TokenStream) -> TokenStream {
    quote!(::pointful::__private::ToDevice::moved(&#place, to)?)
}

/// The parts of a sum of so many types.
fn summands(mut ty: &Type, count: usize) -> Option<Vec<&Type>> {
    let mut parts = Vec::new();
    while parts.len() + 1 < count {
        let TypeKind::OneOf(sides) = &ty.kind else {
            return None;
        };
        let [first, rest] = sides.as_slice() else {
            return None;
        };
        parts.push(first);
        ty = rest;
    }
    parts.push(ty);
    Some(parts)
}

struct Moves<'a> {
    generics: &'a [Generic],
    types: &'a [TypeDef],
    scope: &'a [(String, usize)],
}

impl Moves<'_> {
    /// What is at this place, moved.
    fn of(&self, ty: &Type, place: &TokenStream) -> Option<TokenStream> {
        if self.is_copied(ty) {
            return Some(place.clone());
        }
        match &ty.kind {
            TypeKind::Table(..) | TypeKind::Tables(..) | TypeKind::Ragged(..) => {
                Some(by_the_trait(place))
            }
            TypeKind::Tuple(parts) => {
                let parts = parts.iter().enumerate();
                let moved: Option<Vec<_>> = parts
                    .map(|(at, part)| {
                        let at = syn::Index::from(at).into_token_stream();
                        self.of(part, &quote!(#place.#at))
                    })
                    .collect();
                let moved = moved?;
                Some(quote!((#(#moved,)*)))
            }
            TypeKind::Path(path, args) => match self.definition(path, args)? {
                TypeDefKind::Struct(_) | TypeDefKind::Enum(_) => Some(by_the_trait(place)),
                TypeDefKind::Alias(inner) => self.of(&inner, place),
                TypeDefKind::NominalSet | TypeDefKind::EnumSet(_) | TypeDefKind::ProductSet(_) => {
                    None
                }
            },
            TypeKind::Scalar(_)
            | TypeKind::Set(_)
            | TypeKind::Extent(_)
            | TypeKind::Accum(_)
            | TypeKind::Array(..)
            | TypeKind::Ref { .. }
            | TypeKind::Function(..)
            | TypeKind::OneOf(_)
            | TypeKind::Infer => None,
        }
    }

    /// Whether values are numbers, members, extents or made of them, which are `Copy`. Structs need
    /// not be.
    fn is_copied(&self, ty: &Type) -> bool {
        match &ty.kind {
            TypeKind::Scalar(_) | TypeKind::Set(_) | TypeKind::Extent(_) => true,
            TypeKind::Tuple(parts) => parts.iter().all(|part| self.is_copied(part)),
            TypeKind::Array(element, _) => self.is_copied(element),
            TypeKind::Path(path, args) => match generic(self.generics, path) {
                Some(generic) => matches!(generic.kind, GenericKind::IndexSet | GenericKind::Float),
                None => match self.definition(path, args) {
                    Some(
                        TypeDefKind::NominalSet
                        | TypeDefKind::EnumSet(_)
                        | TypeDefKind::ProductSet(_),
                    ) => true,
                    Some(TypeDefKind::Alias(inner)) => self.is_copied(&inner),
                    Some(TypeDefKind::Struct(_) | TypeDefKind::Enum(_)) | None => false,
                },
            },
            TypeKind::Table(..)
            | TypeKind::Tables(..)
            | TypeKind::Ragged(..)
            | TypeKind::Accum(_)
            | TypeKind::Ref { .. }
            | TypeKind::Function(..)
            | TypeKind::OneOf(_)
            | TypeKind::Infer => false,
        }
    }

    /// What a path means, with these arguments.
    fn definition(&self, path: &syn::Path, args: &[TypeArg]) -> Option<TypeDefKind> {
        definition(self.types, self.scope, path, args)
    }
}
