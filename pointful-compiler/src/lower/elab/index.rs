//! Indexing.

use super::site::{Indexed, Site};
use super::value::{Element, Maybe, Position, Space, Val};
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::ir::{Elem, Extent, Scalar, SpanId, ValueId};
use crate::lower::hir::{Expr, Kind};
use crate::lower::types::{Set, Ty};
use crate::ops::Prim;
use std::rc::Rc;

impl<'a> Elab<'a> {
    /// `t[i]…[j]`: one selection for the whole chain.
    pub(super) fn index(
        &mut self,
        base: &'a Expr,
        indices: &'a [Expr],
        ty: &Ty,
        span: SpanId,
    ) -> Run<Val<'a>> {
        if self.is_lifted(indices) {
            return self.lifted_index(base, indices, span);
        }
        let mut chain = vec![(base, indices)];
        while let Kind::Index(inner, indices) = &chain[chain.len() - 1].0.kind
            && !self.is_lifted(indices)
        {
            chain.push((inner, indices));
        }
        let root = chain[chain.len() - 1].0;
        if chain.iter().any(|(base, _)| self.is_ragged(&base.ty)) {
            chain.reverse();
            return self.index_rows(&chain, ty, span);
        }
        let table = self.eval(root)?;
        let mut all = Vec::new();
        for (base, indices) in chain.into_iter().rev() {
            let of = Indexed::Read(base, indices);
            all.extend(self.indices(&base.ty, indices, Site { at: span, of })?);
        }
        self.select(&table, &all, span)
    }

    /// Whether there is a table among indices.
    fn is_lifted(&self, indices: &[Expr]) -> bool {
        indices.iter().any(|i| !self.split(&i.ty).0.is_empty())
    }

    /// `t[at]`: what stands at each of a table of indices.
    fn lifted_index(&mut self, base: &'a Expr, indices: &'a [Expr], span: SpanId) -> Run<Val<'a>> {
        let table = self.eval(base)?;
        let site = Site {
            at: span,
            of: Indexed::Read(base, indices),
        };
        let (groups, _) = self.split(&base.ty);
        let sets = crate::lower::types::atoms(&groups);
        let (mut vals, mut frames, mut cells) = (Vec::new(), Vec::new(), Vec::new());
        for index in indices {
            vals.push(self.eval(index)?);
            let (frame, cell) = self.split(&index.ty);
            frames.push(frame);
            cells.push(cell);
        }
        self.lift(&frames, &vals, span, &mut |s, at| {
            let mut leaves = Vec::new();
            for (val, ty) in at.iter().zip(&cells) {
                flatten(val, ty, &mut leaves);
            }
            let positions = s.positions_of(&leaves, &sets, true, site)?;
            let known: Vec<ValueId> = positions.into_iter().flat_map(Position::known).collect();
            s.select(&table, &known, span)
        })
    }

    /// The values of indices into something of this type, one for each axis they select from.
    pub(super) fn indices(
        &mut self,
        base: &Ty,
        indices: &'a [Expr],
        site: Site<'a>,
    ) -> Run<Vec<ValueId>> {
        let mut out = Vec::new();
        for position in self.positions(base, indices, true, site)? {
            out.extend(position.known());
        }
        Ok(out)
    }

    /// Indices into something of this type. Those that may be out of range are checked if asked
    /// for, else left as integers.
    pub(super) fn positions(
        &mut self,
        base: &Ty,
        indices: &'a [Expr],
        check: bool,
        site: Site<'a>,
    ) -> Run<Vec<Position>> {
        // Rows are read by `index_rows` alone.
        if self.is_ragged(base) {
            let place = self.at(site.at);
            return self.fail(match site.of {
                Indexed::Place(_) => say::ragged_assigned(place),
                Indexed::Read(..) | Indexed::Asked(..) | Indexed::Member => {
                    say::ragged_index(place)
                }
            });
        }
        let (groups, _) = self.split(base);
        let sets = crate::lower::types::atoms(&groups);
        let mut leaves = Vec::new();
        for index in indices {
            let val = self.eval(index)?;
            flatten(&val, &self.ty(&index.ty), &mut leaves);
        }
        self.positions_of(&leaves, &sets, check, site)
    }

    /// Where indices stand, each of one type for each part of a tuple.
    fn positions_of(
        &mut self,
        indices: &[(Val<'a>, Ty)],
        sets: &[Set],
        check: bool,
        site: Site<'a>,
    ) -> Run<Vec<Position>> {
        let types: Vec<Ty> = indices.iter().map(|(_, ty)| ty.clone()).collect();
        let solver = &self.functions[self.frame.function].solver;
        let pairs = solver.indexed(sets, &types);
        let (mut indices, mut sets) = (indices, sets);
        let mut out = Vec::new();
        for (given, axes) in pairs {
            let (here, axis) = (&indices[..given], Set::product(sets[..axes].to_vec()));
            (indices, sets) = (&indices[given..], &sets[axes..]);
            out.push(match here {
                [(val, ty)] => self.position_of(val, ty, &axis, check, site)?,
                parts => {
                    let (vals, types) = parts.iter().cloned().unzip();
                    let ty = Ty::Tuple(types);
                    self.rank(&Val::Tuple(vals), &ty, &axis, check, site)?
                }
            });
        }
        if !indices.is_empty() {
            return self.bug(site.at, "more indices than axes");
        }
        Ok(out)
    }

    /// Where an index stands among the members of a set.
    pub(super) fn position_of(
        &mut self,
        val: &Val<'a>,
        ty: &Ty,
        set: &Set,
        check: bool,
        site: Site<'a>,
    ) -> Run<Position> {
        let span = site.at;
        let space = self.space(set, span)?;
        Ok(match ty {
            Ty::Member(of) | Ty::Offset(of) if self.is_range(of) != self.is_range(set) => {
                match self.is_range(of) {
                    true => self.member_at(val, of, &space, span)?,
                    false => self.rank(val, ty, set, check, site)?,
                }
            }
            Ty::Member(_) => Position::Known(self.member_indices(&space, val, span)?),
            Ty::Scalar(Scalar::Bool) => {
                let truth = self.leaf(val, span)?;
                Position::Known(vec![self.truth_index(truth, span)?])
            }
            _ => {
                let number = self.leaf(val, span)?;
                let at = self.checked_at(site, set);
                self.integer(number, &space, check, at)?
            }
        })
    }

    fn is_range(&self, set: &Set) -> bool {
        matches!(set, Set::Range(_))
    }

    /// Where a member stands in a range that runs over its set.
    fn rank(
        &mut self,
        val: &Val<'a>,
        ty: &Ty,
        range: &Set,
        check: bool,
        site: Site<'a>,
    ) -> Run<Position> {
        let span = site.at;
        let space = self.space(range, span)?;
        let member = self.leaves(val, span)?;
        if let Some(place) = self.ranked.get(&member)
            && let Space::Axis(axis) = &space
            && self.program.elem(*place) == Elem::Index(*axis)
        {
            return Ok(Position::Known(vec![*place]));
        }
        let mut number = self.position(val, ty, span)?;
        if let Some(first) = self.frame.begins.get(range).copied() {
            let first = self.cast(first, Scalar::I64, span)?;
            number = self.prim(Prim::Sub, &[number, first], span)?;
        }
        let at = self.checked_at(site, range);
        self.integer(number, &space, check, at)
    }

    /// The member that stands at a place in a range.
    fn member_at(
        &mut self,
        val: &Val<'a>,
        range: &Set,
        space: &Space,
        span: SpanId,
    ) -> Run<Position> {
        let place = self.leaf(val, span)?;
        let mut number = self.cast(place, Scalar::Usize, span)?;
        if let Some(first) = self.frame.begins.get(range).copied() {
            number = self.prim(Prim::Add, &[first, number], span)?;
        }
        Ok(Position::Known(self.unflatten(
            number,
            &space.axes(),
            span,
        )?))
    }

    /// The indices that a member of a set is: the opposite of [`Self::member`].
    pub(super) fn member_indices(
        &mut self,
        space: &Space,
        val: &Val<'a>,
        span: SpanId,
    ) -> Run<Vec<ValueId>> {
        match (space, val) {
            (Space::Product(parts), Val::Tuple(vals)) if parts.len() == vals.len() => {
                let mut out = Vec::new();
                for (part, val) in parts.iter().zip(vals) {
                    out.extend(self.member_indices(part, val, span)?);
                }
                Ok(out)
            }
            (Space::Bool, Val::Leaf(truth)) => Ok(vec![self.truth_index(*truth, span)?]),
            (Space::Axis(_) | Space::Either(..), Val::Leaf(index)) => Ok(vec![*index]),
            _ => self.bug(span, "a member of another set"),
        }
    }

    /// A truth value as an index of `bool`.
    fn truth_index(&mut self, truth: ValueId, span: SpanId) -> Run<ValueId> {
        if let Some(index) = self.ordinals.get(&truth) {
            return Ok(*index);
        }
        let number = self.cast(truth, Scalar::Usize, span)?;
        self.trust(number, Extent::Const(2), span)
    }

    /// An integer as an index of a set: nothing to check if it is known to be one.
    fn integer(
        &mut self,
        number: ValueId,
        space: &Space,
        check: bool,
        span: SpanId,
    ) -> Run<Position> {
        let axes = space.axes();
        if let [axis] = axes.as_slice() {
            if let Some(index) = self.ordinals.get(&number).copied()
                && self.program.elem(index) == Elem::Index(*axis)
            {
                return Ok(Position::Known(vec![index]));
            }
            if let (Some(n), Extent::Const(size)) = (self.literals.get(&number).copied(), axis)
                && (0..i128::from(*size)).contains(&n)
            {
                return Ok(Position::Known(vec![self.prim(
                    Prim::Trust(*axis),
                    &[number],
                    span,
                )?]));
            }
        }
        if !check {
            return Ok(Position::Integer(number, space.clone(), span));
        }
        let flat = self.flat_extent(&axes, span)?;
        let checked = self.prim(Prim::Check(flat), &[number], span)?;
        Ok(Position::Known(self.unflatten(checked, &axes, span)?))
    }

    /// The member of that number, which is checked.
    pub(super) fn numbered(&mut self, number: ValueId, set: &Set, span: SpanId) -> Run<Val<'a>> {
        let space = self.space(set, span)?;
        let site = Site {
            at: span,
            of: Indexed::Member,
        };
        let at = self.checked_at(site, set);
        let Position::Known(indices) = self.integer(number, &space, true, at)? else {
            return self.bug(span, "a number that was not checked");
        };
        self.member(&space, &mut indices.into_iter(), span)
    }

    /// `t.get(i)`
    pub(super) fn get(
        &mut self,
        table: Val<'a>,
        base: &'a Expr,
        indices: &'a [Expr],
        span: SpanId,
    ) -> Run<Val<'a>> {
        let site = Site {
            at: span,
            of: Indexed::Asked(base, indices),
        };
        let at = self.positions(&base.ty, indices, false, site)?;
        let present = self.presence(&at, span)?;
        let element = Element::Of(table, at);
        Ok(Val::Option(Rc::new(Maybe { present, element })))
    }

    /// Whether all of these are in range.
    pub(super) fn presence(&mut self, at: &[Position], span: SpanId) -> Run<ValueId> {
        let mut present = None;
        for position in at {
            if let Position::Integer(number, space, _) = position {
                let flat = self.flat_extent(&space.axes(), span)?;
                let here = self.prim(Prim::InRange(flat), &[*number], span)?;
                present = Some(match present {
                    None => here,
                    Some(before) => self.prim(Prim::And, &[before, here], span)?,
                });
            }
        }
        Ok(match present {
            Some(present) => present,
            None => self.lit(crate::ir::Lit::Bool(true), span),
        })
    }

    /// The element, where it is known to be there.
    pub(super) fn there(&mut self, maybe: &Maybe<'a>, span: SpanId) -> Run<Val<'a>> {
        let (table, at) = match &maybe.element {
            Element::Of(table, at) => (table, at),
            Element::Stored(val, ty) => return self.part_of(true, val, ty, span),
        };
        let indices = self.indices_there(at, span)?;
        self.select(table, &indices, span)
    }

    /// The indices of positions that are known to be in range.
    pub(super) fn indices_there(&mut self, at: &[Position], span: SpanId) -> Run<Vec<ValueId>> {
        let mut indices = Vec::new();
        for position in at {
            match position {
                Position::Known(known) => indices.extend(known.iter().copied()),
                Position::Integer(number, space, _) => {
                    indices.extend(self.unflatten(*number, &space.axes(), span)?);
                }
            }
        }
        Ok(indices)
    }

    /// `t.get(i).unwrap()`: checks with the same message as `t[i]`.
    pub(super) fn insist(&mut self, maybe: &Maybe<'a>, span: SpanId) -> Run<Val<'a>> {
        let (table, at) = match &maybe.element {
            Element::Of(table, at) => (table, at),
            Element::Stored(val, ty) => return self.insist_stored(val, ty, span),
        };
        let mut indices = Vec::new();
        for position in at {
            match position {
                Position::Known(known) => indices.extend(known.iter().copied()),
                Position::Integer(number, space, at) => {
                    if let Position::Known(known) = self.integer(*number, space, true, *at)? {
                        indices.extend(known);
                    }
                }
            }
        }
        self.select(table, &indices, span)
    }

    /// `(i + 1).wrap()` and its like.
    pub(super) fn brought_in(
        &mut self,
        prim: impl Fn(Extent) -> Prim,
        val: &Val<'a>,
        ty: &Ty,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let Some(set) = self.set_of(ty) else {
            return self.bug(span, "an offset in no set");
        };
        let number = self.position(val, &self.ty(ty), span)?;
        let space = self.space(&set, span)?;
        let axes = space.axes();
        let flat = self.flat_extent(&axes, span)?;
        let index = self.prim(prim(flat), &[number], span)?;
        let indices = self.unflatten(index, &axes, span)?;
        self.member(&space, &mut indices.into_iter(), span)
    }
}

/// An index for each part of a tuple.
fn flatten<'a>(val: &Val<'a>, ty: &Ty, out: &mut Vec<(Val<'a>, Ty)>) {
    match (ty, val) {
        (Ty::Tuple(types), Val::Tuple(vals)) => {
            for (val, ty) in vals.iter().zip(types) {
                flatten(val, ty, out);
            }
        }
        _ => out.push((val.clone(), ty.clone())),
    }
}
