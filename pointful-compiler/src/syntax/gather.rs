//! Gathering: how one annotated function sees another.
//!
//! A macro sees one item. So every annotated item leaves a *companion*, a `macro_rules!` of its own name and path that hands what is known
//! of the item, its [`Bundle`], to whoever asks. Asking is itself an expansion: `path! { … }` with the asker's [`Request`] as tokens becomes
//! `link! { …request… { bundle } }`, which asks for the next missing item or, when none is, compiles.
//!
//! A bundle is closed: it carries everything that the item calls, directly or not, so that private helpers need not be nameable where the
//! asker stands. What a callee's module calls a constant is reached through the callee's *carrier*, a hidden enum of the function's own name
//! and path with associated constants; the carrier of a function re-exports those of its callees.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::{LitStr, Path, Token, braced, bracketed};

use super::mentions::{Mentions, mentions, mentions_of_type};
use super::parse::{parse_function, parse_index_set, parse_type};
use super::tree::{Callee, Function, Linked, TypeDef, path_key};
use crate::diag::{Diagnostic, syntax as diag};

/// What an item's companion hands on.
#[derive(Clone, Debug, Default)]
pub struct Bundle {
    /// Functions, each after those it calls; the item itself last, if it is one.
    pub functions: Vec<FunctionEntry>,
    /// Types, the item itself last, if it is one.
    pub types: Vec<TypeEntry>,
    /// Whether the item was rejected: its errors have been reported where it stands.
    pub failed: bool,
}

/// A function in a bundle.
#[derive(Clone, Debug)]
pub struct FunctionEntry {
    /// Tells it from all others.
    pub id: String,
    /// The function as written, without attributes.
    pub item: TokenStream,
    /// Called paths, and which function each means.
    pub functions: Vec<(String, String)>,
    /// Type paths, and which type each means.
    pub types: Vec<(String, String)>,
    /// Constants: the path as written, the name under which the bundle's carrier has it, its type.
    pub constants: Vec<(String, Ident, TokenStream)>,
}

/// A type in a bundle.
#[derive(Clone, Debug)]
pub struct TypeEntry {
    /// Tells it from all others.
    pub id: String,
    /// The item as written: `struct`, `enum` or `type`.
    pub item: TokenStream,
}

/// Who asks.
#[derive(Clone, Debug)]
pub struct Request {
    /// `function`, `definition` or `explain`.
    pub mode: Ident,
    /// The item that waits, or the path that is to be explained.
    pub item: TokenStream,
    /// Tells the item from all others.
    pub id: String,
    /// What was gathered: the path as written, and the bundle.
    pub gathered: Vec<(Path, Bundle)>,
    /// What is still missing.
    pub missing: Vec<Path>,
}

/// Macros that std puts into every module: a companion of such a name must be named by its module.
const STD_MACROS: [&str; 44] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "cfg",
    "column",
    "compile_error",
    "concat",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "env",
    "eprint",
    "eprintln",
    "file",
    "format",
    "format_args",
    "include",
    "include_bytes",
    "include_str",
    "is_x86_feature_detected",
    "line",
    "matches",
    "module_path",
    "option_env",
    "panic",
    "print",
    "println",
    "stringify",
    "thread_local",
    "todo",
    "try",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
    "cfg_select",
    "concat_bytes",
    "concat_idents",
    "const_format_args",
    "global_asm",
    "pattern_type",
    "trace_macros",
];

