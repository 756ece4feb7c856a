//! Arg reductions: the place of an extremal element.
//!
//! # The idea
//!
//! A loop that looks for the least element and its place is a branch that nobody foresees. In lanes
//! ([`reductions`](super::reductions)) each lane keeps the best of its own elements and where the
//! first of them was, with selects, and the lanes are folded.
//!
//! # Why it is sound
//!
//! Of equally good elements in several lanes the one with the smallest place is taken, and what was
//! found before the loop is earlier than all: so what is found is what one loop finds. Nothing else
//! looks at the best so far, and no two steps share it.
//!
//! # Before and after
//!
//! ```text
//! %1 = get %best                                   (in a lane)
//! %2 = ge %x, %1                                   %3 = cast usize %k
//! if %2 {} else {                                  argcombine min %b, %p, %l, %x, %3
//!   %4 = eq %x, %x
//!   if %4 { set %best, %x                      ▶   (after the lanes)
//!           %5 = cast usize %k  set %at, %5 }      argfold min %best, %at, %b, %p
//! }
//! ```

use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::{Block, Elem, Lit, Monoid, Operation, Program, Scalar, SpanId, Stmt, ValueId};
use crate::ops::Prim;
use crate::targets::cpu::statements::prim;

use super::late::array;

/// A step of a loop's body that looks for an extremal element, as the schedule writes it.
pub(super) struct Search {
    /// Whether the least or the greatest is looked for.
    monoid: Monoid,
    /// The variables that hold the best element so far, and its place.
    pub(super) best: ValueId,
    pub(super) at: ValueId,
    /// The element.
    value: ValueId,
    /// The statements that it consists of.
    pub(super) stmts: [usize; 3],
}

impl Search {
    /// All of a body; none if one of them shares something with another statement.
    pub(super) fn all(program: &Program<Cpu>, body: &Block<Cpu>) -> Option<Vec<Self>> {
        let last = 0..body.stmts.len();
        let all: Vec<Self> = last
            .filter_map(|last| Self::ending_with(program, body, last))
            .collect();
        let mut places: Vec<ValueId> = all.iter().flat_map(|own| [own.best, own.at]).collect();
        places.sort_unstable();
        places.dedup();
        let asked = |own: &Self| {
            let results = own.stmts.iter().flat_map(|&at| &body.stmts[at].results);
            let results: Vec<ValueId> = results.copied().collect();
            let others = body.stmts.iter().enumerate();
            let mut others = others.filter(|(at, _)| !own.stmts.contains(at));
            others.any(|(_, stmt)| reads(stmt, &results))
        };
        (places.len() == 2 * all.len() && !all.iter().any(asked)).then_some(all)
    }

    /// The step that ends with this statement of a body.
    fn ending_with(program: &Program<Cpu>, body: &Block<Cpu>, last: usize) -> Option<Self> {
        let CpuOp::If {
            cond,
            then,
            otherwise,
        } = &body.stmts[last].op
        else {
            return None;
        };
        let bound = |value: ValueId| {
            let mut before = body.stmts[..last].iter();
            before.position(|stmt| stmt.results.first() == Some(&value))
        };
        let compared = bound(*cond)?;
        let CpuOp::Prim(compare, args) = &body.stmts[compared].op else {
            return None;
        };
        let &[value, so_far] = args.as_slice() else {
            return None;
        };
        let fetched = bound(so_far)?;
        let CpuOp::Get(best) = body.stmts[fetched].op else {
            return None;
        };
        let (monoid, taken) = match (compare, program.elem(best).is_float()) {
            (Prim::Lt, false) if otherwise.stmts.is_empty() => (Monoid::Min, &**then),
            (Prim::Gt, false) if otherwise.stmts.is_empty() => (Monoid::Max, &**then),
            (Prim::Ge, true) if then.stmts.is_empty() => (Monoid::Min, numbers(otherwise, value)?),
            (Prim::Le, true) if then.stmts.is_empty() => (Monoid::Max, numbers(otherwise, value)?),
            _ => return None,
        };
        let [first, second, third] = taken.stmts.as_slice() else {
            return None;
        };
        let (
            &CpuOp::Set { place, value: new },
            CpuOp::Prim(Prim::Cast(Scalar::Usize), index),
            &CpuOp::Set {
                place: at,
                value: number,
            },
        ) = (&first.op, &second.op, &third.op)
        else {
            return None;
        };
        let own = place == best && new == value && second.results.first() == Some(&number);
        (own && index.first() == body.params.first()).then_some(Self {
            monoid,
            best,
            at,
            value,
            stmts: [fetched, compared, last],
        })
    }

    /// The arrays of so many lanes: best elements, and their places.
    pub(super) fn arrays(
        &self,
        program: &mut Program<Cpu>,
        width: u64,
        span: SpanId,
        out: &mut Vec<Stmt<Cpu>>,
    ) -> [ValueId; 2] {
        let elem = program.elem(self.best);
        let worst = Own::worst(self.monoid, elem.repr());
        let first = Lit::Int(Scalar::Usize, 0);
        [(elem, worst), (Elem::USIZE, first)]
            .map(|(elem, fill)| array(program, elem, width, Some(fill), span, out))
    }

    /// The step of a lane, whose iteration has this index.
    pub(super) fn step(
        &self,
        program: &mut Program<Cpu>,
        [best, at]: [ValueId; 2],
        lane: ValueId,
        index: ValueId,
        span: SpanId,
        out: &mut Vec<Stmt<Cpu>>,
    ) {
        let cast = Prim::Cast(Scalar::Usize);
        let place = prim(program, cast, &[index], Elem::USIZE, span, out);
        let op = Own::ArgCombine {
            monoid: self.monoid,
            best,
            at,
            lane,
            value: self.value,
            place,
        };
        out.push(Stmt::new(Vec::new(), CpuOp::Own(op), span));
    }

    /// What comes of the lanes.
    pub(super) fn folded(&self, lanes: [ValueId; 2], span: SpanId) -> Stmt<Cpu> {
        let op = Own::ArgFold {
            monoid: self.monoid,
            best: self.best,
            at: self.at,
            lanes,
        };
        Stmt::new(Vec::new(), CpuOp::Own(op), span)
    }
}

/// Whether a statement reads one of these values, at any depth.
fn reads(stmt: &Stmt<Cpu>, values: &[ValueId]) -> bool {
    let reads_itself = stmt.op.operands().iter().any(|read| values.contains(read));
    let inside = |block: &&Block<Cpu>| block.stmts.iter().any(|stmt| reads(stmt, values));
    reads_itself || stmt.op.blocks().iter().any(inside)
}

/// What is done if an element is a number.
fn numbers(block: &Block<Cpu>, value: ValueId) -> Option<&Block<Cpu>> {
    let [asked, branch] = block.stmts.as_slice() else {
        return None;
    };
    match (&asked.op, &branch.op) {
        (
            CpuOp::Prim(Prim::Eq, args),
            CpuOp::If {
                cond,
                then,
                otherwise,
            },
        ) if args[..] == [value, value]
            && asked.results.first() == Some(cond)
            && otherwise.stmts.is_empty() =>
        {
            Some(then)
        }
        _ => None,
    }
}
