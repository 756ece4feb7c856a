//! Index-set splitting: a loop in three parts, near the beginning of its axis, near the end, and
//! the interior, where neighbours need no policy.
//!
//! # The idea
//!
//! `u[(i - 1).wrap()]` asks at every point whether `i - 1` is before the first. Only at the first
//! can it be, so the loop is cut where the answer changes. Comparisons with the ends of the axis
//! are decided likewise. Positions are told apart by how far they lie from the axis' own index
//! ([`reach`]): by a constant, or by sums of what is known when the loop begins ([`symbolic`]); in
//! the latter case what is before the interior and what is after it is one text.
//!
//! Checks that all points ask hold for all, or one of them panics. Whether they hold is asked in
//! front of a loop that does not ask.
//!
//! A loop that hands something on, or goes backwards, is not cut, but has two versions: one without
//! such checks, where all hold, and itself (loop versioning).
//!
//! # Why it is sound
//!
//! The parts are the loop's iterations in their order. What is left out of a part is decided there:
//! a position that is trusted is in range throughout the part, by the arithmetic that has made it.
//!
//! # Before and after
//!
//! ```text
//! range %i: I in %a..%b {              %1 = bound I 1   %2 = max %a, %1   %in = min %b, %2
//!   %1 = cast i64 %i                   %3 = size I   %4 = bound I 0 + %3   …   %out = max %in, …
//!   %2 = sub %1, 1               ▶     range %i: I in %a..%in { … wrap I … }
//!   %3 = wrap I %2                     range %j: I in %in..%out { … trust I … }
//!   %4 = load u[%3]                    range %k: I in %out..%b { … wrap I … }
//!   …
//! }
//! ```

mod reach;
#[cfg(test)]
mod steps;
mod symbolic;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod windows;

use std::collections::BTreeMap;

pub(crate) use self::reach::{Base, Reach, moved};
use self::reach::{Looks, Others, Plan, plan_behind};
use self::symbolic::{Ends, Term, Terms};
use crate::analysis::numbers::Numbers;
use crate::contract::cloning::Renamed;
use crate::ir::stages::cpu::{Cpu, CpuOp, Own, Par};
use crate::ir::{
    Block, Elem, Extent, Lit, Operation, Program, Scalar, SpanId, Stmt, ValueId, ValueSet,
};
use crate::ops::Prim;
use crate::pass::Pass;
use crate::targets::cpu::statements::{bind, bound, number, prim, scalar};

/// The pass.
pub const SPLIT: Pass<Cpu> = Pass {
    name: "split",
    about: "cut loops where neighbours begin and end",
    run: split,
};

/// What is worth more loops.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Constant axes shorter than this are not worth three.
    pub short: u64,
    /// A loop of more statements is not written down twice.
    pub large: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            short: 8,
            large: 256,
        }
    }
}

/// Splits loops over axes.
pub fn split(program: Program<Cpu>) -> Program<Cpu> {
    split_by(program, Limits::default())
}

/// [`split`] with these limits.
pub fn split_by(program: Program<Cpu>, limits: Limits) -> Program<Cpu> {
    program.rewritten(|program, body| {
        let mut split = Split {
            numbers: Numbers::of(body),
            program,
            limits,
            of_kernel: ValueSet::new(),
        };
        split.block(body, false);
    })
}

/// What is known in a part of a loop.
#[derive(Clone, Default)]
pub(super) struct Facts {
    /// What makes an index of a position that is one.
    pub(super) positions: ValueSet,
    /// Truth values.
    pub(super) decided: BTreeMap<ValueId, bool>,
}

/// An interior of rows: along each of their axes.
struct Rows {
    facts: Facts,
    /// By an index, its extent: from where on it is in the interior, and below what.
    axes: Vec<(ValueId, Extent, Plan)>,
    others: Others,
}

/// A loop over a part of an axis.
struct Points {
    cold: bool,
    from: ValueId,
    to: ValueId,
    body: Block<Cpu>,
    span: SpanId,
}

impl Points {
    /// Not worth more code.
    fn cold(self) -> Self {
        Self { cold: true, ..self }
    }

