//! Loop versioning: a nest in a loop that adds to a table has a sequential version, which runs where
//! it would be one piece of work anyway.
//!
//! ```text
//! for rev %0: T {                               for rev %0: T {
//!   par %1: P (add %2 = %u) {                     %c = lt (P · 12) (max (2¹⁷) (4 · 8 · T))
//!     %3 = load col[%0, %1]                       if %c {
//!     combine add %2[%3], %4             ▶          for %1: P { %3 = load col[%0, %1] combine add %u[%3], %4 }
//!   }                                             } else {
//! }                                                 par %1: P (add %2 = %u) { … }
//!                                                 }
//!                                               }
//! ```
//!
//! Pieces add to private copies of a table, which are made, filled and merged. In each step of a loop
//! that takes as long for a few elements as for the table: the way back through a recurrence with
//! several lags, or through a sparse triangular system, took a time that is quadratic in its length.
//! One piece needs no copy.
//!
//! # Why it is sound
//!
//! Points are independent but for what they combine, and may run in order; no point reads the table.
//! Which version runs depends on sizes alone, so the bits are the same on any number of threads. They
//! are not those of a copy that is merged, as the table is what the sum begins with.

use std::collections::BTreeSet;

use smallvec::smallvec;

use super::tiling::Writer;
use crate::analysis::cost;
use crate::analysis::effects::length;
use crate::contract::cloning::Renamed;
use crate::contract::serialization::in_order;
use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{
    Block, Elem, Extent, Lit, Operation, Program, Scalar, SpanId, Stmt, Type, ValueId, ValueSet,
};
use crate::ops::Prim;
use crate::pass::Pass;

/// Less work than this is one piece, in additions: as the runtime cuts it,
const LITTLE: f64 = (1 << 17) as f64;

/// and more of it for each byte of the copies that a piece has.
const OF_A_BYTE: f64 = 4.0;

const FLOAT: Elem = Elem::Scalar(Scalar::F64);

/// The pass.
pub const SERIAL_VERSION: Pass<Kernels> = Pass {
    name: "serial_version",
    about: "run nests in loops that add to a table in order where they are one piece of work",
    run: serial_version,
};

/// Runs nests in loops that add to a table in order where they are one piece of work.
pub fn serial_version(program: Program<Kernels>) -> Program<Kernels> {
    program.rewritten(|program, body| block(program, body, None))
}

/// `made`: what has been made in the iteration of the loop around, if there is one.
fn block(program: &mut Program<Kernels>, block: &mut Block<Kernels>, made: Option<&ValueSet>) {
    let mut made = made.cloned();
    let mut out = Writer::default();
    for mut stmt in std::mem::take(&mut block.stmts) {
        match &mut stmt.op {
            KernelOp::Own(par) => {
                if let Some(made) = &made
                    && let Some(work) = Work::of(program, par)
                    && adds_to_what_stays(program, par, made)
                {
                    versions(program, &work, stmt, &mut out);
                    continue;
                }
            }
            KernelOp::For { body, .. } => self::block(program, body, Some(&ValueSet::new())),
            KernelOp::While { cond, body } => {
                self::block(program, cond, Some(&ValueSet::new()));
                self::block(program, body, Some(&ValueSet::new()));
            }
            op => {
                for inner in op.blocks_mut() {
                    self::block(program, inner, made.as_ref());
                }
            }
        }
        if let Some(made) = &mut made {
            made.extend(&stmt.results);
        }
        out.stmts.push(stmt);
    }
    block.stmts = out.stmts;
}

/// Whether a nest adds to a table that was there before the iteration, and reads none that it adds
/// to.
fn adds_to_what_stays(program: &Program<Kernels>, par: &Par, made: &ValueSet) -> bool {
    let read = par.body.free();
    let mut tables = par
        .accs
        .iter()
        .filter(|acc| program.ty(acc.target).rank() > 0);
    par.folds.is_empty()
        && par.accs.iter().all(|acc| !read.contains(&acc.target))
        && tables.any(|acc| !made.contains(&acc.target))
}

/// What a nest does, if that is known in front of it: so many additions for each product of lengths.
struct Work(Vec<(u64, Vec<Extent>)>);

impl Work {
    fn of(program: &Program<Kernels>, par: &Par) -> Option<Self> {
        let mut work = Self(Vec::new());
        let mut bound: BTreeSet<ValueId> = par.body.params.iter().copied().collect();
        work.block(program, &par.body, &par.extents, &mut bound)?;
        Some(work)
    }

