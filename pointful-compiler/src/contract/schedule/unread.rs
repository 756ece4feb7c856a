//! Variables that nobody reads but to change them.
//!
//! ```text
//! %a = var 1.0  %b = var 0.0                          %b = var 0.0
//! for rev %i: N {                                     for rev %i: N {
//!   %p = get %a  %q = mul %p, x[%i]  set %a, %q   ▶     %r = get %b  %s = add %r, x[%i]  set %b, %s
//!   %r = get %b  %s = add %r, x[%i]  set %b, %s       }
//! }
//! ```
//!
//! An operator that combines several things in any order, as the adjoint of a scan does, needs all
//! of them; run in order, it may need fewer.

use crate::analysis::effects::{for_each_length, is_pure};
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{Block, Operation, Program, Stmt, ValueSet};

/// Takes them away, and what only they were computed from.
pub(super) fn unread(program: &mut Program<Kernels>) {
    let mut vars = ValueSet::new();
    find(&program.body, &mut vars);
    if vars.is_empty() {
        return;
    }
    let mut body = std::mem::take(&mut program.body);
    let mut needs = Needs {
        needed: ValueSet::new(),
        program,
        vars,
    };
    // An iteration reads what the one before has set.
    loop {
        let before = needs.needed.len();
        needs.block(&body);
        if needs.needed.len() == before {
            break;
        }
    }
    needs.retain(&mut body);
    program.body = body;
}

fn find(block: &Block<Kernels>, vars: &mut ValueSet) {
    for stmt in &block.stmts {
        if matches!(stmt.op, KernelOp::Var(_)) {
            vars.extend(&stmt.results);
        }
        for inner in stmt.op.blocks() {
            find(inner, vars);
        }
    }
}

struct Needs<'p> {
    program: &'p Program<Kernels>,
    vars: ValueSet,
    needed: ValueSet,
}

impl Needs<'_> {
    /// Whether a statement does anything that is needed, as far as is known.
    fn is_needed(&self, stmt: &Stmt<Kernels>) -> bool {
        let result = || stmt.results.iter().any(|value| self.needed.contains(value));
        match &stmt.op {
            KernelOp::Set { place, .. } | KernelOp::Combine { place, .. } => {
                !self.vars.contains(place) || self.needed.contains(place)
            }
            KernelOp::Var(_) | KernelOp::Get(_) => result(),
            _ => !is_pure(self.program, stmt) || result(),
        }
    }

    fn block(&mut self, block: &Block<Kernels>) {
        self.needed.extend(&block.results);
        for stmt in block.stmts.iter().rev() {
            if !self.is_needed(stmt) {
                continue;
            }
            let needed = &mut self.needed;
            stmt.op.for_each_operand(&mut |value| {
                needed.insert(*value);
            });
            for_each_length(self.program, stmt, &mut |length| {
                needed.insert(length);
            });
            for inner in stmt.op.blocks() {
                self.block(inner);
            }
        }
    }

    fn retain(&self, block: &mut Block<Kernels>) {
        block.stmts.retain(|stmt| self.is_needed(stmt));
        for stmt in &mut block.stmts {
            for inner in stmt.op.blocks_mut() {
                self.retain(inner);
            }
        }
    }
}
