//! Emission: Cpu to the tokens of a Rust function's body.
//!
//! ```text
//! fn mv(a: f64[I, K], x: f64[K]) -> f64[I] {       let i_extent = a.extent().split().0;
//!   %0 = alloc f64[I]                              let k_extent = a.extent().split().1;
//!   par %1: I {                                    check_extents("mv", "K", ("a", k_extent), ("x", x.extent()));
//!     var %2 = const 0.0f64                        let inputs = (a.as_slice(), x.as_slice());
//!     for %3: K {                                  let outputs = {
//!       %4 = load a[%1, %3]               ▶            struct K0<'a> { k: usize, a: &'a [f64], x: &'a [f64], t0: Out<f64> }
//!       …                                              impl Kernel for K0<'_> { … }
//!     }                                                fn host(i: usize, k: usize, a: &[f64], x: &[f64]) -> (Buf<f64>,) { … }
//!     …                                                host(i_extent.len(), k_extent.len(), inputs.0, inputs.1)
//!   }                                              };
//!   return %0                                      Table::from_parts(i_extent, (), outputs.0)
//! }
//! ```
//!
//! # Three layers
//!
//! * The *shim* ([`shim`]) is the user's function: generic in index sets. It takes arguments apart,
//!   checks extents and puts the result together. Nothing in it depends on the size of the program.
//! * The *host* function ([`host`]) is not generic: slices and `usize` extents. It allocates, runs
//!   what is sequential and launches kernels, in order ([`statements`]).
//! * A *kernel* ([`kernels`]) is a struct of slices, extents and output views that implements the
//!   runtime's `Kernel`.
//!
//! # Why unchecked reads are sound
//!
//! Host and kernel bodies are each one `unsafe` block, in which elements are read and written
//! without a bounds check. Every index in Cpu has a type `idx<E>` where `E` is the extent of the
//! axis it selects from; values of that type are bound by loops over `E` or between bounds of it,
//! read from tables that were validated when they were made, made by `check`, `wrap`, `clamp_to` and
//! `mirror`, which see to it at run time, or by `trust`, whose pass proves it and which interpreters
//! ask for at every point of random programs. That a place in a row of a `Ragged` is one among its
//! values is proved by its offsets, which were checked when it was made; the shim sees to it that
//! parameters that share them have rows of the same lengths. So the row-major position is below the product of the extents, which is
//! the length of the buffer: the shim checks it for parameters, and allocations are made of that
//! length (saturating, so that a product beyond `usize` is refused by the allocation and does not
//! wrap to a small one). Elements are written before they are read, and by one piece of a kernel
//! only; both are invariants of Cpu.
//!
//! # Hygiene
//!
//! All tokens have the span of the expansion: local variables do not meet the user's, lints of the
//! user's crate do not apply (`unsafe_code` among them), and items stand in a block of their own in
//! which no token of the user's occurs.
//!
//! All but the names of methods that may panic, with their parentheses: these have the place of the
//! expression that the user wrote, which is the place that a panic tells (`Unit::site`). They are
//! methods because no variable of the user's hides one.

mod angles;
mod captures;
mod columns;
mod constants;
pub(crate) mod context;
mod escape;
pub(crate) mod expr;
mod host;
mod kernels;
mod merging;
mod multiversion;
pub(crate) mod names;
pub(crate) mod scalar;
mod scatter;
mod shim;
mod statements;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod tile;
mod transpose;
mod work;

use proc_macro2::{Span, TokenStream};

use crate::interface::{Interface, ParamSource};
use crate::ir::Program;
use crate::ir::stages::cpu::Cpu;
use crate::ir::stages::gpu::Gpu;
use crate::ir::stages::kernels::Kernels;
use crate::places::Places;
use crate::targets::gpu::Missing;

/// `quote!` with the span of the expansion.
macro_rules! tokens {
    ($($tokens:tt)*) => {
        ::quote::quote_spanned! { ::proc_macro2::Span::mixed_site()=> $($tokens)* }
    };
}
pub(crate) use constants::taken;
pub(crate) use shim::kept_name;
pub(crate) use tokens;

