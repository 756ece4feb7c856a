//! DOALL loops: a loop in order, whose iterations change an element of a table each and read the table
//! only where none of them changes it, computes the elements in any order.
//!
//! ```text
//! %1 = loop %2: N (%3 = u) {                %6 = for %2: N {
//!   %4 = index %3[%t, %2]                     %4 = index u[%t, %2]
//!   %5 = sin %4                        ▶      %5 = sin %4
//!   %6 = update %3[%s, %2], %5                yield %5
//!   yield %6                                }
//! }                                         %1 = update u[%s], %6
//! ```
//!
//! Here `%s` is never `%t`, as in `u[t + 1][i] = u[t][i].sin()`: a row is computed of the one before it.
//! On the left a derivative adds up element by element. On the right it is one of a whole row: a sum of
//! products is a product of matrices, a stencil's way back reads where it would add up.
//!
//! # Which loops
//!
//! All states are tables. Each is changed at one place: the loop's own index, or that and a number,
//! along one axis, of which that is nearly all, and the same in all iterations along the others
//! ([`distances`](super::distances)). Loops that read a table at their own place only are those of
//! [`owner_computes`](mod@super::owner_computes).
//!
//! # Why it is sound
//!
//! What an iteration reads is at its own place, or at another one along an axis where all iterations
//! write at the same: no other iteration changes it.

use std::collections::BTreeMap;

use super::distances::Distances;
use super::emit;
use super::interior::{Part, accumulates, loops};
use super::substitution::Subst;
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Elem, Extent, Operation, Program, SpanId, Stmt, Type, ValueId, ValueSet};
use crate::pass::Pass;

/// The pass.
pub const DOALL: Pass<Point> = Pass {
    name: "doall",
    about: "compute elements in any order that a loop changes and none of its iterations reads",
    run: doall,
};

/// Computes elements in any order that a loop changes and none of its iterations reads.
pub fn doall(program: Program<Point>) -> Program<Point> {
    let distances = Distances::of(&program.body);
    program.rewritten(|program, body| {
        let mut walk = Walk {
            program,
            distances,
            subst: Subst::new(),
        };
        walk.block(body);
    })
}

struct Walk<'w> {
    program: &'w mut Program<Point>,
    distances: Distances,
    subst: Subst,
}

