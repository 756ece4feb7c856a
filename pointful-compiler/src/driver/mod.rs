//! From the tokens of an item to the tokens of its expansion: parse, gather, compile, emit.
//!
//! On an error the user's signature is emitted all the same, with a body that is never run, and so
//! is the companion, marked as broken: what calls the function stays quiet, and the diagnostics are
//! exactly those of the user's mistakes.

mod carrier;
mod devices;
mod enums;
mod function;
mod renamed;
mod root;
mod stub;
mod tables;
mod transformed;
mod types;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::time::Instant;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;

pub use self::renamed::renamed;
use self::root::{Definition, Root, innermost};
use crate::diag::{Diagnostic, syntax as diag, transform::of_broken};
use crate::link::{Gathering, Names, Payload, Request, RequestKind, companion, unique_name};
use crate::lower::{Constant, constants};
use crate::syntax::depth::check_tokens;
use crate::syntax::names::hides_macro;
use crate::syntax::raw::plain_names;
use crate::syntax::tree::{Function, GenericKind, Linked, Param, Type, TypeKind};
use crate::{derive, pipeline};

/// What expansions are asked for beside what they are of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Whether tables may live on devices.
    pub devices: bool,
}

/// `#[pointful(args)] item`. The site is the item's file, line and column.
pub fn attribute(
    args: TokenStream,
    item: TokenStream,
    site: &str,
    options: Options,
) -> TokenStream {
    if let Err(error) = check_tokens(&item).and_then(|()| check_tokens(&args)) {
        let (error, stub) = (error.to_tokens(), stub::stub_of_tokens(item));
        return quote!(#error #stub);
    }
    let (args, item) = (plain_names(args), plain_names(item));
    let request = |kind| Request {
        kind,
        site: site.to_owned(),
        args: args.clone(),
        item: item.clone(),
    };
    let parsed = syn::parse2::<syn::Item>(item.clone());
    if let Some(again) = parsed.as_ref().ok().and_then(marked_again) {
        let error = diag::attribute_twice(again.span()).to_tokens();
        // The item is that of the attribute that is still to come.
        return quote!(#error #item);
    }
    match parsed {
        Ok(syn::Item::Fn(_)) => begun(request(RequestKind::Function), options),
        Ok(parsed @ (syn::Item::Struct(_) | syn::Item::Enum(_) | syn::Item::Type(_))) => {
            let rest = begun(request(RequestKind::Type), options);
            // Bodies are compiled away, and with them every use that rustc could count: a struct of theirs is not dead, and whether
            // any of them uses this one is not known here.
            let dead = matches!(item_vis(&parsed), syn::Visibility::Inherited).then(
                || quote!(#[allow(dead_code, reason = "annotated functions use it, and nothing of them is left")]),
            );
            quote!(#dead #item #rest)
        }
        Ok(other) => {
            let error = diag::unsupported_item(other.span()).to_tokens();
            quote!(#error #item)
        }
        // A method without a body, or what is no Rust: an impl's `fn f(&self);` comes here too.
        Err(error) => {
            let error = match is_comma_in_index(item.clone(), error.span()) {
                true => diag::comma_in_index(error.span()),
                false => error.into(),
            };
            let Some(signature) = stub::without_body(item.clone()) else {
                let error = error.to_tokens();
                return quote!(#error #item);
            };
            let item = signature.into_token_stream();
            let request = Request {
                item,
                ..request(RequestKind::Function)
            };
            fail(&request, &[error])
        }
    }
}

/// Whether the token at a place is the comma of `t[i, j]`.
fn is_comma_in_index(tokens: TokenStream, at: Span) -> bool {
    let mut is_indexed = false;
    for token in tokens {
        let may_be_table = match &token {
            TokenTree::Ident(name) => !["in", "return", "if", "match"]
                .iter()
                .any(|word| name == word),
            TokenTree::Group(group) => group.delimiter() != Delimiter::Brace,
            TokenTree::Punct(_) | TokenTree::Literal(_) => false,
        };
        let indexed = std::mem::replace(&mut is_indexed, may_be_table);
        let TokenTree::Group(group) = token else {
            continue;
        };
        let is_it = |token: TokenTree| {
            let is_comma = matches!(&token, TokenTree::Punct(comma) if comma.as_char() == ',');
            is_comma && token.span().start() == at.start()
        };
        let is_index = indexed && group.delimiter() == Delimiter::Bracket;
        if is_index && group.stream().into_iter().any(is_it) {
            return true;
        }
        if is_comma_in_index(group.stream(), at) {
            return true;
        }
    }
    false
}

/// Another `#[pointful]` of an item.
fn marked_again(item: &syn::Item) -> Option<&syn::Attribute> {
    let attrs = match item {
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        _ => return None,
    };
    attrs.iter().find(|attr| {
        let last = attr.path().segments.last();
        last.is_some_and(|last| last.ident == "pointful")
    })
}

/// `#[derive(IndexSet)] item`
pub fn index_set(item: TokenStream, site: &str) -> TokenStream {
    let derived = caught(|| derive::index_set(item.clone()))
        .unwrap_or_else(|what| diag::internal(Span::call_site(), "IndexSet", &what).to_tokens());
    let companion = index_set_companion(item, site);
    quote!(#derived #companion)
}

/// The companion of a type that derives `IndexSet`.
fn index_set_companion(item: TokenStream, site: &str) -> TokenStream {
    // The derive itself has said what is wrong.
    if check_tokens(&item).is_err() {
        return TokenStream::new();
    }
    let item = plain_names(item);
    let Ok(input) = syn::parse2::<syn::DeriveInput>(item.clone()) else {
        return TokenStream::new();
    };
    let request = Request {
        kind: RequestKind::IndexSet,
        site: site.to_owned(),
        args: TokenStream::new(),
        item,
    };
    // What names it stays quiet.
    match derive::is_refused(&input) {
        true => instead(&request, &TokenStream::new()),
        false => begun(request, Options::default()),
    }
}

/// `explain!(f)`
pub fn explain(path: TokenStream) -> TokenStream {
    expression(RequestKind::Explain, "explain", path, Options::default())
}

/// `grad!(f)` and the other transformations.
pub fn transform(name: &str, args: TokenStream, options: Options) -> TokenStream {
    expression(RequestKind::Transform, name, args, options)
}

/// `define! { pub fn loss_grad = grad!(loss); }`, any number of definitions.
pub fn define(definitions: TokenStream, site: &str, options: Options) -> TokenStream {
    let checked = check_tokens(&definitions);
    let parsed = match checked.and_then(|()| root::definitions(plain_names(definitions))) {
        Ok(parsed) => parsed,
        Err(error) => return error.to_tokens(),
    };
    let expand = |(at, definition): (usize, Definition)| {
        let request = Request {
            kind: RequestKind::Define,
            site: format!("{site}:{at}"),
            args: TokenStream::new(),
            item: definition.to_token_stream(),
        };
        begun(request, options)
    };
    parsed.into_iter().enumerate().map(expand).collect()
}

fn expression(kind: RequestKind, name: &str, item: TokenStream, options: Options) -> TokenStream {
    if let Err(error) = check_tokens(&item) {
        return error.to_tokens();
    }
    let request = Request {
        kind,
        site: String::new(),
        args: Ident::new(name, Span::call_site()).to_token_stream(),
        item: plain_names(item),
    };
    begun(request, options)
}

/// What a companion answered.
pub fn linked(tokens: TokenStream, options: Options) -> TokenStream {
    let Some(mut gathering) = Gathering::read(tokens) else {
        let span = Span::call_site();
        return Diagnostic::new(span, "this macro is for what pointful's macros expand to")
            .to_tokens();
    };
    gathering.devices = options.devices;
    let request = gathering.request.clone();
    let start = Instant::now();
    let expansion = guarded(&request, || proceed(gathering));
    if std::env::var("POINTFUL_DUMP").is_ok_and(|dump| dump == "times") {
        let (time, tokens) = (start.elapsed(), count_tokens(expansion.clone()));
        let name = subject(&request);
        eprintln!("pointful: {name}: {time:.1?}, {tokens} tokens");
    }
    expansion
}

/// What a request is about, for those who read of it.
fn subject(request: &Request) -> Ident {
    let name = match request.kind {
        RequestKind::Function | RequestKind::Type | RequestKind::IndexSet => {
            syn::parse2(request.item.clone())
                .map(|item: syn::Item| item_name(&item))
                .ok()
        }
        RequestKind::Explain | RequestKind::Transform => syn::parse2(request.args.clone()).ok(),
        RequestKind::Define => syn::parse2(request.item.clone())
            .map(|definition: Definition| definition.name)
            .ok(),
    };
    name.unwrap_or_else(|| Ident::new("__link", Span::call_site()))
}

/// How many tokens there are, those inside of others included.
pub fn count_tokens(tokens: TokenStream) -> usize {
    let count_of = |tree| match tree {
        TokenTree::Group(group) => 2 + count_tokens(group.stream()),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => 1,
    };
    tokens.into_iter().map(count_of).sum()
}

/// Runs an expansion. If it panics, that is an error of what is asked for, and the only one.
fn guarded(request: &Request, run: impl FnOnce() -> TokenStream) -> TokenStream {
    caught(run).unwrap_or_else(|what| {
        let name = subject(request);
        let error = diag::internal(name.span(), &name.to_string(), &what);
        caught(|| fail(request, std::slice::from_ref(&error))).unwrap_or_else(|_| error.to_tokens())
    })
}

/// What a function gives, or what it panicked with, which nobody else is told.
fn caught(run: impl FnOnce() -> TokenStream) -> Result<TokenStream, String> {
    thread_local! {
        static HEARD: RefCell<Option<String>> = const { RefCell::new(None) };
    }
    // Hooks are the whole process's: this one stays, so that expansions on several threads do not
    // take each other's away.
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let told = HEARD.with_borrow_mut(|heard| {
                let text = heard.as_mut();
                text.map(|text| *text = panic.to_string()).is_some()
            });
            if !told {
                usual(panic);
            }
        }));
    });
    let around = HEARD.replace(Some(String::new()));
    let result = catch_unwind(AssertUnwindSafe(run));
    let heard = HEARD.replace(around);
    result.map_err(|_| heard.unwrap_or_default())
}

/// The first step.
fn begun(request: Request, options: Options) -> TokenStream {
    guarded(&request.clone(), || begin(request, options))
}

/// What must be asked.
fn begin(request: Request, options: Options) -> TokenStream {
    let pending = match Root::parse(&request) {
        Ok(root) => {
            let mut errors = root.missing();
            errors.extend(root.calls_itself_by_others());
            if !errors.is_empty() {
                return fail(&request, &errors);
            }
            root.asks()
        }
        Err(errors) => return fail(&request, &errors),
    };
    proceed(Gathering {
        request,
        pending,
        answers: Vec::new(),
        devices: options.devices,
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

/// The expansion of what has errors.
fn fail(request: &Request, errors: &[Diagnostic]) -> TokenStream {
    let errors: TokenStream = errors.iter().map(Diagnostic::to_tokens).collect();
    match request.kind {
        RequestKind::Function | RequestKind::Type | RequestKind::IndexSet | RequestKind::Define => {
            let instead = instead(request, &errors);
            quote!(#errors #instead)
        }
        // As an expression an error has every type.
        RequestKind::Explain | RequestKind::Transform => quote!({ #errors }),
    }
}

/// What is emitted for something that cannot be compiled because of these errors.
fn instead(request: &Request, errors: &TokenStream) -> TokenStream {
    match request.kind {
        RequestKind::Function => match syn::parse2::<syn::ItemFn>(request.item.clone()) {
            Ok(item) => {
                let stub = stub::stub(&item);
                // No macro can stand beside a method, and none takes another's name.
                let name = &item.sig.ident;
                let companion = match item.sig.receiver() {
                    None if !hides_macro(&name.to_string()) => {
                        broken(name, &item.vis, request, errors)
                    }
                    _ => TokenStream::new(),
                };
                quote!(#stub #companion)
            }
            Err(_) => request.item.clone(),
        },
        RequestKind::Type | RequestKind::IndexSet => {
            match syn::parse2::<syn::Item>(request.item.clone()) {
                Ok(item) => broken(&item_name(&item), item_vis(&item), request, errors),
                Err(_) => TokenStream::new(),
            }
        }
        RequestKind::Define => match syn::parse2::<Definition>(request.item.clone()) {
            Ok(Definition { vis, name, .. }) => {
                let companion = broken(&name, &vis, request, errors);
                quote!(#companion)
            }
            Err(_) => TokenStream::new(),
        },
        RequestKind::Explain => quote!(""),
        RequestKind::Transform => quote!(::pointful::__private::failed("a transformation")),
    }
}

/// The companion of an item with errors.
fn broken(
    name: &Ident,
    vis: &syn::Visibility,
    request: &Request,
    errors: &TokenStream,
) -> TokenStream {
    let unique = unique_name(name, &request.site, &request.item);
    let payload = Payload {
        broken: true,
        errors: errors.clone(),
        entries: Vec::new(),
    };
    companion(name, vis, &unique, &payload)
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

#[cfg(any(test, feature = "testing"))]
/// A fault of the compiler, for functions of which a test wants one.
fn panics_if_asked_to(request: &Request) {
    for words in [&request.item, &request.args] {
        assert!(
            !words.to_string().contains("provokes_a_panic"),
            "provoked {}",
            1
        );
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
    #[cfg(any(test, feature = "testing"))]
    panics_if_asked_to(request);
    if gathering.is_broken() {
        return beside_broken(gathering, root);
    }
    let result = match root {
        Root::Function(item, function, uses) => {
            let finished = function::finish(gathering, &item, &function, &uses);
            Ok(finished.unwrap_or_else(|errors| {
                let errors = errors.iter().map(Diagnostic::to_tokens);
                let broken = function::broken(gathering, &item, &function, &uses);
                quote!(#(#errors)* #broken)
            }))
        }
        Root::Type(uses) => Ok(types::finish(gathering, &uses)),
        Root::Explain(path, transform) => {
            transformed::explained(gathering, &path, transform.as_ref())
        }
        Root::Transform(transform) if transform.name == "try_call" => {
            transformed::fallible(gathering, &transform, &transformed::attempted)
        }
        Root::Transform(transform) => {
            transformed::expression(gathering, &transform, &transformed::compiled)
        }
        Root::Define(definition, transform) => {
            transformed::defined(gathering, &definition, &transform, &transformed::compiled)
        }
    };
    result.unwrap_or_else(|errors| fail(request, &errors))
}

/// What asks for something with errors has a type all the same, if it can be known, and says
/// nothing: those errors are all there is to say.
fn beside_broken(gathering: &Gathering, root: Root) -> TokenStream {
    let request = &gathering.request;
    let quiet = |result: Result<TokenStream, _>, else_: &dyn Fn() -> TokenStream| {
        result.unwrap_or_else(|_: Vec<Diagnostic>| else_())
    };
    match root {
        Root::Function(item, function, uses) => {
            function::broken(gathering, &item, &function, &uses)
        }
        Root::Transform(transform) if transform.name == "try_call" => quiet(
            transformed::fallible(gathering, &transform, &transformed::stubbed),
            &|| said_again(gathering, &innermost(&transform)),
        ),
        Root::Transform(transform) => quiet(
            transformed::expression(gathering, &transform, &transformed::stubbed),
            &|| said_again(gathering, &innermost(&transform)),
        ),
        Root::Define(definition, transform) => quiet(
            transformed::defined(gathering, &definition, &transform, &transformed::stubbed),
            &|| instead(request, &gathering.errors()),
        ),
        Root::Explain(..) => {
            let instead = instead(request, &gathering.errors());
            quote!({ #instead })
        }
        Root::Type(_) => instead(request, &gathering.errors()),
    }
}

/// An expression of every type, where the signature of what is transformed is not known. Only
/// errors are that, so it is the errors there were, in the same places: rustc shows what is the
/// same once.
fn said_again(gathering: &Gathering, path: &syn::Path) -> TokenStream {
    let errors = gathering.errors();
    if errors.is_empty() {
        return fail(&gathering.request, &[of_broken(path)]);
    }
    let own = path
        .segments
        .last()
        .map_or_else(Span::call_site, |last| last.ident.span());
    let errors = at_users(errors, own);
    quote!({ #errors })
}

/// Tokens where they were, of no macro's but as the user's own.
fn at_users(tokens: TokenStream, own: Span) -> TokenStream {
    let at = |mut token: TokenTree| {
        let span = token.span().resolved_at(own);
        if let TokenTree::Group(group) = &token {
            let inner = at_users(group.stream(), own);
            token = TokenTree::Group(Group::new(group.delimiter(), inner));
        }
        token.set_span(span);
        token
    };
    tokens.into_iter().map(at).collect()
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

/// The body of a function, and the constants of its module that it names.
fn compile(linked: &Linked) -> Result<(TokenStream, Vec<Constant>), Vec<Diagnostic>> {
    match pipeline::compile(linked) {
        // What is wrong is that nobody knows the functions it takes. Whoever calls it from plain Rust is told so.
        Err(errors) if errors.iter().all(|error| error.alone) => {
            let name = linked.root.name.to_string();
            let why = errors.first().map_or("", |error| error.message.as_str());
            let body = match accumulator(&linked.root) {
                Some(param) => quote!(#param.never()),
                None => refusing(
                    &linked.root,
                    &format!("`{name}` cannot be called here: {why}"),
                ),
            };
            Ok((returning(&linked.root.result, &body), constants(linked)?))
        }
        result => result,
    }
}

/// A parameter that is an accumulator, of which plain Rust has none.
fn accumulator(function: &Function) -> Option<&Ident> {
    let is_accumulator = |param: &&Param| match &param.ty.kind {
        TypeKind::Ref { inner, .. } => matches!(inner.kind, TypeKind::Accum(_)),
        _ => false,
    };
    let param = function.params.iter().find(is_accumulator)?;
    Some(&param.name)
}

/// What cannot be compiled, and says why to whoever has it compiled.
///
/// Constants of a generic function are evaluated for those that are called, but optimization may
/// evaluate one before, if it does not depend on what the function is generic in. So the constant
/// asks first how large a function is that is passed.
fn refusing(function: &Function, why: &str) -> TokenStream {
    let passed = function.params.iter().find_map(|param| {
        let name = &param.name;
        match &param.ty.kind {
            kind if is_function(function, kind) => Some(quote!(&#name)),
            TypeKind::Ref { inner, .. } if is_function(function, &inner.kind) => {
                Some(quote!(#name))
            }
            _ => None,
        }
    });
    let passed = passed.unwrap_or_else(|| quote!(&()));
    quote!({
        fn refuse<F>(_: &F) -> ! {
            const {
                ::core::assert!(
                    ::core::mem::size_of::<F>() > ::core::primitive::usize::MAX / 2,
                    "{}",
                    #why
                )
            };
            ::core::unreachable!()
        }
        refuse(#passed)
    })
}

/// Whether a type of a function's signature is that of a function.
fn is_function(function: &Function, kind: &TypeKind) -> bool {
    let generic = |path: &syn::Path| {
        function.generics.iter().any(|generic| {
            matches!(generic.kind, GenericKind::Function(..)) && path.is_ident(&generic.name)
        })
    };
    match kind {
        TypeKind::Function(..) => true,
        TypeKind::Path(path, _) => generic(path),
        _ => false,
    }
}

/// A body that never gives anything, of this type.
fn returning(result: &Type, body: &TokenStream) -> TokenStream {
    match &result.kind {
        TypeKind::Function(params, _) => {
            let params = params.iter().map(|_| quote!(_));
            quote!({ #body; move |#(#params),*| ::core::unreachable!() })
        }
        _ => body.clone(),
    }
}

/// Whether a function can be compiled without knowing its callers: what takes functions cannot.
fn stands_alone(function: &Function) -> bool {
    let generic = function
        .generics
        .iter()
        .any(|generic| matches!(generic.kind, GenericKind::Function(..)));
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
mod hostile;
#[cfg(test)]
mod tests;
