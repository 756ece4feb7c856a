//! What a transformation can name of the function's module, from where it stands.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};

use crate::link::{Entry, Exported};
use crate::syntax::names::signature_types;
use crate::syntax::tree::{
    ExprKind, Function, Linked, Set, SetKind, Type, TypeDef, TypeDefKind, TypeItem, TypeKind,
    path_key,
};

/// Finds what can be named from where the macro stands, and lets the linked program name it so.
pub(super) fn reach(
    path: &syn::Path,
    entry: &Entry,
    linked: &mut Linked,
) -> Vec<(usize, Ident, TokenStream)> {
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
pub(super) fn constants(path: &syn::Path, entry: &Entry) -> Vec<(String, TokenStream)> {
    let carried = |Exported {
                       path: key, name, ..
                   }: &Exported| (key.clone(), quote!(#path::#name));
    entry.constants.iter().map(carried).collect()
}

/// The types that can be named, starting from those that a carrier has: the parts of aliases,
/// through the same trait.
pub(super) struct Reached<'a> {
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
            | TypeDefKind::Enum(_)
            | TypeDefKind::Struct(_) => {}
        }
    }

    fn ty(&mut self, ty: &Type, tokens: &TokenStream) {
        match &ty.kind {
            TypeKind::Path(path, _) => self.path(path, tokens),
            TypeKind::Set(set) => self.set(set, tokens),
            TypeKind::Table(set, element)
            | TypeKind::Tables(set, element)
            | TypeKind::Ragged(set, element) => {
                self.set(set, &part(tokens, 0));
                self.ty(element, &part(tokens, 1));
            }
            TypeKind::Tuple(parts) | TypeKind::OneOf(parts) => {
                for (at, inner) in parts.iter().enumerate() {
                    self.ty(inner, &part(tokens, at));
                }
            }
            TypeKind::Extent(set) => self.set(set, &part(tokens, 0)),
            TypeKind::Scalar(_)
            | TypeKind::Array(..)
            | TypeKind::Accum(_)
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

pub(in crate::driver) fn part(of: &TokenStream, at: usize) -> TokenStream {
    let at = proc_macro2::Literal::usize_unsuffixed(at);
    quote!(<#of as ::pointful::__private::Part<#at>>::Type)
}
