//! Branches with a side that few iterations take and that is dear, in lanes.
//!
//! # The idea
//!
//! In lanes both sides of a branch are computed ([if-conversion](super::if_conversion)). Where one
//! of them is dear, it is first asked whether any lane wants it: `if d < near { exp(d) } else { 0 }`
//! of points that are mostly far apart. Compilers know this as a branch on a superword's condition.
//!
//! # Why it is sound
//!
//! All lanes are asked before any of them runs, so what is asked is nothing that the lanes change.
//! Where no lane takes a side, the branch is decided.
//!
//! # Before and after
//!
//! ```text
//! lanes %l: 16, %k: K of %f {         %w = var %false
//!   %1 = load d[%k]                   lanes %m: 16, %j: K of %f { %1 = load d[%j]  %2 = lt %1, %near  combine or %w[], %2 }
//!   %2 = lt %1, %near           ▶     %5 = get %w
//!   if %2 {                           if %5 {
//!     %3 = exp %1                       lanes %l: 16, %k: K of %f { … %3 = exp %1 … select … }
//!     combine add %p[%l], %3          } else {
//!   }                                   lanes %n: 16, %i: K of %f { … }
//! }                                   }
//! ```

use std::collections::BTreeMap;

use super::late::lanes;
use crate::analysis::cost;
use crate::contract::cloning::Renamed;
use crate::ir::stages::cpu::{Cpu, CpuOp};
use crate::ir::{
    Block, Elem, Extent, Lit, Monoid, Operation, Program, SpanId, Stmt, ValueId, ValueSet,
};
use crate::ops::Prim;
use crate::targets::cpu::split::{Facts, simplified};
use crate::targets::cpu::statements::{bind, prim, scalar};

/// Operations of what is dear: it takes longer than to fold lanes.
pub(super) const DEAR: u64 = 12;

/// A branch of which one side is dear.
pub(super) struct DearBranch {
    cond: ValueId,
    /// Which side.
    when: bool,
    /// The statements in front of it that its condition is computed by; none if all iterations
    /// decide alike.
    asked: Vec<usize>,
}

impl DearBranch {
    /// The first of a loop's body, which changes these places.
    pub(super) fn of(
        program: &Program<Cpu>,
        body: &Block<Cpu>,
        changed: &ValueSet,
    ) -> Option<Self> {
        let stmts = &body.stmts;
        let branch = |(at, stmt): (usize, &Stmt<Cpu>)| match &stmt.op {
            CpuOp::If {
                cond,
                then,
                otherwise,
            } => match (is_dear(program, then), is_dear(program, otherwise)) {
                (true, false) => Some((at, *cond, true)),
                (false, true) => Some((at, *cond, false)),
                (true, true) | (false, false) => None,
            },
            _ => None,
        };
        let (at, cond, when) = stmts.iter().enumerate().find_map(branch)?;
        let mut needed = ValueSet::from([cond]);
        let mut asked = Vec::new();
        for (number, stmt) in stmts[..at].iter().enumerate().rev() {
            if stmt.results.iter().any(|result| needed.contains(result)) {
                let may_be_asked = match &stmt.op {
                    CpuOp::Prim(prim, args) => cost::prim(*prim, program.elem(args[0])) < DEAR,
                    CpuOp::Load { buffer, .. } => !changed.contains(buffer),
                    CpuOp::Const(_) | CpuOp::Size(_) | CpuOp::Select(..) => true,
                    _ => false,
                };
                may_be_asked.then_some(())?;
                needed.extend(stmt.op.operands());
                asked.push(number);
            }
        }
        asked.reverse();
        Some(Self { cond, when, asked })
    }

    /// A loop's body where no iteration takes the dear side.
    pub(super) fn without(&self, body: &Block<Cpu>) -> Block<Cpu> {
        let decided = BTreeMap::from([(self.cond, !self.when)]);
        let facts = Facts {
            positions: ValueSet::new(),
            decided,
        };
        simplified(body, &facts)
    }

    /// Asks the lanes of a strip whether any of them takes the dear side. `body`: the loop's.
    pub(super) fn wanted(
        &self,
        program: &mut Program<Cpu>,
        body: &Block<Cpu>,
        (strip, width): (ValueId, u64),
        span: SpanId,
        out: &mut Vec<Stmt<Cpu>>,
    ) -> ValueId {
        if self.asked.is_empty() {
            return self.takes(program, span, out);
        }
        let no = bind(
            program,
            CpuOp::Const(Lit::Bool(false)),
            Elem::BOOL,
            span,
            out,
        );
        let wanted = bind(program, CpuOp::Var(no), Elem::BOOL, span, out);
        let asked = self.asked.iter().map(|&number| body.stmts[number].clone());
        let mut lane = Block {
            params: body.params.clone(),
            stmts: asked.collect(),
            results: Vec::new(),
        };
        let value = self.takes(program, span, &mut lane.stmts);
        let combine = CpuOp::Combine {
            monoid: Monoid::Or,
            place: wanted,
            indices: Vec::new(),
            value,
        };
        lane.stmts.push(Stmt::new(Vec::new(), combine, span));
        Renamed::default().block(program, &mut lane);
        let number = scalar(program, Elem::Index(Extent::Const(width)), span);
        lane.params.insert(0, number);
        out.push(lanes(strip, false, lane, span));
        bind(program, CpuOp::Get(wanted), Elem::BOOL, span, out)
    }

    /// Whether an iteration takes the dear side.
    fn takes(&self, program: &mut Program<Cpu>, span: SpanId, out: &mut Vec<Stmt<Cpu>>) -> ValueId {
        match self.when {
            true => self.cond,
            false => prim(program, Prim::Not, &[self.cond], Elem::BOOL, span, out),
        }
    }
}

/// Whether there is something dear in a block.
fn is_dear(program: &Program<Cpu>, block: &Block<Cpu>) -> bool {
    block.stmts.iter().any(|stmt| match &stmt.op {
        CpuOp::Prim(prim, args) => cost::prim(*prim, program.elem(args[0])) >= DEAR,
        op => (op.blocks().into_iter()).any(|inner| is_dear(program, inner)),
    })
}
