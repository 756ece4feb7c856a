//! Values of one of two kinds: `Option<T>`, and `Either<A, B>` of what are no members.
//!
//! Such a value is which of the two it is, and what both of them would hold: zeros where it is the
//! other, at which nobody looks. A member is held by its number, as its set may be empty.
//!
//! ```text
//! Either::Right(x)    (true, 0.0, x)
//! Some(i)             (true, (), i.ordinal())
//! None                (false, (), 0)
//! t.get(i)            what it says of `t` and `i` until it is stored, then as `Some` or `None`
//! ```

use std::rc::Rc;

use super::value::{Element, Maybe, Val};
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::ir::stages::point::PointOp;
use crate::ir::{Elem, Extent, Lit, Message, Scalar, SpanId, Type, ValueId};
use crate::lower::hir::Expr;
use crate::lower::types::Ty;
use crate::ops::Prim;

/// What both kinds hold.
pub(super) fn sides(ty: &Ty) -> Option<[Ty; 2]> {
    match ty {
        Ty::Option(held) => Some([Ty::UNIT, (**held).clone()]),
        Ty::Either(sides) => Some((**sides).clone()),
        _ => None,
    }
}

/// Whether a value of the type may have something of one of two kinds in it.
pub(super) fn has_kinds(ty: &Ty) -> bool {
    match ty {
        Ty::Option(_) | Ty::Either(_) => true,
        Ty::Tuple(parts) | Ty::Struct(_, parts) => parts.iter().any(has_kinds),
        _ => false,
    }
}

impl<'a> Elab<'a> {
    /// `Some(x)`, `Either::Left(x)`
    pub(super) fn one_of(
        &mut self,
        second: bool,
        x: &'a Expr,
        ty: &Ty,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let val = self.eval(x)?;
        let Some([first, other]) = sides(&self.ty(ty)) else {
            return self.bug(span, "a value of no kinds");
        };
        let mut parts = vec![Val::Leaf(self.lit(Lit::Bool(second), span))];
        for (number, side) in [first, other].iter().enumerate() {
            parts.push(match (number == 1) == second {
                true => self.held(&val, side, span)?,
                false => self.nothing(side, span)?,
            });
        }
        Ok(Val::Tuple(parts))
    }

    /// `Some` of a value, of this type of `Option`.
    pub(super) fn some(&mut self, val: &Val<'a>, ty: &Ty, span: SpanId) -> Run<Val<'a>> {
        let Ty::Option(held) = self.ty(ty) else {
            return self.bug(span, "an `Option` was expected");
        };
        let present = Val::Leaf(self.lit(Lit::Bool(true), span));
        let held = self.held(val, &held, span)?;
        Ok(Val::Tuple(vec![present, Val::Tuple(Vec::new()), held]))
    }

    /// Which of two kinds a value is, as the truth value that it is the second.
    fn is_second(&mut self, val: &Val<'a>, span: SpanId) -> Run<ValueId> {
        match val {
            Val::Option(maybe) => Ok(maybe.present),
            Val::Tuple(parts) if parts.len() == 3 => self.leaf(&parts[0], span),
            _ => self.bug(span, "a value of one of two kinds was expected"),
        }
    }

    /// Whether a value is of a kind.
    pub(super) fn is_kind(&mut self, second: bool, val: &Val<'a>, span: SpanId) -> Run<ValueId> {
        let holds = self.is_second(val, span)?;
        match second {
            true => Ok(holds),
            false => self.prim(Prim::Not, &[holds], span),
        }
    }

    /// What a value of a kind holds, where it is known to be of that kind.
    pub(super) fn part_of(
        &mut self,
        second: bool,
        val: &Val<'a>,
        ty: &Ty,
        span: SpanId,
    ) -> Run<Val<'a>> {
        match (val, sides(&self.ty(ty))) {
            (Val::Option(maybe), _) => self.there(&maybe.clone(), span),
            (Val::Tuple(parts), Some(sides)) if parts.len() == 3 => {
                let number = usize::from(second);
                self.released(&parts[1 + number], &sides[number], span)
            }
            _ => self.bug(span, "a value of one of two kinds was expected"),
        }
    }

