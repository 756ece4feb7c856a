//! The root's parameters.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::one_of::has_kinds;
use super::value::{Space, Val};
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::interface::{Access, Carrier, ExtentSource, Field, ParamSource};
use crate::ir::{Elem, Extent, SpanId, Type};
use crate::lower::hir::{Function, Origin};
use crate::lower::types::{Set, Ty};
use crate::syntax::tree::path_key;
use crate::syntax::tree::{self, TypeDefKind, TypeKind};

impl<'a> Elab<'a> {
    /// Binds sizes, then parameters.
    pub(super) fn signature(&mut self, function: &'a Function<'a>) -> Run<()> {
        for (k, generic) in function.tree.generics.iter().enumerate() {
            if let tree::GenericKind::Const = generic.kind {
                let name = &generic.name;
                let source = ExtentSource {
                    carrier: Carrier::Static(fin(&quote!(#name))),
                    path: Vec::new(),
                    set: format!("Fin<{name}>"),
                };
                let size = self.new_size(&name.to_string(), source);
                self.frame.sets[k] = Some(Space::Axis(Extent::Size(size)));
            }
        }
        let params: Vec<(Ty, &'a tree::Param)> = function
            .params
            .iter()
            .zip(&function.tree.params)
            .map(|(id, param)| (self.ty(&function.locals[id.0 as usize].ty), param))
            .collect();
        for (ty, param) in &params {
            self.carriers(ty, &param.ty, &access(&param.name))?;
        }
        for ((ty, param), id) in params.iter().zip(&function.params) {
            let local = &function.locals[id.0 as usize];
            // A function that is returned may be called more than once, each time with what the root was given.
            if local.origin == Origin::Exclusive && self.has_ragged(ty) {
                return self.fail(say::ragged_exclusive(
                    param.name.span(),
                    &param.name.to_string(),
                ));
            }
            if local.origin == Origin::Exclusive && has_kinds(ty) {
                return self.fail(say::one_of_exclusive(
                    param.name.span(),
                    &param.name.to_string(),
                ));
            }
            let owned = local.origin != Origin::Shared && self.interface.returned.is_none();
            let val =
                self.parameter(ty, &param.ty, access(&param.name), owned, param.name.span())?;
            self.frame.env[id.0 as usize] = Some(val);
        }
        Ok(())
    }

    /// A type as written, behind references and aliases.
    pub(super) fn unalias(&self, ty: &'a tree::Type) -> &'a tree::Type {
        match &ty.kind {
            TypeKind::Ref { inner, .. } => self.unalias(inner),
            TypeKind::Path(path, _) => {
                let last = path.segments.last().map(|s| s.ident.to_string());
                let name = path_key(path);
                let scope = &self.functions[self.frame.function].tree.scope.types;
                let id = scope
                    .iter()
                    .find(|(n, _)| *n == name)
                    .map(|(_, id)| *id)
                    .or_else(|| {
                        self.linked
                            .types
                            .iter()
                            .position(|t| Some(t.name.to_string()) == last)
                    });
                match id.map(|id| &self.linked.types[id].item.kind) {
                    Some(TypeDefKind::Alias(inner)) => self.unalias(inner),
                    _ => ty,
                }
            }
            _ => ty,
        }
    }

    pub(super) fn fields(&self, id: usize) -> &'a [(Ident, tree::Type)] {
        match &self.linked.types[id].item.kind {
            TypeDefKind::Struct(fields) | TypeDefKind::ProductSet(fields) => fields,
            TypeDefKind::Enum(item) => &item.sum,
            TypeDefKind::NominalSet | TypeDefKind::EnumSet(_) | TypeDefKind::Alias(_) => &[],
        }
    }

    /// A field of a struct. What the function itself names rustc resolves, as the user wrote it;
    /// what it does not name may be private where it stands.
    pub(super) fn field(&self, access: &Access, id: usize, k: usize) -> Access {
        let (name, _) = &self.fields(id)[k];
        if let TypeDefKind::Enum(_) = self.linked.types[id].item.kind {
            return stepped(access, Field::Sum, &name.to_string());
        }
        let named = self.named_fields.iter().find(|known| *known == name);
        let field = match named {
            Some(name) => Field::Named(syn::Member::Named(name.clone())),
            None if self.linked.types[id].item.hidden.contains(name) => Field::Hidden(k),
            None => Field::Named(syn::Member::Named(name.clone())),
        };
        stepped(access, field, &name.to_string())
    }

    // ---- parameters ----

    pub(super) fn parameter(
        &mut self,
        ty: &Ty,
        written: &'a tree::Type,
        access: Access,
        owned: bool,
        span: Span,
    ) -> Run<Val<'a>> {
        let written = self.unalias(written);
        let at = SpanId::NONE;
        match ty {
            Ty::Scalar(_) | Ty::Float(_) => {
                let scalar = Type::scalar(Elem::Scalar(self.scalar(ty, at)?));
                let generic = match ty {
                    Ty::Float(k) => Some(self.generic_name(*k)),
                    _ => None,
                };
                let source = ParamSource::Scalar(access.clone(), generic);
                Ok(self.declare(scalar, source, &access, false))
            }
            Ty::Member(Set::Record(id, sets)) => {
                let mut parts = Vec::new();
                for (k, (set, (_, inner))) in sets.iter().zip(self.fields(*id)).enumerate() {
                    let part = self.functions[self.frame.function].solver.member(set);
                    let access = self.field(&access, *id, k);
                    parts.push(self.parameter(&part, inner, access, owned, span)?);
                }
                Ok(Val::Tuple(parts))
            }
            Ty::Member(set) => {
                let extent = self.one_axis(set, span)?;
                let shape = self.set_shape(set)?;
                // Of an empty set there is none.
                let ty = Type::scalar(match access.is_held() {
                    true => Elem::USIZE,
                    false => Elem::Index(extent),
                });
                Ok(self.declare(
                    ty,
                    ParamSource::Index(access.clone(), shape),
                    &access,
                    false,
                ))
            }
            Ty::Table(_, elem) if is_tables(written, elem) => {
                self.parameter(&self.outside(ty), written, access, owned, span)
            }
            Ty::Table(groups, elem) => {
                let dims = self.axes(groups, at)?;
                let members = self.product_of(elem, at)?;
                let elem = match (&**elem, &members) {
                    (_, Some(space)) => Elem::Index(self.flat_extent(&space.axes(), at)?),
                    (scalar @ (Ty::Scalar(_) | Ty::Float(_)), None) => {
                        Elem::Scalar(self.scalar(scalar, at)?)
                    }
                    (Ty::Member(set), None) => Elem::Index(self.one_axis(set, span)?),
                    (other, None) => {
                        let shown = self.printer().ty(other);
                        return self.fail(say::table_elements(
                            span,
                            &shown,
                            matches!(other, Ty::Struct(..)),
                        ));
                    }
                };
                let array = matches!(written.kind, TypeKind::Array(..));
                let is_ragged = self.is_ragged(ty);
                let owned = owned && !is_ragged;
                let access = self.elements_of(ty, &access);
                let source = if array {
                    ParamSource::Array(access.clone(), dims.len())
                } else if owned {
                    ParamSource::Owned(access.clone())
                } else {
                    ParamSource::Table(access.clone())
                };
                let ty = Type::table(elem, dims.clone());
                let table = self.declare(ty, source, &access, owned && !array);
                match members {
                    Some(space) => self.opened(&table, &dims, &space),
                    None => Ok(table),
                }
            }
            Ty::Tuple(types) => {
                let mut parts = Vec::new();
                for (k, part) in types.iter().enumerate() {
                    let inner = part_type(written, k);
                    parts.push(self.parameter(part, inner, step(&access, k), owned, span)?);
                }
                Ok(Val::Tuple(parts))
            }
            Ty::Struct(id, types) => {
                let mut parts = Vec::new();
                for (k, (part, (_, inner))) in types.iter().zip(self.fields(*id)).enumerate() {
                    let access = self.field(&access, *id, k);
                    let inner = field_type(written, inner);
                    if let Some(Field::Sum) = access.fields.last() {
                        self.held_outside(part, span)?;
                        parts.push(self.sum_parameter(part, inner, access, span)?);
                        continue;
                    }
                    parts.push(self.parameter(part, inner, access, owned, span)?);
                }
                Ok(Val::Tuple(parts))
            }
            Ty::Extent(set) => Ok(Val::Extent(self.space(set, at)?)),
            Ty::Function(params, result) => self.unknown(params, result, written, access, span),
            Ty::Accum(_) => self.fail(say::accum_from_outside(span, &access.name)),
            Ty::Option(_) | Ty::Either(_) => self.one_of_parameter(ty, written, access, span),
            Ty::Offset(_) | Ty::Var(_) | Ty::Error => self.bug(at, "a parameter of no type"),
        }
    }

    /// The name of a generic of the root.
    fn generic_name(&self, k: usize) -> Ident {
        self.functions[self.frame.function].tree.generics[k]
            .name
            .clone()
    }

    pub(super) fn one_axis(&mut self, set: &Set, span: Span) -> Run<Extent> {
        if let Set::Param(k) = set
            && self.frame.sets[*k].is_none()
        {
            let name = self.printer().set(set);
            return self.fail(say::undetermined_extent(span, &name));
        }
        match self
            .axes(std::slice::from_ref(set), SpanId::NONE)?
            .as_slice()
        {
            [one] => Ok(*one),
            _ => {
                let shown = self.printer().set(set);
                self.fail(say::not_available(
                    span,
                    &format!("a table of members of `{shown}`"),
                ))
            }
        }
    }

    pub(super) fn declare(
        &mut self,
        ty: Type<Extent>,
        source: ParamSource,
        access: &Access,
        owned: bool,
    ) -> Val<'a> {
        let plain: String = access
            .name
            .chars()
            .map(|c| if c.is_alphanumeric() { c } else { '_' })
            .collect();
        let name = self.unique(&plain);
        self.interface.params.push(source);
        Val::Leaf(self.program.param(name, ty, owned, SpanId::NONE))
    }
}

/// `Fin<len>` as a type.
pub(super) fn fin(len: &TokenStream) -> TokenStream {
    quote!(::pointful::__private::Fin<{ #len }>)
}

pub(super) fn access(name: &Ident) -> Access {
    Access {
        root: quote!(#name),
        fields: Vec::new(),
        name: name.to_string(),
    }
}

/// A part of a tuple.
pub(super) fn step(access: &Access, k: usize) -> Access {
    stepped(access, Field::Named(syn::Member::from(k)), &k.to_string())
}

pub(super) fn stepped(access: &Access, field: Field, name: &str) -> Access {
    let mut access = access.clone();
    access.name = format!("{}.{name}", access.name);
    access.fields.push(field);
    access
}

/// The part of a tuple type as written.
pub(super) fn part_type(written: &tree::Type, k: usize) -> &tree::Type {
    match &written.kind {
        TypeKind::Tuple(parts) => parts.get(k).unwrap_or(written),
        _ => written,
    }
}

/// The type of a field as written. Inside of `Tables` each field is what they make of it.
pub(super) fn field_type<'a>(written: &'a tree::Type, field: &'a tree::Type) -> &'a tree::Type {
    match written.kind {
        TypeKind::Tables(..) => written,
        _ => field,
    }
}

/// Whether a table of these is written as the struct of tables that it is outside of bodies.
pub(super) fn is_tables(written: &tree::Type, element: &Ty) -> bool {
    matches!(written.kind, TypeKind::Tables(..)) && matches!(element, Ty::Struct(..))
}

impl<'a> Elab<'a> {
    /// The struct of tables that a table of structs is outside of bodies.
    pub(super) fn outside(&self, ty: &Ty) -> Ty {
        match ty {
            Ty::Table(groups, elem) => match &**elem {
                Ty::Struct(id, parts) => {
                    self.struct_columns(&Set::product(groups.clone()), *id, parts)
                }
                _ => ty.clone(),
            },
            _ => ty.clone(),
        }
    }

    fn struct_columns(&self, lanes: &Set, id: usize, parts: &[Ty]) -> Ty {
        let fields = self.fields(id);
        let parts = parts.iter().zip(fields);
        let columns = parts.map(|(part, (_, written))| self.column(lanes, part, written));
        Ty::Struct(id, columns.collect())
    }

    /// What a field becomes where there is one struct for each member of a set. That is one axis of
    /// the table's set; the field's own table has as many as it was written with.
    fn column(&self, lanes: &Set, ty: &Ty, written: &'a tree::Type) -> Ty {
        let written = self.unalias(written);
        match ty {
            Ty::Struct(id, parts) => self.struct_columns(lanes, *id, parts),
            Ty::Tuple(parts) => {
                let columns = parts.iter().enumerate();
                let columns =
                    columns.map(|(k, part)| self.column(lanes, part, part_type(written, k)));
                Ty::Tuple(columns.collect())
            }
            Ty::Table(groups, elem) => {
                let is_product = matches!(
                    &written.kind,
                    TypeKind::Table(set, _) | TypeKind::Tables(set, _)
                        if matches!(set.kind, tree::SetKind::Product(_))
                );
                let mut factors = vec![lanes.clone()];
                for group in groups {
                    match group {
                        Set::Product(parts) if is_product => factors.extend(parts.clone()),
                        group => factors.push(group.clone()),
                    }
                }
                let whole = Set::product(factors);
                match &**elem {
                    Ty::Struct(id, parts) => self.struct_columns(&whole, *id, parts),
                    elem => Ty::Table(vec![whole], Box::new(elem.clone())),
                }
            }
            other => Ty::Table(vec![lanes.clone()], Box::new(other.clone())),
        }
    }
}
