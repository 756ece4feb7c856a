//! Derivatives of results of which the body computes the length.
//!
//! What a derivative gives has a length that its block cannot name. So the function is evaluated in
//! front of the block as well, where nothing is read of it but its lengths, and the block gives
//! tables of these: the same elements over an axis that is known outside.

use super::result::has_range;
use super::transform::{Block, bundle};
use super::value::{Transformed, Val};
use super::{Elab, Run};
use crate::ir::stages::point::PointOp;
use crate::ir::{Extent, Message, Scalar, SpanId, Type, ValueId};
use crate::lower::types::Ty;
use crate::ops::Prim;

impl<'a> Elab<'a> {
    /// What is asked for of the result, evaluated in front of the derivative, if its lengths are not
    /// known there otherwise.
    pub(super) fn known_outside(
        &mut self,
        f: &Transformed<'a>,
        args: &[Val<'a>],
        of: Block<'_, 'a>,
        span: SpanId,
    ) -> Run<Option<Vec<ValueId>>> {
        if !f.computed {
            return Ok(None);
        }
        let result = match of.result {
            Some(result) => result.clone(),
            None => self.apply(&f.of, args.to_vec(), span)?,
        };
        let result = self.asked_for(f, of, result);
        self.leaves(&result, span).map(Some)
    }

    /// The parts of a result of which derivatives are asked for.
    pub(super) fn asked_for(
        &self,
        f: &Transformed<'a>,
        of: Block<'_, 'a>,
        result: Val<'a>,
    ) -> Val<'a> {
        let Some(chosen) = of.parts else {
            return result;
        };
        let parts = self.parts(f, result);
        bundle(chosen.iter().map(|&k| parts[k].clone()).collect())
    }

    /// Tables over the axes of others that are as long.
    pub(super) fn as_long_as(
        &mut self,
        tables: &[ValueId],
        others: &[ValueId],
        span: SpanId,
    ) -> Run<Vec<ValueId>> {
        let mut moved = Vec::new();
        for (&table, &other) in tables.iter().zip(others) {
            let (from, to) = (self.dims(table), self.dims(other));
            if from == to {
                moved.push(table);
                continue;
            }
            let here = self.tabulate(&to, span, &mut |s, at| {
                let mut indices = Vec::new();
                for (&index, &extent) in at.iter().zip(&from) {
                    let number = s.cast(index, Scalar::Usize, span)?;
                    indices.push(s.trust(number, extent, span)?);
                }
                Ok(vec![s.select_leaf(table, &indices, span)])
            })?;
            moved.extend(here);
        }
        Ok(moved)
    }

    /// Cotangents over the axes of the results that they are of, whose lengths only now are known:
    /// panics where one is of another length.
    pub(super) fn fitting(
        &mut self,
        seeds: &[ValueId],
        results: &[ValueId],
        span: SpanId,
    ) -> Run<Vec<ValueId>> {
        for (&seed, &result) in seeds.iter().zip(results) {
            for (from, to) in self.dims(seed).into_iter().zip(self.dims(result)) {
                if from == to {
                    continue;
                }
                let (from, to) = (self.size(from, span), self.size(to, span));
                let cond = self.prim(Prim::Eq, &[from, to], span)?;
                let op = PointOp::Assert {
                    cond,
                    message: Message::plain("a cotangent is not as long as the result it is of"),
                    shown: Vec::new(),
                };
                self.emit(Vec::new(), op, span);
            }
        }
        self.as_long_as(seeds, results, span)
    }

    fn dims(&self, table: ValueId) -> Vec<Extent> {
        let Type { dims, .. } = self.program.ty(table);
        dims.to_vec()
    }
}

/// Whether the body of a function that gives this says how long it is.
pub(super) fn has_computed_length(ty: &Ty) -> bool {
    match ty {
        Ty::Table(groups, elem) => groups.iter().any(has_range) || has_computed_length(elem),
        Ty::Tuple(parts) | Ty::Struct(_, parts) => parts.iter().any(has_computed_length),
        _ => false,
    }
}
