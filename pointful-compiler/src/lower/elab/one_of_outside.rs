//! Values of one of two kinds as parameters and results of the root.

use proc_macro2::Span;

use super::interface::{part_type, stepped};
use super::one_of::sides;
use super::value::Val;
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::interface::{Access, Field, ParamSource, Shape};
use crate::ir::{Elem, Type};
use crate::lower::types::{Set, Ty};
use crate::syntax::tree::{self, TypeKind};

impl<'a> Elab<'a> {
    /// A parameter: which of the two it is, and what both hold.
    pub(super) fn one_of_parameter(
        &mut self,
        ty: &Ty,
        written: &'a tree::Type,
        access: Access,
        span: Span,
    ) -> Run<Val<'a>> {
        self.held_outside(ty, span)?;
        self.kinds(ty, written, &access, &mut |s, side, written, held| {
            s.parameter(side, written, held, false, span)
        })
    }

    /// The sum of what the variants of an enum hold, as which an enum is seen: each holds a tuple
    /// of references.
    pub(super) fn sum_parameter(
        &mut self,
        ty: &Ty,
        written: &'a tree::Type,
        access: Access,
        span: Span,
    ) -> Run<Val<'a>> {
        match ty {
            Ty::Tuple(types) => {
                let mut parts = Vec::new();
                for (k, part) in types.iter().enumerate() {
                    let access = stepped(&access, Field::Referred(k), &k.to_string());
                    let written = part_type(written, k);
                    parts.push(self.parameter(part, written, access, false, span)?);
                }
                Ok(Val::Tuple(parts))
            }
            _ => self.kinds(ty, written, &access, &mut |s, side, written, held| {
                s.sum_parameter(side, written, held, span)
            }),
        }
    }

    /// Which of two kinds a parameter is, and what both hold.
    fn kinds(
        &mut self,
        ty: &Ty,
        written: &'a tree::Type,
        access: &Access,
        held: &mut dyn FnMut(&mut Self, &Ty, &'a tree::Type, Access) -> Run<Val<'a>>,
    ) -> Run<Val<'a>> {
        let Some(sides) = sides(ty) else {
            return self.bug(crate::ir::SpanId::NONE, "a value of no kinds");
        };
        let kind = stepped(access, Field::IsSecond, "is_second");
        let source = ParamSource::Scalar(kind.clone(), None);
        let mut parts = vec![self.declare(Type::scalar(Elem::BOOL), source, &kind, false)];
        for (second, side) in [false, true].into_iter().zip(&sides) {
            let name = if second { "second" } else { "first" };
            let access = stepped(access, Field::Held(second), name);
            parts.push(held(self, side, side_type(written, second), access)?);
        }
        Ok(Val::Tuple(parts))
    }

    /// A result.
    pub(super) fn one_of_shape(
        &mut self,
        ty: &Ty,
        written: &'a tree::Type,
        span: Span,
    ) -> Run<Shape> {
        self.held_outside(ty, span)?;
        let Some([first, second]) = sides(ty) else {
            return self.bug(crate::ir::SpanId::NONE, "a value of no kinds");
        };
        let first = self.shape(&first, side_type(written, false), span)?;
        let second = self.shape(&second, side_type(written, true), span)?;
        Ok(Shape::OneOf(Box::new([first, second])))
    }

    /// What it may hold outside of bodies.
    pub(super) fn held_outside(&mut self, ty: &Ty, span: Span) -> Run<()> {
        match self.ty(ty) {
            Ty::Scalar(_) | Ty::Float(_) => Ok(()),
            Ty::Member(set) if !matches!(set, Set::Product(_) | Set::Record(..)) => Ok(()),
            Ty::Tuple(parts) | Ty::Struct(_, parts) => parts
                .iter()
                .try_for_each(|part| self.held_outside(part, span)),
            Ty::Option(held) => self.held_outside(&held, span),
            Ty::Either(sides) => sides
                .iter()
                .try_for_each(|side| self.held_outside(side, span)),
            other => {
                let found = self.printer().quoted(&other);
                self.fail(say::held_outside(span, &found))
            }
        }
    }
}

/// The type of what one kind holds, as written.
fn side_type(written: &tree::Type, second: bool) -> &tree::Type {
    match &written.kind {
        TypeKind::OneOf(parts) => {
            let side = match second {
                true => parts.last(),
                false => parts.first(),
            };
            side.unwrap_or(written)
        }
        _ => written,
    }
}
