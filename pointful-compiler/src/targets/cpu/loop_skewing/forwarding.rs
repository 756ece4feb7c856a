//! Store-to-load forwarding: what a variable of a cell holds is known wherever it is asked for, if it
//! is not set in a branch or a loop. Such a variable is gone, and need not stay in one kernel.

use std::collections::BTreeMap;

use smallvec::smallvec;

use crate::contract::cloning::Renamed;
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{Block, Operation, Program, Stmt, Type, ValueId, ValueSet};

/// The statements with values in place of variables.
pub(super) fn without_variables(
    program: &mut Program<Kernels>,
    stmts: &[Stmt<Kernels>],
) -> Vec<Stmt<Kernels>> {
    let mut inside = ValueSet::new();
    for stmt in stmts {
        for block in stmt.op.blocks() {
            mentioned(block, &mut inside);
        }
    }
    let mut holds: BTreeMap<ValueId, ValueId> = BTreeMap::new();
    let mut names = Renamed::default();
    let mut out = Vec::with_capacity(stmts.len());
    for old in stmts {
        let stmt = names.copy(program, old);
        match stmt.op {
            KernelOp::Var(value) if !inside.contains(&old.results[0]) => {
                holds.insert(stmt.results[0], value);
            }
            KernelOp::Get(place) if holds.contains_key(&place) => {
                names.insert(old.results[0], holds[&place]);
            }
            KernelOp::Set { place, value } if holds.contains_key(&place) => {
                holds.insert(place, value);
            }
            KernelOp::Combine {
                monoid,
                place,
                value,
                ..
            } if holds.contains_key(&place) => {
                let ty = Type::scalar(program.elem(value));
                let result = program.value(ty, stmt.span);
                let op = KernelOp::Prim(monoid.prim(), smallvec![holds[&place], value]);
                out.push(Stmt::new(vec![result], op, stmt.span));
                holds.insert(place, result);
            }
            _ => out.push(stmt),
        }
    }
    out
}

/// All that a block mentions.
fn mentioned(block: &Block<Kernels>, found: &mut ValueSet) {
    for stmt in &block.stmts {
        stmt.op.for_each_operand(&mut |value| {
            found.insert(*value);
        });
        for inner in stmt.op.blocks() {
            mentioned(inner, found);
        }
    }
}
