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
//! Which kernels bet is said by [`speculate`](crate::targets::cpu::speculate).

use proc_macro2::TokenStream;
use quote::ToTokens;

use super::tokens;
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

#[cfg(test)]
mod tests {
    use crate::targets::cpu::rust::context::Unit;

    #[test]
    fn a_piece_that_has_lost_its_bet_begins_anew() {
        let emitted = |program: &str| {
            let program = crate::targets::cpu::rust::testing::parsed(program);
            let program = program.unwrap_or_else(|error| panic!("{error}"));
            crate::targets::cpu::rust::names::as_in_source(&crate::targets::cpu::rust::host::host(
                &Unit::of(&program),
                &[],
            ))
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
