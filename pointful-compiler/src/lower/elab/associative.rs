//! Operators tried on a few elements, as associativity is what `reduce`, `scan` and `Accum::monoid`
//! take on trust.
//!
//! Of the first, the middle and the last three elements that follow each other, `(a ⊕ b) ⊕ c` and
//! `a ⊕ (b ⊕ c)` are compared; an identity with the first, the middle and the last element. Floats
//! may differ by rounding, measured at the largest number seen: an operator that cancels what is
//! larger inside of it is one whose author must say that it is associative.

use super::{Elab, Run};
use crate::ir::stages::point::PointOp;
use crate::ir::{Elem, Extent, Lit, Message, Monoid, Scalar, SpanId, ValueId};
use crate::ops::Prim;

/// Rounding errors, in units of the last place of the largest number seen.
const ROUNDING: f64 = 64.0;

/// How many places of a table are looked at.
const PLACES: u64 = 3;

/// What is to be tried.
#[derive(Clone, Copy)]
pub(super) struct Claim<'t> {
    /// What takes the operator: `reduce`
    pub(super) word: &'t str,
    /// Where the operator is written.
    pub(super) place: SpanId,
    /// What is said to be its identity.
    pub(super) identity: Option<&'t [ValueId]>,
}

/// The operator: the leaves of two operands, one after the other, to those of what it makes of
/// them.
type Operator<'f, 'a> = super::op::At<'f, 'a>;

impl<'a> Elab<'a> {
    /// Has a program that tries its operators panic if this one does not keep its promise on these
    /// tables.
    pub(super) fn try_operator(
        &mut self,
        claim: Claim<'_>,
        tables: &[ValueId],
        f: &mut Operator<'_, 'a>,
    ) -> Run<()> {
        let function = self.functions[self.frame.function].tree;
        if function.has_option("associative") || self.derivatives > 0 {
            return Ok(());
        }
        self.has_debug_form = true;
        if !self.is_debug_form {
            return Ok(());
        }
        let span = claim.place;
        let three = self.at_places(tables, 3, span, &mut |s, elements| {
            let [a, b, c] = elements else {
                return s.bug(span, "three elements were asked for");
            };
            let mut pair = |s: &mut Self, x: &[ValueId], y: &[ValueId]| f(s, &[x, y].concat());
            let (ab, bc) = (pair(s, a, b)?, pair(s, b, c)?);
            let (left, right) = (pair(s, &ab, c)?, pair(s, a, &bc)?);
            s.alike(&left, &right, &[a, b, c, &ab, &bc], span)
        })?;
        let grouped = format!(
            "the operator of `{}`{} is not associative: `(a ⊕ b) ⊕ c` and `a ⊕ (b ⊕ c)` differ. Where each step needs the one before, write a loop, `let mut s = init; for i in _ {{ s = f(s, t[i]); }}`; if they differ only by rounding inside of the operator, write `#[pointful(associative)]`",
            claim.word,
            self.written_at(span)
        );
        self.promised(three, grouped, span);
        if let Some(identity) = claim.identity {
            let one = self.at_places(tables, 1, span, &mut |s, elements| {
                let x = &elements[0];
                let left = f(s, &[identity, x].concat())?;
                let right = f(s, &[x, identity].concat())?;
                let left = s.alike(&left, x, &[], span)?;
                let right = s.alike(&right, x, &[], span)?;
                s.prim(Prim::And, &[left, right], span)
            })?;
            let changed = format!(
                "the identity of `{}`{} is none: its operator makes something else of it and an element than the element",
                claim.word,
                self.written_at(span)
            );
            self.promised(one, changed, span);
        }
        Ok(())
    }

    /// ` at src/lib.rs:3:5`, if the place is known.
    fn written_at(&self, span: SpanId) -> String {
        let span = self.at(span);
        let (file, start) = (span.file(), span.start());
        match start.line {
            0 => String::new(),
            line => format!(" at {file}:{line}:{}", start.column + 1),
        }
    }

    fn promised(&mut self, cond: Option<ValueId>, message: String, span: SpanId) {
        if let Some(cond) = cond {
            let op = PointOp::Assert {
                cond,
                message: Message::plain(message),
                shown: Vec::new(),
            };
            self.emit(Vec::new(), op, span);
        }
    }

    /// Whether something holds of so many elements that follow each other, at the first, the middle
    /// and the last place where there are so many.
    fn at_places(
        &mut self,
        tables: &[ValueId],
        elements: u64,
        span: SpanId,
        holds: &mut dyn FnMut(&mut Self, &[Vec<ValueId>]) -> Run<ValueId>,
    ) -> Run<Option<ValueId>> {
        let Some(&extent) = tables
            .first()
            .and_then(|t| self.program.ty(*t).dims.first())
        else {
            return Ok(None);
        };
        let places = match extent {
            Extent::Const(n) if n < elements => return Ok(None),
            Extent::Const(_) => Extent::Const(PLACES),
            Extent::Size(_) | Extent::Value(_) => {
                let (size, needed) = (self.size(extent, span), self.usize(elements, span));
                let (one, places) = (self.usize(1, span), self.usize(PLACES, span));
                let enough = self.prim(Prim::Div, &[size, needed], span)?;
                let enough = self.prim(Prim::Min, &[enough, one], span)?;
                let count = self.prim(Prim::Mul, &[enough, places], span)?;
                self.extent_of(count)
            }
        };
        let held = self.tabulate(&[places], span, &mut |s, at| {
            let place = s.cast(at[0], Scalar::Usize, span)?;
            let (size, needed) = (s.size(extent, span), s.usize(elements, span));
            let gaps = s.usize(PLACES - 1, span);
            let last = s.prim(Prim::Sub, &[size, needed], span)?;
            let far = s.prim(Prim::Mul, &[place, last], span)?;
            let first = s.prim(Prim::Div, &[far, gaps], span)?;
            let mut found = Vec::new();
            for k in 0..elements {
                let k = s.usize(k, span);
                let number = s.prim(Prim::Add, &[first, k], span)?;
                let index = s.trust(number, extent, span)?;
                let leaves = tables.iter().map(|t| s.select_leaf(*t, &[index], span));
                found.push(leaves.collect());
            }
            Ok(vec![holds(s, &found)?])
        })?;
        Ok(Some(self.reduce_first(Monoid::And, held[0], span)))
    }