impl Walk<'_> {
    /// Inner loops before outer ones, for which they change a row.
    fn block(&mut self, block: &mut Block<Point>) {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            self.subst.stmt(&mut stmt);
            for inner in stmt.op.blocks_mut() {
                self.block(inner);
            }
            self.stmt(stmt, &mut stmts);
        }
        block.stmts = stmts;
        self.subst.results(block);
    }

    fn stmt(&mut self, mut stmt: Stmt<Point>, stmts: &mut Vec<Stmt<Point>>) {
        let Some((mut places, mut before)) = self.places(&stmt) else {
            return stmts.push(stmt);
        };
        let PointOp::Loop {
            extent, init, body, ..
        } = &stmt.op
        else {
            return stmts.push(stmt);
        };
        let (extent, init, mut all) = (*extent, init.clone(), body.clone());
        let Some(values) = self.elements(&mut all, &init, &places) else {
            return stmts.push(stmt);
        };
        #[cfg(test)]
        {
            use crate::testing::entered::{DOALL, DOALL_MOST, enter};
            enter(&DOALL);
            if places.iter().any(|place| place.first.is_some()) {
                enter(&DOALL_MOST);
            }
        }
        let span = stmt.span;
        let tables: Vec<ValueId> = stmt.results.drain(..init.len()).collect();
        all.results.splice(..init.len(), values);
        let over = match stmt.results.is_empty() {
            true => self.interior((extent, &mut all), &init, &mut places, span),
            false => extent,
        };
        let elements = all.results[..init.len()].iter().map(|&value| {
            let mut ty = self.program.ty(value).clone();
            ty.dims.insert(0, over);
            self.program.value(ty, span)
        });
        let elements: Vec<ValueId> = elements.collect();
        stmt.results.splice(..0, elements.iter().copied());
        stmt.op = PointOp::For {
            extent: over,
            body: all,
        };
        before.stmts.push(stmt);
        for (k, place) in places.iter().enumerate() {
            let into = (&mut before, span);
            let table = place.table(self.program, (init[k], elements[k], over), into);
            self.subst.replace(tables[k], table);
        }
        self.distances.learn(&before);
        stmts.extend(before.stmts);
    }

    /// Lets a loop without loops inside go over all of an axis of which it has nearly all places.
    fn interior(
        &mut self,
        (extent, body): (Extent, &mut Block<Point>),
        init: &[ValueId],
        places: &mut [Place],
        span: SpanId,
    ) -> Extent {
        let (of, Some(first)) = (places[0].of, places[0].first) else {
            return extent;
        };
        let alike = |place: &Place| place.first == Some(first) && place.of == of;
        if !places.iter().all(alike) || loops(body) {
            return extent;
        }
        let index = Type::scalar(Elem::Index(of));
        let number = self.program.value(index, span);
        let mut otherwise = Block::default();
        for (place, &table) in places.iter_mut().zip(init) {
            let into = (&mut otherwise, span);
            let kept = emit::index(self.program, table, place.at(number), into);
            otherwise.results.push(kept);
            place.first = None;
        }
        let part = Part { extent, first, of };
        let over = (&mut *self.program, &self.distances);
        *body = part.interior(over, std::mem::take(body), number, otherwise, span);
        of
    }

    /// Where the iterations of a loop change each of its states, and what computes that in front of it.
    fn places(&mut self, stmt: &Stmt<Point>) -> Option<(Vec<Place>, Block<Point>)> {
        let PointOp::Loop {
            extent,
            checkpoint: None,
            init,
            body,
            reverse,
        } = &stmt.op
        else {
            return None;
        };
        // Contributions arrive in the order of iterations.
        if init.is_empty() || (*reverse && accumulates(body)) {
            return None;
        }
        let states = &body.params[1..];
        let changed: Vec<&[ValueId]> = (states.iter())
            .map(|&state| update(body, state))
            .collect::<Option<_>>()?;
        let bound = body.bound();
        let own = (body.params[0], *extent);
        let mut before = Block::default();
        let places = (states.iter().zip(changed))
            .map(|(&state, at)| self.place(own, (state, at), &bound, (&mut before, stmt.span)))
            .collect::<Option<_>>()?;
        Some((places, before))
    }

    /// Where the iterations change a state that some change has at these indices.
    fn place(
        &mut self,
        (index, extent): (ValueId, Extent),
        (state, at): (ValueId, &[ValueId]),
        bound: &ValueSet,
        (before, span): (&mut Block<Point>, SpanId),
    ) -> Option<Place> {
        let dims = self.program.ty(state).dims.clone();
        let offsets: Vec<(ValueId, i128)> = at
            .iter()
            .map(|&place| self.distances.offset(place))
            .collect();
        let mut own = (0..at.len()).filter(|&k| offsets[k].0 == index);
        let axis = own.next()?;
        let first = (self.distances).places(offsets[axis].1, extent, dims[axis])?;
        let others = || (0..at.len()).filter(|&k| k != axis);
        let is_outside = |k: usize| !bound.contains(&offsets[k].0) && self.distances.is_safe(at[k]);
        let is_own = self.distances.is_safe(at[axis]);
        if own.next().is_some() || !is_own || !others().all(is_outside) {
            return None;
        }
        let others =
            others().map(|k| emit::place(self.program, offsets[k], dims[k], (&mut *before, span)));
        Some(Place {
            others: others.collect(),
            offsets,
            axis,
            first,
            of: dims[axis],
        })
    }

    /// What the iterations of a loop put at their places, in the loop that reads its states where they
    /// are before it, if each may do so and one reads elsewhere.
    fn elements(
        &mut self,
        body: &mut Block<Point>,
        init: &[ValueId],
        places: &[Place],
    ) -> Option<Vec<ValueId>> {
        let states: Vec<ValueId> = body.params.drain(1..).collect();
        let (mut values, mut elsewhere) = (Vec::new(), false);
        for (k, place) in places.iter().enumerate() {
            let mut elements = Elements {
                program: self.program,
                distances: &self.distances,
                place,
                table: init[k],
                versions: BTreeMap::from([(states[k], None)]),
                views: BTreeMap::new(),
                subst: Subst::new(),
                elsewhere: false,
            };
            elements.block(body)?;
            let mut results = body.results.iter().enumerate();
            let is_other = |value| !elements.versions.contains_key(value);
            if !results.all(|(slot, result)| slot == k || is_other(result)) {
                return None;
            }
            let value = (*elements.versions.get(&body.results[k])?)?;
            elsewhere |= elements.elsewhere;
            // In place of the table until all are known.
            body.results[k] = value;
            let subst = elements.subst;
            subst.block(body);
            values
                .iter_mut()
                .for_each(|value| *value = subst.get(*value));
            values.push(body.results[k]);
        }
        elsewhere.then_some(values)
    }
}

