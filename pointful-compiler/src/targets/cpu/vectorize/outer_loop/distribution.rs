//! Loop distribution: straight-line statements as a loop over lanes, with scalar expansion of what
//! crosses from one such loop to another.

use std::collections::BTreeMap;

use smallvec::smallvec;

use super::legality::vectorises;
use super::masking::Strip;
use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::{Block, Elem, Extent, Lit, Operation, Stmt, ValueId, ValueSet, Values};
use crate::ops::Prim;
use crate::targets::cpu::statements::{bind, prim, scalar};
use crate::targets::cpu::vectorize::late::{array, lanes};

/// A part of a segment. A mask is an array of the strip, or a truth value of the segment.
pub(super) enum Part {
    /// A statement, done by the lanes whose mask is set.
    Stmt(Stmt<Cpu>, Option<ValueId>),
    /// A check or an assertion: notes in a `var` whether there is a lane that panics.
    Asked(Stmt<Cpu>, ValueId),
    /// A mask of a branch in the segment: whether a condition is this, and the mask around is set.
    Taken {
        mask: ValueId,
        cond: ValueId,
        is: bool,
        around: Option<ValueId>,
    },
    /// The lanes of a mask for which something is true become those of another one. Notes in a
    /// `var` whether there are any.
    Narrowed {
        mask: ValueId,
        of: Option<ValueId>,
        truth: Truth,
        any: Option<ValueId>,
    },
    /// Notes in a `var` the greatest number of iterations.
    Longest { length: ValueId, most: ValueId },
}

/// What decides whether a lane takes part.
#[derive(Clone, Copy)]
pub(super) enum Truth {
    /// A truth value.
    Is(ValueId, bool),
    /// An index that is below a length.
    Below(ValueId, ValueId),
}

impl Part {
    fn stmt(&self) -> Option<&Stmt<Cpu>> {
        match self {
            Self::Stmt(stmt, _) => Some(stmt),
            Self::Asked(..) | Self::Taken { .. } | Self::Narrowed { .. } | Self::Longest { .. } => {
                None
            }
        }
    }

    fn operands(&self) -> Values {
        match self {
            Self::Stmt(stmt, _) | Self::Asked(stmt, _) => stmt.op.operands(),
            Self::Taken { cond, .. } => smallvec![*cond],
            Self::Narrowed { truth, .. } => match truth {
                Truth::Is(value, _) => smallvec![*value],
                Truth::Below(index, length) => smallvec![*index, *length],
            },
            Self::Longest { length, .. } => smallvec![*length],
        }
    }
}

/// A loop over lanes, and what stands around it.
pub(super) struct Segment {
    /// The number of a lane.
    pub(super) lane: ValueId,
    pub(super) before: Vec<Stmt<Cpu>>,
    pub(super) inner: Vec<Stmt<Cpu>>,
    after: Vec<Stmt<Cpu>>,
    /// The mask around, and the truth value that a lane has of it.
    pub(super) around: Option<(ValueId, ValueId)>,
    /// What a lane has bound or fetched.
    known: ValueSet,
    /// Whether something is no vector instruction.
    calls: bool,
}

impl Segment {
    fn new(lane: ValueId) -> Self {
        Self {
            lane,
            before: Vec::new(),
            inner: Vec::new(),
            after: Vec::new(),
            around: None,
            known: ValueSet::new(),
            calls: false,
        }
    }
}

/// When a segment looks at a buffer.
struct Looks {
    /// The first part that changes it.
    changed: usize,
    /// The last part that looks at it.
    last: usize,
    /// How many parts load from it.
    loads: u64,
}

/// Elements so far apart are loaded as whole vectors, of which some are picked. Where others are
/// wanted as well that is good, and otherwise an optimiser leaves some of the lanes to do all by
/// themselves, as what it loads for the last one might lie beyond the buffer.
const PICKED: std::ops::RangeInclusive<u64> = 2..=8;

