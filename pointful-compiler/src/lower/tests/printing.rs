//! What functions print: in debug builds in order, otherwise as if they did not.

use super::rendered;
use crate::ir;
use crate::lower::lower_debug;
use crate::lower::source::link;

const PRINTS: &str = "
    fn twice(x: f64) -> f64 { println!(\"twice {x}\"); dbg!(x * 2.0) }
    fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 {
        eprintln!(\"begins\");
        let t = for i in N { if x[i] > 0.0 { print!(\"{i} {:.2}\", x[i]); } twice(x[i]) };
        sum(t) + sum(twice(x))
    }";

const SILENT: &str = "
    fn twice(x: f64) -> f64 { x * 2.0 }
    fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 {
        let t = for i in N { twice(x[i]) };
        sum(t) + sum(twice(x))
    }";

fn released(source: &str) -> String {
    let linked = link(source).expect("it parses");
    let stages = crate::pipeline::stages(&linked)
        .unwrap_or_else(|errors| panic!("{source}\n{}", rendered(&errors)));
    ir::print(&stages.kernels)
}

fn debugged(source: &str) -> String {
    let linked = link(source).expect("it parses");
    let lowered = lower_debug(&linked, &[None])
        .unwrap_or_else(|errors| panic!("{source}\n{}", rendered(&errors)));
    ir::print(&lowered.program)
}

#[test]
fn a_release_build_has_the_program_of_what_prints_nothing() {
    assert_eq!(released(PRINTS), released(SILENT));
    assert!(!released(PRINTS).contains("call"));
}

#[test]
fn a_debug_build_runs_what_prints_in_order() {
    let text = debugged(PRINTS);
    assert_eq!(text.matches("call").count(), 6, "{text}");
    // The loop, and the call that is repeated over a table.
    assert_eq!(text.matches("loop ").count(), 2, "{text}");
    assert!(!text.contains("for "), "{text}");
    assert!(!debugged(SILENT).contains("loop "));
}

#[test]
fn derivatives_and_closures_print_nothing() {
    for body in [
        "grad!(twice)(x)",
        "jvp!(twice)(x, 1.0).1",
        "sum(vmap!(twice)([x, x]))",
        "{ let g = |y: f64| twice(y); g(x) }",
        "reduce(0.0, |a, b| a + twice(b), [x, x])",
    ] {
        let twice = "fn twice(x: f64) -> f64 { println!(\"twice {x}\"); x * 2.0 }";
        let text = debugged(&format!("{twice} fn f(x: f64) -> f64 {{ {body} }}"));
        assert!(!text.contains("call"), "{body}\n{text}");
    }
}
