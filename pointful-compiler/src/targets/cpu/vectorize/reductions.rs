//! Reduction vectorization by partial sums.
//!
//! # The idea
//!
//! `for %k: K { … combine add %s[], … }` is a chain: each addition waits for the one before, and
//! floats do not reassociate by themselves. So a lane of a strip has a partial sum of its own, in a
//! fixed way that depends on types alone, and partial sums are folded as a tree. Many lanes hide
//! how long an addition takes but have to be folded, so there is a second loop with a quarter of
//! them for what the first leaves.
//!
//! Writes into buffers that the loop does not read wait until all lanes have run: between two reads
//! they keep an optimiser from doing the reads of all lanes at once.
//!
//! # Why it is sound
//!
//! Only the reductions are associated differently, and always in the same way. Where the loop
//! changes something else its lanes run in order. Where it changes nothing else and a second look
//! at an element does not show, strips overlap.
//!
//! # Before and after
//!
//! ```text
//! range %k: K in %a..%b {          %p = alloc f64[16] fill 0.0f64
//!   %1 = load x[%k]                %r = strips 16 %f: K in %a..%b {
//!   combine add %s[], %1      ▶      lanes %l: 16, %k: K of %f { %1 = load x[%k]  combine add %p[%l], %1 }
//! }                                }
//!                                  fold add %s, %p
//!                                  range %k: K in %r..%b { %1 = load x[%k]  combine add %s[], %1 }
//! ```

use std::collections::BTreeMap;

use crate::analysis::accesses::{Accesses, At, Kind};
use crate::analysis::cost;
use crate::analysis::numbers::Numbers;
use crate::contract::cloning::Renamed;
use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::{
    Block, Elem, Extent, Lit, Monoid, Operation, Program, Scalar, SpanId, Stmt, ValueId, ValueSet,
};
use crate::ops::Prim;
use crate::pass::Pass;
use crate::targets::cpu::statements::{bind, bound, number, prim, scalar};

use super::late::{Late, array, lanes};

/// The pass.
pub const REDUCTIONS: Pass<Cpu> = Pass {
    name: "reductions",
    about: "split reductions into lanes",
    run: reductions,
};

/// How many lanes there are.
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    /// Bytes that the lanes of one reduction fill when there is room.
    pub bytes: u64,
    /// How many strips there have to be.
    pub strips: u64,
}

/// Two of the widest vector registers, four of the common ones.
const WIDE: Lanes = Lanes {
    bytes: 128,
    strips: 4,
};

/// With more reductions or more operations than these in one body, lanes are half as many, so that
/// they stay in registers.
const MANY_REDUCTIONS: usize = 2;
const MANY_OPERATIONS: usize = 24;

/// Operations of what is dearer than to fold lanes.
const DEAR: u64 = 12;

/// Constant loops of up to this many iterations, which are unrolled, are not split into fewer lanes
/// than so many: to fold them takes longer.
const SHORT: u64 = 16;
const LEAST: u64 = 4;

/// Short loops inside of the body are unrolled if their innermost statements run up to this many
/// times.
const UNROLLED: u64 = 64;

/// Splits reductions into lanes.
pub fn reductions(program: Program<Cpu>) -> Program<Cpu> {
    reductions_by(program, WIDE)
}

/// [`reductions`] with so many lanes.
pub fn reductions_by(program: Program<Cpu>, lanes: Lanes) -> Program<Cpu> {
    program.rewritten(|program, body| {
        let mut pass = Reductions {
            numbers: Numbers::of(body),
            program,
            lanes,
        };
        pass.block(body);
    })
}

/// How a loop is split.
struct Plan {
    /// The place outside the loop, and how values are combined into it.
    reductions: Vec<(ValueId, Monoid)>,
    /// Numbers of lanes, the larger first.
    widths: Vec<Width>,
    /// The statements that wait until all lanes have run, by the buffer that they write into.
    writes: BTreeMap<ValueId, Vec<usize>>,
    /// Whether an iteration may run twice.
    repeatable: bool,
    /// Whether lanes hand something on.
    in_order: bool,
}

