//! Types and index sets as written, and paths to them.

use proc_macro2::Span;

use super::Infer;
use crate::diag::lowering as say;
use crate::ir::Scalar;
use crate::lower::solve::{SetKind, TyKind};
use crate::lower::types::{Len, Set, Ty};
use crate::syntax::tree::{self, GenericKind, TypeDefKind, path_key};

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
            tree::TypeKind::Path(path) => self.path_type(path, dynamic),
            tree::TypeKind::Set(set) => {
                let set = self.written_set(set, dynamic);
                self.solver.member(&set)
            }
            tree::TypeKind::Table(set, elem) => {
                let set = self.written_set(set, dynamic);
                let elem = self.written(elem, dynamic);
                Ty::table(vec![set], elem)
            }
            tree::TypeKind::Extent(set) => Ty::Extent(self.written_set(set, dynamic)),
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
            tree::TypeKind::Infer => self.unknown(ty.span),
        }
    }

    /// An index set as written.
    pub(super) fn written_set(&mut self, set: &'a tree::Set, dynamic: SetKind) -> Set {
        match &set.kind {
            tree::SetKind::Path(path) => self.path_set(path, dynamic),
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
            tree::ExprKind::Path(path) => {
                let name = path_key(path);
                match self.generic(&name) {
                    Some((k, GenericKind::Const)) => Set::Fin(Len::Param(k)),
                    Some(_) => {
                        self.report(say::length(len.span));
                        Set::Error
                    }
                    None => Set::Fin(Len::Const(name)),
                }
            }
            _ => {
                self.report(say::length(len.span));
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

    fn path_type(&mut self, path: &'a syn::Path, dynamic: SetKind) -> Ty {
        let name = path_key(path);
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
        let linked = self.shared.linked;
        match &linked.types[id].kind {
            TypeDefKind::NominalSet | TypeDefKind::EnumSet(_) => Ty::Member(Set::Named(id)),
            TypeDefKind::ProductSet(fields) => {
                Ty::Member(Set::Record(id, self.field_sets(fields, dynamic)))
            }
            TypeDefKind::Struct(fields) => Ty::Struct(
                id,
                fields
                    .iter()
                    .map(|(_, ty)| self.written(ty, dynamic))
                    .collect(),
            ),
            TypeDefKind::Alias(ty) => self.written(ty, dynamic),
        }
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
    pub(super) fn path_set(&mut self, path: &'a syn::Path, dynamic: SetKind) -> Set {
        let name = path_key(path);
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
        let linked = self.shared.linked;
        match &linked.types[id].kind {
            TypeDefKind::NominalSet | TypeDefKind::EnumSet(_) => Set::Named(id),
            TypeDefKind::ProductSet(fields) => Set::Record(id, self.field_sets(fields, dynamic)),
            TypeDefKind::Struct(_) => {
                self.report(say::not_a_set(path_span(path), &name));
                Set::Error
            }
            TypeDefKind::Alias(ty) => self.type_as_set(ty, dynamic),
        }
    }

    /// The set whose members a type has, where a set must stand.
    fn type_as_set(&mut self, ty: &'a tree::Type, dynamic: SetKind) -> Set {
        match &ty.kind {
            tree::TypeKind::Scalar(Scalar::Bool) => Set::Bool,
            tree::TypeKind::Path(path) => self.path_set(path, dynamic),
            tree::TypeKind::Set(set) => self.written_set(set, dynamic),
            tree::TypeKind::Tuple(parts) => {
                Set::product(parts.iter().map(|p| self.type_as_set(p, dynamic)).collect())
            }
            tree::TypeKind::Scalar(_)
            | tree::TypeKind::Table(..)
            | tree::TypeKind::Extent(_)
            | tree::TypeKind::Array(..)
            | tree::TypeKind::Ref { .. }
            | tree::TypeKind::Function(..)
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
