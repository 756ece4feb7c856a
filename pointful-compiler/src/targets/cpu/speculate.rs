//! Speculation on near angles.
//!
//! # The idea
//!
//! Sines, cosines and tangents of near angles are shorter than those of any. For far angles those of
//! `f64` have a branch, which no loop is vectorised over; those of `f32` have none, but reduce every
//! angle in both ways, which takes most of their time. So a piece of a kernel's work bets that all
//! of its angles are near, and begins anew if one was far.
//!
//! # Why it is sound
//!
//! The first attempt does nothing that the second does not do again in its place
//! ([`analysis::angles`](crate::analysis::angles)).
//!
//! # Before and after
//!
//! ```text
//! par %0..%1: N { … %2 = sin %3 … }   ▶   par speculate %0..%1: N { … %2 = sin %3 … }
//! ```

use super::statements::{for_each_nest, with_body};
use crate::analysis::angles::may_bet;
use crate::ir::Program;
use crate::ir::stages::cpu::Cpu;
use crate::pass::Pass;

/// The pass.
pub const SPECULATE: Pass<Cpu> = Pass {
    name: "speculate",
    about: "run pieces with functions of near angles first",
    run: speculate,
};

/// Has pieces bet on near angles where they may run again.
pub fn speculate(program: Program<Cpu>) -> Program<Cpu> {
    with_body(program, |program, numbers, body| {
        for_each_nest(body, &mut |par| {
            par.speculates = may_bet(program, numbers, par);
            #[cfg(test)]
            if par.speculates {
                crate::testing::entered::enter(&crate::testing::entered::SPECULATED);
            }
        });
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse;
    use crate::ir::stages::cpu::{CpuOp, Own};
    use crate::ir::stages::kernels::Kernels;
    use crate::targets::cpu::outline;

    /// Whether the first kernel of a program with these parameters speculates.
    #[track_caller]
    fn speculates(params: &str, statements: &str) -> bool {
        let text = format!("fn f({params}) -> () {{ {statements} return }}");
        let program = parse::<Kernels>(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        let program = speculate(outline(program));
        crate::ir::verify_after("speculate", &program);
        let mut kernels = program.body.stmts.iter().filter_map(|stmt| match &stmt.op {
            CpuOp::Own(Own::Par(par)) => Some(par.speculates),
            _ => None,
        });
        kernels.next().expect("a kernel")
    }

    /// One that stores `%9[…]` or combines into `%7` what these statements compute of
    /// `%2 = sin x[%0]`.
    #[track_caller]
    fn of_sine(statements: &str) -> bool {
        // An `if` on the same line would be a part of the statement before.
        let statements = statements.replace(" if ", "\n if ");
        speculates(
            "x: f64[N], own u: f64[N], k: idx<N>, n: usize",
            &format!(
                "%9 = alloc f64[N] %8 = const 0.0f64 %6 = var %8 %10 = const 2usize
                 par %0: N (add %7 = %6) {{ %1 = load x[%0] %2 = sin %1 {statements} }}"
            ),
        )
    }

    #[test]
    fn only_functions_of_angles_are_bet_on() {
        for function in ["sin", "cos", "tan", "exp"] {
            let map = format!(
                "%9 = alloc f64[N] par %0: N {{ %1 = load x[%0] %2 = {function} %1 store %9[%0], %2 }}"
            );
            let expected = function != "exp";
            assert_eq!(speculates("x: f64[N]", &map), expected, "{function}");
            let single = map.replace("f64", "f32");
            assert_eq!(speculates("x: f32[N]", &single), expected, "{function}");
        }
    }

    #[test]
    fn what_can_be_done_again_is_bet_on() {
        for statements in [
            "store %9[%0], %2",
            "store u[%0], %2",
            "combine add %7[], %2",
            // A place of its own may hold anything.
            "%11 = alloc f64[N] %12 = wrap N %10 store %11[%12], %2 %13 = load %11[%12] store %9[%0], %13",
            "%11 = gt %2, %8 if %11 { combine add %7[], %2 } else { }",
            "%11 = gt %2, %8 %12 = select %11, %1, %2 store %9[%0], %12",
            "%11 = var %8 for %12: n { set %11, %2 } %13 = get %11 store %9[%0], %13",
            // What is not computed of angles may decide.
            "%11 = gt %1, %8 if %11 { store u[%0], %2 } else { }",
            "%11 = gt %1, %8 assert %11, \"positive\" store %9[%0], %2",
            "%11 = cast i64 %1 %12 = check N %11 store u[%12], %2",
        ] {
            assert!(of_sine(statements), "{statements}");
        }
    }

    #[test]
    fn rows_beside_those_that_are_read_are_bet_on() {
        for (row, expected) in [("%6", true), ("%5", false)] {
            let statements = format!(
                "%3 = const 1usize %4 = add t, %3 %5 = check T t %6 = check T %4
                 par %0: N {{ %1 = load u[%5, %0] %2 = sin %1 store u[{row}, %0], %2 }}"
            );
            let found = speculates("own u: f64[T, N], t: usize", &statements);
            assert_eq!(found, expected, "{row}");
        }
    }

    #[test]
    fn what_cannot_be_undone_is_not_bet_on() {
        for statements in [
            // It reads what it writes.
            "%11 = load u[%0] %12 = add %11, %2 store u[%0], %12",
            "%11 = copy u %12 = load %11[%0] store u[%0], %12 store %9[%0], %2",
            // Another element might be written, and keep what is wrong.
            "%11 = gt %2, %8 if %11 { store u[%0], %1 } else { }",
            "%11 = gt %2, %8 if %11 { } else { for %12: n { store u[%0], %1 } }",
            "%11 = var %8 for %12: n { %13 = get %11 %14 = gt %13, %8 if %14 { store u[%0], %1 } else { } set %11, %2 }",
            // It might panic.
            "%11 = cast i64 %2 %12 = check N %11 %13 = load x[%12] store %9[%0], %13",
            "%11 = cast i64 %2 %12 = wrap N %11 store u[%12], %1",
            "%11 = gt %2, %8 assert %11, \"positive\"",
            "%11 = gt %2, %8 if %11 { %12 = gt %1, %8 assert %12, \"positive\" } else { }",
            "%11 = cast usize %2 %12 = div %10, %11 %13 = cast f64 %12 store %9[%0], %13",
            "%11 = gt %2, %8 if %11 { %12 = div n, n %13 = cast f64 %12 combine add %7[], %13 } else { }",
            "%11 = alloc f64[N] store %11[k], %2 %12 = load %11[%0] %13 = gt %12, %8 assert %13, \"positive\"",
            // It might take for ever.
            "%11 = cast usize %2 for %12: %11 { combine add %7[], %1 }",
            "%11 = var %2 while { %12 = get %11 %13 = gt %12, %8 yield %13 } do { set %11, %8 }",
            "%11 = gt %2, %8 if %11 { while { %12 = gt %1, %8 yield %12 } do { } } else { }",
            "%11 = cast usize %2 %12 = alloc f64[%11] fill 0.0f64 store %9[%0], %2",
        ] {
            assert!(!of_sine(statements), "{statements}");
        }
    }
}
