//! Methods.

use super::branch::Branch;
use super::value::{Maybe, Space, Val};
use super::{Elab, Run};
use crate::ir::{Extent, Lit, Scalar, SpanId, Type, ValueId};
use crate::lower::hir::{Expr, Kind};
use crate::lower::types::Ty;
use crate::lower::words::Method;
use crate::ops::Prim;

impl<'a> Elab<'a> {
    pub(super) fn method(
        &mut self,
        method: Method,
        receiver: &'a Expr,
        args: &'a [Expr],
        ty: &Ty,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let recv_ty = self.ty(&receiver.ty);
        if let (Method::Get, Ty::Accum(_)) = (method, &recv_ty) {
            return self.get_accum(receiver, span);
        }
        let recv = self.eval(receiver)?;
        let positional = matches!(recv_ty, Ty::Member(_) | Ty::Offset(_));
        match method {
            Method::Clone => Ok(recv),
            Method::Ordinal | Method::Wrap | Method::Mirror | Method::Clamp if matches!(&recv_ty, Ty::Table(_, cell) if self.set_of(cell).is_some()) =>
            {
                let (groups, cell) = self.split(&recv_ty);
                self.lift(&[groups], &[recv], span, &mut |s, cells| {
                    s.place_method(method, &cells[0], &cell, span)
                })
            }
            Method::Ordinal | Method::Wrap | Method::Mirror => {
                self.place_method(method, &recv, &recv_ty, span)
            }
            Method::Clamp if positional => self.place_method(method, &recv, &recv_ty, span),
            Method::Get => self.get(recv, receiver, args, span),
            Method::UnwrapOr
            | Method::UnwrapOrElse
            | Method::Unwrap
            | Method::Map
            | Method::MapOr
            | Method::AndThen
            | Method::Or
            | Method::IsSome
            | Method::IsNone => {
                let maybe = self.maybe(&recv, &recv_ty, span)?;
                self.option(method, &maybe, args, ty, span)
            }
            Method::Len => {
                let space = self.extent_value(&recv, &recv_ty, span)?;
                let axes = space.axes();
                self.countable(&axes, span)?;
                Ok(Val::Leaf(self.total(&axes, span)?))
            }
            Method::Extent => Ok(Val::Extent(self.extent_value(&recv, &recv_ty, span)?)),
            Method::Put => self.bug(span, "`put` of no accumulator"),
            Method::Prim(_)
            | Method::WrappingDiv
            | Method::WrappingRem
            | Method::Clamp
            | Method::SinCos
            | Method::Log
            | Method::AbsDiff
            | Method::SaturatingAdd
            | Method::SaturatingSub
            | Method::DivCeil
            | Method::IsPowerOfTwo
            | Method::CountOf(_)
            | Method::IsPositive
            | Method::IsNegative => self.scalar_method(method, &recv, receiver, args, ty, span),
        }
    }

