//! Types of the Surface tree as tokens of Rust.

use proc_macro2::{Delimiter, Ident, Literal, Spacing, TokenStream, TokenTree};
use quote::{ToTokens, quote};

use super::names::is_constant;
use super::tree::{
    Expr, ExprKind, Generic, GenericKind, LitKind, Set, SetKind, Type, TypeArg, TypeKind,
};

/// How names are written: as they stand where the tokens go.
pub trait Spelling {
    /// A word of the language: `Table`, `Fin`, `IndexSet`.
    fn word(&self, word: &str) -> TokenStream;
    /// A generic, or a type by its path.
    fn path(&self, path: &syn::Path) -> TokenStream;
    /// A constant by its path.
    fn constant(&self, path: &syn::Path) -> TokenStream;
}

/// `<N: IndexSet, const K: usize>`; nothing if there are none.
pub fn generics(generics: &[Generic], spelling: &dyn Spelling) -> TokenStream {
    if generics.is_empty() {
        return TokenStream::new();
    }
    let is_const = |generic: &&Generic| matches!(generic.kind, GenericKind::Const);
    let types = generics.iter().filter(|generic| !is_const(generic));
    let constants = generics.iter().filter(is_const);
    let parts = types
        .chain(constants)
        .map(|Generic { name, kind }| match kind {
            GenericKind::IndexSet => {
                let bound = spelling.word("IndexSet");
                quote!(#name: #bound)
            }
            GenericKind::Float => {
                let bound = spelling.word("Float");
                quote!(#name: #bound)
            }
            GenericKind::Const => quote!(const #name: usize),
            GenericKind::Function(params, result) => {
                let bound = function(params, result, spelling);
                quote!(#name: #bound)
            }
        });
    quote!(<#(#parts),*>)
}

/// Tokens of a signature or a call as they are usually written.
pub fn written(tokens: TokenStream) -> String {
    let mut text = String::new();
    let mut word = false;
    for token in tokens {
        let is_word = matches!(token, TokenTree::Ident(_) | TokenTree::Literal(_));
        if word && is_word {
            text.push(' ');
        }
        match &token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => (" { ", " }"),
                    Delimiter::None => ("", ""),
                };
                text.push_str(open);
                text.push_str(&written(group.stream()));
                text.push_str(close);
            }
            TokenTree::Punct(punct) => {
                let alone = punct.spacing() == Spacing::Alone;
                let before = text.chars().next_back();
                match punct.as_char() {
                    c @ (',' | ';') => text.extend([c, ' ']),
                    ':' if alone && before != Some(':') => text.push_str(": "),
                    '-' if !alone => text.push_str(" -"),
                    '>' if before == Some('-') => text.push_str("> "),
                    c @ ('=' | '+') => text.extend([' ', c, ' ']),
                    c => text.push(c),
                }
            }
            TokenTree::Ident(_) | TokenTree::Literal(_) => text.push_str(&token.to_string()),
        }
        word = is_word;
    }
    text.trim_end().to_owned()
}

/// The names of generics, as `use<…>` wants them.
pub fn generic_names(generics: &[Generic]) -> Vec<&Ident> {
    generics.iter().map(|generic| &generic.name).collect()
}

/// The type.
pub fn ty(written: &Type, spelling: &dyn Spelling) -> TokenStream {
    match &written.kind {
        TypeKind::Scalar(scalar) => {
            let name = Ident::new(scalar.name(), written.span);
            quote!(#name)
        }
        TypeKind::Path(path, args) => applied(path, args, spelling),
        TypeKind::Set(inner) => set(inner, spelling),
        TypeKind::Table(over, element) => {
            let table = spelling.word("Table");
            let (over, element) = (set(over, spelling), ty(element, spelling));
            quote!(#table<#over, #element>)
        }
        TypeKind::Tables(over, element) => {
            let tables = spelling.word("Tables");
            let (over, element) = (set(over, spelling), ty(element, spelling));
            quote!(#tables<#over, #element>)
        }
        TypeKind::Ragged(over, element) => {
            let ragged = spelling.word("Ragged");
            let (over, element) = (set(over, spelling), ty(element, spelling));
            quote!(#ragged<#over, #element>)
        }
        TypeKind::Accum(inner) => {
            let (accum, inner) = (spelling.word("Accum"), ty(inner, spelling));
            quote!(#accum<#inner>)
        }
        TypeKind::Extent(of) => {
            let (extent, of) = (spelling.word("Extent"), set(of, spelling));
            quote!(#extent<#of>)
        }
        TypeKind::Tuple(parts) => {
            let parts = parts.iter().map(|part| ty(part, spelling));
            quote!((#(#parts,)*))
        }
        TypeKind::Array(element, count) => {
            let (element, count) = (ty(element, spelling), length(count, spelling));
            quote!([#element; #count])
        }
        TypeKind::Ref { mutable, inner } => {
            let inner = ty(inner, spelling);
            if *mutable {
                quote!(&mut #inner)
            } else {
                quote!(&#inner)
            }
        }
        TypeKind::Function(params, result) => {
            let bound = function(params, result, spelling);
            quote!(impl #bound)
        }
        TypeKind::OneOf(parts) => {
            let kind = match parts.len() {
                1 => quote!(::core::option::Option),
                _ => spelling.word("Either"),
            };
            let parts = parts.iter().map(|part| ty(part, spelling));
            quote!(#kind<#(#parts),*>)
        }
        // In bodies only: no signature has one.
        TypeKind::Infer => quote!(_),
    }
}

/// The index set.
pub fn set(written: &Set, spelling: &dyn Spelling) -> TokenStream {
    match &written.kind {
        SetKind::Path(path, args) => applied(path, args, spelling),
        SetKind::Fin(count) => {
            let (fin, count) = (spelling.word("Fin"), length(count, spelling));
            quote!(#fin<#count>)
        }
        SetKind::Product(parts) => {
            let parts = parts.iter().map(|part| set(part, spelling));
            quote!((#(#parts,)*))
        }
        SetKind::Either(left, right) => {
            let either = spelling.word("Either");
            let (left, right) = (set(left, spelling), set(right, spelling));
            quote!(#either<#left, #right>)
        }
        SetKind::Bool => quote!(bool),
        SetKind::Unit => quote!(()),
        SetKind::Dyn => spelling.word("Dyn"),
        SetKind::Infer => quote!(_),
    }
}

/// A path with what it is given.
fn applied(path: &syn::Path, args: &[TypeArg], spelling: &dyn Spelling) -> TokenStream {
    let plain = spelling.path(path);
    if args.is_empty() {
        return plain;
    }
    let args = args.iter().map(|arg| match arg {
        TypeArg::Type(Type {
            kind: TypeKind::Path(path, inner),
            ..
        }) if inner.is_empty() && is_constant(path) => {
            let path = spelling.constant(path);
            quote!({ #path })
        }
        TypeArg::Type(arg) => ty(arg, spelling),
        TypeArg::Length(arg) => length(arg, spelling),
    });
    quote!(#plain<#(#args),*>)
}

fn function(params: &[Type], result: &Type, spelling: &dyn Spelling) -> TokenStream {
    let params = params.iter().map(|param| ty(param, spelling));
    let result = ty(result, spelling);
    quote!(Fn(#(#params),*) -> #result)
}

/// The length of a static set: a literal, a const generic or a constant, which are all that there
/// are.
fn length(length: &Expr, spelling: &dyn Spelling) -> TokenStream {
    match &length.kind {
        ExprKind::Lit(literal) => match literal.kind {
            LitKind::Int { value, .. } => Literal::u128_unsuffixed(value).into_token_stream(),
            LitKind::Float { .. } | LitKind::Bool(_) => quote!(_),
        },
        ExprKind::Path(path) => {
            let path = spelling.constant(path);
            quote!({ #path })
        }
        ExprKind::Paren(inner) => self::length(inner, spelling),
        ExprKind::Block(block) => match &block.value {
            Some(inner) => self::length(inner, spelling),
            None => quote!(_),
        },
        _ => quote!(_),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_written_as_usual() {
        for text in [
            "fn slope(p: &Params) -> Params",
            "fn f<N: IndexSet, const K: usize>(a: &Table<(N, Fin<K>), f64>, n: Extent<N>) -> (f64, m::Model)",
            "fn g<F: Fn(f64) -> f64>(f: F, x: &mut Table<Dyn, f64>, y: [[f64; 3]; 2]) -> impl Fn(f64) -> f64 + use<F>",
            "grad!(value_and_grad!(m::loss), wrt = (w, b))",
            "fn h<'a>(x: &'a Table<N, f64>)",
        ] {
            let tokens: TokenStream = text.parse().expect(text);
            assert_eq!(written(tokens), text);
        }
    }
}