/// Where iterations of a loop change a table.
struct Place {
    /// Indices and what is added to them.
    offsets: Vec<(ValueId, i128)>,
    /// The places along the axes that are the same in all iterations.
    others: Vec<ValueId>,
    /// Which axis it is along which an iteration has a place of its own.
    axis: usize,
    /// If these are not all of the axis, the first.
    first: Option<i128>,
    of: Extent,
}

impl Place {
    /// The indices of a place along the axis.
    fn at(&self, place: ValueId) -> Vec<ValueId> {
        let mut at = self.others.clone();
        at.insert(self.axis, place);
        at
    }

    /// The table in which the elements are put, of which there are so many.
    fn table(
        &self,
        program: &mut Program<Point>,
        (before, elements, extent): (ValueId, ValueId, Extent),
        (into, span): (&mut Block<Point>, SpanId),
    ) -> ValueId {
        let (outer, inner) = self.others.split_at(self.axis);
        let part = match outer {
            [] => before,
            _ => emit::index(program, before, outer.to_vec(), (into, span)),
        };
        let is_all = self.first.is_none() && extent == self.of && inner.is_empty();
        let part = match is_all {
            true => elements,
            false => self.part(program, (part, elements, extent), inner, (into, span)),
        };
        match outer {
            [] => part,
            _ => emit::update(program, before, outer.to_vec(), part, (into, span)),
        }
    }

    /// The same along the axis and those after it.
    fn part(
        &self,
        program: &mut Program<Point>,
        (before, elements, extent): (ValueId, ValueId, Extent),
        inner: &[ValueId],
        (into, span): (&mut Block<Point>, SpanId),
    ) -> ValueId {
        let place = program.value(Type::scalar(Elem::Index(self.of)), span);
        let mut body = Block {
            params: vec![place],
            ..Block::default()
        };
        let kept = emit::index(program, before, vec![place], (&mut body, span));
        let put = |program: &mut Program<Point>, index: ValueId, into: &mut Block<Point>| {
            let index = emit::trust(program, index, extent, (into, span));
            let value = emit::index(program, elements, vec![index], (into, span));
            match inner {
                [] => value,
                _ => emit::update(program, kept, inner.to_vec(), value, (into, span)),
            }
        };
        let value = match self.first {
            None => put(program, place, &mut body),
            Some(first) => {
                let of = self.of;
                let part = Part { extent, first, of };
                let (cond, number) = part.member(program, place, (&mut body, span));
                let mut then = Block::default();
                let value = put(program, number, &mut then);
                then.results.push(value);
                let otherwise = Block {
                    results: vec![kept],
                    ..Block::default()
                };
                let (then, otherwise) = (Box::new(then), Box::new(otherwise));
                let ty = program.ty(kept).clone();
                let choice = PointOp::If {
                    cond,
                    then,
                    otherwise,
                };
                emit::op(program, choice, ty, (&mut body, span))
            }
        };
        body.results.push(value);
        let ty = program.ty(before).clone();
        let body = Box::new(body);
        let all = PointOp::For {
            extent: self.of,
            body,
        };
        emit::op(program, all, ty, (into, span))
    }
}

/// Makes changes of a table the elements that are put in it.
struct Elements<'e> {
    program: &'e mut Program<Point>,
    distances: &'e Distances,
    place: &'e Place,
    /// The table before the loop.
    table: ValueId,
    /// What is at the iteration's place in versions of the table, if that is not what was there before
    /// the loop.
    versions: BTreeMap<ValueId, Option<ValueId>>,
    /// Parts of the table before the loop of which the iteration's place is one, and their indices.
    views: BTreeMap<ValueId, Vec<ValueId>>,
    subst: Subst,
    /// Whether something is read at places that no iteration changes.
    elsewhere: bool,
}

