//! What the root gives back.

use proc_macro2::{Span, TokenStream};
use quote::quote;

use super::interface::{access, field_type, fin, is_tables, part_type, step};
use super::value::{Space, Val};
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::interface::{Access, SetShape, Shape};
use crate::ir::{Extent, SpanId};
use crate::lower::hir::{Function, Origin};
use crate::lower::types::{Len, Set, Ty, atoms, enum_len};
use crate::syntax::tree::{self, TypeKind};

impl<'a> Elab<'a> {
    /// Names the results and says how the Rust value is put together from them.
    pub(super) fn results(&mut self, function: &'a Function<'a>, val: &Val<'a>) -> Run<()> {
        let span = function.tree.result.span;
        let (val, ty, written) = self.call_returned(function, val.clone())?;
        let ty = self.ty(&ty);
        let val = self.settled(val, &ty, SpanId::NONE)?;
        self.interface.result = self.shape(&ty, written, span)?;
        let mut results = self.stored(&ty, &val)?;
        for (id, param) in function.params.iter().zip(&function.tree.params) {
            let local = &function.locals[id.0 as usize];
            if local.origin != Origin::Exclusive {
                continue;
            }
            let ty = self.ty(&local.ty);
            self.written_back(&ty, &access(&param.name));
            if let Some(val) = self.frame.env[id.0 as usize].clone() {
                results.extend(self.stored(&ty, &val)?);
            }
        }
        if let Some(open) = self.open.last_mut() {
            open.block.results = results;
        }
        Ok(())
    }

    pub(super) fn written_back(&mut self, ty: &Ty, access: &Access) {
        match &self.outside(ty) {
            Ty::Tuple(parts) => {
                for (k, part) in parts.iter().enumerate() {
                    self.written_back(part, &step(access, k));
                }
            }
            Ty::Struct(id, parts) => {
                for (k, part) in parts.iter().enumerate() {
                    let access = self.field(access, *id, k);
                    self.written_back(part, &access);
                }
            }
            Ty::Extent(_) => {}
            _ => self.interface.write_back.push(access.clone()),
        }
    }

    pub(super) fn shape(&mut self, ty: &Ty, written: &'a tree::Type, span: Span) -> Run<Shape> {
        let written = self.unalias(written);
        Ok(match ty {
            Ty::Scalar(_) | Ty::Float(_) => Shape::Scalar,
            Ty::Member(set) => Shape::Index(self.set_shape(set)?),
            Ty::Table(_, elem) if is_tables(written, elem) => {
                self.shape(&self.outside(ty), written, span)?
            }
            Ty::Table(..) if matches!(written.kind, TypeKind::Array(..)) => {
                return self.fail(say::array_result(span));
            }
            Ty::Table(groups, elem) if self.is_ragged(ty) && atoms(groups).len() == 1 => {
                self.rows_shape(groups, elem, span)?
            }
            Ty::Table(groups, elem) => Shape::Table {
                set: self.set_shape(&Set::product(groups.clone()))?,
                elements: match (&**elem, self.set_of(elem)) {
                    (Ty::Scalar(_) | Ty::Float(_), _) => None,
                    (_, Some(set)) => Some(self.set_shape(&set)?),
                    (other, None) => {
                        let shown = self.printer().ty(other);
                        return self.fail(say::table_elements(
                            span,
                            &shown,
                            matches!(other, Ty::Struct(..)),
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
                for (part, (_, inner)) in parts.iter().zip(self.fields(*id)) {
                    shapes.push(self.shape(part, field_type(written, inner), span)?);
                }
                Shape::Struct(shapes)
            }
            Ty::Extent(set) if has_range(set) => {
                return self.fail(say::computed_extent(span));
            }
            Ty::Extent(set) => Shape::Extent(self.set_shape(set)?),
            Ty::Function(..) => {
                return self.fail(say::returned_inside(span));
            }
            Ty::Option(_) | Ty::Either(_) => self.one_of_shape(ty, written, span)?,
            Ty::Offset(_) | Ty::Accum(_) | Ty::Var(_) | Ty::Error => {
                return self.bug(SpanId::NONE, "a result of no type");
            }
        })
    }

    pub(super) fn type_tokens(&self, id: usize) -> TokenStream {
        let def = &self.linked.types[id];
        match &def.path {
            Some(path) => quote!(#path),
            None => {
                let name = &def.name;
                quote!(#name)
            }
        }
    }

    pub(super) fn set_shape(&mut self, set: &Set) -> Run<SetShape> {
        let parts = |s: &mut Self, parts: &[Set]| -> Run<Vec<SetShape>> {
            parts.iter().map(|p| s.set_shape(p)).collect()
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
            Set::Range(_) | Set::Row(..) => SetShape::Dyn,
            Set::Param(_) | Set::Named(_) | Set::Var(_) | Set::Ragged(..) => {
                match self.space(set, SpanId::NONE) {
                    Ok(Space::Axis(Extent::Size(size))) => SetShape::Size(size),
                    Ok(_) => SetShape::Dyn,
                    Err(stop) => return Err(stop),
                }
            }
            Set::Either(a, b) => {
                let (a, b) = (self.set_shape(a)?, self.set_shape(b)?);
                SetShape::Either(Box::new(a), Box::new(b))
            }
            Set::Error => return self.bug(SpanId::NONE, "an error was not reported"),
        })
    }
}

/// Whether the length of a set is computed in the body.
pub(super) fn has_range(set: &Set) -> bool {
    match set {
        Set::Range(_) | Set::Row(..) => true,
        Set::Product(parts) | Set::Record(_, parts) => parts.iter().any(has_range),
        Set::Either(a, b) => has_range(a) || has_range(b),
        Set::Var(_)
        | Set::Param(_)
        | Set::Named(_)
        | Set::Fin(_)
        | Set::Bool
        | Set::Ragged(..)
        | Set::Error => false,
    }
}
