//! Whether a derivative can be taken forwards: it cannot where it meets a function of which its
//! author says how it goes backwards, and nothing else.
//!
//! Of a function that is met inside of a derivative that one leaves what its rule computes. So a
//! Hessian is taken forwards over gradients, unless such a rule meets another such function. (What
//! else a gradient makes of the function's value changes as its rule says: of that, being linear in
//! the cotangent, the transpose is known.)

use std::collections::BTreeMap;

use super::transform::Inside;
use super::value::{Transformed, Val};
use super::{Elab, Run};
use crate::diag::transform as say;
use crate::differentiate::is_flat;
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Mode, Operation, Program, SpanId, Stmt, ValueId, ValueSet};

impl<'a> Elab<'a> {
    /// The name of a function that keeps a derivative from being taken forwards.
    pub(super) fn only_backwards(
        &mut self,
        f: &Transformed<'a>,
        args: &[Val<'a>],
        span: SpanId,
    ) -> Run<Option<String>> {
        if !self.may_meet() {
            return Ok(None);
        }
        let Inside { args, params, .. } = self.inside(args, &f.code.wrt, span)?;
        self.begin(&params);
        self.derivatives += 1;
        let result = self.apply(&f.of, args, span)?;
        self.derivatives -= 1;
        let leaves = self.leaves(&result, span)?;
        let body = self.end(leaves, say::shape_inside, span)?;
        Ok(self.met(&body))
    }

    fn may_meet(&self) -> bool {
        let mut rules = self.functions.iter().filter_map(|f| f.rule.as_ref());
        rules.any(|rule| rule.mode == Mode::Cotangent)
    }

    /// The function with only a way back that a body meets whose parameters have tangents.
    pub(super) fn met(&self, body: &Block<Point>) -> Option<String> {
        if !self.may_meet() {
            return None;
        }
        let mut walk = Walk {
            program: &self.program,
            ruled: &self.ruled,
            active: body.params.iter().copied().collect(),
        };
        walk.block(body, 0)
    }
}

struct Walk<'e> {
    program: &'e Program<Point>,
    /// Functions with rules, by their first results.
    ruled: &'e BTreeMap<ValueId, String>,
    /// What has a tangent.
    active: ValueSet,
}

impl Walk<'_> {
    /// Looks through a block in which so many derivatives are taken first.
    fn block(&mut self, block: &Block<Point>, taken: usize) -> Option<String> {
        block.stmts.iter().find_map(|stmt| self.stmt(stmt, taken))
    }

    fn is_active(&self, value: &ValueId) -> bool {
        self.active.contains(value)
    }

    /// Parameters have tangents if what they stand for has.
    fn bind(&mut self, params: &[ValueId], values: &[ValueId]) {
        for (&param, value) in params.iter().zip(values) {
            if self.is_active(value) {
                self.active.insert(param);
            }
        }
    }

    fn all(&mut self, values: &[ValueId]) {
        self.active.extend(self.program.floats(values));
    }

    fn stmt(&mut self, stmt: &Stmt<Point>, taken: usize) -> Option<String> {
        let blocks = stmt.op.blocks();
        let free = blocks.iter().flat_map(|block| block.free());
        let mut read = stmt.op.operands().into_iter().chain(free);
        if !read.any(|value| self.is_active(&value)) {
            return None;
        }
        let met = match &stmt.op {
            PointOp::Prim(prim, _) if is_flat(*prim) => return None,
            PointOp::Accumulate { acc, .. } => {
                self.all(&[*acc]);
                None
            }
            PointOp::Rule {
                mode, args, rule, ..
            } => self.rule(stmt.results[0], *mode, args, rule, taken),
            PointOp::Derive { args, body, .. } => {
                self.bind(&body.params, args);
                self.block(body, taken + 1)
            }
            PointOp::Loop { init, body, .. } => self.repeated(init, &body.params[1..], body, taken),
            PointOp::While { init, body, .. } => self.repeated(init, &body.params, body, taken),
            PointOp::Fold { op, .. } | PointOp::Scan { op, .. } => {
                self.all(&op.params);
                self.block(op, taken)
            }
            op => (op.blocks().into_iter()).find_map(|block| self.block(block, taken)),
        };
        self.all(&stmt.results);
        met
    }

    /// A body that is run again with what it gives.
    fn repeated(
        &mut self,
        init: &[ValueId],
        states: &[ValueId],
        body: &Block<Point>,
        taken: usize,
    ) -> Option<String> {
        self.bind(states, init);
        loop {
            let before = self.active.len();
            let met = self.block(body, taken);
            self.bind(states, &body.results);
            if met.is_some() || self.active.len() == before {
                return met;
            }
        }
    }

    fn rule(
        &mut self,
        result: ValueId,
        mode: Mode,
        args: &[ValueId],
        rule: &Block<Point>,
        taken: usize,
    ) -> Option<String> {
        let (own, seeds) = rule.params.split_at(args.len());
        let Some(left) = taken.checked_sub(1) else {
            if !args.iter().any(|arg| self.is_active(arg)) {
                return None;
            }
            if mode == Mode::Cotangent {
                return self.ruled.get(&result).cloned();
            }
            self.all(seeds);
            return self.block(rule, taken);
        };
        self.bind(own, args);
        self.all(seeds);
        self.block(rule, left)
    }
}
