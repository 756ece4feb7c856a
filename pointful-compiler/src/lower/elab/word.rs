//! Reductions and scans.

use super::associative::Claim;
use super::op::At;
use super::value::Val;
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Elem, Extent, Monoid, Scalar, SpanId, Type, ValueId};
use crate::lower::hir::Expr;
use crate::lower::types::Ty;
use crate::lower::words::Word;
use crate::ops::Prim;

impl<'a> Elab<'a> {
    /// A word of one table.
    pub(super) fn word(&mut self, word: Word, table: &'a Expr, span: SpanId) -> Run<Val<'a>> {
        let val = self.eval(table)?;
        let (groups, _) = self.split(&table.ty);
        let axes = self.axes(&groups[..1], span)?;
        match word {
            Word::Sum => self.reduce(Monoid::Add, &val, axes.len(), span),
            Word::Prod => self.reduce(Monoid::Mul, &val, axes.len(), span),
            Word::Min => self.reduce(Monoid::Min, &val, axes.len(), span),
            Word::Max => self.reduce(Monoid::Max, &val, axes.len(), span),
            Word::Any => self.reduce(Monoid::Or, &val, axes.len(), span),
            Word::All => self.reduce(Monoid::And, &val, axes.len(), span),
            Word::Count => {
                let numbers =
                    self.cells(&val, span, &mut |s, cell| s.cast(cell, Scalar::Usize, span))?;
                self.reduce(Monoid::Add, &numbers, axes.len(), span)
            }
            Word::Mean => {
                let sum = self.reduce(Monoid::Add, &val, axes.len(), span)?;
                let size = self.total(&axes, span)?;
                self.cells(&sum, span, &mut |s, cell| {
                    let scalar = s.program.elem(cell).repr();
                    let count = s.cast(size, scalar, span)?;
                    s.prim(Prim::Div, &[cell, count], span)
                })
            }
            Word::ArgMin | Word::ArgMax => {
                let numbers = self.ordered(&val, &table.ty, span)?;
                self.arg(word == Word::ArgMax, numbers, &groups[0], &axes, span)
            }
            Word::CumSum => self.cumulate(Monoid::Add, Prim::Add, &val, &axes, span),
            Word::CumProd => self.cumulate(Monoid::Mul, Prim::Mul, &val, &axes, span),
        }
    }

    /// Combines along the leading axes of every leaf.
    pub(super) fn reduce(
        &mut self,
        monoid: Monoid,
        val: &Val<'a>,
        axes: usize,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let mut out = Vec::new();
        for mut table in self.leaves(val, span)? {
            // Rows before columns: as the elements lie, and so that the first of equal elements is the first row's.
            for outer in (1..axes).rev() {
                let around = self.program.ty(table).dims[..outer].to_vec();
                let rows = self.tabulate(&around, span, &mut |s, at| {
                    let row = s.select_leaf(table, at, span);
                    Ok(vec![s.reduce_first(monoid, row, span)])
                })?;
                table = rows[0];
            }
            if axes > 0 {
                table = self.reduce_first(monoid, table, span);
            }
            out.push(table);
        }
        Ok(self.rebuild(val, &mut out.into_iter()))
    }

    /// Combines along the first axis.
    pub(super) fn reduce_first(&mut self, monoid: Monoid, table: ValueId, span: SpanId) -> ValueId {
        let ty = self.program.ty(table).clone();
        let rest = ty.dims.get(1..).unwrap_or_default().to_vec();
        let op = PointOp::Reduce { monoid, table };
        self.op(op, Type::table(ty.elem, rest), span)
    }

    /// Every scalar of every leaf.
    fn cells(
        &mut self,
        val: &Val<'a>,
        span: SpanId,
        f: &mut dyn FnMut(&mut Self, ValueId) -> Run<ValueId>,
    ) -> Run<Val<'a>> {
        let mut out = Vec::new();
        for table in self.leaves(val, span)? {
            let axes = self.program.ty(table).dims.clone();
            let results = self.tabulate(&axes, span, &mut |s, at| {
                let cell = s.select_leaf(table, at, span);
                Ok(vec![f(s, cell)?])
            })?;
            out.extend(results);
        }
        Ok(self.rebuild(val, &mut out.into_iter()))
    }

    /// The numbers by which a table's elements are ordered: truth values and members of index sets
    /// are by their ordinals.
    fn ordered(&mut self, val: &Val<'a>, ty: &Ty, span: SpanId) -> Run<ValueId> {
        let (groups, cell) = self.split(ty);
        if !matches!(
            cell,
            Ty::Scalar(Scalar::Bool) | Ty::Member(_) | Ty::Tuple(_)
        ) {
            return self.leaf(val, span);
        }
        let axes = self.axes(&groups, span)?;
        let numbers = self.tabulate(&axes, span, &mut |s, at| {
            let member = s.select(val, at, span)?;
            Ok(vec![s.ordinal(&member, &cell, span)?])
        })?;
        Ok(numbers[0])
    }