    /// An `Option` as the element that may be there.
    pub(super) fn maybe(&mut self, val: &Val<'a>, ty: &Ty, span: SpanId) -> Run<Rc<Maybe<'a>>> {
        if let Val::Option(maybe) = val {
            return Ok(maybe.clone());
        }
        let present = self.is_second(val, span)?;
        let element = Element::Stored(val.clone(), ty.clone());
        Ok(Rc::new(Maybe { present, element }))
    }

    /// `x.unwrap()` of an `Option` that is stored.
    pub(super) fn insist_stored(&mut self, val: &Val<'a>, ty: &Ty, span: SpanId) -> Run<Val<'a>> {
        let op = PointOp::Assert {
            cond: self.is_second(val, span)?,
            message: Message::plain("`unwrap()` of what is `None`"),
            shown: Vec::new(),
        };
        self.emit(Vec::new(), op, span);
        self.part_of(true, val, ty, span)
    }

    /// The same value with what `t.get(i)` gives stored.
    pub(super) fn settled(&mut self, val: Val<'a>, ty: &Ty, span: SpanId) -> Run<Val<'a>> {
        let ty = self.ty(ty);
        if !has_kinds(&ty) {
            return Ok(val);
        }
        match (&ty, val) {
            (Ty::Option(held), Val::Option(maybe)) => {
                let stored = self.branch(
                    maybe.present,
                    &[],
                    &mut |s| {
                        let element = s.there(&maybe, span)?;
                        s.held(&element, held, span)
                    },
                    &mut |s| s.nothing(held, span),
                    span,
                )?;
                let present = Val::Leaf(maybe.present);
                Ok(Val::Tuple(vec![present, Val::Tuple(Vec::new()), stored]))
            }
            (Ty::Tuple(types) | Ty::Struct(_, types), Val::Tuple(parts)) => {
                let parts = types.iter().zip(parts);
                let parts: Run<Vec<Val<'a>>> = parts
                    .map(|(ty, part)| self.settled(part, ty, span))
                    .collect();
                Ok(Val::Tuple(parts?))
            }
            (_, val) => Ok(val),
        }
    }

    /// A value as it is held: members by their numbers.
    fn held(&mut self, val: &Val<'a>, ty: &Ty, span: SpanId) -> Run<Val<'a>> {
        let val = self.settled(val.clone(), ty, span)?;
        self.each_leaf(
            &val,
            span,
            &mut |s, leaf, _| match s.program.elem(leaf) {
                Elem::Index(_) => s.cast(leaf, Scalar::Usize, span),
                Elem::Scalar(_) | Elem::Bound(_) => Ok(leaf),
            },
            &[],
        )
    }

    /// A value that was held.
    fn released(&mut self, val: &Val<'a>, ty: &Ty, span: SpanId) -> Run<Val<'a>> {
        let mut types = Vec::new();
        self.leaf_types(ty, &mut types, span)?;
        self.each_leaf(
            val,
            span,
            &mut |s, leaf, ty| match ty.map(|ty| ty.elem) {
                Some(Elem::Index(extent)) => s.trust(leaf, extent, span),
                _ => Ok(leaf),
            },
            &types,
        )
    }

    /// A value with every scalar in it changed, given the type that stands for its leaf.
    fn each_leaf(
        &mut self,
        val: &Val<'a>,
        span: SpanId,
        change: &mut dyn FnMut(&mut Self, ValueId, Option<&Type<Extent>>) -> Run<ValueId>,
        types: &[Type<Extent>],
    ) -> Run<Val<'a>> {
        let mut out = Vec::new();
        for (number, leaf) in self.leaves(val, span)?.into_iter().enumerate() {
            let ty = types.get(number);
            let is_index = |elem: Elem| matches!(elem, Elem::Index(_));
            let stays =
                !is_index(self.program.elem(leaf)) && !ty.is_some_and(|ty| is_index(ty.elem));
            if stays {
                out.push(leaf);
                continue;
            }
            let dims = self.program.ty(leaf).dims.to_vec();
            out.extend(self.tabulate(&dims, span, &mut |s, at| {
                let cell = s.select_leaf(leaf, at, span);
                Ok(vec![change(s, cell, ty)?])
            })?);
        }
        Ok(self.rebuild(val, &mut out.into_iter()))
    }

    /// The types of the leaves that a value has which is held.
    fn leaf_types(&mut self, ty: &Ty, out: &mut Vec<Type<Extent>>, span: SpanId) -> Run<()> {
        match self.ty(ty) {
            Ty::Tuple(parts) | Ty::Struct(_, parts) => parts
                .iter()
                .try_for_each(|part| self.leaf_types(part, out, span)),
            Ty::Table(groups, cell) => {
                let dims = self.axes(&groups, span)?;
                let mut cells = Vec::new();
                self.leaf_types(&cell, &mut cells, span)?;
                out.extend(
                    cells
                        .into_iter()
                        .map(|cell| Type::table(cell.elem, [dims.as_slice(), &cell.dims].concat())),
                );
                Ok(())
            }
            ty @ (Ty::Option(_) | Ty::Either(_)) => {
                out.push(Type::scalar(Elem::BOOL));
                let inner = out.len();
                for side in sides(&ty).into_iter().flatten() {
                    self.leaf_types(&side, out, span)?;
                }
                // What it holds in turn stays held.
                for ty in &mut out[inner..] {
                    if let Elem::Index(_) = ty.elem {
                        ty.elem = Elem::Scalar(Scalar::Usize);
                    }
                }
                Ok(())
            }
            Ty::Member(set) => {
                let space = self.space(&set, span)?;
                self.member_types(&space, out);
                Ok(())
            }
            Ty::Extent(_) => Ok(()),
            ty @ (Ty::Scalar(_) | Ty::Float(_)) => {
                out.push(Type::scalar(Elem::Scalar(self.scalar(&ty, span)?)));
                Ok(())
            }
            Ty::Offset(_) | Ty::Function(..) | Ty::Accum(_) | Ty::Var(_) | Ty::Error => {
                let shown = self.printer().ty(ty);
                let span = self.at(span);
                self.fail(say::not_available(
                    span,
                    &format!("`{shown}` in an `Option` or `Either`"),
                ))
            }
        }
    }

    fn member_types(&self, space: &super::value::Space, out: &mut Vec<Type<Extent>>) {
        use super::value::Space;
        match space {
            Space::Axis(extent) | Space::Either(_, _, extent) => {
                out.push(Type::scalar(Elem::Index(*extent)));
            }
            Space::Bool => out.push(Type::scalar(Elem::BOOL)),
            Space::Rows(rows) => out.push(Type::scalar(Elem::Index(rows.values))),
            Space::Product(parts) => parts.iter().for_each(|part| self.member_types(part, out)),
        }
    }

    /// What stands where a value is of the other kind; of an `Option`, `None`.
    pub(super) fn nothing(&mut self, ty: &Ty, span: SpanId) -> Run<Val<'a>> {
        let mut types = Vec::new();
        self.leaf_types(ty, &mut types, span)?;
        let mut leaves = Vec::new();
        for ty in types {
            let zero = Lit::of(ty.elem.repr(), 0.0);
            leaves.extend(self.tabulate(&ty.dims, span, &mut |s, _| Ok(vec![s.lit(zero, span)]))?);
        }
        let shape = self.shape_of_type(ty, span)?;
        Ok(self.rebuild(&shape, &mut leaves.into_iter()))
    }

    /// A value of the type, whose leaves stand for others.
    fn shape_of_type(&mut self, ty: &Ty, span: SpanId) -> Run<Val<'a>> {
        let parts = |s: &mut Self, parts: &[Ty]| -> Run<Vec<Val<'a>>> {
            parts
                .iter()
                .map(|part| s.shape_of_type(part, span))
                .collect()
        };
        match self.ty(ty) {
            Ty::Tuple(types) | Ty::Struct(_, types) => Ok(Val::Tuple(parts(self, &types)?)),
            Ty::Table(_, cell) => self.shape_of_type(&cell, span),
            Ty::Member(set) => {
                let space = self.space(&set, span)?;
                Ok(self.shape_of(&space))
            }
            Ty::Extent(set) => Ok(Val::Extent(self.space(&set, span)?)),
            ty @ (Ty::Option(_) | Ty::Either(_)) => {
                let mut all = vec![Val::Leaf(ValueId(0))];
                all.extend(parts(
                    self,
                    &sides(&ty).into_iter().flatten().collect::<Vec<_>>(),
                )?);
                Ok(Val::Tuple(all))
            }
            _ => Ok(Val::Leaf(ValueId(0))),
        }
    }
}
