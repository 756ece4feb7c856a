//! The functions of the examples and of the corpus, each with what it calls.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pointful_compiler::ir::Program;
use pointful_compiler::ir::stages::point::Point;
use pointful_compiler::lower::source::lower_source;
use proc_macro2::{Group, TokenStream, TokenTree};
use quote::ToTokens;

/// A function and the text it is compiled from: index sets, structs, what it calls, and itself at
/// the end.
pub(crate) struct Function {
    /// `file::name`
    pub(crate) name: String,
    text: String,
}

impl Function {
    /// As a program.
    pub(crate) fn lowered(&self) -> Result<Program<Point>, String> {
        let said = |errors: Vec<pointful_compiler::diag::Diagnostic>| {
            let messages: Vec<String> = errors.into_iter().map(|e| e.message).collect();
            messages.join("; ")
        };
        Ok(lower_source(&self.text).map_err(said)?.program)
    }
}

/// All functions, in the order of files and of the files' text.
pub(crate) fn all() -> Vec<Function> {
    let mut files = listed(&root().join("examples"));
    files.retain(|path| path.extension().is_some_and(|e| e == "rs"));
    files.push(root().join("tests/corpus/functions.rs"));
    files.iter().flat_map(|file| functions(file)).collect()
}

/// What a file says in the language, its constants replaced by their values.
#[derive(Default)]
struct Source {
    types: String,
    functions: Vec<(String, TokenStream)>,
    /// Whether it imports something of the library.
    uses_library: bool,
}

impl Source {
    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).expect("a source can be read");
        let file: syn::File = syn::parse_str(&text).expect("it is Rust");
        // In the corpus everything is a function of the language.
        let every = path.ends_with("functions.rs");
        let mut constants = constants();
        let (mut source, mut functions, mut imports) = (Self::default(), Vec::new(), Vec::new());
        for mut item in file.items {
            let attrs = match &mut item {
                syn::Item::Struct(item) => Some(&mut item.attrs),
                syn::Item::Enum(item) => Some(&mut item.attrs),
                syn::Item::Type(item) => Some(&mut item.attrs),
                _ => None,
            };
            if attrs.is_some_and(language) {
                source.types += &item.to_token_stream().to_string();
                continue;
            }
            match item {
                syn::Item::Const(item) => {
                    let value = replaced(item.expr.to_token_stream(), &constants);
                    constants.insert(item.ident.to_string(), quote::quote!((#value)));
                }
                syn::Item::Fn(item) if every || marked(&item.attrs) => functions.push(item),
                syn::Item::Use(item) => collect(item.to_token_stream(), &mut imports),
                _ => {}
            }
        }
        let named = |item: syn::ItemFn| {
            let name = item.sig.ident.to_string();
            (name, replaced(item.into_token_stream(), &constants))
        };
        source.functions = functions.into_iter().map(named).collect();
        source.uses_library = imports.iter().any(|name| name == "lib");
        source
    }

    /// Adds what `other` has; functions of the same name are left out.
    fn extend(&mut self, other: Self) {
        self.types += &other.types;
        for (name, text) in other.functions {
            if self.functions.iter().all(|(own, _)| *own != name) {
                self.functions.push((name, text));
            }
        }
    }
}

/// The functions of a file.
fn functions(path: &Path) -> Vec<Function> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut source = Source::read(path);
    let own = source.functions.len();
    if source.uses_library {
        source.extend(library(&root().join("pointful/src/std")));
    }
    let Source {
        types, functions, ..
    } = source;
    let mentions: Vec<Vec<usize>> = functions
        .iter()
        .map(|(_, tokens)| {
            let mut idents = Vec::new();
            collect(tokens.clone(), &mut idents);
            let mentioned = |&k: &usize| idents.contains(&functions[k].0);
            (0..functions.len()).filter(mentioned).collect()
        })
        .collect();
    (0..own)
        .map(|k| {
            let mut order = Vec::new();
            visit(k, &mentions, &mut Vec::new(), &mut order);
            let text = order.iter().fold(types.clone(), |all, &f| {
                format!("{all}\n{}", functions[f].1)
            });
            Function {
                name: format!("{stem}::{}", functions[k].0),
                text,
            }
        })
        .collect()
}

/// The standard library, or a folder of it.
fn library(folder: &Path) -> Source {
    let mut found = Source::default();
    for path in listed(folder) {
        if path.is_dir() {
            found.extend(library(&path));
        } else {
            found.extend(Source::read(&path));
        }
    }
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What stands in a folder, in order.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a directory can be listed");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a directory can be listed").path())
        .collect();
    paths.sort();
    paths
}

/// Callees first.
fn visit(at: usize, mentions: &[Vec<usize>], open: &mut Vec<usize>, order: &mut Vec<usize>) {
    if open.contains(&at) || order.contains(&at) {
        return;
    }
    open.push(at);
    for &callee in &mentions[at] {
        visit(callee, mentions, open, order);
    }
    open.pop();
    order.push(at);
}

fn marked(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|attr| attr.path().is_ident("pointful"))
}

/// Whether an item is of the language; of its attributes only what says so stays.
fn language(attrs: &mut Vec<syn::Attribute>) -> bool {
    let set = attrs.iter().any(|attr| {
        attr.path().is_ident("derive") && attr.to_token_stream().to_string().contains("IndexSet")
    });
    let marked = marked(attrs);
    attrs.clear();
    if set {
        attrs.push(syn::parse_quote!(#[derive(IndexSet)]));
    }
    set || marked
}

/// The constants that sources take from the standard library.
fn constants() -> BTreeMap<String, TokenStream> {
    use std::f64::consts::{PI, TAU};
    [("PI", PI), ("TAU", TAU)]
        .into_iter()
        .map(|(name, value)| {
            let literal = proc_macro2::Literal::f64_unsuffixed(value);
            (name.to_owned(), literal.to_token_stream())
        })
        .collect()
}

/// Tokens with constants replaced by their values.
fn replaced(tokens: TokenStream, constants: &BTreeMap<String, TokenStream>) -> TokenStream {
    tokens
        .into_iter()
        .flat_map(|token| match token {
            TokenTree::Ident(ident) => constants
                .get(&ident.to_string())
                .cloned()
                .unwrap_or_else(|| ident.to_token_stream()),
            TokenTree::Group(group) => {
                let inside = replaced(group.stream(), constants);
                Group::new(group.delimiter(), inside).to_token_stream()
            }
            other => other.to_token_stream(),
        })
        .collect()
}

fn collect(tokens: TokenStream, idents: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => idents.push(ident.to_string()),
            TokenTree::Group(group) => collect(group.stream(), idents),
            _ => {}
        }
    }
}
