use super::privatize;
use crate::ir::stages::kernels::Kernels;
use crate::ir::{parse, print};
use crate::targets::cpu::outline;

fn privatized(text: &str) -> String {
    let program = parse::<Kernels>(text).unwrap_or_else(|e| panic!("{text}\n{e}"));
    let program = privatize(outline(program));
    crate::ir::verify_after("privatize", &program);
    print(&program)
}

#[test]
fn elements_at_computed_places_are_noted_and_rows_are_not() {
    let text = privatized(
        "fn counts(class: idx<K>[N]) -> (f64[K, D], f64[D], f64[D, K]) {
           %0 = alloc f64[K, D] fill 0.0f64 %1 = alloc f64[D] fill 0.0f64 %2 = alloc f64[D, K] fill 0.0f64
           par %3: N, %4: D (add %5 = %0, add %6 = %1, add %7 = %2) {
             %8 = load class[%3] %9 = const 1.0f64
             combine add %5[%8, %4], %9 combine add %6[%4], %9 combine add %7[%4, %8], %9
           }
           return %0, %1, %2
         }",
    );
    let accs = "(add %6 = %0 becomes, add %7 = %1 becomes, add %8 = %2 notes becomes)";
    assert!(text.contains(accs), "{text}");
}

#[test]
fn what_is_known_to_be_small_is_copied() {
    let text = privatized(
        "fn small(class: idx<256>[N]) -> f64[256] {
           %0 = alloc f64[256] fill 0.0f64
           par %1: N (add %2 = %0) { %3 = load class[%1] %4 = const 1.0f64 combine add %2[%3], %4 }
           return %0
         }",
    );
    assert!(text.contains("%0 becomes)"), "{text}");
}

#[test]
fn only_what_holds_the_identity_becomes_what_is_merged() {
    for (fill, between) in [
        ("fill 1.0f64", ""),
        // It is asked for.
        ("fill 0.0f64", "%9 = copy %0"),
        (
            "fill 0.0f64",
            "%8 = const 0usize %9 = trust K %8 store %0[%9], x",
        ),
    ] {
        let text = privatized(&format!(
            "fn f(class: idx<K>[N], x: f64) -> f64[K] {{
               %0 = alloc f64[K] {fill} {between}
               par %1: N (add %2 = %0) {{ %3 = load class[%1] %4 = const 1.0f64 combine add %2[%3], %4 }}
               return %0
             }}"
        ));
        assert!(text.contains("%0 notes)"), "{text}");
    }
}
