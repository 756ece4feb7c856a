//! Transformations in ordinary Rust: `grad!(f)` as an expression, named ones by `define!`, and
//! `explain!`.
//!
//! A transformed function is a function of the user's language whose body is the transformation of
//! a call:
//!
//! ```text
//! grad!(m::loss, wrt = w)   ▶   { fn grad_loss<N: IndexSet>(x: &Table<N, f64>, w: f64) -> f64 { grad!(m::loss, wrt = w)(x, w) } grad_loss }
//! ```
//!
//! so it is compiled as any other. What is special is how it spells its signature. To the compiler
//! it uses the names of the module of `f`, as `f` itself does. To rustc it cannot, since it stands
//! where the macro does: words of the language come by this crate's own path, types and constants
//! through the carrier of `f`.

mod reached;
mod spelling;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

pub(super) use self::reached::part;
use self::reached::reach;
use self::spelling::{AsWritten, Spelled};
use super::carrier::Carrier;
use super::function::{carried, payload};
use super::root::{Definition, innermost};
use super::{compile, link, returning, stands_alone};
use crate::diag::{Diagnostic, syntax as diag, transform};
use crate::link::{Entry, EntryKind, Exported, Gathering, Names, Payload, companion, unique_name};
use crate::lower::check;
use crate::syntax::names::{function_uses, signature_types};
use crate::syntax::parse::parse_function;
use crate::syntax::rust::{self, Spelling};
use crate::syntax::signature::{Signature, linear_map, transformed};
use crate::syntax::tree::{
    Function, Linked, Param, Scope, Transform, Transformed, Type, TypeKind, path_key,
};
use crate::targets::cpu::rust as printer;
use crate::{explain, pipeline};

