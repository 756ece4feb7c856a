//! How an enum marked `#[pointful]` is taken apart and made: as the sum of tuples of what its
//! variants hold.
//!
//! ```text
//! enum Shape { Circle(f64), Rect { w: f64, h: f64 }, Nothing }
//! ▶
//! Shape::Rect { w, h }    Either::Right(Either::Left((w, h)))
//! ```

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

/// The implementations of `Record` and `Variants`.
pub(super) fn sum(item: &syn::Item) -> TokenStream {
    let syn::Item::Enum(item) = item else {
        return TokenStream::new();
    };
    // There are no values of one without variants.
    if item.variants.is_empty() {
        return TokenStream::new();
    }
    let name = &item.ident;
    let (generics, arguments, conditions) = item.generics.split_for_impl();
    let count = item.variants.len();
    let kinds: Vec<Kind> = item.variants.iter().map(Kind::of).collect();
    let held = nested(kinds.iter().map(|kind| kind.tuple(&quote!())).collect());
    let referred = nested(
        kinds
            .iter()
            .map(|kind| kind.tuple(&quote!(&'held)))
            .collect(),
    );
    let made = kinds.iter().enumerate().map(|(number, kind)| {
        let (values, pattern) = (kind.values(), &kind.pattern);
        let sum = at(quote!((#(#values,)*)), number, count);
        quote!(#sum => Self::#pattern)
    });
    let apart = kinds.iter().enumerate().map(|(number, kind)| {
        let (values, pattern) = (kind.values(), &kind.pattern);
        let sum = at(quote!((#(#values,)*)), number, count);
        quote!(Self::#pattern => #sum)
    });
    quote! {
        #[doc(hidden)]
        impl #generics ::pointful::__private::Record<(#held,)> for #name #arguments #conditions {
            #[inline]
            fn from_fields((sum,): (#held,)) -> Self {
                match sum { #(#made,)* }
            }
        }
        #[doc(hidden)]
        impl #generics ::pointful::__private::kernel::Variants for #name #arguments #conditions {
            type Held<'held> = #referred where Self: 'held;
            #[inline]
            fn held_by_variant(&self) -> Self::Held<'_> {
                match self { #(#apart,)* }
            }
        }
    }
}

/// A variant: the types of what it holds, and its name with variables for them.
pub(super) struct Kind<'a> {
    types: Vec<&'a syn::Type>,
    /// The name with variables, a pattern and an expression.
    pub(super) pattern: TokenStream,
}

impl<'a> Kind<'a> {
    pub(super) fn of(variant: &'a syn::Variant) -> Self {
        let name = &variant.ident;
        let types: Vec<_> = variant.fields.iter().map(|field| &field.ty).collect();
        let values = values(types.len());
        let pattern = match &variant.fields {
            syn::Fields::Named(fields) => {
                let names = fields.named.iter().filter_map(|field| field.ident.as_ref());
                quote!(#name { #(#names: #values),* })
            }
            syn::Fields::Unnamed(_) => quote!(#name(#(#values),*)),
            syn::Fields::Unit => quote!(#name),
        };
        Kind { types, pattern }
    }

    /// The variables.
    pub(super) fn values(&self) -> Vec<Ident> {
        values(self.types.len())
    }

    /// The type of the tuple of what it holds, behind references or not.
    fn tuple(&self, reference: &TokenStream) -> TokenStream {
        let types = &self.types;
        quote!((#(#reference #types,)*))
    }
}

/// Variables for so many values.
fn values(count: usize) -> Vec<Ident> {
    let value = |k| Ident::new(&format_ident!("value_{k}").to_string(), Span::mixed_site());
    (0..count).map(value).collect()
}

/// The sum of these types.
fn nested(mut types: Vec<TokenStream>) -> TokenStream {
    let last = types.pop().unwrap_or_default();
    types.into_iter().rev().fold(
        last,
        |rest, first| quote!(::pointful::__private::Either<#first, #rest>),
    )
}

/// A value of one of so many kinds, as a value of their sum.
fn at(value: TokenStream, number: usize, count: usize) -> TokenStream {
    let either = quote!(::pointful::__private::Either);
    let own = match number + 1 < count {
        true => quote!(#either::Left(#value)),
        false => value,
    };
    (0..number).fold(own, |inner, _| quote!(#either::Right(#inner)))
}
