//! The struct of tables that a table of structs is outside of bodies.
//!
//! ```text
//! struct P<N: IndexSet> { w: Table<N, f64>, b: f64 }
//! ▶
//! struct PTables<Lanes: IndexSet, N: IndexSet> { w: Table<(Lanes, N), f64>, b: Table<Lanes, f64> }
//! impl<…> Columns<Lanes> for P<N> { type Tables = PTables<Lanes, N>; }
//! ```
//!
//! so that `Tables<Lanes, P<N>>` is a type. What a type is made of is reached through it, since an alias may stand in a module
//! whose names mean nothing here.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::devices::tables_moved;
use super::transformed::part;
use super::types::{fields, record, space};
use crate::link::{Gathering, Names};
use crate::syntax::generics::{definition, generic};
use crate::syntax::parse::parse_type;
use crate::syntax::signature::product;
use crate::syntax::tree::{
    GenericKind, Set, SetKind, Type, TypeArg, TypeDef, TypeDefKind, TypeItem, TypeKind,
};

/// The struct of tables; none where a field is of a type of which there are no tables.
pub(super) fn tables(
    gathering: &Gathering,
    item: &syn::Item,
    names: &Names,
) -> Option<TokenStream> {
    let syn::Item::Struct(structure) = item else {
        return None;
    };
    let (types, scope) = gathering.named_types(names)?;
    let parsed = parse_type(item).ok()?;
    let TypeDefKind::Struct(declared) = &parsed.kind else {
        return None;
    };
    let columns = Columns {
        item: &parsed,
        types: &types,
        scope: &scope,
        axis: axis(structure),
    };
    let mut made = structure.clone();
    made.ident = format_ident!("{}Tables", structure.ident);
    for (field, (_, ty)) in made.fields.iter_mut().zip(declared) {
        let column = columns.of(ty, &field.ty.to_token_stream())?;
        field.ty = syn::Type::Verbatim(column);
    }
    let axis = &columns.axis;
    let lanes = syn::parse_quote!(#axis: ::pointful::__private::IndexSet);
    made.generics.params.insert(lifetimes(structure), lanes);
    let (name, original) = (&made.ident, &structure.ident);
    let (generics, arguments, conditions) = made.generics.split_for_impl();
    let (_, given, _) = structure.generics.split_for_impl();
    let item = syn::Item::Struct(made.clone());
    let (record, fields) = (record(&item), fields(&item));
    let space = space(gathering, &parsed, names, &made);
    let moved = tables_moved(gathering, &made);
    // Lints are off as nobody wrote this struct: who never maps over the original has no use for it
    // (`dead_code`), its documentation and its names are the original's, which has them already, and
    // what the original is allowed by attributes of the author's it is not.
    Some(quote! {
        const _: () = {
            #[derive(Clone, Debug, PartialEq)]
            #[allow(dead_code, missing_docs, unreachable_pub, clippy::all, clippy::pedantic, reason = "generated for whoever maps over the struct, who may be nobody")]
            #made
            impl #generics ::pointful::__private::Columns<#axis> for #original #given #conditions {
                type Tables = #name #arguments;
            }
            impl #generics ::pointful::__private::Part<0> for #name #arguments #conditions {
                type Type = #axis;
            }
            impl #generics ::pointful::__private::Part<1> for #name #arguments #conditions {
                type Type = #original #given;
            }
            #record
            #fields
            #space
            #moved
        };
    })
}

/// A name for the set, which none of the generics has.
fn axis(structure: &syn::ItemStruct) -> Ident {
    let params = &structure.generics.params;
    let taken = |name: &str| {
        params.iter().any(|param| match param {
            syn::GenericParam::Type(param) => param.ident == name,
            syn::GenericParam::Const(param) => param.ident == name,
            syn::GenericParam::Lifetime(_) => false,
        })
    };
    Ident::new(
        &crate::syntax::seeds::fresh("Lanes", taken),
        Span::call_site(),
    )
}

/// How many generics are lifetimes, which come first.
fn lifetimes(structure: &syn::ItemStruct) -> usize {
    structure.generics.lifetimes().count()
}

struct Columns<'a> {
    item: &'a TypeItem,
    types: &'a [TypeDef],
    scope: &'a [(String, usize)],
    axis: Ident,
}

