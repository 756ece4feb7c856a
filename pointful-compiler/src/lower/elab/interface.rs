//! The root's signature: sizes, parameters, constants and the result.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::value::{Space, Val};
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::interface::{Access, Carrier, ExtentSource, ParamSource, SetShape, Shape};
use crate::ir::{Elem, Extent, Scalar, SizeId, SpanId, Type};
use crate::lower::Constant;
use crate::lower::hir::{self, Function, Origin};
use crate::lower::types::{Len, Set, Ty, enum_len};
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
            self.carriers(ty, &param.ty, &access(&param.name), param.name.span())?;
        }
        for ((ty, param), id) in params.iter().zip(&function.params) {
            let local = &function.locals[id.0 as usize];
            let owned = local.origin != Origin::Shared;
            let val =
                self.parameter(ty, &param.ty, access(&param.name), owned, param.name.span())?;
            self.frame.env[id.0 as usize] = Some(val);
        }
        Ok(())
    }

    // ---- sizes ----

    fn unique(&self, name: &str) -> String {
        let taken = |name: &str| {
            self.program.sizes.iter().any(|s| s.name == name)
                || self.program.params.iter().any(|p| p.name == name)
        };
        let mut candidate = name.to_owned();
        let mut number = 1;
        while taken(&candidate) {
            number += 1;
            candidate = format!("{name}_{number}");
        }
        candidate
    }

    fn new_size(&mut self, name: &str, source: ExtentSource) -> SizeId {
        let name = self.unique(name);
        self.interface.extents.push(source);
        self.program.size(name)
    }

    /// The size of `Fin<NAME>`.
    pub(super) fn length(&mut self, name: &str) -> Extent {
        if let Some((_, size)) = self.lengths.iter().find(|(n, _)| n == name) {
            return Extent::Size(*size);
        }
        let value = self.constant_tokens(name);
        let source = ExtentSource {
            carrier: Carrier::Static(fin(&value)),
            path: Vec::new(),
            set: format!("Fin<{name}>"),
        };
        let last = name.rsplit("::").next().unwrap_or(name).to_owned();
        let size = self.new_size(&last, source);
        self.lengths.push((name.to_owned(), size));
        Extent::Size(size)
    }

    /// Finds the extents that a parameter carries.
    fn carriers(
        &mut self,
        ty: &Ty,
        written: &'a tree::Type,
        access: &Access,
        span: Span,
    ) -> Run<()> {
        let written = self.unalias(written);
        match ty {
            Ty::Table(groups, elem) => {
                if matches!(written.kind, TypeKind::Array(..)) {
                    return Ok(());
                }
                let set = Set::product(groups.clone());
                self.carried(&set, &mut Vec::new(), &Carrier::Table(access.clone()), span)?;
                if let Ty::Member(set) = &**elem {
                    self.carried(
                        set,
                        &mut Vec::new(),
                        &Carrier::Elements(access.clone()),
                        span,
                    )?;
                }
                Ok(())
            }
            Ty::Extent(set) => {
                self.carried(set, &mut Vec::new(), &Carrier::Extent(access.clone()), span)
            }
            Ty::Tuple(parts) => {
                for (k, part) in parts.iter().enumerate() {
                    let (member, inner) = (syn::Member::from(k), part_type(written, k));
                    self.carriers(part, inner, &step(access, member), span)?;
                }
                Ok(())
            }
            Ty::Struct(id, parts) => {
                for (part, (name, inner)) in parts.iter().zip(self.fields(*id)) {
                    let member = syn::Member::Named(name.clone());
                    self.carriers(part, inner, &step(access, member), span)?;
                }
                Ok(())
            }
            Ty::Scalar(_)
            | Ty::Float(_)
            | Ty::Member(_)
            | Ty::Offset(_)
            | Ty::Function(..)
            | Ty::Accum(_)
            | Ty::Option(_)
            | Ty::Var(_)
            | Ty::Error => Ok(()),
        }
    }

    fn carried(
        &mut self,
        set: &Set,
        path: &mut Vec<usize>,
        carrier: &Carrier,
        span: Span,
    ) -> Run<()> {
        if let Set::Product(parts) | Set::Record(_, parts) = set {
            for (k, part) in parts.iter().enumerate() {
                path.push(k);
                self.carried(part, path, carrier, span)?;
                path.pop();
            }
            return Ok(());
        }
        if let Set::Either(a, b) = set {
            for (k, part) in [a, b].into_iter().enumerate() {
                path.push(k);
                self.carried(part, path, carrier, span)?;
                path.pop();
            }
            let at = SpanId::NONE;
            let (a, b) = (self.space(a, at)?.axes(), self.space(b, at)?.axes());
            let key = (a.clone(), b.clone());
            let constant = |axes: &[Extent]| axes.iter().all(|e| matches!(e, Extent::Const(_)));
            if !self.unions.contains_key(&key) && !(constant(&a) && constant(&b)) {
                let source = ExtentSource {
                    carrier: carrier.clone(),
                    path: path.clone(),
                    set: self.printer().set(set),
                };
                let size = self.new_size("Either", source);
                self.unions.insert(key, Extent::Size(size));
            }
            return Ok(());
        }
        let name = match set {
            Set::Var(_) => "Dyn".to_owned(),
            set => self.printer().set(set),
        };
        let source = ExtentSource {
            carrier: carrier.clone(),
            path: path.clone(),
            set: name.clone(),
        };
        let known = match set {
            Set::Param(k) => self.frame.sets[*k].clone(),
            Set::Named(id) if enum_len(self.linked, *id).is_none() => self
                .named
                .get(id)
                .map(|size| Space::Axis(Extent::Size(*size))),
            Set::Var(_) => self.frame.inner.get(set).cloned(),
            Set::Named(_)
            | Set::Fin(_)
            | Set::Bool
            | Set::Range(_)
            | Set::Product(_)
            | Set::Record(..)
            | Set::Either(..)
            | Set::Error => return Ok(()),
        };
        if let Some(space) = known {
            if let Space::Axis(Extent::Size(size)) = space {
                self.interface.checks.push((size, source));
            }
            return Ok(());
        }
        let size = self.new_size(&name, source);
        let space = Space::Axis(Extent::Size(size));
        match set {
            Set::Param(k) => self.frame.sets[*k] = Some(space),
            Set::Named(id) => {
                self.named.insert(*id, size);
            }
            other => {
                self.frame.inner.insert(other.clone(), space);
            }
        }
        Ok(())
    }

    /// A type as written, behind references and aliases.
    fn unalias(&self, ty: &'a tree::Type) -> &'a tree::Type {
        match &ty.kind {
            TypeKind::Ref { inner, .. } => self.unalias(inner),
            TypeKind::Path(path) => {
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
                match id.map(|id| &self.linked.types[id].kind) {
                    Some(TypeDefKind::Alias(inner)) => self.unalias(inner),
                    _ => ty,
                }
            }
            _ => ty,
        }
    }

    fn fields(&self, id: usize) -> &'a [(Ident, tree::Type)] {
        match &self.linked.types[id].kind {
            TypeDefKind::Struct(fields) | TypeDefKind::ProductSet(fields) => fields,
            TypeDefKind::NominalSet | TypeDefKind::EnumSet(_) | TypeDefKind::Alias(_) => &[],
        }
    }

    // ---- parameters ----

    fn parameter(
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
            Ty::Scalar(s) => {
                let ty = Type::scalar(Elem::Scalar(*s));
                // A table over `()` is its one element.
                let (source, owned) = match written.kind {
                    TypeKind::Table(..) if owned => (ParamSource::Owned(access.clone()), true),
                    TypeKind::Table(..) => (ParamSource::Table(access.clone()), false),
                    _ => (ParamSource::Scalar(access.clone()), false),
                };
                Ok(self.declare(ty, source, &access, owned))
            }
            Ty::Member(Set::Record(id, sets)) => {
                let mut parts = Vec::new();
                for (set, (name, inner)) in sets.iter().zip(self.fields(*id)) {
                    let member = syn::Member::Named(name.clone());
                    let part = self.functions[self.frame.function].solver.member(set);
                    parts.push(self.parameter(&part, inner, step(&access, member), owned, span)?);
                }
                Ok(Val::Tuple(parts))
            }
            Ty::Member(set) => {
                let extent = self.one_axis(set, span)?;
                let shape = self.set_shape(set, span)?;
                let ty = Type::scalar(Elem::Index(extent));
                Ok(self.declare(
                    ty,
                    ParamSource::Index(access.clone(), shape),
                    &access,
                    false,
                ))
            }
            Ty::Table(groups, elem) => {
                let dims = self.axes(groups, at)?;
                let elem = match &**elem {
                    Ty::Scalar(s) => Elem::Scalar(*s),
                    Ty::Member(set) => Elem::Index(self.one_axis(set, span)?),
                    Ty::Float(_) => {
                        return self.fail(say::not_available(
                            span,
                            "a generic float where nothing says which",
                        ));
                    }
                    other => {
                        let shown = self.printer().ty(other);
                        return self.fail(say::not_available(
                            span,
                            &format!("a table of `{shown}` as a parameter"),
                        ));
                    }
                };
                let array = matches!(written.kind, TypeKind::Array(..));
                let source = if array {
                    ParamSource::Array(access.clone(), dims.len())
                } else if owned {
                    ParamSource::Owned(access.clone())
                } else {
                    ParamSource::Table(access.clone())
                };
                Ok(self.declare(Type::table(elem, dims), source, &access, owned && !array))
            }
            Ty::Tuple(types) => {
                let mut parts = Vec::new();
                for (k, part) in types.iter().enumerate() {
                    let member = syn::Member::from(k);
                    let inner = part_type(written, k);
                    parts.push(self.parameter(part, inner, step(&access, member), owned, span)?);
                }
                Ok(Val::Tuple(parts))
            }
            Ty::Struct(id, types) => {
                let mut parts = Vec::new();
                for (part, (name, inner)) in types.iter().zip(self.fields(*id)) {
                    let member = syn::Member::Named(name.clone());
                    parts.push(self.parameter(part, inner, step(&access, member), owned, span)?);
                }
                Ok(Val::Tuple(parts))
            }
            Ty::Extent(set) => Ok(Val::Extent(self.space(set, at)?)),
            Ty::Float(_) => self.fail(say::not_available(
                span,
                "a generic float where nothing says which",
            )),
            Ty::Function(..) => self.fail(say::not_available(
                span,
                "a function that only the caller knows",
            )),
            Ty::Offset(_) | Ty::Accum(_) | Ty::Option(_) | Ty::Var(_) | Ty::Error => {
                self.bug(at, "a parameter of no type")
            }
        }
    }

    fn one_axis(&mut self, set: &Set, span: Span) -> Run<Extent> {
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

    fn declare(
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

    // ---- constants ----

    fn constant_tokens(&self, path: &str) -> TokenStream {
        let scope = &self.functions[self.frame.function].tree.scope;
        match scope.constants.iter().find(|(n, _)| n == path) {
            Some((_, tokens)) => tokens.clone(),
            None => path.parse().unwrap_or_default(),
        }
    }

    /// A constant: a parameter of the program, the same one wherever it is named.
    pub(super) fn constant(&mut self, k: usize, span: SpanId) -> Run<Val<'a>> {
        let constant = &self.functions[self.frame.function].constants[k];
        let path = path_key(&constant.path);
        let root = self.constant_tokens(&path);
        let key = root.to_string();
        if let Some((_, value)) = self.constants.iter().find(|(n, _)| *n == key) {
            return Ok(Val::Leaf(*value));
        }
        let access = Access {
            root,
            fields: Vec::new(),
            name: path.rsplit("::").next().unwrap_or(&path).to_owned(),
        };
        let (ty, source) = match self.ty(&constant.ty) {
            Ty::Table(groups, elem) => {
                let dims = self.axes(&groups, span)?;
                let scalar = self.scalar(&elem, span)?;
                if self.array_type(&groups, scalar).is_none() {
                    let span = self.at(span);
                    return self.fail(say::constant_table(span));
                }
                let rank = dims.len();
                (
                    Type::table(Elem::Scalar(scalar), dims),
                    ParamSource::Array(access.clone(), rank),
                )
            }
            other => {
                let scalar = self.scalar(&other, span)?;
                (
                    Type::scalar(Elem::Scalar(scalar)),
                    ParamSource::Scalar(access.clone()),
                )
            }
        };
        let val = self.declare(ty, source, &access, false);
        let value = self.leaf(&val, span)?;
        self.constants.push((key, value));
        Ok(val)
    }

    /// The type of a constant array over these sets, if they are all `Fin`.
    fn array_type(&self, groups: &[Set], scalar: Scalar) -> Option<TokenStream> {
        let name = Ident::new(scalar.name(), Span::call_site());
        let mut ty = quote!(#name);
        for set in crate::lower::types::atoms(groups).iter().rev() {
            let len = match set {
                Set::Fin(Len::Lit(n)) => {
                    let n = proc_macro2::Literal::u64_unsuffixed(*n);
                    quote!(#n)
                }
                Set::Fin(Len::Const(name)) => self.constant_tokens(name),
                _ => return None,
            };
            ty = quote!([#ty; #len]);
        }
        Some(ty)
    }

    /// The constants that the root names, for its carrier.
    pub(super) fn root_constants(&mut self, function: &'a Function<'a>) -> Run<Vec<Constant>> {
        let mut out = Vec::new();
        for hir::Constant { path, ty, span } in &function.constants {
            let tokens = match self.ty(ty) {
                Ty::Table(groups, elem) => {
                    let scalar = self.scalar(&elem, SpanId::NONE)?;
                    match self.array_type(&groups, scalar) {
                        Some(tokens) => tokens,
                        None => return self.fail(say::constant_table(*span)),
                    }
                }
                other => {
                    let scalar = self.scalar(&other, SpanId::NONE)?;
                    let name = Ident::new(scalar.name(), *span);
                    quote!(#name)
                }
            };
            if let Some(last) = path.segments.last() {
                out.push(Constant {
                    path: path_key(path),
                    name: last.ident.clone(),
                    ty: tokens,
                });
            }
        }
        Ok(out)
    }

    // ---- results ----

    /// Names the results and says how the Rust value is put together from them.
    pub(super) fn results(&mut self, function: &'a Function<'a>, val: &Val<'a>) -> Run<()> {
        let span = function.tree.result.span;
        let ty = self.ty(&function.result);
        let written = self.unalias(&function.tree.result);
        self.interface.result = self.shape(&ty, written, span)?;
        let mut results = self.leaves(val, SpanId::NONE)?;
        for (id, param) in function.params.iter().zip(&function.tree.params) {
            let local = &function.locals[id.0 as usize];
            if local.origin != Origin::Exclusive {
                continue;
            }
            let ty = self.ty(&local.ty);
            self.written_back(&ty, &access(&param.name));
            if let Some(val) = self.frame.env[id.0 as usize].clone() {
                results.extend(self.leaves(&val, SpanId::NONE)?);
            }
        }
        if let Some(open) = self.open.last_mut() {
            open.block.results = results;
        }
        Ok(())
    }

    fn written_back(&mut self, ty: &Ty, access: &Access) {
        match ty {
            Ty::Tuple(parts) => {
                for (k, part) in parts.iter().enumerate() {
                    self.written_back(part, &step(access, syn::Member::from(k)));
                }
            }
            Ty::Struct(id, parts) => {
                for (part, (name, _)) in parts.iter().zip(self.fields(*id)) {
                    self.written_back(part, &step(access, syn::Member::Named(name.clone())));
                }
            }
            Ty::Extent(_) => {}
            _ => self.interface.write_back.push(access.clone()),
        }
    }

    fn shape(&mut self, ty: &Ty, written: &'a tree::Type, span: Span) -> Run<Shape> {
        let written = self.unalias(written);
        Ok(match ty {
            Ty::Scalar(_) if matches!(written.kind, TypeKind::Table(..)) => Shape::Table {
                set: self.set_shape(&Set::UNIT, span)?,
                elements: None,
            },
            Ty::Scalar(_) => Shape::Scalar,
            Ty::Member(set) => Shape::Index(self.set_shape(set, span)?),
            Ty::Table(..) if matches!(written.kind, TypeKind::Array(..)) => {
                return self.fail(say::array_result(span));
            }
            Ty::Table(groups, elem) => Shape::Table {
                set: self.set_shape(&Set::product(groups.clone()), span)?,
                elements: match &**elem {
                    Ty::Member(set) => Some(self.set_shape(set, span)?),
                    Ty::Scalar(_) => None,
                    other => {
                        let shown = self.printer().ty(other);
                        return self.fail(say::not_available(
                            span,
                            &format!("a table of `{shown}` as a result"),
                        ));
                    }
                },
            },
            Ty::Tuple(parts) if parts.is_empty() => Shape::Unit,
            Ty::Tuple(parts) => {
                let mut shapes = Vec::new();
                for (k, part) in parts.iter().enumerate() {
                    shapes.push(self.shape(part, part_type(written, k), span)?);
                }
                Shape::Tuple(shapes)
            }
            Ty::Struct(id, parts) => {
                let mut shapes = Vec::new();
                for (part, (name, inner)) in parts.iter().zip(self.fields(*id)) {
                    shapes.push((name.clone(), self.shape(part, inner, span)?));
                }
                Shape::Struct(self.type_tokens(*id), shapes)
            }
            Ty::Extent(set) => Shape::Extent(self.set_shape(set, span)?),
            Ty::Function(..) => {
                return self.fail(say::not_available(
                    span,
                    "a function that is returned to the caller",
                ));
            }
            Ty::Float(_) => {
                return self.fail(say::not_available(
                    span,
                    "a generic float where nothing says which",
                ));
            }
            Ty::Offset(_) | Ty::Accum(_) | Ty::Option(_) | Ty::Var(_) | Ty::Error => {
                return self.bug(SpanId::NONE, "a result of no type");
            }
        })
    }

    fn type_tokens(&self, id: usize) -> TokenStream {
        let def = &self.linked.types[id];
        match &def.path {
            Some(path) => quote!(#path),
            None => {
                let name = &def.name;
                quote!(#name)
            }
        }
    }

    fn set_shape(&mut self, set: &Set, span: Span) -> Run<SetShape> {
        let parts = |s: &mut Self, parts: &[Set]| -> Run<Vec<SetShape>> {
            parts.iter().map(|p| s.set_shape(p, span)).collect()
        };
        Ok(match set {
            Set::Product(sets) if sets.is_empty() => SetShape::Static(quote!(())),
            Set::Product(sets) => SetShape::Product(None, parts(self, sets)?),
            Set::Record(id, sets) => {
                SetShape::Product(Some(self.type_tokens(*id)), parts(self, sets)?)
            }
            Set::Named(id) if enum_len(self.linked, *id).is_some() => {
                SetShape::Static(self.type_tokens(*id))
            }
            Set::Fin(Len::Lit(n)) => {
                let n = proc_macro2::Literal::u64_unsuffixed(*n);
                SetShape::Static(fin(&quote!(#n)))
            }
            Set::Fin(Len::Const(name)) => SetShape::Static(fin(&self.constant_tokens(name))),
            Set::Fin(Len::Param(k)) => {
                let name = &self.functions[self.frame.function].tree.generics[*k].name;
                SetShape::Static(fin(&quote!(#name)))
            }
            Set::Bool => SetShape::Static(quote!(bool)),
            Set::Range(_) => SetShape::Dyn,
            Set::Param(_) | Set::Named(_) | Set::Var(_) => match self.space(set, SpanId::NONE) {
                Ok(Space::Axis(Extent::Size(size))) => SetShape::Size(size),
                Ok(_) => SetShape::Dyn,
                Err(stop) => return Err(stop),
            },
            Set::Either(a, b) => {
                let (a, b) = (self.set_shape(a, span)?, self.set_shape(b, span)?);
                SetShape::Either(Box::new(a), Box::new(b))
            }
            Set::Error => return self.bug(SpanId::NONE, "an error was not reported"),
        })
    }
}

/// `Fin<len>` as a type.
fn fin(len: &TokenStream) -> TokenStream {
    quote!(::pointful::__private::Fin<{ #len }>)
}

fn access(name: &Ident) -> Access {
    Access {
        root: quote!(#name),
        fields: Vec::new(),
        name: name.to_string(),
    }
}

fn step(access: &Access, member: syn::Member) -> Access {
    let field = match &member {
        syn::Member::Named(name) => name.to_string(),
        syn::Member::Unnamed(index) => index.index.to_string(),
    };
    let mut access = access.clone();
    access.name = format!("{}.{field}", access.name);
    access.fields.push(member);
    access
}

/// The part of a tuple type as written.
fn part_type(written: &tree::Type, k: usize) -> &tree::Type {
    match &written.kind {
        TypeKind::Tuple(parts) => parts.get(k).unwrap_or(written),
        _ => written,
    }
}
