//! Types that export themselves: `#[pointful]` structs and aliases, and what derives `IndexSet`.

use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;

use super::Parser;
use crate::diag::syntax as diag;
use crate::syntax::tree::{
    Enum, Generic, GenericKind, Type, TypeDefKind, TypeItem, TypeKind, Variant, VariantFields,
};

impl Parser {
    pub(super) fn type_item(&mut self, item: &syn::Item) -> TypeItem {
        let mut hidden = Vec::new();
        let (generics, kind) = match item {
            syn::Item::Struct(item) => {
                hidden = hidden_fields(&item.fields);
                let generics = self.type_generics(&item.generics);
                if !matches!(item.fields, syn::Fields::Named(_)) {
                    self.error(diag::struct_fields(item.ident.span()));
                }
                (generics, TypeDefKind::Struct(self.fields(&item.fields)))
            }
            syn::Item::Enum(item) => {
                let generics = self.type_generics(&item.generics);
                (generics, TypeDefKind::Enum(self.variants(item)))
            }
            syn::Item::Type(item) => {
                let generics = self.alias_generics(item);
                (generics, TypeDefKind::Alias(self.ty(&item.ty)))
            }
            other => {
                self.error(diag::unsupported_item(other.span()));
                let nothing = Type {
                    kind: TypeKind::Infer,
                    span: other.span(),
                };
                (Vec::new(), TypeDefKind::Alias(nothing))
            }
        };
        TypeItem {
            generics,
            kind,
            hidden,
        }
    }

    pub(super) fn index_set_item(&mut self, item: &syn::DeriveInput) -> TypeItem {
        let kind = match &item.data {
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
        };
        let hidden = match &item.data {
            syn::Data::Struct(data) => hidden_fields(&data.fields),
            syn::Data::Enum(_) | syn::Data::Union(_) => Vec::new(),
        };
        TypeItem {
            generics: Vec::new(),
            kind,
            hidden,
        }
    }

    /// The variants of an enum.
    fn variants(&mut self, item: &syn::ItemEnum) -> Enum {
        if item.variants.is_empty() {
            self.error(diag::empty_enum(item.ident.span()));
        } else if item
            .variants
            .iter()
            .all(|variant| variant.fields.is_empty())
        {
            self.error(diag::enum_of_members(item.ident.span()));
        }
        let (mut variants, mut held) = (Vec::new(), Vec::new());
        for variant in &item.variants {
            self.always_there(&variant.attrs, "a variant");
            let types = self.field_types(&variant.fields);
            let named: Option<Vec<Ident>> = match &variant.fields {
                syn::Fields::Named(fields) => {
                    fields.named.iter().map(|f| f.ident.clone()).collect()
                }
                syn::Fields::Unnamed(_) | syn::Fields::Unit => None,
            };
            variants.push(Variant {
                name: variant.ident.clone(),
                fields: named.map_or(VariantFields::Tuple(types.len()), VariantFields::Named),
            });
            held.push(Type {
                kind: TypeKind::Tuple(types),
                span: variant.ident.span(),
            });
        }
        let sum = (
            Ident::new("variants", item.ident.span()),
            sum(held, item.ident.span()),
        );
        Enum {
            variants,
            sum: [sum],
        }
    }

