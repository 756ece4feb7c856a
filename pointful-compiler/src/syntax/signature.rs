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
//! One of several is bare, several are a tuple. What has no derivative, integers, truth values, members and extents, has no
//! cotangent either: a tuple's cotangent is that of its other parts. A struct's is the struct.
//!
//! Tangents and cotangents are passed as values are: scalars by value, tables and structs by reference. They have names,
//! so that the next transformation can choose among them: `x_tan` for the tangent of `x`, `ct` for the cotangent of the result,
//! `ct_0`, `ct_1`, … for those of a tuple's parts.
//!
//! Nothing is reported here. What has no signature is what lowering refuses, and there the message is made.

use proc_macro2::{Ident, Span};

use crate::ir::Scalar;
use crate::syntax::tree::{
    Function, Generic, GenericKind, Param, Set, SetKind, Transform, Transformed, Type, TypeDef,
    TypeDefKind, TypeKind, path_key,
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

/// The signature of a transformed function: `function` is what the innermost transformation applies to, `types` what its scope
/// refers to. `None` where there is none: nothing is differentiable, `wrt` names no parameter, the result is not a scalar.
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
                let result = self.tuple(vec![value.clone(), self.tangent(&value)?]);
                self.add_tangents()?;
                result
            }
            // The map has no type that could be written; what it takes and gives is told by `linear_map`.
            "linearize" => return None,
            "jacobian" => {
                let with = self.cotangents()?;
                self.jacobian(&self.tangent(&value)?, &with)?
            }
            "hessian" => {
                self.scalar(&value)?;
                let with = self.cotangents()?;
                self.jacobian(&with, &with)?
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
        let name = path.get_ident()?;
        let generics = &self.signature.generics;
        generics
            .iter()
            .find(|generic| generic.name == *name)
            .map(|generic| &generic.kind)
    }

    fn definition(&self, path: &syn::Path) -> Option<&TypeDefKind> {
        let key = path_key(path);
        let scope = &self.function.scope.types;
        let (_, id) = scope.iter().find(|(name, _)| *name == key)?;
        Some(&self.types.get(*id)?.kind)
    }

    /// The type of the derivatives of values of a type, if they have any.
    fn tangent(&self, ty: &Type) -> Option<Type> {
        match &ty.kind {
            TypeKind::Scalar(Scalar::F32 | Scalar::F64) => Some(ty.clone()),
            TypeKind::Scalar(_) => None,
            TypeKind::Path(path) => match self.generic(path) {
                Some(GenericKind::Float) => Some(ty.clone()),
                Some(GenericKind::IndexSet | GenericKind::Const | GenericKind::Function(..)) => {
                    None
                }
                None => match self.definition(path)? {
                    TypeDefKind::Struct(fields) => fields
                        .iter()
                        .any(|(_, field)| self.tangent(field).is_some())
                        .then(|| ty.clone()),
                    TypeDefKind::Alias(inner) if self.is_smooth(inner) => Some(ty.clone()),
                    TypeDefKind::Alias(inner) => self.tangent(inner),
                    TypeDefKind::NominalSet
                    | TypeDefKind::EnumSet(_)
                    | TypeDefKind::ProductSet(_) => None,
                },
            },
            TypeKind::Table(_, element) => self.tangent(element).map(|_| ty.clone()),
            TypeKind::Tuple(parts) => {
                let parts: Vec<_> = parts.iter().filter_map(|part| self.tangent(part)).collect();
                (!parts.is_empty()).then(|| self.tuple(parts))
            }
            TypeKind::Array(element, length) => {
                let element = self.tangent(element)?;
                let set = Set {
                    kind: SetKind::Fin(length.clone()),
                    span: ty.span,
                };
                let (inner, element) = self.axes(&element)?;
                Some(self.table([vec![set], inner].concat(), element))
            }
            TypeKind::Ref { inner, .. } => self.tangent(inner),
            TypeKind::Set(_) | TypeKind::Extent(_) | TypeKind::Function(..) | TypeKind::Infer => {
                None
            }
        }
    }

    /// Whether a type is that of its derivatives.
    fn is_smooth(&self, ty: &Type) -> bool {
        match &ty.kind {
            TypeKind::Tuple(parts) => {
                !parts.is_empty() && parts.iter().all(|part| self.is_smooth(part))
            }
            TypeKind::Array(..) | TypeKind::Ref { .. } => false,
            TypeKind::Scalar(_)
            | TypeKind::Path(_)
            | TypeKind::Table(..)
            | TypeKind::Set(_)
            | TypeKind::Extent(_)
            | TypeKind::Function(..)
            | TypeKind::Infer => self.tangent(ty).is_some(),
        }
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
            TypeKind::Path(path) => match (self.generic(path), self.definition(path)) {
                (Some(_), _) => Some((Vec::new(), ty.clone())),
                (None, Some(TypeDefKind::Alias(inner))) => self.axes(inner),
                (None, _) => None,
            },
            TypeKind::Table(set, element) => {
                let (inner, element) = self.axes(element)?;
                Some(([self.atoms(set), inner].concat(), element))
            }
            TypeKind::Ref { inner, .. } => self.axes(inner),
            TypeKind::Set(_)
            | TypeKind::Extent(_)
            | TypeKind::Tuple(_)
            | TypeKind::Array(..)
            | TypeKind::Function(..)
            | TypeKind::Infer => None,
        }
    }

    /// The factors of a set.
    fn atoms(&self, set: &Set) -> Vec<Set> {
        match &set.kind {
            SetKind::Product(parts) => parts.iter().flat_map(|part| self.atoms(part)).collect(),
            SetKind::Unit => Vec::new(),
            SetKind::Path(path) => match (self.generic(path), self.definition(path)) {
                (None, Some(TypeDefKind::Alias(inner))) => match set_of(inner) {
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

    fn product(&self, mut axes: Vec<Set>) -> Option<Set> {
        if axes.len() > FACTORS {
            let rest = self.product(axes.split_off(FACTORS - 1));
            axes.extend(rest);
        }
        if axes.len() < 2 {
            return axes.pop();
        }
        Some(Set {
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
        let every = |param: &Param| !param.constant && self.tangent(&param.ty).is_some();
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
            self.add(&format!("{}_tan", param.name), ty, by_reference);
        }
        Some(())
    }

    fn add_cotangents(&mut self, value: &Type) -> Option<()> {
        let parts = match &value.kind {
            TypeKind::Tuple(parts) => parts.iter().filter_map(|part| self.tangent(part)).collect(),
            _ => vec![self.tangent(value)?],
        };
        if parts.is_empty() {
            return None;
        }
        let one = parts.len() == 1;
        for (at, part) in parts.into_iter().enumerate() {
            let name = if one {
                "ct".to_owned()
            } else {
                format!("ct_{at}")
            };
            self.add(&name, part, false);
        }
        Some(())
    }

    /// One more parameter, passed as a value of its type is.
    fn add(&mut self, name: &str, ty: Type, by_reference: bool) {
        let tuple = matches!(ty.kind, TypeKind::Tuple(_));
        let scalar = self.axes(&ty).is_some_and(|(axes, _)| axes.is_empty());
        let ty = if scalar || (tuple && !by_reference) {
            ty
        } else {
            self.reference(ty)
        };
        let name = self.fresh(name, |known| {
            self.signature
                .params
                .iter()
                .any(|param| param.name == known)
        });
        self.signature.params.push(Param {
            name,
            ty,
            mutable: false,
            constant: false,
        });
    }

    fn reference(&self, ty: Type) -> Type {
        self.ty(TypeKind::Ref {
            mutable: false,
            inner: Box::new(ty),
        })
    }

    /// The name, with as many underscores as make it new.
    fn fresh(&self, name: &str, taken: impl Fn(&str) -> bool) -> Ident {
        let mut name = name.trim_start_matches("r#").to_owned();
        while taken(&name) {
            name.push('_');
        }
        Ident::new(&name, self.span)
    }

    // ---- Jacobians ----

    fn jacobian(&self, of: &Type, with: &Type) -> Option<Type> {
        let each = |parts: &[Type], one: &dyn Fn(&Type) -> Option<Type>| {
            let parts = parts.iter().map(one).collect::<Option<Vec<_>>>()?;
            Some(self.ty(TypeKind::Tuple(parts)))
        };
        match (&of.kind, &with.kind) {
            (TypeKind::Tuple(parts), _) => each(parts, &|part| self.jacobian(part, with)),
            (_, TypeKind::Tuple(parts)) => each(parts, &|part| self.jacobian(of, part)),
            _ => {
                let (rows, element) = self.axes(of)?;
                let (columns, _) = self.axes(with)?;
                Some(self.table([rows, columns].concat(), element))
            }
        }
    }

    // ---- vmap ----

    /// Puts an axis in front of the chosen parameters; what becomes of the result.
    fn map(&mut self, value: &Type) -> Option<Type> {
        let name = self.fresh("Lanes", |known| {
            let generics = &self.signature.generics;
            let types = &self.function.scope.types;
            generics.iter().any(|generic| generic.name == known)
                || types.iter().any(|(name, _)| name == known)
        });
        let axis = Set {
            kind: SetKind::Path(name.clone().into()),
            span: self.span,
        };
        for at in self.chosen(|param| self.mapped(&param.ty, &axis).is_some())? {
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
            TypeKind::Path(path) => match (self.generic(path), self.definition(path)) {
                (Some(GenericKind::IndexSet | GenericKind::Float), _)
                | (
                    None,
                    Some(
                        TypeDefKind::NominalSet
                        | TypeDefKind::EnumSet(_)
                        | TypeDefKind::ProductSet(_),
                    ),
                ) => Some(self.table(vec![axis.clone()], ty.clone())),
                (None, Some(TypeDefKind::Alias(inner))) => self.mapped(inner, axis),
                (Some(GenericKind::Const | GenericKind::Function(..)), _)
                | (None, Some(TypeDefKind::Struct(_)) | None) => None,
            },
            TypeKind::Table(set, element) => {
                let axes = [vec![axis.clone()], self.atoms(set)].concat();
                Some(self.table(axes, (**element).clone()))
            }
            TypeKind::Tuple(parts) if !parts.is_empty() => {
                let parts = parts.iter().map(|part| self.mapped(part, axis));
                Some(self.ty(TypeKind::Tuple(parts.collect::<Option<_>>()?)))
            }
            TypeKind::Ref { inner, .. } => self.mapped(inner, axis),
            TypeKind::Tuple(_)
            | TypeKind::Array(..)
            | TypeKind::Extent(_)
            | TypeKind::Function(..)
            | TypeKind::Infer => None,
        }
    }
}

/// The set whose members a type has.
fn set_of(ty: &Type) -> Option<Set> {
    let kind = match &ty.kind {
        TypeKind::Path(path) => SetKind::Path(path.clone()),
        TypeKind::Set(set) => return Some((**set).clone()),
        TypeKind::Scalar(Scalar::Bool) => SetKind::Bool,
        TypeKind::Tuple(parts) if parts.is_empty() => SetKind::Unit,
        TypeKind::Tuple(parts) => {
            SetKind::Product(parts.iter().map(set_of).collect::<Option<_>>()?)
        }
        TypeKind::Scalar(_)
        | TypeKind::Table(..)
        | TypeKind::Extent(_)
        | TypeKind::Array(..)
        | TypeKind::Ref { .. }
        | TypeKind::Function(..)
        | TypeKind::Infer => return None,
    };
    Some(Set {
        kind,
        span: ty.span,
    })
}
