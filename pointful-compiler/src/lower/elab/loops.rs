//! `for` and `while`.
//!
//! A `for` is independent unless its body assigns a variable around it that it also reads: that one
//! becomes a state. A variable that the body only adds to is accumulated. A table that the body
//! uses at the loop's own indices only is taken apart: each iteration gets its part and gives back
//! what it made of it, so that writing `t[i]` in a loop over `i` needs no order. Where the iterations
//! follow each other for another reason, a table stays whole of whose rows they change an element.

use std::rc::Rc;

use super::monoid::own_of;
use super::value::{Functions, Maker, Part, Space, Val};
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::ir::stages::point::PointOp;
use crate::ir::{Checkpoint, Elem, Extent, Lit, Monoid, Scalar, SpanId, Type, ValueId};
use crate::lower::effects::{Effects, Path};
use crate::lower::hir::{Block, Expr, For, LocalId, Over, Pattern};
use crate::lower::types::{Set, Ty};
use crate::ops::Prim;

/// What a `for` runs over.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// All members of a set.
    Whole(Space),
    /// A number of integers from the first.
    Ints {
        extent: Extent,
        first: Option<ValueId>,
        scalar: Scalar,
    },
    /// A number of members from the first.
    Members {
        extent: Extent,
        first: Option<ValueId>,
        of: Space,
    },
}

impl Order {
    /// From the first to the last.
    pub(super) const FORWARDS: Self = Self {
        reverse: false,
        checkpoint: None,
    };
}

impl Source {
    fn axes(&self) -> Vec<Extent> {
        match self {
            Source::Whole(space) => space.axes(),
            Source::Ints { extent, .. } | Source::Members { extent, .. } => vec![*extent],
        }
    }
}

/// How iterations that need each other follow, and what a derivative keeps of the outermost loop of
/// them.
#[derive(Clone, Copy)]
pub(super) struct Order {
    reverse: bool,
    checkpoint: Option<Checkpoint>,
}

