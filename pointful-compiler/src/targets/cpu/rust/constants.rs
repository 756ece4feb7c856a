//! Constants as what a program takes them for.
//!
//! A macro does not see the type of a constant. Where nothing that is done with it says which it
//! is, because it is only cast or moves members of sets, rustc is left to know: the constant is
//! made into the numbers that the program has while compiling. A trait refuses what is none.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::Type;

use super::names::ident;
use super::tokens;
use crate::interface::Taken;

/// A constant expression of what a constant is taken for, and its type. What is a number only at
/// entry is a function for it.
pub(crate) fn taken(constant: &TokenStream, taken: &Taken) -> (TokenStream, TokenStream) {
    let carried = quote_spanned!(Span::mixed_site()=> ::pointful::__private::constant::Carried);
    match taken {
        Taken::Exactly(ty) => (exactly(constant, ty), ty.clone()),
        Taken::Integer(ty) | Taken::Number(ty) => (converted(constant, taken, ty), ty.clone()),
        Taken::Member(_) | Taken::Index(_) => {
            let number = number(constant, taken, &tokens!(sizes));
            (tokens!(#carried(|sizes| #number)), carried)
        }
    }
}

/// The number of a constant in its set, whose sizes these are.
pub(super) fn number(constant: &TokenStream, taken: &Taken, sizes: &TokenStream) -> TokenStream {
    let span = place(constant);
    match taken {
        Taken::Exactly(_) | Taken::Integer(_) | Taken::Number(_) => constant.clone(),
        Taken::Member(set) => {
            quote_spanned!(span=> ::pointful::__private::constant::MemberOf::<#set>::number(#constant, #sizes))
        }
        Taken::Index(set) => {
            quote_spanned!(span=> ::pointful::__private::constant::IndexOf::<#set>::position(#constant, #sizes))
        }
    }
}

/// A constant that rustc is asked to be of this type, and says so where it is named if it is not.
fn exactly(constant: &TokenStream, ty: &TokenStream) -> TokenStream {
    let span = place(constant);
    quote_spanned!(span=> ::pointful::__private::constant::exactly::<#ty, _>(#constant))
}

/// Where a constant is named.
fn place(constant: &TokenStream) -> Span {
    let named = constant.clone().into_iter().next();
    Span::mixed_site().located_at(named.map_or_else(Span::mixed_site, |t| t.span()))
}

/// A constant expression of the type `ty`, of numbers or arrays of them, that has the values of
/// `constant`, which has others.
fn converted(constant: &TokenStream, taken: &Taken, ty: &TokenStream) -> TokenStream {
    let Ok(parsed) = syn::parse2::<Type>(ty.clone()) else {
        return constant.clone();
    };
    let (mut element, mut lengths) = (&parsed, Vec::new());
    while let Type::Array(array) = element {
        lengths.push(&array.len);
        element = &array.elem;
    }
    // What does not fit is shown where the constant is named.
    let span = place(constant);
    let number = |of: TokenStream| match taken {
        Taken::Number(_) => {
            quote_spanned!(span=> ::pointful::__private::constant::#element(#of))
        }
        _ => {
            let fits = quote_spanned! {span=>
                ::core::assert!(signed as i128 == integer, "an integer of a constant is too large")
            };
            let integer = quote_spanned!(span=> ::pointful::__private::constant::integer(#of));
            tokens!({ let integer = #integer; let signed = integer as #element; #fits; signed })
        }
    };
    if lengths.is_empty() {
        return number(constant.clone());
    }
    let zero = lengths.iter().rev().fold(
        tokens!(0 as #element),
        |inner, length| tokens!([#inner; #length]),
    );
    let counters: Vec<_> = (0..lengths.len())
        .map(|k| ident(&format!("k{k}")))
        .collect();
    let number = number(tokens!(from #([#counters])*));
    let one = tokens!(to #([#counters])* = #number;);
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
