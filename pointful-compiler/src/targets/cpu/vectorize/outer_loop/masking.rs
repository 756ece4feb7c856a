//! Predication: a body whose straight-line parts are loops over lanes, and whose loops and branches
//! all lanes go through together, with a mask for those that take part.

use std::collections::BTreeMap;

use super::Plan;
use super::distribution::{Part, Segment, Truth};
use super::legality::is_straight;
use crate::analysis::numbers::Numbers;
use crate::contract::cloning::Renamed;
use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::{
    Block, Elem, Extent, Lit, Monoid, Operation, Program, Scalar, SpanId, Stmt, Type, ValueId,
    ValueMap,
};
use crate::ops::Prim;
use crate::targets::cpu::statements::{bind, number, prim, scalar};

/// A strip that is being written.
pub(super) struct Strip<'p> {
    pub(super) program: &'p mut Program<Cpu>,
    pub(super) numbers: &'p Numbers,
    pub(super) plan: &'p Plan,
    /// The axis' index.
    pub(super) index: ValueId,
    pub(super) strip: ValueId,
    pub(super) width: u64,
    pub(super) span: SpanId,
    /// What values are called here.
    pub(super) names: Renamed,
    /// The arrays of what lanes keep.
    pub(super) arrays: ValueMap<ValueId>,
    /// The mask behind which a `var` is bound: the lanes that have it.
    bound: BTreeMap<ValueId, Option<ValueId>>,
    /// Lengths that differ, and the greatest of each, as far as blocks around have it.
    longest: Vec<(ValueId, ValueId)>,
}

impl<'p> Strip<'p> {
    pub(super) fn new(
        program: &'p mut Program<Cpu>,
        numbers: &'p Numbers,
        plan: &'p Plan,
        body: &Block<Cpu>,
        width: u64,
        span: SpanId,
    ) -> Self {
        let index = body.params[0];
        let axis = program.elem(index);
        Self {
            strip: scalar(program, axis, span),
            program,
            numbers,
            plan,
            index,
            width,
            span,
            names: Renamed::default(),
            arrays: ValueMap::new(),
            bound: BTreeMap::new(),
            longest: Vec::new(),
        }
    }

    /// As many points as there are lanes.
    pub(super) fn points(mut self, body: &Block<Cpu>) -> Block<Cpu> {
        let plan = self.plan;
        let mut out = Vec::new();
        for (&place, &monoid) in &plan.summed {
            let elem = self.program.elem(place);
            let sums = self.new_array(elem, Some(monoid.identity(elem.repr())), &mut out);
            self.arrays.insert(place, sums);
        }
        self.block(body, None, &mut out);
        // In the order of the points, as without lanes.
        for (&place, &monoid) in &plan.summed {
            let sums = self.arrays[&place];
            self.over_lanes(true, None, &mut out, |strip, segment| {
                let value = strip.element(sums, segment.lane, &mut segment.inner);
                let op = CpuOp::Combine {
                    monoid,
                    place,
                    indices: Vec::new(),
                    value,
                };
                segment.inner.push(Stmt::new(Vec::new(), op, strip.span));
            });
        }
        Block {
            params: vec![self.strip],
            stmts: out,
            ..Block::default()
        }
    }

    /// A block, for the lanes whose `mask` is set.
    fn block(&mut self, block: &Block<Cpu>, mask: Option<ValueId>, out: &mut Vec<Stmt<Cpu>>) {
        self.block_then(block, mask, Vec::new(), out);
    }

