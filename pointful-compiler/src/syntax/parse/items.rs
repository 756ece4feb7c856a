//! Types that export themselves: `#[pointful]` structs and aliases, and what derives `IndexSet`.

use proc_macro2::Ident;
use syn::spanned::Spanned;

use super::Parser;
use crate::diag::syntax as diag;
use crate::syntax::tree::{Type, TypeDefKind, TypeKind};

impl Parser {
    pub(super) fn type_item(&mut self, item: &syn::Item) -> TypeDefKind {
        match item {
            syn::Item::Struct(item) => {
                self.no_generics(&item.generics, &item.ident);
                if !matches!(item.fields, syn::Fields::Named(_)) {
                    self.error(diag::struct_fields(item.ident.span()));
                }
                TypeDefKind::Struct(self.fields(&item.fields))
            }
            syn::Item::Type(item) => {
                self.no_generics(&item.generics, &item.ident);
                TypeDefKind::Alias(self.ty(&item.ty))
            }
            other => {
                self.error(diag::unsupported_item(other.span()));
                TypeDefKind::Alias(Type {
                    kind: TypeKind::Infer,
                    span: other.span(),
                })
            }
        }
    }

    pub(super) fn index_set_item(&mut self, item: &syn::DeriveInput) -> TypeDefKind {
        match &item.data {
            syn::Data::Enum(data) => TypeDefKind::EnumSet(
                data.variants
                    .iter()
                    .map(|variant| variant.ident.clone())
                    .collect(),
            ),
            syn::Data::Struct(data) if matches!(data.fields, syn::Fields::Named(_)) => {
                TypeDefKind::ProductSet(self.fields(&data.fields))
            }
            syn::Data::Struct(_) | syn::Data::Union(_) => TypeDefKind::NominalSet,
        }
    }

    fn fields(&mut self, fields: &syn::Fields) -> Vec<(Ident, Type)> {
        fields
            .iter()
            .filter_map(|field| Some((field.ident.clone()?, self.ty(&field.ty))))
            .collect()
    }

    fn no_generics(&mut self, generics: &syn::Generics, name: &Ident) {
        if !generics.params.is_empty() {
            self.error(diag::generic_type(generics.span(), &name.to_string()));
        }
    }
}