impl Columns<'_> {
    /// What a field of this type becomes, which rustc knows by these tokens.
    fn of(&self, ty: &Type, tokens: &TokenStream) -> Option<TokenStream> {
        Some(match &ty.kind {
            _ if self.is_element(ty) => self.table(Vec::new(), tokens),
            TypeKind::Path(path, args) => match self.definition(path, args)? {
                TypeDefKind::Struct(_) => self.tables(Vec::new(), tokens),
                TypeDefKind::Alias(inner) => return self.of(&inner, tokens),
                TypeDefKind::NominalSet
                | TypeDefKind::EnumSet(_)
                | TypeDefKind::ProductSet(_)
                | TypeDefKind::Enum(_) => {
                    return None;
                }
            },
            TypeKind::Table(set, _) => {
                self.table(Self::axes(set, &part(tokens, 0)), &part(tokens, 1))
            }
            TypeKind::Tables(set, _) => {
                self.tables(Self::axes(set, &part(tokens, 0)), &part(tokens, 1))
            }
            TypeKind::Array(element, _) => self.array(element, tokens)?,
            TypeKind::Tuple(parts) if !parts.is_empty() => {
                let parts = parts.iter().enumerate();
                let columns: Option<Vec<_>> = parts
                    .map(|(at, inner)| self.of(inner, &part(tokens, at)))
                    .collect();
                let columns = columns?;
                quote!((#(#columns,)*))
            }
            TypeKind::Scalar(_)
            | TypeKind::Set(_)
            | TypeKind::Ragged(..)
            | TypeKind::Tuple(_)
            | TypeKind::Extent(_)
            | TypeKind::Accum(_)
            | TypeKind::Ref { .. }
            | TypeKind::Function(..)
            | TypeKind::OneOf(_)
            | TypeKind::Infer => return None,
        })
    }

    /// An array is a table whose axes are its lengths.
    fn array(&self, element: &Type, tokens: &TokenStream) -> Option<TokenStream> {
        let (mut element, mut tokens) = (element, tokens.clone());
        let mut axes = vec![part(&tokens, 0)];
        tokens = part(&tokens, 1);
        while let TypeKind::Array(inner, _) = &element.kind {
            axes.push(part(&tokens, 0));
            (element, tokens) = (inner, part(&tokens, 1));
        }
        self.is_element(element).then(|| self.table(axes, &tokens))
    }

    /// Whether tables hold such values: numbers and members.
    fn is_element(&self, ty: &Type) -> bool {
        match &ty.kind {
            TypeKind::Scalar(_) | TypeKind::Set(_) => true,
            TypeKind::Path(path, args) => match (self.generic(path), self.definition(path, args)) {
                (Some(generic), _) => {
                    matches!(generic, GenericKind::IndexSet | GenericKind::Float)
                }
                (None, definition) => matches!(
                    definition,
                    Some(
                        TypeDefKind::NominalSet
                            | TypeDefKind::EnumSet(_)
                            | TypeDefKind::ProductSet(_)
                    )
                ),
            },
            TypeKind::Table(..)
            | TypeKind::Tables(..)
            | TypeKind::Ragged(..)
            | TypeKind::Extent(_)
            | TypeKind::Accum(_)
            | TypeKind::Tuple(_)
            | TypeKind::Array(..)
            | TypeKind::Ref { .. }
            | TypeKind::Function(..)
            | TypeKind::OneOf(_)
            | TypeKind::Infer => false,
        }
    }

    fn table(&self, axes: Vec<TokenStream>, element: &TokenStream) -> TokenStream {
        let set = self.set(axes);
        quote!(::pointful::__private::Table<#set, #element>)
    }

    fn tables(&self, axes: Vec<TokenStream>, element: &TokenStream) -> TokenStream {
        let set = self.set(axes);
        quote!(::pointful::__private::Tables<#set, #element>)
    }

    /// The new axis and these.
    fn set(&self, mut axes: Vec<TokenStream>) -> TokenStream {
        axes.insert(0, self.axis.to_token_stream());
        product(axes, &|axes| quote!((#(#axes,)*))).unwrap_or_default()
    }

    /// The axes of a table, as it is written: those of a product are several.
    fn axes(set: &Set, tokens: &TokenStream) -> Vec<TokenStream> {
        match &set.kind {
            SetKind::Product(parts) => (0..parts.len()).map(|at| part(tokens, at)).collect(),
            SetKind::Unit
            | SetKind::Path(..)
            | SetKind::Fin(_)
            | SetKind::Either(..)
            | SetKind::Bool
            | SetKind::Dyn
            | SetKind::Infer => vec![tokens.clone()],
        }
    }

    fn generic(&self, path: &syn::Path) -> Option<&GenericKind> {
        generic(&self.item.generics, path).map(|generic| &generic.kind)
    }

    /// What a path means, with these arguments.
    fn definition(&self, path: &syn::Path, args: &[TypeArg]) -> Option<TypeDefKind> {
        definition(self.types, self.scope, path, args)
    }
}