    /// The same with `last` parts in its last segment.
    fn block_then(
        &mut self,
        block: &Block<Cpu>,
        mask: Option<ValueId>,
        last: Vec<Part>,
        out: &mut Vec<Stmt<Cpu>>,
    ) {
        let mut parts = Vec::new();
        let known = self.longest.len();
        for stmt in &block.stmts {
            // What is not a part of a segment ends it.
            match &stmt.op {
                CpuOp::For {
                    extent,
                    reverse,
                    body,
                } => {
                    self.segment(&mut parts, mask, out);
                    self.repeated(*extent, *reverse, body, mask, out);
                }
                CpuOp::Own(Own::Range {
                    cold,
                    from,
                    to,
                    body,
                }) => {
                    self.segment(&mut parts, mask, out);
                    let mut inner = self.entered(body);
                    self.block(body, mask, &mut inner.stmts);
                    let op = Own::Range {
                        cold: *cold,
                        from: self.names.get(*from),
                        to: self.names.get(*to),
                        body: Box::new(inner),
                    };
                    out.push(Stmt::new(Vec::new(), CpuOp::Own(op), self.span));
                }
                CpuOp::While { cond, body } => {
                    self.segment(&mut parts, mask, out);
                    self.endless(cond, body, mask, out);
                }
                CpuOp::If {
                    cond,
                    then,
                    otherwise,
                } if !self.plan.varying.contains(cond) => {
                    self.segment(&mut parts, mask, out);
                    let mut branches = [Block::default(), Block::default()];
                    for (branch, inner) in [then, otherwise].into_iter().zip(&mut branches) {
                        self.block(branch, mask, &mut inner.stmts);
                    }
                    let [then, otherwise] = branches.map(Box::new);
                    let cond = self.names.get(*cond);
                    let op = CpuOp::If {
                        cond,
                        then,
                        otherwise,
                    };
                    out.push(Stmt::new(Vec::new(), op, self.span));
                }
                CpuOp::If {
                    cond,
                    then,
                    otherwise,
                } if self.is_straight(then) && self.is_straight(otherwise) => {
                    self.inline(*cond, [then, otherwise], mask, &mut parts);
                }
                CpuOp::If {
                    cond,
                    then,
                    otherwise,
                } => self.branches(*cond, [then, otherwise], mask, parts.split_off(0), out),
                CpuOp::Alloc { fill } => {
                    self.segment(&mut parts, mask, out);
                    self.side_by_side_buffer(stmt.results[0], *fill, mask, out);
                }
                CpuOp::Copy(source) => {
                    self.segment(&mut parts, mask, out);
                    self.copied(stmt.results[0], *source, mask, out);
                }
                CpuOp::Swap(a, b) => {
                    self.segment(&mut parts, mask, out);
                    let op = CpuOp::Swap(self.names.get(*a), self.names.get(*b));
                    out.push(Stmt::new(Vec::new(), op, self.span));
                }
                CpuOp::Assert { .. } => {
                    self.asked(stmt, parts.split_off(0), mask, out);
                }
                CpuOp::Prim(Prim::Check(extent), args)
                    if self.plan.varying.contains(&stmt.results[0]) =>
                {
                    self.asked(stmt, parts.split_off(0), mask, out);
                    let mut index = stmt.clone();
                    index.op = CpuOp::Prim(Prim::Trust(*extent), args.clone());
                    parts.push(Part::Stmt(index, mask));
                }
                CpuOp::Const(_)
                | CpuOp::Size(_)
                | CpuOp::Prim(..)
                | CpuOp::Select(..)
                | CpuOp::Load { .. }
                | CpuOp::Store { .. }
                | CpuOp::Combine { .. }
                | CpuOp::Var(_)
                | CpuOp::Get(_)
                | CpuOp::Set { .. }
                | CpuOp::Contract { .. }
                | CpuOp::Own(_) => parts.push(Part::Stmt(stmt.clone(), mask)),
            }
        }
        parts.extend(last);
        self.segment(&mut parts, mask, out);
        self.longest.truncate(known);
    }

    fn is_straight(&self, block: &Block<Cpu>) -> bool {
        is_straight(self.numbers, self.program.elem(self.index).extent(), block)
    }

    /// The block of a loop that all lanes go through, which has statements yet to come.
    fn entered(&mut self, body: &Block<Cpu>) -> Block<Cpu> {
        let params = body.params.iter();
        let params = params.map(|&param| self.names.bind(self.program, param));
        Block {
            params: params.collect(),
            ..Block::default()
        }
    }

