//! Structs, tuples and tables as vectors: the methods of the trait of that name.

use proc_macro2::{Ident, Span};

use super::Infer;
use crate::diag::lowering as say;
use crate::lower::hir::{Expr, Kind, VectorOp};
use crate::lower::types::Ty;
use crate::syntax::tree;

/// The methods of vectors, each with how many arguments it takes.
pub(in crate::lower) const METHODS: [(&str, VectorOp, usize); 5] = [
    ("zeros_like", VectorOp::ZerosLike, 0),
    ("scale", VectorOp::Scale, 1),
    ("axpy", VectorOp::Axpy, 2),
    ("map", VectorOp::Map, 1),
    ("dot", VectorOp::Dot, 1),
];

impl<'a> Infer<'_, 'a> {
    /// A method of a vector, if it is one and the receiver is a vector.
    pub(super) fn vector_method(
        &mut self,
        written: &'a tree::Expr,
        receiver: &Expr,
        name: &Ident,
        args: &'a [tree::Expr],
        span: Span,
    ) -> Option<Expr> {
        let text = name.to_string();
        let (_, op, arity) = *METHODS.iter().find(|(known, ..)| *known == text)?;
        self.settle();
        let ty = self.solver.ty(&receiver.ty);
        if !matches!(ty, Ty::Struct(..) | Ty::Tuple(_) | Ty::Table(..)) {
            return None;
        }
        let mut floats = Vec::new();
        self.coordinates(&ty, &mut floats);
        let scalar = floats.first()?.clone();
        if !floats
            .iter()
            .all(|other| self.solver.unify(&scalar, other).is_ok())
        {
            return None;
        }
        if !self.arity(&text, arity, args.len(), name.span()) {
            return Some(self.poison(span));
        }
        let wants = match op {
            VectorOp::ZerosLike => Vec::new(),
            VectorOp::Scale => vec![scalar.clone()],
            VectorOp::Axpy => vec![scalar.clone(), ty.clone()],
            VectorOp::Map => vec![Ty::Function(vec![scalar.clone()], Box::new(scalar.clone()))],
            VectorOp::Dot => vec![ty.clone()],
        };
        let mut given = Vec::new();
        let mut fits = true;
        for (arg, want) in args.iter().zip(&wants) {
            let found = self.expr(arg, Some(want));
            fits &= self.expect(want, &found.ty, arg.span, || {
                format!("`{text}` takes that here")
            });
            given.push(found);
        }
        if !fits {
            return Some(self.poison(span));
        }
        let result = match op {
            VectorOp::Dot => scalar,
            VectorOp::ZerosLike | VectorOp::Map | VectorOp::Scale | VectorOp::Axpy => ty.clone(),
        };
        let changes = matches!(op, VectorOp::Scale | VectorOp::Axpy);
        let kind = Kind::Vector(op, Box::new(receiver.clone()), given);
        let value = self.made(kind, result, span);
        if !changes {
            return Some(value);
        }
        // The receiver is changed: the new vector is assigned to it.
        let Some(place) = self.argument_place(written) else {
            return Some(self.poison(span));
        };
        if self.is_accum(place.local) {
            return Some(self.fail(say::accum_assign(name.span())));
        }
        Some(self.made(Kind::Assign(None, place, Box::new(value)), Ty::UNIT, span))
    }

    /// The types of a vector's coordinates.
    fn coordinates(&self, ty: &Ty, floats: &mut Vec<Ty>) {
        match self.solver.shallow(ty) {
            Ty::Scalar(scalar) if scalar.is_float() => floats.push(Ty::Scalar(scalar)),
            float @ Ty::Float(_) => floats.push(float),
            Ty::Var(v) if self.solver.kind(v) == crate::lower::solve::TyKind::Float => {
                floats.push(Ty::Var(v));
            }
            Ty::Table(_, element) => self.coordinates(&element, floats),
            Ty::Tuple(parts) | Ty::Struct(_, parts) => {
                parts.iter().for_each(|part| self.coordinates(part, floats));
            }
            Ty::Scalar(_)
            | Ty::Var(_)
            | Ty::Member(_)
            | Ty::Offset(_)
            | Ty::Extent(_)
            | Ty::Function(..)
            | Ty::Accum(_)
            | Ty::Option(_)
            | Ty::Either(_)
            | Ty::Error => {}
        }
    }
}
