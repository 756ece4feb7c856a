//! What a kernel's loop computes anew in each iteration, and is the same in all of them, moves in
//! front of it; what is computed twice is computed once.
//!
//! The compiler of the emitted code does so too, but not out of loops whose iterations it is to run
//! in lanes: there each iteration reads a strip of what does not change, and of two reads of a
//! place each keeps a strip.
//!
//! Only what cannot fail moves, because a loop may have no iteration; and what is read of buffers
//! that the whole kernel leaves alone, because others might not have been written yet. What is read
//! at an index that a branch has kept stays: it may be none of a set without members, where the loop
//! has no iteration either.
//!
//! ```text
//! for %1: N {                      %2 = load a[%0]
//!   %2 = load a[%0]                for %1: N {
//!   %3 = load b[%1]          ▶       %3 = load b[%1]
//!   %4 = mul %2, %3                  %4 = mul %2, %3
//!   combine add %s[], %4             combine add %s[], %4
//! }                                }
//! ```
//!
//! Of the host's loops and of kernels, a branch around all of the body that goes the same way in
//! all iterations moves too: nothing is run where nothing happens.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::analysis::accesses::changes;
use crate::analysis::effects::{for_each_length, is_pure, lengths};
use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{Block, Elem, Extent, Lit, Operation, Program, Stmt, ValueId, ValueSet};
use crate::ops::Prim;
use crate::pass::Pass;

/// The pass.
pub const LOOP_INVARIANTS: Pass<Kernels> = Pass {
    name: "loop_invariants",
    about: "move what is the same in all iterations of a kernel's loop in front of it",
    run: loop_invariants,
};

/// Moves what is the same in all iterations of a kernel's loop in front of it.
pub fn loop_invariants(program: Program<Kernels>) -> Program<Kernels> {
    let lengths = lengths(&program);
    let mut kept = Kept {
        program: &program,
        given: program.params.iter().map(|param| param.value).collect(),
        variables: ValueSet::new(),
        indices: ValueSet::new(),
    };
    kept.block(&program.body);
    let kept = kept.indices;
    let known = Known { lengths, kept };
    program.rewritten(|program, body| host(program, &known, body))
}

/// What is known of the values of a program.
struct Known {
    /// Those that are lengths.
    lengths: ValueSet,
    /// Indices that something may have been kept for where there are none.
    kept: ValueSet,
}

/// Finds indices that are read of what the program keeps itself, in variables or buffers, of sets
/// that may have no members.
struct Kept<'p> {
    program: &'p Program<Kernels>,
    /// The buffers that the caller has filled.
    given: ValueSet,
    /// What is read of variables.
    variables: ValueSet,
    indices: ValueSet,
}

impl Kept<'_> {
    fn block(&mut self, block: &Block<Kernels>) {
        for stmt in &block.stmts {
            let is_kept = match &stmt.op {
                KernelOp::Get(_) => {
                    self.variables.extend(&stmt.results);
                    false
                }
                KernelOp::Load { buffer, .. } => !self.given.contains(buffer),
                KernelOp::Prim(Prim::Trust(_), args) => self.variables.contains(&args[0]),
                _ => false,
            };
            let may_be_none = |value: &ValueId| match self.program.elem(*value) {
                Elem::Index(extent) => !matches!(extent, Extent::Const(1..)),
                Elem::Scalar(_) | Elem::Bound(_) => false,
            };
            if is_kept && stmt.results.iter().any(may_be_none) {
                self.indices.extend(&stmt.results);
            }
            for inner in stmt.op.blocks() {
                self.block(inner);
            }
        }
    }
}

fn host(program: &Program<Kernels>, known: &Known, block: &mut Block<Kernels>) {
    for stmt in &mut block.stmts {
        branch_first(stmt);
        if let KernelOp::Own(Par { body, .. }) = &mut stmt.op {
            let mut own = ValueSet::new();
            changes(&body.stmts, &mut own);
            let mut kernel = Kernel {
                program,
                own,
                known,
                constants: BTreeMap::new(),
            };
            kernel.block(body);
            let mut once = Once {
                kernel: &kernel,
                known: FxHashMap::default(),
                open: Vec::new(),
                names: FxHashMap::default(),
            };
            once.block(body);
            continue;
        }
        for inner in stmt.op.blocks_mut() {
            host(program, known, inner);
        }
    }
}

/// Asks once, around a loop, what all of its iterations ask, if that is all that they do. What is
/// in loops inside of it comes first.
fn branch_first(stmt: &mut Stmt<Kernels>) {
    let body = match &mut stmt.op {
        KernelOp::For { body, .. } => body,
        KernelOp::Own(Par {
            accs, folds, body, ..
        }) if accs.is_empty() && folds.is_empty() => body,
        _ => return,
    };
    if let [inner] = body.stmts.as_mut_slice() {
        branch_first(inner);
    }
    let [
        Stmt {
            op:
                KernelOp::If {
                    cond,
                    then,
                    otherwise,
                },
            ..
        },
    ] = body.stmts.as_mut_slice()
    else {
        return;
    };
    if body.params.contains(cond) || !otherwise.stmts.is_empty() {
        return;
    }
    let cond = *cond;
    body.stmts = std::mem::take(&mut then.stmts);
    let around = KernelOp::If {
        cond,
        then: Box::new(Block::default()),
        otherwise: Box::new(Block::default()),
    };
    let op = std::mem::replace(&mut stmt.op, around);
    if let KernelOp::If { then, .. } = &mut stmt.op {
        then.stmts.push(Stmt::new(Vec::new(), op, stmt.span));
    }
}