/// A number of lanes.
#[derive(Clone, Copy)]
struct Width {
    lanes: u64,
    /// How many iterations there have to be.
    from: u64,
}

/// A loop over a part of an axis.
struct Points {
    extent: Extent,
    from: ValueId,
    to: ValueId,
    body: Block<Cpu>,
    span: SpanId,
}

struct Reductions<'p> {
    program: &'p mut Program<Cpu>,
    numbers: Numbers,
    lanes: Lanes,
}

impl Reductions<'_> {
    fn block(&mut self, block: &mut Block<Cpu>) {
        let stmts = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::replace(&mut block.stmts, stmts) {
            let span = stmt.span;
            match stmt.op {
                CpuOp::Own(Own::Range {
                    cold: false,
                    from,
                    to,
                    body,
                }) => {
                    let extent = self.program.elem(from).extent();
                    let extent = extent.expect("a range begins at a bound");
                    let Some(plan) = self.plan(extent, &body) else {
                        stmt.op = CpuOp::Own(Own::Range {
                            cold: false,
                            from,
                            to,
                            body,
                        });
                        self.inside(&mut stmt);
                        block.stmts.push(stmt);
                        continue;
                    };
                    let points = Points {
                        extent,
                        from,
                        to,
                        body: *body,
                        span,
                    };
                    self.split(&plan, points, &mut block.stmts);
                }
                CpuOp::For {
                    extent,
                    reverse: false,
                    body,
                } => {
                    let Some(plan) = self.plan(extent, &body) else {
                        stmt.op = CpuOp::For {
                            extent,
                            reverse: false,
                            body,
                        };
                        self.inside(&mut stmt);
                        block.stmts.push(stmt);
                        continue;
                    };
                    let out = &mut block.stmts;
                    let from = bound(self.program, extent, 0, Vec::new(), span, out);
                    let size = bind(self.program, CpuOp::Size(extent), Elem::USIZE, span, out);
                    let to = bound(self.program, extent, 0, vec![(size, false)], span, out);
                    let points = Points {
                        extent,
                        from,
                        to,
                        body: *body,
                        span,
                    };
                    self.split(&plan, points, out);
                }
                // What lanes do is split already.
                CpuOp::Own(
                    Own::Strips { .. } | Own::Lanes { .. } | Own::Range { cold: true, .. },
                ) => block.stmts.push(stmt),
                _ => {
                    self.inside(&mut stmt);
                    block.stmts.push(stmt);
                }
            }
        }
    }

    fn inside(&mut self, stmt: &mut Stmt<Cpu>) {
        for inner in stmt.op.blocks_mut() {
            self.block(inner);
        }
    }

    /// Whether and how a loop is split into lanes.
    fn plan(&self, extent: Extent, body: &Block<Cpu>) -> Option<Plan> {
        let mut look = Look {
            program: self.program,
            numbers: &self.numbers,
            reductions: Vec::new(),
            inner: ValueSet::new(),
            operations: 0,
            is_dear: false,
            read_or_set: Vec::new(),
            varying: body.params.iter().copied().collect(),
            loaded: ValueSet::new(),
            gathers: false,
            times: 1,
            branch: None,
        };
        body.stmts.iter().try_for_each(|stmt| look.stmt(stmt))?;
        let Look {
            reductions,
            operations,
            is_dear,
            read_or_set,
            gathers,
            ..
        } = look;
        let is_reduction = |place: &ValueId| reductions.iter().any(|(known, _)| known == place);
        // Integers reassociate, and are vectorised without help.
        let float = |&(place, _): &(ValueId, Monoid)| self.program.elem(place).is_float();
        if !reductions.iter().any(float) || read_or_set.iter().any(is_reduction) {
            return None;
        }
        let places = reductions.iter().map(|&(place, _)| place);
        let widest = places
            .map(|place| self.program.elem(place).repr().bytes())
            .max()?;
        let crowded = reductions.len() > MANY_REDUCTIONS || operations > MANY_OPERATIONS;
        let most = self.lanes.bytes / widest.max(4) / if crowded { 2 } else { 1 };
        let accesses = Accesses::of(&body.stmts);
        let changed = accesses.changed();
        let writes = writes(&accesses, &changed);
        // What is handed to a later iteration, or changed in place, is not the same the second time.
        let alone = changed.iter().all(|place| is_reduction(&place));
        let repeatable = alone && reductions.iter().all(|(_, monoid)| monoid.is_idempotent());
        let waits = |place: &ValueId| is_reduction(place) || writes.contains_key(place);
        let in_order = !changed.iter().all(|place| waits(&place));
        let fewest = most / if is_dear { 4 } else { 2 };
        let widths = [
            Width {
                lanes: most,
                from: self.lanes.strips * most,
            },
            Width {
                lanes: most / 4,
                from: fewest,
            },
        ];
        // Elements that lie anywhere are picked up one by one, which only long loops make up for.
        let widths = widths.into_iter().filter(|width| {
            let fits = match self.numbers.resolve(extent) {
                Extent::Const(length) => {
                    length >= width.from && (length > SHORT || width.lanes >= LEAST)
                }
                Extent::Size(_) | Extent::Value(_) => true,
            };
            fits && width.lanes > 1 && (!gathers || width.lanes == most)
        });
        let widths: Vec<Width> = widths.collect();
        (!widths.is_empty()).then_some(Plan {
            reductions,
            widths,
            writes,
            repeatable,
            in_order,
        })
    }

    /// The loop in lanes, and what is left of it.
    fn split(&mut self, plan: &Plan, points: Points, out: &mut Vec<Stmt<Cpu>>) {
        let span = points.span;
        let of_axis = Elem::Bound(points.extent);
        let rest = bind(self.program, CpuOp::Var(points.from), of_axis, span, out);
        let to = number(self.program, points.to, span, out);
        for &width in &plan.widths {
            let from = bind(self.program, CpuOp::Get(rest), of_axis, span, out);
            let at = number(self.program, from, span, out);
            let left = prim(self.program, Prim::Sub, &[to, at], Elem::USIZE, span, out);
            let least = CpuOp::Const(Lit::Int(Scalar::Usize, i128::from(width.from)));
            let least = bind(self.program, least, Elem::USIZE, span, out);
            let cond = prim(
                self.program,
                Prim::Ge,
                &[left, least],
                Elem::BOOL,
                span,
                out,
            );
            let mut then = Block::default();
            self.in_lanes(plan, width.lanes, (from, rest), &points, &mut then.stmts);
            let op = CpuOp::If {
                cond,
                then: Box::new(then),
                otherwise: Box::default(),
            };
            out.push(Stmt::new(Vec::new(), op, span));
        }
        let from = bind(self.program, CpuOp::Get(rest), of_axis, span, out);
        let op = Own::Range {
            cold: false,
            from,
            to: points.to,
            body: Box::new(points.body),
        };
        out.push(Stmt::new(Vec::new(), CpuOp::Own(op), span));
    }

    /// As many iterations as fill lanes of this number.
    fn in_lanes(
        &mut self,
        plan: &Plan,
        width: u64,
        (from, rest): (ValueId, ValueId),
        points: &Points,
        out: &mut Vec<Stmt<Cpu>>,
    ) {
        let span = points.span;
        let sums: Vec<ValueId> = (plan.reductions.iter())
            .map(|&(place, monoid)| {
                let elem = self.program.elem(place);
                let fill = Some(monoid.identity(elem.repr()));
                array(self.program, elem, width, fill, span, out)
            })
            .collect();
        let mut body = Block {
            params: points.body.params.clone(),
            ..Block::default()
        };
        let mut late = Late::new(self.program, width, span);
        let axis = Elem::Index(points.extent);
        let strip = scalar(self.program, axis, span);
        let mut each = Block::default();
        for (number, stmt) in points.body.stmts.iter().enumerate() {
            if plan.writes.values().any(|own| own.contains(&number)) {
                late.keep(self.program, stmt, &mut each.stmts, &mut body.stmts);
            } else {
                body.stmts.push(stmt.clone());
            }
        }
        let places = plan.reductions.iter().map(|&(place, _)| place);
        let places: BTreeMap<ValueId, ValueId> = places.zip(sums.iter().copied()).collect();
        redirect(&mut body, &places, late.lane);
        Renamed::default().block(self.program, &mut body);
        body.params.insert(0, late.lane);
        each.params.push(strip);
        each.stmts.push(lanes(strip, plan.in_order, body, span));
        let index = points.body.params[0];
        let written = late.written(self.program, strip, index, &mut Renamed::default());
        each.stmts.extend(written);
        let op = Own::Strips {
            width,
            overlapping: plan.repeatable,
            from,
            to: points.to,
            body: Box::new(each),
        };
        let next = bind(
            self.program,
            CpuOp::Own(op),
            Elem::Bound(points.extent),
            span,
            out,
        );
        let set = CpuOp::Set {
            place: rest,
            value: next,
        };
        out.push(Stmt::new(Vec::new(), set, span));
        for (&(place, monoid), &lanes) in plan.reductions.iter().zip(&sums) {
            let fold = Own::Fold {
                monoid,
                place,
                lanes,
            };
            out.push(Stmt::new(Vec::new(), CpuOp::Own(fold), span));
        }
    }
}

