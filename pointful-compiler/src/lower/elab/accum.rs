//! Accumulators.

use std::rc::Rc;

use super::monoid::own_of;
use super::site::{Indexed, Site};
use super::value::{Accum, Val};
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::ir::stages::point::PointOp;
use crate::ir::{Monoid, Scalar, SpanId, ValueId};
use crate::lower::effects::Path;
use crate::lower::hir::{Expr, Place};
use crate::lower::types::Ty;

impl<'a> Elab<'a> {
    /// `Accum::zero()` and its like: as many identities as the type says.
    pub(super) fn new_accum(&mut self, monoid: Monoid, ty: &Ty, span: SpanId) -> Run<Val<'a>> {
        let Ty::Accum(content) = self.ty(ty) else {
            return self.bug(span, "an accumulator of another type");
        };
        if self.operators > 0 {
            let span = self.at(span);
            return self.fail(say::accum_in_operator(span));
        }
        let base = self.identity(monoid, &content, span)?;
        self.accum_from(monoid, &base, span)
    }

    /// The identity of a monoid in every leaf of a type.
    fn identity(&mut self, monoid: Monoid, ty: &Ty, span: SpanId) -> Run<Val<'a>> {
        match self.ty(ty) {
            Ty::Tuple(parts) | Ty::Struct(_, parts) => {
                let parts: Run<Vec<Val<'a>>> = parts
                    .iter()
                    .map(|p| self.identity(monoid, p, span))
                    .collect();
                Ok(Val::Tuple(parts?))
            }
            Ty::Table(groups, cell) => {
                let axes = self.axes(&groups, span)?;
                let mut shape = None;
                let tables = self.tabulate(&axes, span, &mut |s, _| {
                    let cell = s.identity(monoid, &cell, span)?;
                    let leaves = s.leaves(&cell, span)?;
                    shape = Some(cell);
                    Ok(leaves)
                })?;
                match shape {
                    Some(shape) => Ok(self.rebuild(&shape, &mut tables.into_iter())),
                    None => self.bug(span, "a loop without a body"),
                }
            }
            other => {
                let scalar = self.scalar(&other, span)?;
                if matches!(monoid, Monoid::And | Monoid::Or) != (scalar == Scalar::Bool) {
                    let span = self.at(span);
                    let shown = format!("`{}`", scalar.name());
                    return self.fail(say::reduce_elements(span, "this accumulator", &shown));
                }
                Ok(Val::Leaf(self.lit(monoid.identity(scalar), span)))
            }
        }
    }

    /// A new accumulator that begins as a value.
    pub(super) fn accum_from(
        &mut self,
        monoid: Monoid,
        base: &Val<'a>,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let mut accums = Vec::new();
        for base in self.leaves(base, span)? {
            let ty = self.program.ty(base).clone();
            accums.push(self.op(PointOp::Accum { monoid, base }, ty, span));
        }
        Ok(Val::Accum(Rc::new(Accum {
            monoid,
            parts: self.rebuild(base, &mut accums.into_iter()),
            indices: Vec::new(),
            block: self.serial(),
        })))
    }

    /// Combines a value into a part of an accumulator.
    pub(super) fn accumulate(
        &mut self,
        accum: &Accum<'a>,
        indices: &[ValueId],
        val: &Val<'a>,
        span: SpanId,
    ) -> Run<()> {
        let mut indices = [accum.indices.as_slice(), indices].concat();
        // What is added to may be the part of a table that a loop around has to itself: its own indices are behind us.
        if let Val::Part(part) = &accum.parts {
            indices.drain(..part.axes.min(indices.len()));
        }
        let accums = self.leaves(&accum.parts, span)?;
        let values = self.leaves(val, span)?;
        for (acc, value) in accums.into_iter().zip(values) {
            let op = PointOp::Accumulate {
                acc,
                indices: indices.clone(),
                value,
            };
            self.emit(Vec::new(), op, span);
        }
        Ok(())
    }

    /// `acc.put(v)`
    pub(super) fn put(&mut self, place: &'a Place, value: &'a Expr, span: SpanId) -> Run<Val<'a>> {
        let val = self.eval(value)?;
        let (path, indices) = self.reach(place)?;
        self.put_value(&path, &indices, val, span)?;
        Ok(Val::Tuple(Vec::new()))
    }

    /// `acc.get(k).put(v)`, which is this expression.
    pub(super) fn put_at(
        &mut self,
        put: &'a Expr,
        place: &'a Place,
        at: &'a [Expr],
        value: &'a Expr,
    ) -> Run<Val<'a>> {
        let span = put.span;
        let (path, around) = self.reach(place)?;
        let site = Site {
            at: span,
            of: Indexed::Place(place),
        };
        let at = self.positions(&place.ty, at, false, site)?;
        let val = self.eval(value)?;
        let present = self.presence(&at, span)?;
        let states = self.states_of(|effects| effects.expr(put));
        let unit = || Ok(Val::Tuple(Vec::new()));
        let mut there = |s: &mut Self| {
            let indices = [around.clone(), s.indices_there(&at, span)?].concat();
            s.put_value(&path, &indices, val.clone(), span)?;
            unit()
        };
        self.branch(present, &states, &mut there, &mut |_| unit(), span)
    }

    fn put_value(
        &mut self,
        path: &Path,
        indices: &[ValueId],
        val: Val<'a>,
        span: SpanId,
    ) -> Run<()> {
        match self.read(path, span)? {
            Val::Accum(accum) => self.accumulate(&accum, indices, &val, span),
            Val::Slice(slice) => {
                let (path, around) = &*slice;
                self.put_own(path, &[around.as_slice(), indices].concat(), val, span)
            }
            target if own_of(&target).is_some() => self.put_own(path, indices, val, span),
            _ => {
                let name = self.name_of(path.0);
                let span = self.at(span);
                self.fail(say::accum_spent(span, &name))
            }
        }
    }

    /// `&mut acc[i]`
    pub(super) fn slice(&mut self, place: &'a Place) -> Run<Val<'a>> {
        let (path, indices) = self.reach(place)?;
        match self.read(&path, place.span)? {
            Val::Accum(accum) => Ok(Val::Accum(Rc::new(Accum {
                indices: [accum.indices.as_slice(), &indices].concat(),
                ..(*accum).clone()
            }))),
            Val::Slice(slice) => {
                let (path, around) = &*slice;
                let indices = [around.as_slice(), &indices].concat();
                Ok(Val::Slice(Rc::new((path.clone(), indices))))
            }
            target if own_of(&target).is_some() => Ok(Val::Slice(Rc::new((path, indices)))),
            _ => {
                let name = self.name_of(path.0);
                let span = self.at(place.span);
                self.fail(say::accum_spent(span, &name))
            }
        }
    }

    /// What an accumulator became.
    pub(super) fn taken(&mut self, accum: &Accum<'a>, span: SpanId) -> Run<Val<'a>> {
        let mut values = Vec::new();
        for acc in self.leaves(&accum.parts, span)? {
            let ty = self.program.ty(acc).clone();
            values.push(self.op(PointOp::Get { acc }, ty, span));
        }
        Ok(self.rebuild(&accum.parts, &mut values.into_iter()))
    }

    /// `acc.get()`, written on a variable.
    pub(super) fn take(&mut self, path: &Path, span: SpanId) -> Run<Val<'a>> {
        let name = self.name_of(path.0);
        match self.read(path, span)? {
            Val::Accum(accum) if accum.block == self.serial() && accum.indices.is_empty() => {
                let val = self.taken(&accum, span)?;
                self.write(path, Val::Spent, span)?;
                Ok(val)
            }
            Val::Own(own) if own.block == self.serial() => {
                self.write(path, Val::Spent, span)?;
                Ok(own.val.clone())
            }
            Val::Accum(_) | Val::Own(_) | Val::Part(_) | Val::Slice(_) => {
                let span = self.at(span);
                self.fail(say::accum_get_place(span, &name))
            }
            _ => {
                let span = self.at(span);
                self.fail(say::accum_spent(span, &name))
            }
        }
    }
}
