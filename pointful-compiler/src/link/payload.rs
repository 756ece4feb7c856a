//! What a companion hands on: the item and all that it was linked with, as tokens.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};

use super::{Names, braces, group, ident, string, text};
use crate::syntax::parse::{parse_annotated, parse_index_set, parse_type};
use crate::syntax::tree::{Function, TypeItem};

/// The answer of a companion.
#[derive(Clone, Debug, Default)]
pub struct Payload {
    /// Whether the item has errors, which were reported where it stands.
    pub broken: bool,
    /// Those errors, of items of whose signatures nothing is known: what needs one says them again,
    /// and rustc shows what is the same once.
    pub errors: TokenStream,
    /// What the item was linked with, each after what it names; the item itself last.
    pub entries: Vec<Entry>,
}

/// One item.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it is.
    pub kind: EntryKind,
    /// A name that no other item has.
    pub name: Ident,
    /// The arguments of its attribute.
    pub args: TokenStream,
    /// Its tokens.
    pub item: TokenStream,
    /// What the paths in it mean.
    pub names: Names,
    /// The constants it names, as the carrier of whoever answered has them.
    pub constants: Vec<Exported>,
}

/// A constant that a carrier has.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The path that the function names it by.
    pub path: String,
    /// Its name in the carrier.
    pub name: Ident,
    /// Its type.
    pub ty: TokenStream,
}

/// What an entry is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryKind {
    /// A function.
    Function,
    /// A struct or alias.
    Type,
    /// What derives `IndexSet`.
    IndexSet,
}

impl EntryKind {
    const ALL: [(Self, &'static str); 3] = [
        (Self::Function, "function"),
        (Self::Type, "item"),
        (Self::IndexSet, "set"),
    ];

    fn word(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(kind, _)| *kind == self)
            .map_or("", |(_, word)| word)
    }
}

impl Payload {
    /// Reads it back.
    pub fn read(tokens: TokenStream) -> Option<Self> {
        let mut trees = tokens.into_iter().peekable();
        let broken = ident(&mut trees)? == "broken";
        let errors = group(&mut trees)?;
        let mut entries = Vec::new();
        while trees.peek().is_some() {
            let word = ident(&mut trees)?.to_string();
            let kind = EntryKind::ALL.iter().find(|(_, known)| *known == word)?.0;
            entries.push(Entry {
                kind,
                name: ident(&mut trees)?,
                args: group(&mut trees)?,
                item: group(&mut trees)?,
                names: Names {
                    functions: read_names(group(&mut trees)?)?,
                    types: read_names(group(&mut trees)?)?,
                    constants: Vec::new(),
                },
                constants: read_constants(group(&mut trees)?)?,
            });
        }
        Some(Self {
            broken,
            errors,
            entries,
        })
    }
}

impl ToTokens for Payload {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let status = Ident::new(
            if self.broken { "broken" } else { "whole" },
            Span::call_site(),
        );
        status.to_tokens(tokens);
        braces(self.errors.clone()).to_tokens(tokens);
        for entry in &self.entries {
            Ident::new(entry.kind.word(), Span::call_site()).to_tokens(tokens);
            entry.name.to_tokens(tokens);
            braces(entry.args.clone()).to_tokens(tokens);
            braces(entry.item.clone()).to_tokens(tokens);
            braces(names(&entry.names.functions)).to_tokens(tokens);
            braces(names(&entry.names.types)).to_tokens(tokens);
            braces(constants(&entry.constants)).to_tokens(tokens);
        }
    }
}

impl Entry {
    /// The function. It parsed where it stands, so it does here.
    pub fn function(&self) -> Option<Function> {
        let item = syn::parse2(self.item.clone()).ok()?;
        parse_annotated(&item, self.args.clone()).ok()
    }

    /// The type.
    pub fn type_def(&self) -> Option<(Ident, TypeItem)> {
        match self.kind {
            EntryKind::Function => None,
            EntryKind::Type => {
                let item: syn::Item = syn::parse2(self.item.clone()).ok()?;
                let name = match &item {
                    syn::Item::Struct(item) => item.ident.clone(),
                    syn::Item::Enum(item) => item.ident.clone(),
                    syn::Item::Type(item) => item.ident.clone(),
                    _ => return None,
                };
                Some((name, parse_type(&item).ok()?))
            }
            EntryKind::IndexSet => {
                let item: syn::DeriveInput = syn::parse2(self.item.clone()).ok()?;
                Some((item.ident.clone(), parse_index_set(&item).ok()?))
            }
        }
    }
}

fn names(names: &[(String, Ident)]) -> TokenStream {
    names
        .iter()
        .flat_map(|(key, name)| [text(key), name.clone().into()])
        .collect()
}

fn read_names(tokens: TokenStream) -> Option<Vec<(String, Ident)>> {
    let mut trees = tokens.into_iter().peekable();
    let mut names = Vec::new();
    while trees.peek().is_some() {
        names.push((string(&mut trees)?, ident(&mut trees)?));
    }
    Some(names)
}

fn constants(constants: &[Exported]) -> TokenStream {
    let one = |Exported { path, name, ty }: &Exported| quote!(#path #name { #ty });
    constants.iter().map(one).collect()
}

fn read_constants(tokens: TokenStream) -> Option<Vec<Exported>> {
    let mut trees = tokens.into_iter().peekable();
    let mut constants = Vec::new();
    while trees.peek().is_some() {
        constants.push(Exported {
            path: string(&mut trees)?,
            name: ident(&mut trees)?,
            ty: group(&mut trees)?,
        });
    }
    Some(constants)
}
