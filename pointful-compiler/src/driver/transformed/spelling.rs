//! How a transformed function spells its signature: to the compiler, and to rustc.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};

use crate::syntax::rust::Spelling;
use crate::syntax::tree::{Scope, path_key};

/// As the user's language has it.
pub(super) struct AsWritten;

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
pub(super) struct Spelled {
    /// The path by which the function is reached.
    pub(super) function: syn::Path,
    pub(super) generics: Vec<String>,
    pub(super) scope: Scope,
    /// As [`Target`] has them.
    pub(super) reached: Vec<(usize, Ident, TokenStream)>,
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
pub(super) fn beside(function: &syn::Path, path: &syn::Path) -> syn::Path {
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
