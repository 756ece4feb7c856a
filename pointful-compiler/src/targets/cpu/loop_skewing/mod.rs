//! Loop skewing: what two loops compute that wait for each other's last iterations is computed
//! diagonal by diagonal, the points of a diagonal together (a wavefront).
//!
//! ```text
//! for %i: N {                                for %d: N + K - 1 {
//!   for %j: K {                                par "diagonal" %p: points of %d {
//!     %1 = load t[%i - 1, %j]        ▶           %i = …, %j = %d - %i
//!     %2 = load t[%i, %j - 1]                    (the same)
//!     store t[%i, %j], exp %1 + ln %2          }
//!   }                                        }
//! }
//! ```
//!
//! Each cell of such a table waits for its neighbours, so neither loop has lanes: the functions of
//! a cell are computed one by one. Cells of a diagonal wait for none of each other. It is done
//! where a cell is dear enough and both loops are long.
//!
//! A variable that the outer loop makes for the inner one becomes an array with an element for each
//! iteration of the outer loop (scalar expansion). A row that each of its iterations makes of the
//! last one's is changed in place. What the outer loop does beside is done before, or after, in a
//! loop of its own (loop distribution).
//!
//! Branches and reads of the table itself would keep a diagonal's points from becoming vectors: what
//! they compute with functions is [distributed](mod@super::distribute) over kernels then.
//!
//! # Why it is sound
//!
//! Of two cells of which one changes what the other touches, the first stays first: what lies
//! between them, in iterations of the outer and of the inner loop, is known, and the sum of both,
//! which is how many diagonals lie between them, has the sign of the outer one, or of the inner one
//! where that is zero. A place of which only one of both indices is known to differ is touched by
//! all cells of a row, or of a column, at the same element, and they lie on different diagonals.
//! Nothing that fails is moved. What all cells combine into one number, also if each row
//! [hands it on](reductions) to the next, is combined row by row, and then of all rows.

mod dependence;
mod forwarding;
mod plan;
mod reductions;
mod rewrite;
#[cfg(test)]
mod tests;

use self::plan::Plan;
use super::distribute::worth;
use super::tiling::Writer;
use crate::analysis::accesses::Accesses;
use crate::analysis::effects::length;
use crate::analysis::numbers::Numbers;
use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{Block, Extent, Operation, Program, Stmt, ValueId, ValueSet};
use crate::pass::Pass;

/// How long both loops are at least: a diagonal is begun with, and the first and last are short.
const LEAST: u64 = 32;

/// The simple operations that must be worth computing together in a cell: an elementary function.
const WORTH: u32 = 20;

/// The pass.
pub const LOOP_SKEWING: Pass<Kernels> = Pass {
    name: "loop_skewing",
    about: "compute the points of a diagonal of two loops together",
    run: loop_skewing,
};

/// Computes the points of a diagonal of two loops together.
pub fn loop_skewing(program: Program<Kernels>) -> Program<Kernels> {
    loop_skewing_of(program, LEAST)
}

/// [`loop_skewing`] of loops that are so long at least.
pub fn loop_skewing_of(program: Program<Kernels>, least: u64) -> Program<Kernels> {
    program.rewritten(|program, body| {
        let numbers = Numbers::of(body);
        host(program, &numbers, least, body);
    })
}

/// Looks for such loops in what the host does.
fn host(program: &mut Program<Kernels>, numbers: &Numbers, least: u64, block: &mut Block<Kernels>) {
    let mut out = Writer::default();
    for mut stmt in std::mem::take(&mut block.stmts) {
        let recognized = reductions::recognized(program, &stmt);
        if let Some(nest) = Nest::of(program, recognized.as_ref().unwrap_or(&stmt))
            && nest.may_be_long(least)
            && let Some(plan) = Plan::of(program, numbers, nest)
        {
            #[cfg(test)]
            {
                use crate::testing::entered::{HANDED_ON, SKEWED, enter};
                enter(&SKEWED);
                (recognized.iter()).for_each(|_| enter(&HANDED_ON));
            }
            plan.carry_out(program, least, &stmt, &mut out);
            continue;
        }
        if !matches!(stmt.op, KernelOp::Own(Par { .. })) {
            for inner in stmt.op.blocks_mut() {
                host(program, numbers, least, inner);
            }
        }
        out.stmts.push(stmt);
    }
    block.stmts = out.stmts;
}

