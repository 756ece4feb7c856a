//! Kernels of a few points in sequential loops are loops.
//!
//! ```text
//! for %0: 50 {                          for %0: 50 {
//!   par "step" %1: 2 {                    for %1: 2 {
//!     %2 = load n[%1]                       %2 = load n[%1]
//!     …                            ▶        …
//!     store m[%1], %3                       store m[%1], %3
//!   }                                     }
//! }                                     }
//! ```
//!
//! Nothing of them runs in parallel, and [`scalar_replacement`](mod@super::scalar_replacement) keeps in
//! variables what loops hand to each other.
//!
//! # Why it is sound
//!
//! The points of a kernel are independent, so that they may run in order. What they combine is
//! combined in that order, into a place that holds the identity.

use std::collections::BTreeMap;

use super::cloning::Renamed;
use super::schedule::price;
use crate::analysis::numbers::Numbers;
use crate::ir::stages::kernels::{Acc, Fold, KernelOp, Kernels, Par};
use crate::ir::{Block, Extent, Lit, Operation, Program, Scalar, SpanId, Stmt, ValueId};
use crate::ops::Prim;
use crate::pass::Pass;

/// The most points, and the most additions that they do together.
const POINTS: u64 = 64;
const WORK: u64 = 1024;

/// The longest axis: longer ones are cut where they end, and are vectors.
const LONGEST: u64 = 8;

/// The most points of those that compute elementary functions, which are vectors if there are more.
const FEW: u64 = 4;

/// What an elementary function is, in additions, at least.
const DEAR: u32 = 10;

/// The pass.
pub const SERIALIZATION: Pass<Kernels> = Pass {
    name: "serialization",
    about: "run kernels of a few points in sequential loops as loops",
    run: serialization,
};

/// Runs kernels of a few points in sequential loops as loops.
pub fn serialization(program: Program<Kernels>) -> Program<Kernels> {
    program.rewritten(|program, body| {
        let numbers = Numbers::of(body);
        Walk::new(program, &numbers, false).block(body, false);
    })
}

/// Runs the kernels of a loop as loops, and says how many they were, if all of them combine into
/// nothing but what holds the identity.
pub(crate) fn in_order_throughout(
    program: &Program<Kernels>,
    numbers: &Numbers,
    stmt: &mut Stmt<Kernels>,
) -> Option<usize> {
    let mut walk = Walk::new(program, numbers, true);
    for inner in stmt.op.blocks_mut() {
        walk.block(inner, true);
    }
    (!walk.leaves).then_some(walk.changed)
}

struct Walk<'p> {
    program: &'p Program<Kernels>,
    numbers: &'p Numbers,
    /// Whether it is all kernels, and not those that are not worth being some.
    all: bool,
    changed: usize,
    /// Whether there is one that stays.
    leaves: bool,
}

impl<'p> Walk<'p> {
    fn new(program: &'p Program<Kernels>, numbers: &'p Numbers, all: bool) -> Self {
        Self {
            program,
            numbers,
            all,
            changed: 0,
            leaves: false,
        }
    }

    fn block(&mut self, block: &mut Block<Kernels>, in_loop: bool) {
        // What nothing has been combined into since it was made, and what it holds.
        let mut fresh = BTreeMap::new();
        for stmt in &mut block.stmts {
            match &mut stmt.op {
                KernelOp::Own(par)
                    if in_loop && self.begins(par, &fresh) && (self.all || self.is_little(par)) =>
                {
                    #[cfg(test)]
                    if !self.all {
                        entered(par);
                    }
                    stmt.op = in_order(par, stmt.span);
                    self.changed += 1;
                }
                KernelOp::Own(_) => self.leaves = true,
                op => {
                    let repeats = matches!(op, KernelOp::For { .. } | KernelOp::While { .. });
                    for inner in op.blocks_mut() {
                        self.block(inner, in_loop || repeats);
                    }
                }
            }
            stmt.op.for_each_operand(&mut |value| {
                fresh.remove(value);
            });
            for value in stmt.op.blocks().into_iter().flat_map(Block::free) {
                fresh.remove(&value);
            }
            let held = match &stmt.op {
                KernelOp::Alloc { fill } => *fill,
                KernelOp::Var(value) => self.numbers.literal(*value),
                _ => None,
            };
            fresh.extend(stmt.results.first().copied().zip(held));
        }
    }

    /// Whether a kernel combines into nothing but what holds the identity and is not read: sums
    /// begin with what they are added to then. What is folded begins as its pieces do.
    fn begins(&self, par: &Par, fresh: &BTreeMap<ValueId, Lit>) -> bool {
        let read = par.body.free();
        let begins = |acc: &Acc| {
            let identity = acc.monoid.identity(self.program.elem(acc.target).repr());
            fresh.get(&acc.target) == Some(&identity) && !read.contains(&acc.target)
        };
        let folds = |fold: &Fold| {
            let mut held = fold.targets.iter().zip(&fold.first);
            held.all(|(target, first)| fresh.get(target) == Some(first) && !read.contains(target))
        };
        par.accs.iter().all(begins) && par.folds.iter().all(folds)
    }

