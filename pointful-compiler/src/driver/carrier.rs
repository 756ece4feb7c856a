//! The hidden type of a function's own name, which has what others' expansions need and cannot
//! name: constants of its module and of its callees' as associated constants, types in its
//! signature through the trait `Part`.
//!
//! ```text
//! fn f(a: &Table<(Row, Fin<N>), f64>) -> …        type f = __pointful_f_1a2b_carrier<Row>;
//!                                          ▶      enum __pointful_f_1a2b_carrier<T0> { … }
//!                                                 impl<T0> __pointful_f_1a2b_carrier<T0> { pub const __pointful_f_1a2b_0: usize = N; }
//!                                                 impl<T0> Part<0> for __pointful_f_1a2b_carrier<T0> { type Type = T0; }
//! ```
//!
//! From anywhere `<m::f as Part<0>>::Type` is `Row` then, and `m::f::__pointful_f_1a2b_0` is `N`.
//! The types are arguments of an alias because an alias may name types that are more private than
//! itself, where an associated type may not.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

/// What a carrier has.
#[derive(Default)]
pub(super) struct Carrier {
    /// Constants: name, type, value.
    pub(super) constants: Vec<(Ident, TokenStream, TokenStream)>,
    /// Types, by the position at which `Part` has them.
    pub(super) types: Vec<TokenStream>,
}

impl Carrier {
    /// The items, for the function `name`; nothing if there is nothing to carry.
    pub(super) fn items(&self, name: &Ident, vis: &syn::Visibility, unique: &Ident) -> TokenStream {
        let Self { constants, types } = self;
        if constants.is_empty() && types.is_empty() {
            return TokenStream::new();
        }
        // Not the user's token: a name that occurs twice must not be shown twice where the user wrote it once.
        let name = Ident::new(&name.to_string(), Span::call_site());
        let params: Vec<_> = (0..types.len()).map(|at| format_ident!("T{at}")).collect();
        let (carrier, alias) = if types.is_empty() {
            (name, TokenStream::new())
        } else {
            let carrier = format_ident!("{unique}_carrier");
            let alias = quote! {
                #[doc(hidden)]
                #[allow(non_camel_case_types, dead_code, private_interfaces, reason = "only other functions' expansions name this type")]
                #vis type #name = #carrier<#(#types),*>;
            };
            (carrier, alias)
        };
        let generics = (!types.is_empty()).then(|| quote!(<#(#params),*>));
        let holds = (!types.is_empty()).then(|| {
            quote!(
                #[doc(hidden)]
                Never(::core::convert::Infallible, ::core::marker::PhantomData<(#(#params,)*)>)
            )
        });
        let constants = constants
            .iter()
            .map(|(name, ty, value)| quote!(pub const #name: #ty = #value;));
        let parts = params.iter().enumerate().map(|(at, param)| {
            quote! {
                #[doc(hidden)]
                impl<#(#params),*> ::pointful::__private::Part<#at> for #carrier<#(#params),*> { type Type = #param; }
            }
        });
        quote! {
            #alias
            #[doc(hidden)]
            #[allow(non_camel_case_types, dead_code, reason = "only other functions' expansions name this type")]
            #vis enum #carrier #generics { #holds }
            #[doc(hidden)]
            #[allow(non_upper_case_globals, dead_code, reason = "only other functions' expansions name these constants")]
            impl #generics #carrier #generics { #(#constants)* }
            #(#parts)*
        }
    }
}