    /// Something that panics unless a value is as it should be: all lanes are asked at once, and
    /// one after the other only if there is one that panics.
    fn asked(
        &mut self,
        stmt: &Stmt<Cpu>,
        mut parts: Vec<Part>,
        mask: Option<ValueId>,
        out: &mut Vec<Stmt<Cpu>>,
    ) {
        let bad = self.variable(Lit::Bool(false), out);
        parts.push(Part::Asked(stmt.clone(), bad));
        self.segment(&mut parts, mask, out);
        // Of copies, so that nothing else is in memory for the sake of this.
        let mut panics = Vec::new();
        let operands = stmt.op.operands();
        let kept = operands
            .iter()
            .filter(|operand| self.plan.kept.contains(operand));
        let arrays = kept.filter_map(|operand| Some((*operand, *self.arrays.get(operand)?)));
        let arrays: Vec<_> = arrays.collect();
        for &(operand, array) in &arrays {
            let copy = self.copied_array(array, &mut panics);
            self.arrays.insert(operand, copy);
        }
        let mask = mask.map(|mask| self.copied_array(mask, &mut panics));
        self.over_lanes(true, mask, &mut panics, |strip, segment| {
            strip.fetch(segment, &operands);
            let copy = strip.names.copy(strip.program, stmt);
            segment.inner.push(copy);
        });
        for (operand, array) in arrays {
            self.arrays.insert(operand, array);
        }
        self.if_any(bad, panics, out);
    }

    /// What is done if a `var` says that it is to be.
    fn if_any(&mut self, any: ValueId, then: Vec<Stmt<Cpu>>, out: &mut Vec<Stmt<Cpu>>) {
        let any = bind(self.program, CpuOp::Get(any), Elem::BOOL, self.span, out);
        out.push(self.guarded(any, then));
    }

    /// Notes in a `var` that something is true of a lane.
    pub(super) fn note_any(&self, any: ValueId, truth: ValueId, out: &mut Vec<Stmt<Cpu>>) {
        let op = CpuOp::Combine {
            monoid: Monoid::Or,
            place: any,
            indices: Vec::new(),
            value: truth,
        };
        out.push(Stmt::new(Vec::new(), op, self.span));
    }

    /// Branches with loops: lanes that take part in each, which is run if there are any.
    fn branches(
        &mut self,
        cond: ValueId,
        branches: [&Block<Cpu>; 2],
        mask: Option<ValueId>,
        mut parts: Vec<Part>,
        out: &mut Vec<Stmt<Cpu>>,
    ) {
        let mut masked = Vec::new();
        for (branch, is) in branches.into_iter().zip([true, false]) {
            if branch.stmts.is_empty() {
                continue;
            }
            let own = self.new_array(Elem::Scalar(self.plan.mask), None, out);
            let any = self.variable(Lit::Bool(false), out);
            parts.push(Part::Narrowed {
                mask: own,
                of: mask,
                truth: Truth::Is(cond, is),
                any: Some(any),
            });
            masked.push((branch, own, any));
        }
        self.segment(&mut parts, mask, out);
        for (branch, own, any) in masked {
            let mut inner = Vec::new();
            self.block(branch, Some(own), &mut inner);
            self.if_any(any, inner, out);
        }
    }

    /// Branches that belong to the segment around them: statements behind masks of their own.
    fn inline(
        &mut self,
        cond: ValueId,
        branches: [&Block<Cpu>; 2],
        around: Option<ValueId>,
        parts: &mut Vec<Part>,
    ) {
        for (branch, is) in branches.into_iter().zip([true, false]) {
            if branch.stmts.is_empty() {
                continue;
            }
            let mask = scalar(self.program, Elem::BOOL, self.span);
            parts.push(Part::Taken {
                mask,
                cond,
                is,
                around,
            });
            for stmt in &branch.stmts {
                if let CpuOp::If {
                    cond,
                    then,
                    otherwise,
                } = &stmt.op
                {
                    self.inline(*cond, [then, otherwise], Some(mask), parts);
                } else {
                    parts.push(Part::Stmt(stmt.clone(), Some(mask)));
                }
            }
        }
    }

