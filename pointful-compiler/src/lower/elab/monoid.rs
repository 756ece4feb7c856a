//! Accumulators with an operator of their own: `Accum::monoid(identity, |a, b| e)`.
//!
//! Point accumulates with the operations it knows. Any other operator is run in place, and the
//! accumulator is a value that control flow carries as it does any variable. But nothing reads it,
//! so a loop need not carry it: each iteration begins with the identity, and what they made is
//! combined by a `reduce`, which needs no order. Where iterations have elements of the accumulator
//! to themselves, each gets its part, as with any table. Only elements at computed places are
//! updated one after the other.

use std::rc::Rc;

use super::associative::Claim;
use super::value::{Own, Part, Val};
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::ir::{Extent, SpanId, ValueId};
use crate::lower::effects::Path;
use crate::lower::hir::Expr;
use crate::lower::types::Ty;

impl<'a> Elab<'a> {
    /// `Accum::monoid(identity, op)`: as many identities as the type says.
    pub(super) fn new_own(
        &mut self,
        identity: &'a Expr,
        op: &'a Expr,
        ty: &Ty,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let Ty::Accum(content) = self.ty(ty) else {
            return self.bug(span, "an accumulator of another type");
        };
        let one = self.eval(identity)?;
        let place = op.span;
        let op = self.eval(op)?;
        let mut ranks = Vec::new();
        for leaf in self.leaves(&one, span)? {
            ranks.push(self.program.ty(leaf).dims.len());
        }
        let around = self.around_cells(&content, &identity.ty, span)?;
        let val = self.replicate(&one, &around, span)?;
        Ok(Val::Own(Rc::new(Own {
            op,
            place,
            ranks,
            identity: val.clone(),
            val,
            untouched: true,
            block: self.serial(),
        })))
    }

    /// The axes of a type in front of those that its cells have, which are the same for all parts
    /// of a tuple.
    fn around_cells(&mut self, whole: &Ty, cell: &Ty, span: SpanId) -> Run<Vec<Extent>> {
        if let (Ty::Tuple(wholes), Ty::Tuple(cells)) = (self.ty(whole), self.ty(cell)) {
            let mut all = Vec::new();
            for (whole, cell) in wholes.iter().zip(&cells) {
                all.push(self.around_cells(whole, cell, span)?);
            }
            all.dedup();
            return match all.as_slice() {
                [] => Ok(Vec::new()),
                [same] => Ok(same.clone()),
                _ => {
                    let span = self.at(span);
                    self.fail(say::not_available(
                        span,
                        "an accumulator of tuples of tables over different sets",
                    ))
                }
            };
        }
        let (outer, inner) = (self.split(whole).0, self.split(cell).0);
        let (mut outer, inner) = (self.axes(&outer, span)?, self.axes(&inner, span)?);
        outer.truncate(outer.len().saturating_sub(inner.len()));
        Ok(outer)
    }

    /// Combines a value into what stands at some indices of an accumulator of this kind.
    pub(super) fn put_own(
        &mut self,
        path: &Path,
        indices: &[ValueId],
        val: Val<'a>,
        span: SpanId,
    ) -> Run<()> {
        let target = self.read(path, span)?;
        let Some((own, axes)) = own_of(&target) else {
            return self.bug(span, "an accumulator was expected");
        };
        let rest = indices.get(axes..).unwrap_or_default();
        let new = if own.untouched && rest.is_empty() {
            val
        } else {
            let now = self.select(&own.val, rest, span)?;
            self.combined(&own, &now, &val, span)?
        };
        let own = Own {
            val: self.replaced(&own.val, rest, new, span)?,
            untouched: false,
            ..own
        };
        self.write(path, within(&target, own), span)
    }

