//! Outer-loop vectorization: several neighbouring points advance together through the loops inside
//! them.
//!
//! # The idea
//!
//! In `range %j: J { … for %k: K { … b[k, j] … combine add %s } store c[i, j] }` the inner loop
//! walks down a column of `b`, which neither vectorises nor uses the cache lines it touches. Points
//! are independent, so a strip of them may run statement by statement. The body is cut into
//! *segments*, straight-line statements between inner loops ([`distribution`]); what one segment
//! hands to another is kept for all lanes, but for positions of neighbours, which are computed
//! again.
//!
//! Points need not all do the same ([`masking`]): what only some of them run is run for all lanes,
//! and a *mask* says for each lane whether it takes part. A lane that does not changes nothing,
//! reads nothing and writes nothing. A `while` goes on until no lane does, a loop whose length
//! differs until the longest has ended.
//!
//! Buffers that points have for themselves lie side by side, element by element. What points
//! combine into places of the kernel each adds up for itself; the sums are then added in the points'
//! order. What all points of a strip combine into one element of a table of the kernel's they
//! combine with each other first.
//!
//! It pays ([`legality`]) where the inner loops read along the axis, or not along it at all and add
//! up something for each point; where a loop hands something on from one iteration to the next, as
//! a solver's steps do; where each point multiplies a vector of its own by the same matrix, which is
//! then read once for a strip; and where inner loops are so short that vectors of their own would be mostly
//! empty, if there is much to compute in or around them. Where their lengths are not known, both
//! forms are there, and which one runs is asked.
//!
//! # Why it is sound
//!
//! Points of a kernel may run in any order, and so may iterations of a loop that do not see each
//! other (`independent`). Each does the same operations in the same order; before any lane goes on
//! behind a check all are asked, and the first that fails panics. The rest is *cold*, so that its
//! sums are not split either: what a point gives does not depend on whether it is in a strip.
//!
//! # Before and after
//!
//! ```text
//! range %j: J in %a..%b {              %r = strips 32 overlapping %f: J in %a..%b {
//!   %s = var %0                          %p = alloc f64[32]
//!   for %k: K {                          lanes %l: 32, %j: J of %f { store %p[%l], %0 }
//!     %1 = load b[%k, %j]                for %k: K {
//!     combine add %s[], %1       ▶         lanes %l: 32, %j: J of %f { %1 = load b[%k, %j]  combine add %p[%l], %1 }
//!   }                                    }
//!   %2 = get %s                          lanes %l: 32, %j: J of %f { %2 = load %p[%l]  store c[%j], %2 }
//!   store c[%j], %2                    }
//! }                                    range cold %j: J in %r..%b { … }
//! ```

mod distribution;
mod legality;
mod masking;

use std::collections::BTreeMap;

use self::legality::Look;
use self::masking::Strip;
use crate::analysis::angles::may_bet;
use crate::analysis::numbers::Numbers;
use crate::analysis::parts::Parts;
use crate::contract::cloning::Renamed;
use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::{
    Block, Elem, Extent, Lit, Monoid, Operation, Program, Scalar, SpanId, Stmt, ValueId, ValueSet,
};
use crate::ops::Prim;
use crate::pass::Pass;
use crate::targets::cpu::statements::{bind, bound, number, prim};

use super::independent;

/// The pass.
pub const OUTER_LOOP: Pass<Cpu> = Pass {
    name: "outer_loop",
    about: "run neighbouring points together through inner loops",
    run: outer_loop,
};

/// Whether something hands arrays on.
#[cfg(test)]
fn swaps(block: &Block<Cpu>) -> bool {
    block.stmts.iter().any(|stmt| {
        let mut inside = stmt.op.blocks().into_iter();
        matches!(stmt.op, CpuOp::Swap(..)) || inside.any(swaps)
    })
}

/// How many points advance together, and which.
#[derive(Clone, Copy, Debug)]
pub struct Together {
    /// Bytes of one variable over a strip: as many registers as are free when there is one variable.
    pub bytes: u64,
    /// The same for what is left of a row, and when there are several variables.
    pub few_bytes: u64,
    /// From when on it pays; none for all that may.
    pub if_it_pays: Option<Worth>,
    /// Bytes that the points' own buffers may have in a strip. Longer ones are better left to one
    /// point at a time.
    pub own_bytes: u64,
}

