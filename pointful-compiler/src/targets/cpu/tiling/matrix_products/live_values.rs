//! What is kept of the points of a tile, because more than one part of a point uses it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Piece, Product};
use crate::analysis::effects::for_each_length;
use crate::ir::stages::kernels::{KernelOp, Kernels, Par, PlaceKind};
use crate::ir::{Elem, Extent, Operation, Program, Stmt, ValueId, ValueSet};

/// By what is kept: what it is, and the part of a point that binds it; what products leave no part
/// does.
pub(super) type Kept = BTreeMap<ValueId, (PlaceKind, Option<usize>)>;

/// What parts of points, and products, read.
#[derive(Default)]
pub(super) struct Uses {
    /// By value that a part binds for the rest of the point: the part, and how.
    home: BTreeMap<ValueId, (usize, PlaceKind)>,
    /// What is read, and by which part; products are none.
    reads: BTreeSet<(Option<usize>, ValueId)>,
    /// What only its own part may read: it is an extent, or used as a whole.
    fixed: ValueSet,
    /// What products leave.
    sums: Vec<ValueId>,
}

impl Uses {
    pub(super) fn pieces(
        &mut self,
        program: &Program<Kernels>,
        products: &[Product],
        pieces: &[Piece],
    ) {
        for piece in pieces {
            match piece {
                Piece::Same(_) => {}
                Piece::Loop(_, inner) => self.pieces(program, products, inner),
                Piece::Product(number) => {
                    let product = &products[*number];
                    self.sums.push(product.sums);
                    let stmts = product.stmts().into_iter();
                    stmts.for_each(|stmt| self.stmt(program, None, stmt));
                }
                Piece::Points(part, stmts) => {
                    for stmt in stmts {
                        let kind = match &stmt.op {
                            KernelOp::Var(_) => PlaceKind::Var,
                            KernelOp::Alloc { .. } | KernelOp::Copy(_) => PlaceKind::Buffer,
                            _ => PlaceKind::Scalar,
                        };
                        let homes = stmt.results.iter().map(|&value| (value, (*part, kind)));
                        self.home.extend(homes);
                        self.stmt(program, Some(*part), stmt);
                    }
                }
            }
        }
    }

    fn stmt(&mut self, program: &Program<Kernels>, part: Option<usize>, stmt: &Stmt<Kernels>) {
        let operands = stmt.op.operands();
        match &stmt.op {
            // Of copies and what is exchanged or multiplied as a whole there would have to be one for each point.
            KernelOp::Copy(_) => self.fixed.extend(operands.iter().chain(&stmt.results)),
            KernelOp::Swap(..) | KernelOp::Contract { .. } => self.fixed.extend(&operands),
            KernelOp::Const(_)
            | KernelOp::Size(_)
            | KernelOp::Prim(..)
            | KernelOp::Select(..)
            | KernelOp::Alloc { .. }
            | KernelOp::Load { .. }
            | KernelOp::Store { .. }
            | KernelOp::Combine { .. }
            | KernelOp::Var(_)
            | KernelOp::Get(_)
            | KernelOp::Set { .. }
            | KernelOp::For { .. }
            | KernelOp::Own(Par { .. })
            | KernelOp::Assert { .. }
            | KernelOp::While { .. }
            | KernelOp::If { .. } => {}
        }
        self.reads
            .extend(operands.into_iter().map(|value| (part, value)));
        for_each_length(program, stmt, &mut |value| {
            self.fixed.insert(value);
            self.reads.insert((part, value));
        });
        for inner in stmt.op.blocks() {
            for stmt in &inner.stmts {
                self.stmt(program, part, stmt);
            }
            self.reads
                .extend(inner.results.iter().map(|&value| (part, value)));
        }
    }

    /// What is kept for a tile, unless something of it cannot be.
    pub(super) fn kept(&self, program: &Program<Kernels>) -> Option<Kept> {
        let sums = self
            .sums
            .iter()
            .map(|&sums| (sums, (PlaceKind::Buffer, None)));
        let mut kept: Kept = sums.collect();
        for (part, value) in &self.reads {
            let Some(&(home, kind)) = self.home.get(value) else {
                continue;
            };
            if *part == Some(home) {
                continue;
            }
            let uneven = match program.elem(*value) {
                Elem::Index(Extent::Value(extent)) => self.home.contains_key(&extent),
                Elem::Index(_) | Elem::Scalar(_) | Elem::Bound(_) => false,
            };
            if uneven || self.fixed.contains(value) {
                return None;
            }
            kept.insert(*value, (kind, Some(home)));
        }
        Some(kept)
    }
}