/// One iteration: given the index of each axis, what it gives.
pub(super) type Iteration<'f, 'a> = dyn FnMut(&mut Elab<'a>, &[ValueId]) -> Run<Vec<ValueId>> + 'f;

impl<'a> Elab<'a> {
    pub(super) fn for_loop(&mut self, f: &'a For, span: SpanId) -> Run<Val<'a>> {
        let source = self.source(f, span)?;
        self.countable_loop(&source.axes(), span)?;
        if let Set::Range(_) = f.set {
            let space = Space::Axis(source.axes()[0]);
            self.frame.inner.insert(f.set.clone(), space);
            if let Source::Members {
                first: Some(first), ..
            } = source
            {
                self.frame.begins.insert(f.set.clone(), first);
            }
        }
        if matches!(self.ty(&f.value), Ty::Function(..)) {
            return Ok(Val::Functions(Rc::new(Functions {
                maker: Maker::Loop(f),
                frame: self.silent(),
                axes: source.axes().len(),
                indices: Vec::new(),
            })));
        }
        let mut effects = Effects::new(self.summaries);
        effects.block(&f.body);
        let mut written = effects.written();
        written.retain(|(path, _)| !self.accumulates(path));
        let sliced = self.sliced(&mut written);
        let (begun, written): (Vec<_>, Vec<_>) = written
            .into_iter()
            .partition(|(path, added)| *added && !f.reverse && self.begins_anew(path, &effects));
        let (added, states): (Vec<_>, Vec<_>) = written.into_iter().partition(|(path, added)| {
            *added && self.operators == 0 && !self.combines_itself(path)
        });
        let members = match (&f.over, &source) {
            (Over::Set, Source::Whole(_)) => bound(&f.pattern).unwrap_or_default(),
            _ => Vec::new(),
        };
        let (parts, mut states): (Vec<Path>, Vec<Path>) =
            states.into_iter().map(|(path, _)| path).partition(|path| {
                !members.is_empty() && effects.owned(path, &self.members_of(path, &members))
            });
        // What else is done with what a slice is of is not known here.
        states.extend(sliced);
        // Where iterations follow each other anyway, what they change places of stays whole.
        let parts = match states.is_empty() {
            true => parts,
            false => self.without_places(parts, &members, &effects, &mut states),
        };
        let begun: Vec<Path> = begun.into_iter().map(|(path, _)| path).collect();
        // Where iterations follow each other anyway, an accumulator follows with them.
        let begun = if states.is_empty() {
            begun
        } else {
            states.extend(begun);
            Vec::new()
        };
        if let Some((_, place)) = f.checkpoint
            && states.is_empty()
        {
            let place = self.at(place);
            return self.fail(say::checkpoint_without_state(place));
        }
        let order = Order {
            reverse: f.reverse,
            checkpoint: f.checkpoint.map(|(checkpoint, _)| checkpoint),
        };
        for (path, _) in &added {
            let base = self.read(path, span)?;
            let accum = self.accum_from(Monoid::Add, &base, span)?;
            self.write(path, accum, span)?;
        }
        let mut whole = Vec::new();
        for path in &parts {
            whole.push(match self.read(path, span)? {
                Val::Part(part) => (*part).clone(),
                val => Part {
                    val,
                    axes: 0,
                    members: Vec::new(),
                },
            });
        }
        let mut before = Vec::new();
        for path in &begun {
            before.push(self.read(path, span)?);
        }
        let mut shape = None;
        let mut rows = Vec::new();
        let around = self.serial();
        let axes = source.axes();
        let mut indices = Vec::new();
        let in_pieces =
            !f.makes_rows && parts.is_empty() && self.goes_in_pieces(f, &axes, &states, &effects);
        let mut step = |s: &mut Self, at: &[ValueId]| {
            for (path, outer) in parts.iter().zip(&whole) {
                let part = Part {
                    val: s.select(&outer.val, at, span)?,
                    axes: outer.axes + at.len(),
                    members: [outer.members.as_slice(), &members].concat(),
                };
                s.write(path, Val::Part(Rc::new(part)), span)?;
            }
            for (path, whole) in begun.iter().zip(&before) {
                s.begin_own(path, whole, span)?;
            }
            let val = s.iteration(f, &source, at, span)?;
            let val = s.settled(val, &f.value, span)?;
            let mut leaves = s.leaves(&val, span)?;
            if f.makes_rows {
                (leaves, rows) = s.keep_rows(leaves, at, around, span)?;
            }
            leaves.extend(s.state_leaves(&parts, span)?);
            leaves.extend(s.state_leaves(&begun, span)?);
            shape = Some(val);
            Ok(leaves)
        };
        let mut tables = match in_pieces {
            true => self.in_pieces(&axes, &states, &effects, span, &mut step)?,
            false => self.nest(&axes, order, &states, &mut indices, span, &mut step)?,
        };
        // What the iterations made of their parts, and of accumulators, comes last.
        for (path, whole) in begun.iter().zip(&before).rev() {
            let count = self.leaves(whole, span)?.len();
            let made = tables.split_off(tables.len().saturating_sub(count));
            self.end_own(path, whole, (made, &axes), span)?;
        }
        for (path, mut outer) in parts.iter().zip(whole).rev() {
            let count = self.leaves(&outer.val, span)?.len();
            let made = tables.split_off(tables.len().saturating_sub(count));
            outer.val = self.rebuild(&outer.val, &mut made.into_iter());
            let val = if outer.axes == 0 {
                outer.val
            } else {
                Val::Part(Rc::new(outer))
            };
            self.write(path, val, span)?;
        }
        for (path, _) in &added {
            if let Val::Accum(accum) = self.read(path, span)? {
                let val = self.taken(&accum, span)?;
                self.write(path, val, span)?;
            }
        }
        let tables = self.kept_rows(&rows, tables, span)?;
        match shape {
            Some(shape) => Ok(self.rebuild(&shape, &mut tables.into_iter())),
            None => self.bug(span, "a loop without a body"),
        }
    }

    /// Whether an accumulator with its own operator stands at a path.
    fn combines_itself(&self, path: &Path) -> bool {
        let val = self.frame.env[path.0.0 as usize].as_ref();
        path.1.is_empty() && val.is_some_and(|val| own_of(val).is_some())
    }

    /// Whether such an accumulator is put to as a whole, so that every iteration may begin with the
    /// identity.
    fn begins_anew(&self, path: &Path, effects: &Effects<'_>) -> bool {
        let val = self.frame.env[path.0.0 as usize].as_ref();
        val.and_then(own_of)
            .is_some_and(|(_, axes)| effects.indexed(path, axes))
    }

    /// The variables that must lead the indices of a table of which this loop takes a part.
    fn members_of(&self, path: &Path, members: &[LocalId]) -> Vec<LocalId> {
        match &self.frame.env[path.0.0 as usize] {
            Some(Val::Part(part)) => [part.members.as_slice(), members].concat(),
            _ => members.to_vec(),
        }
    }

    /// Of tables of which each iteration has a part to itself, those whose parts are not only changed
    /// at a few places. The others become states, so that no part is copied for them.
    fn without_places(
        &self,
        parts: Vec<Path>,
        members: &[LocalId],
        effects: &Effects<'_>,
        states: &mut Vec<Path>,
    ) -> Vec<Path> {
        let at_places = |path: &Path| effects.at_places(path, self.members_of(path, members).len());
        let (few, parts): (Vec<_>, _) = parts.into_iter().partition(at_places);
        #[cfg(test)]
        few.iter()
            .for_each(|_| crate::testing::entered::enter(&crate::testing::entered::ROWS_STAY));
        states.extend(few);
        parts
    }

    /// The body with its member bound.
    fn iteration(
        &mut self,
        f: &'a For,
        source: &Source,
        at: &[ValueId],
        span: SpanId,
    ) -> Run<Val<'a>> {
        let member = self.member_of(source, at, span)?;
        self.bind(&f.pattern, member, span)?;
        self.block(&f.body)
    }

    /// Loops over these axes, one inside the other, with states carried through all of them.
    pub(super) fn nest(
        &mut self,
        axes: &[Extent],
        order: Order,
        states: &[Path],
        indices: &mut Vec<ValueId>,
        span: SpanId,
        body: &mut Iteration<'_, 'a>,
    ) -> Run<Vec<ValueId>> {
        if states.is_empty() {
            return self.tabulate(axes, span, body);
        }
        let Some((extent, rest)) = axes.split_first() else {
            let at = indices.clone();
            return body(self, &at);
        };
        let init = self.state_leaves(states, span)?;
        let index = self.program.value(Type::scalar(Elem::Index(*extent)), span);
        let mut params = vec![index];
        for value in &init {
            let ty = self.program.ty(*value).clone();
            let name = self.program.values[value.index()].name.clone();
            let param = self.program.value(ty, span);
            self.program.values[param.index()].name = name;
            params.push(param);
        }
        self.begin(&params);
        self.set_states(states, &params[1..], span)?;
        indices.push(index);
        let inner = Order {
            checkpoint: None,
            ..order
        };
        let collected = self.nest(rest, inner, states, indices, span, body)?;
        indices.pop();
        let next = self.state_leaves(states, span)?;
        self.same_types(&init, &next, span)?;
        let types: Vec<Type<Extent>> = collected
            .iter()
            .map(|c| self.program.ty(*c).clone())
            .collect();
        let block = self.end([next, collected].concat(), say::ragged, span)?;
        let mut results = Vec::new();
        for value in &init {
            let ty = self.program.ty(*value).clone();
            results.push(self.fresh(ty, span));
        }
        self.set_states(states, &results, span)?;
        let tables: Vec<ValueId> = types
            .into_iter()
            .map(|ty| self.stacked(ty, *extent, span))
            .collect();
        results.extend(&tables);
        let op = PointOp::Loop {
            extent: *extent,
            reverse: order.reverse,
            checkpoint: order.checkpoint,
            init,
            body: Box::new(block),
        };
        self.emit(results, op, span);
        Ok(tables)
    }

    /// A state keeps its type, also the lengths of ranges in it.
    fn same_types(&mut self, before: &[ValueId], after: &[ValueId], span: SpanId) -> Run<()> {
        let same = before.len() == after.len()
            && before
                .iter()
                .zip(after)
                .all(|(a, b)| self.program.ty(*a) == self.program.ty(*b));
        if same {
            return Ok(());
        }
        let span = self.at(span);
        self.fail(say::escaping_range(span))
    }

    // ---- what it runs over ----

    /// What a loop runs over. A range whose bounds are those of one before is the same set, so its
    /// length is computed once, where the variables in them are bound.
    fn source(&mut self, f: &'a For, span: SpanId) -> Run<Source> {
        let Some(mut values) = self.values_of_bounds(&f.set) else {
            return self.source_anew(f, span);
        };
        // Another call may have other sets and other lengths for the function's generics.
        let generics = self.frame.sets.iter().flatten();
        let mut extents: Vec<Extent> = generics.flat_map(Space::axes).collect();
        if let Over::Members { of, .. } = &f.over {
            let axes = self.space(of, span)?.axes();
            values.extend(axes.iter().filter_map(|axis| match axis {
                Extent::Value(value) => Some(*value),
                Extent::Const(_) | Extent::Size(_) => None,
            }));
            extents.extend(axes);
        }
        let key = (self.frame.function, f.set.clone(), values, extents);
        if let Some(known) = self.ranges.get(&key) {
            return Ok(known.clone());
        }
        let homes = key
            .2
            .iter()
            .filter_map(|value| self.home.get(value.index()));
        let inmost = homes.copied().max();
        let source = self.within(inmost.unwrap_or(0), |s| s.source_anew(f, span))?;
        self.ranges.insert(key, source.clone());
        Ok(source)
    }

    /// The values of the variables that say what the bounds of a range are, if nothing else does.
    fn values_of_bounds(&self, set: &Set) -> Option<Vec<ValueId>> {
        let Set::Range(range) = set else {
            return None;
        };
        let solver = &self.functions[self.frame.function].solver;
        let names = solver.ranges.get(*range as usize)?.bounds.as_ref()?;
        let mut values = Vec::new();
        for name in names {
            let val = self.frame.env[name.0 as usize].as_ref()?;
            leaves_of(val, &mut values)?;
        }
        Some(values)
    }

    fn source_anew(&mut self, f: &'a For, span: SpanId) -> Run<Source> {
        match &f.over {
            Over::Set => Ok(Source::Whole(self.space(&f.set, f.place)?)),
            Over::Ints {
                start,
                end,
                inclusive,
            } => self.ints(f, start.as_deref(), end, *inclusive, span),
            Over::Members {
                of,
                start,
                end,
                inclusive,
            } => self.members(f, of, start.as_deref(), end.as_deref(), *inclusive, span),
        }
    }

    /// Numbers of members to leave out, together.
    fn skips(&mut self, skips: &'a [Expr], span: SpanId) -> Run<Option<ValueId>> {
        let mut total = None;
        for skip in skips {
            let val = self.eval(skip)?;
            let count = self.leaf(&val, span)?;
            total = Some(match total {
                None => count,
                Some(before) => self.prim(Prim::Add, &[before, count], span)?,
            });
        }
        Ok(total)
    }

    fn ints(
        &mut self,
        f: &'a For,
        start: Option<&'a Expr>,
        end: &'a Expr,
        inclusive: bool,
        span: SpanId,
    ) -> Run<Source> {
        let scalar = self.scalar(&end.ty, span)?;
        let mut first = match start {
            Some(e) => {
                let val = self.eval(e)?;
                Some(self.leaf(&val, span)?)
            }
            None => None,
        };
        let last = self.eval(end)?;
        let last = self.leaf(&last, span)?;
        let front = self.skips(&f.skip_front, span)?;
        let back = self.skips(&f.skip_back, span)?;
        // `0..n` is `..n`.
        if let Some(value) = first
            && self.literals.get(&value) == Some(&0)
        {
            first = None;
        }
        if first.is_none()
            && front.is_none()
            && back.is_none()
            && !inclusive
            && scalar == Scalar::Usize
            && !self.differences.contains(&last)
        {
            let extent = self.extent_of(last);
            return Ok(Source::Ints {
                extent,
                first,
                scalar,
            });
        }
        let constant = |s: &Self, value: Option<ValueId>| match value {
            None => Some(0),
            Some(value) => s.literals.get(&value).copied(),
        };
        if let (Some(a), Some(b), Some(p), Some(q)) = (
            constant(self, first),
            constant(self, Some(last)),
            constant(self, front),
            constant(self, back),
        ) {
            let count = (b - a + i128::from(inclusive) - p - q).max(0);
            if p != 0 {
                first = Some(self.lit(Lit::Int(scalar, a + p), span));
            }
            let extent = Extent::Const(u64::try_from(count).unwrap_or(0));
            return Ok(Source::Ints {
                extent,
                first,
                scalar,
            });
        }
        // In 64 signed bits nothing passes below zero in between.
        let wide = |s: &mut Self, value: Option<ValueId>| match value {
            Some(value) => s.cast(value, Scalar::I64, span).map(Some),
            None => Ok(None),
        };
        let begin = wide(self, first)?;
        let front_wide = wide(self, front)?;
        let back_wide = wide(self, back)?;
        let mut count = self.cast(last, Scalar::I64, span)?;
        for less in [begin, front_wide, back_wide].into_iter().flatten() {
            count = self.prim(Prim::Sub, &[count, less], span)?;
        }
        if inclusive {
            let one = self.lit(Lit::Int(Scalar::I64, 1), span);
            count = self.prim(Prim::Add, &[count, one], span)?;
        }
        let zero = self.lit(Lit::Int(Scalar::I64, 0), span);
        count = self.prim(Prim::Max, &[count, zero], span)?;
        let count = self.cast(count, Scalar::Usize, span)?;
        if let Some(front) = front {
            let front = self.cast(front, scalar, span)?;
            first = Some(match first {
                Some(first) => self.prim(Prim::Add, &[first, front], span)?,
                None => front,
            });
        }
        let extent = self.extent_of(count);
        Ok(Source::Ints {
            extent,
            first,
            scalar,
        })
    }

    fn members(
        &mut self,
        f: &'a For,
        of: &'a Set,
        start: Option<&'a Expr>,
        end: Option<&'a Expr>,
        inclusive: bool,
        span: SpanId,
    ) -> Run<Source> {
        let space = self.space(of, span)?;
        let axes = space.axes();
        let size = self.total(&axes, span)?;
        let mut first = match start {
            Some(e) => Some(self.bound(e, size, false, span)?),
            None => None,
        };
        let mut last = match end {
            Some(e) => self.bound(e, size, inclusive, span)?,
            None => size,
        };
        if let Some(front) = self.skips(&f.skip_front, span)? {
            first = Some(match first {
                Some(first) => self.prim(Prim::Add, &[first, front], span)?,
                None => front,
            });
        }
        if let Some(back) = self.skips(&f.skip_back, span)? {
            let kept = self.prim(Prim::Max, &[last, back], span)?;
            last = self.prim(Prim::Sub, &[kept, back], span)?;
        }
        let count = match first {
            Some(first) => {
                let kept = self.prim(Prim::Max, &[last, first], span)?;
                self.prim(Prim::Sub, &[kept, first], span)?
            }
            None => last,
        };
        let extent = self.extent_of(count);
        Ok(Source::Members {
            extent,
            first,
            of: space,
        })
    }

    /// The end of a range of members as a number between 0 and the size.
    fn bound(&mut self, e: &'a Expr, size: ValueId, inclusive: bool, span: SpanId) -> Run<ValueId> {
        let val = self.eval(e)?;
        let ty = self.ty(&e.ty);
        if let Ty::Offset(_) = ty {
            let mut number = self.position(&val, &ty, span)?;
            if inclusive {
                let one = self.lit(Lit::Int(Scalar::I64, 1), span);
                number = self.prim(Prim::Add, &[number, one], span)?;
            }
            let zero = self.lit(Lit::Int(Scalar::I64, 0), span);
            let most = self.cast(size, Scalar::I64, span)?;
            number = self.prim(Prim::Max, &[number, zero], span)?;
            number = self.prim(Prim::Min, &[number, most], span)?;
            return self.cast(number, Scalar::Usize, span);
        }
        let number = self.ordinal(&val, &ty, span)?;
        if inclusive {
            let one = self.usize(1, span);
            return self.prim(Prim::Add, &[number, one], span);
        }
        Ok(number)
    }

    /// The member or integer that indices of a source stand for.
    fn member_of(&mut self, source: &Source, at: &[ValueId], span: SpanId) -> Run<Val<'a>> {
        match source {
            Source::Whole(space) => self.member(space, &mut at.iter().copied(), span),
            Source::Ints { first, scalar, .. } => {
                let mut number = self.cast(at[0], *scalar, span)?;
                match first {
                    Some(first) => number = self.prim(Prim::Add, &[*first, number], span)?,
                    None => {
                        self.ordinals.insert(number, at[0]);
                    }
                }
                Ok(Val::Leaf(number))
            }
            Source::Members { first, of, .. } => {
                let axes = of.axes();
                let number = match first {
                    Some(first) => {
                        let number = self.cast(at[0], Scalar::Usize, span)?;
                        self.prim(Prim::Add, &[*first, number], span)?
                    }
                    None => at[0],
                };
                let indices = self.unflatten(number, &axes, span)?;
                let member = self.member(of, &mut indices.into_iter(), span)?;
                let parts = self.leaves(&member, span)?;
                self.ranked.insert(parts, at[0]);
                Ok(member)
            }
        }
    }

    /// A function out of a table of functions.
    pub(super) fn select_function(
        &mut self,
        functions: &Functions<'a>,
        indices: &[ValueId],
        span: SpanId,
    ) -> Run<Val<'a>> {
        let mut chosen = functions.clone();
        chosen.indices.extend_from_slice(indices);
        if chosen.indices.len() < chosen.axes {
            return Ok(Val::Functions(Rc::new(chosen)));
        }
        let outer = std::mem::replace(&mut self.frame, chosen.frame.clone());
        let (here, rest) = chosen.indices.split_at(chosen.axes);
        let made = match &chosen.maker {
            Maker::Loop(code) => self
                .source(code, span)
                .and_then(|source| self.iteration(code, &source, here, span)),
            Maker::Call { of, repeat, args } => self.call_at(of.as_ref(), repeat, args, here, span),
        };
        let result = made.and_then(|val| self.select(&val, rest, span));
        self.frame = outer;
        result
    }

    // ---- while ----

    pub(super) fn while_loop(
        &mut self,
        cond: &'a Expr,
        body: &'a Block,
        bound: Option<&'a Expr>,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let bound = match bound {
            Some(e) => {
                let val = self.eval(e)?;
                Some(self.leaf(&val, span)?)
            }
            None => None,
        };
        // A condition that assigns is asked before the loop and at the end of each iteration.
        let assigns = !self.states_of(|effects| effects.expr(cond)).is_empty();
        let states = self.states_of(|effects| {
            effects.expr(cond);
            effects.block(body);
        });
        let ask = |s: &mut Self| {
            let val = s.eval(cond)?;
            s.leaf(&val, span)
        };
        let asked = if assigns {
            vec![ask(self)?]
        } else {
            Vec::new()
        };
        let init = [self.state_leaves(&states, span)?, asked].concat();
        let test = self.with_states(&states, &init, span, |s, params| match params.last() {
            Some(&asked) if assigns => Ok(vec![asked]),
            _ => Ok(vec![ask(s)?]),
        })?;
        self.set_states(&states, &init, span)?;
        let step = self.with_states(&states, &init, span, |s, _| {
            s.block(body)?;
            let asked = if assigns { vec![ask(s)?] } else { Vec::new() };
            let next = [s.state_leaves(&states, span)?, asked].concat();
            s.same_types(&init, &next, span)?;
            Ok(next)
        })?;
        let mut results = Vec::new();
        for value in &init {
            let ty = self.program.ty(*value).clone();
            results.push(self.fresh(ty, span));
        }
        self.set_states(&states, &results, span)?;
        let op = PointOp::While {
            init,
            cond: Box::new(test),
            body: Box::new(step),
            bound,
        };
        self.emit(results, op, span);
        Ok(Val::Tuple(Vec::new()))
    }

    /// A block with the states as parameters.
    fn with_states(
        &mut self,
        states: &[Path],
        init: &[ValueId],
        span: SpanId,
        run: impl FnOnce(&mut Self, &[ValueId]) -> Run<Vec<ValueId>>,
    ) -> Run<crate::ir::Block<crate::ir::stages::point::Point>> {
        let mut params = Vec::new();
        for value in init {
            let ty = self.program.ty(*value).clone();
            let name = self.program.values[value.index()].name.clone();
            let param = self.program.value(ty, span);
            self.program.values[param.index()].name = name;
            params.push(param);
        }
        self.begin(&params);
        self.set_states(states, &params, span)?;
        let results = run(self, &params)?;
        self.end(results, say::escaping_range, span)
    }
}

/// The values that a number, a member or a table is.
fn leaves_of(val: &Val<'_>, out: &mut Vec<ValueId>) -> Option<()> {
    match val {
        Val::Leaf(value) => out.push(*value),
        Val::Tuple(parts) => parts.iter().try_for_each(|part| leaves_of(part, out))?,
        _ => return None,
    }
    Some(())
}

/// The variables that a pattern binds, if it does nothing else.
fn bound(pattern: &Pattern) -> Option<Vec<LocalId>> {
    match pattern {
        Pattern::Bind(local) => Some(vec![*local]),
        Pattern::Tuple(parts) => {
            let parts: Option<Vec<Vec<LocalId>>> = parts.iter().map(bound).collect();
            parts.map(|parts| parts.concat())
        }
        Pattern::Wild
        | Pattern::Lit(_)
        | Pattern::Member(_)
        | Pattern::Side(..)
        | Pattern::Present(..) => None,
    }
}
