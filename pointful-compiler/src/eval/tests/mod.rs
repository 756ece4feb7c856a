//! Hand-written programs for each operation of each stage.

mod bulk;
mod kernels;
mod point;

use super::{Data, EvalError, Evaluate, Inputs, run, run_limited};
use crate::ir::parse::{Parse, parse};
use crate::ir::verify::{Verify, verify};

/// Runs a program given as text.
fn eval<S: Evaluate + Parse + Verify>(
    text: &str,
    sizes: &[usize],
    params: Vec<Data>,
) -> Result<Vec<Data>, EvalError> {
    let program = parse::<S>(text).unwrap_or_else(|error| panic!("{error}"));
    verify(&program).unwrap_or_else(|error| panic!("{error}"));
    let inputs = Inputs {
        sizes: sizes.to_vec(),
        params,
    };
    run(&program, &inputs).map(|(results, _)| results)
}

/// As [`eval`], with few steps.
fn eval_briefly<S: Evaluate + Parse + Verify>(text: &str, steps: u64) -> Result<(), EvalError> {
    let program = parse::<S>(text).unwrap_or_else(|error| panic!("{error}"));
    run_limited(&program, &Inputs::default(), steps).map(|_| ())
}

fn ramp(shape: &[usize]) -> Data {
    let len = shape.iter().product::<usize>();
    Data::f64s(shape, (0..len).map(|k| k as f64))
}
