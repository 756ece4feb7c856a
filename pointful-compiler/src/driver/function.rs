//! A function: its signature around the compiled body, its carrier, its companion.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::carrier::Carrier;
use super::stub::stub;
use super::{compile, link};
use crate::diag::Diagnostic;
use crate::link::{Entry, EntryKind, Exported, Gathering, Names, Payload, companion, unique_name};
use crate::lower::{Constant, check, length_of_axis};
use crate::syntax::names::{Uses, signature_types};
use crate::syntax::parse::{EXTERN, strip_parameter_attributes};
use crate::syntax::tree::{Function, Type, TypeKind, path_key};
use crate::targets::cpu::rust::taken;

/// The expansion of `#[pointful]` on a function.
pub(super) fn finish(
    gathering: &Gathering,
    item: &syn::ItemFn,
    function: &Function,
    uses: &Uses,
) -> Result<TokenStream, Vec<Diagnostic>> {
    let linked = link(gathering, function.clone(), &names(gathering, uses))?;
    if function.is_extern() {
        check(&linked)?;
        let (dead, beside) = (
            dead(item),
            beside(gathering, item, function, uses, Some(Vec::new())),
        );
        return Ok(quote!(#dead #item #beside));
    }
    let (body, constants) = compile(&linked)?;
    // Constants are named once where the user named them, so that rustc knows that they and their imports are used.
    let named = &uses.constants;
    let body = quote!(#(let _ = #named;)* #body);
    let itself = with_body(item, &body, &uses.unused);
    let beside = beside(gathering, item, function, uses, Some(constants));
    Ok(quote!(#itself #beside))
}

/// What stands for a function with errors, or one that calls such a function. Its signature is
/// whole, so what is made of it has a type.
pub(super) fn broken(
    gathering: &Gathering,
    item: &syn::ItemFn,
    function: &Function,
    uses: &Uses,
) -> TokenStream {
    let (stub, beside) = (stub(item), beside(gathering, item, function, uses, None));
    quote!(#stub #beside)
}

/// The meanings of the names in a function.
fn names(gathering: &Gathering, uses: &Uses) -> Names {
    Names {
        functions: gathering.meanings(&uses.functions),
        types: gathering.meanings(&uses.types),
        constants: uses.constants.clone(),
    }
}

/// The carrier and the companion of a function; of a broken one the constants are not known, nor
/// does anybody need its body.
fn beside(
    gathering: &Gathering,
    item: &syn::ItemFn,
    function: &Function,
    uses: &Uses,
    constants: Option<Vec<Constant>>,
) -> TokenStream {
    let request = &gathering.request;
    let unique = unique_name(&item.sig.ident, &request.site, &request.item);
    let types = signature_types(function)
        .iter()
        .map(ToTokens::to_token_stream)
        .collect();
    let broken = constants.is_none();
    let constants = constants.unwrap_or_default();
    let mut carried = carried(gathering);
    let mut own = Vec::new();
    for (exported, value) in exported(&unique, uses, constants) {
        carried.push((exported.name.clone(), exported.ty.clone(), value));
        own.push(exported);
    }
    own.extend(lengths(gathering));
    if function.is_extern() && !broken {
        let pointer = pointer(&unique, function);
        let itself = item.sig.ident.to_token_stream();
        carried.push((pointer.name.clone(), pointer.ty.clone(), itself));
        own.push(pointer);
    }
    let carrier = Carrier {
        constants: carried,
        types,
    };
    let mut tokens = item.clone();
    tokens.attrs.clear();
    if broken || function.is_extern() {
        tokens.block.stmts.clear();
    }
    let own = Entry {
        kind: EntryKind::Function,
        name: unique.clone(),
        args: request.args.clone(),
        item: tokens.into_token_stream(),
        names: names(gathering, uses),
        constants: own,
    };
    let payload = Payload {
        broken,
        ..payload(gathering, own)
    };
    let carrier = carrier.items(&item.sig.ident, &item.vis, &unique);
    let companion = companion(&item.sig.ident, &item.vis, &unique, &payload);
    quote!(#carrier #companion)
}

/// The constants that a function's own text names, as its carrier has them, with their values: those
/// whose types were inferred, and lengths.
fn exported(unique: &Ident, uses: &Uses, constants: Vec<Constant>) -> Vec<(Exported, TokenStream)> {
    let mut found: Vec<(String, TokenStream, TokenStream)> = Vec::new();
    for constant in &constants {
        let (value, ty) = taken(&constant.value, &constant.taken);
        found.push((constant.key.clone(), ty, value));
    }
    for path in &uses.lengths {
        let key = path_key(path);
        if found.iter().all(|(known, ..)| *known != key) {
            found.push((key, quote!(usize), path.to_token_stream()));
        }
    }
    let export = |(at, (path, ty, value))| {
        let name = format_ident!("{unique}_{at}");
        (Exported { path, name, ty }, value)
    };
    found.into_iter().enumerate().map(export).collect()
}

/// A function whose body is not read, as its carrier has it: nobody else may be able to name it.
fn pointer(unique: &Ident, function: &Function) -> Exported {
    let name = |ty: &Type| match &ty.kind {
        TypeKind::Scalar(scalar) => {
            let scalar = format_ident!("{}", scalar.name());
            Some(quote!(::core::primitive::#scalar))
        }
        // Was refused.
        _ => None,
    };
    let params = function.params.iter().map(|param| name(&param.ty));
    let result = name(&function.result);
    Exported {
        path: EXTERN.to_owned(),
        name: format_ident!("{unique}_{EXTERN}"),
        ty: quote!(fn(#(#params),*) -> #result),
    }
}

/// The lengths in the definitions of types that an item was linked with. Whoever links with it gets
/// them by it.
pub(super) fn lengths(gathering: &Gathering) -> Vec<Exported> {
    let entries = gathering.entries().into_iter();
    let types = entries.filter(|(entry, _)| entry.kind != EntryKind::Function);
    let mut lengths: Vec<Exported> = Vec::new();
    for known in types.flat_map(|(entry, _)| &entry.constants) {
        if lengths.iter().all(|other| other.name != known.name) {
            let path = known.name.to_string();
            lengths.push(Exported {
                path,
                ..known.clone()
            });
        }
    }
    lengths
}

/// The constants of what a function was linked with, through the carriers that have them.
pub(super) fn carried(gathering: &Gathering) -> Vec<(Ident, TokenStream, TokenStream)> {
    let mut constants: Vec<(Ident, TokenStream, TokenStream)> = Vec::new();
    for (entry, path) in gathering.entries() {
        for constant in &entry.constants {
            let Exported { name, ty, .. } = constant;
            // A transformed function has the constants of the function, which may be here as well.
            if constants.iter().all(|(known, ..)| known != name)
                && let Some(value) = gathering.constant(constant, path)
            {
                constants.push((name.clone(), as_long_as(&value, ty), value));
            }
        }
    }
    constants
}

/// The type of an array with the lengths of this one: what names them in `ty` may mean nothing here.
fn as_long_as(value: &TokenStream, ty: &TokenStream) -> TokenStream {
    let mut element = ty.clone();
    let mut depth = 0;
    while let Ok(syn::Type::Array(array)) = syn::parse2(element.clone()) {
        element = array.elem.into_token_stream();
        depth += 1;
    }
    (0..depth).rev().fold(element, |ty, depth| {
        let length = length_of_axis(value, depth);
        quote!([#ty; #length])
    })
}

/// What a companion hands on: what was gathered, and what it is the companion of.
pub(super) fn payload(gathering: &Gathering, own: Entry) -> Payload {
    let mut payload = Payload {
        errors: gathering.errors(),
        ..Payload::default()
    };
    let gathered = gathering.entries();
    payload
        .entries
        .extend(gathered.into_iter().map(|(entry, _)| entry.clone()));
    payload.entries.push(own);
    payload
}

/// Arguments that do not fit each other are a mistake where the function is called.
fn tells_caller(item: &syn::ItemFn) -> Option<TokenStream> {
    let told = item
        .attrs
        .iter()
        .any(|attr| attr.path().is_ident("track_caller"));
    let may = item.sig.abi.is_none() && item.sig.ident != "main";
    (may && !told).then(|| quote!(#[track_caller]))
}

/// What is said of a function that only its module knows.
///
/// The lint is off as rustc cannot tell: the expansion of a caller holds the body of what it calls
/// and never names it, so that a function which all others call looks as one that nobody does.
fn dead(item: &syn::ItemFn) -> Option<TokenStream> {
    matches!(item.vis, syn::Visibility::Inherited).then(
        || quote!(#[allow(dead_code, reason = "calls by other annotated functions are inlined")]),
    )
}

/// The user's function, its signature word for word, with this body.
pub(super) fn with_body(item: &syn::ItemFn, body: &TokenStream, unused: &[Ident]) -> TokenStream {
    let syn::ItemFn {
        attrs, vis, sig, ..
    } = item;
    let mut sig = sig.clone();
    strip_parameter_attributes(&mut sig);
    // What stood inside of the user's body stands before the function now.
    let attrs = attrs.iter().cloned().map(|attr| syn::Attribute {
        style: syn::AttrStyle::Outer,
        ..attr
    });
    // The body does not mention every parameter. Those that the user's own body does not mention either are what rustc would
    // warn about, so the expansion holds a variable of that name and place which is not used.
    let params = sig.inputs.iter().filter_map(|input| match input {
        syn::FnArg::Typed(typed) => match &*typed.pat {
            syn::Pat::Ident(name) => Some(&name.ident),
            _ => None,
        },
        syn::FnArg::Receiver(_) => None,
    });
    let dead = dead(item);
    let caller = tells_caller(item);
    quote! {
        #(#attrs)*
        #dead
        #caller
        #[allow(unused_mut, reason = "`mut` says that a table may be updated in place, which its buffer is")]
        #vis #sig {
            #(let _ = &#params;)*
            #({ let #unused = (); })*
            #body
        }
    }
}
