//! Rows that are written down as columns.
//!
//! # The idea
//!
//! Of two loops that move elements of one table to another, in which they lie the other way round,
//! one reads or writes places that are far apart. The runtime's `transpose` does it block by block,
//! in registers.
//!
//! # Why it is sound
//!
//! The loops do nothing else ([`Moves`]), and each element is moved to a place of its own, so the
//! order does not show.
//!
//! # Before and after
//!
//! ```text
//! for %1: I {                            transpose %1: I, %2: J {
//!   for %2: J {                            %3 = load x[%1, %2]
//!     %3 = load x[%1, %2]        ▶         store t[%2, %1], %3
//!     store t[%2, %1], %3                }
//!   }
//! }
//! ```

use crate::analysis::moves::Moves;
use crate::analysis::numbers::Numbers;
use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::{Block, Extent, Operation, Program, Stmt};
use crate::pass::Pass;

/// The pass.
pub const TRANSPOSE: Pass<Cpu> = Pass {
    name: "transpose_loops",
    about: "have the runtime move elements from rows to columns",
    run: transpose,
};

/// Rows of fewer elements, if it is known, are not worth it.
const LEAST: u64 = 8;

/// Makes loops that only write rows down as columns transposes.
pub fn transpose(mut program: Program<Cpu>) -> Program<Cpu> {
    let numbers = Numbers::of(&program.body);
    let mut body = std::mem::take(&mut program.body);
    block(&program, &numbers, &mut body);
    Program { body, ..program }
}

fn block(program: &Program<Cpu>, numbers: &Numbers, stmts: &mut Block<Cpu>) {
    for stmt in &mut stmts.stmts {
        match transposed(program, numbers, &mut stmt.op) {
            Some(op) => stmt.op = CpuOp::Own(op),
            None => {
                for inner in stmt.op.blocks_mut() {
                    block(program, numbers, inner);
                }
            }
        }
    }
}

/// What a loop becomes, if it does nothing else. Its statements are taken.
fn transposed(program: &Program<Cpu>, numbers: &Numbers, op: &mut CpuOp) -> Option<Own> {
    let (rows, body) = for_each(op)?;
    let row = *body.params.first()?;
    let (last, outer) = body.stmts.split_last_mut()?;
    let (columns, inner) = for_each(&mut last.op)?;
    let few = matches!(numbers.resolve(columns), Extent::Const(length) if length < LEAST);
    let column = *inner.params.first()?;
    let all: Vec<&Stmt<Cpu>> = outer.iter().chain(&inner.stmts).collect();
    if few || Moves::of(program, [row, column], &all).is_none() {
        return None;
    }
    let inner = std::mem::take(&mut inner.stmts);
    body.stmts.pop();
    let outer = std::mem::take(&mut body.stmts);
    Some(Own::Transpose {
        extents: [rows, columns],
        body: Box::new(Block {
            params: vec![row, column],
            stmts: outer.into_iter().chain(inner).collect(),
            results: Vec::new(),
        }),
    })
}

fn for_each(op: &mut CpuOp) -> Option<(Extent, &mut Block<Cpu>)> {
    match op {
        CpuOp::For {
            extent,
            reverse: false,
            body,
        } => Some((*extent, body)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::stages::kernels::Kernels;
    use crate::ir::{parse, print};
    use crate::targets::cpu::outline;

    /// Two loops in a kernel, with these statements in the outer and in the inner one.
    fn transposed(outer: &str, inner: &str) -> String {
        let text = format!(
            "fn f(x: f64[I, J], u: f64[I, K, J], own t: f64[J, I], own s: f64[I, J], own w: f64[K, J, I]) -> f64[N] {{
               %0 = alloc f64[N]
               par %1: N {{
                 %9 = const 0usize %8 = trust K %9
                 for %2: I {{ {outer} for %3: J {{ {inner} }} }}
                 %7 = const 0.0f64 store %0[%1], %7
               }}
               return %0
             }}"
        );
        let program = parse::<Kernels>(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        let program = transpose(outline(program));
        crate::ir::verify_after("transpose", &program);
        print(&program)
    }

    #[test]
    fn loops_that_only_move_elements_apart_become_one() {
        let plain = transposed("", "%4 = load x[%2, %3] store t[%3, %2], %4");
        assert!(plain.contains("transpose %"), "{plain}");
        let computed = transposed(
            "%4 = cast usize %2 %5 = trust I %4",
            "%6 = load u[%5, %8, %3] store t[%3, %2], %6",
        );
        assert!(computed.contains("transpose %"), "{computed}");
        for (outer, inner) in [
            // They stay in order, or are not read as they lie, or something is computed, or both
            // places depend on both loops.
            ("", "%4 = load x[%2, %3] store s[%2, %3], %4"),
            ("", "%4 = load t[%3, %2] store s[%2, %3], %4"),
            ("", "%4 = load x[%2, %3] %5 = neg %4 store t[%3, %2], %5"),
            (
                "%10 = cast usize %2",
                "%11 = add %10, %9 %12 = trust K %11 %4 = load x[%2, %3] store w[%12, %3, %2], %4",
            ),
            (
                "",
                "%5 = cast usize %3 %6 = trust I %5 %4 = load x[%6, %3] store t[%3, %2], %4",
            ),
        ] {
            let text = transposed(outer, inner);
            assert!(!text.contains("transpose %"), "{inner}: {text}");
        }
    }
}
