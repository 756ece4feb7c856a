//! Tables of members of products: `Table<N, (K, M)>`.
//!
//! The host stores such a member by its number. A body has a table of each of its parts, as it has
//! of every tuple.

use super::value::{Space, Val};
use super::{Elab, Run};
use crate::ir::{Extent, SpanId, ValueId};
use crate::lower::types::Ty;

/// Of what a table is a table of parts.
#[derive(Clone, Debug)]
pub(super) struct NumberedPart {
    table: ValueId,
    space: Space,
    part: usize,
}

impl<'a> Elab<'a> {
    /// The set of which values of the type are members, if it is one of several axes, or of none.
    pub(super) fn product_of(&mut self, ty: &Ty, span: SpanId) -> Run<Option<Space>> {
        let Some(set) = self.set_of(ty) else {
            return Ok(None);
        };
        let space = match ty {
            Ty::Scalar(_) => return Ok(None),
            _ => self.space(&set, span)?,
        };
        Ok(matches!(space, Space::Product(_)).then_some(space))
    }

    /// The parts of the members that a table holds by number.
    pub(super) fn opened(
        &mut self,
        table: &Val<'a>,
        dims: &[Extent],
        space: &Space,
    ) -> Run<Val<'a>> {
        let at = SpanId::NONE;
        let table = self.leaf(table, at)?;
        let parts = self.tabulate(dims, at, &mut |s, indices| {
            let number = s.select_leaf(table, indices, at);
            let parts = s.unflatten(number, &space.axes(), at)?;
            let member = s.member(space, &mut parts.into_iter(), at)?;
            s.leaves(&member, at)
        })?;
        for (part, &of) in parts.iter().enumerate() {
            let numbered = NumberedPart {
                table,
                space: space.clone(),
                part,
            };
            self.parts.insert(of, numbered);
        }
        let shape = self.shape_of(space);
        Ok(self.rebuild(&shape, &mut parts.into_iter()))
    }

    /// An element of a table of parts, by way of the member's number: the tables of parts
    /// themselves need not exist then.
    pub(super) fn numbered_part(
        &mut self,
        table: ValueId,
        indices: &[ValueId],
        span: SpanId,
    ) -> Option<ValueId> {
        let NumberedPart { table, space, part } = self.parts.get(&table)?.clone();
        if self.program.ty(table).rank() != indices.len() {
            return None;
        }
        let number = self.select_leaf(table, indices, span);
        let parts = self.unflatten(number, &space.axes(), span).ok()?;
        let member = self.member(&space, &mut parts.into_iter(), span).ok()?;
        self.leaves(&member, span).ok()?.get(part).copied()
    }

    /// The values of a result, as the host stores them.
    pub(super) fn stored(&mut self, ty: &Ty, val: &Val<'a>) -> Run<Vec<ValueId>> {
        let at = SpanId::NONE;
        let ty = &self.outside(ty);
        let (dims, cell) = match ty {
            Ty::Table(groups, cell) => (self.axes(groups, at)?, &**cell),
            // A tuple is a tuple to the host; a struct of members is a member.
            Ty::Tuple(types) | Ty::Struct(_, types) => {
                let Val::Tuple(parts) = val else {
                    return self.leaves(val, at);
                };
                let parts = types.iter().zip(parts);
                let stored: Run<Vec<_>> = parts.map(|(ty, part)| self.stored(ty, part)).collect();
                return Ok(stored?.concat());
            }
            other => (Vec::new(), other),
        };
        let Some(space) = self.product_of(cell, at)? else {
            return self.leaves(val, at);
        };
        let axes = space.axes();
        let flat = self.flat_extent(&axes, at)?;
        self.tabulate(&dims, at, &mut |s, indices| {
            let member = s.select(val, indices, at)?;
            let parts = s.member_indices(&space, &member, at)?;
            let number = s.flat_ordinal(&parts, &axes, at)?;
            Ok(vec![s.trust(number, flat, at)?])
        })
    }
}