    /// A loop; if its length differs, as often as the point that does it most often.
    fn repeated(
        &mut self,
        extent: Extent,
        reverse: bool,
        body: &Block<Cpu>,
        mask: Option<ValueId>,
        out: &mut Vec<Stmt<Cpu>>,
    ) {
        let Some(length) = self.differs(extent) else {
            let mut inner = self.entered(body);
            self.block(body, mask, &mut inner.stmts);
            let Elem::Index(extent) = self.program.elem(inner.params[0]) else {
                unreachable!("a loop binds an index")
            };
            return self.each(extent, reverse, inner, out);
        };
        let extent = Extent::Value(self.greatest(length, mask, out));
        let index = scalar(self.program, Elem::Index(extent), self.span);
        self.names.insert(body.params[0], index);
        let mut inner = Block {
            params: vec![index],
            ..Block::default()
        };
        let own = self.new_array(Elem::Scalar(self.plan.mask), None, &mut inner.stmts);
        // The mask is known before anything else is done by it.
        let mut parts = vec![Part::Narrowed {
            mask: own,
            of: mask,
            truth: Truth::Below(body.params[0], length),
            any: None,
        }];
        self.segment(&mut parts, mask, &mut inner.stmts);
        self.block(body, Some(own), &mut inner.stmts);
        self.each(extent, reverse, inner, out);
    }

    /// A length that differs from point to point.
    fn differs(&self, extent: Extent) -> Option<ValueId> {
        match self.numbers.resolve(extent) {
            Extent::Value(length) if self.plan.varying.contains(&length) => Some(length),
            _ => None,
        }
    }

    /// The greatest length of the lanes that take part.
    fn greatest(
        &mut self,
        length: ValueId,
        mask: Option<ValueId>,
        out: &mut Vec<Stmt<Cpu>>,
    ) -> ValueId {
        if let Some(&(_, most)) = self.longest.iter().find(|(of, _)| *of == length) {
            return most;
        }
        let most = self.variable(Lit::Int(Scalar::Usize, 0), out);
        let mut parts = vec![Part::Longest { length, most }];
        self.segment(&mut parts, mask, out);
        let most = bind(self.program, CpuOp::Get(most), Elem::USIZE, self.span, out);
        self.longest.push((length, most));
        most
    }

    fn each(&self, extent: Extent, reverse: bool, body: Block<Cpu>, out: &mut Vec<Stmt<Cpu>>) {
        let op = CpuOp::For {
            extent,
            reverse,
            body: Box::new(body),
        };
        out.push(Stmt::new(Vec::new(), op, self.span));
    }

    fn endless(
        &mut self,
        cond: &Block<Cpu>,
        body: &Block<Cpu>,
        mask: Option<ValueId>,
        out: &mut Vec<Stmt<Cpu>>,
    ) {
        let own = match mask {
            Some(mask) => {
                let own = self.new_array(Elem::Scalar(self.plan.mask), None, out);
                self.over_lanes(false, None, out, |strip, segment| {
                    let takes_part = strip.element(mask, segment.lane, &mut segment.inner);
                    strip.put(own, segment.lane, takes_part, &mut segment.inner);
                });
                own
            }
            None => {
                let all = Some(self.all());
                self.new_array(Elem::Scalar(self.plan.mask), all, out)
            }
        };
        let mut test = Block::default();
        let any = self.variable(Lit::Bool(false), &mut test.stmts);
        let last = vec![Part::Narrowed {
            mask: own,
            of: Some(own),
            truth: Truth::Is(cond.results[0], true),
            any: Some(any),
        }];
        self.block_then(cond, Some(own), last, &mut test.stmts);
        let any = CpuOp::Get(any);
        let any = bind(self.program, any, Elem::BOOL, self.span, &mut test.stmts);
        test.results.push(any);
        let mut inner = Block::default();
        self.block(body, Some(own), &mut inner.stmts);
        let op = CpuOp::While {
            cond: Box::new(test),
            body: Box::new(inner),
        };
        out.push(Stmt::new(Vec::new(), op, self.span));
    }

    /// A buffer that each point has for itself: the same element of all of them lies side by side.
    /// Where their lengths differ, it has that of the longest.
    fn side_by_side_buffer(
        &mut self,
        buffer: ValueId,
        fill: Option<Lit>,
        mask: Option<ValueId>,
        out: &mut Vec<Stmt<Cpu>>,
    ) {
        let differing = self.program.ty(buffer).dims.clone();
        let named = self.names.bind(self.program, buffer);
        let Type { elem, mut dims } = self.program.ty(named).clone();
        for (dim, own) in dims.iter_mut().zip(differing) {
            if let Some(length) = self.differs(own) {
                #[cfg(test)]
                crate::testing::entered::enter(&crate::testing::entered::LONGEST);
                *dim = Extent::Value(self.greatest(length, mask, out));
            }
        }
        dims.push(Extent::Const(self.width));
        let all = self.program.value(Type::table(elem, dims), self.span);
        self.names.insert(buffer, all);
        out.push(Stmt::new(vec![all], CpuOp::Alloc { fill }, self.span));
    }

