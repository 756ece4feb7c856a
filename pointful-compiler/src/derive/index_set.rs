//! `#[derive(IndexSet)]`: a type as a finite ordered set.
//!
//! Three kinds of types are index sets, and each is in one-to-one correspondence with a set of the
//! runtime's, its *model*:
//!
//! | type | is | model |
//! |---|---|---|
//! | `struct Pixel(usize);` | a nominal set whose size is known at run time | `Dyn` |
//! | `enum Channel { R, G, B }` | a static set with named members | `Fin<3>` |
//! | `struct Cell { row: Row, col: Col }` | a product with named parts | `(Row, Col)` |
//!
//! The implementations go to the model and back, so the contract of `IndexSet`, on which unchecked
//! reads rely, is kept where the model keeps it. A field's value is never trusted: the model
//! compares it with the extent like any other.
//!
//! The user's type need implement `Copy` and nothing else.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use syn::spanned::Spanned;
use syn::{Data, DataEnum, DeriveInput, Fields, FieldsNamed, FieldsUnnamed, Type};

use crate::diag::{Diagnostic, Diagnostics, derive as diag};
use crate::ir::Scalar;
use crate::link::beside;
use crate::syntax::depth::check_tokens;

/// The most parts a tuple of index sets may have, and so a struct.
const MOST_PARTS: usize = 6;

/// `quote!` with the span of the expansion: names in it do not meet the user's, and lints of the
/// user's crate do not apply.
macro_rules! tokens {
    ($($tokens:tt)*) => {
        ::quote::quote_spanned! { ::proc_macro2::Span::mixed_site()=> $($tokens)* }
    };
}

