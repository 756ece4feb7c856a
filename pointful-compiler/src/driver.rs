//! The driver: the only place that sees all phases. Tokens → parse → gather → compile → tokens.
//!
//! Each entry is a function of tokens that never panics: what goes wrong inside is a diagnostic at the item's name.
//! When something is wrong with an item, its errors are emitted together with the user's signature and a body that is never reached,
//! so that nothing cascades, and with a companion that tells askers to stay silent.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Path;
use syn::parse::Parser;

use crate::diag::{Diagnostic, syntax as diag};
use crate::syntax::gather::{self, Bundle, Request};
use crate::syntax::parse::{parse_function, parse_options, strip_parameter_attributes};
use crate::{derive, explain, pipeline};

type Expanded = Result<TokenStream, Vec<Diagnostic>>;

/// `#[pointful(options)]` before `item`. `unique`: a text that no other item of the program has.
pub fn pointful(options: TokenStream, item: TokenStream, unique: &str) -> TokenStream {
    let original = item.clone();
    guarded("pointful", item_name(&original), || {
        let parsed: syn::Item = syn::parse2(item).map_err(|e| vec![Diagnostic::from(e)])?;
        match parsed {
            syn::Item::Fn(function) => Ok(begin_function(&options, &function, unique)),
            other => begin_type(&other, unique),
        }
    })
    .unwrap_or_else(|errors| {
        let errors = render(&errors);
        quote!(#original #errors)
    })
}

/// `link! { request { answer } }`: goes on where asking left off.
pub fn link(tokens: TokenStream) -> TokenStream {
    guarded("link", None, || {
        let request = Request::parse(tokens).map_err(|e| vec![e.into()])?;
        Ok(step(&request))
    })
    .unwrap_or_else(|errors| render(&errors))
}

/// `explain!(path)`: the stages of a function as a text.
pub fn explain(tokens: TokenStream) -> TokenStream {
    guarded("explain", None, || {
        let path = Path::parse_mod_style
            .parse2(tokens)
            .map_err(|e| vec![Diagnostic::from(e)])?;
        let request = Request {
            mode: Ident::new("explain", Span::call_site()),
            item: path.to_token_stream(),
            id: String::new(),
            gathered: Vec::new(),
            missing: vec![path],
        };
        Ok(step(&request))
    })
    .unwrap_or_else(|errors| render(&errors))
}

/// `#[derive(IndexSet)]`: the implementations, and a companion that hands the definition on.
pub fn derive_index_set(item: TokenStream, unique: &str) -> TokenStream {
    let implementation = derive::index_set(item.clone());
    let exported = guarded("IndexSet", item_name(&item), || {
        let Ok(mut parsed) = syn::parse2::<syn::DeriveInput>(item) else {
            return Ok(TokenStream::new());
        };
        parsed.attrs.clear();
        let definition = quote!(#[derive(IndexSet)] #parsed);
        let item: syn::Item = syn::parse2(definition).map_err(|e| vec![Diagnostic::from(e)])?;
        begin_type(&item, unique)
    })
    .unwrap_or_else(|errors| render(&errors));
    quote!(#implementation #exported)
}

/// Runs a phase; a panic becomes a diagnostic.
fn guarded(what: &str, place: Option<Ident>, run: impl FnOnce() -> Expanded) -> Expanded {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_string()))
            .unwrap_or_default();
        let span = place.as_ref().map_or_else(Span::call_site, Ident::span);
        let name = place.map_or_else(|| what.to_string(), |name| name.to_string());
        Err(vec![diag::internal(span, &name, &message)])
    })
}

fn render(errors: &[Diagnostic]) -> TokenStream {
    errors.iter().map(Diagnostic::to_tokens).collect()
}

/// The name of an item, for errors about the whole of it.
fn item_name(item: &TokenStream) -> Option<Ident> {
    match syn::parse2::<syn::Item>(item.clone()).ok()? {
        syn::Item::Fn(item) => Some(item.sig.ident),
        syn::Item::Struct(item) => Some(item.ident),
        syn::Item::Enum(item) => Some(item.ident),
        syn::Item::Type(item) => Some(item.ident),
        _ => None,
    }
}

/// A name for an item that no other has: its own, and a hash of where it stands and what it says.
fn identity(name: &Ident, item: &TokenStream, unique: &str) -> String {
    // FNV-1a: the same in every process.
    let text = format!("{unique}\n{item}");
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{}_{hash:016x}", name.to_string().trim_start_matches("r#"))
}

