//! `filter`: the elements of a table for which something holds.
//!
//! How many are kept up to each of them says where it stands among those. So the numbers of those
//! that are kept come to their places without an order, and the elements are read by them: their
//! cotangents go back where they came from.

use super::value::Val;
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::ir::stages::point::PointOp;
use crate::ir::{Lit, Monoid, Scalar, SpanId, ValueId};
use crate::lower::hir::Expr;
use crate::lower::types::Set;
use crate::ops::Prim;

impl<'a> Elab<'a> {
    /// `filter(f, t)`
    pub(super) fn filter(
        &mut self,
        set: &Set,
        predicate: &'a Expr,
        table: &'a Expr,
        span: SpanId,
    ) -> Run<Val<'a>> {
        if self.operators > 0 {
            let span = self.at(span);
            return self.fail(say::not_available(span, "`filter` in an operator"));
        }
        let f = self.eval(predicate)?;
        let all = self.eval(table)?;
        let (groups, _) = self.split(&table.ty);
        let axes = self.axes(&groups[..1], span)?;
        let whole = self.flat_extent(&axes, span)?;
        let tables = self.flatten(&all, &axes, span)?;
        let element = |s: &mut Self, at: ValueId| -> Vec<ValueId> {
            let cells = tables.iter().map(|t| s.select_leaf(*t, &[at], span));
            cells.collect()
        };
        let kept = self.tabulate(&[whole], span, &mut |s, at| {
            let cells = element(s, at[0]);
            let cell = s.rebuild(&all, &mut cells.into_iter());
            let keeps = s.apply(&f, vec![cell], span)?;
            Ok(vec![s.leaf(&keeps, span)?])
        })?[0];
        let numbers = self.kept_numbers(set, kept, span)?;
        let among = self.program.ty(numbers).dims[0];
        let made = self.tabulate(&[among], span, &mut |s, at| {
            let number = s.select_leaf(numbers, at, span);
            let index = s.trust(number, whole, span)?;
            Ok(element(s, index))
        })?;
        Ok(self.rebuild(&all, &mut made.into_iter()))
    }

    /// The numbers of what is kept, in order, over the set of as many.
    fn kept_numbers(&mut self, set: &Set, kept: ValueId, span: SpanId) -> Run<ValueId> {
        let whole = self.program.ty(kept).dims[0];
        let ones = self.tabulate(&[whole], span, &mut |s, at| {
            let keeps = s.select_leaf(kept, at, span);
            Ok(vec![s.cast(keeps, Scalar::Usize, span)?])
        })?;
        let zero = self.usize(0, span);
        let add =
            &mut |s: &mut Self, sides: &[ValueId]| Ok(vec![s.prim(Prim::Add, sides, span)?]);
        let upto = self.combine(true, &[zero], &ones, None, span, add)?[0];
        let count = self.reduce_first(Monoid::Add, ones[0], span);
        let among = match self.new_space(set, &Val::Leaf(count), span)?.axes()[..] {
            [among] => among,
            _ => return self.bug(span, "a range of several axes"),
        };
        let nothing = Lit::Int(Scalar::Usize, 0);
        let base = self.tabulate(&[among], span, &mut |s, _| Ok(vec![s.lit(nothing, span)]))?[0];
        let ty = self.program.ty(base).clone();
        let monoid = Monoid::Add;
        let acc = self.op(PointOp::Accum { monoid, base }, ty.clone(), span);
        self.tabulate(&[whole], span, &mut |s, at| {
            let keeps = s.select_leaf(kept, at, span);
            let mut put = |s: &mut Self| {
                let (upto, one) = (s.select_leaf(upto, at, span), s.usize(1, span));
                let place = s.prim(Prim::Sub, &[upto, one], span)?;
                let place = s.trust(place, among, span)?;
                let op = PointOp::Accumulate {
                    acc,
                    indices: vec![place],
                    value: s.cast(at[0], Scalar::Usize, span)?,
                };
                s.emit(Vec::new(), op, span);
                Ok(Val::Tuple(Vec::new()))
            };
            let mut leave = |_: &mut Self| Ok(Val::Tuple(Vec::new()));
            s.branch(keeps, &[], &mut put, &mut leave, span)?;
            Ok(Vec::new())
        })?;
        Ok(self.op(PointOp::Get { acc }, ty, span))
    }
}