    /// What other derives read is theirs; but what may not be there cannot be compiled.
    fn always_there(&mut self, attrs: &[syn::Attribute], what: &str) {
        for attr in attrs {
            if attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr") {
                self.no_attributes(std::slice::from_ref(attr), what);
            }
        }
    }

    fn field_types(&mut self, fields: &syn::Fields) -> Vec<Type> {
        let mut types = Vec::new();
        for field in fields {
            self.always_there(&field.attrs, "a field");
            types.push(self.ty(&field.ty));
        }
        types.iter().for_each(|ty| self.no_accumulator(ty));
        types
    }

    fn fields(&mut self, fields: &syn::Fields) -> Vec<(Ident, Type)> {
        // Those of a tuple have no names, which is an error.
        let named = matches!(fields, syn::Fields::Named(_));
        let types = if named {
            self.field_types(fields)
        } else {
            Vec::new()
        };
        let names = fields.iter().filter_map(|field| field.ident.clone());
        names.zip(types).collect()
    }

    /// The generics of a struct: index sets, floats and lengths.
    fn type_generics(&mut self, generics: &syn::Generics) -> Vec<Generic> {
        for param in &generics.params {
            let default = match param {
                syn::GenericParam::Type(param) => param.default.as_ref().map(Spanned::span),
                syn::GenericParam::Const(param) => param.default.as_ref().map(Spanned::span),
                syn::GenericParam::Lifetime(_) => None,
            };
            if let Some(span) = default {
                self.error(diag::generic_default(span));
            }
        }
        let generics = self.generics(generics, &[]);
        for generic in &generics {
            if let GenericKind::Function(..) = generic.kind {
                self.error(diag::generic_type(
                    generic.name.span(),
                    &generic.name.to_string(),
                ));
            }
        }
        generics
    }

    /// The generics of an alias. Rust wants no bounds there, so that what they stand for is told by
    /// where they stand.
    fn alias_generics(&mut self, item: &syn::ItemType) -> Vec<Generic> {
        let bounded = |param: &syn::GenericParam| match param {
            syn::GenericParam::Type(param) => !param.bounds.is_empty(),
            syn::GenericParam::Const(_) | syn::GenericParam::Lifetime(_) => true,
        };
        if item.generics.params.iter().all(bounded) {
            return self.type_generics(&item.generics);
        }
        let mut generics = item.generics.clone();
        for param in &mut generics.params {
            if let syn::GenericParam::Type(param) = param
                && param.bounds.is_empty()
            {
                let is_set = stands_for_set(&item.ty, &param.ident);
                param.bounds.push(if is_set {
                    syn::parse_quote!(IndexSet)
                } else {
                    syn::parse_quote!(Float)
                });
            }
        }
        self.type_generics(&generics)
    }
}

/// The type of a value of one of these kinds: the first, or one of the others.
fn sum(mut kinds: Vec<Type>, span: Span) -> Type {
    let last = kinds.pop().unwrap_or(Type {
        kind: TypeKind::Tuple(Vec::new()),
        span,
    });
    kinds.into_iter().rev().fold(last, |rest, first| Type {
        kind: TypeKind::OneOf(vec![first, rest]),
        span,
    })
}

/// The fields that are not `pub`.
fn hidden_fields(fields: &syn::Fields) -> Vec<Ident> {
    let hidden = fields
        .iter()
        .filter(|field| !matches!(field.vis, syn::Visibility::Public(_)));
    hidden.filter_map(|field| field.ident.clone()).collect()
}

/// Whether a name stands for an index set in a type: in the first argument of `Table`, in `Extent`
/// or in `Either`.
fn stands_for_set(ty: &syn::Type, name: &Ident) -> bool {
    match ty {
        syn::Type::Path(path) => path.path.segments.iter().any(|segment| {
            let syn::PathArguments::AngleBracketed(args) = &segment.arguments else {
                return false;
            };
            let mut types = args.args.iter().filter_map(|arg| match arg {
                syn::GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            match segment.ident.to_string().as_str() {
                "Table" | "Tables" | "Ragged" => {
                    types.next().is_some_and(|set| mentions(set, name))
                        || types.any(|element| stands_for_set(element, name))
                }
                "Extent" | "Either" => types.any(|set| mentions(set, name)),
                _ => types.any(|ty| stands_for_set(ty, name)),
            }
        }),
        syn::Type::Reference(inner) => stands_for_set(&inner.elem, name),
        syn::Type::Paren(inner) => stands_for_set(&inner.elem, name),
        syn::Type::Group(inner) => stands_for_set(&inner.elem, name),
        syn::Type::Array(array) => stands_for_set(&array.elem, name),
        syn::Type::Tuple(tuple) => {
            // A bare name in a product can only be meant as one of its sets.
            tuple
                .elems
                .iter()
                .any(|part| stands_for_set(part, name) || is_name(part, name))
        }
        _ => false,
    }
}

fn is_name(ty: &syn::Type, name: &Ident) -> bool {
    matches!(ty, syn::Type::Path(path) if path.path.is_ident(name))
}

/// Whether a name occurs in a type.
fn mentions(ty: &syn::Type, name: &Ident) -> bool {
    struct Find<'a>(&'a Ident, bool);
    impl<'ast> syn::visit::Visit<'ast> for Find<'_> {
        fn visit_ident(&mut self, ident: &'ast Ident) {
            self.1 |= ident == self.0;
        }
    }
    let mut find = Find(name, false);
    syn::visit::Visit::visit_type(&mut find, ty);
    find.1
}