/// What is combined into a place goes to the lane's element of an array.
fn redirect(block: &mut Block<Cpu>, places: &BTreeMap<ValueId, ValueId>, lane: ValueId) {
    for stmt in &mut block.stmts {
        if let CpuOp::Combine { place, indices, .. } = &mut stmt.op
            && let Some(&array) = places.get(place)
        {
            *place = array;
            *indices = vec![lane];
        }
        for inner in stmt.op.blocks_mut() {
            redirect(inner, places, lane);
        }
    }
}

/// The statements of a body that can wait until all lanes have run: those of buffers that are not
/// read, at places that are known outside the body but for its index. None if one of them cannot.
fn writes(accesses: &Accesses<'_>, changed: &ValueSet) -> BTreeMap<ValueId, Vec<usize>> {
    let mut writes: BTreeMap<ValueId, Vec<usize>> = BTreeMap::new();
    for access in accesses.outside() {
        let indices = match access.at {
            At::Variable => continue,
            At::Element(_) | At::Any if !changed.contains(&access.place) => continue,
            At::Element(indices) => indices,
            At::Any => return BTreeMap::new(),
        };
        let waits = match access.kind {
            Kind::Write | Kind::Combine => {
                !access.is_nested && !indices.iter().any(|index| accesses.binds(index))
            }
            Kind::Read | Kind::Swap => false,
        };
        if !waits {
            return BTreeMap::new();
        }
        writes.entry(access.place).or_default().push(access.number);
    }
    writes
}

