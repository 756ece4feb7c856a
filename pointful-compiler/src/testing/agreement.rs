//! Whether functions of a generator give the same at every stage, and their derivatives are right.

use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::LocalKey;

use super::rng::Rng;
use super::source::{inputs_of, lowered};
use super::{Checked, check_derivative};
use crate::canonicalize::simplify;
use crate::differentiate::derives;
use crate::eval::compare::{Tolerance, difference};
use crate::eval::{Data, EvalError, Evaluate, Inputs, run_in_order, run_limited};
use crate::expand::{expand, loop_interchange};
use crate::ir::Program;
use crate::ir::stages::bulk::Bulk;
use crate::ir::stages::gpu::Gpu;
use crate::ir::stages::point::Point;
use crate::ir::verify::verify;
use crate::lower::source::link;
use crate::pipeline::{self, Trace};
use crate::targets::gpu::map::{Sizes, map_by};

/// Steps that a program may take.
const STEPS: u64 = 3_000_000;

/// Whether a stage gives the same, in each of some orders.
fn agrees<S: Evaluate>(
    program: &Program<S>,
    inputs: &Inputs,
    expected: &Result<Vec<Data>, EvalError>,
) -> Result<(), String> {
    for order in 0..S::ORDERS {
        let found = run_in_order(program, inputs, STEPS * 20, order);
        match (expected, found) {
            (Ok(expected), Ok((found, _))) => {
                let pairs = expected.iter().zip(&found);
                let mut differ = pairs.filter_map(|(a, b)| difference(a, b, Tolerance::default()));
                if let Some(what) = differ.next() {
                    return Err(what);
                }
            }
            // What nobody needs is not computed.
            (Err(EvalError::Panic(_)), Ok(_) | Err(EvalError::Panic(_))) => {}
            (a, b) => return Err(format!("{a:?}, {b:?}")),
        }
    }
    Ok(())
}

/// What the threads of a small device do.
pub(crate) fn on_small_device(bulk: Program<Bulk>) -> Result<Program<Gpu>, String> {
    let trace = &mut Trace::default();
    let kernels = pipeline::scheduled(trace, bulk);
    let kernels = pipeline::for_devices(trace, kernels);
    let program = map_by(kernels, Sizes::SMALL).map_err(|missing| missing.to_string())?;
    verify(&program).map_err(|error| error.to_string())?;
    Ok(program)
}

/// Checks each stage of the last of two functions, `f` and `g`, with sets of each of these sizes, and
/// the derivative of the first at others. Whether that says something.
pub(crate) fn check_source(
    source: &str,
    sizes: &[impl AsRef<[usize]>],
    smooth: &[usize],
    rng: &mut Rng,
    seed: u64,
) -> Result<bool, String> {
    let message = |what: String| format!("{what}\n{source}");
    let linked = link(source).map_err(|errors| message(errors[0].message.clone()))?;
    let stages = pipeline::stages(&linked).map_err(|errors| message(errors[0].message.clone()))?;
    let own = |sizes: &[usize], program: &Program<Point>| {
        sizes[..program.sizes.len().min(sizes.len())].to_vec()
    };
    let gpu = on_small_device(stages.bulk.clone()).map_err(message)?;
    for sizes in sizes {
        let sizes = sizes.as_ref();
        let inputs = inputs_of(&stages.point, own(sizes, &stages.point), rng);
        let expected = run_limited(&stages.bulk, &inputs, STEPS).map(|(results, _)| results);
        if matches!(expected, Err(EvalError::StepLimit)) {
            continue;
        }
        let at = |stage: &str, what: String| message(format!("{stage}, {sizes:?}: {what}"));
        agrees(&stages.kernels, &inputs, &expected).map_err(|what| at("kernels", what))?;
        agrees(&stages.cpu, &inputs, &expected).map_err(|what| at("cpu", what))?;
        agrees(&gpu, &inputs, &expected).map_err(|what| at("gpu", what))?;
    }
    let (function, _) = source.split_once("fn g<").expect("there are two");
    let written = lowered(function.trim_end().trim_end_matches("#[pointful]"));
    let program = pipeline::simplified(&mut Trace::default(), written.clone());
    let bulk = simplify(expand(program.clone()));
    let bulk = (!derives(&bulk.body)).then(|| loop_interchange(bulk));
    for sizes in sizes {
        let sizes = sizes.as_ref();
        let inputs = inputs_of(&written, own(sizes, &written), &mut Rng::new(seed));
        let expected = run_limited(&written, &inputs, STEPS).map(|(results, _)| results);
        // Derivatives inside of it have no meaning yet, and slices that nobody asks for take long to interpret.
        let found = run_limited(&program, &inputs, STEPS);
        if matches!(expected, Ok(_) | Err(EvalError::Panic(_)))
            && !matches!(found, Err(EvalError::StepLimit))
        {
            let what = agrees(&program, &inputs, &expected);
            what.map_err(|what| message(format!("point, {sizes:?}: {what}")))?;
            if let Some(bulk) = &bulk {
                let what = agrees(bulk, &inputs, &expected);
                what.map_err(|what| message(format!("bulk, {sizes:?}: {what}")))?;
            }
        }
    }
    let inputs = inputs_of(&program, own(smooth, &program), rng);
    let checked = check_derivative(&program, &inputs, seed).map_err(message)?;
    Ok(matches!(checked, Checked::Fine(_)))
}

/// `PROGRAMS` seeds from `FIRST` on, if the environment asks for a long run.
fn long_run() -> Option<Range<u64>> {
    let number = |name| {
        let text = std::env::var(name).ok()?;
        Some(text.parse::<u64>().expect("a number"))
    };
    let (first, programs) = (number("FIRST").unwrap_or(0), number("PROGRAMS")?);
    Some(first..first + programs)
}

/// Checks all of these seeds, and says which are wrong as they come.
fn none_is_wrong(seeds: Range<u64>, check: impl Fn(u64) -> Result<bool, String>) {
    let mut wrong = 0;
    for seed in seeds.clone() {
        let checked = catch_unwind(AssertUnwindSafe(|| check(seed)));
        if let Err(what) = checked.unwrap_or_else(|_| Err("a panic".to_owned())) {
            println!("seed {seed}: {what}");
            wrong += 1;
        }
    }
    println!("of {seeds:?}, {wrong} are wrong");
    assert_eq!(wrong, 0, "some are wrong");
}

/// Checks these seeds: half of them have derivatives, and each decision is taken in at least
/// five. In a long run, checks those that are asked for, and says all that is wrong.
pub(crate) fn entered_by(
    seeds: Range<u64>,
    check: impl Fn(u64) -> Result<bool, String>,
    counters: &[(&str, &'static LocalKey<Cell<u32>>)],
) {
    if let Some(seeds) = long_run() {
        return none_is_wrong(seeds, check);
    }
    let programs = seeds.end - seeds.start;
    let (mut fine, mut entered) = (0, vec![0; counters.len()]);
    for seed in seeds {
        counters.iter().for_each(|(_, counter)| counter.set(0));
        fine += u64::from(check(seed).unwrap_or_else(|what| panic!("seed {seed}: {what}")));
        for (times, (_, counter)) in entered.iter_mut().zip(counters) {
            *times += u32::from(counter.get() > 0);
        }
    }
    assert!(fine * 2 > programs, "{fine} of {programs} have derivatives");
    let few: Vec<String> = (entered.iter().zip(counters))
        .filter(|(times, _)| **times < 5)
        .map(|(times, (what, _))| format!("{what} in {times} programs"))
        .collect();
    assert!(few.is_empty(), "{}", few.join("; "));
}
