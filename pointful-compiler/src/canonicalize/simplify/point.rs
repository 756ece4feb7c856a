//! Rules on tables and branches in Point.

use super::context::Context;
use super::{Answer, Scalar, Simplify};
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Args, Block, Lit, Program, Stmt, ValueId, ValueSet};
use crate::ops::Prim;

impl Simplify for Point {
    fn scalar(op: &PointOp) -> Scalar<'_> {
        match op {
            PointOp::Const(lit) => Scalar::Const(*lit),
            PointOp::Size(extent) => Scalar::Size(*extent),
            PointOp::Prim(prim, args) => Scalar::Prim(*prim, args),
            PointOp::Index { .. }
            | PointOp::Array(_)
            | PointOp::For { .. }
            | PointOp::Reduce { .. }
            | PointOp::ArgReduce { .. }
            | PointOp::Fold { .. }
            | PointOp::Scan { .. }
            | PointOp::Loop { .. }
            | PointOp::While { .. }
            | PointOp::Derive { .. }
            | PointOp::Rule { .. }
            | PointOp::If { .. }
            | PointOp::Accum { .. }
            | PointOp::Accumulate { .. }
            | PointOp::Get { .. }
            | PointOp::Assert { .. }
            | PointOp::Update { .. } => Scalar::Other,
        }
    }

    fn constant(lit: Lit) -> PointOp {
        PointOp::Const(lit)
    }

    fn prim(prim: Prim, args: Args) -> PointOp {
        PointOp::Prim(prim, args)
    }

    fn before(context: &Context<'_, Point>, stmt: &Stmt<Point>) -> Answer<Point> {
        let PointOp::If {
            cond,
            then,
            otherwise,
        } = &stmt.op
        else {
            return Answer::Keep;
        };
        if let Some(truth) = context.truth(*cond) {
            return Answer::Block(if truth {
                (**then).clone()
            } else {
                (**otherwise).clone()
            });
        }
        if let Some((Prim::Not, &[cond])) = context.prim(*cond) {
            return Answer::Op(PointOp::If {
                cond,
                then: otherwise.clone(),
                otherwise: then.clone(),
            });
        }
        Answer::Keep
    }

    fn rewrite(
        context: &mut Context<'_, Point>,
        stmt: &Stmt<Point>,
        _: &mut Vec<Stmt<Point>>,
    ) -> Answer<Point> {
        match &stmt.op {
            PointOp::Index { table, indices } => index(context, *table, indices),
            PointOp::Update { indices, value, .. } if indices.is_empty() => {
                Answer::Values(vec![*value])
            }
            PointOp::Assert { cond, .. } if context.truth(*cond) == Some(true) => {
                Answer::Values(Vec::new())
            }
            PointOp::Const(_)
            | PointOp::Size(_)
            | PointOp::Prim(..)
            | PointOp::Array(_)
            | PointOp::For { .. }
            | PointOp::Reduce { .. }
            | PointOp::ArgReduce { .. }
            | PointOp::Fold { .. }
            | PointOp::Scan { .. }
            | PointOp::Loop { .. }
            | PointOp::While { .. }
            | PointOp::Derive { .. }
            | PointOp::Rule { .. }
            | PointOp::If { .. }
            | PointOp::Accum { .. }
            | PointOp::Accumulate { .. }
            | PointOp::Get { .. }
            | PointOp::Assert { .. }
            | PointOp::Update { .. } => Answer::Keep,
        }
    }

    fn uniform(stmt: &Stmt<Point>) -> Vec<(ValueId, ValueId)> {
        let PointOp::For { body, .. } = &stmt.op else {
            return Vec::new();
        };
        let bound: ValueSet = body
            .stmts
            .iter()
            .flat_map(|inner| &inner.results)
            .chain(&body.params)
            .copied()
            .collect();
        let tables = stmt
            .results
            .iter()
            .copied()
            .zip(body.results.iter().copied());
        tables.filter(|(_, value)| !bound.contains(value)).collect()
    }

    /// Loops of Point collect nothing.
    fn uncollect(
        _: &Context<'_, Point>,
        _: &mut Stmt<Point>,
        _: &mut Vec<Stmt<Point>>,
    ) -> Vec<(ValueId, ValueId)> {
        Vec::new()
    }

    /// Nothing in Point has axes that it does not say.
    fn pinned(_: &Block<Point>, _: &Program<Point>) -> ValueSet {
        ValueSet::new()
    }

    /// Nothing in Point is guarded.
    /// A branch of Point holds what is wanted in it alone.
    fn settle(_: &mut Program<Point>, _: &ValueSet) -> bool {
        false
    }

    fn derives(_: &Block<Point>) -> bool {
        false
    }

    fn is_unspecified(_: &Context<'_, Point>, _: &PointOp, _: ValueId) -> bool {
        false
    }

    fn lanes(_: &PointOp) -> &[crate::ir::Extent] {
        &[]
    }

    fn needs_guard(_: &Context<'_, Point>, _: &Stmt<Point>) -> bool {
        false
    }
}

/// Reading a table whose parts are at hand.
fn index(context: &Context<'_, Point>, table: ValueId, indices: &[ValueId]) -> Answer<Point> {
    let Some((&first, rest)) = indices.split_first() else {
        return Answer::Values(vec![table]);
    };
    let select = |table: ValueId, indices: &[ValueId]| {
        if indices.is_empty() {
            Answer::Values(vec![table])
        } else {
            Answer::Op(PointOp::Index {
                table,
                indices: indices.to_vec(),
            })
        }
    };
    if let Some(value) = context.same(table) {
        return select(value, rest);
    }
    match context.def(table) {
        Some(PointOp::Index {
            table,
            indices: outer,
        }) => select(*table, &[outer.as_slice(), indices].concat()),
        Some(PointOp::Array(values)) => {
            let position = context.int(first).and_then(|n| usize::try_from(n).ok());
            match position.and_then(|n| values.get(n)) {
                Some(&value) => select(value, rest),
                None => Answer::Keep,
            }
        }
        Some(PointOp::Update {
            indices: place,
            value,
            ..
        }) if indices.starts_with(place) => select(*value, &indices[place.len()..]),
        _ => Answer::Keep,
    }
}