    /// A buffer that begins with the contents of another.
    fn copied(
        &mut self,
        buffer: ValueId,
        source: ValueId,
        mask: Option<ValueId>,
        out: &mut Vec<Stmt<Cpu>>,
    ) {
        let span = self.span;
        let from = self.names.get(source);
        if self.plan.own.contains(&source) {
            let ty = self.program.ty(from).clone();
            let all = self.program.value(ty, span);
            self.names.insert(buffer, all);
            return out.push(Stmt::new(vec![all], CpuOp::Copy(from), span));
        }
        self.side_by_side_buffer(buffer, None, mask, out);
        let Type { elem, dims } = self.program.ty(from).clone();
        let at = dims
            .iter()
            .map(|&dim| scalar(self.program, Elem::Index(dim), span));
        let at: Vec<ValueId> = at.collect();
        let mut inner = Vec::new();
        self.over_lanes(false, None, &mut inner, |strip, segment| {
            let load = CpuOp::Load {
                buffer: from,
                indices: at.clone(),
            };
            let value = bind(strip.program, load, elem, span, &mut segment.inner);
            let mut indices = at.clone();
            indices.push(segment.lane);
            let store = CpuOp::Store {
                buffer: strip.names.get(buffer),
                indices,
                value,
            };
            segment.inner.push(Stmt::new(Vec::new(), store, span));
        });
        for (&index, &extent) in at.iter().zip(&dims).rev() {
            let body = Block {
                params: vec![index],
                stmts: std::mem::take(&mut inner),
                ..Block::default()
            };
            self.each(extent, false, body, &mut inner);
        }
        out.append(&mut inner);
    }

    /// A mask of a branch in a segment.
    pub(super) fn taken(
        &mut self,
        segment: &mut Segment,
        mask: ValueId,
        (cond, is): (ValueId, bool),
        around: Option<ValueId>,
    ) {
        let around = around.map(|around| self.truth(segment, around));
        let inner = &mut segment.inner;
        let cond = self.names.get(cond);
        let mut own = match is {
            true => cond,
            false => prim(
                self.program,
                Prim::Not,
                &[cond],
                Elem::BOOL,
                self.span,
                inner,
            ),
        };
        if let Some(around) = around {
            let both = [own, around];
            own = prim(self.program, Prim::And, &both, Elem::BOOL, self.span, inner);
        }
        self.names.insert(mask, own);
    }

    /// The lanes of a mask for which something is true become those of another one.
    pub(super) fn narrowed(
        &mut self,
        segment: &mut Segment,
        mask: ValueId,
        of: Option<ValueId>,
        truth: Truth,
        any: Option<ValueId>,
    ) {
        let (lane, span) = (segment.lane, self.span);
        let inner = &mut segment.inner;
        let truth = match truth {
            Truth::Is(value, true) => self.names.get(value),
            Truth::Is(value, false) => {
                let value = self.names.get(value);
                prim(self.program, Prim::Not, &[value], Elem::BOOL, span, inner)
            }
            Truth::Below(index, length) => {
                let at = number(self.program, self.names.get(index), span, inner);
                let length = self.names.get(length);
                prim(
                    self.program,
                    Prim::Lt,
                    &[at, length],
                    Elem::BOOL,
                    span,
                    inner,
                )
            }
        };
        let before = match of {
            Some(of) => self.element(of, lane, inner),
            None => self.literal(self.all(), inner),
        };
        let none = self.literal(Lit::Int(self.plan.mask, 0), inner);
        let select = CpuOp::Select(truth, before, none);
        let elem = Elem::Scalar(self.plan.mask);
        let own = bind(self.program, select, elem, span, inner);
        self.put(mask, lane, own, inner);
        if let Some(any) = any {
            let takes_part = prim(
                self.program,
                Prim::Ne,
                &[own, none],
                Elem::BOOL,
                span,
                inner,
            );
            self.note_any(any, takes_part, inner);
        }
    }

