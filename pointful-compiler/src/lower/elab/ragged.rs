//! Rows of different lengths.
//!
//! All values of a `Ragged` are one table, and two tables say where each row begins and ends. A row
//! is read where it is needed:
//!
//! ```text
//! a[i]      for j in 0 .. ends[i] - starts[i] { values[starts[i] + j] }
//! a[i][j]   values[starts[i] + j]
//! ```
//!
//! without a check, since whoever makes a `Ragged` has seen that rows end before the values do.
//! Rows that a loop makes are put where the loop's index has them, into a table of as many values.
//!
//! How long a row is is asked where its member is bound: there it is one value, so that all that is
//! over the places in this row fits.

use std::rc::Rc;

use proc_macro2::Span;

use super::interface::stepped;
use super::site::{Indexed, Site};
use super::value::{Rows, Space, Val};
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::interface::{Access, Carrier, ExtentSource, Field, ParamSource, Shape};
use crate::ir::stages::point::PointOp;
use crate::ir::{Elem, Extent, Monoid, Scalar, SpanId, Type, ValueId};
use crate::lower::hir::Expr;
use crate::lower::types::{Set, Ty, atoms};
use crate::ops::Prim;

/// A row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Which rows it is one of, by the table of where they begin.
    of: ValueId,
    /// At which member.
    member: ValueId,
    /// Where it begins.
    start: ValueId,
    /// How long it is.
    length: Extent,
    /// How many values all rows have.
    values: Extent,
}

/// Rows that a loop makes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    /// The accumulator of numbers that they are put into.
    acc: ValueId,
    /// What they hold: members by their numbers.
    elem: Elem,
}

impl<'a> Elab<'a> {
    /// Whether a type is a table of rows of different lengths, or of such ones.
    pub(super) fn is_ragged(&self, ty: &Ty) -> bool {
        let (groups, _) = self.split(ty);
        let mut sets = atoms(&groups).into_iter();
        sets.any(|set| matches!(set, Set::Ragged(..)))
    }

