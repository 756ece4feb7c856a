//! Constants of whatever integers as those that a program takes them for.
//!
//! A macro does not see the type of a constant. Where nothing that is done with it says which it
//! is, because it is only cast or moves members of sets, rustc is left to know: the constant is
//! made into signed integers while compiling. A shift, which all integers have and nothing else
//! has, refuses what is none.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::Type;

use super::names::ident;
use super::tokens;

/// A constant expression of the type `ty`, of integers or arrays of them, that has the values of
/// `constant`, which has others.
pub(crate) fn converted(constant: &TokenStream, ty: &TokenStream) -> TokenStream {
    let Ok(parsed) = syn::parse2::<Type>(ty.clone()) else {
        return constant.clone();
    };
    let (mut element, mut lengths) = (&parsed, Vec::new());
    while let Type::Array(array) = element {
        lengths.push(&array.len);
        element = &array.elem;
    }
    // What does not fit is shown where the constant is named.
    let named = constant.clone().into_iter().next();
    let span = Span::mixed_site().located_at(named.map_or_else(Span::mixed_site, |t| t.span()));
    let signed = quote_spanned!(span=> (integer >> 0u32) as #element);
    let fits = quote_spanned! {span=>
        ::core::assert!(signed as i128 == integer as i128, "an integer of a constant is too large")
    };
    if lengths.is_empty() {
        return tokens!({ let integer = #constant; let signed = #signed; #fits; signed });
    }
    let zero = lengths
        .iter()
        .rev()
        .fold(tokens!(0), |inner, length| tokens!([#inner; #length]));
    let counters: Vec<_> = (0..lengths.len())
        .map(|k| ident(&format!("k{k}")))
        .collect();
    let one = tokens! {
        let integer = from #([#counters])*;
        let signed = #signed;
        #fits;
        to #([#counters])* = signed;
    };
    let all = (0..lengths.len()).rev().fold(one, |inner, depth| {
        let (counter, outer) = (&counters[depth], &counters[..depth]);
        let same = quote_spanned! {span=>
            ::core::assert!(from #([#outer])* .len() == to #([#outer])* .len(), "an array is not as long as it is used")
        };
        tokens! {
            #same;
            let mut #counter = 0usize;
            while #counter < to #([#outer])* .len() {
                #inner
                #counter += 1;
            }
        }
    });
    tokens! {{
        let from = #constant;
        let mut to: #ty = #zero;
        #all
        to
    }}
}