    /// Notes in a `var` the greatest number of iterations.
    pub(super) fn longest(&mut self, segment: &mut Segment, length: ValueId, most: ValueId) {
        let mut value = self.names.get(length);
        if let Some((_, truth)) = segment.around {
            let none = self.literal(Lit::Int(Scalar::Usize, 0), &mut segment.inner);
            let select = CpuOp::Select(truth, value, none);
            value = bind(
                self.program,
                select,
                Elem::USIZE,
                self.span,
                &mut segment.inner,
            );
        }
        let op = CpuOp::Combine {
            monoid: Monoid::Max,
            place: most,
            indices: Vec::new(),
            value,
        };
        segment.inner.push(Stmt::new(Vec::new(), op, self.span));
    }

    /// A statement in one lane, which does nothing if it does not take part.
    pub(super) fn masked(
        &mut self,
        segment: &mut Segment,
        stmt: &Stmt<Cpu>,
        mask: Option<ValueId>,
    ) {
        let (lane, span) = (segment.lane, self.span);
        let truth = mask.map(|mask| self.truth(segment, mask));
        match &stmt.op {
            CpuOp::Var(value) => {
                let place = stmt.results[0];
                self.bound.insert(place, mask);
                if self.plan.kept.contains(&place) {
                    let value = self.names.get(*value);
                    let elem = self.program.elem(value);
                    let kept = self.new_array(elem, None, &mut segment.before);
                    self.arrays.insert(place, kept);
                    return self.put(kept, lane, value, &mut segment.inner);
                }
            }
            CpuOp::Get(place) => {
                if let Some(&kept) = self.arrays.get(place) {
                    let value = self.element(kept, lane, &mut segment.inner);
                    return self.names.insert(stmt.results[0], value);
                }
            }
            CpuOp::Load { buffer, indices } => {
                let mut looked_at = indices.iter().chain([buffer]);
                let doubtful = looked_at.any(|value| self.plan.doubtful.contains(value));
                let truth = truth.filter(|_| doubtful);
                let (buffer, indices) = self.place(*buffer, indices, lane);
                let elem = self.program.elem(buffer);
                let load = CpuOp::Load { buffer, indices };
                let value = match truth {
                    None => bind(self.program, load, elem, span, &mut segment.inner),
                    Some(truth) => self.loaded(segment, load, elem, truth),
                };
                return self.names.insert(stmt.results[0], value);
            }
            CpuOp::Store {
                buffer,
                indices,
                value,
            } => {
                let (buffer, indices) = self.place(*buffer, indices, lane);
                let store = CpuOp::Store {
                    buffer,
                    indices,
                    value: self.names.get(*value),
                };
                let store = Stmt::new(Vec::new(), store, span);
                let store = match truth {
                    Some(truth) => self.guarded(truth, vec![store]),
                    None => store,
                };
                return segment.inner.push(store);
            }
            CpuOp::Combine {
                monoid,
                place,
                indices,
                value,
            } => {
                let value = self.names.get(*value);
                return self.combine(segment, (*monoid, *place), indices, value, mask);
            }
            CpuOp::Set { place, value } => {
                let mut value = self.names.get(*value);
                if let Some(truth) = truth.filter(|_| !self.is_bound_by(place, mask)) {
                    let before = self.held(segment, *place);
                    let elem = self.program.elem(value);
                    let select = CpuOp::Select(truth, value, before);
                    value = bind(self.program, select, elem, span, &mut segment.inner);
                }
                return self.hold(segment, *place, value);
            }
            CpuOp::Prim(Prim::Trust(extent), args) => {
                if let Some(truth) = truth {
                    let inner = &mut segment.inner;
                    let value = number_of(self.program, self.names.get(args[0]), span, inner);
                    let elem = self.program.elem(value);
                    let safe = self.literal(Lit::of(elem.repr(), 0.0), inner);
                    let select = CpuOp::Select(truth, value, safe);
                    let value = bind(self.program, select, elem, span, inner);
                    let trust = CpuOp::Prim(Prim::Trust(*extent), [value].as_slice().into());
                    let result = self.names.bind(self.program, stmt.results[0]);
                    let mut trust = Stmt::new(vec![result], trust, span);
                    self.names.read(&mut trust);
                    return inner.push(trust);
                }
            }
            _ => {}
        }
        let copy = self.names.copy(self.program, stmt);
        segment.inner.push(copy);
    }