    /// A method of a member, or of an offset from one.
    fn place_method(
        &mut self,
        method: Method,
        place: &Val<'a>,
        ty: &Ty,
        span: SpanId,
    ) -> Run<Val<'a>> {
        match method {
            Method::Ordinal => Ok(Val::Leaf(self.ordinal(place, ty, span)?)),
            Method::Wrap => self.brought_in(Prim::Wrap, place, ty, span),
            Method::Mirror => self.brought_in(Prim::Mirror, place, ty, span),
            Method::Clamp => self.brought_in(Prim::ClampTo, place, ty, span),
            _ => self.bug(span, "not a method of members"),
        }
    }

    fn get_accum(&mut self, receiver: &'a Expr, span: SpanId) -> Run<Val<'a>> {
        let mut fields = Vec::new();
        let mut at = receiver;
        while let Kind::Field(inner, k) = &at.kind {
            fields.push(*k);
            at = inner;
        }
        fields.reverse();
        match &at.kind {
            Kind::Local(local) => self.take(&(*local, fields), span),
            _ => self.bug(span, "`get` of an accumulator without a name"),
        }
    }

    /// The index set of an extent, or of a table's outermost group of axes.
    fn extent_value(&mut self, val: &Val<'a>, ty: &Ty, span: SpanId) -> Run<Space> {
        match (val, ty) {
            (Val::Extent(space), _) => Ok(space.clone()),
            (_, Ty::Table(groups, _)) => self.space(&groups[0], span),
            _ => self.bug(span, "an extent was expected"),
        }
    }

    fn option(
        &mut self,
        method: Method,
        maybe: &Maybe<'a>,
        args: &'a [Expr],
        ty: &Ty,
        span: SpanId,
    ) -> Run<Val<'a>> {
        match (method, args) {
            (Method::IsSome, _) => Ok(Val::Leaf(maybe.present)),
            (Method::IsNone, _) => Ok(Val::Leaf(self.prim(Prim::Not, &[maybe.present], span)?)),
            (Method::Unwrap, _) => self.insist(maybe, span),
            (Method::UnwrapOr, [other]) => {
                let mut there = |s: &mut Self| s.there(maybe, span);
                self.if_present(maybe, args, ty, &mut there, &mut |s| s.eval(other), span)
            }
            (Method::UnwrapOrElse, [other]) => {
                let mut there = |s: &mut Self| s.there(maybe, span);
                let mut other = |s: &mut Self| {
                    let other = s.eval(other)?;
                    s.apply(&other, Vec::new(), span)
                };
                self.if_present(maybe, args, ty, &mut there, &mut other, span)
            }
            (Method::Map, [f]) => {
                let mut mapped = |s: &mut Self| {
                    let val = s.applied_inside(maybe, f, span)?;
                    s.some(&val, ty, span)
                };
                self.if_present(
                    maybe,
                    args,
                    ty,
                    &mut mapped,
                    &mut |s| s.nothing(ty, span),
                    span,
                )
            }
            (Method::AndThen, [f]) => {
                let mut there = |s: &mut Self| s.applied_inside(maybe, f, span);
                self.if_present(
                    maybe,
                    args,
                    ty,
                    &mut there,
                    &mut |s| s.nothing(ty, span),
                    span,
                )
            }
            (Method::MapOr, [other, f]) => {
                let mut there = |s: &mut Self| s.applied_inside(maybe, f, span);
                self.if_present(maybe, args, ty, &mut there, &mut |s| s.eval(other), span)
            }
            (Method::Or, [other]) => {
                let mut there = |s: &mut Self| {
                    let val = s.there(maybe, span)?;
                    s.some(&val, ty, span)
                };
                self.if_present(maybe, args, ty, &mut there, &mut |s| s.eval(other), span)
            }
            _ => self.bug(span, "not a method of an `Option`"),
        }
    }

    /// One value where an element is there, and another where it is not.
    fn if_present(
        &mut self,
        maybe: &Maybe<'a>,
        args: &'a [Expr],
        ty: &Ty,
        there: &mut Branch<'_, 'a>,
        otherwise: &mut Branch<'_, 'a>,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let states = self.states_of(|effects| args.iter().for_each(|arg| effects.expr(arg)));
        let settled = |s: &mut Self, side: &mut Branch<'_, 'a>| {
            let val = side(s)?;
            s.settled(val, ty, span)
        };
        self.branch(
            maybe.present,
            &states,
            &mut |s| settled(s, there),
            &mut |s| settled(s, otherwise),
            span,
        )
    }

    /// A function of an element that is there.
    fn applied_inside(&mut self, maybe: &Maybe<'a>, f: &'a Expr, span: SpanId) -> Run<Val<'a>> {
        let f = self.eval(f)?;
        let element = self.there(maybe, span)?;
        self.apply(&f, vec![element], span)
    }

    /// A method of scalars, cell by cell.
    fn scalar_method(
        &mut self,
        method: Method,
        recv: &Val<'a>,
        receiver: &'a Expr,
        args: &'a [Expr],
        _ty: &Ty,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let mut vals = vec![recv.clone()];
        let mut frames = vec![self.split(&receiver.ty).0];
        for arg in args {
            vals.push(self.eval(arg)?);
            frames.push(self.split(&arg.ty).0);
        }
        self.lift(&frames, &vals, span, &mut |s, cells| {
            let mut operands = Vec::new();
            for cell in cells {
                operands.push(s.leaf(cell, span)?);
            }
            s.scalar_cell(method, &operands, span)
        })
    }

    fn scalar_cell(&mut self, method: Method, x: &[ValueId], span: SpanId) -> Run<Val<'a>> {
        let one = |value| Ok(Val::Leaf(value));
        match method {
            Method::Prim(prim) => one(self.prim(prim, x, span)?),
            Method::WrappingDiv | Method::WrappingRem => {
                let ty = self.program.ty(x[0]).clone();
                let prim = match method {
                    Method::WrappingDiv => Prim::Div,
                    _ => Prim::Rem,
                };
                let scalar = ty.elem.repr();
                if !scalar.is_signed_int() {
                    return one(self.prim(prim, x, span)?);
                }
                // By -1 alone a quotient overflows, and then it is the negative of what is divided,
                // which wraps.
                let (plus, minus) = (
                    self.lit(Lit::Int(scalar, 1), span),
                    self.lit(Lit::Int(scalar, -1), span),
                );
                let flips = self.prim(Prim::Eq, &[x[1], minus], span)?;
                let divisor = self.choose(flips, plus, x[1], ty.clone(), span);
                let result = self.prim(prim, &[x[0], divisor], span)?;
                if prim == Prim::Rem {
                    return one(result);
                }
                let negative = self.prim(Prim::Neg, &x[..1], span)?;
                one(self.choose(flips, negative, result, ty, span))
            }
            Method::Clamp => {
                // Comparisons rather than `max` and `min`, so that NaN stays NaN as in Rust.
                let ty = self.program.ty(x[0]).clone();
                let below = self.prim(Prim::Lt, &[x[0], x[1]], span)?;
                let above = self.prim(Prim::Gt, &[x[0], x[2]], span)?;
                let upper = self.choose(above, x[2], x[0], ty.clone(), span);
                one(self.choose(below, x[1], upper, ty, span))
            }
            Method::SinCos => {
                let sin = self.prim(Prim::Sin, x, span)?;
                let cos = self.prim(Prim::Cos, x, span)?;
                Ok(Val::Tuple(vec![Val::Leaf(sin), Val::Leaf(cos)]))
            }
            Method::Log => {
                let value = self.prim(Prim::Ln, &x[..1], span)?;
                let base = self.prim(Prim::Ln, &x[1..], span)?;
                one(self.prim(Prim::Div, &[value, base], span)?)
            }
            Method::AbsDiff => {
                let larger = self.prim(Prim::Max, x, span)?;
                let smaller = self.prim(Prim::Min, x, span)?;
                let difference = self.prim(Prim::Sub, &[larger, smaller], span)?;
                let unsigned = self.program.elem(difference).repr().unsigned();
                one(self.cast(difference, unsigned, span)?)
            }
            Method::SaturatingAdd => one(self.saturating(Prim::Add, x, span)?),
            Method::SaturatingSub => one(self.saturating(Prim::Sub, x, span)?),
            Method::DivCeil => {
                let scalar = self.program.elem(x[0]).repr();
                let quotient = self.prim(Prim::Div, x, span)?;
                let rest = self.prim(Prim::Rem, x, span)?;
                let one_more = self.lit(Lit::Int(scalar, 1), span);
                let rest = self.prim(Prim::Min, &[rest, one_more], span)?;
                one(self.prim(Prim::Add, &[quotient, rest], span)?)
            }
            Method::IsPowerOfTwo => {
                let ones = self.prim(Prim::CountOnes, x, span)?;
                let single = self.lit(Lit::Int(Scalar::U32, 1), span);
                one(self.prim(Prim::Eq, &[ones, single], span)?)
            }
            Method::CountOf(count) => {
                let flipped = self.prim(Prim::Not, x, span)?;
                one(self.prim(count, &[flipped], span)?)
            }
            Method::IsPositive | Method::IsNegative => {
                let scalar = self.program.elem(x[0]).repr();
                let zero = self.lit(Lit::Int(scalar, 0), span);
                let prim = if method == Method::IsPositive {
                    Prim::Gt
                } else {
                    Prim::Lt
                };
                one(self.prim(prim, &[x[0], zero], span)?)
            }
            Method::Clone
            | Method::Ordinal
            | Method::Wrap
            | Method::Mirror
            | Method::Get
            | Method::UnwrapOr
            | Method::UnwrapOrElse
            | Method::Unwrap
            | Method::Map
            | Method::MapOr
            | Method::AndThen
            | Method::Or
            | Method::IsSome
            | Method::IsNone
            | Method::Len
            | Method::Extent
            | Method::Put => self.bug(span, "not a method of scalars"),
        }
    }

    /// A sum or difference that stays at the end of its type that it would pass.
    fn saturating(&mut self, prim: Prim, x: &[ValueId], span: SpanId) -> Run<ValueId> {
        let ty = self.program.ty(x[0]).clone();
        let scalar = ty.elem.repr();
        let wrapped = self.prim(prim, x, span)?;
        let zero = self.lit(Lit::Int(scalar, 0), span);
        // Not as literals: how wide an `isize` is depends on the machine.
        let (least, most) = if scalar.is_signed_int() {
            let unsigned = scalar.unsigned();
            let none = self.lit(Lit::Int(unsigned, 0), span);
            let all = self.prim(Prim::Not, &[none], span)?;
            let by = self.lit(Lit::Int(Scalar::U32, 1), span);
            let half = self.prim(Prim::Shr, &[all, by], span)?;
            let most = self.cast(half, scalar, span)?;
            (self.prim(Prim::Not, &[most], span)?, most)
        } else {
            (zero, self.prim(Prim::Not, &[zero], span)?)
        };
        // What is added to does not become less, unless what is added is.
        let shrinks = self.prim(Prim::Lt, &[wrapped, x[0]], span)?;
        let less = self.prim(Prim::Lt, &[x[1], zero], span)?;
        let should = match prim {
            Prim::Add => less,
            _ => self.prim(Prim::Gt, &[x[1], zero], span)?,
        };
        let passes = self.prim(Prim::Ne, &[shrinks, should], span)?;
        let end = self.choose(should, least, most, ty.clone(), span);
        Ok(self.choose(passes, end, wrapped, ty, span))
    }

    /// One of two values that are there already.
    fn choose(
        &mut self,
        cond: ValueId,
        yes: ValueId,
        no: ValueId,
        ty: Type<Extent>,
        span: SpanId,
    ) -> ValueId {
        let gives = |value| crate::ir::Block {
            results: vec![value],
            ..crate::ir::Block::default()
        };
        let op = crate::ir::stages::point::PointOp::If {
            cond,
            then: Box::new(gives(yes)),
            otherwise: Box::new(gives(no)),
        };
        self.op(op, ty, span)
    }
}