    fn stmt(self) -> Stmt<Cpu> {
        let op = Own::Range {
            cold: self.cold,
            from: self.from,
            to: self.to,
            body: Box::new(self.body),
        };
        Stmt::new(Vec::new(), CpuOp::Own(op), self.span)
    }
}

struct Split<'p> {
    program: &'p mut Program<Cpu>,
    numbers: Numbers,
    limits: Limits,
    /// What the kernel binds that is being split.
    of_kernel: ValueSet,
}

impl Split<'_> {
    /// Splits the loops of a block.
    fn block(&mut self, block: &mut Block<Cpu>, in_kernel: bool) {
        let stmts = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::replace(&mut block.stmts, stmts) {
            match stmt.op {
                CpuOp::Own(Own::Par(ref mut par)) => self.par(par),
                CpuOp::Own(Own::Range {
                    cold: false,
                    from,
                    to,
                    body,
                }) => {
                    let points = Points {
                        cold: false,
                        from,
                        to,
                        body: *body,
                        span: stmt.span,
                    };
                    self.points(points, &mut block.stmts);
                    continue;
                }
                CpuOp::For {
                    extent,
                    reverse: false,
                    body,
                } if in_kernel && is_cut(&body) => {
                    self.each(extent, body, stmt.span, &mut block.stmts);
                    continue;
                }
                CpuOp::For {
                    extent,
                    reverse,
                    body,
                } if asks(&body) && is_small(&body, self.limits.large) => {
                    let each = (extent, reverse, *body);
                    self.in_order(each, in_kernel, stmt.span, &mut block.stmts);
                    continue;
                }
                _ => {
                    for inner in stmt.op.blocks_mut() {
                        self.block(inner, in_kernel);
                    }
                }
            }
            block.stmts.push(stmt);
        }
    }

    /// A kernel: its points, and where these are rows, an interior of rows.
    fn par(&mut self, par: &mut Par<Cpu>) {
        self.of_kernel = par.body.bound();
        let axes = par.body.params.iter().copied();
        let axes: Vec<_> = axes
            .zip(par.extents.iter().copied().rev().skip(1).rev())
            .collect();
        let row = std::mem::take(&mut par.body.stmts);
        for stmt in row {
            let span = stmt.span;
            let CpuOp::Own(Own::Range {
                cold: false,
                from,
                to,
                body,
            }) = stmt.op
            else {
                par.body.stmts.push(stmt);
                continue;
            };
            let points = Points {
                cold: false,
                from,
                to,
                body: *body,
                span,
            };
            match self.rows(&axes, &par.body, &points.body) {
                Some(rows) => self.row(&rows, points, &mut par.body.stmts),
                None => self.points(points, &mut par.body.stmts),
            }
        }
        self.of_kernel = ValueSet::new();
    }

    /// A loop over all of an axis. Loops of few iterations are cut near their ends only.
    fn each(
        &mut self,
        extent: Extent,
        mut body: Box<Block<Cpu>>,
        span: SpanId,
        out: &mut Vec<Stmt<Cpu>>,
    ) {
        let looks = match self.numbers.resolve(extent) {
            Extent::Const(_) => Looks::Near,
            Extent::Size(_) | Extent::Value(_) => Looks::Far,
        };
        let Some(plan) = self.plan(extent, &body, looks) else {
            self.block(&mut body, true);
            let op = CpuOp::For {
                extent,
                reverse: false,
                body,
            };
            return out.push(Stmt::new(Vec::new(), op, span));
        };
        if plan.before + plan.after == 0 && plan.ends.is_empty() && plan.sure.is_empty() {
            let mut body = Box::new(simplified(&body, &plan.interior()));
            self.block(&mut body, true);
            let op = CpuOp::For {
                extent,
                reverse: false,
                body,
            };
            return out.push(Stmt::new(Vec::new(), op, span));
        }
        let from = self.bound(extent, 0, &Terms::new(), span, out);
        let to = self.bound(extent, 0, &vec![(Term::Length(extent), false)], span, out);
        let body = *body;
        let all = Points {
            cold: false,
            from,
            to,
            body,
            span,
        };
        self.cut(&plan, extent, all, out);
    }

    /// A loop that is not cut, as it hands something on or goes backwards: once without its checks,
    /// where none fails, and else as it is.
    fn in_order(
        &mut self,
        (extent, reverse, mut body): (Extent, bool, Block<Cpu>),
        in_kernel: bool,
        span: SpanId,
        out: &mut Vec<Stmt<Cpu>>,
    ) {
        let each = |body| {
            let op = CpuOp::For {
                extent,
                reverse,
                body: Box::new(body),
            };
            Stmt::new(Vec::new(), op, span)
        };
        let length = match extent {
            Extent::Value(value) => Some(value),
            Extent::Const(_) | Extent::Size(_) => None,
        };
        // What differs from point to point is no branch of lanes.
        let plan = self.plan(extent, &body, Looks::Checks).filter(|plan| {
            let mut asked = plan.sure.values().chain(length);
            plan.sure.is_empty() || !asked.any(|value| self.of_kernel.contains(&value))
        });
        let Some(plan) = plan else {
            self.block(&mut body, in_kernel);
            return out.push(each(body));
        };
        let mut unchecked = simplified(&body, &plan.interior());
        let from = self.bound(extent, 0, &Terms::new(), span, out);
        let to = self.bound(extent, 0, &vec![(Term::Length(extent), false)], span, out);
        let cond = self.holds(&plan.sure, extent, [from, to], span, out);
        let Some(cond) = cond else {
            self.block(&mut unchecked, in_kernel);
            return out.push(each(unchecked));
        };
        Renamed::default().block(self.program, &mut unchecked);
        self.numbers.look_at(&unchecked);
        self.block(&mut unchecked, in_kernel);
        let [then, otherwise] = [unchecked, body].map(|body| {
            Box::new(Block {
                stmts: vec![each(body)],
                ..Block::default()
            })
        });
        let op = CpuOp::If {
            cond,
            then,
            otherwise,
        };
        out.push(Stmt::new(Vec::new(), op, span));
    }

    /// A loop over a part of an axis.
    fn points(&mut self, mut points: Points, out: &mut Vec<Stmt<Cpu>>) {
        let extent = self.program.elem(points.from).extent();
        let extent = extent.expect("a range begins at a bound");
        match self.plan(extent, &points.body, Looks::Far) {
            Some(plan) => self.cut(&plan, extent, points, out),
            None => {
                self.block(&mut points.body, true);
                out.push(points.stmt());
            }
        }
    }

    fn plan(&self, extent: Extent, body: &Block<Cpu>, looks: Looks) -> Option<Plan> {
        let axis = (body.params[0], extent);
        let first = Block::default();
        plan_behind(
            self.program,
            &self.numbers,
            axis,
            &first,
            body,
            looks,
            self.limits.short,
        )
    }

    /// Whether rows in the interior of the axes of rows are worth a loop of their own: where their
    /// points, which come after what is computed for a row, ask about neighbouring rows.
    fn rows(
        &self,
        axes: &[(ValueId, Extent)],
        row: &Block<Cpu>,
        points: &Block<Cpu>,
    ) -> Option<Rows> {
        let mut rows = Rows {
            facts: Facts::default(),
            axes: Vec::new(),
            others: Others::Panic,
        };
        for &(index, extent) in axes {
            let axis = (index, extent);
            let plan = plan_behind(
                self.program,
                &self.numbers,
                axis,
                row,
                points,
                Looks::Far,
                self.limits.short,
            );
            let Some(plan) = plan else { continue };
            rows.others = rows.others.max(plan.others);
            rows.facts.positions.extend(&plan.positions);
            rows.facts.decided.extend(&plan.decided);
            rows.axes.push((index, extent, plan));
        }
        (!rows.axes.is_empty()).then_some(rows)
    }

    /// The points of a row, in an interior of rows or not.
    fn row(&mut self, rows: &Rows, points: Points, out: &mut Vec<Stmt<Cpu>>) {
        let span = points.span;
        let mut conds = Vec::new();
        for (index, extent, plan) in &rows.axes {
            let at = number(self.program, *index, span, out);
            let (mut from, mut below) = self.ends(*extent, &plan.ends, span, out);
            let (sure_from, sure_below) = self.ends(*extent, &plan.sure, span, out);
            from.extend(sure_from);
            below.extend(sure_below);
            if plan.before + plan.after > 0 {
                from.push(self.bound(*extent, plan.before, &Terms::new(), span, out));
                let end = vec![(Term::Length(*extent), false)];
                below.push(self.bound(*extent, -plan.after, &end, span, out));
            }
            for (bounds, compare) in [(from, Prim::Ge), (below, Prim::Lt)] {
                for bound in bounds {
                    let bound = number(self.program, bound, span, out);
                    conds.push(prim(
                        self.program,
                        compare,
                        &[at, bound],
                        Elem::BOOL,
                        span,
                        out,
                    ));
                }
            }
        }
        let inner = self.known(&points, &rows.facts);
        let inner = self.told(inner, &rows.facts);
        let Some(cond) = self.all(&conds, span, out) else {
            return self.points(inner, out);
        };
        let (mut then, mut otherwise) = (Block::default(), Block::default());
        self.points(inner, &mut then.stmts);
        match rows.others {
            Others::Few => self.points(points, &mut otherwise.stmts),
            Others::Many => otherwise.stmts.push(points.stmt()),
            Others::Panic => otherwise.stmts.push(points.cold().stmt()),
        }
        let op = CpuOp::If {
            cond,
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        };
        out.push(Stmt::new(Vec::new(), op, span));
    }

    /// The parts of a loop. What is near an end is little, or asked for by few, and stays as it is.
    fn cut(&mut self, plan: &Plan, extent: Extent, points: Points, out: &mut Vec<Stmt<Cpu>>) {
        let span = points.span;
        let ends = [points.from, points.to];
        let Some(cond) = self.holds(&plan.sure, extent, ends, span, out) else {
            return self.parts(plan, extent, points, out);
        };
        let copy = self.known(&points, &Facts::default());
        let copy = self.own(copy);
        let (mut then, mut otherwise) = (Block::default(), Block::default());
        self.parts(plan, extent, points, &mut then.stmts);
        otherwise.stmts.push(copy.cold().stmt());
        let op = CpuOp::If {
            cond,
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        };
        out.push(Stmt::new(Vec::new(), op, span));
    }

    /// Whether all of a loop is within these ends; none if there are none.
    fn holds(
        &mut self,
        sure: &Ends,
        extent: Extent,
        [begin, stop]: [ValueId; 2],
        span: SpanId,
        out: &mut Vec<Stmt<Cpu>>,
    ) -> Option<ValueId> {
        let (from, below) = self.ends(extent, sure, span, out);
        let mut conds = Vec::new();
        for (bounds, compare, end) in [(from, Prim::Ge, begin), (below, Prim::Le, stop)] {
            for bound in bounds {
                let operands = [end, bound];
                conds.push(prim(
                    self.program,
                    compare,
                    &operands,
                    Elem::BOOL,
                    span,
                    out,
                ));
            }
        }
        self.all(&conds, span, out)
    }

    /// The parts of a loop in which no check fails.
    fn parts(&mut self, plan: &Plan, extent: Extent, points: Points, out: &mut Vec<Stmt<Cpu>>) {
        let span = points.span;
        let interior = plan.interior();
        let at_end = |decided: &BTreeMap<ValueId, bool>| Facts {
            positions: ValueSet::new(),
            decided: decided.clone(),
        };
        if plan.before + plan.after == 0 && plan.ends.is_empty() {
            let mut inner = self.known(&points, &interior);
            self.block(&mut inner.body, true);
            return out.push(inner.stmt());
        }
        let (from, below) = self.ends(extent, &plan.ends, span, out);
        let mut first = self.bound(extent, plan.before, &Terms::new(), span, out);
        let end = vec![(Term::Length(extent), false)];
        let mut last = self.bound(extent, -plan.after, &end, span, out);
        let bound = Elem::Bound(extent);
        for from in from {
            first = prim(self.program, Prim::Max, &[first, from], bound, span, out);
        }
        for below in below {
            last = prim(self.program, Prim::Min, &[last, below], bound, span, out);
        }
        let first = prim(
            self.program,
            Prim::Max,
            &[points.from, first],
            bound,
            span,
            out,
        );
        let inner = prim(
            self.program,
            Prim::Min,
            &[points.to, first],
            bound,
            span,
            out,
        );
        let last = prim(
            self.program,
            Prim::Min,
            &[points.to, last],
            bound,
            span,
            out,
        );
        let outer = prim(self.program, Prim::Max, &[inner, last], bound, span, out);
        let (begin, stop) = (points.from, points.to);
        if plan.ends.is_empty() {
            for (from, to, facts) in [
                (begin, inner, at_end(&plan.at_beginning)),
                (inner, outer, interior),
                (outer, stop, at_end(&plan.at_end)),
            ] {
                let part = self.known(&points, &facts);
                // The last part is the loop itself.
                let part = if to == stop { part } else { self.own(part) };
                let mut part = Points { from, to, ..part };
                if from == inner {
                    self.block(&mut part.body, true);
                } else {
                    part = part.cold();
                }
                out.push(part.stmt());
            }
            return;
        }
        // What is before the interior and what is after it is one text.
        let part = scalar(self.program, Elem::Index(Extent::Const(3)), span);
        let mut each = Block {
            params: vec![part],
            ..Block::default()
        };
        let stmts = &mut each.stmts;
        let at = number(self.program, part, span, stmts);
        let is = [0, 1].map(|number| {
            let lit = CpuOp::Const(Lit::Int(Scalar::Usize, number));
            let number = bind(self.program, lit, Elem::USIZE, span, stmts);
            prim(
                self.program,
                Prim::Eq,
                &[at, number],
                Elem::BOOL,
                span,
                stmts,
            )
        });
        let [from, to] = [[begin, inner, outer], [inner, outer, stop]].map(|[first, mid, last]| {
            let later = CpuOp::Select(is[1], mid, last);
            let later = bind(self.program, later, bound, span, stmts);
            bind(
                self.program,
                CpuOp::Select(is[0], first, later),
                bound,
                span,
                stmts,
            )
        });
        let middle = self.known(&points, &interior);
        let mut middle = Points {
            from,
            to,
            ..self.own(middle)
        };
        self.block(&mut middle.body, true);
        let outside = Points { from, to, ..points };
        let side = |points: Points| {
            Box::new(Block {
                stmts: vec![points.stmt()],
                ..Block::default()
            })
        };
        let op = CpuOp::If {
            cond: is[1],
            then: side(middle),
            otherwise: side(outside),
        };
        stmts.push(Stmt::new(Vec::new(), op, span));
        let op = CpuOp::For {
            extent: Extent::Const(3),
            reverse: false,
            body: Box::new(each),
        };
        out.push(Stmt::new(Vec::new(), op, span));
    }

    /// Bounds of what is known only now: what an index is not less than, and what it is less than.
    fn ends(
        &mut self,
        extent: Extent,
        ends: &Ends,
        span: SpanId,
        out: &mut Vec<Stmt<Cpu>>,
    ) -> (Vec<ValueId>, Vec<ValueId>) {
        let [from, below] = [&ends.from, &ends.below].map(|ends| {
            let ends = ends.iter();
            ends.map(|(terms, &number)| self.bound(extent, number, terms, span, out))
                .collect()
        });
        (from, below)
    }

    /// The bound that is nearest to a sum.
    fn bound(
        &mut self,
        extent: Extent,
        number: i64,
        terms: &Terms,
        span: SpanId,
        out: &mut Vec<Stmt<Cpu>>,
    ) -> ValueId {
        let terms = terms.iter().map(|&(term, minus)| match term {
            Term::Value(value) => (value, minus),
            Term::Length(extent) => {
                let size = bind(self.program, CpuOp::Size(extent), Elem::USIZE, span, out);
                (size, minus)
            }
        });
        let terms = terms.collect();
        bound(self.program, extent, number, terms, span, out)
    }

    /// Whether all conditions hold; none if there is none.
    fn all(
        &mut self,
        conds: &[ValueId],
        span: SpanId,
        out: &mut Vec<Stmt<Cpu>>,
    ) -> Option<ValueId> {
        let mut conds = conds.iter().copied();
        let first = conds.next()?;
        Some(conds.fold(first, |all, cond| {
            prim(self.program, Prim::And, &[all, cond], Elem::BOOL, span, out)
        }))
    }

    /// A loop in which something is known, still of the values that it binds elsewhere.
    fn known(&self, points: &Points, facts: &Facts) -> Points {
        Points {
            body: simplified(&points.body, facts),
            ..*points
        }
    }

    /// A loop of values of its own that knows what has been decided in front of it.
    fn told(&mut self, points: Points, facts: &Facts) -> Points {
        let (mut renamed, mut known) = (Renamed::default(), Vec::new());
        for value in points.body.free() {
            let Some(&truth) = facts.decided.get(&value) else {
                continue;
            };
            let truth = CpuOp::Const(Lit::Bool(truth));
            let truth = bind(self.program, truth, Elem::BOOL, points.span, &mut known);
            renamed.insert(value, truth);
        }
        let mut points = self.renamed(points, renamed);
        points.body.stmts.splice(0..0, known);
        points
    }

    /// A loop that binds values of its own.
    fn own(&mut self, points: Points) -> Points {
        self.renamed(points, Renamed::default())
    }

    fn renamed(&mut self, mut points: Points, mut renamed: Renamed) -> Points {
        renamed.block(self.program, &mut points.body);
        self.numbers.look_at(&points.body);
        self.of_kernel.extend(&points.body.bound());
        points
    }
}