/// Statements of a program.
type Stmts<'s> = Vec<&'s Stmt<Kernels>>;

/// A loop around others over the same axis.
struct Nest<'s> {
    /// How many iterations, and whether from the last to the first: of the outer and of the inner.
    extents: [Extent; 2],
    reverse: [bool; 2],
    outer: ValueId,
    inner: Vec<ValueId>,
    /// What the outer loop does before the inner ones, and after the first of them.
    around: [Stmts<'s>; 2],
    cell: Stmts<'s>,
}

impl<'s> Nest<'s> {
    fn of(program: &Program<Kernels>, stmt: &'s Stmt<Kernels>) -> Option<Self> {
        let KernelOp::For {
            extent: outer,
            reverse,
            body,
        } = &stmt.op
        else {
            return None;
        };
        let mut around = [Vec::new(), Vec::new()];
        let mut loops = Vec::new();
        for stmt in &body.stmts {
            match &stmt.op {
                KernelOp::For {
                    extent,
                    reverse,
                    body,
                } => loops.push((*extent, Some(*reverse), &**body)),
                KernelOp::Own(par) if is_map(par) => loops.push((par.extents[0], None, &*par.body)),
                _ => around[usize::from(!loops.is_empty())].push(stmt),
            }
        }
        let is_dear = |(_, reverse, cell): &(Extent, Option<bool>, &Block<Kernels>)| {
            let worth = cell.stmts.iter().map(|stmt| all_worth(program, stmt));
            reverse.is_some() && worth.sum::<u32>() >= WORTH
        };
        let at = loops.iter().position(is_dear)?;
        let (over, Some(backwards), dear) = loops.remove(at) else {
            unreachable!("it has a direction")
        };
        // Others are run in the same iterations, first, if nothing of them shows to each other.
        let mut bodies = vec![dear];
        for (other, reversed, cell) in loops {
            let together = other == over && reversed.is_none_or(|reversed| reversed == backwards);
            let apart = |one: &Block<Kernels>| {
                let [one, other] =
                    [&one.stmts, &cell.stmts].map(|stmts| touched(&Accesses::of(stmts)));
                one[1].is_disjoint(&other[0]) && one[0].is_disjoint(&other[1])
            };
            if !together || !bodies.iter().all(|body| apart(body)) {
                return None;
            }
            bodies.push(cell);
        }
        bodies.reverse();
        let fixed = length(over).is_none_or(|length| {
            length != body.params[0] && !Accesses::of(&body.stmts).binds(&length)
        });
        fixed.then(|| Self {
            extents: [*outer, over],
            reverse: [*reverse, backwards],
            outer: body.params[0],
            inner: bodies.iter().map(|body| body.params[0]).collect(),
            around,
            cell: bodies.iter().flat_map(|body| &body.stmts).collect(),
        })
    }

    /// Unless one of its loops is known to be too short.
    fn may_be_long(&self, least: u64) -> bool {
        let is_short = |extent: &Extent| matches!(extent, Extent::Const(steps) if *steps < least);
        !self.extents.iter().any(is_short)
    }
}

/// Whether a kernel is a loop over one axis whose iterations share nothing.
fn is_map(par: &Par) -> bool {
    par.extents.len() == 1 && par.accs.is_empty() && par.folds.is_empty()
}

/// The places that statements find and leave: those that they touch, and of these what they change.
fn touched(accesses: &Accesses<'_>) -> [ValueSet; 2] {
    let all = accesses.outside().map(|access| access.place).collect();
    [all, accesses.changed()]
}

/// What statements cost that is cheaper in vectors, at any depth.
fn all_worth(program: &Program<Kernels>, stmt: &Stmt<Kernels>) -> u32 {
    let inner = stmt.op.blocks().into_iter().flat_map(|block| &block.stmts);
    worth(program, stmt) + inner.map(|stmt| all_worth(program, stmt)).sum::<u32>()
}
