//! Programs as users write them: inputs for them, and checks that they mean the same at every stage
//! and have the right derivatives.

use quote::ToTokens;

use super::{Checked, Rng, check_derivative};
use crate::eval::compare::{Tolerance, difference};
use crate::eval::{Counts, Data, Inputs, ScalarValue, run};
use crate::ir::stages::point::Point;
use crate::ir::{Elem, Extent, Program, Scalar};
use crate::lower::source::{link, lower_source};
use crate::pipeline::{self, Stages};

/// Inputs for a program in which every size is `n`: floats between -1 and 1 that are on no kink.
pub fn inputs(program: &Program<Point>, n: usize, rng: &mut Rng) -> Inputs {
    inputs_of(program, vec![n; program.sizes.len()], rng)
}

/// The same for these sizes.
pub fn inputs_of(program: &Program<Point>, sizes: Vec<usize>, rng: &mut Rng) -> Inputs {
    let length = |extent: &Extent| match extent {
        Extent::Const(n) => *n as usize,
        Extent::Size(size) => sizes[size.0 as usize],
        Extent::Value(_) => panic!("a parameter has a size"),
    };
    let params = program
        .params
        .iter()
        .map(|param| {
            let ty = program.ty(param.value);
            let shape: Vec<usize> = ty.dims.iter().map(length).collect();
            let count = shape.iter().product::<usize>();
            let values = (0..count).map(|_| match ty.elem {
                Elem::Index(extent) | Elem::Bound(extent) => {
                    ScalarValue::Usize(rng.below(length(&extent).max(1)))
                }
                Elem::Scalar(Scalar::Bool) => ScalarValue::Bool(rng.chance(50)),
                Elem::Scalar(scalar) if scalar.is_float() => {
                    let x = rng.between(-1_000_000, 1_000_000) as f64 / 1_000_003.0;
                    ScalarValue::from_float(scalar, x)
                }
                Elem::Scalar(scalar) => ScalarValue::from_int(scalar, rng.below(5) as i128),
            });
            Data::new(ty.elem.repr(), shape.clone(), values.collect())
        })
        .collect();
    Inputs { sizes, params }
}

/// Every public function of a source, at every stage. It may call those in front of it.
///
/// # Panics
/// With the first message, if one is no right program.
pub fn public_functions(source: &str) -> Vec<Stages> {
    let file: syn::File = syn::parse_str(source).expect("it is Rust");
    let functions = file.items.into_iter().filter_map(|item| match item {
        syn::Item::Fn(function) => Some(function),
        _ => None,
    });
    let (mut before, mut stages) = (String::new(), Vec::new());
    for function in functions {
        before.push_str(&function.to_token_stream().to_string());
        if matches!(function.vis, syn::Visibility::Public(_)) {
            let compiled = link(&before).and_then(|linked| pipeline::stages(&linked));
            stages.push(compiled.unwrap_or_else(|errors| {
                panic!("`{}`: {}", function.sig.ident, errors[0].message)
            }));
        }
    }
    stages
}

/// The last function of a source, lowered.
///
/// # Panics
/// With the messages, if it is not a right program.
#[track_caller]
pub fn lowered(source: &str) -> Program<Point> {
    match lower_source(source) {
        Ok(lowered) => lowered.program,
        Err(errors) => panic!("{source}\n{:?}", errors.first().map(|e| &e.message)),
    }
}

/// Checks the derivative of the last function of a source at sizes 0, 1, 2 and 7; gives the
/// operations at the last. A size of 0 may be unsuitable, as for what reads the first element.
///
/// # Panics
/// If the derivative is wrong, or the function has none.
#[track_caller]
pub fn check_source(source: &str) -> [Counts; 3] {
    let program = lowered(source);
    let mut counts = None;
    for n in [0, 1, 2, 7] {
        let inputs = inputs(&program, n, &mut Rng::new(n as u64));
        match check_derivative(&program, &inputs, 7) {
            Ok(Checked::Fine(fine)) => counts = Some(fine),
            Ok(Checked::Unsuitable(why)) if n > 0 => panic!("{source}\nat size {n}: {why}"),
            Ok(Checked::Unsuitable(_)) => {}
            Err(message) => panic!("{source}\nat size {n}: {message}"),
        }
    }
    counts.expect("the last size was checked")
}

/// Checks that the last function of a source gives the same as definitions of arrays and as it is
/// scheduled, at sizes 0, 1, 2 and 7.
///
/// # Panics
/// If it does not.
#[track_caller]
pub fn check_stages(source: &str) {
    let linked = link(source).unwrap_or_else(|e| panic!("{:?}", e.first().map(|e| &e.message)));
    let stages = pipeline::stages(&linked)
        .unwrap_or_else(|e| panic!("{source}\n{:?}", e.first().map(|e| &e.message)));
    for n in [0, 1, 2, 7] {
        let inputs = inputs(&stages.point, n, &mut Rng::new(n as u64));
        let bulk = run(&stages.bulk, &inputs).map(|(results, _)| results);
        let kernels = run(&stages.kernels, &inputs).map(|(results, _)| results);
        match (bulk, kernels) {
            (Ok(bulk), Ok(kernels)) => {
                for (a, b) in bulk.iter().zip(&kernels) {
                    if let Some(what) = difference(a, b, Tolerance::default()) {
                        panic!("{source}\nat size {n}: {what}");
                    }
                }
            }
            (Err(_), Err(_)) if n == 0 => {}
            (bulk, kernels) => panic!("{source}\nat size {n}: {bulk:?}\n{kernels:?}"),
        }
    }
}
