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
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files: Vec<PathBuf> = std::fs::read_dir(root.join("examples"))
        .expect("the examples are there")
        .map(|entry| entry.expect("a directory can be listed").path())
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .collect();
    files.sort();
    files.push(root.join("tests/corpus/functions.rs"));
    files.iter().flat_map(|file| functions(file)).collect()
}

/// The functions of a file.
fn functions(path: &Path) -> Vec<Function> {
    let text = std::fs::read_to_string(path).expect("a source can be read");
    let file: syn::File = syn::parse_str(&text).expect("it is Rust");
    // In the corpus everything is a function of the language.
    let every = path.ends_with("functions.rs");
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut constants = constants();
    let (mut types, mut found, mut imports) = (String::new(), Vec::new(), Vec::new());
    for mut item in file.items {
        let attrs = match &mut item {
            syn::Item::Struct(item) => Some(&mut item.attrs),
            syn::Item::Enum(item) => Some(&mut item.attrs),
            syn::Item::Type(item) => Some(&mut item.attrs),
            _ => None,
        };
        if attrs.is_some_and(language) {
            types += &item.to_token_stream().to_string();
            continue;
        }
        match item {
            syn::Item::Const(item) => {
                let value = replaced(item.expr.to_token_stream(), &constants);
                constants.insert(item.ident.to_string(), quote::quote!((#value)));
            }
            syn::Item::Fn(item) if every || marked(&item.attrs) => found.push(item),
            syn::Item::Use(item) => collect(item.to_token_stream(), &mut imports),
            _ => {}
        }
    }
    let own = found.len();
    if imports.iter().any(|name| name == "lib") {
        found.extend(library());
    }
    let names: Vec<String> = found.iter().map(|f| f.sig.ident.to_string()).collect();
    let texts: Vec<String> = found
        .into_iter()
        .map(|f| replaced(f.into_token_stream(), &constants).to_string())
        .collect();
    let mentions: Vec<Vec<usize>> = texts
        .iter()
        .map(|text| {
            let tokens: TokenStream = text.parse().expect("it was Rust before");
            let mut idents = Vec::new();
            collect(tokens, &mut idents);
            (0..names.len())
                .filter(|&k| idents.contains(&names[k]))
                .collect()
        })
        .collect();
    (0..own)
        .map(|k| {
            let mut order = Vec::new();
            visit(k, &mentions, &mut Vec::new(), &mut order);
            let text = order
                .iter()
                .fold(types.clone(), |all, &f| all + "\n" + &texts[f]);
            Function {
                name: format!("{stem}::{}", names[k]),
                text,
            }
        })
        .collect()
}

/// The functions of the standard library, but for those in folders, which no example uses: they
/// are made of constants, which are not read here.
fn library() -> Vec<syn::ItemFn> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pointful/src/std");
    let files = std::fs::read_dir(root).expect("the library is there");
    let mut files: Vec<PathBuf> = files
        .map(|entry| entry.expect("a directory can be listed").path())
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .collect();
    files.sort();
    let functions = |path: PathBuf| {
        let text = std::fs::read_to_string(path).expect("a source can be read");
        let file: syn::File = syn::parse_str(&text).expect("it is Rust");
        file.items.into_iter().filter_map(|item| match item {
            syn::Item::Fn(item) => Some(item),
            _ => None,
        })
    };
    files.into_iter().flat_map(functions).collect()
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
