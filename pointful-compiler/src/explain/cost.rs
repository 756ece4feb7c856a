//! What a kernel costs: its operations, and the bytes of the tables that it reads and writes.

use std::collections::BTreeSet;

use super::formula::{Formula, Length, Lengths};
use crate::ir::stages::kernels::{Acc, Along, KernelOp, Kernels};
use crate::ir::{Block, Elem, Extent, Program, Scalar, ValueId};

/// Counts of something that runs at all points of some extents.
///
/// An operation is one of arithmetic, a comparison, a choice, or an elementary function, on numbers that are no indices. Of a branch both sides
/// count, of a `while` one round: then it says so. Tables count once, however often they are read; what a point has for itself does not.
pub(super) struct Cost<'p> {
    program: &'p Program<Kernels>,
    lengths: &'p Lengths<'p>,
    operations: Formula,
    tables: BTreeSet<ValueId>,
    own: BTreeSet<ValueId>,
    branches: bool,
    rounds: bool,
}

impl<'p> Cost<'p> {
    pub(super) fn of_kernel(
        program: &'p Program<Kernels>,
        lengths: &'p Lengths<'p>,
        extents: &[Extent],
        accs: &[Acc],
        body: &Block<Kernels>,
    ) -> Self {
        let mut cost = Self {
            program,
            lengths,
            operations: Formula::default(),
            tables: BTreeSet::new(),
            own: BTreeSet::new(),
            branches: false,
            rounds: false,
        };
        cost.tables.extend(accs.iter().map(|acc| acc.target));
        cost.own.extend(accs.iter().map(|acc| acc.private));
        let mut loops: Vec<Length> = extents.iter().map(|&extent| lengths.of(extent)).collect();
        cost.block(body, &mut loops);
        cost
    }

    /// A product of matrices: a multiplication and an addition for each element of all axes.
    pub(super) fn of_contraction(
        program: &'p Program<Kernels>,
        lengths: &'p Lengths<'p>,
        arrays: [ValueId; 3],
        along: &[Vec<Along>; 3],
    ) -> Self {
        let mut cost = Self::of_kernel(program, lengths, &[], &[], &Block::default());
        cost.contraction(arrays, along, &[]);
        cost
    }

    fn contraction(&mut self, arrays: [ValueId; 3], along: &[Vec<Along>; 3], loops: &[Length]) {
        let mut all = loops.to_vec();
        let mut seen = BTreeSet::new();
        for (array, along) in arrays.iter().zip(along) {
            for (along, &extent) in along.iter().zip(&self.program.ty(*array).dims) {
                if let Along::Axis(axis) = along
                    && seen.insert(*axis)
                {
                    all.push(self.lengths.of(extent));
                }
            }
        }
        self.operations.add(&Formula::product(2, &all));
        self.tables.extend(arrays);
    }

    fn block(&mut self, block: &Block<Kernels>, loops: &mut Vec<Length>) {
        let mut here = 0;
        for stmt in &block.stmts {
            match &stmt.op {
                KernelOp::Prim(..) | KernelOp::Select(..) => {
                    let elem = self.program.elem(stmt.results[0]);
                    let counts = matches!(elem, Elem::Index(_) | Elem::Scalar(Scalar::Usize));
                    here += u64::from(!counts);
                }
                KernelOp::Combine { place, indices, .. } => {
                    here += 1;
                    if !indices.is_empty() {
                        self.tables.insert(*place);
                    }
                }
                KernelOp::Load { buffer, .. } | KernelOp::Store { buffer, .. } => {
                    self.tables.insert(*buffer);
                }
                KernelOp::Alloc { .. } | KernelOp::Var(_) => self.own.extend(&stmt.results),
                KernelOp::Copy(source) => {
                    self.own.extend(&stmt.results);
                    self.tables.insert(*source);
                }
                KernelOp::Contract {
                    out,
                    factors: [left, right],
                    along,
                    ..
                } => self.contraction([*out, *left, *right], along, loops),
                KernelOp::For { extent, body, .. } => {
                    loops.push(self.lengths.of(*extent));
                    self.block(body, loops);
                    loops.pop();
                }
                KernelOp::While { cond, body } => {
                    self.rounds = true;
                    self.block(cond, loops);
                    self.block(body, loops);
                }
                KernelOp::If {
                    then, otherwise, ..
                } => {
                    self.branches = true;
                    self.block(then, loops);
                    self.block(otherwise, loops);
                }
                KernelOp::Const(_)
                | KernelOp::Size(_)
                | KernelOp::Get(_)
                | KernelOp::Set { .. }
                | KernelOp::Swap(..)
                | KernelOp::Par { .. }
                | KernelOp::Assert { .. } => {}
            }
        }
        self.operations.add(&Formula::product(here, loops));
    }
}

impl std::fmt::Display for Cost<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut bytes = Formula::default();
        for &table in self.tables.difference(&self.own) {
            let ty = self.program.ty(table);
            let lengths: Vec<Length> = ty.dims.iter().map(|&dim| self.lengths.of(dim)).collect();
            bytes.add(&Formula::product(ty.elem.repr().bytes(), &lengths));
        }
        let operations = self.operations.to_string();
        let most = match self.branches && !operations.starts_with("at most") {
            true => "at most ",
            false => "",
        };
        let rounds = if self.rounds {
            " and more for each further round"
        } else {
            ""
        };
        write!(f, "costs {most}{operations} operations{rounds}")?;
        if !bytes.is_zero() {
            write!(f, " on tables of {bytes} bytes")?;
        }
        Ok(())
    }
}