impl Request {
    /// The next step: asks for what is missing. `None` when nothing is.
    pub fn ask(&self) -> Option<TokenStream> {
        let path = self.missing.first()?;
        let request = self.to_tokens();
        let path = companion_path(path);
        Some(quote!(#path! { #request }))
    }

    fn to_tokens(&self) -> TokenStream {
        let (mode, item, id) = (&self.mode, &self.item, &self.id);
        let gathered = self.gathered.iter().map(|(path, bundle)| {
            let bundle = bundle.to_tokens();
            quote!(#path { #bundle })
        });
        let missing = &self.missing;
        quote!(#mode #id { #item } [ #(#gathered),* ] [ #(#missing),* ])
    }

    /// Reads a request, with the answer to its last question behind it.
    pub fn parse(tokens: TokenStream) -> syn::Result<Self> {
        let read = |input: ParseStream| -> syn::Result<Self> {
            let mode = input.parse()?;
            let id = input.parse::<LitStr>()?.value();
            let item = braces(input)?;
            let list;
            bracketed!(list in input);
            let mut gathered = Vec::new();
            while !list.is_empty() {
                let path = list.call(Path::parse_mod_style)?;
                gathered.push((path, Bundle::parse.parse2(braces(&list)?)?));
                if !list.is_empty() {
                    list.parse::<Token![,]>()?;
                }
            }
            let list;
            bracketed!(list in input);
            let mut missing: Vec<Path> = list
                .parse_terminated(Path::parse_mod_style, Token![,])?
                .into_iter()
                .collect();
            if !input.is_empty() {
                let answer = Bundle::parse.parse2(braces(input)?)?;
                if !missing.is_empty() {
                    gathered.push((missing.remove(0), answer));
                }
            }
            Ok(Self {
                mode,
                item,
                id,
                gathered,
                missing,
            })
        };
        read.parse2(tokens)
    }
}

/// How the companion of an item is named: by its module if std has a macro of that name.
fn companion_path(path: &Path) -> TokenStream {
    match path.get_ident() {
        Some(name) if STD_MACROS.iter().any(|std| name == std) => quote!(self::#name),
        _ => path.to_token_stream(),
    }
}

fn braces(input: ParseStream) -> syn::Result<TokenStream> {
    let content;
    braced!(content in input);
    content.parse()
}

impl Bundle {
    /// The bundle as tokens.
    pub fn to_tokens(&self) -> TokenStream {
        let functions = self.functions.iter().map(|entry| {
            let FunctionEntry {
                id,
                item,
                functions,
                types,
                constants,
            } = entry;
            let functions = functions.iter().map(|(key, id)| quote!(#key #id));
            let types = types.iter().map(|(key, id)| quote!(#key #id));
            let constants = constants
                .iter()
                .map(|(key, name, ty)| quote!(#key #name { #ty }));
            quote!(#id { #item } [ #(#functions)* ] [ #(#types)* ] [ #(#constants)* ])
        });
        let types = self
            .types
            .iter()
            .map(|TypeEntry { id, item }| quote!(#id { #item }));
        let failed = if self.failed {
            quote!(failed)
        } else {
            TokenStream::new()
        };
        quote!([ #(#functions)* ] [ #(#types)* ] #failed)
    }

    fn parse(input: ParseStream) -> syn::Result<Self> {
        let text = |input: ParseStream| Ok::<_, syn::Error>(input.parse::<LitStr>()?.value());
        let mut bundle = Self::default();
        let list;
        bracketed!(list in input);
        while !list.is_empty() {
            let id = text(&list)?;
            let item = braces(&list)?;
            let mut pairs = [Vec::new(), Vec::new()];
            for pairs in &mut pairs {
                let inner;
                bracketed!(inner in list);
                while !inner.is_empty() {
                    pairs.push((text(&inner)?, text(&inner)?));
                }
            }
            let inner;
            bracketed!(inner in list);
            let mut constants = Vec::new();
            while !inner.is_empty() {
                constants.push((text(&inner)?, inner.parse()?, braces(&inner)?));
            }
            let [functions, types] = pairs;
            bundle.functions.push(FunctionEntry {
                id,
                item,
                functions,
                types,
                constants,
            });
        }
        let list;
        bracketed!(list in input);
        while !list.is_empty() {
            let id = text(&list)?;
            bundle.types.push(TypeEntry {
                id,
                item: braces(&list)?,
            });
        }
        bundle.failed = input.parse::<Option<Ident>>()?.is_some();
        Ok(bundle)
    }
}

/// What has to be asked for before a function can be compiled.
pub fn missing(function: &Function) -> Result<Vec<Path>, Vec<Diagnostic>> {
    let Mentions {
        functions, types, ..
    } = mentions(function);
    if let Some(own) = functions.iter().find(|path| path.is_ident(&function.name)) {
        let name = &own.segments[0].ident;
        return Err(vec![diag::recursion(name.span(), &name.to_string())]);
    }
    Ok([functions, types].concat())
}

/// A function together with everything it was linked with, and what its own bundle will be once the types of its constants are known.
pub struct Gathered {
    /// For the compiler.
    pub linked: Linked,
    /// For the companion; the root's entry is last, its constants without types.
    pub bundle: Bundle,
    /// For the carrier: every constant of callees, by the name that it has in the root's carrier, with its type and the path to it.
    pub carried: Vec<(Ident, TokenStream, TokenStream)>,
}

/// Links a function with what was gathered. `None` if a callee was rejected.
pub fn link(
    request: &Request,
    root: Function,
    item: TokenStream,
) -> Result<Option<Gathered>, Vec<Diagnostic>> {
    if request.gathered.iter().any(|(_, bundle)| bundle.failed) {
        return Ok(None);
    }
    let mut linker = Linker::default();
    for (path, bundle) in &request.gathered {
        linker.add(path, bundle)?;
    }
    let found = mentions(&root);
    let mut root = root;
    let mut entry = FunctionEntry {
        id: request.id.clone(),
        item,
        functions: Vec::new(),
        types: Vec::new(),
        constants: Vec::new(),
    };
    for (path, bundle) in &request.gathered {
        let key = path_key(path);
        if found.types.iter().any(|p| path_key(p) == key)
            && let Some(last) = bundle.types.last()
        {
            entry.types.push((key.clone(), last.id.clone()));
        }
        if found.functions.iter().any(|p| path_key(p) == key)
            && let Some(last) = bundle.functions.last()
        {
            entry.functions.push((key, last.id.clone()));
        }
    }
    for path in &found.constants {
        let key = path_key(path);
        entry.constants.push((
            key.clone(),
            carried_name(&request.id, &key),
            TokenStream::new(),
        ));
        root.scope.constants.push((key, path.to_token_stream()));
    }
    linker.resolve(&mut root, &entry);
    let Linker {
        callees,
        types,
        entries,
        type_entries,
        carried,
        ..
    } = linker;
    let mut functions = entries;
    functions.push(entry);
    Ok(Some(Gathered {
        linked: Linked {
            root,
            callees,
            types,
        },
        bundle: Bundle {
            functions,
            types: type_entries,
            failed: false,
        },
        carried,
    }))
}

/// The name of a constant in a carrier.
fn carried_name(id: &str, key: &str) -> Ident {
    let name: String = key
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '_' })
        .collect();
    Ident::new(&format!("{id}_{name}"), Span::mixed_site())
}

#[derive(Default)]
struct Linker {
    callees: Vec<Callee>,
    types: Vec<TypeDef>,
    entries: Vec<FunctionEntry>,
    type_entries: Vec<TypeEntry>,
    function_ids: BTreeMap<String, usize>,
    type_ids: BTreeMap<String, usize>,
    carried: Vec<(Ident, TokenStream, TokenStream)>,
}

impl Linker {
    /// Adds what a bundle has and is not there yet. `path`: how the root calls the bundle's item.
    fn add(&mut self, path: &Path, bundle: &Bundle) -> Result<(), Vec<Diagnostic>> {
        for (at, entry) in bundle.types.iter().enumerate() {
            if self.type_ids.contains_key(&entry.id) {
                continue;
            }
            // Only the type that was asked for has a path here.
            let own = bundle.functions.is_empty() && at + 1 == bundle.types.len();
            let (name, kind) = parse_type_item(&entry.item)?;
            self.type_ids.insert(entry.id.clone(), self.types.len());
            self.types.push(TypeDef {
                name,
                path: own.then(|| path.clone()),
                kind,
            });
            self.type_entries.push(entry.clone());
        }
        for entry in &bundle.functions {
            if self.function_ids.contains_key(&entry.id) {
                continue;
            }
            let item: syn::ItemFn = syn::parse2(entry.item.clone()).map_err(|e| vec![e.into()])?;
            let mut function = parse_function(&item)?;
            for (key, name, ty) in &entry.constants {
                let value = quote!(#path::#name);
                function.scope.constants.push((key.clone(), value.clone()));
                self.carried.push((name.clone(), ty.clone(), value));
            }
            self.resolve(&mut function, entry);
            let id = self.callees.len();
            self.function_ids.insert(entry.id.clone(), id);
            self.callees.push(Callee { id, function });
            self.entries.push(entry.clone());
        }
        Ok(())
    }

    fn resolve(&self, function: &mut Function, entry: &FunctionEntry) {
        let look = |pairs: &[(String, String)], ids: &BTreeMap<String, usize>| {
            pairs
                .iter()
                .filter_map(|(key, id)| Some((key.clone(), *ids.get(id)?)))
                .collect::<Vec<_>>()
        };
        function.scope.functions = look(&entry.functions, &self.function_ids);
        function.scope.types = look(&entry.types, &self.type_ids);
        // The parts of a product are looked up by the names that its definition uses.
        for (at, ty) in self.types.iter().enumerate() {
            let key = ty.name.to_string();
            if !function.scope.types.iter().any(|(known, _)| *known == key) {
                function.scope.types.push((key, at));
            }
        }
    }
}

/// The name of a type item, and what it is.
fn parse_type_item(
    item: &TokenStream,
) -> Result<(Ident, super::tree::TypeDefKind), Vec<Diagnostic>> {
    let parsed: syn::Item = syn::parse2(item.clone()).map_err(|e| vec![e.into()])?;
    match &parsed {
        syn::Item::Struct(syn::ItemStruct { ident, attrs, .. })
        | syn::Item::Enum(syn::ItemEnum { ident, attrs, .. })
            if attrs.iter().any(|attr| attr.path().is_ident("derive")) =>
        {
            let derive = syn::parse2(item.clone()).map_err(|e| vec![e.into()])?;
            Ok((ident.clone(), parse_index_set(&derive)?))
        }
        syn::Item::Struct(syn::ItemStruct { ident, .. })
        | syn::Item::Type(syn::ItemType { ident, .. }) => Ok((ident.clone(), parse_type(&parsed)?)),
        other => Err(vec![diag::unsupported_item(syn::spanned::Spanned::span(
            other,
        ))]),
    }
}

/// A function of a bundle as the root: for what looks at a function from outside. `path`: how the bundle's item is called there.
/// `None` if the item was rejected or is no function.
pub fn link_bundle(path: &Path, bundle: &Bundle) -> Result<Option<Linked>, Vec<Diagnostic>> {
    let mut callees = bundle.clone();
    let (false, Some(root)) = (bundle.failed, callees.functions.pop()) else {
        return Ok(None);
    };
    let mut linker = Linker::default();
    linker.add(path, &callees)?;
    let item: syn::ItemFn = syn::parse2(root.item.clone()).map_err(|e| vec![e.into()])?;
    let mut function = parse_function(&item)?;
    for (key, name, _) in &root.constants {
        function
            .scope
            .constants
            .push((key.clone(), quote!(#path::#name)));
    }
    linker.resolve(&mut function, &root);
    let Linker { callees, types, .. } = linker;
    Ok(Some(Linked {
        root: function,
        callees,
        types,
    }))
}

/// What has to be asked for before a type can be handed on.
pub fn missing_of_type(item: &TokenStream) -> Result<Vec<Path>, Vec<Diagnostic>> {
    let (_, kind) = parse_type_item(item)?;
    Ok(mentions_of_type(&kind).types)
}

/// The bundle of a type with what was gathered for it.
pub fn type_bundle(request: &Request) -> Bundle {
    let mut types: Vec<TypeEntry> = Vec::new();
    for (_, bundle) in &request.gathered {
        for entry in &bundle.types {
            if !types.iter().any(|known| known.id == entry.id) {
                types.push(entry.clone());
            }
        }
    }
    types.push(TypeEntry {
        id: request.id.clone(),
        item: request.item.clone(),
    });
    Bundle {
        functions: Vec::new(),
        types,
        failed: false,
    }
}

/// The companion of an item: a macro of its name, as visible as the item.
pub fn companion(
    name: &Ident,
    id: &str,
    visibility: &syn::Visibility,
    bundle: &Bundle,
) -> TokenStream {
    let own = Ident::new(&format!("__pointful_{id}"), Span::mixed_site());
    let bundle = bundle.to_tokens();
    let export = matches!(visibility, syn::Visibility::Public(_)).then(|| quote!(#[macro_export]));
    // `quote!` leaves a lone `$` as it is; `$tokens:tt` binds, `$tokens` stands for what was bound.
    quote! {
        #[doc(hidden)]
        #export
        #[allow(unused_macros)]
        macro_rules! #own {
            ($($tokens:tt)*) => { ::pointful::__private::link! { $($tokens)* { #bundle } } };
        }
        #[doc(hidden)]
        #[allow(unused_imports)]
        #visibility use #own as #name;
    }
}