/// What emission has to know beside the program.
#[derive(Clone, Debug)]
pub struct EmitOptions {
    /// The function's name, for messages.
    pub function: String,
    /// Whether parameters that disagree are an `Err` of the function around the body, rather than a
    /// panic.
    pub fallible: bool,
    /// Where tables may live on devices: the program that runs there, or what it would need. The
    /// body asks where tables are.
    pub gpu: Option<Result<Program<Gpu>, Missing>>,
    /// The path under which the expansion finds the runtime: `::pointful::__private`.
    pub runtime: TokenStream,
    /// Places in the source by [`SpanId`](crate::ir::SpanId).
    pub places: Places,
    /// A place of the user's own. rustc tells the place of a panic by the outermost macro around it, and code at
    /// places that are resolved as this one is around no macro.
    pub user: Span,
}

impl EmitOptions {
    /// For a function of this name in a crate that depends on `pointful`.
    pub fn new(function: impl Into<String>) -> Self {
        Self {
            function: function.into(),
            fallible: false,
            gpu: None,
            runtime: tokens!(::pointful::__private),
            places: Places::default(),
            user: Span::mixed_site(),
        }
    }
}

/// The body of the function that `program` implements behind `interface`: statements and a final
/// expression, without braces. How much there is to do is that of the `kernels` it has come from.
pub fn body(
    program: &Program<Cpu>,
    kernels: &Program<Kernels>,
    interface: &Interface,
    options: &EmitOptions,
) -> TokenStream {
    let sources = interface.params.iter().zip(&program.params);
    let constants = sources
        .filter(|(source, param)| {
            let is_constant =
                |source: &ParamSource| matches!(source, ParamSource::Constant { taken, .. } if taken.is_constant());
            is_constant(source) && !param.owned
        })
        .map(|(_, param)| param.value);
    let unit = context::Unit::with_constants(program, constants.collect())
        .costs_as(kernels)
        .panics_at(&options.places, options.user);
    shim::shim(&unit, interface, options)
}

#[cfg(test)]
mod tests {
    use super::*;
    fn text(program: &Program<Cpu>) -> String {
        let unit = context::Unit::of(program);
        let host = host::host(&unit, &[]);
        assert!(
            syn::parse2::<syn::File>(host.clone()).is_ok(),
            "not Rust: {host}"
        );
        names::as_in_source(&host)
    }

    #[test]
    fn a_long_float_reduction_is_split_into_lanes() {
        let text = text(&testing::targeted(testing::matrix_vector()));
        assert!(text.contains("fold_lanes ("), "{text}");
        assert_eq!(text.matches("launch (").count(), 1);
    }