impl Plan {
    /// What is known in the interior.
    fn interior(&self) -> Facts {
        Facts {
            positions: self.positions.clone(),
            decided: self.decided.clone(),
        }
    }
}

/// A block where something is known: without the branches that are decided.
pub(super) fn simplified(block: &Block<Cpu>, facts: &Facts) -> Block<Cpu> {
    let mut stmts = Vec::with_capacity(block.stmts.len());
    for stmt in &block.stmts {
        if let CpuOp::If {
            cond,
            then,
            otherwise,
        } = &stmt.op
            && let Some(&truth) = facts.decided.get(cond)
        {
            let taken = if truth { then } else { otherwise };
            stmts.extend(simplified(taken, facts).stmts);
            continue;
        }
        let mut stmt = stmt.clone();
        let result = stmt.results.first();
        if let Some(&truth) = result.and_then(|result| facts.decided.get(result)) {
            stmt.op = CpuOp::Const(Lit::Bool(truth));
        }
        if let CpuOp::Prim(prim, _) = &mut stmt.op
            && let Some(extent) = prim.extent()
            && result.is_some_and(|result| facts.positions.contains(result))
        {
            *prim = Prim::Trust(extent);
        }
        for inner in stmt.op.blocks_mut() {
            *inner = simplified(inner, facts);
        }
        stmts.push(stmt);
    }
    Block {
        params: block.params.clone(),
        stmts,
        results: block.results.clone(),
    }
}