    /// Puts what became of a part of such an accumulator back in its place.
    pub(super) fn put_part(
        &mut self,
        path: &Path,
        indices: &[ValueId],
        part: Val<'a>,
        span: SpanId,
    ) -> Run<()> {
        let target = self.read(path, span)?;
        let (Some((own, axes)), Some((part, _))) = (own_of(&target), own_of(&part)) else {
            return self.bug(span, "an accumulator was expected");
        };
        let rest = indices.get(axes..).unwrap_or_default();
        let own = Own {
            val: self.replaced(&own.val, rest, part.val, span)?,
            untouched: false,
            ..own
        };
        self.write(path, within(&target, own), span)
    }

    /// Two values combined, cell by cell.
    fn combined(
        &mut self,
        own: &Own<'a>,
        left: &Val<'a>,
        right: &Val<'a>,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let leaves = self.leaves(left, span)?;
        let around = match (leaves.first(), own.ranks.first()) {
            (Some(leaf), Some(rank)) => {
                let mut dims = self.program.ty(*leaf).dims.clone();
                dims.truncate(dims.len().saturating_sub(*rank));
                dims
            }
            _ => Vec::new(),
        };
        let tables = self.tabulate(&around, span, &mut |s, at| {
            let cells = vec![s.select(left, at, span)?, s.select(right, at, span)?];
            let cell = s.apply(&own.op, cells, span)?;
            s.leaves(&cell, span)
        })?;
        Ok(self.rebuild(left, &mut tables.into_iter()))
    }

    /// Lets an iteration begin with the identity.
    pub(super) fn begin_own(&mut self, path: &Path, whole: &Val<'a>, span: SpanId) -> Run<()> {
        let Some((own, _)) = own_of(whole) else {
            return self.bug(span, "an accumulator was expected");
        };
        let own = Own {
            val: own.identity.clone(),
            untouched: true,
            ..own
        };
        self.write(path, within(whole, own), span)
    }

    /// Combines what the iterations of a loop over these axes made with what an accumulator was
    /// before.
    pub(super) fn end_own(
        &mut self,
        path: &Path,
        whole: &Val<'a>,
        (made, axes): (Vec<ValueId>, &[Extent]),
        span: SpanId,
    ) -> Run<()> {
        let Some((own, _)) = own_of(whole) else {
            return self.bug(span, "an accumulator was expected");
        };
        let made = self.rebuild(&own.val, &mut made.into_iter());
        let tables = self.flatten(&made, axes, span)?;
        let init = self.leaves(&own.val, span)?;
        let identity = self.leaves(&own.identity, span)?;
        let claim = Claim {
            word: "Accum::monoid",
            place: own.place,
            identity: Some(&identity),
        };
        let after = self.combine(false, &init, &tables, Some(claim), span, &mut |s, sides| {
            let (left, right) = sides.split_at(init.len());
            let left = s.rebuild(&own.val, &mut left.iter().copied());
            let right = s.rebuild(&own.val, &mut right.iter().copied());
            let both = s.combined(&own, &left, &right, span)?;
            s.leaves(&both, span)
        })?;
        let own = Own {
            val: self.rebuild(&own.val, &mut after.into_iter()),
            untouched: false,
            ..own
        };
        self.write(path, within(whole, own), span)
    }
}

/// The accumulator with an operator of its own that a value is, or of which it is a part; and how
/// many leading indices the part has.
pub(super) fn own_of<'a>(val: &Val<'a>) -> Option<(Own<'a>, usize)> {
    match val {
        Val::Own(own) => Some(((**own).clone(), 0)),
        Val::Part(part) => match &part.val {
            Val::Own(own) => Some(((**own).clone(), part.axes)),
            _ => None,
        },
        _ => None,
    }
}

/// The accumulator in place of another, or of the part of it.
fn within<'a>(target: &Val<'a>, own: Own<'a>) -> Val<'a> {
    let val = Val::Own(Rc::new(own));
    match target {
        Val::Part(part) => Val::Part(Rc::new(Part {
            val,
            ..(**part).clone()
        })),
        _ => val,
    }
}
