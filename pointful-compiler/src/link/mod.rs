//! Linking: how one item sees the others that it names.
//!
//! A procedural macro sees one item. So every item leaves, beside itself, a *companion*: a
//! `macro_rules!` of the item's own name and path that hands the item's tokens to whoever calls it.
//!
//! ```text
//! #[pointful] fn f(x: f64) -> f64 { g(x) }        names g, so the expansion is only a question:
//!     g! { { ::pointful::__private::__link } { function "site" … } { g } { } }
//!                                                  the companion of g puts its payload in front:
//!     ::pointful::__private::__link! { { payload of g } { ::pointful::__private::__link } { function "site" … } { g } { } }
//!                                                  which asks for the next one, or, as here, has everything.
//! ```
//!
//! By which path pointful is reached, the crate that asks knows, and not the one that answers.
//!
//! A [`Payload`] holds the item and all that it was linked with, callees first. So a question is
//! answered in one step however deep the calls go, and what a callee names need not be visible
//! where it is called.
//!
//! Constants are different: their values are no tokens that a macro can carry. Where a function
//! names any, itself or through callees, it emits a hidden type of its own name, in the type
//! namespace, with an associated constant for each: the *carrier*.
//!
//! Since a companion is emitted when all answers are there, functions that call each other wait for
//! each other, and rustc would find no companion for either: [`cycles`] looks for them before. So
//! does [`beside`] for items that leave no companion, as nobody has marked them.

pub(crate) mod beside;
pub(crate) mod cycles;
mod payload;
mod text;

use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use crate::syntax::tree::{
    Callee, Function, Linked, Scope, Type, TypeArg, TypeDef, TypeDefKind, TypeItem, TypeKind,
    path_key,
};
use crate::syntax::tree::{Expr, ExprKind, Set, SetKind};

pub use payload::{Entry, EntryKind, Exported, Payload};

/// What is to be done once everything is linked.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which expansion.
    pub kind: RequestKind,
    /// Where: file, line and column.
    pub site: String,
    /// The attribute's or the macro's arguments.
    pub args: TokenStream,
    /// The item.
    pub item: TokenStream,
}

impl Request {
    /// A place of the user's own.
    fn user(&self) -> Span {
        let last = self.item.clone().into_iter().last();
        last.map_or_else(Span::call_site, |token| token.span())
    }
}

/// The expansions that need others' tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestKind {
    /// `#[pointful]` on a function.
    Function,
    /// `#[pointful]` on a struct or alias; the item itself is out already.
    Type,
    /// `#[derive(IndexSet)]`; the implementations are out already.
    IndexSet,
    /// `explain!(f)`
    Explain,
    /// `grad!(f)` and its like, as an expression.
    Transform,
    /// A definition in `define!`.
    Define,
}

impl RequestKind {
    const ALL: [(Self, &'static str); 6] = [
        (Self::Function, "function"),
        (Self::Type, "item"),
        (Self::IndexSet, "set"),
        (Self::Explain, "explain"),
        (Self::Transform, "transform"),
        (Self::Define, "define"),
    ];

    fn word(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(kind, _)| *kind == self)
            .map_or("", |(_, word)| word)
    }
}

/// How far gathering is.
#[derive(Clone, Debug)]
pub struct Gathering {
    /// What for.
    pub request: Request,
    /// The paths still to be asked, the next one first.
    pub pending: Vec<syn::Path>,
    /// The paths asked, with their answers.
    pub answers: Vec<(syn::Path, Payload)>,
    /// Whether tables may live on devices, which questions do not say: who reads an answer does.
    pub devices: bool,
}