    /// Whether a kernel has few points and does little.
    fn is_little(&self, par: &Par) -> bool {
        let lengths = longest(&par.extents, &par.body);
        let points = around(&lengths, Some(1));
        let work = around(&lengths, work(self.program, &par.body));
        let fits = |(points, work): (u64, u64)| {
            let few = points <= FEW || !is_dear(self.program, &par.body);
            (1..=POINTS).contains(&points) && work <= WORK && few
        };
        let short = |length: &Option<u64>| length.is_some_and(|length| length <= LONGEST);
        lengths.iter().all(short) && points.zip(work).is_some_and(fits)
    }
}

#[cfg(test)]
fn entered(par: &Par) {
    use crate::testing::entered::{LENGTHS_BOUNDED, SEARCHED, SERIALIZED, enter};
    enter(&SERIALIZED);
    if !par.folds.is_empty() {
        enter(&SEARCHED);
    }
    if par
        .extents
        .iter()
        .any(|extent| matches!(extent, Extent::Value(_)))
    {
        enter(&LENGTHS_BOUNDED);
    }
}

/// Whether there are elementary functions in a block, which vectors are worth more for.
fn is_dear(program: &Program<Kernels>, block: &Block<Kernels>) -> bool {
    block.stmts.iter().any(|stmt| {
        let own = match &stmt.op {
            KernelOp::Prim(prim, args) => price(*prim, program.elem(args[0])) >= DEAR,
            _ => false,
        };
        own || (stmt.op.blocks().into_iter()).any(|inner| is_dear(program, inner))
    })
}

/// So much for each point of a nest, if its lengths are known.
fn around(lengths: &[Option<u64>], each: Option<u64>) -> Option<u64> {
    (lengths.iter()).try_fold(each?, |all, length| all.checked_mul((*length)?))
}

/// How long the axes of a nest with this body are at most, if that is known: those of computed
/// length by the sets that their indices are members of.
pub(crate) fn longest(extents: &[Extent], body: &Block<Kernels>) -> Vec<Option<u64>> {
    // The index that a number is at least as large as, and the least set that it is a member of.
    let mut of: BTreeMap<ValueId, usize> = body.params.iter().copied().zip(0..).collect();
    let mut least = vec![None; extents.len()];
    for stmt in &body.stmts {
        let KernelOp::Prim(prim, args) = &stmt.op else {
            continue;
        };
        let mut axes = args.iter().filter_map(|arg| of.get(arg));
        let (Some(&axis), None) = (axes.next(), axes.next()) else {
            continue;
        };
        match prim {
            Prim::Trust(Extent::Const(n)) | Prim::Check(Extent::Const(n)) => {
                least[axis] = Some(least[axis].map_or(*n, |least: u64| least.min(*n)));
            }
            Prim::Cast(Scalar::Usize) | Prim::Add => {}
            _ => continue,
        }
        of.insert(stmt.results[0], axis);
    }
    let known = |(extent, least): (&Extent, Option<u64>)| match extent {
        Extent::Const(length) => Some(*length),
        Extent::Size(_) => None,
        Extent::Value(_) => least,
    };
    extents.iter().zip(least).map(known).collect()
}

/// What a block does, in additions, if the lengths of its loops are known.
fn work(program: &Program<Kernels>, block: &Block<Kernels>) -> Option<u64> {
    block.stmts.iter().try_fold(0_u64, |sum, stmt| {
        let own = match &stmt.op {
            KernelOp::Prim(prim, args) => Some(u64::from(price(*prim, program.elem(args[0])))),
            KernelOp::For { extent, body, .. } => {
                around(&longest(&[*extent], body), work(program, body))
            }
            KernelOp::While { .. } | KernelOp::Contract { .. } | KernelOp::Own(_) => None,
            op => (op.blocks().into_iter())
                .try_fold(1_u64, |sum, inner| sum.checked_add(work(program, inner)?)),
        };
        sum.checked_add(own?)
    })
}

/// The points of a kernel, one after the other.
pub(crate) fn in_order(par: &mut Par, span: SpanId) -> KernelOp {
    let mut body = std::mem::take(&mut *par.body);
    let mut names = Renamed::default();
    for acc in &par.accs {
        names.insert(acc.private, acc.target);
    }
    for fold in &par.folds {
        for (&private, &target) in fold.privates.iter().zip(&fold.targets) {
            names.insert(private, target);
        }
    }
    rename(&mut body, &names);
    let mut inner = Block {
        params: Vec::new(),
        ..body
    };
    let mut axes = body.params.iter().zip(&par.extents).rev().peekable();
    loop {
        let Some((&index, &extent)) = axes.next() else {
            unreachable!("a kernel has an axis");
        };
        inner.params = vec![index];
        let one = KernelOp::For {
            extent,
            reverse: false,
            body: Box::new(inner),
        };
        if axes.peek().is_none() {
            return one;
        }
        inner = Block {
            params: Vec::new(),
            stmts: vec![Stmt::new(Vec::new(), one, span)],
            results: Vec::new(),
        };
    }
}

fn rename(block: &mut Block<Kernels>, names: &Renamed) {
    for stmt in &mut block.stmts {
        names.read(stmt);
        for inner in stmt.op.blocks_mut() {
            rename(inner, names);
        }
    }
}