struct Kernel<'p> {
    program: &'p Program<Kernels>,
    /// Buffers that the kernel changes or makes.
    own: ValueSet,
    known: &'p Known,
    /// Whole numbers that are known.
    constants: BTreeMap<ValueId, u64>,
}

impl Kernel<'_> {
    fn block(&mut self, block: &mut Block<Kernels>) {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            match &stmt.op {
                KernelOp::Const(Lit::Int(_, number)) => {
                    let number = u64::try_from(*number).ok();
                    self.constants.extend(number.map(|n| (stmt.results[0], n)));
                }
                KernelOp::Alloc { .. } | KernelOp::Copy(_) => self.own.extend(&stmt.results),
                _ => {}
            }
            for inner in stmt.op.blocks_mut() {
                self.block(inner);
            }
            if let KernelOp::For { body, .. } = &mut stmt.op {
                stmts.extend(self.leave(body));
            }
            stmts.push(stmt);
        }
        block.stmts = stmts;
    }

    /// Takes what is the same in all iterations out of a loop's body.
    fn leave(&self, body: &mut Block<Kernels>) -> Vec<Stmt<Kernels>> {
        let mut bound: ValueSet = body.params.iter().copied().collect();
        let (mut outside, mut inside) = (Vec::new(), Vec::new());
        for stmt in std::mem::take(&mut body.stmts) {
            let mut varies = stmt.op.reads_any(|value| bound.contains(&value));
            for_each_length(self.program, &stmt, &mut |length| {
                varies |= bound.contains(&length);
            });
            if !varies && self.may_move(&stmt) {
                outside.push(stmt);
            } else {
                bound.extend(&stmt.results);
                inside.push(stmt);
            }
        }
        body.stmts = inside;
        outside
    }

    /// Whether a statement gives the same whenever it is run.
    fn is_fixed(&self, stmt: &Stmt<Kernels>) -> bool {
        match &stmt.op {
            KernelOp::Load { buffer, .. } => !self.own.contains(buffer),
            _ => is_pure(self.program, stmt),
        }
    }

    /// Whether a statement may be run where nobody may have asked for it: what trusts a number must
    /// not be, unless that is known to be right.
    fn may_move(&self, stmt: &Stmt<Kernels>) -> bool {
        let right = match &stmt.op {
            KernelOp::Prim(Prim::Trust(extent), args) => {
                match (extent, self.constants.get(&args[0])) {
                    (Extent::Const(length), Some(number)) => number < length,
                    _ => false,
                }
            }
            KernelOp::Load { indices, .. } => {
                let is_kept = indices.iter().any(|index| self.known.kept.contains(index));
                #[cfg(test)]
                if is_kept {
                    crate::testing::entered::enter(&crate::testing::entered::KEPT);
                }
                !is_kept
            }
            _ => true,
        };
        right && self.is_fixed(stmt)
    }
}

/// Gives what is computed again the name that it has already.
struct Once<'k, 'p> {
    kernel: &'k Kernel<'p>,
    /// What has been computed, and the number of the block that has done so. Never iterated over.
    known: FxHashMap<KernelOp, (ValueId, usize)>,
    /// Of each block so far, whether the walk is in it: what others have computed counts no more.
    open: Vec<bool>,
    names: FxHashMap<ValueId, ValueId>,
}

impl Once<'_, '_> {
    fn block(&mut self, block: &mut Block<Kernels>) {
        let number = self.open.len();
        self.open.push(true);
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            if !self.names.is_empty() {
                stmt.op.for_each_operand_mut(&mut |value| {
                    *value = self.names.get(value).copied().unwrap_or(*value);
                });
            }
            for inner in stmt.op.blocks_mut() {
                self.block(inner);
            }
            // What is the length of something keeps its own name, which types have.
            if let &[result] = stmt.results.as_slice()
                && !self.kernel.known.lengths.contains(&result)
                && self.kernel.is_fixed(&stmt)
            {
                let program = self.kernel.program;
                let there = |(value, block): &&(ValueId, usize)| {
                    self.open[*block] && program.ty(*value) == program.ty(result)
                };
                if let Some(&(value, _)) = self.known.get(&stmt.op).filter(there) {
                    self.names.insert(result, value);
                    continue;
                }
                self.known.insert(stmt.op.clone(), (result, number));
            }
            stmts.push(stmt);
        }
        for value in &mut block.results {
            *value = self.names.get(value).copied().unwrap_or(*value);
        }
        block.stmts = stmts;
        self.open[number] = false;
    }
}