/// Names of std's macros: a companion of such a name is found only through its module.
const STD_MACROS: [&str; 44] = [
    "addr_of",
    "addr_of_mut",
    "assert",
    "assert_eq",
    "assert_matches",
    "assert_ne",
    "cfg",
    "column",
    "compile_error",
    "concat",
    "concat_bytes",
    "concat_idents",
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
    "global_asm",
    "include",
    "include_bytes",
    "include_str",
    "line",
    "log_syntax",
    "matches",
    "module_path",
    "option_env",
    "panic",
    "print",
    "println",
    "stringify",
    "thread_local",
    "todo",
    "trace_macros",
    "try",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

impl Gathering {
    /// The question to the next companion, as the expansion; `None` if everything was answered.
    pub fn question(&self) -> Option<TokenStream> {
        let asked = self.pending.first()?;
        let span = asked
            .segments
            .last()
            .map_or_else(Span::call_site, |last| last.ident.span());
        let prefix = asked
            .get_ident()
            .filter(|name| STD_MACROS.contains(&name.to_string().as_str()))
            .map(|_| quote_spanned!(span=> self::));
        let Request {
            kind,
            site,
            args,
            item,
        } = &self.request;
        let kind = Ident::new(kind.word(), Span::call_site());
        let pending = &self.pending;
        let answers = self
            .answers
            .iter()
            .map(|(path, payload)| quote!({ #path } { #payload }));
        Some(quote_spanned! {span=>
            #prefix #asked ! { { ::pointful::__private::__link } { #kind #site { #args } { #item } } { #({ #pending })* } { #(#answers)* } }
        })
    }

    /// Reads what a companion answered: its payload, then the question's own tokens.
    pub fn read(tokens: TokenStream) -> Option<Self> {
        let mut trees = tokens.into_iter();
        let payload = Payload::read(group(&mut trees)?)?;
        let _link = group(&mut trees)?;
        let mut request = group(&mut trees)?.into_iter();
        let word = ident(&mut request)?.to_string();
        let kind = RequestKind::ALL.iter().find(|(_, known)| *known == word)?.0;
        let site = string(&mut request)?;
        let request = Request {
            kind,
            site,
            args: group(&mut request)?,
            item: group(&mut request)?,
        };
        let mut pending = Vec::new();
        let mut paths = group(&mut trees)?.into_iter();
        while let Some(path) = group(&mut paths) {
            pending.push(syn::parse2(path).ok()?);
        }
        let mut answers = Vec::new();
        let mut answered = group(&mut trees)?.into_iter();
        while let Some(path) = group(&mut answered) {
            answers.push((
                syn::parse2(path).ok()?,
                Payload::read(group(&mut answered)?)?,
            ));
        }
        if pending.is_empty() {
            return None;
        }
        answers.push((pending.remove(0), payload));
        Some(Self {
            request,
            pending,
            answers,
            devices: false,
        })
    }

    /// Whether an answer came from an item that had errors of its own; then there is nothing to
    /// compile, and nothing to say.
    pub fn is_broken(&self) -> bool {
        self.answers.iter().any(|(_, payload)| payload.broken)
    }

    /// The errors of items that are not known at all.
    pub fn errors(&self) -> TokenStream {
        let errors = self.answers.iter().map(|(_, payload)| &payload.errors);
        errors.cloned().collect()
    }

    /// Every entry once, callees first, with the answer it came by.
    pub fn entries(&self) -> Vec<(&Entry, &syn::Path)> {
        let mut entries: Vec<(&Entry, &syn::Path)> = Vec::new();
        for (path, payload) in &self.answers {
            for entry in &payload.entries {
                if entries.iter().all(|(known, _)| known.name != entry.name) {
                    entries.push((entry, path));
                }
            }
        }
        entries
    }

    /// What a path answered.
    fn answer(&self, path: &syn::Path) -> Option<&Payload> {
        let key = path_key(path);
        self.answers
            .iter()
            .find(|(asked, _)| path_key(asked) == key)
            .map(|(_, payload)| payload)
    }

    /// The names in payloads that paths mean: for the scope of the item that asked.
    pub fn meanings(&self, paths: &[syn::Path]) -> Vec<(String, Ident)> {
        paths
            .iter()
            .filter_map(|path| {
                Some((
                    path_key(path),
                    self.answer(path)?.entries.last()?.name.clone(),
                ))
            })
            .collect()
    }

    /// The function with everything it was linked with. `functions` and `types` are the meanings of
    /// the root's paths.
    pub fn link(&self, mut root: Function, scope: &Names) -> Option<Linked> {
        let entries = self.entries();
        let mut callees: Vec<Callee> = Vec::new();
        // Types first: the scopes of functions refer to them.
        let (types, type_ids) = self.types()?;
        let lengths = self.lengths();
        let functions: Vec<_> = entries
            .iter()
            .filter(|(entry, _)| entry.kind == EntryKind::Function)
            .collect();
        let function_ids: Vec<_> = functions.iter().map(|(entry, _)| &entry.name).collect();
        let resolve = |scope: &Names, constants| Scope {
            functions: positions(&scope.functions, &function_ids),
            types: type_scope(&scope.types, &type_ids),
            constants,
        };
        for (id, (entry, path)) in functions.iter().enumerate() {
            let mut function = entry.function()?;
            let own = entry.constants.iter().map(|constant| {
                let name = &constant.name;
                (constant.path.clone(), quote!(#path::#name))
            });
            let constants = own.chain(lengths.iter().cloned()).collect();
            function.scope = resolve(&entry.names, constants);
            callees.push(Callee { id, function });
        }
        let constants = scope
            .constants
            .iter()
            .map(|path| (path_key(path), path.to_token_stream()))
            .chain(lengths.iter().cloned())
            .collect();
        root.scope = resolve(scope, constants);
        Some(Linked {
            user: self.request.user(),
            devices: self.devices,
            root,
            callees,
            types,
        })
    }

    /// The lengths in definitions of types, by the names that they have there once these are
    /// linked.
    fn lengths(&self) -> Vec<(String, TokenStream)> {
        let entries = self.entries().into_iter();
        let types = entries.filter(|(entry, _)| entry.kind != EntryKind::Function);
        types
            .flat_map(|(entry, path)| entry.constants.iter().map(move |known| (known, path)))
            .filter_map(|(known, path)| Some((known.name.to_string(), self.constant(known, path)?)))
            .collect()
    }

    /// A constant of an entry that came with an answer of this path: the item that answered carries
    /// it.
    pub fn constant(&self, constant: &Exported, path: &syn::Path) -> Option<TokenStream> {
        let name = &constant.name;
        let own = self.answer(path)?.entries.last()?;
        match own.kind {
            EntryKind::Function => Some(quote!(#path::#name)),
            EntryKind::Type | EntryKind::IndexSet => {
                let at = own.constants.iter().position(|known| known.name == *name)?;
                let at = Literal::usize_unsuffixed(at);
                Some(quote!(#path[#at]))
            }
        }
    }

    /// The types, and by position the names of their entries.
    fn types(&self) -> Option<(Vec<TypeDef>, Vec<&Ident>)> {
        let entries = self.entries().into_iter();
        let sets: Vec<_> = entries
            .filter(|(entry, _)| entry.kind != EntryKind::Function)
            .collect();
        let types = sets.iter().map(|(entry, _)| self.type_def(entry));
        let names = sets.iter().map(|(entry, _)| &entry.name).collect();
        Some((types.collect::<Option<_>>()?, names))
    }

    /// The types, and what the paths mean by which an item names them.
    pub fn named_types(&self, names: &Names) -> Option<(Vec<TypeDef>, Vec<(String, usize)>)> {
        let (types, ids) = self.types()?;
        let scope = type_scope(&names.types, &ids);
        Some((types, scope))
    }

    fn type_def(&self, entry: &Entry) -> Option<TypeDef> {
        let path = self.answers.iter().find_map(|(path, payload)| {
            let answered = payload.entries.last()?;
            (answered.name == entry.name).then(|| path.clone())
        });
        let (name, mut item) = entry.type_def()?;
        // Its generics get names that mean nothing anywhere else.
        let mut names = entry.names.types.clone();
        for Exported { path, name, .. } in &entry.constants {
            names.push((path.clone(), name.clone()));
        }
        for generic in &mut item.generics {
            let unique = format_ident!("{}_{}", entry.name, generic.name);
            names.push((generic.name.to_string(), unique.clone()));
            generic.name = unique;
        }
        rename_types(&mut item, &names);
        Some(TypeDef { name, path, item })
    }
}

/// The meanings of the paths in an item: keys as [`path_key`] has them, and names of entries.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Functions.
    pub functions: Vec<(String, Ident)>,
    /// Types.
    pub types: Vec<(String, Ident)>,
    /// Constants; in entries, which list their exported constants, empty.
    pub constants: Vec<syn::Path>,
}

/// Fields of structs name types that no item did: they are known by the names of their entries.
fn type_scope(names: &[(String, Ident)], ids: &[&Ident]) -> Vec<(String, usize)> {
    let entries = ids.iter().enumerate();
    let own = entries.map(|(id, name)| (name.to_string(), id));
    positions(names, ids).into_iter().chain(own).collect()
}

fn positions(names: &[(String, Ident)], ids: &[&Ident]) -> Vec<(String, usize)> {
    names
        .iter()
        .filter_map(|(key, name)| Some((key.clone(), ids.iter().position(|id| *id == name)?)))
        .collect()
}

/// Lets the paths in a type's definition be names of entries, which mean the same everywhere.
fn rename_types(item: &mut TypeItem, names: &[(String, Ident)]) {
    match &mut item.kind {
        TypeDefKind::NominalSet | TypeDefKind::EnumSet(_) => {}
        TypeDefKind::ProductSet(fields) | TypeDefKind::Struct(fields) => {
            fields.iter_mut().for_each(|(_, ty)| rename_type(ty, names));
        }
        TypeDefKind::Enum(item) => rename_type(&mut item.sum[0].1, names),
        TypeDefKind::Alias(ty) => rename_type(ty, names),
    }
}

fn rename_type(ty: &mut Type, names: &[(String, Ident)]) {
    match &mut ty.kind {
        TypeKind::Scalar(_) | TypeKind::Infer => {}
        TypeKind::Path(path, args) => {
            rename_path(path, names);
            rename_args(args, names);
        }
        TypeKind::Set(set) => rename_set(set, names),
        TypeKind::Extent(set) => rename_set(set, names),
        TypeKind::Table(set, element)
        | TypeKind::Tables(set, element)
        | TypeKind::Ragged(set, element) => {
            rename_set(set, names);
            rename_type(element, names);
        }
        TypeKind::Tuple(parts) | TypeKind::OneOf(parts) => {
            parts.iter_mut().for_each(|part| rename_type(part, names));
        }
        TypeKind::Array(element, length) => {
            rename_type(element, names);
            rename_length(length, names);
        }
        TypeKind::Ref { inner, .. } | TypeKind::Accum(inner) => rename_type(inner, names),
        TypeKind::Function(params, result) => {
            params
                .iter_mut()
                .for_each(|param| rename_type(param, names));
            rename_type(result, names);
        }
    }
}

fn rename_set(set: &mut Set, names: &[(String, Ident)]) {
    match &mut set.kind {
        SetKind::Path(path, args) => {
            rename_path(path, names);
            rename_args(args, names);
        }
        SetKind::Product(parts) => parts.iter_mut().for_each(|part| rename_set(part, names)),
        SetKind::Either(left, right) => {
            rename_set(left, names);
            rename_set(right, names);
        }
        SetKind::Fin(length) => rename_length(length, names),
        SetKind::Bool | SetKind::Unit | SetKind::Dyn | SetKind::Infer => {}
    }
}

fn rename_args(args: &mut [TypeArg], names: &[(String, Ident)]) {
    for arg in args {
        match arg {
            TypeArg::Type(ty) => rename_type(ty, names),
            TypeArg::Length(length) => rename_length(length, names),
        }
    }
}

/// A length is a literal, or the path of a constant or of a const generic.
fn rename_length(length: &mut Expr, names: &[(String, Ident)]) {
    match &mut length.kind {
        ExprKind::Path(path) => rename_path(path, names),
        ExprKind::Paren(inner) => rename_length(inner, names),
        ExprKind::Block(block) => {
            if let Some(value) = &mut block.value {
                rename_length(value, names);
            }
        }
        _ => {}
    }
}

fn rename_path(path: &mut syn::Path, names: &[(String, Ident)]) {
    let key = path_key(path);
    if let Some((_, name)) = names.iter().find(|(known, _)| *known == key) {
        *path = name.clone().into();
    }
}

/// A name for an item that no other one has: the item's own, where it stands, and what it says.
pub fn unique_name(name: &Ident, site: &str, item: &TokenStream) -> Ident {
    // FNV-1a: names must be the same in every compilation, which the standard library's hashers do not promise.
    let text = format!("{site}\0{item}");
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let name = name.to_string();
    format_ident!(
        "__pointful_{}_{:016x}",
        name.trim_start_matches("r#"),
        hash,
        span = Span::call_site()
    )
}

/// The companion of an item: a macro under the item's name, with the item's visibility.
pub fn companion(
    item: &Ident,
    vis: &syn::Visibility,
    unique: &Ident,
    payload: &Payload,
) -> TokenStream {
    let export = matches!(vis, syn::Visibility::Public(_)).then(|| quote!(#[macro_export]));
    let name = Ident::new(&item.to_string().replace("r#", ""), Span::call_site());
    let name = if syn::parse_str::<Ident>(&name.to_string()).is_ok() {
        name
    } else {
        Ident::new_raw(&name.to_string(), Span::call_site())
    };
    let dollar = TokenTree::Punct(proc_macro2::Punct::new('$', proc_macro2::Spacing::Alone));
    quote! {
        #[doc(hidden)]
        #[allow(unused_macros, reason = "a companion is for those that call the item")]
        #export
        macro_rules! #unique {
            ({ #dollar (#dollar link:tt)* } #dollar (#dollar state:tt)*) => {
                #dollar (#dollar link)* ! { { #payload } { #dollar (#dollar link)* } #dollar (#dollar state)* }
            };
        }
        #[doc(hidden)]
        #[allow(unused_imports, reason = "a companion is for those that call the item")]
        #vis use #unique as #name;
    }
}

/// The next tree, if it is a group in braces.
fn group(trees: &mut impl Iterator<Item = TokenTree>) -> Option<TokenStream> {
    match trees.next()? {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    }
}

fn ident(trees: &mut impl Iterator<Item = TokenTree>) -> Option<Ident> {
    match trees.next()? {
        TokenTree::Ident(ident) => Some(ident),
        _ => None,
    }
}

fn string(trees: &mut impl Iterator<Item = TokenTree>) -> Option<String> {
    match trees.next()? {
        TokenTree::Literal(literal) => match syn::Lit::new(literal) {
            syn::Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

fn braces(tokens: TokenStream) -> TokenTree {
    TokenTree::Group(Group::new(Delimiter::Brace, tokens))
}

fn text(value: &str) -> TokenTree {
    TokenTree::Literal(Literal::string(value))
}