/// From when on it pays that points advance together.
#[derive(Clone, Copy, Debug)]
pub struct Worth {
    /// Loops of up to this many iterations are gone through by all lanes where they would be
    /// vectorised themselves if they were longer.
    pub short: u64,
    /// Elements that lie apart for neighbours are loaded one by one: worth it for so many other
    /// operations of a loop that carries something.
    pub gather: u64,
}

const TOGETHER: Together = Together {
    bytes: 256,
    few_bytes: 128,
    if_it_pays: Some(WORTH),
    own_bytes: 1 << 24,
};

/// As users get it.
pub(super) const WORTH: Worth = Worth {
    short: 12,
    gather: 8,
};

/// Runs neighbouring points together through inner loops.
pub fn outer_loop(program: Program<Cpu>) -> Program<Cpu> {
    outer_loop_by(program, TOGETHER)
}

/// [`outer_loop`] of this kind.
pub fn outer_loop_by(program: Program<Cpu>, together: Together) -> Program<Cpu> {
    program.rewritten(|program, body| {
        let mut pass = OuterLoop {
            numbers: Numbers::of(body),
            program,
            together,
            parts: Parts::default(),
            bets: false,
        };
        pass.host(body);
    })
}

/// How the points of a row are run in strips.
struct Plan {
    /// Numbers of lanes, the larger first.
    widths: Vec<u64>,
    /// Scalars that are the same for all points of the axis, and so computed once for a strip.
    uniform: ValueSet,
    /// Scalars that are not.
    varying: ValueSet,
    /// Those of them, and `var`s, that are bound in one segment and used in another.
    kept: ValueSet,
    /// The `var`s that points bind.
    variables: ValueSet,
    /// Positions of neighbours, and how they are computed again.
    remade: BTreeMap<ValueId, Vec<Stmt<Cpu>>>,
    /// Buffers that each point has for itself.
    own: ValueSet,
    /// Places of the kernel that points combine something into.
    summed: BTreeMap<ValueId, Monoid>,
    /// Indices that are in range, and buffers whose elements are there, only where a point comes
    /// by.
    doubtful: ValueSet,
    /// The integer that says whether a lane takes part: as wide as what it decides about.
    mask: Scalar,
    /// Whether a point may be computed twice: nothing is read that is written, nothing accumulated.
    repeatable: bool,
    /// Whether a point alone takes many times as long as its part of a strip.
    chained: bool,
    /// Whether the kernel bets that its angles are near.
    bets: bool,
    /// Lengths that must be no more than so many for it to pay.
    if_short: (Vec<Extent>, u64),
    /// Whether it pays as points share what they multiply by: there must be room, and enough of
    /// them.
    shares: bool,
    /// Whether the points read neighbours, so that even few of them are better off together than
    /// each for itself.
    along: bool,
}

impl Plan {
    /// Whether it is the points that compute a length.
    fn computes(&self, extent: Extent) -> bool {
        matches!(extent, Extent::Value(value)
            if self.varying.contains(&value) || self.uniform.contains(&value))
    }
}

/// A loop over a part of an axis.
struct Points {
    from: ValueId,
    to: ValueId,
    body: Block<Cpu>,
    span: SpanId,
}

impl Points {
    /// A loop that does this for each of them.
    fn range(&self, cold: bool, body: Block<Cpu>) -> Stmt<Cpu> {
        let op = Own::Range {
            cold,
            from: self.from,
            to: self.to,
            body: Box::new(body),
        };
        Stmt::new(Vec::new(), CpuOp::Own(op), self.span)
    }
}

struct OuterLoop<'p> {
    program: &'p mut Program<Cpu>,
    numbers: Numbers,
    together: Together,
    /// The part of its rows that the kernel's block is run for.
    parts: Parts,
    /// Whether the kernel bets that its angles are near.
    bets: bool,
}

