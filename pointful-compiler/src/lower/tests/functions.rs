//! Functions that only the caller of the root knows, functions that the root returns, and generic
//! floats.

use super::{lower_source, rendered};
use crate::interface::FunctionSource;
use crate::ir::{self, Scalar};
use crate::lower::source::link;
use crate::lower::{Lowered, float_choices, lower};

fn lowered(source: &str) -> Lowered {
    lower_source(source).unwrap_or_else(|errors| panic!("{source}\n{}", rendered(&errors)))
}

/// The only error, which does not hold where another function calls this one.
fn alone(source: &str) -> String {
    let errors = lower_source(source).expect_err("nobody knows the function");
    assert!(
        errors.iter().all(|error| error.alone),
        "{}",
        rendered(&errors)
    );
    assert_eq!(errors.len(), 1, "{}", rendered(&errors));
    errors[0].message.clone()
}

#[test]
fn a_function_whose_body_is_not_read_is_a_primitive() {
    let source = "#[pointful(extern)] fn g(x: f64, n: usize) -> f64 { any::code!() }
        fn f(x: &Table<Fin<3>, f64>) -> f64 { sum(for i in _ { g(x[i], 2) }) + sum(g(x, 3)) }";
    let Lowered {
        program, interface, ..
    } = lowered(source);
    let text = ir::print(&program);
    assert_eq!(text.matches("call anywhere 0 f64 ").count(), 2, "{text}");
    assert_eq!(interface.functions.len(), 1);
    let parsed = ir::parse::<ir::stages::point::Point>(&text).expect("what is printed is read");
    assert_eq!(ir::print(&parsed), text);
}

#[test]
fn a_function_of_the_callers_is_a_primitive() {
    let source = "fn f(g: impl Fn(f64, usize) -> (f64, bool), x: &Table<Fin<3>, f64>) -> f64 {
        sum(for i in _ { let (y, keep) = g(x[i], 2); if keep { y } else { 0.0 } })
    }";
    let Lowered {
        program, interface, ..
    } = lowered(source);
    let text = ir::print(&program);
    assert!(text.contains("call 0 f64 "), "{text}");
    assert!(text.contains("call 1 bool "), "{text}");
    let fields = interface.functions.iter().map(|source| match source {
        FunctionSource::Given(given) => given.fields.len(),
        FunctionSource::Extern(_) | FunctionSource::Print(_) => 0,
    });
    assert_eq!(fields.collect::<Vec<usize>>(), [1, 1]);
    let parsed = ir::parse::<ir::stages::point::Point>(&text).expect("what is printed is read");
    assert_eq!(ir::print(&parsed), text);
}

#[test]
fn what_takes_nothing_is_given_something() {
    let text = ir::print(&lowered("fn f(g: impl Fn() -> i64) -> i64 { g() }").program);
    assert!(text.contains("call 0 i64 %"), "{text}");
}

#[test]
fn a_function_that_is_returned_is_the_root_with_more_parameters() {
    let Lowered {
        program, interface, ..
    } = lowered("fn f(a: f64) -> impl Fn(f64) -> f64 { move |x| a * x }");
    assert_eq!(program.params.len(), 2);
    assert_eq!(interface.returned.map(|names| names.len()), Some(1));
}

#[test]
fn what_only_other_functions_can_call() {
    let tables = "fn f(g: impl Fn(&Table<Dyn, f64>) -> f64, x: &Table<Dyn, f64>) -> f64 { g(x) }";
    assert!(alone(tables).contains("`g` takes `Table<Dyn, f64>`"));
    let gives = "fn f(g: impl Fn(f64) -> Table<Fin<2>, f64>) -> f64 { sum(g(1.0)) }";
    assert!(alone(gives).contains("`g` gives `Table<Fin<2>, f64>`"));
    let slope = "fn f(g: impl Fn(f64) -> f64, x: f64) -> f64 { grad!(g)(x) }";
    assert!(alone(slope).contains("the derivative of `g` is needed"));
}

#[test]
fn one_program_for_each_float() {
    let source = "fn f<N: IndexSet, T: Float, S: Float>(x: &Table<N, T>, y: S) -> (Table<N, T>, S) { (x, 2.0 * y) }";
    let linked = link(source).expect("it is Rust");
    let choices = float_choices(&linked.root);
    assert_eq!(choices.len(), 4);
    assert_eq!(choices[0], [None, Some(Scalar::F64), Some(Scalar::F64)]);
    for choice in &choices {
        let lowered = lower(&linked, choice).expect("it is of the language");
        let elems: Vec<_> = lowered
            .program
            .body
            .results
            .iter()
            .map(|&result| Some(lowered.program.elem(result).repr()))
            .collect();
        assert_eq!(elems, choice[1..]);
        assert!(lowered.interface.generic_floats);
    }
}
