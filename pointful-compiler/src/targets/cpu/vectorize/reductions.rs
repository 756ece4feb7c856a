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
//! Of a branch both sides are computed ([if-conversion](super::if_conversion)), a dear one only
//! where a lane takes it ([`DearBranch`](super::dear_branches)).
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

mod analysis;

use std::collections::BTreeMap;

use self::analysis::Plan;
use crate::analysis::angles::may_bet;
use crate::analysis::numbers::Numbers;
use crate::contract::cloning::Renamed;
use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::{Block, Elem, Extent, Lit, Operation, Program, Scalar, SpanId, Stmt, ValueId};
use crate::ops::Prim;
use crate::pass::Pass;
use crate::targets::cpu::statements::{bind, bound, number, prim, scalar};

use super::if_conversion::if_conversion;
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
            bets: false,
        };
        pass.block(body);
    })
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
    /// Whether the kernel around bets that its angles are near.
    bets: bool,
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
                CpuOp::Own(Own::Par(ref par)) => {
                    let numbers = &self.numbers;
                    let bets = may_bet(self.program, numbers, par);
                    let around = std::mem::replace(&mut self.bets, bets);
                    self.inside(&mut stmt);
                    self.bets = around;
                    block.stmts.push(stmt);
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

    /// The loop in lanes, and what is left of it.
    fn split(&mut self, plan: &Plan, points: Points, out: &mut Vec<Stmt<Cpu>>) {
        let span = points.span;
        let of_axis = Elem::Bound(points.extent);
        let rest = bind(self.program, CpuOp::Var(points.from), of_axis, span, out);
        let to = number(self.program, points.to, span, out);
        for &width in &plan.widths {
            let from = bind(self.program, CpuOp::Get(rest), of_axis, span, out);
            let at = number(self.program, from, span, out);
            // It may end before it begins.
            let end = prim(self.program, Prim::Max, &[to, at], Elem::USIZE, span, out);
            let left = prim(self.program, Prim::Sub, &[end, at], Elem::USIZE, span, out);
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
        let searches: Vec<[ValueId; 2]> = (plan.searches.iter())
            .map(|search| search.arrays(self.program, width, span, out))
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
            if plan.searches.iter().any(|own| own.stmts.contains(&number)) {
                continue;
            }
            if plan.writes.values().any(|own| own.contains(&number)) {
                late.keep(self.program, stmt, &mut each.stmts, &mut body.stmts);
            } else {
                body.stmts.push(stmt.clone());
            }
        }
        let places = plan.reductions.iter().map(|&(place, _)| place);
        let places: BTreeMap<ValueId, ValueId> = places.zip(sums.iter().copied()).collect();
        let mut body = self.lane(late.lane, body, &places);
        for (search, &arrays) in plan.searches.iter().zip(&searches) {
            let index = body.params[1];
            let out = &mut body.stmts;
            search.step(self.program, arrays, late.lane, index, span, out);
        }
        Renamed::default().block(self.program, &mut body);
        each.params.push(strip);
        let all = lanes(strip, plan.in_order, body, span);
        match &plan.dear {
            None => each.stmts.push(all),
            Some(dear) => {
                let strip_of = (strip, width);
                let point = &points.body;
                let cond = dear.wanted(self.program, point, strip_of, span, &mut each.stmts);
                let lane = scalar(self.program, Elem::Index(Extent::Const(width)), span);
                let mut cheap = self.lane(lane, dear.without(point), &places);
                Renamed::default().block(self.program, &mut cheap);
                let side = |lanes| {
                    Box::new(Block {
                        stmts: vec![lanes],
                        ..Block::default()
                    })
                };
                let op = CpuOp::If {
                    cond,
                    then: side(all),
                    otherwise: side(lanes(strip, plan.in_order, cheap, span)),
                };
                each.stmts.push(Stmt::new(Vec::new(), op, span));
            }
        }
        let index = points.body.params[0];
        let written = late.written(self.program, strip, index, &mut Renamed::default());
        each.stmts.extend(written);
        let op = Own::Strips {
            width,
            chained: false,
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
        for (search, arrays) in plan.searches.iter().zip(searches) {
            out.push(search.folded(arrays, span));
        }
    }

    /// A lane, which computes what an iteration does, for arrays in the place of some places.
    fn lane(
        &mut self,
        lane: ValueId,
        mut body: Block<Cpu>,
        places: &BTreeMap<ValueId, ValueId>,
    ) -> Block<Cpu> {
        redirect(&mut body, places, lane);
        if_conversion(self.program, &mut body);
        body.params.insert(0, lane);
        body
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