    /// The index of the first extremal element along the leading axes, for each cell of the others.
    fn arg(
        &mut self,
        max: bool,
        table: ValueId,
        group: &crate::lower::types::Set,
        axes: &[Extent],
        span: SpanId,
    ) -> Run<Val<'a>> {
        let inner = self
            .program
            .ty(table)
            .dims
            .get(axes.len()..)
            .unwrap_or_default()
            .to_vec();
        let space = self.space(group, span)?;
        let indices = self.tabulate(&inner, span, &mut |s, at| {
            let flat = s.flat_extent(axes, span)?;
            let line = s.line(table, axes, flat, at, span)?;
            let ty = Type::scalar(Elem::Index(flat));
            let found = s.op(PointOp::ArgReduce { max, table: line }, ty, span);
            s.unflatten(found, axes, span)
        })?;
        // Where only one axis was searched and nothing is left around, the indices are the member itself.
        if inner.is_empty() {
            return self.member(&space, &mut indices.into_iter(), span);
        }
        let shape = self.shape_of(&space);
        Ok(self.rebuild(&shape, &mut indices.into_iter()))
    }

    /// A value of the structure of a set's members, to be filled with leaves.
    pub(super) fn shape_of(&self, space: &super::value::Space) -> Val<'a> {
        use super::value::Space;
        match space {
            Space::Axis(_) | Space::Bool | Space::Either(..) | Space::Rows(_) => {
                Val::Leaf(ValueId(0))
            }
            Space::Product(parts) => Val::Tuple(parts.iter().map(|p| self.shape_of(p)).collect()),
        }
    }

    /// The elements along the leading axes at one point of the others, as a table of one axis.
    fn line(
        &mut self,
        table: ValueId,
        axes: &[Extent],
        flat: Extent,
        at: &[ValueId],
        span: SpanId,
    ) -> Run<ValueId> {
        if axes.len() == 1 && at.is_empty() {
            return Ok(table);
        }
        let lines = self.tabulate(&[flat], span, &mut |s, number| {
            let mut indices = s.unflatten(number[0], axes, span)?;
            indices.extend_from_slice(at);
            Ok(vec![s.select_leaf(table, &indices, span)])
        })?;
        Ok(lines[0])
    }

    /// Leading axes of every leaf made one.
    pub(super) fn flatten(
        &mut self,
        val: &Val<'a>,
        axes: &[Extent],
        span: SpanId,
    ) -> Run<Vec<ValueId>> {
        let mut out = Vec::new();
        let flat = self.flat_extent(axes, span)?;
        for table in self.leaves(val, span)? {
            out.push(self.line(table, axes, flat, &[], span)?);
        }
        Ok(out)
    }

    /// The opposite of [`Self::flatten`].
    fn unflatten_tables(
        &mut self,
        tables: &[ValueId],
        axes: &[Extent],
        span: SpanId,
    ) -> Run<Vec<ValueId>> {
        if axes.len() == 1 {
            return Ok(tables.to_vec());
        }
        let Some(flat) = tables.first().map(|t| self.program.ty(*t).dims[0]) else {
            return Ok(Vec::new());
        };
        self.tabulate(axes, span, &mut |s, at| {
            let number = s.flat_ordinal(at, axes, span)?;
            let index = s.trust(number, flat, span)?;
            Ok(tables
                .iter()
                .map(|t| s.select_leaf(*t, &[index], span))
                .collect())
        })
    }

    /// `cumsum`, `cumprod`: each element with everything before it.
    fn cumulate(
        &mut self,
        monoid: Monoid,
        prim: Prim,
        val: &Val<'a>,
        axes: &[Extent],
        span: SpanId,
    ) -> Run<Val<'a>> {
        let tables = self.flatten(val, axes, span)?;
        let mut out = Vec::new();
        for table in tables {
            let ty = self.program.ty(table).clone();
            let inner = ty.dims[1..].to_vec();
            let identity = self.lit(monoid.identity(ty.elem.repr()), span);
            let init = self.tabulate(&inner, span, &mut |_, _| Ok(vec![identity]))?;
            let scanned = self.combine(true, &init, &[table], None, span, &mut |s, sides| {
                let results = s.tabulate(&inner, span, &mut |s, at| {
                    let a = s.select_leaf(sides[0], at, span);
                    let b = s.select_leaf(sides[1], at, span);
                    Ok(vec![s.prim(prim, &[a, b], span)?])
                })?;
                Ok(results)
            })?;
            out.extend(scanned);
        }
        let out = self.unflatten_tables(&out, axes, span)?;
        Ok(self.rebuild(val, &mut out.into_iter()))
    }

    /// `reduce` or `scan` along the leading axis of tables, by an operator of the author's if there
    /// is a claim about it.
    pub(super) fn combine(
        &mut self,
        scan: bool,
        init: &[ValueId],
        tables: &[ValueId],
        claim: Option<Claim<'_>>,
        span: SpanId,
        f: &mut At<'_, 'a>,
    ) -> Run<Vec<ValueId>> {
        let types: Vec<Type<Extent>> = init.iter().map(|i| self.program.ty(*i).clone()).collect();
        let mut params = Vec::new();
        for _ in 0..2 {
            for ty in &types {
                params.push(self.program.value(ty.clone(), span));
            }
        }
        self.begin(&params);
        self.operators += 1;
        let results = f(self, &params)?;
        self.operators -= 1;
        let op = self.end(results, say::escaping_range, span)?;
        let extent = tables
            .first()
            .and_then(|t| self.program.ty(*t).dims.first().copied())
            .unwrap_or(Extent::Const(0));
        match (monoids(&op), claim) {
            (Some(monoids), _) if !scan => return self.reduced(&monoids, init, tables, span),
            (None, Some(claim)) => self.try_operator(claim, tables, f)?,
            _ => {}
        }
        let (init, tables) = (init.to_vec(), tables.to_vec());
        let mut out = Vec::new();
        for ty in types {
            out.push(if scan {
                self.stacked(ty, extent, span)
            } else {
                self.fresh(ty, span)
            });
        }
        let op = if scan {
            PointOp::Scan {
                init,
                tables,
                op: Box::new(op),
            }
        } else {
            PointOp::Fold {
                init,
                tables,
                op: Box::new(op),
            }
        };
        self.emit(out.clone(), op, span);
        Ok(out)
    }

    /// A reduction by operators of which each is a monoid's, on a part of the tuple of its own.
    fn reduced(
        &mut self,
        monoids: &[(Monoid, Prim)],
        init: &[ValueId],
        tables: &[ValueId],
        span: SpanId,
    ) -> Run<Vec<ValueId>> {
        let parts = monoids.iter().zip(init).zip(tables);
        parts
            .map(|((&(monoid, prim), &init), &table)| {
                let ty = self.program.ty(init).clone();
                let reduced = self.op(PointOp::Reduce { monoid, table }, ty, span);
                self.prim(prim, &[init, reduced], span)
            })
            .collect()
    }

    /// `reduce(init, op, t)`, `scan(init, op, t)`
    pub(super) fn fold(
        &mut self,
        scan: bool,
        init: &'a Expr,
        op: &'a Expr,
        table: &'a Expr,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let first = self.eval(init)?;
        let f = self.eval(op)?;
        let val = self.eval(table)?;
        let (groups, _) = self.split(&table.ty);
        let axes = self.axes(&groups[..1], span)?;
        let tables = self.flatten(&val, &axes, span)?;
        let inits = self.leaves(&first, span)?;
        if matches!(self.ty(&init.ty), Ty::Tuple(parts) if parts.is_empty()) {
            return Ok(first);
        }
        let shape = first.clone();
        let claim = Claim {
            word: if scan { "scan" } else { "reduce" },
            place: op.span,
            identity: None,
        };
        let out = self.combine(scan, &inits, &tables, Some(claim), span, &mut |s, sides| {
            let (left, right) = sides.split_at(inits.len());
            let left = s.rebuild(&shape, &mut left.iter().copied());
            let right = s.rebuild(&shape, &mut right.iter().copied());
            let result = s.apply(&f, vec![left, right], span)?;
            s.leaves(&result, span)
        })?;
        let out = if scan {
            self.unflatten_tables(&out, &axes, span)?
        } else {
            out
        };
        Ok(self.rebuild(&first, &mut out.into_iter()))
    }
}

/// The monoids that an operator on tuples is made of, if it does nothing else: then its reductions
/// need no order.
fn monoids(op: &Block<Point>) -> Option<Vec<(Monoid, Prim)>> {
    let (left, right) = op.params.split_at(op.params.len() / 2);
    let part = |((result, left), right): ((&ValueId, &ValueId), &ValueId)| {
        let stmt = op.stmts.iter().find(|stmt| stmt.results == [*result])?;
        let PointOp::Prim(prim, args) = &stmt.op else {
            return None;
        };
        let monoid = match prim {
            Prim::Add => Monoid::Add,
            Prim::Mul => Monoid::Mul,
            Prim::Min => Monoid::Min,
            Prim::Max => Monoid::Max,
            _ => return None,
        };
        (args[..] == [*left, *right]).then_some((monoid, *prim))
    };
    op.results.iter().zip(left).zip(right).map(part).collect()
}