/// `explain!(f)`, `explain!(grad!(f))`
pub(super) fn explained(
    gathering: &Gathering,
    path: &syn::Path,
    transform: Option<&Transform>,
) -> Result<TokenStream, Vec<Diagnostic>> {
    let target = Target::of(gathering, path)?;
    if transform.is_some() {
        target.stands_alone()?;
    }
    let item = target.item();
    let linked = match transform {
        Some(transform) if transform.name == "linearize" => {
            let name = word(Some(transform), transform.name.span(), &target);
            let linked = target.transform(&tangent(transform), &name)?.linked;
            let Linked { root, types, .. } = &target.linked;
            let tangents = linear_map(root, types, transform).map_or(0, |(of, _)| of.len());
            if let Some([first, second]) = pipeline::staged_stages(&linked, tangents)? {
                let text = format!(
                    "the value, and what is kept\n\n{}\nits map\n\n{}",
                    explain::explain(&first),
                    explain::explain(&second)
                );
                return Ok(quote!({ #item #text }));
            }
            // Its map runs the forward derivative.
            linked
        }
        Some(transform) => {
            target
                .transform(
                    transform,
                    &word(Some(transform), transform.name.span(), &target),
                )?
                .linked
        }
        // The function becomes the root, so its constants come by its carrier.
        None => target.linked,
    };
    let text = explain::explain(&pipeline::stages(&linked)?);
    Ok(quote!({ #item #text }))
}

/// How the body of a transformed function comes about.
type Body = dyn Fn(&Linked) -> Result<TokenStream, Vec<Diagnostic>>;

/// The body of a function that gives a `Result`.
pub(super) fn attempted(linked: &Linked) -> Result<TokenStream, Vec<Diagnostic>> {
    pipeline::compile_fallible(linked)
}

/// The compiled body.
pub(super) fn compiled(linked: &Linked) -> Result<TokenStream, Vec<Diagnostic>> {
    compile(linked).map(|(body, _)| body)
}

/// A body that is never run, where what is transformed has errors.
pub(super) fn stubbed(linked: &Linked) -> Result<TokenStream, Vec<Diagnostic>> {
    let name = linked.root.name.to_string();
    let failed = quote!(::pointful::__private::failed(#name));
    Ok(returning(&linked.root.result, &failed))
}

/// `try_call!(f)` as an expression: the function itself, but that arguments which do not fit each
/// other are an `Err`.
pub(super) fn fallible(
    gathering: &Gathering,
    transform: &Transform,
    body: &Body,
) -> Result<TokenStream, Vec<Diagnostic>> {
    let path = innermost(transform);
    let target = Target::of(gathering, &path)?;
    target.stands_alone()?;
    let inner = match &transform.of {
        Transformed::Path(_) => None,
        Transformed::Transform(inner) if inner.name == "linearize" => {
            return Err(vec![diag::transform_form(inner.name.span(), "try_call")]);
        }
        Transformed::Transform(inner) => Some(&**inner),
    };
    let name = word(inner, transform.name.span(), &target);
    let function = target.call(transform, &name)?;
    let result = function.result();
    let result = quote!(::core::result::Result<#result, ::pointful::Error>);
    let item = function.item_giving(&TokenStream::new(), &result, &body(&function.linked)?);
    // The function that is defined here may be of the same name.
    let target = target.item();
    Ok(quote_spanned!(name.span()=> { #target { #item #name } }))
}

/// `grad!(f)` as an expression: a block whose value is the function.
pub(super) fn expression(
    gathering: &Gathering,
    transform: &Transform,
    body: &Body,
) -> Result<TokenStream, Vec<Diagnostic>> {
    let path = innermost(transform);
    let target = Target::of(gathering, &path)?;
    target.stands_alone()?;
    let name = word(Some(transform), transform.name.span(), &target);
    if transform.name == "linearize" {
        return linearized(&target, transform, &name, (body, !gathering.is_broken()));
    }
    let function = target.transform(transform, &name)?;
    let item = function.item(&TokenStream::new(), &body(&function.linked)?);
    let target = target.item();
    Ok(quote_spanned!(name.span()=> { #target #item #name }))
}

/// `linearize!(f)`: the value by one function, the tangent by another one that is given the
/// arguments again, which the map has copies of, and what the first has kept. Where the two cannot
/// be parted, or there are errors, nothing is kept.
fn linearized(
    target: &Target<'_>,
    transform: &Transform,
    name: &Ident,
    (body, may_keep): (&Body, bool),
) -> Result<TokenStream, Vec<Diagnostic>> {
    let (value_name, tangent_name) = (format_ident!("{name}_value"), format_ident!("{name}_map"));
    let tangent = target.transform(&tangent(transform), &tangent_name)?;
    let value = target.call(transform, &value_name)?;
    let map = linear_map(&target.linked.root, &target.linked.types, transform);
    let Some((tangents, result)) = map else {
        return Err(vec![diag::untransformable(
            transform.name.span(),
            "linearize",
        )]);
    };
    let emitted = |function: &Synthetic| {
        let body = body(&function.linked)?;
        Ok::<_, Vec<Diagnostic>>(function.item(&TokenStream::new(), &body))
    };
    let staged = match may_keep {
        true => pipeline::compile_staged(&tangent.linked, tangents.len())?,
        false => None,
    };
    let keeps = staged.is_some();
    let (value_item, tangent_item) = match staged {
        Some([first, second]) => value.staged_items(&tangent, &result, [&first, &second]),
        None => (emitted(&value)?, emitted(&tangent)?),
    };
    let spelling = &value.spelling;
    let Signature {
        generics, params, ..
    } = &value.signature;
    let known = rust::generics(generics, spelling);
    let kept = rust::generic_names(generics);
    let names: Vec<_> = params.iter().map(|param| &param.name).collect();
    let types = params.iter().map(|param| rust::ty(&param.ty, spelling));
    let value_type = rust::ty(&value.signature.result, spelling);
    let result = rust::ty(&result, spelling);
    let arguments: Vec<_> = (0..tangents.len())
        .map(|at| format_ident!("tangent_{at}", span = Span::mixed_site()))
        .collect();
    let tangents = tangents.iter().map(|ty| rust::ty(ty, spelling));
    // What is passed by reference is copied and passed again by reference, everything else is copied for each use.
    let copied = params.iter().map(|param| {
        let name = &param.name;
        match &param.ty.kind {
            TypeKind::Ref { inner, .. } => {
                let inner = rust::ty(inner, spelling);
                quote!(<#inner as ::core::clone::Clone>::clone(#name))
            }
            _ => quote!(::core::clone::Clone::clone(&#name)),
        }
    });
    let passed = params.iter().map(|param| {
        let name = &param.name;
        match &param.ty.kind {
            TypeKind::Ref { .. } => quote!(&#name),
            _ => quote!(::core::clone::Clone::clone(&#name)),
        }
    });
    let (lints, target) = (lints(), target.item());
    let stored = printer::kept_name();
    let (given, map) = match keeps {
        true => (
            quote_spanned!(name.span()=> (value, #stored)),
            quote!(#tangent_name(&#stored, #(#passed,)* #(#arguments),*)),
        ),
        false => (
            quote_spanned!(name.span()=> value),
            quote!(#tangent_name(#(#passed,)* #(#arguments),*).1),
        ),
    };
    Ok(quote_spanned!(name.span()=> {
        #target
        #value_item
        #tangent_item
        #lints
        fn #name #known (#(#names: #types),*) -> (#value_type, impl Fn(#(#tangents),*) -> #result + use<#(#kept),*>) {
            let (#(#names,)*) = (#((#copied, #names),)*);
            let #given = #value_name(#(#names.1),*);
            let (#(#names,)*) = (#(#names.0,)*);
            (value, move |#(#arguments),*| #map)
        }
        #name
    }))
}

/// The forward derivative of the same function.
fn tangent(linearize: &Transform) -> Transform {
    Transform {
        name: Ident::new("jvp", linearize.name.span()),
        ..linearize.clone()
    }
}

/// `define! { pub fn loss_grad = grad!(loss); }`
pub(super) fn defined(
    gathering: &Gathering,
    definition: &Definition,
    transform: &Transform,
    body: &Body,
) -> Result<TokenStream, Vec<Diagnostic>> {
    let request = &gathering.request;
    let path = innermost(transform);
    let target = Target::of(gathering, &path)?;
    let Definition {
        attrs, vis, name, ..
    } = definition;
    let function = target.transform(transform, name)?;
    let body = body(&function.linked)?;
    let unique = unique_name(name, &request.site, &request.item);
    // Lengths that are now in the signature and were in an alias before.
    let mut constants = carried(gathering);
    let mut exported = target.entry.constants.clone();
    let lengths = function_uses(&function.linked.root).lengths;
    for (at, path) in lengths.iter().enumerate() {
        let key = path_key(path);
        if exported.iter().all(|known| known.path != key) {
            let own = Exported {
                path: key,
                name: format_ident!("{unique}_{at}"),
                ty: quote!(usize),
            };
            let value = function.spelling.constant(path);
            constants.push((own.name.clone(), own.ty.clone(), value));
            exported.push(own);
        }
    }
    let carrier = Carrier {
        constants,
        types: signature_types(&function.linked.root)
            .iter()
            .map(|path| function.spelling.path(path))
            .collect(),
    };
    let own = Entry {
        kind: EntryKind::Function,
        name: unique.clone(),
        args: TokenStream::new(),
        item: function.source.clone(),
        names: target.names(&function.linked.root),
        constants: exported,
    };
    let payload = Payload {
        broken: gathering.is_broken(),
        ..payload(gathering, own)
    };
    let documentation = documentation(transform, &function);
    let item = function.item(&quote!(#(#attrs)* #documentation #vis), &body);
    let carrier = carrier.items(name, vis, &unique);
    let companion = companion(name, vis, &unique, &payload);
    let target = target.item();
    Ok(quote!(const _: () = { #target }; #item #carrier #companion))
}

/// What documentation says of a function that `define!` makes, behind what the user says. rustdoc shows a signature as rustc
/// has to have it; this is the one that the user would write.
fn documentation(transform: &Transform, function: &Synthetic) -> TokenStream {
    let callee = innermost(transform);
    let made = rust::written(transform_tokens(transform, &callee));
    let signature = rust::written(function.heading());
    let lines = [
        String::new(),
        format!("`{made}`, which is"),
        String::new(),
        "```text".to_owned(),
        signature,
        "```".to_owned(),
    ];
    quote!(#(#[doc = #lines])*)
}

/// What a transformed function without a name of its own is called, `grad_loss`; without a
/// transformation it has its own name.
///
/// `place` is what rustc shows if it is called with something else than it takes.
fn word(transform: Option<&Transform>, place: Span, target: &Target<'_>) -> Ident {
    let place = Span::mixed_site().located_at(place);
    let own = target.linked.root.name.to_string();
    let plain = own.strip_prefix("r#");
    let mut words = Vec::new();
    let mut at = transform;
    while let Some(transform) = at {
        words.push(transform.name.to_string());
        at = match &transform.of {
            Transformed::Path(_) => None,
            Transformed::Transform(inner) => Some(inner),
        };
    }
    if let (Some(plain), true) = (plain, words.is_empty()) {
        return Ident::new_raw(plain, place);
    }
    words.push(plain.unwrap_or(&own).to_owned());
    Ident::new(&words.join("_"), place)
}

/// Lints of style do not apply to what is generated.
fn lints() -> TokenStream {
    quote! {
        #[allow(
            non_snake_case, non_camel_case_types, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction,
            reason = "what is generated follows no style"
        )]
    }
}

/// The function that a macro names.
struct Target<'g> {
    path: &'g syn::Path,
    entry: &'g Entry,
    /// With the function as the root, which is also the last of the callees.
    linked: Linked,
    /// The types that can be named here: their positions among the linked ones, names for them in
    /// bodies, what they are.
    reached: Vec<(usize, Ident, TokenStream)>,
}

impl<'g> Target<'g> {
    fn of(gathering: &'g Gathering, path: &'g syn::Path) -> Result<Self, Vec<Diagnostic>> {
        let wrong = || vec![diag::not_a_function(path)];
        let (_, payload) = gathering.answers.last().ok_or_else(wrong)?;
        let entry = payload
            .entries
            .last()
            .filter(|entry| entry.kind == EntryKind::Function)
            .ok_or_else(wrong)?;
        let function = entry.function().ok_or_else(wrong)?;
        let mut linked = link(gathering, function, &entry.names)?;
        linked.root.scope.constants.clear();
        let reached = reach(path, entry, &mut linked);
        Ok(Self {
            path,
            entry,
            linked,
            reached,
        })
    }

    /// What takes functions is compiled only where another function calls it.
    fn stands_alone(&self) -> Result<(), Vec<Diagnostic>> {
        if stands_alone(&self.linked.root) {
            return Ok(());
        }
        let name = self.linked.root.name.to_string();
        Err(vec![transform::only_inlined(self.path.span(), &name)])
    }

    /// The companion is found by the macro of the function's name, past any variable of that name.
    /// So the name also stands where rustc finds functions, and of variables says that they cannot
    /// be captured: in a function of its own.
    fn item(&self) -> TokenStream {
        let root = &self.linked.root;
        let lent = |param: &Param| match &param.ty.kind {
            TypeKind::Ref { inner, .. } => matches!(inner.kind, TypeKind::Function(..)),
            kind => matches!(kind, TypeKind::Function(..)),
        };
        // A path is no variable's, and nothing says what an `impl Fn` is that nobody passes.
        let Some(name) = self
            .path
            .get_ident()
            .filter(|_| !root.params.iter().any(lent))
        else {
            return TokenStream::new();
        };
        let known = rust::generics(&root.generics, &self.spelling(&Signature::of(root)));
        let names = rust::generic_names(&root.generics);
        let (lints, item) = (lints(), format_ident!("{name}_is_an_item"));
        quote! {
            #lints
            #[allow(dead_code, reason = "it is there to be checked")]
            fn #item #known() {
                let _ = #name::<#(#names),*>;
            }
        }
    }

    /// The path by which the body names the function: a parameter of its name would hide it.
    fn callee(&self, signature: &Signature) -> syn::Path {
        let hidden = |name: &Ident| signature.params.iter().any(|param| param.name == *name);
        match self.path.get_ident() {
            Some(name) if hidden(name) => self.entry.name.clone().into(),
            _ => self.path.clone(),
        }
    }

    /// The transformed function.
    fn transform(&self, transform: &Transform, name: &Ident) -> Result<Synthetic, Vec<Diagnostic>> {
        let Linked { root, types, .. } = &self.linked;
        match transformed(root, types, transform) {
            Some(signature) => {
                let call = transform_tokens(transform, &self.callee(&signature));
                self.synthetic(name, signature, &call)
            }
            None => Err(self.refused(transform, name)),
        }
    }

    /// The function itself, called.
    fn call(&self, transform: &Transform, name: &Ident) -> Result<Synthetic, Vec<Diagnostic>> {
        let signature = match &transform.of {
            Transformed::Path(_) => Signature::of(&self.linked.root),
            Transformed::Transform(inner) => return self.transform(inner, name),
        };
        let call = self.callee(&signature).to_token_stream();
        self.synthetic(name, signature, &call)
    }

    /// Why a function cannot be transformed: lowering says it, given the parameters that the
    /// function itself has.
    fn refused(&self, transform: &Transform, name: &Ident) -> Vec<Diagnostic> {
        let signature = Signature {
            result: Type {
                kind: TypeKind::Infer,
                span: transform.name.span(),
            },
            ..Signature::of(&self.linked.root)
        };
        let call = transform_tokens(transform, &self.callee(&signature));
        let said = self
            .synthetic(name, signature, &call)
            .and_then(|function| check(&function.linked));
        match said {
            Err(errors) => errors,
            Ok(()) => vec![diag::untransformable(
                transform.name.span(),
                &transform.name.to_string(),
            )],
        }
    }

    /// The function of this signature that calls `callee`.
    fn synthetic(
        &self,
        name: &Ident,
        signature: Signature,
        callee: &TokenStream,
    ) -> Result<Synthetic, Vec<Diagnostic>> {
        let (generics, result) = (
            rust::generics(&signature.generics, &AsWritten),
            rust::ty(&signature.result, &AsWritten),
        );
        let params = signature.params.iter().map(|param| {
            let (name, ty) = (&param.name, rust::ty(&param.ty, &AsWritten));
            let constant = param.constant.then(|| quote!(#[constant]));
            quote!(#constant #name: #ty)
        });
        let arguments = signature.params.iter().map(|param| &param.name);
        let source = quote! {
            fn #name #generics (#(#params),*) -> #result { #callee(#(#arguments),*) }
        };
        let item = syn::parse2(source.clone()).map_err(|error| vec![error.into()])?;
        let mut root = parse_function(&item)?;
        let mut linked = self.linked.clone();
        root.scope = self.scope(&linked);
        let spelling = self.spelling(&signature);
        linked.root = root;
        Ok(Synthetic {
            linked,
            signature,
            source,
            spelling,
        })
    }

    /// What names in the synthetic function mean: what they mean in the function, and that function
    /// itself.
    fn scope(&self, linked: &Linked) -> Scope {
        let mut scope = linked.root.scope.clone();
        let id = linked.callees.last().map_or(0, |callee| callee.id);
        scope.functions = vec![(path_key(self.path), id), (self.entry.name.to_string(), id)];
        scope
    }

    /// The meanings that the companion of a synthetic function hands on.
    fn names(&self, function: &Function) -> Names {
        let own = |name: &Ident| (name.to_string(), name.clone());
        let mut names = Names {
            functions: vec![
                (path_key(self.path), self.entry.name.clone()),
                own(&self.entry.name),
            ],
            types: self.entry.names.types.clone(),
            constants: Vec::new(),
        };
        // Types that no name in the function's module means go by the names of their entries.
        for path in signature_types(function) {
            if let Some(name) = path.get_ident()
                && names.types.iter().all(|(key, _)| name != key)
            {
                names.types.push(own(name));
            }
        }
        names
    }

    /// How a function with this signature spells what it names.
    fn spelling(&self, signature: &Signature) -> Spelled {
        let generics = signature.generics.iter();
        Spelled {
            function: self.path.clone(),
            generics: generics.map(|generic| generic.name.to_string()).collect(),
            scope: self.linked.root.scope.clone(),
            reached: self.reached.clone(),
        }
    }
}

/// `grad!(f, wrt = x)` with this path for `f`.
fn transform_tokens(transform: &Transform, callee: &syn::Path) -> TokenStream {
    let name = &transform.name;
    let of = match &transform.of {
        Transformed::Path(_) => callee.to_token_stream(),
        Transformed::Transform(inner) => transform_tokens(inner, callee),
    };
    let options = transform
        .options
        .iter()
        .map(|(option, names)| match names.as_slice() {
            [one] => quote!(, #option = #one),
            several => quote!(, #option = (#(#several),*)),
        });
    quote!(#name!(#of #(#options)*))
}

/// A function that nobody wrote.
struct Synthetic {
    linked: Linked,
    signature: Signature,
    /// Its text, for those that link with it.
    source: TokenStream,
    spelling: Spelled,
}

impl Synthetic {
    /// The type of its result.
    fn result(&self) -> TokenStream {
        rust::ty(&self.signature.result, &self.spelling)
    }

    /// The signature as the user would write it.
    fn heading(&self) -> TokenStream {
        let Signature {
            generics,
            params,
            result,
        } = &self.signature;
        let name = &self.linked.root.name;
        let (generics, result) = (
            rust::generics(generics, &AsWritten),
            rust::ty(result, &AsWritten),
        );
        let params = params.iter().map(|param| {
            let (name, ty) = (&param.name, rust::ty(&param.ty, &AsWritten));
            quote!(#name: #ty)
        });
        quote!(fn #name #generics (#(#params),*) -> #result)
    }

    /// The function with this in front and this body, as it may stand where the macro does.
    fn item(&self, front: &TokenStream, body: &TokenStream) -> TokenStream {
        self.item_giving(front, &self.result(), body)
    }

    /// This function, which gives what it keeps beside its result, and the forward derivative that
    /// is given it, and gives a tangent of this type.
    fn staged_items(
        &self,
        tangent: &Self,
        result: &Type,
        [first, second]: [&TokenStream; 2],
    ) -> (TokenStream, TokenStream) {
        let (front, value) = (TokenStream::new(), self.result());
        let kept = quote!(::pointful::__private::Kept);
        let name = printer::kept_name();
        let result = rust::ty(result, &tangent.spelling);
        let value = self.item_giving(&front, &quote!((#value, #kept)), first);
        let tangent = tangent.item_with(&front, &quote!(#name: &#kept,), &result, second);
        (value, tangent)
    }

    /// As [`Self::item`], with a result of this type.
    fn item_giving(
        &self,
        front: &TokenStream,
        result: &TokenStream,
        body: &TokenStream,
    ) -> TokenStream {
        self.item_with(front, &TokenStream::new(), result, body)
    }

    /// The same with these parameters before its own.
    fn item_with(
        &self,
        front: &TokenStream,
        before: &TokenStream,
        result: &TokenStream,
        body: &TokenStream,
    ) -> TokenStream {
        let Signature {
            generics, params, ..
        } = &self.signature;
        let name = &self.linked.root.name;
        let generics = rust::generics(generics, &self.spelling);
        let names: Vec<_> = params.iter().map(|param| &param.name).collect();
        let types = params
            .iter()
            .map(|param| rust::ty(&param.ty, &self.spelling));
        let aliases = self.spelling.reached.iter().map(|(_, name, tokens)| {
            quote! {
                #[allow(dead_code, reason = "all types that the signature reaches have a name here, and the text may use only some")]
                type #name = #tokens;
            }
        });
        let lints = lints();
        quote! {
            #lints
            #[track_caller]
            #front fn #name #generics (#before #(#names: #types),*) -> #result {
                #(#aliases)*
                #(let _ = &#names;)*
                #body
            }
        }
    }
}