impl OuterLoop<'_> {
    /// The kernels of a block of the host.
    fn host(&mut self, block: &mut Block<Cpu>) {
        for stmt in &mut block.stmts {
            if let CpuOp::Own(Own::Par(par)) = &mut stmt.op {
                self.parts = Parts::of(par);
                let numbers = &self.numbers;
                self.bets = may_bet(self.program, numbers, par);
                self.block(&mut par.body);
            } else {
                for inner in stmt.op.blocks_mut() {
                    self.host(inner);
                }
            }
        }
    }

    /// The loops of a block of a kernel.
    fn block(&mut self, block: &mut Block<Cpu>) {
        let stmts = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::replace(&mut block.stmts, stmts) {
            let span = stmt.span;
            match stmt.op {
                // What lanes do is together already.
                CpuOp::Own(Own::Strips { .. }) => {}
                CpuOp::Own(Own::Range {
                    cold: false,
                    from,
                    to,
                    body,
                }) => {
                    let extent = self.program.elem(from).extent();
                    let extent = extent.expect("a range begins at a bound");
                    let mut points = Points {
                        from,
                        to,
                        body: *body,
                        span,
                    };
                    match self.plan(extent, &points.body) {
                        Some(plan) => self.together(&plan, points, &mut block.stmts),
                        None => {
                            let mut body = std::mem::take(&mut points.body);
                            self.block(&mut body);
                            block.stmts.push(points.range(false, body));
                        }
                    }
                    continue;
                }
                CpuOp::For {
                    extent,
                    reverse: false,
                    ref mut body,
                } => {
                    if let Some(plan) = self.plan(extent, body) {
                        let out = &mut block.stmts;
                        let from = bound(self.program, extent, 0, Vec::new(), span, out);
                        let size = bind(self.program, CpuOp::Size(extent), Elem::USIZE, span, out);
                        let to = bound(self.program, extent, 0, vec![(size, false)], span, out);
                        let points = Points {
                            from,
                            to,
                            body: std::mem::take(body),
                            span,
                        };
                        self.together(&plan, points, out);
                        continue;
                    }
                    self.block(body);
                }
                _ => {
                    for inner in stmt.op.blocks_mut() {
                        self.block(inner);
                    }
                }
            }
            block.stmts.push(stmt);
        }
    }

    /// Whether and how points are run in strips, if they may run in any order.
    fn plan(&self, extent: Extent, body: &Block<Cpu>) -> Option<Plan> {
        let free = self.parts.goes_through(body.params[0]) || independent(body);
        free.then_some(())?;
        let worth = self.together.if_it_pays.unwrap_or(WORTH);
        let look = |if_short| {
            let (program, numbers) = (&*self.program, &self.numbers);
            Look::at(program, numbers, body, self.bets, (worth, if_short))
        };
        let mut found = look(None)?;
        let (reads, carries) = (found.pays_to_read(), found.pays_to_carry());
        let shares = !reads && !carries && found.pays_to_share();
        let pays = reads || carries || shares || found.pays_if_short();
        if self.together.if_it_pays.is_some() && !pays {
            found = look(Some(Vec::new())).filter(Look::pays_if_short)?;
        }
        #[cfg(test)]
        {
            use crate::testing::entered::{
                CHAINS_OUTWEIGH, HANDED, SHARED, VECTORS_OUTWEIGH, enter,
            };
            let outweighs = if carries {
                &CHAINS_OUTWEIGH
            } else {
                &VECTORS_OUTWEIGH
            };
            found.is_weighed().then(|| enter(outweighs));
            shares.then(|| enter(&SHARED));
            (carries && swaps(body)).then(|| enter(&HANDED));
        }
        let bytes = |value| self.program.elem(value).repr().bytes();
        let (kept, own) = (found.kept.iter(), found.own.iter());
        let widest = kept.map(bytes).max().or_else(|| own.map(bytes).max());
        let widest = match self.together.if_it_pays {
            Some(_) => widest?.max(4),
            None => widest.unwrap_or(4).max(4),
        };
        let few = self.together.few_bytes / widest;
        let widths = match (reads && found.kept.len() == 1, shares) {
            (true, _) => vec![self.together.bytes / widest, few],
            (false, true) => vec![few, few.div_ceil(4)],
            (false, false) => vec![few],
        };
        if let Extent::Const(length) = self.numbers.resolve(extent)
            && widths.iter().all(|&width| length < width)
        {
            return None;
        }
        let (repeatable, along) = (found.repeatable(), found.along());
        let if_short = found.if_short.take().unwrap_or_default();
        let doubtful = [&found.doubtful, &found.own, &found.written];
        Some(Plan {
            widths,
            repeatable,
            along,
            if_short: (if_short, worth.short),
            shares,
            chained: shares || (carries && !reads),
            bets: self.bets,
            mask: match widest {
                4 => Scalar::I32,
                _ => Scalar::I64,
            },
            doubtful: doubtful.into_iter().flat_map(ValueSet::iter).collect(),
            varying: found.varying(),
            variables: found.variables(),
            uniform: found.uniform,
            kept: found.kept,
            remade: found.remade,
            own: found.own,
            summed: found.summed,
        })
    }

    /// Points in strips; where it is not known whether that pays, in either form.
    fn together(&mut self, plan: &Plan, points: Points, out: &mut Vec<Stmt<Cpu>>) {
        let Some(cond) = self.condition(plan, &points, out) else {
            return self.strips(plan, points, out);
        };
        let mut body = points.body.clone();
        Renamed::default().block(self.program, &mut body);
        self.numbers.look_at(&body);
        self.block(&mut body);
        let (mut then, mut otherwise) = (Block::default(), Block::default());
        let span = points.span;
        otherwise.stmts.push(points.range(false, body));
        self.strips(plan, points, &mut then.stmts);
        let op = CpuOp::If {
            cond,
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        };
        out.push(Stmt::new(Vec::new(), op, span));
    }

    /// What must hold for it to pay, if that is not known.
    fn condition(
        &mut self,
        plan: &Plan,
        points: &Points,
        out: &mut Vec<Stmt<Cpu>>,
    ) -> Option<ValueId> {
        let span = points.span;
        let mut conds = Vec::new();
        if plan.shares {
            conds.extend(self.are_many(plan, points, out));
            conds.extend(self.has_room(plan, span, out));
        }
        let (lengths, short) = &plan.if_short;
        for &extent in lengths {
            let size = bind(self.program, CpuOp::Size(extent), Elem::USIZE, span, out);
            let most = CpuOp::Const(Lit::Int(Scalar::Usize, (*short).into()));
            let most = bind(self.program, most, Elem::USIZE, span, out);
            let short = prim(self.program, Prim::Le, &[size, most], Elem::BOOL, span, out);
            conds.push(short);
        }
        let mut conds = conds.into_iter();
        let first = conds.next()?;
        let both = |all, cond| prim(self.program, Prim::And, &[all, cond], Elem::BOOL, span, out);
        Some(conds.fold(first, both))
    }

    /// Whether there are points enough for a strip, if the rest, which is cold, is not just what
    /// strips have left.
    fn are_many(
        &mut self,
        plan: &Plan,
        points: &Points,
        out: &mut Vec<Stmt<Cpu>>,
    ) -> Option<ValueId> {
        let (span, program) = (points.span, &mut *self.program);
        let &least = plan.widths.last().filter(|_| !plan.repeatable)?;
        let least = CpuOp::Const(Lit::Int(Scalar::Usize, least.into()));
        let least = bind(program, least, Elem::USIZE, span, out);
        let [from, to] = [points.from, points.to].map(|bound| number(program, bound, span, out));
        let first = prim(program, Prim::Add, &[from, least], Elem::USIZE, span, out);
        Some(prim(program, Prim::Le, &[first, to], Elem::BOOL, span, out))
    }

    /// Whether there is room for the points' own buffers, if that depends on lengths that are known
    /// before the points begin. Bytes are counted as a float, which does not overflow.
    fn has_room(&mut self, plan: &Plan, span: SpanId, out: &mut Vec<Stmt<Cpu>>) -> Option<ValueId> {
        let float = Elem::Scalar(Scalar::F64);
        let mut total: Option<ValueId> = None;
        for buffer in &plan.own {
            let ty = self.program.ty(buffer).clone();
            let known = |&dim: &Extent| matches!(self.numbers.resolve(dim), Extent::Const(_));
            let late = |&dim: &Extent| plan.computes(self.numbers.resolve(dim));
            if ty.dims.iter().all(known) || ty.dims.iter().any(late) {
                continue;
            }
            let each = (plan.widths[0] * ty.elem.repr().bytes()) as f64;
            let each = CpuOp::Const(Lit::of(Scalar::F64, each));
            let mut bytes = bind(self.program, each, float, span, out);
            for dim in ty.dims {
                let size = bind(self.program, CpuOp::Size(dim), Elem::USIZE, span, out);
                let cast = Prim::Cast(Scalar::F64);
                let size = prim(self.program, cast, &[size], float, span, out);
                bytes = prim(self.program, Prim::Mul, &[bytes, size], float, span, out);
            }
            total = Some(match total {
                Some(before) => prim(self.program, Prim::Add, &[before, bytes], float, span, out),
                None => bytes,
            });
        }
        let total = total?;
        let most = CpuOp::Const(Lit::of(Scalar::F64, self.together.own_bytes as f64));
        let most = bind(self.program, most, float, span, out);
        Some(prim(
            self.program,
            Prim::Le,
            &[total, most],
            Elem::BOOL,
            span,
            out,
        ))
    }

    /// Points in strips, and the rest: all of them if there is no room.
    fn strips(&mut self, plan: &Plan, points: Points, out: &mut Vec<Stmt<Cpu>>) {
        let span = points.span;
        let of_axis = self.program.elem(points.from);
        let mut from = points.from;
        let room = match plan.shares {
            true => None,
            false => self.has_room(plan, span, out),
        };
        let to = match room {
            Some(room) => {
                let to = CpuOp::Select(room, points.to, from);
                bind(self.program, to, of_axis, span, out)
            }
            None => points.to,
        };
        for (position, &width) in plan.widths.iter().enumerate() {
            let overlapping = plan.repeatable && position + 1 == plan.widths.len();
            if overlapping && position > 0 {
                from = self.last_strip(width, from, &points, out);
            }
            let (program, numbers) = (&mut *self.program, &self.numbers);
            let strip = Strip::new(program, numbers, plan, &points.body, width, span);
            let op = Own::Strips {
                width,
                chained: plan.chained,
                overlapping,
                from,
                to,
                body: Box::new(strip.points(&points.body)),
            };
            from = bind(self.program, CpuOp::Own(op), of_axis, span, out);
        }
        let mut rest = Points { from, ..points };
        let mut body = std::mem::take(&mut rest.body);
        self.block(&mut body);
        // Of few points alone each may add up in lanes of its own.
        let few = plan.repeatable && !plan.along;
        out.push(rest.range(!few, body));
    }

    /// Where the last strips begin, of which one ends where the loop does, so that what wider ones
    /// have left is none of the rest.
    fn last_strip(
        &mut self,
        width: u64,
        from: ValueId,
        points: &Points,
        out: &mut Vec<Stmt<Cpu>>,
    ) -> ValueId {
        let span = points.span;
        let of_axis = self.program.elem(from);
        let extent = of_axis.extent().expect("a loop begins at a bound");
        let end = vec![(points.to, false)];
        let back = i64::try_from(width).map_or(i64::MIN, |width| -width);
        let last = bound(self.program, extent, back, end, span, out);
        let last = prim(
            self.program,
            Prim::Max,
            &[points.from, last],
            of_axis,
            span,
            out,
        );
        let last = prim(self.program, Prim::Min, &[from, last], of_axis, span, out);
        let [at, to] = [from, points.to].map(|bound| number(self.program, bound, span, out));
        let left = prim(self.program, Prim::Lt, &[at, to], Elem::BOOL, span, out);
        bind(
            self.program,
            CpuOp::Select(left, last, from),
            of_axis,
            span,
            out,
        )
    }
}