    /// Whether there are rows of different lengths anywhere in a value.
    pub(super) fn has_ragged(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Tuple(parts) | Ty::Struct(_, parts) => parts.iter().any(|p| self.has_ragged(p)),
            other => self.is_ragged(other),
        }
    }

    // ---- the signature ----

    /// Where the table is that a parameter is to the program: of a `Ragged` its values.
    pub(super) fn elements_of(&self, ty: &Ty, access: &Access) -> Access {
        match self.is_ragged(ty) {
            true => called(access, "values"),
            false => access.clone(),
        }
    }

    /// Finds what a `Ragged` carries: the set of its rows and how long these are.
    pub(super) fn carried_rows(&mut self, of: &Set, lengths: &Set, carrier: &Carrier) -> Run<()> {
        let at = SpanId::NONE;
        let Carrier::Table(access) = carrier else {
            return self.bug(at, "rows that nothing carries");
        };
        let starts = Carrier::Table(called(access, "starts"));
        self.carried(of, &mut Vec::new(), &starts)?;
        if let Some((_, known)) = self.ragged.iter().find(|(known, _)| known == lengths) {
            let both = (known.clone(), access.clone());
            self.interface.rows.push(both);
            return Ok(());
        }
        let source = ExtentSource {
            carrier: Carrier::Table(called(access, "values")),
            path: Vec::new(),
            set: "Dyn".to_owned(),
        };
        let size = self.new_size("Values", source);
        let of = self.space(of, at)?;
        let mut offsets = |name| {
            let access = stepped(access, Field::Called(name), name);
            let source = ParamSource::Table(access.clone());
            let ty = Type::table(Elem::USIZE, of.axes());
            let table = self.declare(ty, source, &access, false);
            self.leaf(&table, at)
        };
        let (starts, ends) = (offsets("starts")?, offsets("ends")?);
        let rows = Rows {
            of,
            starts,
            ends,
            values: Extent::Size(size),
        };
        let space = Space::Rows(Rc::new(rows));
        self.frame.inner.insert(lengths.clone(), space);
        self.ragged.push((lengths.clone(), access.clone()));
        Ok(())
    }

    /// The result that has rows as some parameter has.
    pub(super) fn rows_shape(&mut self, groups: &[Set], elem: &Ty, span: Span) -> Run<Shape> {
        let sets = atoms(groups);
        let [Set::Ragged(_, lengths)] = sets.as_slice() else {
            return self.bug(SpanId::NONE, "a table of rows");
        };
        let known = self.ragged.iter().find(|(known, _)| known == &**lengths);
        let Some((_, rows)) = known.cloned() else {
            return self.bug(SpanId::NONE, "rows of no parameter");
        };
        let elements = match (elem, self.set_of(elem)) {
            (Ty::Scalar(_) | Ty::Float(_), _) => None,
            (_, Some(set)) => Some(self.set_shape(&set)?),
            (other, None) => {
                let shown = self.printer().quoted(other);
                return self.fail(say::ragged_elements(span, &shown));
            }
        };
        Ok(Shape::Ragged { rows, elements })
    }

    // ---- rows ----

    fn rows_of(&mut self, lengths: &Set, span: SpanId) -> Run<Rc<Rows>> {
        match self.space(lengths, span)? {
            Space::Rows(rows) => Ok(rows),
            _ => self.bug(span, "rows of no lengths"),
        }
    }

    /// The places in the row at what a variable is.
    pub(super) fn row_space(&mut self, lengths: &Set, row: u32, span: SpanId) -> Run<Space> {
        let Some(member) = self.row_member(row) else {
            let span = self.at(span);
            return self.fail(say::escaping_row(span));
        };
        let rows = self.rows_of(lengths, span)?;
        Ok(Space::Axis(self.row_at(&rows, member, span)?.length))
    }

    /// The member that a variable is, where it is one.
    fn row_member(&self, row: u32) -> Option<ValueId> {
        match self.frame.env.get(row as usize) {
            Some(Some(Val::Leaf(member))) if self.in_scope(*member) => Some(*member),
            _ => None,
        }
    }

    /// Writes down how long rows are that a function gives, for whoever called it.
    pub(super) fn name_rows<'s>(
        &mut self,
        sets: impl Iterator<Item = &'s Set>,
        span: SpanId,
    ) -> Run<()> {
        for set in sets {
            if let Set::Row(lengths, row) = set
                && self.row_member(*row).is_some()
            {
                let space = self.row_space(lengths, *row, span)?;
                self.frame.inner.insert(set.clone(), space);
            }
        }
        Ok(())
    }

    /// The row at a member.
    fn row_at(&mut self, rows: &Rows, member: ValueId, span: SpanId) -> Run<Row> {
        let known = |row: &&Row| row.of == rows.starts && row.member == member;
        if let Some(row) = self.rows.iter().rfind(known).copied()
            && self.in_scope(row.start)
        {
            return Ok(row);
        }
        let home = self.home.get(member.index()).copied().unwrap_or(0);
        self.within(home, |s| {
            let at = s.member_indices(&rows.of, &Val::Leaf(member), span)?;
            let start = s.select_leaf(rows.starts, &at, span);
            let end = s.select_leaf(rows.ends, &at, span);
            let length = s.prim(Prim::Sub, &[end, start], span)?;
            let row = Row {
                of: rows.starts,
                member,
                start,
                length: s.extent_of(length),
                values: rows.values,
            };
            s.rows.push(row);
            Ok(row)
        })
    }

    /// Where a place in a row is among all values.
    fn place_in(&mut self, row: &Row, place: ValueId, span: SpanId) -> Run<ValueId> {
        let place = self.cast(place, Scalar::Usize, span)?;
        let number = self.prim(Prim::Add, &[row.start, place], span)?;
        self.prim(Prim::Trust(row.values), &[number], span)
    }

    /// `a[i]…[j]` where that is of a `Ragged`: one selection for the whole chain, which gives a
    /// value of this type. Links are in order.
    pub(super) fn index_rows(
        &mut self,
        links: &[(&'a Expr, &'a [Expr])],
        ty: &Ty,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let Some((root, _)) = links.first() else {
            return self.bug(span, "an index of nothing");
        };
        let table = self.eval(root)?;
        let (groups, _) = self.split(&root.ty);
        let mut sets = atoms(&groups).into_iter();
        let (mut at, mut inside) = (Vec::new(), None);
        for (k, &(base, indices)) in links.iter().enumerate() {
            let of = Indexed::Read(base, indices);
            let site = Site { at: span, of };
            let mut parts = Vec::new();
            for index in indices {
                let val = self.eval(index)?;
                components(val, self.ty(&index.ty), &mut parts);
            }
            for (val, ty) in parts {
                if let Some((row, lengths)) = inside.take() {
                    at.push(self.place_index(&row, lengths, &val, &ty, site)?);
                    continue;
                }
                match sets.next() {
                    Some(Set::Ragged(of, lengths)) if !is_of_values(&ty) => {
                        let row = self.row_of(&of, &lengths, &val, &ty, site)?;
                        inside = Some((row, lengths));
                    }
                    Some(set) => {
                        at.extend(self.position_of(&val, &ty, &set, true, site)?.known());
                    }
                    None => return self.bug(span, "more indices than axes"),
                }
            }
            if let Some((row, _)) = &inside {
                let length = row.length;
                let given = links.get(k + 1).map_or(ty, |(next, _)| &next.ty);
                self.name_row(given, length);
            }
        }
        match inside {
            Some((row, _)) => self.whole_row(&table, &at, &row, span),
            None => self.select(&table, &at, span),
        }
    }

    /// The set that inference has for a row that is at no variable.
    fn name_row(&mut self, row: &Ty, length: Extent) {
        let (groups, _) = self.split(row);
        if let Some(set @ Set::Range(_)) = atoms(&groups).into_iter().next() {
            self.frame.inner.insert(set, Space::Axis(length));
        }
    }

    /// The row that an index chooses.
    fn row_of(
        &mut self,
        of: &Set,
        lengths: &Set,
        val: &Val<'a>,
        ty: &Ty,
        site: Site<'a>,
    ) -> Run<Row> {
        let rows = self.rows_of(lengths, site.at)?;
        let member = match ty {
            Ty::Member(_) | Ty::Scalar(Scalar::Bool) => self.leaf(val, site.at)?,
            _ => {
                let found = self.position_of(val, ty, of, true, site)?;
                match found.known().into_iter().next() {
                    Some(index) => index,
                    None => return self.bug(site.at, "a row at no member"),
                }
            }
        };
        self.row_at(&rows, member, site.at)
    }

    /// The index among all values of what an index chooses in a row.
    fn place_index(
        &mut self,
        row: &Row,
        lengths: Box<Set>,
        val: &Val<'a>,
        ty: &Ty,
        site: Site<'a>,
    ) -> Run<ValueId> {
        let number = self.leaf(val, site.at)?;
        let is_place = self.program.elem(number) == Elem::Index(row.length);
        let place = match ty {
            Ty::Member(_) if is_place => number,
            _ => {
                let at = self.checked_at(site, &Set::Row(lengths, 0));
                match self.ordinals.get(&number) {
                    Some(&index) if self.program.elem(index) == Elem::Index(row.length) => index,
                    _ => self.prim(Prim::Check(row.length), &[number], at)?,
                }
            }
        };
        self.place_in(row, place, site.at)
    }

    /// All of a row, of a table at these indices before it.
    fn whole_row(
        &mut self,
        table: &Val<'a>,
        before: &[ValueId],
        row: &Row,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let mut shape = None;
        let tables = self.tabulate(&[row.length], span, &mut |s, place| {
            let place = s.place_in(row, place[0], span)?;
            let val = s.select(table, &[before, &[place]].concat(), span)?;
            let leaves = s.leaves(&val, span)?;
            shape = Some(val);
            Ok(leaves)
        })?;
        match shape {
            Some(shape) => Ok(self.rebuild(&shape, &mut tables.into_iter())),
            None => self.bug(span, "a row without values"),
        }
    }

    // ---- rows that a loop makes ----

    /// Of what an iteration gives, keeps the rows: each is put where the loop's index has its row,
    /// in a table that was made in the block with this serial number. What is left, and for each
    /// value what it is kept in, if it is.
    pub(super) fn keep_rows(
        &mut self,
        given: Vec<ValueId>,
        at: &[ValueId],
        around: u32,
        span: SpanId,
    ) -> Run<(Vec<ValueId>, Vec<Option<Kept>>)> {
        let (mut rest, mut kept) = (Vec::new(), Vec::new());
        for value in given {
            let Some(row) = self.row_with(value, at) else {
                rest.push(value);
                kept.push(None);
                continue;
            };
            if self.operators > 0 {
                let span = self.at(span);
                return self.fail(say::accum_in_operator(span));
            }
            let ty = self.program.ty(value).clone();
            let scalar = match ty.elem {
                Elem::Scalar(scalar) => scalar,
                Elem::Index(_) | Elem::Bound(_) => Scalar::Usize,
            };
            let monoid = match scalar {
                Scalar::Bool => Monoid::Or,
                _ => Monoid::Add,
            };
            let dims = [&[row.values], &ty.dims[1..]].concat();
            let acc = self.within(around, |s| {
                let nothing = monoid.identity(scalar);
                let base = s.tabulate(&dims, span, &mut |s, _| Ok(vec![s.lit(nothing, span)]))?;
                let ty = Type::table(Elem::Scalar(scalar), dims.clone());
                let base = base[0];
                Ok(s.op(PointOp::Accum { monoid, base }, ty, span))
            })?;
            let inner = [&[row.length], &ty.dims[1..]].concat();
            self.tabulate(&inner, span, &mut |s, place| {
                let value = s.select_leaf(value, place, span);
                let value = s.cast(value, scalar, span)?;
                let mut indices = place.to_vec();
                indices[0] = s.place_in(&row, place[0], span)?;
                let op = PointOp::Accumulate {
                    acc,
                    indices,
                    value,
                };
                s.emit(Vec::new(), op, span);
                Ok(Vec::new())
            })?;
            kept.push(Some(Kept { acc, elem: ty.elem }));
        }
        Ok((rest, kept))
    }

    /// The row at these indices that a table has a value for each place of.
    fn row_with(&self, table: ValueId, at: &[ValueId]) -> Option<Row> {
        let first = self.program.ty(table).dims.first()?;
        let mut rows = self.rows.iter().rev();
        let own = |row: &&Row| row.length == *first && self.member_is(row.member, at);
        rows.find(own).copied()
    }

    /// Whether a member is that at these indices.
    fn member_is(&self, member: ValueId, at: &[ValueId]) -> bool {
        let index = self.ordinals.get(&member).copied().unwrap_or(member);
        at == [index]
    }

    /// All that iterations gave, in order: the tables of it, and the rows that were kept.
    pub(super) fn kept_rows(
        &mut self,
        kept: &[Option<Kept>],
        tables: Vec<ValueId>,
        span: SpanId,
    ) -> Run<Vec<ValueId>> {
        if kept.is_empty() {
            return Ok(tables);
        }
        let mut tables = tables.into_iter();
        let mut all = Vec::new();
        for rows in kept {
            match rows {
                Some(kept) => all.push(self.kept(kept, span)?),
                None => all.extend(tables.next()),
            }
        }
        Ok(all)
    }

    /// The table of rows that were kept. Each element was put once, so a member's number is one.
    fn kept(&mut self, kept: &Kept, span: SpanId) -> Run<ValueId> {
        let ty = self.program.ty(kept.acc).clone();
        let dims = ty.dims.clone();
        let table = self.op(PointOp::Get { acc: kept.acc }, ty, span);
        let Elem::Index(of) = kept.elem else {
            return Ok(table);
        };
        if matches!(of, Extent::Value(size) if !self.in_scope(size)) {
            let span = self.at(span);
            return self.fail(say::escaping_member(span));
        }
        let members = self.tabulate(&dims, span, &mut |s, at| {
            let number = s.select_leaf(table, at, span);
            Ok(vec![s.prim(Prim::Trust(of), &[number], span)?])
        })?;
        Ok(members[0])
    }
}

/// Whether an index is a member of the set of all values, and chooses no row.
fn is_of_values(index: &Ty) -> bool {
    matches!(index, Ty::Member(Set::Ragged(..)))
}

/// Tuples of indices are one index for each axis.
fn components<'a>(val: Val<'a>, ty: Ty, out: &mut Vec<(Val<'a>, Ty)>) {
    match (val, ty) {
        (Val::Tuple(vals), Ty::Tuple(types)) => {
            for (val, ty) in vals.into_iter().zip(types) {
                components(val, ty, out);
            }
        }
        (val, ty) => out.push((val, ty)),
    }
}

/// A part of a `Ragged`, which messages call by its own name.
fn called(access: &Access, part: &'static str) -> Access {
    let mut access = access.clone();
    access.fields.push(Field::Called(part));
    access
}
