//! Lowering of source text without macros: for tests, and for tools that show what becomes of a
//! function.

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::visit::Visit;

use super::{Lowered, float_choices, lower};
use crate::diag::Diagnostic;
use crate::syntax::parse::{parse_annotated, parse_index_set, parse_type};
use crate::syntax::raw::plain_names;
use crate::syntax::tree::{Callee, Function, Linked, TypeDef, path_key};

/// Lowers the last function of a source text. The functions in front of it are what it may call,
/// each only those before it; structs and enums that derive are index sets, other structs,
/// enums and aliases are those of the language. `#[pointful(…)]` gives a function its options.
pub fn lower_source(source: &str) -> Result<Lowered, Vec<Diagnostic>> {
    let linked = link(source)?;
    lower(&linked, &float_choices(&linked.root)[0])
}

/// Parses a source text and links its functions by name.
pub fn link(source: &str) -> Result<Linked, Vec<Diagnostic>> {
    let tokens = syn::parse_str(source).map_err(|e: syn::Error| vec![Diagnostic::from(e)])?;
    let file: syn::File =
        syn::parse2(plain_names(tokens)).map_err(|e| vec![Diagnostic::from(e)])?;
    let mut types = Vec::new();
    let mut functions: Vec<Function> = Vec::new();
    for item in &file.items {
        let (name, definition) = match item {
            syn::Item::Fn(item) => {
                let marked = item.attrs.iter().find(|a| a.path().is_ident("pointful"));
                let options = match marked.map(|a| &a.meta) {
                    Some(syn::Meta::List(list)) => list.tokens.clone(),
                    _ => TokenStream::new(),
                };
                functions.push(parse_annotated(item, options)?);
                continue;
            }
            syn::Item::Struct(syn::ItemStruct { attrs, ident, .. })
            | syn::Item::Enum(syn::ItemEnum { attrs, ident, .. })
                if attrs.iter().any(|a| a.path().is_ident("derive")) =>
            {
                let derive = syn::parse2(item.to_token_stream()).map_err(|e| vec![e.into()])?;
                (ident, parse_index_set(&derive)?)
            }
            syn::Item::Struct(syn::ItemStruct { ident, .. })
            | syn::Item::Enum(syn::ItemEnum { ident, .. })
            | syn::Item::Type(syn::ItemType { ident, .. }) => (ident, parse_type(item)?),
            other => {
                let span = syn::spanned::Spanned::span(other);
                return Err(vec![Diagnostic::new(
                    span,
                    "only functions and types stand here",
                )]);
            }
        };
        types.push(TypeDef {
            name: name.clone(),
            path: Some(syn::Path::from(name.clone())),
            item: definition,
        });
    }
    let mut paths = Paths::default();
    paths.visit_file(&file);
    let names: Vec<String> = functions.iter().map(|f| f.name.to_string()).collect();
    for (at, function) in functions.iter_mut().enumerate() {
        let scope = &mut function.scope;
        let callable = names[..at].iter().cloned().enumerate();
        scope.functions = callable.map(|(id, name)| (name, id)).collect();
        scope.types = types
            .iter()
            .enumerate()
            .map(|(id, ty)| (ty.name.to_string(), id))
            .collect();
        scope.constants = paths
            .found
            .iter()
            .filter_map(|path| Some((path.clone(), path.parse().ok()?)))
            .collect();
    }
    let Some(root) = functions.pop() else {
        return Err(vec![Diagnostic::new(
            proc_macro2::Span::call_site(),
            "a function is missing",
        )]);
    };
    let callees = functions
        .into_iter()
        .enumerate()
        .map(|(id, function)| Callee { id, function })
        .collect();
    Ok(Linked {
        user: Span::call_site(),
        devices: false,
        root,
        callees,
        types,
    })
}

/// The paths of a text.
#[derive(Default)]
struct Paths {
    found: BTreeSet<String>,
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.found.insert(path_key(&path.path));
    }
}