    /// Whether two values are the same but for rounding, of numbers as large as those among what
    /// was seen. Where something overflows, everything is.
    fn alike(
        &mut self,
        left: &[ValueId],
        right: &[ValueId],
        seen: &[&[ValueId]],
        span: SpanId,
    ) -> Run<ValueId> {
        let mut largest = self.lit(Lit::of(Scalar::F64, 0.0), span);
        for &leaf in [&[left, right], seen].concat().into_iter().flatten() {
            if self.program.elem(leaf).is_float() {
                let size = self.over_cells(&[leaf], Monoid::Max, span, &mut |s, x| {
                    let size = s.prim(Prim::Abs, x, span)?;
                    s.cast(size, Scalar::F64, span)
                })?;
                largest = self.prim(Prim::Max, &[largest, size], span)?;
            }
        }
        let measurable = self.prim(Prim::IsFinite, &[largest], span)?;
        let overflows = self.prim(Prim::Not, &[measurable], span)?;
        let mut all = self.lit(Lit::Bool(true), span);
        for (&l, &r) in left.iter().zip(right) {
            let elem = self.program.elem(l);
            let same = self.over_cells(&[l, r], Monoid::And, span, &mut |s, x| match elem {
                Elem::Scalar(scalar) if scalar.is_float() => {
                    let same = s.near(x, scalar, largest, span)?;
                    s.prim(Prim::Or, &[same, overflows], span)
                }
                _ => {
                    let (l, r) = (s.number(x[0], span)?, s.number(x[1], span)?);
                    s.prim(Prim::Eq, &[l, r], span)
                }
            })?;
            all = self.prim(Prim::And, &[all, same], span)?;
        }
        Ok(all)
    }

    /// Whether two floats are equal, both NaN, or apart by what rounding does to the largest
    /// number.
    fn near(
        &mut self,
        x: &[ValueId],
        scalar: Scalar,
        largest: ValueId,
        span: SpanId,
    ) -> Run<ValueId> {
        let epsilon = match scalar {
            Scalar::F32 => f64::from(f32::EPSILON),
            _ => f64::EPSILON,
        };
        let rounding = self.lit(Lit::of(Scalar::F64, ROUNDING * epsilon), span);
        let room = self.prim(Prim::Mul, &[largest, rounding], span)?;
        let apart = self.prim(Prim::Sub, x, span)?;
        let apart = self.prim(Prim::Abs, &[apart], span)?;
        let apart = self.cast(apart, Scalar::F64, span)?;
        let close = self.prim(Prim::Le, &[apart, room], span)?;
        let equal = self.prim(Prim::Eq, x, span)?;
        let close = self.prim(Prim::Or, &[close, equal], span)?;
        let (l, r) = (
            self.prim(Prim::IsNan, &x[..1], span)?,
            self.prim(Prim::IsNan, &x[1..], span)?,
        );
        let none = self.prim(Prim::And, &[l, r], span)?;
        self.prim(Prim::Or, &[close, none], span)
    }

    /// A scalar that is compared exactly.
    fn number(&mut self, x: ValueId, span: SpanId) -> Run<ValueId> {
        match self.program.elem(x) {
            Elem::Index(_) | Elem::Bound(_) => self.cast(x, Scalar::Usize, span),
            Elem::Scalar(_) => Ok(x),
        }
    }

    /// Something of the cells of leaves with the same axes, combined over all axes.
    fn over_cells(
        &mut self,
        leaves: &[ValueId],
        monoid: Monoid,
        span: SpanId,
        f: &mut dyn FnMut(&mut Self, &[ValueId]) -> Run<ValueId>,
    ) -> Run<ValueId> {
        let axes = self.program.ty(leaves[0]).dims.clone();
        let tables = self.tabulate(&axes, span, &mut |s, at| {
            let cells: Vec<ValueId> = leaves.iter().map(|l| s.select_leaf(*l, at, span)).collect();
            Ok(vec![f(s, &cells)?])
        })?;
        let mut value = tables[0];
        // Rows before columns.
        for outer in (0..axes.len()).rev() {
            let around = axes[..outer].to_vec();
            let rows = self.tabulate(&around, span, &mut |s, at| {
                let row = s.select_leaf(value, at, span);
                Ok(vec![s.reduce_first(monoid, row, span)])
            })?;
            value = rows[0];
        }
        Ok(value)
    }
}
