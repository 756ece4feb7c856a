//! The signatures of transformed functions, from those of the functions themselves.
//!
//! | `T!(f)` | takes, after the parameters of `f` | gives |
//! |---|---|---|
//! | `grad` | | the cotangents of the parameters |
//! | `value_and_grad` | | the value, the cotangents |
//! | `vjp` | the cotangents of the result | the value, the cotangents of the parameters |
//! | `jvp` | the tangents of the parameters | the value, the tangent |
//! | `linearize` | | the value, the map from the tangents of the parameters to that of the result |
//! | `jacobian` | | a table over the axes of the result, then those of the parameter |
//! | `hessian` | | a table over the axes of one parameter, then those of another |
//! | `hvp` | the tangents of the parameters | the tangents of the gradients |
//! | `vmap` | | the result with one more axis in front; so have the parameters |
//!
//! One of several is bare, several are a tuple. What has no derivative, integers, truth values,
//! members and extents, has no cotangent either, so such parameters and such parts of a result's
//! tuple are left out. Inside of a parameter that is a tuple or a struct they stay what they are,
//! since its derivative has its type.
//!
//! Tangents and cotangents are passed as values are: scalars by value, tables and structs by
//! reference. They have [names](super::seeds), so that the next transformation can choose among
//! them.
//!
//! Nothing is reported here. What has no signature is what lowering refuses, and there the message
//! is made.

use proc_macro2::{Ident, Span};

use crate::syntax::generics::{definition, generic, set_of};
use crate::syntax::seeds;
use crate::syntax::tree::{
    Function, Generic, GenericKind, Param, Set, SetKind, Transform, Transformed, Type, TypeArg,
    TypeDef, TypeDefKind, TypeKind,
};

/// The most factors that a product of index sets has as a Rust type; more are nested.
const FACTORS: usize = 6;

/// What a function takes and gives.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Generic parameters in order.
    pub generics: Vec<Generic>,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// The result.
    pub result: Type,
}

impl Signature {
    /// A function's own.
    pub fn of(function: &Function) -> Self {
        Self {
            generics: function.generics.clone(),
            params: function.params.clone(),
            result: function.result.clone(),
        }
    }
}

/// The signature of a transformed function: `function` is what the innermost transformation applies
/// to, `types` what its scope refers to. `None` where there is none: nothing is differentiable,
/// `wrt` names no parameter, the result is not a scalar.
pub fn transformed(
    function: &Function,
    types: &[TypeDef],
    transform: &Transform,
) -> Option<Signature> {
    let signature = match &transform.of {
        Transformed::Path(_) => Signature::of(function),
        Transformed::Transform(inner) => transformed(function, types, inner)?,
    };
    let mut rules = Rules {
        function,
        types,
        signature,
        transform,
        span: transform.name.span(),
    };
    rules.apply()
}

/// The tangents that the linear map of `linearize!` takes and the one it gives.
pub fn linear_map(
    function: &Function,
    types: &[TypeDef],
    transform: &Transform,
) -> Option<(Vec<Type>, Type)> {
    let jvp = Transform {
        name: Ident::new("jvp", transform.name.span()),
        ..transform.clone()
    };
    let signature = match &transform.of {
        Transformed::Path(_) => Signature::of(function),
        Transformed::Transform(inner) => transformed(function, types, inner)?,
    };
    let known = signature.params.len();
    let jvp = transformed(function, types, &jvp)?;
    let TypeKind::Tuple(mut results) = jvp.result.kind else {
        return None;
    };
    let params = jvp.params.into_iter().skip(known).map(|param| param.ty);
    Some((params.collect(), results.pop()?))
}

/// The product of index sets, of which several are joined; of one it is that one.
pub fn product<T>(mut axes: Vec<T>, join: &impl Fn(Vec<T>) -> T) -> Option<T> {
    if axes.len() > FACTORS {
        let rest = product(axes.split_off(FACTORS - 1), join);
        axes.extend(rest);
    }
    if axes.len() < 2 {
        return axes.pop();
    }
    Some(join(axes))
}

struct Rules<'a> {
    function: &'a Function,
    types: &'a [TypeDef],
    signature: Signature,
    transform: &'a Transform,
    span: Span,
}