impl Elements<'_> {
    /// Nothing where a version is read at the place of another iteration, or as a whole.
    fn block(&mut self, block: &mut Block<Point>) -> Option<()> {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            if self.stmt(&mut stmt)? {
                stmts.push(stmt);
            }
        }
        block.stmts = stmts;
        Some(())
    }

    fn is_read(&self, value: ValueId) -> bool {
        self.versions.contains_key(&value) || self.views.contains_key(&value)
    }

    /// Whether the statement stays.
    fn stmt(&mut self, stmt: &mut Stmt<Point>) -> Option<bool> {
        let result = stmt.results.first().copied();
        match &mut stmt.op {
            PointOp::Index { table, indices } if self.is_read(*table) => {
                let before = self.views.get(table).cloned().unwrap_or_default();
                let now = self.versions.get(table).copied().flatten();
                if self.versions.contains_key(table) {
                    *table = self.table;
                }
                let at = [before, indices.clone()].concat();
                if self.is_elsewhere(&at) {
                    self.elsewhere = true;
                    return Some(true);
                }
                self.is_own(&at).then_some(())?;
                let depth = self.place.offsets.len();
                match now {
                    None if at.len() < depth => {
                        self.views.insert(result?, at);
                    }
                    None => {}
                    Some(_) if at.len() < depth => return None,
                    Some(value) if at.len() == depth => {
                        self.subst.replace(result?, value);
                        return Some(false);
                    }
                    Some(value) => (*table, *indices) = (value, at[depth..].to_vec()),
                }
                Some(true)
            }
            PointOp::Update {
                table,
                indices,
                value,
            } if self.versions.contains_key(table) => {
                let is_own = indices.len() == self.place.offsets.len() && self.is_own(indices);
                (is_own && !self.is_read(*value)).then_some(())?;
                self.versions.insert(result?, Some(*value));
                Some(false)
            }
            PointOp::If {
                then, otherwise, ..
            } => {
                self.block(then)?;
                self.block(otherwise)?;
                let results = std::mem::take(&mut stmt.results);
                let mut slot = 0;
                for result in results {
                    match self.chosen(result, slot, [&mut *then, &mut *otherwise], stmt.span)? {
                        Some(value) => {
                            stmt.results.push(value);
                            slot += 1;
                        }
                        None => {
                            then.results.remove(slot);
                            otherwise.results.remove(slot);
                        }
                    }
                }
                Some(true)
            }
            op => {
                if op.reads_any(|operand| self.is_read(operand)) {
                    return None;
                }
                for inner in op.blocks_mut() {
                    self.block(inner)?;
                    let mut results = inner.results.iter();
                    (!results.any(|&result| self.is_read(result))).then_some(())?;
                }
                Some(true)
            }
        }
    }

    /// What a branch gives instead of one of its results, if anything.
    fn chosen(
        &mut self,
        result: ValueId,
        slot: usize,
        sides: [&mut Block<Point>; 2],
        span: SpanId,
    ) -> Option<Option<ValueId>> {
        let given = [sides[0].results[slot], sides[1].results[slot]];
        if !given.iter().any(|&value| self.is_read(value)) {
            return Some(Some(result));
        }
        let [Some(&then), Some(&otherwise)] = given.map(|value| self.versions.get(&value)) else {
            return None;
        };
        let Some(value) = then.or(otherwise) else {
            self.versions.insert(result, None);
            return Some(None);
        };
        let ty = self.program.ty(value).clone();
        for (side, now) in sides.into_iter().zip([then, otherwise]) {
            side.results[slot] = match now {
                Some(value) => value,
                None => self.before((side, span)),
            };
        }
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::DOALL_SOMETIMES);
        let value = self.program.value(ty, span);
        self.versions.insert(result, Some(value));
        Some(Some(value))
    }

    /// What is at the iteration's place before the loop.
    fn before(&mut self, (into, span): (&mut Block<Point>, SpanId)) -> ValueId {
        let place = self.place;
        let own = place.offsets[place.axis];
        let own = emit::place(self.program, own, place.of, (&mut *into, span));
        emit::index(self.program, self.table, place.at(own), (into, span))
    }

    /// Whether no iteration changes what is there.
    fn is_elsewhere(&self, at: &[ValueId]) -> bool {
        let places = at.iter().zip(&self.place.offsets).enumerate();
        places.into_iter().any(|(axis, (&index, &(origin, by)))| {
            let (from, less) = self.distances.offset(index);
            axis != self.place.axis && from == origin && less != by
        })
    }

    /// Whether that is the iteration's place, as far as both go.
    fn is_own(&self, at: &[ValueId]) -> bool {
        let mut places = at.iter().zip(&self.place.offsets);
        places.all(|(&index, &place)| self.distances.offset(index) == place)
    }
}

/// The indices of the first change of a table that is found in a block.
fn update(block: &Block<Point>, state: ValueId) -> Option<&[ValueId]> {
    block.stmts.iter().find_map(|stmt| match &stmt.op {
        PointOp::Update { table, indices, .. } if *table == state => Some(indices.as_slice()),
        PointOp::If {
            then, otherwise, ..
        } => update(then, state).or_else(|| update(otherwise, state)),
        _ => None,
    })
}