/// Expands the derive: the implementations, or the errors and an implementation that keeps them
/// from causing others.
pub fn index_set(input: TokenStream) -> TokenStream {
    if let Err(error) = check_tokens(&input) {
        return error.to_tokens();
    }
    let input = match syn::parse2::<DeriveInput>(input) {
        Ok(input) => input,
        Err(error) => return Diagnostic::from(error).to_tokens(),
    };
    match Correspondence::of(&input) {
        Ok(correspondence) => {
            let implementations = correspondence.implementations();
            let (name, lacking) = (
                &input.ident,
                beside::lacks(&input.ident, &["Clone", "Copy"]),
            );
            let error = lacking
                .contains(&"Copy")
                .then(|| diag::index_set_not_copy(name.span()).to_tokens());
            // What rustc would say of all that needs it is said once.
            let given = error.is_some().then(|| {
                let clone = lacking.contains(&"Clone").then(|| {
                    tokens!(impl ::core::clone::Clone for #name { fn clone(&self) -> Self { *self } })
                });
                tokens!(#clone impl ::core::marker::Copy for #name {})
            });
            tokens!(#error #given #implementations)
        }
        Err(errors) => {
            let stub = if input.generics.params.is_empty() {
                stub(&input.ident)
            } else {
                TokenStream::new()
            };
            let errors = errors.iter().map(Diagnostic::to_tokens);
            tokens!(#(#errors)* #stub)
        }
    }
}

/// Whether the derive says what is wrong with an item.
pub fn is_refused(input: &DeriveInput) -> bool {
    Correspondence::of(input).is_err()
}

/// What the user's type corresponds to.
struct Correspondence<'a> {
    name: &'a Ident,
    /// The runtime's set.
    model: TokenStream,
    /// A member `self` as one of the model.
    to_model: TokenStream,
    /// A member `model` as one of the type.
    from_model: TokenStream,
    kind: Kind,
}

/// What else the type is.
enum Kind {
    /// A set whose size is known at run time.
    Nominal,
    /// A set whose size is part of its type.
    Static,
    /// A product; the types of its parts.
    Product(Vec<Type>),
}

impl<'a> Correspondence<'a> {
    fn of(input: &'a DeriveInput) -> Result<Self, Vec<Diagnostic>> {
        let name = &input.ident;
        let mut errors = Diagnostics::default();
        if let Some(param) = input.generics.params.first() {
            errors.push(diag::generic_index_set(param.span()));
        }
        let correspondence = match &input.data {
            Data::Struct(data) => match &data.fields {
                Fields::Unnamed(fields) => Self::nominal(name, fields),
                Fields::Named(fields) => Self::product(name, fields),
                Fields::Unit => Err(diag::unit_struct_index_set(name.span())),
            },
            Data::Enum(data) => Self::enumeration(name, data),
            Data::Union(data) => Err(diag::union_index_set(data.union_token.span)),
        };
        match correspondence {
            Ok(correspondence) => errors.gate(correspondence),
            Err(error) => {
                errors.push(error);
                Err(errors.into_vec())
            }
        }
    }

    fn nominal(name: &'a Ident, fields: &FieldsUnnamed) -> Result<Self, Diagnostic> {
        let mut all = fields.unnamed.iter();
        let (Some(field), None) = (all.next(), all.next()) else {
            return Err(diag::unnamed_parts(fields.span()));
        };
        if !is_usize(&field.ty) {
            let ty = &field.ty;
            let found = quote::quote!(#ty).to_string();
            return Err(diag::ordinal_not_usize(ty.span(), &found));
        }
        Ok(Correspondence {
            name,
            model: tokens!(::pointful::__private::Dyn),
            to_model: tokens!(::pointful::__private::Dyn(self.0)),
            from_model: tokens!(#name(model.0)),
            kind: Kind::Nominal,
        })
    }

    fn enumeration(name: &'a Ident, data: &DataEnum) -> Result<Self, Diagnostic> {
        if let Some(variant) = data
            .variants
            .iter()
            .find(|variant| !matches!(variant.fields, Fields::Unit))
        {
            let text = variant.ident.to_string();
            return Err(diag::variant_with_fields(variant.fields.span(), &text));
        }
        let count = Literal::usize_unsuffixed(data.variants.len());
        let ordinals = (0..data.variants.len()).map(Literal::usize_unsuffixed);
        let ordinals = ordinals.collect::<Vec<_>>();
        let variants = data.variants.iter().map(|variant| &variant.ident);
        let variants = variants.collect::<Vec<_>>();
        let model = tokens!(::pointful::__private::Fin<#count>);
        let to_model = if variants.is_empty() {
            tokens!(match self {})
        } else {
            tokens!(<#model>::new(match self { #(#name::#variants => #ordinals,)* }))
        };
        let from_model = tokens! {
            match model.get() {
                #(#ordinals => #name::#variants,)*
                // The member of a `Fin` is below its size.
                _ => ::core::unreachable!(),
            }
        };
        Ok(Correspondence {
            name,
            model,
            to_model,
            from_model,
            kind: Kind::Static,
        })
    }

    fn product(name: &'a Ident, fields: &FieldsNamed) -> Result<Self, Diagnostic> {
        if let Some(surplus) = fields.named.iter().nth(MOST_PARTS) {
            return Err(diag::too_many_parts(surplus.span(), MOST_PARTS));
        }
        if fields.named.is_empty() {
            return Err(diag::index_set_without_parts(fields.span()));
        }
        if let Some((field, found)) = fields
            .named
            .iter()
            .find_map(|field| Some((field, number(&field.ty)?)))
        {
            let (span, name) = (field.ty.span(), name.to_string());
            return Err(match fields.named.len() {
                1 => diag::named_number(span, &name),
                _ => diag::number_as_part(span, &found),
            });
        }
        let names = fields.named.iter().map(|field| &field.ident);
        let names = names.collect::<Vec<_>>();
        let types = fields.named.iter().map(|field| field.ty.clone());
        let types = types.collect::<Vec<_>>();
        let (model, to_model, from_model) = match (&names[..], &types[..]) {
            ([part], [ty]) => (
                tokens!(#ty),
                tokens!(self.#part),
                tokens!(#name { #part: model }),
            ),
            _ => {
                let positions = (0..names.len()).map(Literal::usize_unsuffixed);
                (
                    tokens!((#(#types,)*)),
                    tokens!((#(self.#names,)*)),
                    tokens!(#name { #(#names: model.#positions),* }),
                )
            }
        };
        Ok(Correspondence {
            name,
            model,
            to_model,
            from_model,
            kind: Kind::Product(types),
        })
    }

    /// All implementations for the type.
    fn implementations(&self) -> TokenStream {
        let (index_set, element, kind) = (self.index_set(), self.element(), self.kind());
        tokens!(#index_set #element #kind)
    }

    fn index_set(&self) -> TokenStream {
        let Correspondence {
            name,
            model,
            to_model,
            from_model,
            kind: _,
        } = self;
        tokens! {
            // SAFETY: members correspond one to one to those of the model, which keeps the contract.
            #[allow(unreachable_code, reason = "an enum without variants has no member to go on with")]
            #[automatically_derived]
            unsafe impl ::pointful::__private::IndexSet for #name {
                type Size = <#model as ::pointful::__private::IndexSet>::Size;
                const RANK: ::core::primitive::usize = <#model as ::pointful::__private::IndexSet>::RANK;

                #[inline(always)]
                fn checked_len(size: Self::Size) -> ::core::option::Option<::core::primitive::usize> {
                    <#model as ::pointful::__private::IndexSet>::checked_len(size)
                }

                #[inline(always)]
                fn checked_ordinal(
                    self,
                    extent: ::pointful::__private::Extent<Self>,
                ) -> ::core::option::Option<::core::primitive::usize> {
                    let member: #model = #to_model;
                    ::pointful::__private::IndexSet::checked_ordinal(
                        member,
                        ::pointful::__private::Extent::<#model>::new(extent.size()),
                    )
                }

                #[inline(always)]
                unsafe fn from_ordinal_unchecked(
                    ordinal: ::core::primitive::usize,
                    extent: ::pointful::__private::Extent<Self>,
                ) -> Self {
                    let extent = ::pointful::__private::Extent::<#model>::new(extent.size());
                    // SAFETY: the extent has the length of the model's, and the caller's ordinal is below it.
                    let model = unsafe {
                        <#model as ::pointful::__private::IndexSet>::from_ordinal_unchecked(ordinal, extent)
                    };
                    #from_model
                }

                fn axes(
                    extent: ::pointful::__private::Extent<Self>,
                    axes: &mut ::pointful::__private::Vec<::core::primitive::usize>,
                ) {
                    let extent = ::pointful::__private::Extent::<#model>::new(extent.size());
                    <#model as ::pointful::__private::IndexSet>::axes(extent, axes)
                }

                fn size_from_axes(
                    axes: &mut ::pointful::__private::Axes<'_>,
                ) -> ::core::result::Result<Self::Size, ::pointful::__private::Error> {
                    <#model as ::pointful::__private::IndexSet>::size_from_axes(axes)
                }

                fn size_of_parts(sizes: &mut ::pointful::__private::Axes<'_>) -> Self::Size {
                    <#model as ::pointful::__private::IndexSet>::size_of_parts(sizes)
                }

                fn fmt_size(
                    size: Self::Size,
                    f: &mut ::core::fmt::Formatter<'_>,
                ) -> ::core::fmt::Result {
                    <#model as ::pointful::__private::IndexSet>::fmt_size(size, f)
                }

                ::pointful::__private::stored_as_ordinals!();
            }
        }
    }

    fn element(&self) -> TokenStream {
        let name = self.name;
        tokens! {
            // SAFETY: the stored form is the ordinal, compared with the extent when it is made.
            #[automatically_derived]
            unsafe impl ::pointful::__private::Element for #name {
                type Repr = ::core::primitive::usize;
                type Meta = ::pointful::__private::Extent<Self>;

                #[inline(always)]
                fn to_repr(self, meta: Self::Meta) -> ::core::option::Option<::core::primitive::usize> {
                    ::pointful::__private::IndexSet::checked_ordinal(self, meta)
                }

                #[inline(always)]
                fn is_valid(repr: ::core::primitive::usize, meta: Self::Meta) -> ::core::primitive::bool {
                    repr < meta.len()
                }

                #[inline(always)]
                unsafe fn from_repr(repr: ::core::primitive::usize, meta: Self::Meta) -> Self {
                    // SAFETY: the caller's `repr` is an ordinal in `meta`.
                    unsafe {
                        <Self as ::pointful::__private::IndexSet>::from_ordinal_unchecked(repr, meta)
                    }
                }
            }
        }
    }

    /// What only some kinds implement.
    fn kind(&self) -> TokenStream {
        let (name, model) = (self.name, &self.model);
        match &self.kind {
            Kind::Nominal => TokenStream::new(),
            Kind::Static => tokens! {
                #[automatically_derived]
                impl ::pointful::__private::StaticSet for #name {
                    const SIZE: () = ();
                }
            },
            Kind::Product(types) => {
                let (parts, split, join) = match &types[..] {
                    [_] => (
                        tokens!((::pointful::__private::Extent<#model>,)),
                        tokens!((extent,)),
                        tokens!(parts.0.size()),
                    ),
                    _ => (
                        tokens!(<#model as ::pointful::__private::Compound>::Parts),
                        tokens!(extent.split()),
                        tokens!(<#model as ::pointful::__private::Compound>::join_sizes(parts)),
                    ),
                };
                tokens! {
                    #[automatically_derived]
                    impl ::pointful::__private::Compound for #name {
                        type Parts = #parts;

                        #[inline(always)]
                        fn split(extent: ::pointful::__private::Extent<Self>) -> Self::Parts {
                            let extent = ::pointful::__private::Extent::<#model>::new(extent.size());
                            #split
                        }

                        #[inline(always)]
                        fn join_sizes(parts: Self::Parts) -> Self::Size {
                            #join
                        }
                    }

                    // The bound is quantified over a lifetime that does not occur, because rustc refuses a plain
                    // bound without parameters that does not hold, and this one holds for static parts only.
                    #[automatically_derived]
                    impl ::pointful::__private::StaticSet for #name
                    where
                        for<'part> #model: ::pointful::__private::StaticSet,
                    {
                        const SIZE: Self::Size = <#model as ::pointful::__private::StaticSet>::SIZE;
                    }
                }
            }
        }
    }
}

/// Whether a type is written `usize`, by any path.
/// The name of a type that is written as a number, which is no index set.
fn number(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) if path.qself.is_none() => {
            let name = path.path.segments.last()?.ident.to_string();
            let scalar = Scalar::from_name(&name).filter(|scalar| *scalar != Scalar::Bool);
            scalar.map(|scalar| scalar.name().to_owned())
        }
        Type::Paren(paren) => number(&paren.elem),
        Type::Group(group) => number(&group.elem),
        _ => None,
    }
}

fn is_usize(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => {
            path.qself.is_none()
                && path
                    .path
                    .segments
                    .last()
                    .is_some_and(|last| last.ident == "usize")
        }
        Type::Paren(paren) => is_usize(&paren.elem),
        Type::Group(group) => is_usize(&group.elem),
        _ => false,
    }
}

/// An implementation for a type that was refused, so that the error is the only one.
fn stub(name: &Ident) -> TokenStream {
    let name = Ident::new(
        &name.to_string(),
        name.span().resolved_at(Span::mixed_site()),
    );
    let correspondence = Correspondence {
        name: &name,
        model: tokens!(()),
        to_model: tokens!(::core::unreachable!()),
        from_model: tokens!(::core::unreachable!()),
        kind: Kind::Nominal,
    };
    correspondence.implementations()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(source: &str) -> String {
        index_set(source.parse().expect("tokens")).to_string()
    }

    /// The texts of the `compile_error!`s, in order.
    fn errors(source: &str) -> Vec<String> {
        let expanded = index_set(source.parse().expect("tokens"));
        let file = syn::parse2::<syn::File>(expanded).expect("items");
        let macros = file.items.into_iter().filter_map(|item| match item {
            syn::Item::Macro(item) => Some(item.mac),
            _ => None,
        });
        macros
            .map(|mac| mac.parse_body::<syn::LitStr>().expect("a text").value())
            .collect()
    }

    #[test]
    fn the_three_kinds_expand_to_items() {
        for (source, model) in [
            ("struct Pixel(usize);", "Dyn"),
            (
                "pub struct Pixel(pub(crate) ::core::primitive::usize);",
                "Dyn",
            ),
            ("enum Channel { R = 3, G, B }", "Fin < 3 >"),
            ("enum Nothing {}", "Fin < 0 >"),
            (
                "struct Cell { row: Row, col: r#type::Col }",
                "(Row , r#type :: Col ,)",
            ),
            ("struct Named { row: Row }", "< Row as"),
        ] {
            let expanded = expand(source);
            assert!(expanded.contains(model), "{source}: {expanded}");
            assert!(errors(source).is_empty(), "{source}");
            assert_eq!(expanded, expand(source));
        }
    }

    /// The message, and the user's token it points at.
    #[test]
    fn everything_else_is_explained() {
        for (source, message, token) in [
            (
                "struct Pixel<T>(usize);",
                "a derived index set has no generic parameters",
                "T",
            ),
            (
                "union U { a: usize }",
                "a union cannot be an index set",
                "union",
            ),
            (
                "struct Pixel;",
                "an index set is a struct with fields or an enum",
                "Pixel",
            ),
            (
                "struct Cell {}",
                "a product of index sets has at least one part",
                "{}",
            ),
            (
                "struct Pixel();",
                "a set whose members are numbered has one field, its `usize`",
                "()",
            ),
            (
                "struct Pixel(usize, usize);",
                "a set whose members are numbered has one field, its `usize`",
                "(usize, usize)",
            ),
            (
                "struct Pixel(u32);",
                "the number of a member is a `usize`, not `u32`",
                "u32",
            ),
            (
                "struct Pixel { id: usize }",
                "a set whose members are numbered has one field without a name",
                "usize",
            ),
            (
                "struct Pixel { id: (u32) }",
                "a set whose members are numbered has one field without a name",
                "(u32)",
            ),
            (
                "struct Cell { row: Row, col: usize }",
                "`usize` is no index set, of which a product's parts are",
                "usize",
            ),
            (
                "struct Seven { a: A, b: B, c: C, d: D, e: E, f: F, g: G }",
                "a product of index sets has at most 6 parts",
                "g: G",
            ),
            (
                "enum E { A, B(u8) }",
                "`B` has fields, but every variant of an index set is one member",
                "(u8)",
            ),
            (
                "enum E { A {} }",
                "`A` has fields, but every variant of an index set is one member",
                "{}",
            ),
        ] {
            let input = syn::parse_str::<DeriveInput>(source).expect("an item");
            let found = Correspondence::of(&input).err().expect(source);
            let [found] = &found[..] else {
                panic!("{source}: {found:?}")
            };
            assert_eq!(found.message, message, "{source}");
            assert_eq!(found.span.source_text().as_deref(), Some(token), "{source}");
            assert!(!found.help.is_empty(), "{source}");
            assert_eq!(errors(source).len(), 1, "{source}");
        }
        assert_eq!(errors("struct Pixel<T>(T);").len(), 2);
        assert_eq!(errors("fn f() {}").len(), 1);
    }
}