/// What a body is made of.
struct Look<'p> {
    program: &'p Program<Cpu>,
    numbers: &'p Numbers,
    reductions: Vec<(ValueId, Monoid)>,
    /// Places of an iteration's own.
    inner: ValueSet,
    operations: usize,
    is_dear: bool,
    read_or_set: Vec<ValueId>,
    /// What is not the same in all iterations.
    varying: ValueSet,
    /// What is made of elements that are read,
    loaded: ValueSet,
    /// and whether there are elements in such places.
    gathers: bool,
    /// How often a statement runs in an iteration.
    times: u64,
    /// What is bound in the branch that is being looked at.
    branch: Option<ValueSet>,
}

impl Look<'_> {
    /// Looks at a statement. None if it becomes no vector instructions.
    fn stmt(&mut self, stmt: &Stmt<Cpu>) -> Option<()> {
        match &stmt.op {
            CpuOp::Const(_) | CpuOp::Size(_) => {}
            CpuOp::Prim(prim, args) => {
                let elem = self.program.elem(args[0]);
                prim.vectorises(elem).then_some(())?;
                self.operations += 1;
                self.is_dear |= cost::prim(*prim, elem) >= DEAR;
            }
            CpuOp::Load { indices, .. } => {
                // What a lane does not ask for may not be there.
                let bound = self.branch.as_ref();
                if bound.is_some_and(|bound| indices.iter().any(|index| bound.contains(index))) {
                    return None;
                }
                self.gathers |= indices.iter().any(|index| self.loaded.contains(index));
                // Of what a short loop reads neighbours must lie side by side: it may itself go
                // through what does.
                if let [apart @ .., _] = indices.as_slice()
                    && self.times > 1
                    && apart.iter().any(|index| self.varying.contains(index))
                {
                    return None;
                }
                self.operations += 1;
            }
            CpuOp::Store { .. } if self.times > 1 || self.branch.is_some() => return None,
            CpuOp::Select(..) | CpuOp::Store { .. } => self.operations += 1,
            CpuOp::Combine {
                monoid,
                place,
                indices,
                ..
            } => self.combine(*monoid, *place, !indices.is_empty())?,
            CpuOp::Var(_) => {
                self.inner.insert(stmt.results[0]);
            }
            CpuOp::Get(place) | CpuOp::Set { place, .. } => self.read_or_set.push(*place),
            CpuOp::If {
                then, otherwise, ..
            } => {
                let outside = self.branch.clone();
                let mut branch = then.stmts.iter().chain(&otherwise.stmts);
                self.branch.get_or_insert_with(ValueSet::new);
                branch.try_for_each(|stmt| self.stmt(stmt))?;
                self.branch = outside;
                self.operations += 1;
            }
            CpuOp::For { .. } if self.branch.is_some() => return None,
            CpuOp::For { extent, body, .. } => {
                let Extent::Const(length) = self.numbers.resolve(*extent) else {
                    return None;
                };
                let outside = self.times;
                self.times = self.times.saturating_mul(length);
                (2..=UNROLLED).contains(&self.times).then_some(())?;
                body.stmts.iter().try_for_each(|stmt| self.stmt(stmt))?;
                self.times = outside;
            }
            CpuOp::Alloc { .. }
            | CpuOp::Copy(_)
            | CpuOp::Swap(..)
            | CpuOp::Contract { .. }
            | CpuOp::Own(_)
            | CpuOp::Assert { .. }
            | CpuOp::While { .. } => return None,
        }
        if let Some(bound) = &mut self.branch {
            bound.extend(&stmt.results);
        }
        let read = stmt.op.operands();
        let varies = |value: &ValueId| self.varying.contains(value) || self.inner.contains(value);
        if read.iter().any(varies) {
            self.varying.extend(&stmt.results);
            let is_load = matches!(stmt.op, CpuOp::Load { .. });
            if is_load || read.iter().any(|value| self.loaded.contains(value)) {
                self.loaded.extend(&stmt.results);
            }
        }
        Some(())
    }

    fn combine(&mut self, monoid: Monoid, place: ValueId, is_buffer: bool) -> Option<()> {
        let mut known = self.reductions.iter();
        if self.inner.contains(&place) {
            self.operations += 1;
        } else if is_buffer {
            (self.times == 1 && self.branch.is_none()).then_some(())?;
            self.operations += 1;
        } else {
            match known.find(|(known, _)| *known == place) {
                Some((_, by)) if *by != monoid => return None,
                Some(_) => {}
                None => self.reductions.push((place, monoid)),
            }
        }
        Some(())
    }
}