    fn block(
        &mut self,
        program: &Program<Kernels>,
        block: &Block<Kernels>,
        around: &[Extent],
        bound: &mut BTreeSet<ValueId>,
    ) -> Option<()> {
        let mut each = 1;
        for stmt in &block.stmts {
            bound.extend(&stmt.results);
            match &stmt.op {
                KernelOp::For { extent, body, .. } => {
                    if length(*extent).is_some_and(|of| bound.contains(&of)) {
                        return None;
                    }
                    let around = [around, &[*extent]].concat();
                    bound.extend(&body.params);
                    self.block(program, body, &around, bound)?;
                }
                KernelOp::If {
                    then, otherwise, ..
                } => {
                    self.block(program, then, around, bound)?;
                    self.block(program, otherwise, around, bound)?;
                }
                // How long these take is not known, and arrays are made once for all points of a piece.
                KernelOp::While { .. }
                | KernelOp::Contract { .. }
                | KernelOp::Alloc { .. }
                | KernelOp::Copy(_)
                | KernelOp::Own(_) => return None,
                KernelOp::Prim(prim, args) => each += cost::prim(*prim, program.elem(args[0])),
                _ => each += 1,
            }
        }
        self.0.push((each, around.to_vec()));
        Some(())
    }
}

/// Both versions of a nest, and what chooses.
fn versions(program: &mut Program<Kernels>, work: &Work, stmt: Stmt<Kernels>, out: &mut Writer) {
    #[cfg(test)]
    crate::testing::entered::enter(&crate::testing::entered::SERIAL_VERSION);
    let span = stmt.span;
    let mut serial = Renamed::default().copy(program, &stmt);
    let KernelOp::Own(par) = &mut serial.op else {
        unreachable!("a nest")
    };
    // As floats, as products of lengths may be larger than any integer.
    let copied: Vec<(u64, Vec<Extent>)> = par
        .accs
        .iter()
        .map(|acc| {
            let ty = program.ty(acc.target);
            (ty.elem.repr().bytes(), ty.dims.clone())
        })
        .collect();
    let total = sum(program, &work.0, span, out);
    let copied = sum(program, &copied, span, out);
    let (least, of_a_byte) = limits();
    let of_a_byte = float(program, of_a_byte, span, out);
    let of_copies = of_floats(program, Prim::Mul, [copied, of_a_byte], span, out);
    let least = float(program, least, span, out);
    let least = of_floats(program, Prim::Max, [least, of_copies], span, out);
    let less = KernelOp::Prim(Prim::Lt, smallvec![total, least]);
    let cond = out.bind(program, less, Type::scalar(Elem::BOOL), span);
    serial.op = in_order(par, span);
    let block = |stmt| {
        Box::new(Block {
            stmts: vec![stmt],
            ..Block::default()
        })
    };
    let op = KernelOp::If {
        cond,
        then: block(serial),
        otherwise: block(stmt),
    };
    out.run(op, span);
}

/// How much work of all, and of each byte of copies, is not little.
fn limits() -> (f64, f64) {
    #[cfg(test)]
    if let Some(little) = crate::testing::entered::LITTLE.get() {
        return (f64::from(little), 0.0);
    }
    (LITTLE, OF_A_BYTE)
}

/// The sum of so many for each product of lengths.
fn sum(
    program: &mut Program<Kernels>,
    of: &[(u64, Vec<Extent>)],
    span: SpanId,
    out: &mut Writer,
) -> ValueId {
    let mut sum = None;
    for (each, extents) in of {
        let mut product = float(program, *each as f64, span, out);
        for &extent in extents {
            let length = out.size(program, extent, span);
            let cast = KernelOp::Prim(Prim::Cast(Scalar::F64), smallvec![length]);
            let length = out.bind(program, cast, Type::scalar(FLOAT), span);
            product = of_floats(program, Prim::Mul, [product, length], span, out);
        }
        sum = Some(match sum {
            None => product,
            Some(sum) => of_floats(program, Prim::Add, [sum, product], span, out),
        });
    }
    sum.expect("a nest does something, and copies something")
}

fn float(program: &mut Program<Kernels>, number: f64, span: SpanId, out: &mut Writer) -> ValueId {
    let op = KernelOp::Const(Lit::of(Scalar::F64, number));
    out.bind(program, op, Type::scalar(FLOAT), span)
}

fn of_floats(
    program: &mut Program<Kernels>,
    prim: Prim,
    args: [ValueId; 2],
    span: SpanId,
    out: &mut Writer,
) -> ValueId {
    let op = KernelOp::Prim(prim, args.into_iter().collect());
    out.bind(program, op, Type::scalar(FLOAT), span)
}
