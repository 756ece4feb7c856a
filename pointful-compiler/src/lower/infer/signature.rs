//! Types and index sets as written, and paths to them.

use proc_macro2::Span;
use quote::ToTokens;

use super::Infer;
use crate::diag::lowering as say;
use crate::ir::Scalar;
use crate::lower::solve::{SetKind, TyKind};
use crate::lower::types::{Len, Set, Ty};
use crate::syntax::tree::{self, GenericKind, TypeDefKind, path_key};

/// What a generic of a type stands for.
#[derive(Clone, Debug)]
pub(super) enum Given {
    /// An index set; for a length `N` it is `Fin<N>`.
    Set(Set),
    /// A float.
    Float(Ty),
}

/// The last name of a path.
pub(in crate::lower) fn last_name(path: &syn::Path) -> String {
    path.segments
        .last()
        .map_or_else(String::new, |s| s.ident.to_string())
}

/// Where a path stands.
pub(in crate::lower) fn path_span(path: &syn::Path) -> Span {
    path.segments
        .last()
        .map_or_else(Span::call_site, |s| s.ident.span())
}

impl<'a> Infer<'_, 'a> {
    /// A type as written. `dynamic` says what an occurrence of `Dyn` is.
    pub(super) fn written(&mut self, ty: &'a tree::Type, dynamic: SetKind) -> Ty {
        match &ty.kind {
            tree::TypeKind::Scalar(s) => Ty::Scalar(*s),
            tree::TypeKind::Path(path, args) => self.path_type(path, args, dynamic),
            tree::TypeKind::Set(set) => {
                let set = self.written_set(set, dynamic);
                self.solver.member(&set)
            }
            tree::TypeKind::Table(set, elem) => {
                let set = self.written_set(set, dynamic);
                let span = elem.span;
                let elem = self.written(elem, dynamic);
                if self.is_ragged(&elem) {
                    self.report(say::ragged_inside(span));
                    return Ty::Error;
                }
                Ty::table(vec![set], elem)
            }
            tree::TypeKind::Tables(set, elem) => {
                let set = self.written_set(set, dynamic);
                let span = elem.span;
                match self.written(elem, dynamic) {
                    Ty::Error => Ty::Error,
                    elem @ Ty::Struct(..) if self.is_mappable(&elem) => Ty::table(vec![set], elem),
                    other => {
                        let shown = self.show(&other);
                        self.report(say::tables_of(span, &shown));
                        Ty::Error
                    }
                }
            }
            tree::TypeKind::Ragged(set, elem) => self.written_ragged(set, elem, dynamic),
            tree::TypeKind::Extent(set) => Ty::Extent(self.written_set(set, dynamic)),
            tree::TypeKind::Accum(inner) => Ty::Accum(Box::new(self.written(inner, dynamic))),
            tree::TypeKind::Tuple(parts) => {
                Ty::Tuple(parts.iter().map(|p| self.written(p, dynamic)).collect())
            }
            tree::TypeKind::Array(elem, len) => {
                let set = self.fin(len);
                let elem = self.written(elem, dynamic);
                Ty::table(vec![set], elem)
            }
            tree::TypeKind::Ref { inner, .. } => self.written(inner, dynamic),
            tree::TypeKind::Function(params, result) => Ty::Function(
                params.iter().map(|p| self.written(p, dynamic)).collect(),
                Box::new(self.written(result, dynamic)),
            ),
            tree::TypeKind::OneOf(parts) => {
                let parts: Vec<Ty> = parts.iter().map(|p| self.written(p, dynamic)).collect();
                match <[Ty; 2]>::try_from(parts) {
                    Ok(sides) => Ty::Either(Box::new(sides)),
                    Err(parts) => parts
                        .into_iter()
                        .next()
                        .map_or(Ty::Error, |held| Ty::Option(Box::new(held))),
                }
            }
            tree::TypeKind::Infer => self.unknown(ty.span),
        }
    }

    /// An index set as written.
    pub(super) fn written_set(&mut self, set: &'a tree::Set, dynamic: SetKind) -> Set {
        match &set.kind {
            tree::SetKind::Path(path, args) => self.path_set(path, args, dynamic),
            tree::SetKind::Fin(len) => self.fin(len),
            tree::SetKind::Product(parts) => {
                Set::product(parts.iter().map(|p| self.written_set(p, dynamic)).collect())
            }
            tree::SetKind::Either(a, b) => Set::Either(
                Box::new(self.written_set(a, dynamic)),
                Box::new(self.written_set(b, dynamic)),
            ),
            tree::SetKind::Bool => Set::Bool,
            tree::SetKind::Unit => Set::UNIT,
            tree::SetKind::Dyn => self.solver.fresh_set(dynamic, set.span),
            tree::SetKind::Infer => self.solver.fresh_set(SetKind::Free, set.span),
        }
    }

    /// `Fin<len>`
    pub(super) fn fin(&mut self, len: &'a tree::Expr) -> Set {
        match &len.kind {
            tree::ExprKind::Lit(tree::Lit {
                kind: tree::LitKind::Int { value, .. },
                ..
            }) => match u64::try_from(*value) {
                Ok(n) => Set::Fin(Len::Lit(n)),
                Err(_) => {
                    self.report(say::length(len.span));
                    Set::Error
                }
            },
            tree::ExprKind::Paren(inner) => self.fin(inner),
            tree::ExprKind::Block(block) if block.stmts.is_empty() => match &block.value {
                Some(value) => self.fin(value),
                None => {
                    self.report(say::length(len.span));
                    Set::Error
                }
            },
            tree::ExprKind::Path(path) => self.fin_of(path, len.span),
            _ => {
                self.report(say::length(len.span));
                Set::Error
            }
        }
    }

    /// `Fin<N>` with a name for the length.
    fn fin_of(&mut self, path: &syn::Path, span: Span) -> Set {
        match self.given(path) {
            Some(Given::Set(set)) => return set,
            Some(Given::Float(_)) => {
                self.report(say::length(span));
                return Set::Error;
            }
            None => {}
        }
        let name = path_key(path);
        match self.generic(&name) {
            Some((k, GenericKind::Const)) => Set::Fin(Len::Param(k)),
            Some(_) => {
                self.report(say::length(span));
                Set::Error
            }
            None if self.lookup(&name).is_some() => {
                self.report(say::length(span));
                Set::Error
            }
            None => {
                let mut constants = self.tree.scope.constants.iter();
                let value = match constants.find(|(known, _)| *known == name) {
                    Some((_, tokens)) => tokens.to_string(),
                    None => path.to_token_stream().to_string(),
                };
                Set::Fin(Len::Const(value))
            }
        }
    }

    /// What a generic of the type whose definition is read stands for.
    fn given(&self, path: &syn::Path) -> Option<Given> {
        let name = path.get_ident()?;
        let known = self.given.iter().find(|(generic, _)| *generic == name);
        known.map(|(_, given)| given.clone())
    }

    /// Reads the definition of a type. Arguments that are left out, as in a struct literal, are
    /// found by inference.
    pub(super) fn defined<T>(
        &mut self,
        id: usize,
        args: &'a [tree::TypeArg],
        at: Span,
        dynamic: SetKind,
        read: impl FnOnce(&mut Self, &'a TypeDefKind) -> T,
    ) -> T {
        let linked = self.shared.linked;
        let def = &linked.types[id];
        let generics = &def.item.generics;
        if !args.is_empty() && args.len() != generics.len() {
            let name = def.name.to_string();
            self.report(say::type_argument_count(
                at,
                &name,
                generics.len(),
                args.len(),
            ));
        }
        let mut given = Vec::new();
        for (k, generic) in generics.iter().enumerate() {
            let is_float = matches!(generic.kind, GenericKind::Float);
            let arg = match (args.get(k), is_float) {
                (None, true) => Given::Float(self.solver.fresh(TyKind::Float, at)),
                (None, false) => Given::Set(self.solver.fresh_set(SetKind::Free, at)),
                (Some(arg), true) => Given::Float(self.float_argument(arg, dynamic)),
                (Some(arg), false) => {
                    let is_length = matches!(generic.kind, GenericKind::Const);
                    Given::Set(self.set_argument(arg, is_length, dynamic))
                }
            };
            given.push((&generic.name, arg));
        }
        let outer = std::mem::replace(&mut self.given, given);
        let result = read(self, &def.item.kind);
        self.given = outer;
        result
    }

    pub(super) fn float_argument(&mut self, arg: &'a tree::TypeArg, dynamic: SetKind) -> Ty {
        let span = match arg {
            tree::TypeArg::Type(ty) => {
                let found = self.written(ty, dynamic);
                let float = self.solver.fresh(TyKind::Float, ty.span);
                if self.solver.unify(&float, &found).is_ok() {
                    return found;
                }
                ty.span
            }
            tree::TypeArg::Length(length) => length.span,
        };
        self.report(say::float_argument(span));
        Ty::Error
    }

    /// A set, or the static set of a length.
    pub(super) fn set_argument(
        &mut self,
        arg: &'a tree::TypeArg,
        is_length: bool,
        dynamic: SetKind,
    ) -> Set {
        match arg {
            tree::TypeArg::Length(length) if is_length => self.fin(length),
            tree::TypeArg::Type(ty) if is_length => match &ty.kind {
                tree::TypeKind::Path(path, _) => self.fin_of(path, ty.span),
                tree::TypeKind::Infer => self.solver.fresh_set(SetKind::Free, ty.span),
                _ => {
                    self.report(say::length(ty.span));
                    Set::Error
                }
            },
            tree::TypeArg::Type(ty) => self.type_as_set(ty, dynamic),
            tree::TypeArg::Length(length) => {
                self.report(say::not_a_set(length.span, "this length"));
                Set::Error
            }
        }
    }

    /// The generic of that name, with its position.
    pub(super) fn generic(&self, name: &str) -> Option<(usize, &'a GenericKind)> {
        let tree: &'a tree::Function = self.tree;
        tree.generics
            .iter()
            .position(|g| g.name == name)
            .map(|k| (k, &tree.generics[k].kind))
    }

    /// A generic takes no arguments.
    fn no_arguments(&mut self, path: &syn::Path, args: &[tree::TypeArg]) {
        let name = path_key(path);
        if !args.is_empty() && self.generic(&name).is_some() {
            self.report(say::type_argument_count(
                path_span(path),
                &name,
                0,
                args.len(),
            ));
        }
    }

    /// The linked type that a path means.
    pub(super) fn type_of_path(&self, path: &syn::Path) -> Option<usize> {
        let name = path_key(path);
        let in_scope = self.tree.scope.types.iter().find(|(n, _)| *n == name);
        in_scope.map(|(_, id)| *id).or_else(|| {
            let last = last_name(path);
            let types = &self.shared.linked.types;
            types.iter().position(|t| t.name == last)
        })
    }

    pub(super) fn path_type(
        &mut self,
        path: &'a syn::Path,
        args: &'a [tree::TypeArg],
        dynamic: SetKind,
    ) -> Ty {
        match self.given(path) {
            Some(Given::Set(set)) => return self.solver.member(&set),
            Some(Given::Float(float)) => return float,
            None => {}
        }
        let name = path_key(path);
        self.no_arguments(path, args);
        match self.generic(&name) {
            Some((k, GenericKind::IndexSet)) => return Ty::Member(Set::Param(k)),
            Some((k, GenericKind::Float)) => return Ty::Float(k),
            Some((_, GenericKind::Function(params, result))) => {
                return Ty::Function(
                    params.iter().map(|p| self.written(p, dynamic)).collect(),
                    Box::new(self.written(result, dynamic)),
                );
            }
            Some((_, GenericKind::Const)) | None => {}
        }
        let Some(id) = self.type_of_path(path) else {
            self.report(say::unknown_type(path_span(path), &name));
            return Ty::Error;
        };
        self.type_defined(id, args, path_span(path), dynamic)
    }

    /// The type that a definition is of.
    pub(super) fn type_defined(
        &mut self,
        id: usize,
        args: &'a [tree::TypeArg],
        at: Span,
        dynamic: SetKind,
    ) -> Ty {
        self.defined(id, args, at, dynamic, |s, kind| match kind {
            TypeDefKind::NominalSet | TypeDefKind::EnumSet(_) => Ty::Member(Set::Named(id)),
            TypeDefKind::ProductSet(fields) => {
                Ty::Member(Set::Record(id, s.field_sets(fields, dynamic)))
            }
            TypeDefKind::Struct(fields) => Ty::Struct(
                id,
                fields
                    .iter()
                    .map(|(_, ty)| s.written(ty, dynamic))
                    .collect(),
            ),
            TypeDefKind::Enum(item) => Ty::Struct(id, vec![s.written(&item.sum[0].1, dynamic)]),
            TypeDefKind::Alias(ty) => s.written(ty, dynamic),
        })
    }

    fn field_sets(
        &mut self,
        fields: &'a [(proc_macro2::Ident, tree::Type)],
        dynamic: SetKind,
    ) -> Vec<Set> {
        fields
            .iter()
            .map(|(_, ty)| self.type_as_set(ty, dynamic))
            .collect()
    }

    /// The set that a path means: a generic, a derived set or an alias of one.
    pub(super) fn path_set(
        &mut self,
        path: &'a syn::Path,
        args: &'a [tree::TypeArg],
        dynamic: SetKind,
    ) -> Set {
        let name = path_key(path);
        match self.given(path) {
            Some(Given::Set(set)) => return set,
            Some(Given::Float(_)) => {
                self.report(say::not_a_set(path_span(path), &name));
                return Set::Error;
            }
            None => {}
        }
        self.no_arguments(path, args);
        match self.generic(&name) {
            Some((k, GenericKind::IndexSet)) => return Set::Param(k),
            Some((_, GenericKind::Float | GenericKind::Const | GenericKind::Function(..))) => {
                self.report(say::not_a_set(path_span(path), &name));
                return Set::Error;
            }
            None => {}
        }
        let Some(id) = self.type_of_path(path) else {
            self.report(say::unknown_set(path_span(path), &name));
            return Set::Error;
        };
        self.defined(id, args, path_span(path), dynamic, |s, kind| match kind {
            TypeDefKind::NominalSet | TypeDefKind::EnumSet(_) => Set::Named(id),
            TypeDefKind::ProductSet(fields) => Set::Record(id, s.field_sets(fields, dynamic)),
            TypeDefKind::Struct(_) | TypeDefKind::Enum(_) => {
                s.report(say::not_a_set(path_span(path), &name));
                Set::Error
            }
            TypeDefKind::Alias(ty) => s.type_as_set(ty, dynamic),
        })
    }

    /// The set whose members a type has, where a set must stand.
    fn type_as_set(&mut self, ty: &'a tree::Type, dynamic: SetKind) -> Set {
        match &ty.kind {
            tree::TypeKind::Scalar(Scalar::Bool) => Set::Bool,
            tree::TypeKind::Path(path, args) => self.path_set(path, args, dynamic),
            tree::TypeKind::Set(set) => self.written_set(set, dynamic),
            tree::TypeKind::Tuple(parts) => {
                Set::product(parts.iter().map(|p| self.type_as_set(p, dynamic)).collect())
            }
            tree::TypeKind::Scalar(_)
            | tree::TypeKind::Table(..)
            | tree::TypeKind::Tables(..)
            | tree::TypeKind::Ragged(..)
            | tree::TypeKind::Extent(_)
            | tree::TypeKind::Accum(_)
            | tree::TypeKind::Array(..)
            | tree::TypeKind::Ref { .. }
            | tree::TypeKind::Function(..)
            | tree::TypeKind::OneOf(_)
            | tree::TypeKind::Infer => {
                self.report(say::not_a_set(ty.span, "this type"));
                Set::Error
            }
        }
    }

    /// The scalar type a cast goes to.
    pub(super) fn cast_target(&mut self, ty: &'a tree::Type) -> Ty {
        match self.written(ty, SetKind::Dyn) {
            to @ (Ty::Scalar(_) | Ty::Float(_) | Ty::Error) => to,
            Ty::Var(_) => self.solver.fresh(TyKind::Any, ty.span),
            other => {
                let shown = self.show(&other);
                self.report(say::cast_target(ty.span, &shown));
                Ty::Error
            }
        }
    }
}