    #[test]
    fn a_long_search_is_split_into_lanes() {
        let program = crate::targets::cpu::rust::testing::parsed(
            "fn nearest(x: f32[N]) -> usize {
               %0 = const nan_f32
               %1 = const 0usize
               %2 = var %0
               %3 = var %1
               for %4: N {
                 %5 = load x[%4]
                 %6 = get %2
                 %7 = ge %5, %6
                 if %7 {
                 } else {
                   %8 = eq %5, %5
                   if %8 {
                     set %2, %5
                     %9 = cast usize %4
                     set %3, %9
                   }
                 }
               }
               %10 = get %3
               return %10
             }",
        );
        let text = text(&program.unwrap_or_else(|e| panic!("{e}")));
        assert_eq!(text.matches("first_extremum (").count(), 2, "{text}");
    }

    #[test]
    fn columns_are_read_in_strips() {
        let text = text(&testing::targeted(testing::matrix_product()));
        assert!(text.contains("in 0 .. 32usize {"), "{text}");
        assert!(
            !text.contains("fold_lanes"),
            "what is left of a row adds up as the strips do: {text}"
        );
    }

    /// Whether a program has these parts in one after the other.
    #[track_caller]
    fn assert_parts(program: &str, parts: &[&str]) {
        let text = text(&testing::parsed(program).unwrap_or_else(|error| panic!("{error}")));
        let mut rest = text.as_str();
        for part in parts {
            let found = rest.split_once(part);
            rest = found.unwrap_or_else(|| panic!("no {part:?} in {text}")).1;
        }
    }

    #[test]
    fn an_optimiser_does_not_look_beyond_a_step_of_a_strip() {
        let step = |begin: &str| {
            format!(
                "fn f(x: f64[N], t: usize) -> f64[N] {{
                   %9 = alloc f64[N] %8 = const 0.5f64
                   par %0: N {{
                     %1 = load x[%0] %2 = var %1
                     {begin} {{ %3 = get %2 %4 = mul %3, %8 %5 = add %4, %3 set %2, %5 }}
                     %6 = get %2 store %9[%0], %6
                   }}
                   return %9
                 }}"
            )
        };
        let strips = [
            "const TOGETHER : usize = 16usize ;",
            // A loop may end before it begins.
            ". saturating_sub (",
            ") >= 16usize { while",
            "= [0f64 ; 16usize] ;",
            "in 0 .. 16usize {",
        ];
        let steps = [
            ("for %7: t", "0usize .. t {"),
            ("for rev %7: t", "rev (0 .. t) {"),
            (
                "while { %10 = get %2 %11 = lt %10, %8 yield %11 } do",
                "loop {",
            ),
        ];
        for (begin, emitted) in steps {
            let loops = [emitted, ":: core :: hint :: black_box (()) ; }"];
            assert_parts(&step(begin), &[&strips[..], &loops].concat());
        }
    }

    /// What is left over of a piece is run point by point, down a column each, unless the last strip
    /// may overlap the one before.
    #[test]
    fn pieces_end_where_strips_do_that_may_not_overlap() {
        let down = |result: &str| {
            format!(
                "fn f(own x: f64[R, C]) -> f64[R, C] {{
                   %9 = alloc f64[R, C] %8 = const 0.0f64
                   par %0: C {{
                     %1 = var %8
                     for %2: R {{
                       %3 = load x[%2, %0] %4 = get %1 %5 = add %4, %3
                       store {result}[%2, %0], %5 set %1, %5
                     }}
                   }}
                   return {result}
                 }}"
            )
        };
        assert_parts(&down("x"), &["const STRIP : usize = 16usize ;"]);
        let program = testing::parsed(&down("%9")).unwrap_or_else(|error| panic!("{error}"));
        let text = text(&program);
        assert!(!text.contains("STRIP"), "{text}");
    }

    #[test]
    fn buffers_of_points_are_made_once_for_all_strips() {
        let program = |length: &str| {
            format!(
                "fn f(x: f64[N], t: usize) -> f64[N] {{
                   %9 = alloc f64[N] %8 = const 0.5f64
                   par %0: N {{
                     %1 = load x[%0] %2 = var %1 %7 = alloc f64[{length}]
                     for %10: {length} {{ %3 = get %2 %4 = mul %3, %8 %5 = add %4, %3 set %2, %5 store %7[%10], %5 }}
                     for rev %11: {length} {{ %12 = load %7[%11] %13 = get %2 %14 = mul %13, %12 set %2, %14 }}
                     %6 = get %2 store %9[%0], %6
                   }}
                   return %9
                 }}"
            )
        };
        assert_parts(
            &program("t"),
            &[
                // Unless they would take too much memory.
                "<= 16777216f64 ;",
                ") >= 16usize {",
                "= OutBuf :: < f64 > :: new (t . saturating_mul (16usize)) ; while",
                ". out () . write (",
            ],
        );
        assert_parts(
            &program("40"),
            &[") >= 16usize {", "= [0f64 ; 640usize] ; while"],
        );
    }

    #[test]
    fn what_panics_looks_at_copies() {
        assert_parts(
            "fn f(x: f64[N], t: usize) -> f64[N] {
               %9 = alloc f64[N] %8 = const 0.5f64
               par %0: N {
                 %1 = load x[%0] %2 = var %1
                 for %7: t {
                   %3 = get %2 %4 = mul %3, %8 %5 = add %4, %3 set %2, %5
                   %6 = gt %5, %8 assert %6, \"{} is small\", %5
                 }
                 %10 = get %2 store %9[%0], %10
               }
               return %9
             }",
            &[
                "|= ",
                "if ",
                "= :: core :: hint :: black_box (",
                "in 0 .. 16usize {",
                "if ! ",
                "{ Failed . here (",
            ],
        );
    }

    #[test]
    fn points_go_together_through_loops_that_are_cut() {
        let program = testing::parsed(
            "fn f(a: f64[K, N]) -> f64[N] {
               %9 = alloc f64[N] %8 = const 0.0f64 %7 = const 1i64
               par %0: N {
                 %1 = var %8
                 for %2: K {
                   %3 = cast i64 %2 %4 = sub %3, %7 %5 = in_range K %4
                   if %5 { %6 = trust K %4 %10 = load a[%6, %0] combine add %1[], %10 } else { }
                 }
                 %12 = get %1 store %9[%0], %12
               }
               return %9
             }",
        );
        let text = text(&program.unwrap_or_else(|error| panic!("{error}")));
        // In strips of two widths; where rows begin nothing is read, and elsewhere nothing is asked.
        assert!(text.contains("in 0 .. 32usize {"), "{text}");
        assert!(!text.contains("in_range"), "{text}");
    }

    #[test]
    fn what_pieces_fold_is_joined_in_merge_and_on_the_host() {
        let program = crate::targets::cpu::rust::testing::parsed(
            "fn last(x: i64[N], own y: i64[K], w: i64[K]) -> (i64, i64[K]) {
               %0 = const 0i64
               %1 = var %0
               par %2: N, %3: K fold (%4 = %1 from 0i64) fold (%5 = y from -1i64) {
                 %6 = load x[%2]
                 set %4, %6
                 store %5[%3], %6
               } join { |%7, %8|
                 yield %8
               } join (%9: K) { |%10, %11|
                 %12 = load w[%9]
                 %13 = mul %11, %12
                 %14 = add %10, %13
                 yield %14
               }
               %15 = get %1
               return %15, y
             }",
        );
        let text = text(&program.unwrap_or_else(|error| panic!("{error}")));
        // Between pieces, in copies; and on the host, in the places themselves.
        for part in [
            "type Acc = (i64 , Buf < i64 > ,)",
            "(0i64 , Buf :: filled (k , (- 1i64)) ,)",
            "let t8 = earlier . 0 ; let t9 = later . 0 ; earlier . 0 = t9 ;",
            "let t11 = earlier . 1 . out () . read (at) ; let t12 = get (& later . 1 , at) ; let t13 = get (w , i10) ;",
            "earlier . 1 . out () . write (at , t15) ; at += 1 ; }",
            "let t8 = t2 ; let t9 = t5 ; t2 = t9 ;",
            "y . out () . write (at , t15) ; at += 1 ; }",
        ] {
            assert!(text.contains(part), "no {part:?} in {text}");
        }
    }

    #[test]
    fn constants_are_named_where_they_are_read_and_handed_to_nobody() {
        let source = "fn f<N: IndexSet>(x: &Table<N, f64>, down: f64) -> Table<N, f64> {
            for i in N { sum(for q in Fin::<3> { DOWN[q] * x[i] }) + down * SCALE }
        }";
        let linked = crate::lower::source::link(source).unwrap_or_else(|e| panic!("{e:?}"));
        let stages = crate::pipeline::stages(&linked).unwrap_or_else(|e| panic!("{e:?}"));
        let text = names::as_in_source(&crate::pipeline::emit(&stages));
        for part in [
            "const __DOWN : & [:: core :: primitive :: f64] = {",
            "const __SCALE : :: core :: primitive :: f64 = * {",
            "get (__DOWN , q)",
            "* __SCALE",
            "fn host (n : usize , x : & [f64] , down : f64 ,)",
        ] {
            assert!(text.contains(part), "no {part:?} in {text}");
        }
    }

    #[test]
    fn emission_is_deterministic() {
        for program in [testing::matrix_vector(), testing::matrix_product()] {
            let program = testing::targeted(program);
            assert_eq!(text(&program), text(&program));
        }
    }
}
