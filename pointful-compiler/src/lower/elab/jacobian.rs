//! Jacobians: tables of derivatives, of each part of the result by each parameter.
//!
//! A row is a cotangent: the derivatives of one element of the result, by all parameters at once. A
//! column is a tangent: those of all parts of the result, by one element of a parameter. So there
//! is one derivative for each part that goes by rows, whatever the number of parameters, and one
//! for each parameter, whatever the number of parts that go by columns. Neither has anything inside
//! that is not asked for: no seeds that are zero. Everything goes by rows where no tangents can be
//! [taken](super::forwards).

use std::rc::Rc;

use super::transform::{Block, bundle};
use super::value::{Transformed, Val};
use super::{Elab, Run};
use crate::ir::{Extent, Lit, Mode, SpanId, Type, ValueId};
use crate::ops::Prim;

impl<'a> Elab<'a> {
    /// For each part of the result and each parameter, the table of all derivatives.
    pub(super) fn jacobian(
        &mut self,
        f: &Rc<Transformed<'a>>,
        args: &[Val<'a>],
        span: SpanId,
    ) -> Run<Val<'a>> {
        let mut inputs = Vec::new();
        for &k in &f.code.wrt {
            inputs.push(self.leaf(&args[k], span)?);
        }
        // How large the result is decides the direction, so it is evaluated first; what nobody reads of it is gone later.
        let result = self.apply(&f.of, args.to_vec(), span)?;
        let mut outputs = Vec::new();
        for part in self.parts(f, result.clone()) {
            outputs.push(self.leaf(&part, span)?);
        }
        let by_rows = match self.only_backwards(f, args, span)? {
            Some(_) => vec![true; outputs.len()],
            None => self.by_rows(&outputs, &inputs),
        };
        let mut tables = vec![Vec::new(); outputs.len()];
        let mut others = Vec::new();
        for (part, &output) in outputs.iter().enumerate() {
            if by_rows[part] {
                tables[part] = self.rows(f, args, (part, output), &result, span)?;
            } else {
                others.push(part);
            }
        }
        if !others.is_empty() {
            for (&k, &input) in f.code.wrt.iter().zip(&inputs) {
                let columns = self.columns(f, args, (&others, &result), (k, input), span)?;
                for (&part, column) in others.iter().zip(columns) {
                    tables[part].push(column);
                }
            }
        }
        let row = |tables: Vec<ValueId>| bundle(tables.into_iter().map(Val::Leaf).collect());
        Ok(bundle(tables.into_iter().map(row).collect()))
    }

    /// Which parts of the result go by rows. Where all sizes are known: all parts, if they have
    /// fewer elements than the parameters. Else a part does that is known to have fewer elements
    /// than one of the parameters, or a few, where one has as many as the caller likes.
    fn by_rows(&self, outputs: &[ValueId], inputs: &[ValueId]) -> Vec<bool> {
        let dims = |&value: &ValueId| self.program.ty(value).dims.as_slice();
        let all = |values: &[ValueId]| -> Option<u64> {
            let mut counts = values.iter().map(|value| count(dims(value)));
            counts.try_fold(0u64, |sum, count| Some(sum.saturating_add(count?)))
        };
        if let (Some(rows), Some(columns)) = (all(outputs), all(inputs)) {
            return vec![rows < columns; outputs.len()];
        }
        let fewer = |output| inputs.iter().any(|input| fewer(dims(output), dims(input)));
        outputs.iter().map(fewer).collect()
    }

    /// The derivatives of a part of the result by all parameters, one after the other, a cotangent
    /// for each element of the part.
    fn rows(
        &mut self,
        f: &Rc<Transformed<'a>>,
        args: &[Val<'a>],
        (part, output): (usize, ValueId),
        result: &Val<'a>,
        span: SpanId,
    ) -> Run<Vec<ValueId>> {
        let block = Block {
            wrt: &f.code.wrt,
            parts: Some(&[part]),
            result: Some(result),
        };
        let axes = self.program.ty(output).dims.clone();
        self.tabulate(&axes, span, &mut |s, at| {
            let seed = s.unit(output, at, span)?;
            let (_, cotangents) =
                s.derive(f, args, block, Mode::Cotangent, span, |_, _| Ok(vec![seed]))?;
            let mut leaves = Vec::new();
            for cotangent in &cotangents {
                leaves.push(s.leaf(cotangent, span)?);
            }
            Ok(leaves)
        })
    }

    /// The derivatives of several parts of the result by one parameter, a tangent for each element
    /// of the parameter.
    fn columns(
        &mut self,
        f: &Rc<Transformed<'a>>,
        args: &[Val<'a>],
        (parts, result): (&[usize], &Val<'a>),
        (k, input): (usize, ValueId),
        span: SpanId,
    ) -> Run<Vec<ValueId>> {
        let block = Block {
            wrt: &[k],
            parts: Some(parts),
            result: Some(result),
        };
        let axes = self.program.ty(input).dims.clone();
        let tables = self.tabulate(&axes, span, &mut |s, at| {
            let seed = s.unit(input, at, span)?;
            let (_, mut tangents) =
                s.derive(f, args, block, Mode::Tangent, span, |_, _| Ok(vec![seed]))?;
            let all = tangents.pop().unwrap_or(Val::Spent);
            s.leaves(&all, span)
        })?;
        let mut turned = Vec::new();
        for table in tables {
            // The result's axes come first.
            let all = self.program.ty(table).dims.clone();
            let (from, to) = all.split_at(axes.len());
            let count = to.len();
            let axes = [to, from].concat();
            turned.extend(self.tabulate(&axes, span, &mut |s, at| {
                let (to, from) = at.split_at(count);
                Ok(vec![s.select_leaf(table, &[from, to].concat(), span)])
            })?);
        }
        Ok(turned)
    }

    /// A table like another that is one at this place and zero elsewhere.
    fn unit(&mut self, like: ValueId, at: &[ValueId], span: SpanId) -> Run<ValueId> {
        let Type { elem, dims } = self.program.ty(like).clone();
        let scalar = elem.repr();
        let tables = self.tabulate(&dims, span, &mut |s, here| {
            let mut same = None;
            for (&a, &b) in at.iter().zip(here) {
                let equal = s.prim(Prim::Eq, &[a, b], span)?;
                same = Some(match same {
                    None => equal,
                    Some(before) => s.prim(Prim::And, &[before, equal], span)?,
                });
            }
            Ok(vec![match same {
                None => s.lit(Lit::of(scalar, 1.0), span),
                Some(same) => s.prim(Prim::Cast(scalar), &[same], span)?,
            }])
        })?;
        Ok(tables[0])
    }
}

/// How many elements a table with these axes has, if it is known.
fn count(axes: &[Extent]) -> Option<u64> {
    axes.iter().try_fold(1u64, |count, axis| match axis {
        Extent::Const(n) => Some(count.saturating_mul(*n)),
        Extent::Size(_) | Extent::Value(_) => None,
    })
}

/// How many elements are few: so many cotangents take no longer than a few tangents.
const FEW: u64 = 16;

/// Whether a table with the first axes is known, or taken, to have fewer elements than one with the
/// second.
fn fewer(a: &[Extent], b: &[Extent]) -> bool {
    match (count(a), count(b)) {
        (Some(a), Some(b)) => return a < b,
        (Some(a), None) => return a <= FEW,
        (None, _) => {}
    }
    let mut rest = b.to_vec();
    a.len() < b.len()
        && a.iter().all(|axis| {
            let found = rest.iter().position(|other| other == axis);
            found.map(|k| rest.remove(k)).is_some()
        })
}