/// Whether there is a check in a block.
fn asks(block: &Block<Cpu>) -> bool {
    block.stmts.iter().any(|stmt| {
        matches!(stmt.op, CpuOp::Prim(Prim::Check(_), _)) || stmt.op.blocks().into_iter().any(asks)
    })
}

/// Whether a loop may be there twice: it has no kernels, and no more statements than this.
fn is_small(body: &Block<Cpu>, large: usize) -> bool {
    fn rest(block: &Block<Cpu>, room: usize) -> Option<usize> {
        let room = room.checked_sub(block.stmts.len())?;
        block.stmts.iter().try_fold(room, |room, stmt| {
            let is_kernel = stmt.op.is_kernel() || matches!(stmt.op, CpuOp::Own(Own::Tile(_)));
            if is_kernel {
                return None;
            }
            stmt.op
                .blocks()
                .into_iter()
                .try_fold(room, |room, inner| rest(inner, room))
        })
    }
    rest(body, large).is_some()
}

/// Whether a loop at a point of a kernel is cut, too: it hands nothing from one iteration to the
/// next that it computes with.
fn is_cut(body: &Block<Cpu>) -> bool {
    fn look(block: &Block<Cpu>, bound: &mut ValueSet) -> bool {
        block.stmts.iter().all(|stmt| {
            bound.extend(&stmt.results);
            let fits = match &stmt.op {
                CpuOp::Set { place, .. } => bound.contains(place),
                CpuOp::While { .. } | CpuOp::Own(Own::Par(_)) | CpuOp::Contract { .. } => false,
                _ => true,
            };
            fits && stmt.op.blocks().iter().all(|inner| look(inner, bound))
        })
    }
    look(body, &mut ValueSet::new())
}