fn begin_function(options: &TokenStream, item: &syn::ItemFn, unique: &str) -> TokenStream {
    let id = identity(&item.sig.ident, &item.to_token_stream(), unique);
    let begin = || {
        parse_options(options.clone())?;
        gather::missing(&parse_function(item)?)
    };
    match begin() {
        Ok(missing) => step(&Request {
            mode: Ident::new("function", Span::call_site()),
            item: quote!(#[pointful(#options)] #item),
            id,
            gathered: Vec::new(),
            missing,
        }),
        Err(errors) => rejected(item, &id, &errors),
    }
}

fn begin_type(item: &syn::Item, unique: &str) -> Expanded {
    let name = match item {
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        other => {
            return Err(vec![diag::unsupported_item(syn::spanned::Spanned::span(
                other,
            ))]);
        }
    };
    let derived = matches!(item, syn::Item::Enum(_))
        || matches!(item, syn::Item::Struct(item) if item.attrs.iter().any(|a| a.path().is_ident("derive") && is_index_set(a)));
    let tokens = item.to_token_stream();
    let missing = gather::missing_of_type(&tokens)?;
    let request = Request {
        mode: Ident::new("definition", Span::call_site()),
        item: tokens.clone(),
        id: identity(name, &tokens, unique),
        gathered: Vec::new(),
        missing,
    };
    let exported = step(&request);
    // A derive adds to the item, the attribute replaces it.
    Ok(if derived {
        exported
    } else {
        quote!(#item #exported)
    })
}

fn is_index_set(derive: &syn::Attribute) -> bool {
    derive.to_token_stream().to_string().contains("IndexSet")
}

/// Asks for what is missing, or finishes.
fn step(request: &Request) -> TokenStream {
    if let Some(question) = request.ask() {
        return question;
    }
    match request.mode.to_string().as_str() {
        "function" => finish_function(request),
        "definition" => finish_type(request),
        _ => finish_explain(request).unwrap_or_else(|errors| render(&errors)),
    }
}

fn finish_type(request: &Request) -> TokenStream {
    let Ok(item) = syn::parse2::<syn::Item>(request.item.clone()) else {
        return TokenStream::new();
    };
    let (name, visibility) = match &item {
        syn::Item::Struct(item) => (&item.ident, &item.vis),
        syn::Item::Enum(item) => (&item.ident, &item.vis),
        syn::Item::Type(item) => (&item.ident, &item.vis),
        _ => return TokenStream::new(),
    };
    gather::companion(name, &request.id, visibility, &gather::type_bundle(request))
}

fn finish_explain(request: &Request) -> Expanded {
    let [(path, bundle)] = &request.gathered[..] else {
        return Ok(TokenStream::new());
    };
    let text = match gather::link_bundle(path, bundle)? {
        Some(linked) => explain::explain(&pipeline::stages(&linked)?),
        None => String::new(),
    };
    Ok(text.to_token_stream())
}

fn finish_function(request: &Request) -> TokenStream {
    let Ok(mut item) = syn::parse2::<syn::ItemFn>(request.item.clone()) else {
        return TokenStream::new();
    };
    item.attrs.retain(|attr| !attr.path().is_ident("pointful"));
    compile_function(request, &item).unwrap_or_else(|errors| rejected(&item, &request.id, &errors))
}

fn compile_function(request: &Request, item: &syn::ItemFn) -> Expanded {
    let bare = syn::ItemFn {
        attrs: Vec::new(),
        vis: syn::Visibility::Inherited,
        ..item.clone()
    };
    let function = parse_function(item)?;
    let Some(gathered) = gather::link(request, function, bare.to_token_stream())? else {
        // A callee was rejected: its own errors say why.
        return Ok(rejected(item, &request.id, &[]));
    };
    let stages = pipeline::stages(&gathered.linked)?;
    let body = pipeline::emit(&stages);

    let mut bundle = gathered.bundle;
    let mut carried = gathered.carried;
    if let Some(entry) = bundle.functions.last_mut() {
        entry.constants.retain_mut(|(key, name, ty)| {
            let Some(constant) = stages
                .constants
                .iter()
                .find(|constant| constant.path == *key)
            else {
                return false;
            };
            ty.clone_from(&constant.ty);
            let value = gathered
                .linked
                .root
                .scope
                .constants
                .iter()
                .find(|(k, _)| k == key);
            carried.extend(value.map(|(_, value)| (name.clone(), ty.clone(), value.clone())));
            true
        });
    }
    let (attrs, vis, mut sig) = (&item.attrs, &item.vis, item.sig.clone());
    strip_parameter_attributes(&mut sig);
    let carrier = carrier(&item.sig.ident, vis, &carried);
    let companion = gather::companion(&item.sig.ident, &request.id, vis, &bundle);
    // Constants are named once where the user named them, so that rustc knows that they and their imports are used;
    // what only other annotated functions call is not dead, either.
    let named = gathered
        .linked
        .root
        .scope
        .constants
        .iter()
        .map(|(_, value)| value);
    let body =
        quote::quote_spanned!(item.block.brace_token.span.join()=> { #(let _ = #named;)* #body });
    let dead = matches!(vis, syn::Visibility::Inherited).then(|| quote!(#[allow(dead_code)]));
    Ok(quote!(#(#attrs)* #dead #vis #sig #body #carrier #companion))
}

/// The hidden enum that carries constants to where they cannot be named.
fn carrier(
    name: &Ident,
    vis: &syn::Visibility,
    constants: &[(Ident, TokenStream, TokenStream)],
) -> TokenStream {
    if constants.is_empty() {
        return TokenStream::new();
    }
    let name = Ident::new(
        &name.to_string(),
        name.span().resolved_at(Span::call_site()),
    );
    let constants = constants
        .iter()
        .map(|(constant, ty, value)| quote!(pub const #constant: #ty = #value;));
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #vis enum #name {}
        #[allow(non_upper_case_globals, dead_code)]
        impl #name { #(#constants)* }
    }
}

/// The errors, the signature with a body that is never reached, and a companion that says so.
fn rejected(item: &syn::ItemFn, id: &str, errors: &[Diagnostic]) -> TokenStream {
    let errors = render(errors);
    let (attrs, vis, mut sig) = (&item.attrs, &item.vis, item.sig.clone());
    strip_parameter_attributes(&mut sig);
    let is_method = sig.receiver().is_some();
    let companion = if is_method {
        TokenStream::new()
    } else {
        gather::companion(
            &sig.ident,
            id,
            vis,
            &Bundle {
                failed: true,
                ..Bundle::default()
            },
        )
    };
    // The body has the function's own result type, whatever it is: a value of the never type.
    quote! {
        #(#attrs)*
        #[allow(unused_variables, unused_mut)]
        #vis #sig { ::pointful::__private::rejected() }
        #companion
        #errors
    }
}
