//! What vectors are asked for: each of their tables and scalars of floats by itself.

use super::value::Val;
use super::{Elab, Run};
use crate::ir::{Lit, SpanId, ValueId};
use crate::lower::hir::{Expr, VectorOp};
use crate::ops::Prim;

impl<'a> Elab<'a> {
    /// A method of a vector. What is no float stays what it is in the receiver.
    pub(super) fn vector(
        &mut self,
        op: VectorOp,
        receiver: &'a Expr,
        args: &'a [Expr],
        span: SpanId,
    ) -> Run<Val<'a>> {
        let receiver = self.eval(receiver)?;
        let args: Vec<Val<'a>> = args.iter().map(|arg| self.eval(arg)).collect::<Run<_>>()?;
        let leaves = self.leaves(&receiver, span)?;
        match (op, args.as_slice()) {
            (VectorOp::ZerosLike, []) => self.each(&receiver, &leaves, span, &mut |s, x, _| {
                let scalar = s.program.elem(x).repr();
                Ok(s.lit(Lit::of(scalar, 0.0), span))
            }),
            (VectorOp::Scale, [by]) => {
                let by = self.leaf(by, span)?;
                self.each(&receiver, &leaves, span, &mut |s, x, _| {
                    s.prim(Prim::Mul, &[x, by], span)
                })
            }
            (VectorOp::Axpy, [by, other]) => {
                let (by, others) = (self.leaf(by, span)?, self.leaves(other, span)?);
                let pairs: Vec<(ValueId, ValueId)> = leaves.into_iter().zip(others).collect();
                self.each_of_two(&receiver, &pairs, span, &mut |s, x, y| {
                    let step = s.prim(Prim::Mul, &[by, y], span)?;
                    s.prim(Prim::Add, &[x, step], span)
                })
            }
            (VectorOp::Map, [f]) => self.each(&receiver, &leaves, span, &mut |s, x, _| {
                let y = s.apply(f, vec![Val::Leaf(x)], span)?;
                s.leaf(&y, span)
            }),
            (VectorOp::Dot, [other]) => {
                let others = self.leaves(other, span)?;
                let mut total = None;
                for (x, y) in leaves.into_iter().zip(others) {
                    if !self.program.elem(x).is_float() {
                        continue;
                    }
                    let part = self.product(x, y, span)?;
                    total = Some(match total {
                        None => part,
                        Some(before) => self.prim(Prim::Add, &[before, part], span)?,
                    });
                }
                match total {
                    Some(total) => Ok(Val::Leaf(total)),
                    None => self.bug(span, "a vector without coordinates"),
                }
            }
            _ => self.bug(
                span,
                "a method of a vector with a wrong number of arguments",
            ),
        }
    }

    /// The sum of the products of two tables' elements, or of two scalars.
    fn product(&mut self, x: ValueId, y: ValueId, span: SpanId) -> Run<ValueId> {
        let dims = self.program.ty(x).dims.clone();
        let products = self.tabulate(&dims, span, &mut |s, at| {
            let (x, y) = (s.select_leaf(x, at, span), s.select_leaf(y, at, span));
            Ok(vec![s.prim(Prim::Mul, &[x, y], span)?])
        })?;
        let products = Val::Leaf(products[0]);
        let sum = self.reduce(crate::ir::Monoid::Add, &products, dims.len(), span)?;
        self.leaf(&sum, span)
    }

    /// The vector of a function of each coordinate.
    fn each(
        &mut self,
        shape: &Val<'a>,
        leaves: &[ValueId],
        span: SpanId,
        f: &mut dyn FnMut(&mut Self, ValueId, ValueId) -> Run<ValueId>,
    ) -> Run<Val<'a>> {
        let pairs: Vec<(ValueId, ValueId)> = leaves.iter().map(|&leaf| (leaf, leaf)).collect();
        self.each_of_two(shape, &pairs, span, f)
    }

    /// The vector of a function of the coordinates of two vectors in the same places.
    fn each_of_two(
        &mut self,
        shape: &Val<'a>,
        pairs: &[(ValueId, ValueId)],
        span: SpanId,
        f: &mut dyn FnMut(&mut Self, ValueId, ValueId) -> Run<ValueId>,
    ) -> Run<Val<'a>> {
        let mut out = Vec::new();
        for &(x, y) in pairs {
            if !self.program.elem(x).is_float() {
                out.push(x);
                continue;
            }
            let dims = self.program.ty(x).dims.clone();
            let made = self.tabulate(&dims, span, &mut |s, at| {
                let (x, y) = (s.select_leaf(x, at, span), s.select_leaf(y, at, span));
                Ok(vec![f(s, x, y)?])
            })?;
            out.extend(made);
        }
        Ok(self.rebuild(shape, &mut out.into_iter()))
    }
}