impl Rules<'_> {
    fn apply(&mut self) -> Option<Signature> {
        let value = self.signature.result.clone();
        let result = match self.transform.name.to_string().as_str() {
            "grad" => {
                self.scalar(&value)?;
                self.cotangents()?
            }
            "value_and_grad" => {
                self.scalar(&value)?;
                self.tuple(vec![value, self.cotangents()?])
            }
            "vjp" => {
                let result = self.tuple(vec![value.clone(), self.cotangents()?]);
                self.add_cotangents(&value)?;
                result
            }
            "jvp" => {
                let tangent = self.tuple(self.tangents(&value)?);
                let result = self.tuple(vec![value, tangent]);
                self.add_tangents()?;
                result
            }
            // The map has no type that could be written; what it takes and gives is told by `linear_map`.
            "linearize" => return None,
            "jacobian" => {
                let rows = self.tangents(&value)?;
                self.jacobian(&rows)?
            }
            "hessian" => {
                self.scalar(&value)?;
                let rows: Vec<_> = self.wrt()?.into_iter().map(|(_, ty)| ty).collect();
                self.jacobian(&rows)?
            }
            "hvp" => {
                self.scalar(&value)?;
                let result = self.cotangents()?;
                self.add_tangents()?;
                result
            }
            "vmap" => self.map(&value)?,
            _ => return None,
        };
        Some(Signature {
            result,
            ..self.signature.clone()
        })
    }

    // ---- types ----

    fn ty(&self, kind: TypeKind) -> Type {
        Type {
            kind,
            span: self.span,
        }
    }

    /// One bare, several as a tuple.
    fn tuple(&self, mut parts: Vec<Type>) -> Type {
        if parts.len() == 1 {
            parts.remove(0)
        } else {
            self.ty(TypeKind::Tuple(parts))
        }
    }

    fn generic(&self, path: &syn::Path) -> Option<&GenericKind> {
        generic(&self.signature.generics, path).map(|generic| &generic.kind)
    }

    /// What a path means, with these arguments.
    fn definition(&self, path: &syn::Path, args: &[TypeArg]) -> Option<TypeDefKind> {
        definition(self.types, &self.function.scope.types, path, args)
    }

    /// Whether there is anything in a value that has a derivative.
    fn has_floats(&self, ty: &Type) -> bool {
        match &ty.kind {
            TypeKind::Scalar(scalar) => scalar.is_float(),
            TypeKind::Path(path, args) => match (self.generic(path), self.definition(path, args)) {
                (Some(GenericKind::Float), _) => true,
                (Some(_), _) => false,
                (None, Some(TypeDefKind::Struct(fields))) => {
                    fields.iter().any(|(_, field)| self.has_floats(field))
                }
                (None, Some(TypeDefKind::Enum(item))) => self.has_floats(&item.sum[0].1),
                (None, Some(TypeDefKind::Alias(inner))) => self.has_floats(&inner),
                (
                    None,
                    Some(
                        TypeDefKind::NominalSet
                        | TypeDefKind::EnumSet(_)
                        | TypeDefKind::ProductSet(_),
                    )
                    | None,
                ) => false,
            },
            TypeKind::Tuple(parts) | TypeKind::OneOf(parts) => {
                parts.iter().any(|part| self.has_floats(part))
            }
            TypeKind::Table(_, inner)
            | TypeKind::Tables(_, inner)
            | TypeKind::Ragged(_, inner)
            | TypeKind::Array(inner, _)
            | TypeKind::Ref { inner, .. } => self.has_floats(inner),
            TypeKind::Set(_)
            | TypeKind::Extent(_)
            | TypeKind::Accum(_)
            | TypeKind::Function(..)
            | TypeKind::Infer => false,
        }
    }

    /// The type of values as results have them: behind no reference, with tables for arrays.
    fn owned(&self, ty: &Type) -> Type {
        match &ty.kind {
            TypeKind::Ref { inner, .. } => self.owned(inner),
            TypeKind::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.owned(part)).collect();
                self.ty(TypeKind::Tuple(parts))
            }
            TypeKind::OneOf(parts) => {
                let parts = parts.iter().map(|part| self.owned(part)).collect();
                self.ty(TypeKind::OneOf(parts))
            }
            TypeKind::Array(element, length) => {
                let set = Set {
                    kind: SetKind::Fin(length.clone()),
                    span: ty.span,
                };
                let element = self.owned(element);
                match self.axes(&element) {
                    Some((inner, element)) => self.table([vec![set], inner].concat(), element),
                    None => ty.clone(),
                }
            }
            TypeKind::Scalar(_)
            | TypeKind::Path(..)
            | TypeKind::Table(..)
            | TypeKind::Tables(..)
            | TypeKind::Ragged(..)
            | TypeKind::Set(_)
            | TypeKind::Extent(_)
            | TypeKind::Accum(_)
            | TypeKind::Function(..)
            | TypeKind::Infer => ty.clone(),
        }
    }

    /// The type of a parameter's derivatives, if it has any.
    fn tangent(&self, ty: &Type) -> Option<Type> {
        self.has_floats(ty).then(|| self.owned(ty))
    }

    /// The types of the derivatives of a result: of the parts of a tuple that have any, or of all
    /// of it.
    fn tangents(&self, value: &Type) -> Option<Vec<Type>> {
        let parts: Vec<_> = match &value.kind {
            TypeKind::Tuple(parts) => parts.iter().filter_map(|part| self.tangent(part)).collect(),
            TypeKind::Path(path, args) => match (self.generic(path), self.definition(path, args)) {
                (None, Some(TypeDefKind::Alias(inner))) => return self.tangents(&inner),
                _ => self.tangent(value).into_iter().collect(),
            },
            _ => self.tangent(value).into_iter().collect(),
        };
        (!parts.is_empty()).then_some(parts)
    }

    /// A scalar with a derivative.
    fn scalar(&self, ty: &Type) -> Option<()> {
        let (axes, _) = self.axes(&self.tangent(ty)?)?;
        axes.is_empty().then_some(())
    }

    /// A scalar's or table's axes and element.
    fn axes(&self, ty: &Type) -> Option<(Vec<Set>, Type)> {
        match &ty.kind {
            TypeKind::Scalar(_) => Some((Vec::new(), ty.clone())),
            TypeKind::Path(path, args) => match (self.generic(path), self.definition(path, args)) {
                (Some(_), _) => Some((Vec::new(), ty.clone())),
                (None, Some(TypeDefKind::Alias(inner))) => self.axes(&inner),
                (None, _) => None,
            },
            TypeKind::Table(set, element) => {
                let (inner, element) = self.axes(element)?;
                Some(([self.atoms(set), inner].concat(), element))
            }
            TypeKind::Ref { inner, .. } => self.axes(inner),
            TypeKind::Tables(..)
            | TypeKind::Ragged(..)
            | TypeKind::Set(_)
            | TypeKind::Extent(_)
            | TypeKind::Accum(_)
            | TypeKind::Tuple(_)
            | TypeKind::Array(..)
            | TypeKind::Function(..)
            | TypeKind::OneOf(_)
            | TypeKind::Infer => None,
        }
    }

    /// The factors of a set.
    fn atoms(&self, set: &Set) -> Vec<Set> {
        match &set.kind {
            SetKind::Product(parts) => parts.iter().flat_map(|part| self.atoms(part)).collect(),
            SetKind::Unit => Vec::new(),
            SetKind::Path(path, args) => match (self.generic(path), self.definition(path, args)) {
                (None, Some(TypeDefKind::Alias(inner))) => match set_of(&inner) {
                    Some(inner) => self.atoms(&inner),
                    None => vec![set.clone()],
                },
                _ => vec![set.clone()],
            },
            SetKind::Fin(_)
            | SetKind::Either(..)
            | SetKind::Bool
            | SetKind::Dyn
            | SetKind::Infer => vec![set.clone()],
        }
    }

    /// A table over these axes; over none, its element.
    fn table(&self, axes: Vec<Set>, element: Type) -> Type {
        match self.product(axes) {
            Some(set) => self.ty(TypeKind::Table(set, Box::new(element))),
            None => element,
        }
    }

    fn product(&self, axes: Vec<Set>) -> Option<Set> {
        product(axes, &|axes| Set {
            kind: SetKind::Product(axes),
            span: self.span,
        })
    }

    // ---- parameters ----

    /// The parameters that an option chooses, or those that `every` accepts.
    fn chosen(&self, every: impl Fn(&Param) -> bool) -> Option<Vec<usize>> {
        let params = &self.signature.params;
        let chosen: Vec<usize> = match self.transform.options.first() {
            Some((_, names)) => {
                let at = |name: &Ident| params.iter().position(|param| param.name == *name);
                names.iter().map(at).collect::<Option<_>>()?
            }
            None => (0..params.len()).filter(|&at| every(&params[at])).collect(),
        };
        (!chosen.is_empty()).then_some(chosen)
    }

    /// The parameters with respect to which derivatives are taken, and the types of these.
    fn wrt(&self) -> Option<Vec<(usize, Type)>> {
        let every = |param: &Param| {
            let fixed = matches!(param.ty.kind, TypeKind::Ref { mutable: true, .. });
            !param.constant && !fixed && self.has_floats(&param.ty)
        };
        let tangent = |at: usize| Some((at, self.tangent(&self.signature.params[at].ty)?));
        self.chosen(every)?.into_iter().map(tangent).collect()
    }

    fn cotangents(&self) -> Option<Type> {
        Some(self.tuple(self.wrt()?.into_iter().map(|(_, ty)| ty).collect()))
    }

    fn add_tangents(&mut self) -> Option<()> {
        for (at, ty) in self.wrt()? {
            let param = &self.signature.params[at];
            let by_reference = matches!(param.ty.kind, TypeKind::Ref { .. });
            let name = seeds::tangent(&param.name.to_string(), |name| self.is_param(name));
            self.add(&name, ty, by_reference);
        }
        Some(())
    }

    fn add_cotangents(&mut self, value: &Type) -> Option<()> {
        let parts = self.tangents(value)?;
        let count = parts.len();
        for (at, part) in parts.into_iter().enumerate() {
            let name = seeds::cotangent(at, count, |name| self.is_param(name));
            self.add(&name, part, false);
        }
        Some(())
    }

    /// One more parameter, passed as a value of its type is.
    fn add(&mut self, name: &str, ty: Type, by_reference: bool) {
        let tuple = matches!(ty.kind, TypeKind::Tuple(_) | TypeKind::OneOf(_));
        let scalar = self.axes(&ty).is_some_and(|(axes, _)| axes.is_empty());
        let ty = if scalar || (tuple && !by_reference) {
            ty
        } else {
            self.reference(ty)
        };
        self.signature.params.push(Param {
            name: Ident::new(name, self.span),
            ty,
            mutable: false,
            constant: false,
        });
    }

    fn is_param(&self, name: &str) -> bool {
        let params = &self.signature.params;
        params.iter().any(|param| param.name == name)
    }

    fn reference(&self, ty: Type) -> Type {
        self.ty(TypeKind::Ref {
            mutable: false,
            inner: Box::new(ty),
        })
    }

    // ---- Jacobians ----

    /// For every part of the result a table for every parameter.
    /// What a `Ragged` has rows for, and what is in them.
    fn rows(&self, ty: &Type) -> Option<(Set, Type)> {
        match &ty.kind {
            TypeKind::Ragged(rows, element) => Some((rows.clone(), (**element).clone())),
            TypeKind::Ref { inner, .. } => self.rows(inner),
            TypeKind::Path(path, args) => match self.definition(path, args)? {
                TypeDefKind::Alias(inner) => self.rows(&inner),
                _ => None,
            },
            _ => None,
        }
    }

    /// The axes of a table, where all values of a `Ragged` are along one.
    fn axes_of_values(&self, ty: &Type) -> Option<(Vec<Set>, Type)> {
        let Some((_, element)) = self.rows(ty) else {
            return self.axes(ty);
        };
        let values = Set {
            kind: SetKind::Dyn,
            span: self.span,
        };
        Some((vec![values], element))
    }

    fn jacobian(&self, rows: &[Type]) -> Option<Type> {
        let columns = self.wrt()?;
        let cell = |row: &Type, column: &Type| {
            let (to, element) = self.axes_of_values(row)?;
            let (from, _) = self.axes_of_values(column)?;
            // One by a number, or of one, has the same rows.
            let rows = self.rows(row).or_else(|| self.rows(column));
            match (rows, to.len() + from.len()) {
                (Some((rows, _)), 1) => Some(self.ty(TypeKind::Ragged(rows, Box::new(element)))),
                _ => Some(self.table([to, from].concat(), element)),
            }
        };
        let row = |row| {
            let cells = columns.iter().map(|(_, column)| cell(row, column));
            Some(self.tuple(cells.collect::<Option<_>>()?))
        };
        let rows = rows.iter().map(row).collect::<Option<_>>()?;
        Some(self.tuple(rows))
    }

    // ---- vmap ----

    /// Puts an axis in front of the chosen parameters; what becomes of the result.
    fn map(&mut self, value: &Type) -> Option<Type> {
        let name = seeds::fresh("Lanes", |known| {
            let generics = &self.signature.generics;
            let types = &self.function.scope.types;
            generics.iter().any(|generic| generic.name == known)
                || types.iter().any(|(name, _)| name == known)
        });
        let name = Ident::new(&name, self.span);
        let axis = Set {
            kind: SetKind::Path(name.clone().into(), Vec::new()),
            span: self.span,
        };
        for at in self.chosen(|param| !matches!(param.ty.kind, TypeKind::Extent(_)))? {
            let ty = self.mapped(&self.signature.params[at].ty, &axis)?;
            // A scalar has become a table, which is passed by reference.
            let passed = &self.signature.params[at].ty.kind;
            let was_table = matches!(
                self.axes(&self.signature.params[at].ty),
                Some((axes, _)) if !axes.is_empty()
            );
            let ty = match (passed, &ty.kind) {
                (TypeKind::Ref { mutable, .. }, _) => self.ty(TypeKind::Ref {
                    mutable: *mutable,
                    inner: Box::new(ty),
                }),
                (_, TypeKind::Table(..)) if !was_table => self.reference(ty),
                _ => ty,
            };
            self.signature.params[at].ty = ty;
        }
        let value = match &value.kind {
            TypeKind::Tuple(parts) if parts.is_empty() => value.clone(),
            _ => self.mapped(value, &axis)?,
        };
        self.signature.generics.insert(
            0,
            Generic {
                name,
                kind: GenericKind::IndexSet,
            },
        );
        Some(value)
    }

    /// The table of values of a type, behind no reference.
    fn mapped(&self, ty: &Type, axis: &Set) -> Option<Type> {
        match &ty.kind {
            TypeKind::Scalar(_) | TypeKind::Set(_) => {
                Some(self.table(vec![axis.clone()], ty.clone()))
            }
            TypeKind::Path(path, args) => match (self.generic(path), self.definition(path, args)) {
                (Some(GenericKind::IndexSet | GenericKind::Float), _)
                | (
                    None,
                    Some(
                        TypeDefKind::NominalSet
                        | TypeDefKind::EnumSet(_)
                        | TypeDefKind::ProductSet(_),
                    ),
                ) => Some(self.table(vec![axis.clone()], ty.clone())),
                (None, Some(TypeDefKind::Alias(inner))) => self.mapped(&inner, axis),
                (None, Some(TypeDefKind::Struct(_))) => {
                    Some(self.ty(TypeKind::Tables(axis.clone(), Box::new(ty.clone()))))
                }
                (Some(GenericKind::Const | GenericKind::Function(..)), _)
                | (None, Some(TypeDefKind::Enum(_)) | None) => None,
            },
            TypeKind::Table(set, element) => {
                let axes = [vec![axis.clone()], self.atoms(set)].concat();
                Some(self.table(axes, (**element).clone()))
            }
            TypeKind::Tables(set, element) => {
                let axes = [vec![axis.clone()], self.atoms(set)].concat();
                let set = self.product(axes)?;
                Some(self.ty(TypeKind::Tables(set, element.clone())))
            }
            TypeKind::Array(..) => match self.owned(ty) {
                Type {
                    kind: TypeKind::Array(..),
                    ..
                } => None,
                table => self.mapped(&table, axis),
            },
            TypeKind::Tuple(parts) if !parts.is_empty() => {
                let parts = parts.iter().map(|part| self.mapped(part, axis));
                Some(self.ty(TypeKind::Tuple(parts.collect::<Option<_>>()?)))
            }
            TypeKind::Ref { inner, .. } => self.mapped(inner, axis),
            TypeKind::Tuple(_)
            | TypeKind::Ragged(..)
            | TypeKind::Extent(_)
            | TypeKind::Accum(_)
            | TypeKind::Function(..)
            | TypeKind::OneOf(_)
            | TypeKind::Infer => None,
        }
    }
}