impl Strip<'_> {
    /// Straight-line statements, for all lanes; those `around` whose mask they stand, if there is
    /// one.
    pub(super) fn segment(
        &mut self,
        parts: &mut Vec<Part>,
        around: Option<ValueId>,
        out: &mut Vec<Stmt<Cpu>>,
    ) {
        let is_uniform = |part: &Part| {
            part.stmt().is_some_and(|stmt| {
                let mut results = stmt.results.iter();
                !stmt.results.is_empty() && results.all(|result| self.plan.uniform.contains(result))
            })
        };
        let (uniform, parts): (Vec<_>, Vec<_>) =
            std::mem::take(parts).into_iter().partition(is_uniform);
        for stmt in uniform.iter().filter_map(Part::stmt) {
            let copy = self.names.copy(self.program, stmt);
            out.push(copy);
        }
        if parts.is_empty() {
            return;
        }
        let (lane, index) = self.new_lane();
        let mut segment = Segment::new(lane);
        segment.calls = parts.iter().any(|part| self.calls(part));
        let apart = match segment.calls {
            true => self.in_memory(&parts, &mut segment),
            false => Vec::new(),
        };
        segment.around = around.map(|mask| {
            let truth = self.takes_part(mask, lane, &mut segment.inner);
            (mask, truth)
        });
        let looks = looks(&parts);
        for (position, part) in parts.iter().enumerate() {
            self.fetch(&mut segment, &part.operands());
            match part {
                Part::Stmt(stmt, mask) => {
                    let alone = *mask == around && self.is_moved(stmt, position, &looks);
                    if self.is_shared(stmt) {
                        self.combined(&mut segment, stmt, *mask);
                    } else if alone {
                        self.apart(&mut segment, stmt, around);
                    } else {
                        self.masked(&mut segment, stmt, *mask);
                    }
                    self.keep(&mut segment, &stmt.results);
                }
                Part::Asked(stmt, bad) => self.asked_here(&mut segment, stmt, *bad),
                &Part::Taken {
                    mask,
                    cond,
                    is,
                    around,
                } => self.taken(&mut segment, mask, (cond, is), around),
                &Part::Narrowed {
                    mask,
                    of,
                    truth,
                    any,
                } => self.narrowed(&mut segment, mask, of, truth, any),
                &Part::Longest { length, most } => self.longest(&mut segment, length, most),
            }
        }
        let body = Block {
            params: vec![lane, index],
            stmts: segment.inner,
            ..Block::default()
        };
        out.append(&mut segment.before);
        out.push(lanes(self.strip, false, body, self.span));
        out.append(&mut segment.after);
        self.kept_again(apart, out);
        if segment.calls {
            let kept = parts.iter().filter_map(Part::stmt);
            let kept = kept.flat_map(|stmt| stmt.results.iter().copied());
            for kept in kept.collect::<Vec<_>>() {
                if let Some(&array) = self.arrays.get(&kept) {
                    let copy = self.copied_array(array, out);
                    self.arrays.insert(kept, copy);
                }
            }
        }
    }

    /// Whether a part is no vector instruction.
    fn calls(&self, part: &Part) -> bool {
        match part.stmt().map(|stmt| &stmt.op) {
            Some(CpuOp::Prim(prim, args)) => {
                !vectorises(*prim, self.program.elem(args[0]), self.plan.bets)
            }
            _ => false,
        }
    }

    /// A loop over calls is not unrolled, so the arrays that it touches have to be in memory. They
    /// need not be there in the loops before and after, which touch others: gives what is kept for
    /// whom, and the array and its copy.
    fn in_memory(&mut self, parts: &[Part], segment: &mut Segment) -> Vec<(ValueId, [ValueId; 2])> {
        let places = parts.iter().flat_map(|part| {
            let place = match part.stmt().map(|stmt| &stmt.op) {
                Some(CpuOp::Combine { place, .. }) => Some(*place),
                _ => None,
            };
            part.operands().into_iter().chain(place)
        });
        let kept = places.filter(|place| self.plan.kept.contains(place));
        let kept: ValueSet = kept.collect();
        let mut copies = Vec::new();
        for kept in &kept {
            if let Some(&array) = self.arrays.get(&kept) {
                let copy = self.copied_array(array, &mut segment.before);
                self.arrays.insert(kept, copy);
                copies.push((kept, [array, copy]));
            }
        }
        copies
    }

    /// What has been kept in copies is kept where it was.
    fn kept_again(&mut self, copies: Vec<(ValueId, [ValueId; 2])>, out: &mut Vec<Stmt<Cpu>>) {
        for (kept, [array, copy]) in copies {
            self.arrays.insert(kept, array);
            if self.plan.variables.contains(&kept) {
                self.over_lanes(false, None, out, |strip, segment| {
                    let value = strip.element(copy, segment.lane, &mut segment.inner);
                    strip.put(array, segment.lane, value, &mut segment.inner);
                });
            }
        }
    }

    /// Another array that holds the same.
    pub(super) fn copied_array(&mut self, array: ValueId, out: &mut Vec<Stmt<Cpu>>) -> ValueId {
        let ty = self.program.ty(array).clone();
        let copy = self.program.value(ty, self.span);
        out.push(Stmt::new(vec![copy], CpuOp::Copy(array), self.span));
        copy
    }

    /// The truth value of a mask.
    pub(super) fn truth(&self, segment: &Segment, mask: ValueId) -> ValueId {
        match segment.around {
            Some((around, truth)) if around == mask => truth,
            _ => self.names.get(mask),
        }
    }

    /// The number of a lane and its index, which is that of the points from now on.
    pub(super) fn new_lane(&mut self) -> (ValueId, ValueId) {
        let of_lanes = Elem::Index(Extent::Const(self.width));
        let lane = scalar(self.program, of_lanes, self.span);
        let index = self.names.bind(self.program, self.index);
        (lane, index)
    }

    /// A loop over lanes of its own, of those that take part.
    pub(super) fn over_lanes(
        &mut self,
        in_order: bool,
        mask: Option<ValueId>,
        out: &mut Vec<Stmt<Cpu>>,
        each: impl FnOnce(&mut Self, &mut Segment),
    ) {
        let before = self.names.get(self.index);
        let (lane, index) = self.new_lane();
        let mut segment = Segment::new(lane);
        each(self, &mut segment);
        self.names.insert(self.index, before);
        let mut body = Block {
            params: vec![lane, index],
            ..Block::default()
        };
        match mask {
            Some(mask) => {
                let truth = self.takes_part(mask, lane, &mut body.stmts);
                body.stmts.push(self.guarded(truth, segment.inner));
            }
            None => body.stmts = segment.inner,
        }
        out.push(lanes(self.strip, in_order, body, self.span));
    }

    /// Binds what is kept of other segments.
    pub(super) fn fetch(&mut self, segment: &mut Segment, operands: &[ValueId]) {
        let plan = self.plan;
        for &operand in operands {
            if segment.known.contains(&operand) {
                continue;
            }
            if let Some(steps) = plan.remade.get(&operand) {
                for step in steps {
                    let copy = self.names.copy(self.program, step);
                    segment.inner.push(copy);
                    segment.known.extend(&step.results);
                }
            } else if let Some(&kept) = self.arrays.get(&operand)
                && !plan.variables.contains(&operand)
                && !plan.summed.contains_key(&operand)
            {
                let value = self.element(kept, segment.lane, &mut segment.inner);
                self.names.insert(operand, value);
                segment.known.insert(operand);
            }
        }
    }

    /// Keeps what has been computed.
    fn keep(&mut self, segment: &mut Segment, results: &[ValueId]) {
        for &result in results {
            segment.known.insert(result);
            if self.plan.kept.contains(&result) && !self.plan.variables.contains(&result) {
                let value = self.names.get(result);
                let elem = self.program.elem(value);
                let kept = self.new_array(elem, None, &mut segment.before);
                self.arrays.insert(result, kept);
                self.put(kept, segment.lane, value, &mut segment.inner);
            }
        }
    }

    /// An array with an element for each lane.
    pub(super) fn new_array(
        &mut self,
        elem: Elem,
        fill: Option<Lit>,
        out: &mut Vec<Stmt<Cpu>>,
    ) -> ValueId {
        array(self.program, elem, self.width, fill, self.span, out)
    }

    /// Notes whether a lane would panic.
    fn asked_here(&mut self, segment: &mut Segment, stmt: &Stmt<Cpu>, bad: ValueId) {
        let span = self.span;
        let fine = match &stmt.op {
            CpuOp::Prim(Prim::Check(extent), args) => {
                let test = CpuOp::Prim(Prim::InRange(*extent), args.clone());
                let mut test: Stmt<Cpu> = Stmt::new(Vec::new(), test, span);
                self.names.read(&mut test);
                bind(self.program, test.op, Elem::BOOL, span, &mut segment.inner)
            }
            CpuOp::Assert { cond, .. } => self.names.get(*cond),
            _ => unreachable!("only checks and assertions are asked"),
        };
        let inner = &mut segment.inner;
        let mut fails = prim(self.program, Prim::Not, &[fine], Elem::BOOL, span, inner);
        if let Some((_, truth)) = segment.around {
            fails = prim(
                self.program,
                Prim::And,
                &[truth, fails],
                Elem::BOOL,
                span,
                inner,
            );
        }
        self.note_any(bad, fails, inner);
    }

    /// Whether all lanes combine into one element of a table of the kernel.
    fn is_shared(&self, stmt: &Stmt<Cpu>) -> bool {
        matches!(&stmt.op, CpuOp::Combine { place, indices, .. } if !indices.is_empty() && !self.plan.own.contains(place))
    }

    /// What all lanes combine into one element: first with each other.
    fn combined(&mut self, segment: &mut Segment, stmt: &Stmt<Cpu>, mask: Option<ValueId>) {
        let CpuOp::Combine {
            monoid,
            place,
            indices,
            value,
        } = &stmt.op
        else {
            return;
        };
        let span = self.span;
        let elem = self.program.elem(*place);
        let identity = monoid.identity(elem.repr());
        let values = self.new_array(elem, None, &mut segment.before);
        let truth = mask.map(|mask| self.truth(segment, mask));
        let inner = &mut segment.inner;
        let mut value = self.names.get(*value);
        if let Some(truth) = truth {
            let none = bind(self.program, CpuOp::Const(identity), elem, span, inner);
            let select = CpuOp::Select(truth, value, none);
            value = bind(self.program, select, elem, span, inner);
        }
        self.put(values, segment.lane, value, inner);
        let after = &mut segment.after;
        let first = bind(self.program, CpuOp::Const(identity), elem, span, after);
        let all = bind(self.program, CpuOp::Var(first), elem, span, after);
        let fold = Own::Fold {
            monoid: *monoid,
            place: all,
            lanes: values,
        };
        after.push(Stmt::new(Vec::new(), CpuOp::Own(fold), span));
        let value = bind(self.program, CpuOp::Get(all), elem, span, after);
        let op = CpuOp::Combine {
            monoid: *monoid,
            place: self.names.get(*place),
            indices: indices.iter().map(|&index| self.names.get(index)).collect(),
            value,
        };
        after.push(Stmt::new(Vec::new(), op, span));
    }

    /// A load or a store in a loop of its own, before or after all that is computed.
    fn apart(&mut self, segment: &mut Segment, stmt: &Stmt<Cpu>, around: Option<ValueId>) {
        let span = self.span;
        match &stmt.op {
            CpuOp::Store {
                buffer,
                indices,
                value,
            } => {
                let (buffer, indices) = (*buffer, indices.clone());
                let value = self.names.get(*value);
                let elem = self.program.elem(value);
                let elements = self.new_array(elem, None, &mut segment.before);
                self.put(elements, segment.lane, value, &mut segment.inner);
                let mut after = std::mem::take(&mut segment.after);
                self.over_lanes(false, around, &mut after, |strip, segment| {
                    let value = strip.element(elements, segment.lane, &mut segment.inner);
                    let (buffer, indices) = strip.place(buffer, &indices, segment.lane);
                    let store = CpuOp::Store {
                        buffer,
                        indices,
                        value,
                    };
                    segment.inner.push(Stmt::new(Vec::new(), store, span));
                });
                segment.after = after;
            }
            CpuOp::Load { buffer, indices } => {
                let result = stmt.results[0];
                let elem = self.program.elem(self.names.get(*buffer));
                let fill = around.map(|_| Lit::of(elem.repr(), 0.0));
                let elements = self.new_array(elem, fill, &mut segment.before);
                let mut before = std::mem::take(&mut segment.before);
                self.over_lanes(false, around, &mut before, |strip, segment| {
                    let (buffer, indices) = strip.place(*buffer, indices, segment.lane);
                    let load = CpuOp::Load { buffer, indices };
                    let value = bind(strip.program, load, elem, span, &mut segment.inner);
                    strip.put(elements, segment.lane, value, &mut segment.inner);
                });
                segment.before = before;
                let value = self.element(elements, segment.lane, &mut segment.inner);
                self.names.insert(result, value);
            }
            _ => unreachable!("only loads and stores have loops of their own"),
        }
    }

    /// Whether a statement stores neighbouring elements to a buffer that nothing after it looks at,
    /// or loads them from one that nothing before it has changed, or elements that are a few apart.
    ///
    /// Where buffers may overlap for all that an optimiser knows, a loop that stores to several has
    /// to go lane by lane. So they have loops of their own.
    fn is_moved(
        &self,
        stmt: &Stmt<Cpu>,
        position: usize,
        looks: &BTreeMap<ValueId, Looks>,
    ) -> bool {
        match &stmt.op {
            CpuOp::Store {
                buffer, indices, ..
            } => {
                looks[buffer].last == position
                    && (self.side_by_side(*buffer, indices)
                        || self.picks(*buffer, indices, u64::MAX))
            }
            CpuOp::Load { buffer, indices } => {
                let looks = &looks[buffer];
                let doubtful = self.plan.doubtful.contains(buffer);
                position < looks.changed
                    && ((doubtful && self.side_by_side(*buffer, indices))
                        || self.picks(*buffer, indices, looks.loads))
            }
            _ => false,
        }
    }

    /// Whether lanes look at elements that lie apart, which an optimiser would not do as vectors:
    /// nobody knows how far, or a few, and others in between are left out.
    fn picks(&self, buffer: ValueId, indices: &[ValueId], loads: u64) -> bool {
        let Some(along) = indices.iter().position(|&index| index == self.index) else {
            return false;
        };
        let others = indices.iter().enumerate();
        let mut others = others.filter(|&(axis, _)| axis != along);
        let dims = &self.program.ty(buffer).dims;
        let mut after = dims[along + 1..].iter();
        let apart = after.try_fold(1, |apart, &extent| match self.numbers.resolve(extent) {
            Extent::Const(length) => Some(apart * length),
            Extent::Size(_) | Extent::Value(_) => None,
        });
        apart.is_none_or(|apart| PICKED.contains(&apart) && loads < apart)
            && !self.plan.own.contains(&buffer)
            && others.all(|(_, other)| !self.plan.varying.contains(other))
    }

    /// Whether lanes look at neighbouring elements.
    fn side_by_side(&self, buffer: ValueId, indices: &[ValueId]) -> bool {
        let Some((last, leading)) = indices.split_last() else {
            return false;
        };
        let same = |index: &ValueId| !self.plan.varying.contains(index);
        let aside = match self.plan.own.contains(&buffer) {
            true => same(last),
            false => *last == self.index,
        };
        aside && leading.iter().all(same)
    }

    /// A lane's element of an array.
    pub(super) fn element(
        &mut self,
        array: ValueId,
        lane: ValueId,
        out: &mut Vec<Stmt<Cpu>>,
    ) -> ValueId {
        let load = CpuOp::Load {
            buffer: array,
            indices: vec![lane],
        };
        let elem = self.program.elem(array);
        bind(self.program, load, elem, self.span, out)
    }

    /// Stores a lane's element of an array.
    pub(super) fn put(
        &self,
        array: ValueId,
        lane: ValueId,
        value: ValueId,
        out: &mut Vec<Stmt<Cpu>>,
    ) {
        let store = CpuOp::Store {
            buffer: array,
            indices: vec![lane],
            value,
        };
        out.push(Stmt::new(Vec::new(), store, self.span));
    }

    /// Where a lane finds an element.
    pub(super) fn place(
        &self,
        buffer: ValueId,
        indices: &[ValueId],
        lane: ValueId,
    ) -> (ValueId, Vec<ValueId>) {
        let mut at: Vec<_> = indices.iter().map(|&index| self.names.get(index)).collect();
        if self.plan.own.contains(&buffer) {
            at.push(lane);
        }
        (self.names.get(buffer), at)
    }

    /// Whether a lane takes part, by the mask of a strip.
    pub(super) fn takes_part(
        &mut self,
        mask: ValueId,
        lane: ValueId,
        out: &mut Vec<Stmt<Cpu>>,
    ) -> ValueId {
        let own = self.element(mask, lane, out);
        let none = self.literal(Lit::Int(self.plan.mask, 0), out);
        prim(
            self.program,
            Prim::Ne,
            &[own, none],
            Elem::BOOL,
            self.span,
            out,
        )
    }

    /// A constant.
    pub(super) fn literal(&mut self, lit: Lit, out: &mut Vec<Stmt<Cpu>>) -> ValueId {
        let elem = Elem::Scalar(lit.scalar());
        bind(self.program, CpuOp::Const(lit), elem, self.span, out)
    }

    /// A `var` that holds a constant.
    pub(super) fn variable(&mut self, lit: Lit, out: &mut Vec<Stmt<Cpu>>) -> ValueId {
        let first = self.literal(lit, out);
        let elem = Elem::Scalar(lit.scalar());
        bind(self.program, CpuOp::Var(first), elem, self.span, out)
    }

    /// Statements that are done if something is true.
    pub(super) fn guarded(&self, cond: ValueId, then: Vec<Stmt<Cpu>>) -> Stmt<Cpu> {
        let then = Block {
            stmts: then,
            ..Block::default()
        };
        let op = CpuOp::If {
            cond,
            then: Box::new(then),
            otherwise: Box::default(),
        };
        Stmt::new(Vec::new(), op, self.span)
    }

    /// The integer of a mask for which all lanes take part.
    pub(super) fn all(&self) -> Lit {
        Lit::Int(self.plan.mask, -1)
    }
}

/// When the parts of a segment look at buffers.
fn looks(parts: &[Part]) -> BTreeMap<ValueId, Looks> {
    let mut looks: BTreeMap<ValueId, Looks> = BTreeMap::new();
    for (position, part) in parts.iter().enumerate() {
        let (buffer, changes) = match part.stmt().map(|stmt| &stmt.op) {
            Some(CpuOp::Load { buffer, .. }) => (*buffer, false),
            Some(CpuOp::Store { buffer, .. }) => (*buffer, true),
            Some(CpuOp::Combine { place, .. }) => (*place, true),
            Some(_) | None => continue,
        };
        let entry = looks.entry(buffer).or_insert(Looks {
            changed: usize::MAX,
            last: position,
            loads: 0,
        });
        entry.last = position;
        if changes {
            entry.changed = entry.changed.min(position);
        } else {
            entry.loads += 1;
        }
    }
    looks
}
