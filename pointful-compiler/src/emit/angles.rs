//! Sines, cosines and tangents of near angles, which are shorter than those of any angles.
//!
//! For far angles those of `f64` have a branch, which no loop is vectorised over; those of `f32`
//! have none, but reduce every angle in both ways, which takes most of their time. So a piece of a
//! kernel's work bets that all of its angles are near: it calls functions of near angles, and notes
//! whether one was far after all. Then it begins anew, with functions of any angles:
//!
//! ```text
//!                              fn piece<A: math::Angles>(…, range, acc) -> bool {
//!                                  let mut angles = A::default();
//! for i in range {                 for i in range {
//!     y[i] = sin(x[i]);    ▶           y[i] = angles.sin(x[i]);
//! }                                }
//!                                  angles.missed()
//!                              }
//!                              if piece::<math::Near>(…) { *acc = identity; piece::<math::Any>(…); }
//! ```
//!
//! Both are the same code, so the same sums are split in the same way, and a piece's results do not
//! depend on which of them it was. Where points lie in rows, the first attempt ends with the row in
//! which the bet was lost.
//!
//! Which kernels may bet is found out by [`analysis::angles`](crate::analysis::angles).

use proc_macro2::TokenStream;
use quote::ToTokens;

use super::tokens;
use super::unit::Unit;
use crate::analysis::angles::may_bet;
use crate::ir::stages::cpu::{Cpu, Par};
use crate::ops::Prim;

/// How sines, cosines and tangents are called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Angles {
    /// As functions of any angles.
    Any,
    /// By the kernel's `angles`, which a piece of its work bets on.
    Near,
}

/// The call of a function of a near angle.
pub(super) fn call(prim: Prim, x: &impl ToTokens) -> TokenStream {
    let function = super::names::ident(prim.name());
    tokens!(angles.#function(#x))
}

/// How a kernel calls them.
pub(super) fn of_kernel(unit: &Unit<'_>, par: &Par<Cpu>) -> Angles {
    match may_bet(unit.program, &|extent| unit.resolve(extent), par) {
        true => Angles::Near,
        false => Angles::Any,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::stages::cpu::{CpuOp, Own};

    /// How the first kernel of a program with these parameters calls them.
    #[track_caller]
    fn angles(params: &str, statements: &str) -> Angles {
        let text = format!("fn f({params}) -> () {{ {statements} return }}");
        let program = crate::emit::testing::parsed(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        crate::ir::verify_after("writing it down", &program);
        let unit = Unit::of(&program);
        let kernel = program.body.stmts.iter().find_map(|stmt| match &stmt.op {
            CpuOp::Own(Own::Par(par)) => Some(par),
            _ => None,
        });
        of_kernel(&unit, kernel.expect("a kernel"))
    }

    /// One that stores `%9[…]` or combines into `%7` what these statements compute of
    /// `%2 = sin x[%0]`.
    #[track_caller]
    fn of_sine(statements: &str) -> Angles {
        // An `if` on the same line would be a part of the statement before.
        let statements = statements.replace(" if ", "\n if ");
        angles(
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
            let expected = match function {
                "exp" => Angles::Any,
                _ => Angles::Near,
            };
            assert_eq!(angles("x: f64[N]", &map), expected, "{function}");
            let single = map.replace("f64", "f32");
            assert_eq!(angles("x: f32[N]", &single), expected, "{function}");
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
            assert_eq!(of_sine(statements), Angles::Near, "{statements}");
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
            assert_eq!(of_sine(statements), Angles::Any, "{statements}");
        }
    }

    #[test]
    fn a_piece_that_has_lost_its_bet_begins_anew() {
        let emitted = |program: &str| {
            let program = crate::emit::testing::parsed(program);
            let program = program.unwrap_or_else(|error| panic!("{error}"));
            crate::emit::names::as_in_source(&crate::emit::host::host(&Unit::of(&program), &[]))
        };
        let text = |accs: &str, statement: &str| {
            emitted(&format!(
                "fn f(x: f64[N]) -> (f64, f64[N]) {{
                   %8 = const 0.0f64 %6 = var %8 %9 = alloc f64[N]
                   par %0: N{accs} {{ %1 = load x[%0] %2 = cos %1 store %9[%0], %2 {statement} }}
                   %10 = get %6 return %10, %9
                 }}"
            ))
        };
        let found = text(" (add %7 = %6)", "combine add %7[], %2");
        for part in [
            "fn piece < A : math :: Angles > (x : & [f64] , b3 : Out < f64 > , range : :: core :: ops :: Range < usize > , acc : & mut (f64 ,)) -> bool { \
             let mut angles = A :: default () ; unsafe { let mut t5 = acc . 0 ;",
            "for i22 in 0 .. 16usize { let i23 = i20 + i22 ; let t24 = get (x , i23) ; let t25 = angles . cos (t24) ;",
            "acc . 0 = t5 ; } angles . missed () } \
             let Self { x , b3 } = * self ; \
             if piece :: < math :: Near > (x , b3 , range . start .. range . end , acc) { \
             * acc = self . identity () ; piece :: < math :: Any > (x , b3 , range , acc) ; } }",
        ] {
            assert!(found.contains(part), "no {part:?} in {found}");
        }
        // Without an accumulator there is nothing to make anew.
        let found = text("", "");
        let part = "range . start .. range . end , acc) { piece :: < math :: Any > (x , b3 , range , acc) ; }";
        assert!(found.contains(part), "no {part:?} in {found}");
        // No more rows than where it was lost.
        let found = emitted(
            "fn f(x: f64[N, M]) -> f64[N, M] {
               %9 = alloc f64[N, M]
               par %0: N, %3: M { %1 = load x[%0, %3] %2 = sin %1 store %9[%0, %3], %2 }
               return %9
             }",
        );
        let part = "while point < range . end && ! angles . missed () {";
        assert!(found.contains(part), "no {part:?} in {found}");
    }
}
