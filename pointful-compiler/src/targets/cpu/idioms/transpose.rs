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
use crate::targets::cpu::statements::with_body;

/// The pass.
pub const TRANSPOSE: Pass<Cpu> = Pass {
    name: "transpose_loops",
    about: "have the runtime move elements from rows to columns",
    run: transpose,
};

/// Rows of fewer elements, if it is known, are not worth it.
const LEAST: u64 = 8;

/// Makes loops that only write rows down as columns transposes.
pub fn transpose(program: Program<Cpu>) -> Program<Cpu> {
    with_body(program, block)
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
    use crate::eval::{Data, Inputs, ScalarValue, run_in_order};
    use crate::ir::stages::kernels::Kernels;
    use crate::ir::{Scalar, parse, print};
    use crate::targets::cpu::outline;
    use crate::testing::Rng;

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

    /// A nest that moves elements from one place to another, of `I` rows of so many: along which
    /// axes, from and to what is computed of the index or not, and what is done to them.
    fn random_moves(rng: &mut Rng) -> String {
        let rows = rng.pick(&["J", "J", "7", "8", "9"]);
        let index = |rng: &mut Rng, index: &str| match rng.below(6) {
            0 => index.replace('%', "%1"),
            _ => index.to_owned(),
        };
        let place = |rng: &mut Rng, turned: usize| match (rng.below(10) < turned, rng.below(3)) {
            (true, 0) => ["[", &index(rng, "%3"), ", %9, ", &index(rng, "%2"), "]"].concat(),
            (true, _) => format!("[{}, {}]", index(rng, "%3"), index(rng, "%2")),
            (false, 0) => ["[%9, ", &index(rng, "%2"), ", ", &index(rng, "%3"), "]"].concat(),
            (false, _) => format!("[{}, {}]", index(rng, "%2"), index(rng, "%3")),
        };
        let table = |name: &str, place: &str| {
            let order = [
                place.contains("%3, ") || place.contains("%13, "),
                place.contains("%9"),
            ];
            match order {
                [false, false] => format!("{name}: f64[I, R]"),
                [false, true] => format!("{name}: f64[2, I, R]"),
                [true, false] => format!("{name}: f64[R, I]"),
                [true, true] => format!("{name}: f64[R, 2, I]"),
            }
        };
        let (from, to) = (place(rng, 2), place(rng, 7));
        let change = rng.pick(&["", "", "", "%5 = neg %4"]);
        let value = if change.is_empty() { "%4" } else { "%5" };
        let [source, out] = [table("x", &from), table("own t", &to)];
        format!(
            "fn f({source}, {out}) -> f64[T] {{
               %8 = const 1usize %9 = trust 2 %8
               for %2: I {{
                 %10 = cast usize %2 %12 = trust I %10
                 for %3: R {{
                   %11 = cast usize %3 %13 = trust R %11
                   %4 = load x{from} {change} store t{to}, {value}
                 }}
               }}
               return t
             }}"
        )
        .replace("f64[T]", out.trim_start_matches("own t: "))
        .replace('R', rows)
    }

    #[test]
    fn random_moves_are_transposed() {
        let (mut changed, mut same) = (0, 0);
        for seed in 0..300 {
            let rng = &mut Rng::new(seed);
            let text = random_moves(rng);
            let program = parse::<Kernels>(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
            let before = outline(program);
            let after = transpose(before.clone());
            crate::ir::verify_after("transpose", &after);
            changed += u32::from(after.body != before.body);
            for sizes in [[0, 3], [1, 1], [3, 0], [5, 7], [9, 8], [4, 17]] {
                let sizes = sizes[..before.sizes.len()].to_vec();
                let length = |extent: &Extent| match extent {
                    Extent::Const(n) => *n as usize,
                    Extent::Size(size) => sizes[size.0 as usize],
                    Extent::Value(_) => unreachable!("parameters are of sizes"),
                };
                let params = before.params.iter().map(|param| {
                    let shape: Vec<usize> =
                        before.ty(param.value).dims.iter().map(length).collect();
                    let count = shape.iter().product();
                    let values = (0..count).map(|_| ScalarValue::F64(rng.below(1000) as f64));
                    Data::new(Scalar::F64, shape, values.collect())
                });
                let inputs = Inputs {
                    params: params.collect(),
                    sizes: sizes.clone(),
                };
                for order in 0..3 {
                    let [right, found] = [&before, &after]
                        .map(|program| run_in_order(program, &inputs, 1_000_000, order));
                    let (right, found) = (right.map(|r| r.0), found.map(|r| r.0));
                    assert!(
                        right.is_ok() && right == found,
                        "{seed}, {sizes:?}: {text}\n{right:?}\n{found:?}"
                    );
                    same += 1;
                }
            }
        }
        assert!(
            changed >= 15 && same == 5400,
            "{changed} of 300, {same} runs"
        );
    }
}
