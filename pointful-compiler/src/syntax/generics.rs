//! What a generic struct or alias says for given arguments.

use proc_macro2::Ident;

use super::tree::{
    Enum, Expr, ExprKind, Generic, Set, SetKind, Type, TypeArg, TypeDef, TypeDefKind, TypeItem,
    TypeKind, path_key,
};
use crate::ir::Scalar;

/// The generic that a path is, if it is one of these.
pub fn generic<'g>(generics: &'g [Generic], path: &syn::Path) -> Option<&'g Generic> {
    let name = path.get_ident()?;
    generics.iter().find(|generic| generic.name == *name)
}

/// What a path means, with these arguments: `scope` says which of `types` it is.
pub fn definition(
    types: &[TypeDef],
    scope: &[(String, usize)],
    path: &syn::Path,
    args: &[TypeArg],
) -> Option<TypeDefKind> {
    let key = path_key(path);
    let (_, id) = scope.iter().find(|(name, _)| *name == key)?;
    applied(&types.get(*id)?.item, args)
}

/// The definition with arguments for its generics; `None` if there are more or fewer.
pub fn applied(item: &TypeItem, args: &[TypeArg]) -> Option<TypeDefKind> {
    if item.generics.len() != args.len() {
        return None;
    }
    let names = item.generics.iter().map(|generic| &generic.name);
    let given = Given(names.zip(args).collect());
    let fields = |fields: &[(Ident, Type)]| {
        let field = |(name, ty): &(Ident, Type)| (name.clone(), given.ty(ty));
        fields.iter().map(field).collect()
    };
    Some(match &item.kind {
        TypeDefKind::NominalSet => TypeDefKind::NominalSet,
        TypeDefKind::EnumSet(members) => TypeDefKind::EnumSet(members.clone()),
        TypeDefKind::ProductSet(parts) => TypeDefKind::ProductSet(fields(parts)),
        TypeDefKind::Struct(parts) => TypeDefKind::Struct(fields(parts)),
        TypeDefKind::Enum(item) => {
            let [(name, ty)] = &item.sum;
            TypeDefKind::Enum(Enum {
                variants: item.variants.clone(),
                sum: [(name.clone(), given.ty(ty))],
            })
        }
        TypeDefKind::Alias(ty) => TypeDefKind::Alias(given.ty(ty)),
    })
}

/// The set whose members a type has.
pub fn set_of(ty: &Type) -> Option<Set> {
    let kind = match &ty.kind {
        TypeKind::Path(path, args) => SetKind::Path(path.clone(), args.clone()),
        TypeKind::Set(set) => return Some((**set).clone()),
        TypeKind::Scalar(Scalar::Bool) => SetKind::Bool,
        TypeKind::Tuple(parts) if parts.is_empty() => SetKind::Unit,
        TypeKind::Tuple(parts) => {
            SetKind::Product(parts.iter().map(set_of).collect::<Option<_>>()?)
        }
        TypeKind::Scalar(_)
        | TypeKind::Table(..)
        | TypeKind::Tables(..)
        | TypeKind::Ragged(..)
        | TypeKind::Extent(_)
        | TypeKind::Accum(_)
        | TypeKind::Array(..)
        | TypeKind::Ref { .. }
        | TypeKind::Function(..)
        | TypeKind::OneOf(_)
        | TypeKind::Infer => return None,
    };
    Some(Set {
        kind,
        span: ty.span,
    })
}

/// What generics stand for.
struct Given<'a>(Vec<(&'a Ident, &'a TypeArg)>);

