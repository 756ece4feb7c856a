//! Which parts of a struct are coordinates, where it is taken for a vector.

use proc_macro2::Ident;

use super::generics::{applied, generic};
use super::tree::{Generic, GenericKind, Type, TypeDef, TypeDefKind, TypeItem, TypeKind, path_key};
use crate::ir::Scalar;

/// A struct as a vector.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vector {
    /// The type of all its coordinates.
    pub scalar: Coordinate,
    /// The fields that are vectors, and such parts of tuples: the members on the way to each.
    pub parts: Vec<Vec<syn::Member>>,
}

/// The type of coordinates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Coordinate {
    /// `f32` or `f64`
    Scalar(Scalar),
    /// A generic float of the struct.
    Generic(Ident),
}

/// The struct as a vector; `None` if it has no floats, floats of several types, or some behind
/// references. `scope` says which of `types` a path means.
pub fn vector(item: &TypeItem, types: &[TypeDef], scope: &[(String, usize)]) -> Option<Vector> {
    let TypeDefKind::Struct(fields) = &item.kind else {
        return None;
    };
    let search = Search {
        generics: &item.generics,
        types,
        scope,
    };
    let mut found = Vec::new();
    for (name, ty) in fields {
        search.parts(ty, &[syn::Member::Named(name.clone())], &mut found)?;
    }
    let (scalar, _) = found.first()?.clone();
    if found.iter().any(|(other, _)| *other != scalar) {
        return None;
    }
    let parts = found.into_iter().map(|(_, part)| part).collect();
    Some(Vector { scalar, parts })
}

struct Search<'a> {
    generics: &'a [Generic],
    types: &'a [TypeDef],
    scope: &'a [(String, usize)],
}

impl Search<'_> {
    /// Adds the vectors in a value of this type; `None` if it has floats that cannot be taken for
    /// coordinates.
    fn parts(
        &self,
        ty: &Type,
        at: &[syn::Member],
        found: &mut Vec<(Coordinate, Vec<syn::Member>)>,
    ) -> Option<()> {
        let inner = match &ty.kind {
            TypeKind::Tuple(parts) | TypeKind::OneOf(parts) => {
                for (k, part) in parts.iter().enumerate() {
                    let member = syn::Member::from(k);
                    self.parts(part, &[at, &[member]].concat(), found)?;
                }
                return Some(());
            }
            TypeKind::Scalar(scalar) if scalar.is_float() => vec![Coordinate::Scalar(*scalar)],
            TypeKind::Table(_, element)
            | TypeKind::Tables(_, element)
            | TypeKind::Ragged(_, element) => self.inside(element)?,
            TypeKind::Array(element, _) => match element.kind {
                // A tuple in an array has no members that could be told apart here.
                TypeKind::Tuple(_) if !self.inside(element)?.is_empty() => return None,
                _ => self.inside(element)?,
            },
            TypeKind::Ref { inner, .. } => {
                return self.inside(inner)?.is_empty().then_some(());
            }
            TypeKind::Path(path, args) => {
                if let Some(generic) = generic(self.generics, path) {
                    match generic.kind {
                        GenericKind::Float => vec![Coordinate::Generic(generic.name.clone())],
                        GenericKind::IndexSet | GenericKind::Const | GenericKind::Function(..) => {
                            Vec::new()
                        }
                    }
                } else {
                    match applied(&self.types.get(self.id(path)?)?.item, args)? {
                        TypeDefKind::Alias(inner) => return self.parts(&inner, at, found),
                        TypeDefKind::Struct(fields) => {
                            let mut inner = Vec::new();
                            for (_, field) in &fields {
                                inner.extend(self.inside(field)?);
                            }
                            inner
                        }
                        // Which floats a value has is known when it is there.
                        TypeDefKind::Enum(item) => {
                            return self.inside(&item.sum[0].1)?.is_empty().then_some(());
                        }
                        TypeDefKind::NominalSet
                        | TypeDefKind::EnumSet(_)
                        | TypeDefKind::ProductSet(_) => Vec::new(),
                    }
                }
            }
            TypeKind::Scalar(_)
            | TypeKind::Set(_)
            | TypeKind::Extent(_)
            | TypeKind::Accum(_)
            | TypeKind::Function(..)
            | TypeKind::Infer => Vec::new(),
        };
        if let Some(first) = inner.first() {
            if inner.iter().any(|other| other != first) {
                return None;
            }
            found.push((first.clone(), at.to_vec()));
        }
        Some(())
    }

    /// The types of the coordinates in a value of this type.
    fn inside(&self, ty: &Type) -> Option<Vec<Coordinate>> {
        let mut found = Vec::new();
        self.parts(ty, &[], &mut found)?;
        Some(found.into_iter().map(|(scalar, _)| scalar).collect())
    }

    fn id(&self, path: &syn::Path) -> Option<usize> {
        let key = path_key(path);
        let known = self.scope.iter().find(|(name, _)| *name == key);
        known.map(|(_, id)| *id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse::parse_type;
    use quote::{ToTokens, quote};

    fn vector_of(source: &str) -> Option<(String, String)> {
        let file: syn::File = syn::parse_str(source).expect("the test is Rust");
        let mut types: Vec<TypeDef> = Vec::new();
        for item in &file.items {
            let (syn::Item::Struct(syn::ItemStruct { ident, .. })
            | syn::Item::Type(syn::ItemType { ident, .. })) = item
            else {
                panic!("the test has types only");
            };
            types.push(TypeDef {
                name: ident.clone(),
                path: None,
                item: parse_type(item).expect("the test is of the language"),
            });
        }
        let name = |(id, ty): (usize, &TypeDef)| (ty.name.to_string(), id);
        let scope: Vec<_> = types.iter().enumerate().map(name).collect();
        let last = types.last().expect("there is one");
        let Vector { scalar, parts } = vector(&last.item, &types, &scope)?;
        let scalar = match scalar {
            Coordinate::Scalar(scalar) => scalar.name().to_owned(),
            Coordinate::Generic(name) => name.to_string(),
        };
        let text = |part: &Vec<syn::Member>| quote!(#(#part).*).to_token_stream().to_string();
        let parts: Vec<_> = parts.iter().map(text).collect();
        Some((scalar, parts.join(", ")))
    }

    #[test]
    fn floats_in_fields_tuples_and_other_structs() {
        let found = vector_of(
            "type Row<T> = Table<Dyn, T>;
            struct Inner<T: Float, N: IndexSet> { x: Table<N, T>, at: N }
            struct Outer<F: Float> { a: F, n: usize, b: Inner<F, Dyn>, c: (Row<F>, bool, (i64, [F; 3])), d: Table<Dyn, i64> }",
        );
        let parts = "a, b, c . 0, c . 1 . 1".replace("1 . 1", "2 . 1");
        assert_eq!(found, Some(("F".to_owned(), parts)));
        let single = vector_of("struct S { w: Table<(Dyn, Fin<3>), f32> }");
        assert_eq!(single, Some(("f32".to_owned(), "w".to_owned())));
    }

    #[test]
    fn what_is_no_vector() {
        for source in [
            "struct S { n: usize, t: Table<Dyn, i64> }",
            "struct S { x: f32, y: f64 }",
            "struct S<A: Float, B: Float> { x: A, y: Table<Dyn, B> }",
            "struct I { x: f32 } struct S { i: I, y: f64 }",
            "struct S<'a> { x: &'a Table<Dyn, f64> }",
        ] {
            assert_eq!(vector_of(source), None, "{source}");
        }
    }
}
