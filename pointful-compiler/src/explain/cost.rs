//! What a kernel costs: its operations, and the bytes of the tables that it reads and writes.

use std::collections::BTreeSet;

use super::formula::{Formula, Length, Lengths};
use crate::ir::stages::kernels::{Acc, Along, KernelOp, Kernels, Mask, Par};
use crate::ir::{Block, Extent, Program, ValueId, ValueSet};

/// Counts of something that runs at all points of some extents.
///
/// An operation is one of arithmetic, a comparison, a choice, or an elementary function, on numbers
/// that are no indices. Of a branch both sides count, of a `while` one round: then it says so.
/// Tables count once, however often they are read; what a point has for itself does not.
pub(super) struct Cost<'p> {
    program: &'p Program<Kernels>,
    lengths: &'p Lengths<'p>,
    operations: Formula,
    tables: ValueSet,
    own: ValueSet,
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
            tables: ValueSet::new(),
            own: ValueSet::new(),
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
        mask: Option<&Mask>,
    ) -> Self {
        let mut cost = Self::of_kernel(program, lengths, &[], &[], &Block::default());
        cost.contraction(arrays, along, &[]);
        cost.tables.extend(mask.map(|mask| mask.buffer));
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
                    here += u64::from(!elem.is_position());
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
                    mask,
                    ..
                } => {
                    self.contraction([*out, *left, *right], along, loops);
                    self.tables.extend(mask.as_ref().map(|mask| mask.buffer));
                }
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
                    self.operations.bound();
                    self.block(then, loops);
                    self.block(otherwise, loops);
                }
                KernelOp::Const(_)
                | KernelOp::Size(_)
                | KernelOp::Get(_)
                | KernelOp::Set { .. }
                | KernelOp::Swap(..)
                | KernelOp::Own(Par { .. })
                | KernelOp::Assert { .. } => {}
            }
        }
        self.operations.add(&Formula::product(here, loops));
    }
}

impl std::fmt::Display for Cost<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut bytes = Formula::default();
        for table in self.tables.iter().filter(|table| !self.own.contains(table)) {
            let ty = self.program.ty(table);
            let lengths: Vec<Length> = ty.dims.iter().map(|&dim| self.lengths.of(dim)).collect();
            bytes.add(&Formula::product(ty.elem.repr().bytes(), &lengths));
        }
        let rounds = if self.rounds {
            " and more for each further round"
        } else {
            ""
        };
        write!(f, "costs {} operations{rounds}", self.operations)?;
        if !bytes.is_zero() {
            write!(f, " on tables of {bytes} bytes")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel in this program costs, of which `%0` is the index.
    #[track_caller]
    fn cost(kernel: &str) -> String {
        let text = format!(
            "fn f(x: f64[N], y: f32[N, K], own u: f64[N], t: usize) -> (f64[N], f64) {{
               %9 = alloc f64[N] %8 = const 0.0f64 %7 = var %8
               {kernel}
               %99 = get %7
               return %9, %99
             }}"
        );
        let text = text.replace(" if ", "\n if ");
        let program = crate::ir::parse::<Kernels>(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        let lengths = Lengths::new(&program);
        let found = program.body.stmts.iter().find_map(|stmt| match &stmt.op {
            KernelOp::Own(Par {
                extents,
                accs,
                body,
                ..
            }) => Some(Cost::of_kernel(&program, &lengths, extents, accs, body).to_string()),
            _ => None,
        });
        found.expect("there is a kernel")
    }

    #[test]
    fn indices_cost_nothing_and_tables_count_once() {
        let found = cost(
            "par %0: N { %1 = cast usize %0 %2 = trust N %1 %3 = load x[%2] %4 = load x[%0] %5 = add %3, %4 store %9[%0], %5 }",
        );
        assert_eq!(found, "costs 1·N operations on tables of 16·N bytes");
    }

    #[test]
    fn loops_multiply_and_own_buffers_are_no_tables() {
        let found = cost(
            "par %0: N (add %6 = %7) { %1 = alloc f64[t] for %2: t { %3 = load x[%0] %4 = mul %3, %3 store %1[%2], %4 }
             for %10: K { %11 = load y[%0, %10] %12 = cast f64 %11 combine add %6[], %12 } }",
        );
        assert_eq!(
            found,
            "costs 2·K·N + 1·N·t operations on tables of 4·K·N + 8·N + 8 bytes"
        );
    }

    #[test]
    fn of_branches_and_loops_without_a_length_it_says_so() {
        let found = cost(
            "par %0: N { %1 = load x[%0] %2 = gt %1, %8 if %2 { %3 = exp %1 store %9[%0], %3 } else { store %9[%0], %1 } }",
        );
        assert_eq!(
            found,
            "costs at most 2·N operations on tables of 16·N bytes"
        );
        let found = cost(
            "par %0: N { %1 = load x[%0] %2 = var %1 while { %3 = get %2 %4 = gt %3, %8 yield %4 } do { %5 = get %2 %10 = sub %5, %1 set %2, %10 }
             %11 = get %2 store %9[%0], %11 }",
        );
        assert_eq!(
            found,
            "costs 2·N operations and more for each further round on tables of 16·N bytes"
        );
    }
}