    /// An element that is looked at where that is asked for; else zero.
    fn loaded(
        &mut self,
        segment: &mut Segment,
        load: CpuOp,
        elem: Elem,
        truth: ValueId,
    ) -> ValueId {
        let (lane, span) = (segment.lane, self.span);
        let mut then = Vec::new();
        let value = bind(self.program, load, elem, span, &mut then);
        let zero = Lit::of(elem.repr(), 0.0);
        let Elem::Scalar(_) = elem else {
            // No literal is an index.
            let values = self.new_array(elem, Some(zero), &mut segment.before);
            self.put(values, lane, value, &mut then);
            segment.inner.push(self.guarded(truth, then));
            return self.element(values, lane, &mut segment.inner);
        };
        let place = self.variable(zero, &mut segment.inner);
        let set = CpuOp::Set { place, value };
        then.push(Stmt::new(Vec::new(), set, span));
        segment.inner.push(self.guarded(truth, then));
        bind(
            self.program,
            CpuOp::Get(place),
            elem,
            span,
            &mut segment.inner,
        )
    }

    /// Whether only lanes of this mask have a `var`, so that nobody looks at that of others.
    fn is_bound_by(&self, place: &ValueId, mask: Option<ValueId>) -> bool {
        self.bound.get(place).is_some_and(|&bound| bound == mask)
    }

    /// What a `var` holds in a lane.
    fn held(&mut self, segment: &mut Segment, place: ValueId) -> ValueId {
        let (lane, inner) = (segment.lane, &mut segment.inner);
        match self.arrays.get(&place) {
            Some(&kept) => self.element(kept, lane, inner),
            None => {
                let elem = self.program.elem(place);
                let place = self.names.get(place);
                bind(self.program, CpuOp::Get(place), elem, self.span, inner)
            }
        }
    }

    /// Makes a `var` hold something in a lane.
    fn hold(&mut self, segment: &mut Segment, place: ValueId, value: ValueId) {
        match self.arrays.get(&place) {
            Some(&kept) => self.put(kept, segment.lane, value, &mut segment.inner),
            None => {
                let place = self.names.get(place);
                let set = CpuOp::Set { place, value };
                segment.inner.push(Stmt::new(Vec::new(), set, self.span));
            }
        }
    }

    /// What is combined into a place of the point, or into what it adds up for the kernel.
    fn combine(
        &mut self,
        segment: &mut Segment,
        (monoid, place): (Monoid, ValueId),
        indices: &[ValueId],
        value: ValueId,
        mask: Option<ValueId>,
    ) {
        let (lane, span) = (segment.lane, self.span);
        let truth = mask.filter(|_| !self.is_bound_by(&place, mask));
        let truth = truth.map(|mask| self.truth(segment, mask));
        if let Some(truth) = truth
            && indices.is_empty()
        {
            let elem = self.program.elem(value);
            let before = self.held(segment, place);
            let inner = &mut segment.inner;
            let operator = Prim::combining(monoid);
            let both = prim(self.program, operator, &[before, value], elem, span, inner);
            let select = CpuOp::Select(truth, both, before);
            let value = bind(self.program, select, elem, span, inner);
            return self.hold(segment, place, value);
        }
        let (place, indices) = match self.arrays.get(&place) {
            Some(&kept) => (kept, vec![lane]),
            None => self.place(place, indices, lane),
        };
        let op = CpuOp::Combine {
            monoid,
            place,
            indices,
            value,
        };
        let stmt = Stmt::new(Vec::new(), op, span);
        let stmt = match truth {
            Some(truth) => self.guarded(truth, vec![stmt]),
            None => stmt,
        };
        segment.inner.push(stmt);
    }
}

/// The number that an integer is, whatever it counts.
fn number_of(
    program: &mut Program<Cpu>,
    value: ValueId,
    span: SpanId,
    out: &mut Vec<Stmt<Cpu>>,
) -> ValueId {
    match program.elem(value) {
        Elem::Scalar(_) => value,
        Elem::Index(_) | Elem::Bound(_) => number(program, value, span, out),
    }
}
