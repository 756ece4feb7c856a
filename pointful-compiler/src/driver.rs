//! From the tokens of an item to the tokens of its expansion: parse, gather, compile, emit.
//!
//! On an error the user's signature is emitted all the same, with a body that is never run, and so is the companion, marked as
//! broken: what calls the function stays quiet, and the diagnostics are exactly those of the user's mistakes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;

use crate::diag::{Diagnostic, syntax as diag};
use crate::lower::{Constant, check};
use crate::syntax::link::{
    Entry, EntryKind, Exported, Gathering, Names, Payload, Request, RequestKind, companion,
    unique_name,
};
use crate::syntax::names::{Uses, function_uses, is_reserved, type_uses};
use crate::syntax::parse::{
    parse_function, parse_index_set, parse_options, parse_transform, parse_type,
    strip_parameter_attributes,
};
use crate::syntax::tree::{Function, GenericKind, Linked, Transformed, TypeKind, path_key};
use crate::{explain, pipeline};

/// `#[pointful(args)] item`. The site is the item's file, line and column.
pub fn attribute(args: TokenStream, item: TokenStream, site: &str) -> TokenStream {
    let request = |kind| Request {
        kind,
        site: site.to_owned(),
        args: args.clone(),
        item: item.clone(),
    };
    match syn::parse2::<syn::Item>(item.clone()) {
        Ok(syn::Item::Fn(function)) => {
            guarded(&function.sig.ident, &function_stub(&function), || {
                begin(request(RequestKind::Function))
            })
        }
        Ok(parsed @ (syn::Item::Struct(_) | syn::Item::Type(_))) => {
            let name = item_name(&parsed);
            let rest = guarded(&name, &TokenStream::new(), || {
                begin(request(RequestKind::Type))
            });
            quote!(#item #rest)
        }
        Ok(other) => {
            let error = diag::unsupported_item(other.span()).to_tokens();
            quote!(#error #item)
        }
        // A method without a body, or what is no Rust: an impl's `fn f(&self);` comes here too.
        Err(error) => {
            let error = Diagnostic::from(error).to_tokens();
            quote!(#error #item)
        }
    }
}

/// The companion of a type that derives `IndexSet`.
pub fn index_set(item: TokenStream, site: &str) -> TokenStream {
    let Ok(parsed) = syn::parse2::<syn::DeriveInput>(item.clone()) else {
        return TokenStream::new();
    };
    guarded(&parsed.ident, &TokenStream::new(), || {
        begin(Request {
            kind: RequestKind::IndexSet,
            site: site.to_owned(),
            args: TokenStream::new(),
            item,
        })
    })
}

/// `explain!(f)`
pub fn explain(path: TokenStream) -> TokenStream {
    expression(RequestKind::Explain, "explain", path)
}

/// `grad!(f)` and the other transformations.
pub fn transform(name: &str, args: TokenStream) -> TokenStream {
    expression(RequestKind::Transform, name, args)
}

fn expression(kind: RequestKind, name: &str, item: TokenStream) -> TokenStream {
    let name = Ident::new(name, Span::call_site());
    guarded(&name, &TokenStream::new(), || {
        begin(Request {
            kind,
            site: String::new(),
            args: name.to_token_stream(),
            item,
        })
    })
}

/// What a companion answered.
pub fn linked(tokens: TokenStream) -> TokenStream {
    let Some(gathering) = Gathering::read(tokens) else {
        let span = Span::call_site();
        return Diagnostic::new(span, "this macro is for what pointful's macros expand to")
            .to_tokens();
    };
    let request = &gathering.request;
    let name = match request.kind {
        RequestKind::Function | RequestKind::Type | RequestKind::IndexSet => {
            syn::parse2(request.item.clone())
                .map(|item: syn::Item| item_name(&item))
                .ok()
        }
        RequestKind::Explain | RequestKind::Transform => syn::parse2(request.args.clone()).ok(),
    };
    let name = name.unwrap_or_else(|| Ident::new("__link", Span::call_site()));
    let instead = instead(request);
    guarded(&name, &instead, || proceed(gathering))
}

/// Runs an expansion; a panic in it is a diagnostic, beside what is emitted instead.
fn guarded(name: &Ident, instead: &TokenStream, run: impl FnOnce() -> TokenStream) -> TokenStream {
    let report = Arc::new(Mutex::new(String::new()));
    let heard = Arc::clone(&report);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if let Ok(mut text) = heard.lock() {
            *text = panic.to_string();
        }
    }));
    let result = catch_unwind(AssertUnwindSafe(run));
    std::panic::set_hook(hook);
    result.unwrap_or_else(|_| {
        let what = report.lock().map(|text| text.clone()).unwrap_or_default();
        let error = diag::internal(name.span(), &name.to_string(), &what).to_tokens();
        quote!(#error #instead)
    })
}

/// The first step: what must be asked.
fn begin(request: Request) -> TokenStream {
    let pending = match Root::parse(&request) {
        Ok(root) => root.asks(),
        Err(errors) => return fail(&request, &errors),
    };
    proceed(Gathering {
        request,
        pending,
        answers: Vec::new(),
    })
}

/// Asks the next question, or finishes.
fn proceed(gathering: Gathering) -> TokenStream {
    match gathering.question() {
        Some(question) => question,
        None => {
            let request = &gathering.request;
            match Root::parse(request) {
                Ok(root) => finish(&gathering, root),
                Err(errors) => fail(request, &errors),
            }
        }
    }
}

/// What asks, parsed.
enum Root {
    Function(Box<syn::ItemFn>, Box<Function>, Uses),
    Type(Uses),
    Path(syn::Path),
}

impl Root {
    fn parse(request: &Request) -> Result<Self, Vec<Diagnostic>> {
        let read = |error: syn::Error| vec![Diagnostic::from(error)];
        match request.kind {
            RequestKind::Function => {
                let item: syn::ItemFn = syn::parse2(request.item.clone()).map_err(read)?;
                let options = parse_options(request.args.clone());
                let function = parse_function(&item);
                let (mut function, options) = match (function, options) {
                    (Ok(function), Ok(options)) => (function, options),
                    (function, options) => {
                        let errors = options.err().into_iter().chain(function.err());
                        return Err(errors.flatten().collect());
                    }
                };
                function.options = options;
                let uses = function_uses(&function);
                check_names(&function, &uses)?;
                Ok(Self::Function(Box::new(item), Box::new(function), uses))
            }
            RequestKind::Type => {
                let item = syn::parse2(request.item.clone()).map_err(read)?;
                Ok(Self::Type(type_uses(&parse_type(&item)?)))
            }
            RequestKind::IndexSet => {
                let item = syn::parse2(request.item.clone()).map_err(read)?;
                Ok(Self::Type(type_uses(&parse_index_set(&item)?)))
            }
            RequestKind::Explain => match syn::parse2(request.item.clone()) {
                Ok(path) => Ok(Self::Path(path)),
                Err(_) => {
                    let span = request.item.span();
                    Err(vec![
                        Diagnostic::new(
                            span,
                            "`explain!` takes a path to a `#[pointful]` function",
                        )
                        .help("write `explain!(f)`"),
                    ])
                }
            },
            RequestKind::Transform => {
                let name: Ident = syn::parse2(request.args.clone()).map_err(read)?;
                let transform =
                    parse_transform(&name, request.item.clone()).map_err(|error| vec![error])?;
                let mut of = &transform.of;
                loop {
                    match of {
                        Transformed::Path(path) => return Ok(Self::Path(path.clone())),
                        Transformed::Transform(inner) => of = &inner.of,
                    }
                }
            }
        }
    }

    /// The paths to ask.
    fn asks(&self) -> Vec<syn::Path> {
        match self {
            Self::Function(_, _, uses) => {
                uses.functions.iter().chain(&uses.types).cloned().collect()
            }
            Self::Type(uses) => uses.types.clone(),
            Self::Path(path) => vec![path.clone()],
        }
    }
}

/// What is wrong with names before anything is asked.
fn check_names(function: &Function, uses: &Uses) -> Result<(), Vec<Diagnostic>> {
    let name = function.name.to_string();
    let mut errors = Vec::new();
    if is_reserved(&name) {
        errors.push(diag::reserved_name(function.name.span(), &name));
    }
    for path in &uses.functions {
        let key = path_key(path);
        if key == name || key == format!("self::{name}") {
            errors.push(diag::recursion(path.span(), &name));
        }
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// The expansion of what has errors.
fn fail(request: &Request, errors: &[Diagnostic]) -> TokenStream {
    let errors = errors.iter().map(Diagnostic::to_tokens);
    match request.kind {
        RequestKind::Function | RequestKind::Type | RequestKind::IndexSet => {
            let instead = instead(request);
            quote!(#(#errors)* #instead)
        }
        // As an expression an error has every type.
        RequestKind::Explain | RequestKind::Transform => quote!({ #(#errors)* }),
    }
}

/// What is emitted for something that cannot be compiled.
fn instead(request: &Request) -> TokenStream {
    match request.kind {
        RequestKind::Function => match syn::parse2::<syn::ItemFn>(request.item.clone()) {
            Ok(item) => {
                let stub = function_stub(&item);
                // No macro can stand beside a method.
                let companion = match item.sig.receiver() {
                    Some(_) => TokenStream::new(),
                    None => broken(&item.sig.ident, &item.vis, request),
                };
                quote!(#stub #companion)
            }
            Err(_) => request.item.clone(),
        },
        RequestKind::Type | RequestKind::IndexSet => {
            match syn::parse2::<syn::Item>(request.item.clone()) {
                Ok(item) => broken(&item_name(&item), item_vis(&item), request),
                Err(_) => TokenStream::new(),
            }
        }
        RequestKind::Explain => quote!(""),
        RequestKind::Transform => quote!(::pointful::__private::failed("a transformation")),
    }
}

/// The companion of an item with errors.
fn broken(name: &Ident, vis: &syn::Visibility, request: &Request) -> TokenStream {
    let unique = unique_name(name, &request.site, &request.item);
    let payload = Payload {
        broken: true,
        entries: Vec::new(),
    };
    companion(name, vis, &unique, &payload)
}

/// The user's signature with a body that is never run.
fn function_stub(item: &syn::ItemFn) -> TokenStream {
    let name = item.sig.ident.to_string();
    let body = quote!({ ::pointful::__private::failed(#name) });
    function_with(item, &body, &[])
}

/// The user's function, its signature word for word, with this body.
fn function_with(item: &syn::ItemFn, body: &TokenStream, unused: &[Ident]) -> TokenStream {
    let syn::ItemFn {
        attrs, vis, sig, ..
    } = item;
    let mut sig = sig.clone();
    strip_parameter_attributes(&mut sig);
    // The body does not mention every parameter. Those that the user's own body does not mention either are what rustc would
    // warn about, so the expansion holds a variable of that name and place which is not used.
    let params = sig.inputs.iter().filter_map(|input| match input {
        syn::FnArg::Typed(typed) => match &*typed.pat {
            syn::Pat::Ident(name) => Some(&name.ident),
            _ => None,
        },
        syn::FnArg::Receiver(_) => None,
    });
    let dead = matches!(vis, syn::Visibility::Inherited).then(
        || quote!(#[allow(dead_code, reason = "calls by other annotated functions are inlined")]),
    );
    quote! {
        #(#attrs)*
        #dead
        #[allow(unused_mut, reason = "`mut` says that a table may be updated in place, which its buffer is")]
        #vis #sig {
            #(let _ = &#params;)*
            #({ let #unused = (); })*
            #body
        }
    }
}

fn item_name(item: &syn::Item) -> Ident {
    match item {
        syn::Item::Struct(item) => item.ident.clone(),
        syn::Item::Type(item) => item.ident.clone(),
        syn::Item::Enum(item) => item.ident.clone(),
        syn::Item::Union(item) => item.ident.clone(),
        syn::Item::Fn(item) => item.sig.ident.clone(),
        _ => Ident::new("_", Span::call_site()),
    }
}

fn item_vis(item: &syn::Item) -> &syn::Visibility {
    match item {
        syn::Item::Struct(item) => &item.vis,
        syn::Item::Type(item) => &item.vis,
        syn::Item::Enum(item) => &item.vis,
        syn::Item::Union(item) => &item.vis,
        _ => &syn::Visibility::Inherited,
    }
}

/// The last step: everything is there.
fn finish(gathering: &Gathering, root: Root) -> TokenStream {
    let request = &gathering.request;
    if gathering.is_broken() {
        let instead = instead(request);
        return match request.kind {
            RequestKind::Function | RequestKind::Type | RequestKind::IndexSet => instead,
            RequestKind::Explain | RequestKind::Transform => quote!({ #instead }),
        };
    }
    let result = match root {
        Root::Function(item, function, uses) => finish_function(gathering, &item, *function, &uses),
        Root::Type(uses) => Ok(finish_type(gathering, &uses)),
        Root::Path(path) => finish_path(gathering, &path),
    };
    result.unwrap_or_else(|errors| fail(request, &errors))
}

fn finish_function(
    gathering: &Gathering,
    item: &syn::ItemFn,
    function: Function,
    uses: &Uses,
) -> Result<TokenStream, Vec<Diagnostic>> {
    let request = &gathering.request;
    let names = Names {
        functions: gathering.meanings(&uses.functions),
        types: gathering.meanings(&uses.types),
        constants: uses.constants.clone(),
    };
    let unique = unique_name(&item.sig.ident, &request.site, &request.item);
    let linked = link(gathering, function, &names)?;
    let Compiled { body, constants } = compile(&linked)?;
    let own: Vec<_> = constants
        .into_iter()
        .enumerate()
        .map(|(at, constant)| Exported {
            name: format_ident!("{unique}_{at}"),
            path: constant.path,
            ty: constant.ty,
        })
        .collect();
    let carrier = carrier(gathering, item, &own, uses);
    let mut tokens = item.clone();
    tokens.attrs.clear();
    let mut payload = Payload::default();
    payload.entries.extend(
        gathering
            .entries()
            .into_iter()
            .map(|(entry, _)| entry.clone()),
    );
    payload.entries.push(Entry {
        kind: EntryKind::Function,
        name: unique.clone(),
        args: request.args.clone(),
        item: tokens.into_token_stream(),
        names,
        constants: own,
    });
    // Constants are named once where the user named them, so that rustc knows that they and their imports are used.
    let named = &uses.constants;
    let body = quote!(#(let _ = #named;)* #body);
    let function = function_with(item, &body, &uses.unused);
    let companion = companion(&item.sig.ident, &item.vis, &unique, &payload);
    Ok(quote!(#function #carrier #companion))
}

/// The hidden type that has the constants of the function and of its callees.
fn carrier(
    gathering: &Gathering,
    item: &syn::ItemFn,
    own: &[Exported],
    uses: &Uses,
) -> TokenStream {
    let mut constants = Vec::new();
    for Exported { path, name, ty } in own {
        let Some(path) = uses.constants.iter().find(|known| path_key(known) == *path) else {
            continue;
        };
        constants.push(quote!(pub const #name: #ty = #path;));
    }
    for (entry, path) in gathering.entries() {
        for Exported { name, ty, .. } in &entry.constants {
            constants.push(quote!(pub const #name: #ty = #path::#name;));
        }
    }
    if constants.is_empty() {
        return TokenStream::new();
    }
    let syn::ItemFn { vis, sig, .. } = item;
    // Not the user's token: a name that occurs twice must not be shown twice where the user wrote it once.
    let name = Ident::new(&sig.ident.to_string(), Span::call_site());
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code, reason = "only other functions' expansions name this type")]
        #vis enum #name {}
        #[doc(hidden)]
        #[allow(non_upper_case_globals, dead_code, reason = "only other functions' expansions name these constants")]
        impl #name { #(#constants)* }
    }
}

fn finish_type(gathering: &Gathering, uses: &Uses) -> TokenStream {
    let request = &gathering.request;
    let Ok(mut item) = syn::parse2::<syn::Item>(request.item.clone()) else {
        return TokenStream::new();
    };
    let (name, vis) = (item_name(&item), item_vis(&item).clone());
    let unique = unique_name(&name, &request.site, &request.item);
    strip_attributes(&mut item);
    let mut payload = Payload::default();
    payload.entries.extend(
        gathering
            .entries()
            .into_iter()
            .map(|(entry, _)| entry.clone()),
    );
    payload.entries.push(Entry {
        kind: match request.kind {
            RequestKind::IndexSet => EntryKind::IndexSet,
            RequestKind::Type
            | RequestKind::Function
            | RequestKind::Explain
            | RequestKind::Transform => EntryKind::Type,
        },
        name: unique.clone(),
        args: TokenStream::new(),
        item: item.into_token_stream(),
        names: Names {
            types: gathering.meanings(&uses.types),
            ..Names::default()
        },
        constants: Vec::new(),
    });
    companion(&name, &vis, &unique, &payload)
}

/// Attributes, documentation above all, are nothing to those who link.
fn strip_attributes(item: &mut syn::Item) {
    let strip = |fields: &mut syn::Fields| fields.iter_mut().for_each(|field| field.attrs.clear());
    match item {
        syn::Item::Struct(item) => {
            item.attrs.clear();
            strip(&mut item.fields);
        }
        syn::Item::Enum(item) => {
            item.attrs.clear();
            for variant in &mut item.variants {
                variant.attrs.clear();
                strip(&mut variant.fields);
            }
        }
        syn::Item::Type(item) => item.attrs.clear(),
        _ => {}
    }
}

/// An expression over one function.
fn finish_path(gathering: &Gathering, path: &syn::Path) -> Result<TokenStream, Vec<Diagnostic>> {
    let request = &gathering.request;
    if request.kind == RequestKind::Transform {
        let name: Ident = syn::parse2(request.args.clone()).map_err(|error| vec![error.into()])?;
        return Err(vec![diag::transform_unavailable(
            path.span(),
            &name.to_string(),
        )]);
    }
    let wrong = || {
        vec![Diagnostic::new(
            path.span(),
            format!("`{}` is not a `#[pointful]` function", path_key(path)),
        )]
    };
    let (_, payload) = gathering.answers.last().ok_or_else(wrong)?;
    let entry = payload
        .entries
        .last()
        .filter(|entry| entry.kind == EntryKind::Function)
        .ok_or_else(wrong)?;
    let function = entry.function().ok_or_else(wrong)?;
    // The function becomes the root, so its constants come by its carrier.
    let linked = link(gathering, function, &entry.names)?;
    let text = explain::explain(&pipeline::stages(&linked)?);
    Ok(quote!({ #text }))
}

fn link(
    gathering: &Gathering,
    function: Function,
    names: &Names,
) -> Result<Linked, Vec<Diagnostic>> {
    let name = function.name.clone();
    gathering.link(function, names).ok_or_else(|| {
        vec![diag::internal(
            name.span(),
            &name.to_string(),
            "a callee's tokens did not arrive whole",
        )]
    })
}

/// A compiled function.
struct Compiled {
    body: TokenStream,
    constants: Vec<Constant>,
}

fn compile(linked: &Linked) -> Result<Compiled, Vec<Diagnostic>> {
    if !stands_alone(&linked.root) {
        check(linked)?;
        let name = linked.root.name.to_string();
        return Ok(Compiled {
            body: quote!(::pointful::__private::only_inlined(#name)),
            constants: Vec::new(),
        });
    }
    let stages = pipeline::stages(linked)?;
    Ok(Compiled {
        body: pipeline::emit(&stages),
        constants: stages.constants,
    })
}

/// Whether a function can be compiled without knowing its callers: what takes functions or generic floats cannot.
fn stands_alone(function: &Function) -> bool {
    let generic = function
        .generics
        .iter()
        .any(|generic| matches!(generic.kind, GenericKind::Float | GenericKind::Function(..)));
    let takes = |kind: &TypeKind| match kind {
        TypeKind::Function(..) => true,
        TypeKind::Ref { inner, .. } => matches!(inner.kind, TypeKind::Function(..)),
        _ => false,
    };
    !generic
        && !takes(&function.result.kind)
        && !function.params.iter().any(|param| takes(&param.ty.kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(args: &str, item: &str) -> String {
        let tokens = |text: &str| text.parse::<TokenStream>().expect("the test is tokens");
        attribute(tokens(args), tokens(item), "file:1:1").to_string()
    }

    #[test]
    fn the_same_item_gives_the_same_tokens() {
        let item = "pub fn f<N: IndexSet>(a: &Table<N, f64>) -> f64 { sum(for i in _ { a[i] }) }";
        assert_eq!(expand("", item), expand("", item));
    }

    #[test]
    fn what_calls_others_only_asks() {
        let asked = expand("", "fn f(x: f64) -> f64 { m::g(x) + column(x) }");
        assert!(asked.starts_with("m :: g ! {"), "{asked}");
        assert!(!asked.contains("macro_rules"), "{asked}");
    }

    #[test]
    fn an_answer_is_read_back() {
        let item = "fn f(x: f64) -> f64 { g(x) }";
        let question: TokenStream = expand("", item).parse().expect("tokens");
        let Some(proc_macro2::TokenTree::Group(state)) = question.into_iter().last() else {
            panic!("a question ends with its state");
        };
        let state = state.stream();
        let g = "fn g(x: f64) -> f64 { 2.0 * x }";
        let entry = Entry {
            kind: EntryKind::Function,
            name: unique_name(&format_ident!("g"), "file:2:1", &TokenStream::new()),
            args: TokenStream::new(),
            item: g.parse().expect("tokens"),
            names: Names::default(),
            constants: Vec::new(),
        };
        let payload = Payload {
            broken: false,
            entries: vec![entry],
        };
        let done = linked(quote!({ #payload } #state)).to_string();
        assert!(!done.contains("compile_error"), "{done}");
        assert!(done.contains("fn f (x : f64) -> f64"), "{done}");
        // What f hands on has g in front of f.
        let at = |text: &str| done.rfind(text).expect("it is handed on");
        assert!(at("fn g (x : f64)") < at("fn f (x : f64)"), "{done}");
    }

    #[test]
    fn errors_keep_the_signature_and_what_asks_stays_quiet() {
        let item =
            "pub fn f<'a, N: IndexSet>(#[constant] x: f64) -> f64 where N: Copy { return x; }";
        let wrong = expand("", item);
        assert_eq!(wrong.matches("compile_error").count(), 1, "{wrong}");
        assert!(wrong.contains("pub fn f < 'a , N : IndexSet > (x : f64) -> f64 where N : Copy"));
        assert!(wrong.contains("{ broken }"), "{wrong}");
    }

    #[test]
    fn a_panic_is_a_diagnostic() {
        let name = format_ident!("f");
        let tokens = guarded(&name, &quote!(instead), || panic!("lost {}", 1)).to_string();
        assert!(tokens.contains("pointful has a bug: compiling `f` failed"));
        assert!(
            tokens.contains("lost 1") && tokens.ends_with("instead"),
            "{tokens}"
        );
    }

    #[test]
    fn what_is_no_function_is_refused() {
        for item in [
            "const X: f64 = 1.0;",
            "struct S(f64);",
            "enum E { A }",
            "fn f(",
            "struct S<T> { x: T }",
        ] {
            let Ok(tokens) = item.parse::<TokenStream>() else {
                continue;
            };
            let expansion = attribute(TokenStream::new(), tokens, "file:1:1").to_string();
            assert!(expansion.contains("compile_error"), "{item}: {expansion}");
        }
    }
}
