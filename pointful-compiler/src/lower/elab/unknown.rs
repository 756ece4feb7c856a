//! Functions that only the caller of the root knows, and functions that the root gives back.
//!
//! The program calls a function of the caller's as a primitive: from scalars to a scalar, once for
//! each part of its result. A function that is returned is the root with more parameters: it
//! computes everything when it is called.

use std::rc::Rc;

use proc_macro2::{Ident, Span};
use quote::quote;

use super::interface::step;
use super::value::{Opaque, Space, Val};
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::interface::{Access, Field, FunctionSource, GivenFunction, SetShape};
use crate::ir::{Scalar, SpanId, ValueId};
use crate::lower::hir::{Function, Origin};
use crate::lower::types::{Set, Ty};
use crate::ops::{Prim, Unknown};
use crate::syntax::tree::{self, TypeKind};

impl<'a> Elab<'a> {
    /// A parameter that is a function.
    pub(super) fn unknown(
        &mut self,
        params: &[Ty],
        result: &Ty,
        written: &'a tree::Type,
        access: Access,
        span: Span,
    ) -> Run<Val<'a>> {
        let mut shapes = Vec::new();
        for param in params {
            if !self.is_made_of_scalars(param) {
                let shown = self.printer().ty(param);
                let why = say::unknown_takes(span, &access.name, &shown);
                return self.fail(why);
            }
            shapes.push(self.shape(param, written, span)?);
        }
        let result = self.ty(result);
        if !self.is_made_of_scalars(&result) {
            let shown = self.printer().ty(&result);
            return self.fail(say::unknown_gives(span, &access.name, &shown));
        }
        let mut parts = Vec::new();
        let here = Access {
            root: quote!(),
            fields: Vec::new(),
            name: String::new(),
        };
        self.result_parts(&result, &here, &mut parts)?;
        let first = self.interface.functions.len();
        let (Ok(first), true) = (
            u8::try_from(first),
            first + parts.len() <= usize::from(u8::MAX),
        ) else {
            return self.fail(say::not_available(span, "so large a number of functions"));
        };
        for (fields, member) in parts {
            let given = GivenFunction {
                access: access.clone(),
                params: shapes.clone(),
                fields,
                member,
            };
            self.interface.functions.push(FunctionSource::Given(given));
        }
        Ok(Val::Unknown(Rc::new(Opaque {
            name: access.name,
            first,
            result,
        })))
    }

    /// Whether a value is a scalar, or a tuple or struct of such.
    fn is_made_of_scalars(&self, ty: &Ty) -> bool {
        match self.ty(ty) {
            Ty::Scalar(_) | Ty::Float(_) => true,
            Ty::Member(set) => !matches!(set, Set::Product(_) | Set::Record(..)),
            Ty::Tuple(parts) | Ty::Struct(_, parts) => {
                parts.iter().all(|part| self.is_made_of_scalars(part))
            }
            Ty::Table(..)
            | Ty::Offset(_)
            | Ty::Extent(_)
            | Ty::Function(..)
            | Ty::Accum(_)
            | Ty::Option(_)
            | Ty::Either(_)
            | Ty::Var(_)
            | Ty::Error => false,
        }
    }

    /// The scalars in a result, in order.
    fn result_parts(
        &mut self,
        ty: &Ty,
        at: &Access,
        parts: &mut Vec<(Vec<Field>, Option<SetShape>)>,
    ) -> Run<()> {
        match ty {
            Ty::Tuple(inner) => {
                for (k, part) in inner.iter().enumerate() {
                    self.result_parts(part, &step(at, k), parts)?;
                }
            }
            Ty::Struct(id, inner) => {
                for (k, part) in inner.iter().enumerate() {
                    self.result_parts(part, &self.field(at, *id, k), parts)?;
                }
            }
            Ty::Member(set) => {
                let member = Some(self.set_shape(set)?);
                parts.push((at.fields.clone(), member));
            }
            _ => parts.push((at.fields.clone(), None)),
        }
        Ok(())
    }

    /// Calls a function of the caller's.
    pub(super) fn call_unknown(
        &mut self,
        function: &Opaque,
        args: &[Val<'a>],
        span: SpanId,
    ) -> Run<Val<'a>> {
        if self.derivatives > 0 {
            let span = self.at(span);
            return self.fail(say::unknown_derivative(span, &function.name));
        }
        let mut operands = Vec::new();
        for arg in args {
            for leaf in self.leaves(arg, span)? {
                let is_index = !matches!(self.program.elem(leaf), crate::ir::Elem::Scalar(_));
                operands.push(if is_index {
                    self.cast(leaf, Scalar::Usize, span)?
                } else {
                    leaf
                });
            }
        }
        // A primitive has operands: what takes nothing takes a number that it does not look at.
        if operands.is_empty() {
            operands.push(self.usize(0, span));
        }
        let mut next = function.first;
        self.called(&function.result, &operands, &mut next, span)
    }

    /// The result of a call, part by part.
    fn called(
        &mut self,
        ty: &Ty,
        operands: &[ValueId],
        next: &mut u8,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let (scalar, set) = match ty {
            Ty::Tuple(parts) | Ty::Struct(_, parts) => {
                let parts = parts
                    .iter()
                    .map(|part| self.called(part, operands, next, span));
                return Ok(Val::Tuple(parts.collect::<Run<_>>()?));
            }
            Ty::Member(set) => (Scalar::Usize, Some(set)),
            other => (self.scalar(other, span)?, None),
        };
        let Ok(arity) = u8::try_from(operands.len()) else {
            return self.bug(span, "a call with hundreds of arguments");
        };
        let call = Prim::Call(Unknown {
            function: *next,
            arity,
            result: scalar,
            anywhere: false,
        });
        *next += 1;
        let value = self.prim(call, operands, span)?;
        let Some(set) = set else {
            return Ok(Val::Leaf(value));
        };
        let space = self.space(set, span)?;
        match (&space, space.axes().as_slice()) {
            (Space::Bool, _) => self.bug(span, "a truth value as a member"),
            (_, &[axis]) => Ok(Val::Leaf(self.prim(Prim::Check(axis), &[value], span)?)),
            _ => self.bug(span, "a member of a product"),
        }
    }

    /// Whether the root returns a function; then its parameters are looked at with that in mind.
    pub(super) fn look_for_returned(&mut self, function: &Function<'a>) {
        if let Ty::Function(params, _) = self.ty(&function.result) {
            let name = |at| Ident::new(&format!("argument_{at}"), Span::mixed_site());
            self.interface.returned = Some((0..params.len()).map(name).collect());
        }
    }

    /// Calls the function that the root returns with parameters of its own: its result, as type and
    /// as written.
    pub(super) fn call_returned(
        &mut self,
        function: &'a Function<'a>,
        val: Val<'a>,
    ) -> Run<(Val<'a>, Ty, &'a tree::Type)> {
        let written = self.unalias(&function.tree.result);
        let ty = self.ty(&function.result);
        let (Ty::Function(params, result), Some(names)) = (&ty, self.interface.returned.clone())
        else {
            return Ok((val, ty, written));
        };
        let span = written.span;
        let (written_params, written_result) = match &written.kind {
            TypeKind::Function(params, result) => (params.as_slice(), &**result),
            _ => return self.bug(SpanId::NONE, "a function that is not written as one"),
        };
        for (id, param) in function.params.iter().zip(&function.tree.params) {
            if function.locals[id.0 as usize].origin == Origin::Exclusive {
                return self.fail(say::returned_changes(span, &param.name.to_string()));
            }
        }
        let mut args = Vec::new();
        for ((param, written), name) in params.iter().zip(written_params).zip(&names) {
            let access = Access {
                root: quote!(#name),
                fields: Vec::new(),
                name: name.to_string(),
            };
            self.carriers(param, written, &access)?;
            args.push(self.parameter(param, written, access, false, span)?);
        }
        let val = self.apply(&val, args, SpanId::NONE)?;
        Ok((val, (**result).clone(), written_result))
    }
}