impl Given<'_> {
    fn of(&self, path: &syn::Path) -> Option<&TypeArg> {
        let name = path.get_ident()?;
        let known = self.0.iter().find(|(generic, _)| *generic == name);
        known.map(|(_, arg)| *arg)
    }

    fn ty(&self, ty: &Type) -> Type {
        let kind = match &ty.kind {
            TypeKind::Path(path, args) => match self.of(path) {
                Some(TypeArg::Type(given)) => return given.clone(),
                Some(TypeArg::Length(_)) => TypeKind::Infer,
                None => TypeKind::Path(path.clone(), self.args(args)),
            },
            TypeKind::Set(set) => TypeKind::Set(Box::new(self.set(set))),
            TypeKind::Table(set, element) => {
                TypeKind::Table(self.set(set), Box::new(self.ty(element)))
            }
            TypeKind::Tables(set, element) => {
                TypeKind::Tables(self.set(set), Box::new(self.ty(element)))
            }
            TypeKind::Ragged(set, element) => {
                TypeKind::Ragged(self.set(set), Box::new(self.ty(element)))
            }
            TypeKind::Extent(set) => TypeKind::Extent(self.set(set)),
            TypeKind::Accum(inner) => TypeKind::Accum(Box::new(self.ty(inner))),
            TypeKind::Tuple(parts) => {
                TypeKind::Tuple(parts.iter().map(|part| self.ty(part)).collect())
            }
            TypeKind::OneOf(parts) => {
                TypeKind::OneOf(parts.iter().map(|part| self.ty(part)).collect())
            }
            TypeKind::Array(element, length) => {
                TypeKind::Array(Box::new(self.ty(element)), Box::new(self.length(length)))
            }
            TypeKind::Ref { mutable, inner } => TypeKind::Ref {
                mutable: *mutable,
                inner: Box::new(self.ty(inner)),
            },
            TypeKind::Function(params, result) => TypeKind::Function(
                params.iter().map(|param| self.ty(param)).collect(),
                Box::new(self.ty(result)),
            ),
            TypeKind::Scalar(_) | TypeKind::Infer => ty.kind.clone(),
        };
        Type {
            kind,
            span: ty.span,
        }
    }

    fn set(&self, set: &Set) -> Set {
        let kind = match &set.kind {
            SetKind::Path(path, args) => match self.of(path) {
                Some(TypeArg::Type(given)) => {
                    return set_of(given).unwrap_or_else(|| set.clone());
                }
                Some(TypeArg::Length(_)) => SetKind::Infer,
                None => SetKind::Path(path.clone(), self.args(args)),
            },
            SetKind::Fin(length) => SetKind::Fin(Box::new(self.length(length))),
            SetKind::Product(parts) => {
                SetKind::Product(parts.iter().map(|part| self.set(part)).collect())
            }
            SetKind::Either(left, right) => {
                SetKind::Either(Box::new(self.set(left)), Box::new(self.set(right)))
            }
            SetKind::Bool | SetKind::Unit | SetKind::Dyn | SetKind::Infer => set.kind.clone(),
        };
        Set {
            kind,
            span: set.span,
        }
    }

    fn args(&self, args: &[TypeArg]) -> Vec<TypeArg> {
        let arg = |arg: &TypeArg| match arg {
            // What stands for a length is passed on as what it is.
            TypeArg::Type(Type {
                kind: TypeKind::Path(path, inner),
                ..
            }) if inner.is_empty() && self.of(path).is_some() => {
                self.of(path).cloned().unwrap_or_else(|| arg.clone())
            }
            TypeArg::Type(ty) => TypeArg::Type(self.ty(ty)),
            TypeArg::Length(length) => TypeArg::Length(Box::new(self.length(length))),
        };
        args.iter().map(arg).collect()
    }

    fn length(&self, length: &Expr) -> Expr {
        match &length.kind {
            ExprKind::Path(path) => match self.of(path) {
                Some(TypeArg::Length(given)) => (**given).clone(),
                Some(TypeArg::Type(Type {
                    kind: TypeKind::Path(given, _),
                    span,
                })) => Expr {
                    kind: ExprKind::Path(given.clone()),
                    span: *span,
                },
                Some(TypeArg::Type(_)) | None => length.clone(),
            },
            ExprKind::Paren(inner) => self.length(inner),
            ExprKind::Block(block) => match &block.value {
                Some(value) if block.stmts.is_empty() => self.length(value),
                _ => length.clone(),
            },
            _ => length.clone(),
        }
    }
}
