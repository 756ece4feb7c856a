//! Transformations in ordinary Rust: `grad!(f)` as an expression, named ones by `define!`, and `explain!`.
//!
//! A transformed function is a function of the user's language whose body is the transformation of a call:
//!
//! ```text
//! grad!(m::loss, wrt = w)   ▶   { fn grad_loss<N: IndexSet>(x: &Table<N, f64>, w: f64) -> f64 { grad!(m::loss, wrt = w)(x, w) } grad_loss }
//! ```
//!
//! so it is compiled as any other. What is special is how it spells its signature. To the compiler it uses the names of the module of `f`,
//! as `f` itself does. To rustc it cannot, since it stands where the macro does: words of the language come by this crate's own
//! path, types and constants through the carrier of `f`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use super::carrier::Carrier;
use super::function::{carried, payload};
use super::root::{Definition, innermost};
use super::{compile, link, returning, stands_alone};
use crate::diag::{Diagnostic, syntax as diag, transform};
use crate::lower::check;
use crate::syntax::link::{
    Entry, EntryKind, Exported, Gathering, Names, Payload, companion, unique_name,
};
use crate::syntax::names::{function_uses, signature_types};
use crate::syntax::parse::parse_function;
use crate::syntax::rust::{self, Spelling};
use crate::syntax::signature::{Signature, linear_map, transformed};
use crate::syntax::tree::{
    ExprKind, Function, Linked, Scope, Set, SetKind, Transform, Transformed, Type, TypeDef,
    TypeDefKind, TypeItem, TypeKind, path_key,
};
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
    let linked = match transform {
        // Its map runs the forward derivative.
        Some(transform) if transform.name == "linearize" => {
            let jvp = tangent(transform);
            target.transform(&jvp, &word(transform, &target))?.linked
        }
        Some(transform) => {
            target
                .transform(transform, &word(transform, &target))?
                .linked
        }
        // The function becomes the root, so its constants come by its carrier.
        None => target.linked,
    };
    let text = explain::explain(&pipeline::stages(&linked)?);
    Ok(quote!({ #text }))
}

/// How the body of a transformed function comes about.
type Body = dyn Fn(&Linked) -> Result<TokenStream, Vec<Diagnostic>>;

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

/// `grad!(f)` as an expression: a block whose value is the function.
pub(super) fn expression(
    gathering: &Gathering,
    transform: &Transform,
    body: &Body,
) -> Result<TokenStream, Vec<Diagnostic>> {
    let path = innermost(transform);
    let target = Target::of(gathering, &path)?;
    target.stands_alone()?;
    let name = word(transform, &target);
    if transform.name == "linearize" {
        return linearized(&target, transform, &name, body);
    }
    let function = target.transform(transform, &name)?;
    let item = function.item(&TokenStream::new(), &body(&function.linked)?);
    Ok(quote_spanned!(name.span()=> { #item #name }))
}

/// `linearize!(f)`: the value by one function, the tangent by another one that is given the arguments again, which the map has
/// copies of.
fn linearized(
    target: &Target<'_>,
    transform: &Transform,
    name: &Ident,
    body: &Body,
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
    let (value_item, tangent_item) = (emitted(&value)?, emitted(&tangent)?);
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
    let lints = lints();
    Ok(quote_spanned!(name.span()=> {
        #value_item
        #tangent_item
        #lints
        fn #name #known (#(#names: #types),*) -> (#value_type, impl Fn(#(#tangents),*) -> #result + use<#(#kept),*>) {
            let (#(#names,)*) = (#((#copied, #names),)*);
            let value = #value_name(#(#names.1),*);
            let (#(#names,)*) = (#(#names.0,)*);
            (value, move |#(#arguments),*| #tangent_name(#(#passed,)* #(#arguments),*).1)
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
    let item = function.item(&quote!(#(#attrs)* #vis), &body);
    let carrier = carrier.items(name, vis, &unique);
    let companion = companion(name, vis, &unique, &payload);
    Ok(quote!(#item #carrier #companion))
}

/// What a transformed function without a name of its own is called: `grad_loss`.
fn word(transform: &Transform, target: &Target<'_>) -> Ident {
    let mut name = target.linked.root.name.to_string();
    let mut words = Vec::new();
    let mut at = Some(transform);
    while let Some(transform) = at {
        words.push(transform.name.to_string());
        at = match &transform.of {
            Transformed::Path(_) => None,
            Transformed::Transform(inner) => Some(inner),
        };
    }
    for word in words.iter().rev() {
        name = format!("{word}_{}", name.trim_start_matches("r#"));
    }
    // Where it stands is what rustc shows if it is called with something else than it takes.
    let place = transform.name.span();
    Ident::new(&name, Span::mixed_site().located_at(place))
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
    /// The types that can be named here: their positions among the linked ones, names for them in bodies, what they are.
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

    /// Why a function cannot be transformed: lowering says it, given the parameters that the function itself has.
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

    /// What names in the synthetic function mean: what they mean in the function, and that function itself.
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

/// Finds what can be named from where the macro stands, and lets the linked program name it so.
fn reach(path: &syn::Path, entry: &Entry, linked: &mut Linked) -> Vec<(usize, Ident, TokenStream)> {
    let mut found = Reached {
        function: &linked.root,
        types: &linked.types,
        reached: Vec::new(),
        constants: constants(path, entry),
    };
    for (at, ty) in signature_types(&linked.root).iter().enumerate() {
        found.path(ty, &part(&path.to_token_stream(), at));
    }
    let Reached {
        reached, constants, ..
    } = found;
    let reached: Vec<_> = reached
        .into_iter()
        .map(|(id, tokens)| (id, format_ident!("Named{id}"), tokens))
        .collect();
    for (id, name, _) in &reached {
        linked.types[*id].path = Some(name.clone().into());
    }
    let callees = linked.callees.iter_mut().map(|callee| &mut callee.function);
    for function in callees.chain([&mut linked.root]) {
        for (key, tokens) in &constants {
            let known = &mut function.scope.constants;
            if known.iter().all(|(known, _)| known != key) {
                known.push((key.clone(), tokens.clone()));
            }
        }
    }
    reached
}

/// The constants of a function's own text, through its carrier.
fn constants(path: &syn::Path, entry: &Entry) -> Vec<(String, TokenStream)> {
    let carried = |Exported {
                       path: key, name, ..
                   }: &Exported| (key.clone(), quote!(#path::#name));
    entry.constants.iter().map(carried).collect()
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
    /// The function with this in front and this body, as it may stand where the macro does.
    fn item(&self, front: &TokenStream, body: &TokenStream) -> TokenStream {
        let Signature {
            generics,
            params,
            result,
        } = &self.signature;
        let name = &self.linked.root.name;
        let generics = rust::generics(generics, &self.spelling);
        let names: Vec<_> = params.iter().map(|param| &param.name).collect();
        let types = params
            .iter()
            .map(|param| rust::ty(&param.ty, &self.spelling));
        let result = rust::ty(result, &self.spelling);
        let aliases = self.spelling.reached.iter().map(|(_, name, tokens)| {
            quote! {
                #[allow(dead_code, reason = "all types that the signature reaches have a name here, and the text may use only some")]
                type #name = #tokens;
            }
        });
        let lints = lints();
        quote! {
            #lints
            #front fn #name #generics (#(#names: #types),*) -> #result {
                #(#aliases)*
                #(let _ = &#names;)*
                #body
            }
        }
    }
}

/// As the user's language has it.
struct AsWritten;

impl Spelling for AsWritten {
    fn word(&self, word: &str) -> TokenStream {
        Ident::new(word, Span::call_site()).to_token_stream()
    }

    fn path(&self, path: &syn::Path) -> TokenStream {
        path.to_token_stream()
    }

    fn constant(&self, path: &syn::Path) -> TokenStream {
        path.to_token_stream()
    }
}

/// As rustc must have it where the macro stands.
struct Spelled {
    /// The path by which the function is reached.
    function: syn::Path,
    generics: Vec<String>,
    scope: Scope,
    /// As [`Target`] has them.
    reached: Vec<(usize, Ident, TokenStream)>,
}

impl Spelling for Spelled {
    fn word(&self, word: &str) -> TokenStream {
        let word = Ident::new(word, Span::call_site());
        quote!(::pointful::__private::#word)
    }

    fn path(&self, path: &syn::Path) -> TokenStream {
        let key = path_key(path);
        if self.generics.contains(&key) {
            return path.to_token_stream();
        }
        let id = self.scope.types.iter().find(|(name, _)| *name == key);
        let reached = id.and_then(|(_, id)| self.reached.iter().find(|(known, ..)| known == id));
        match reached {
            Some((_, _, tokens)) => tokens.clone(),
            // Nothing carries a generic type, which is likely to stand beside the function.
            None if id.is_some() => beside(&self.function, path).into_token_stream(),
            None => path.to_token_stream(),
        }
    }

    fn constant(&self, path: &syn::Path) -> TokenStream {
        let key = path_key(path);
        let known = self.scope.constants.iter().find(|(name, _)| *name == key);
        match known {
            Some((_, tokens)) => tokens.clone(),
            None => path.to_token_stream(),
        }
    }
}

/// What the module of a function names so, by the path of that module.
fn beside(function: &syn::Path, path: &syn::Path) -> syn::Path {
    let mut module = function.clone();
    module.segments.pop();
    let first = path.segments.first().map(|first| first.ident.to_string());
    let absolute = path.leading_colon.is_some() || first.is_some_and(|name| name == "crate");
    if absolute || module.segments.is_empty() {
        return path.clone();
    }
    module.segments.extend(path.segments.iter().cloned());
    module
}

/// The types that can be named, starting from those that a carrier has: the parts of aliases, through the same trait.
struct Reached<'a> {
    function: &'a Function,
    types: &'a [TypeDef],
    reached: Vec<(usize, TokenStream)>,
    /// The lengths of static sets in aliases: constants of the modules where these stand.
    constants: Vec<(String, TokenStream)>,
}

impl Reached<'_> {
    fn path(&mut self, path: &syn::Path, tokens: &TokenStream) {
        let key = path_key(path);
        let Function {
            generics, scope, ..
        } = self.function;
        if generics.iter().any(|generic| generic.name == key) {
            return;
        }
        let Some(&(_, id)) = scope.types.iter().find(|(name, _)| *name == key) else {
            return;
        };
        if self.reached.iter().any(|(known, _)| *known == id) {
            return;
        }
        let TypeItem { generics, kind, .. } = &self.types[id].item;
        // No type before it has arguments, so nothing carries it.
        if !generics.is_empty() {
            return;
        }
        self.reached.push((id, tokens.clone()));
        match kind {
            TypeDefKind::Alias(inner) => self.ty(inner, tokens),
            TypeDefKind::NominalSet
            | TypeDefKind::EnumSet(_)
            | TypeDefKind::ProductSet(_)
            | TypeDefKind::Struct(_) => {}
        }
    }

    fn ty(&mut self, ty: &Type, tokens: &TokenStream) {
        match &ty.kind {
            TypeKind::Path(path, _) => self.path(path, tokens),
            TypeKind::Set(set) => self.set(set, tokens),
            TypeKind::Table(set, element) => {
                self.set(set, &part(tokens, 0));
                self.ty(element, &part(tokens, 1));
            }
            TypeKind::Tuple(parts) => {
                for (at, inner) in parts.iter().enumerate() {
                    self.ty(inner, &part(tokens, at));
                }
            }
            TypeKind::Extent(set) => self.set(set, &part(tokens, 0)),
            TypeKind::Scalar(_)
            | TypeKind::Array(..)
            | TypeKind::Ref { .. }
            | TypeKind::Function(..)
            | TypeKind::Infer => {}
        }
    }

    fn set(&mut self, set: &Set, tokens: &TokenStream) {
        match &set.kind {
            SetKind::Path(path, _) => self.path(path, tokens),
            SetKind::Product(parts) => {
                for (at, inner) in parts.iter().enumerate() {
                    self.set(inner, &part(tokens, at));
                }
            }
            SetKind::Either(left, right) => {
                self.set(left, &part(tokens, 0));
                self.set(right, &part(tokens, 1));
            }
            SetKind::Fin(length) => {
                if let ExprKind::Path(path) = &length.kind {
                    let length = quote!(<#tokens as ::pointful::__private::Length>::LENGTH);
                    self.constants.push((path_key(path), length));
                }
            }
            SetKind::Bool | SetKind::Unit | SetKind::Dyn | SetKind::Infer => {}
        }
    }
}

fn part(of: &TokenStream, at: usize) -> TokenStream {
    let at = proc_macro2::Literal::usize_unsuffixed(at);
    quote!(<#of as ::pointful::__private::Part<#at>>::Type)
}
