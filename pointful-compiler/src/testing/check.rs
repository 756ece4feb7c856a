//! Runs passes on random programs and compares what the programs compute before and after.

use std::cell::Cell;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use super::random::{Options, random_point};
use super::shrink::shrink;
use crate::canonicalize::{bounds_check_elimination, cse, dce, doall, owner_computes, simplify};
use crate::eval::compare::{Tolerance, difference};
use crate::eval::{Data, EvalError, Evaluate, Inputs, ScalarValue, run_in_order, run_limited};
use crate::ir::Program;
use crate::ir::print::{Print, print};
use crate::ir::stages::point::Point;
use crate::ir::verify::{Verify, verify};
use crate::targets::cpu::split::Limits;
use crate::targets::cpu::tiling::{Size, tiling_of};
use crate::targets::cpu::vectorize::outer_loop::{Together, outer_loop_by};
use crate::targets::cpu::vectorize::reductions::{Lanes, reductions_by};
use crate::targets::cpu::vectorize::short_loops::{Short, short_loops_by};
use crate::{contract, expand, targets};
#[cfg(test)]
use crate::{
    ir::stages::{gpu::Gpu, kernels::Kernels},
    pipeline::Trace,
    targets::gpu::map::{Sizes, map_by},
};

/// Steps that a random program may take; a pass may make it take [`MORE_STEPS`] times as many.
const STEPS: u64 = 200_000;

/// See [`STEPS`].
const MORE_STEPS: u64 = 100;

/// How many smaller programs are tried for one that fails.
const SHRINKING: usize = 4_000;

/// A stage whose programs can be printed, verified and run.
pub trait Tested: Evaluate + Print + Verify {}
impl<S: Evaluate + Print + Verify> Tested for S {}

/// Checks that a pass keeps what `n` random programs compute, and gives valid programs.
///
/// # Panics
///
/// If it does not: with a small program that shows it, before and after.
pub fn check_pass<B: Tested>(n: u64, pass: impl Fn(Program<Point>) -> Program<B>) {
    check_seeds(0..n, Options::default(), |program| program, pass);
}

/// As [`check_pass`], for a pass on what `before` makes of random programs.
///
/// # Panics
///
/// See [`check_pass`].
pub fn check_between<A: Tested, B: Tested>(
    n: u64,
    before: impl Fn(Program<Point>) -> Program<A>,
    pass: impl Fn(Program<A>) -> Program<B>,
) {
    check_seeds(0..n, Options::default(), before, pass);
}

/// As [`check_between`], for these seeds and programs of this kind.
///
/// # Panics
///
/// See [`check_pass`].
pub fn check_seeds<A: Tested, B: Tested>(
    seeds: std::ops::Range<u64>,
    options: Options,
    before: impl Fn(Program<Point>) -> Program<A>,
    pass: impl Fn(Program<A>) -> Program<B>,
) {
    check_each(seeds, |seed| random_point(seed, options), before, pass);
}

/// As [`check_between`], for the programs of these seeds.
///
/// # Panics
///
/// See [`check_pass`].
pub fn check_each<A: Tested, B: Tested>(
    seeds: std::ops::Range<u64>,
    program: impl Fn(u64) -> (Program<Point>, Inputs),
    before: impl Fn(Program<Point>) -> Program<A>,
    pass: impl Fn(Program<A>) -> Program<B>,
) {
    let judge = |program: &_, inputs: &_| {
        judge(program, inputs, |trial| {
            let a = trial.stage("before the pass", program.clone(), &before)?;
            trial.stage("after the pass", a, &pass)?;
            Ok(())
        })
    };
    let total = seeds.end - seeds.start;
    let mut compared = 0;
    for seed in seeds {
        let (program, inputs) = program(seed);
        match shown(program, inputs, judge) {
            Ok(same) => compared += u64::from(same),
            Err(message) => panic!("seed {seed}: {message}"),
        }
    }
    assert!(
        compared * 2 > total,
        "only {compared} of {total} programs could be compared"
    );
}

/// Checks that devices of these sizes compute the same as a program, and give the same bits in
/// any order of threads. Whether it could be compared; it is as well if something is missing there.
///
/// # Errors
/// What is wrong, on a small program that shows it.
#[cfg(test)]
pub(crate) fn check_on_devices(
    program: Program<Point>,
    inputs: Inputs,
    sizes: Sizes,
) -> Result<bool, String> {
    shown(program, inputs, |program, inputs| {
        judge(program, inputs, |trial| {
            let kernels = trial.stage("as kernels", program.clone(), for_devices)?;
            let Ok(gpu) = map_by(kernels.clone(), sizes) else {
                return Ok(());
            };
            let gpu = trial.stage("on a device", kernels, |_| gpu)?;
            let first = run_in_order(&gpu, inputs, STEPS * MORE_STEPS, 0);
            for order in 1..Gpu::ORDERS {
                let found = run_in_order(&gpu, inputs, STEPS * MORE_STEPS, order);
                same_bits(&first, &found).map_err(|message| Wrong {
                    mistake: Mistake::Different,
                    when: "in another order of threads",
                    message,
                })?;
            }
            Ok(())
        })
    })
}

/// A program as it arrives at the mapping to threads of a device.
#[cfg(test)]
pub(crate) fn for_devices(program: Program<Point>) -> Program<Kernels> {
    let bulk = expand::expand(dce(cse(simplify(program))));
    let bulk = contract::predicate_updates(dce(cse(simplify(bulk))));
    let bulk = contract::uniform_values(bulk);
    let kernels = contract::schedule::schedule(dce(cse(simplify(bulk))));
    crate::pipeline::for_devices(&mut Trace::default(), kernels)
}

/// Whether two runs give the same bits, or both none.
#[cfg(test)]
fn same_bits<T>(
    first: &Result<(Vec<Data>, T), EvalError>,
    second: &Result<(Vec<Data>, T), EvalError>,
) -> Result<(), String> {
    const NONE: Tolerance = Tolerance { f32: 0.0, f64: 0.0 };
    let (Ok((first, _)), Ok((second, _))) = (first, second) else {
        return match (first, second) {
            (Err(_), Err(_)) => Ok(()),
            _ => Err("one of two orders fails".to_owned()),
        };
    };
    let mut differ = first
        .iter()
        .zip(second)
        .filter_map(|(a, b)| difference(a, b, NONE));
    differ.next().map_or(Ok(()), Err)
}

/// A program as it arrives at passes over what a processor does.
#[cfg(test)]
pub(crate) fn outlined(program: Program<Point>) -> Program<crate::ir::stages::cpu::Cpu> {
    let bulk = expand::expand(dce(cse(simplify(program))));
    let kernels = contract::schedule::schedule(dce(cse(simplify(bulk))));
    targets::cpu::outline(contract::scalar_replacement(kernels))
}

/// Checks that a program gives the same at every stage: as it is written, simplified, as
/// definitions of whole arrays, tidied, and as it is scheduled. Whether it could be compared: not
/// if rounding decides what it computes.
///
/// # Errors
/// What is wrong, on a small program that shows it, at each stage.
pub fn check_stages(program: Program<Point>, inputs: Inputs) -> Result<bool, String> {
    shown(program, inputs, |program, inputs| {
        judge(program, inputs, |trial| {
            let tidy = |point| dce(cse(simplify(point)));
            let point = trial.stage("simplified", program.clone(), tidy)?;
            let point = trial.stage("unchecked", point, bounds_check_elimination)?;
            let point = trial.stage("in any order", point, doall)?;
            let point = trial.stage("by owners", point, owner_computes)?;
            let bulk = trial.stage("as definitions", point, expand::expand)?;
            let tidy = |bulk| dce(cse(simplify(bulk)));
            let bulk = trial.stage("tidied", bulk, tidy)?;
            let bulk = trial.stage("interchanged", bulk, expand::loop_interchange)?;
            let bulk = trial.stage("handed on", bulk, contract::predicate_updates)?;
            let bulk = trial.stage("uniform", bulk, contract::uniform_values)?;
            let bulk = trial.stage("tidied again", bulk, tidy)?;
            let schedule = |bulk| contract::scalar_replacement(contract::schedule::schedule(bulk));
            let kernels = trial.stage("scheduled", bulk, schedule)?;
            let tiles = |kernels| tiling_of(kernels, Size::of(2));
            let kernels = trial.stage("in tiles", kernels, tiles)?;
            let kernels = trial.stage("moved", kernels, contract::loop_invariants)?;
            let kernels = trial.stage("split", kernels, contract::loop_fission)?;
            let kernels = trial.stage("turned", kernels, targets::cpu::pack_operands)?;
            let kernels = trial.stage("in place", kernels, contract::in_place)?;
            let kernels = trial.stage("owned", kernels, contract::disjoint_updates)?;
            let kernels = trial.stage("versions", kernels, targets::cpu::serial_version)?;
            let cpu = trial.stage("outlined", kernels, targets::cpu::outline)?;
            let limits = Limits {
                short: 2,
                ..Limits::default()
            };
            let split = |cpu| targets::cpu::split::split_by(cpu, limits);
            let cpu = trial.stage("cut at ends of axes", cpu, split)?;
            let lanes = Lanes {
                bytes: 16,
                strips: 1,
            };
            let all = Together {
                bytes: 32,
                few_bytes: 16,
                if_it_pays: None,
                own_bytes: 64,
            };
            let together = |cpu| outer_loop_by(cpu, all);
            let cpu = trial.stage("with points together", cpu, together)?;
            let short = Short { bytes: 16, long: 6 };
            let strips = |cpu| short_loops_by(cpu, short);
            let cpu = trial.stage("with short rows in strips", cpu, strips)?;
            let split = |cpu| reductions_by(cpu, lanes);
            let cpu = trial.stage("with reductions in lanes", cpu, split)?;
            let cpu = trial.stage("speculating", cpu, targets::cpu::speculate::speculate)?;
            let cpu = trial.stage("by tiles of rows", cpu, targets::cpu::time_tiling)?;
            let cpu = trial.stage("noted", cpu, targets::cpu::privatize::privatize)?;
            let cpu = trial.stage("turned round", cpu, targets::cpu::idioms::transpose)?;
            trial.stage("for each level", cpu, targets::cpu::multiversioning)?;
            Ok(())
        })
    })
}

/// Whether a program could be compared.
///
/// # Errors
/// What is wrong, on a small program that shows it.
fn shown(
    program: Program<Point>,
    inputs: Inputs,
    judge: impl Fn(&Program<Point>, &Inputs) -> Verdict,
) -> Result<bool, String> {
    let (mistake, first) = match judge(&program, &inputs) {
        Verdict::Same => return Ok(true),
        Verdict::Unsuitable => return Ok(false),
        Verdict::Wrong {
            mistake, message, ..
        } => (mistake, message),
    };
    // Another mistake would lead away from this one.
    let fails = |program: &Program<Point>, inputs: &Inputs| matches!(judge(program, inputs), Verdict::Wrong { mistake: m, .. } if m == mistake);
    let (small, few) = quietly(|| shrink(program, inputs, SHRINKING, fails));
    let Verdict::Wrong {
        message, programs, ..
    } = judge(&small, &few)
    else {
        return Err(format!("{first}; a second run does not show it"));
    };
    Err(format!(
        "{message}\n(first seen as: {first})\n\n{programs}\n{}",
        describe(&few)
    ))
}

/// What comparing a program before and after gives.
enum Verdict {
    /// It computes the same.
    Same,
    /// It says nothing: rounding decides what it computes.
    Unsuitable,
    /// It does not.
    Wrong {
        /// What kind of thing is wrong, and at which stage.
        mistake: (Mistake, &'static str),
        /// What is wrong.
        message: String,
        /// The programs, printed.
        programs: String,
    },
}

/// What can be wrong with a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mistake {
    /// It panics.
    Panic,
    /// It gives a program that is not valid.
    Invalid,
    /// It gives one that computes something else.
    Different,
    /// It gives one that panics.
    NewPanic,
    /// It gives one that has no meaning.
    Meaningless,
    /// It gives one that does not end, or not soon.
    Endless,
}

/// The first stage.
const WRITTEN: &str = "as it is written";

/// What is wrong at a stage.
struct Wrong {
    mistake: Mistake,
    when: &'static str,
    message: String,
}

/// What the stages of a program are measured by, and their programs as text so far.
struct Trial<'t> {
    inputs: &'t Inputs,
    /// What the program gives as it is written.
    expected: Result<Vec<Data>, String>,
    programs: String,
}

/// Runs a program, and what `stages` makes of it.
fn judge(
    program: &Program<Point>,
    inputs: &Inputs,
    stages: impl FnOnce(&mut Trial<'_>) -> Result<(), Wrong>,
) -> Verdict {
    if let Err(error) = verify(program) {
        return Verdict::Wrong {
            mistake: (Mistake::Invalid, WRITTEN),
            message: format!("{WRITTEN}: invalid: {error}"),
            programs: print(program),
        };
    }
    let expected = match run_limited(program, inputs, STEPS) {
        Ok((results, _)) => Ok(results),
        Err(EvalError::Panic(message)) => Err(message),
        Err(EvalError::Input(_) | EvalError::StepLimit) => return Verdict::Unsuitable,
        Err(EvalError::Bug(message)) => {
            return Verdict::Wrong {
                mistake: (Mistake::Meaningless, WRITTEN),
                message: format!("{WRITTEN}: {message}"),
                programs: print(program),
            };
        }
    };
    if let Ok(results) = &expected
        && !is_stable(program, inputs, results)
    {
        return Verdict::Unsuitable;
    }
    let mut trial = Trial {
        inputs,
        expected,
        programs: print(program),
    };
    match stages(&mut trial) {
        Ok(()) => Verdict::Same,
        Err(wrong) => Verdict::Wrong {
            mistake: (wrong.mistake, wrong.when),
            message: format!("{}: {}", wrong.when, wrong.message),
            programs: trial.programs,
        },
    }
}

impl Trial<'_> {
    /// Applies a pass and checks what it gives.
    fn stage<A: Tested, B: Tested>(
        &mut self,
        when: &'static str,
        program: Program<A>,
        pass: impl FnOnce(Program<A>) -> Program<B>,
    ) -> Result<Program<B>, Wrong> {
        let wrong = |mistake, message| Wrong {
            mistake,
            when,
            message,
        };
        let out =
            quietly(|| catch_unwind(AssertUnwindSafe(|| pass(program)))).map_err(|panic| {
                let message = panic
                    .downcast_ref::<String>()
                    .map(String::as_str)
                    .or_else(|| panic.downcast_ref::<&str>().copied());
                let message = message.unwrap_or("something else than a text");
                wrong(Mistake::Panic, format!("the pass panics: {message}"))
            })?;
        let _ = write!(self.programs, "---- {when}\n{}", print(&out));
        verify(&out).map_err(|error| wrong(Mistake::Invalid, format!("invalid: {error}")))?;
        for order in 0..B::ORDERS {
            let found = run_in_order(&out, self.inputs, STEPS * MORE_STEPS, order);
            self.agrees(found.map(|(found, _)| found))
                .map_err(|(mistake, message)| wrong(mistake, message))?;
        }
        Ok(out)
    }

    /// Whether a run gives what is expected.
    fn agrees(&self, found: Result<Vec<Data>, EvalError>) -> Result<(), (Mistake, String)> {
        match (&self.expected, found) {
            // A program may fail less often than before: what nobody needs is not computed.
            (Err(_), Ok(_) | Err(EvalError::Panic(_))) => Ok(()),
            (Ok(expected), Ok(found)) => {
                if expected.len() != found.len() {
                    return Err((Mistake::Different, "another number of results".to_owned()));
                }
                for (k, (expected, found)) in expected.iter().zip(&found).enumerate() {
                    if let Some(difference) = difference(expected, found, Tolerance::default()) {
                        return Err((Mistake::Different, format!("result {k}: {difference}")));
                    }
                }
                Ok(())
            }
            (_, Err(error)) => {
                let mistake = match &error {
                    EvalError::Panic(_) => Mistake::NewPanic,
                    EvalError::Bug(_) | EvalError::Input(_) => Mistake::Meaningless,
                    EvalError::StepLimit => Mistake::Endless,
                };
                Err((mistake, error.to_string()))
            }
        }
    }
}

/// Whether results stay what they are when inputs change as little as rounding might change them.
pub fn is_stable<S: Evaluate>(program: &Program<S>, inputs: &Inputs, results: &[Data]) -> bool {
    let mut nearby = inputs.clone();
    for data in &mut nearby.params {
        for (k, value) in data.values.iter_mut().enumerate() {
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            match value {
                ScalarValue::F32(x) => *x *= 1.0 + sign as f32 * 2e-6,
                ScalarValue::F64(x) => *x *= 1.0 + sign * 1e-12,
                _ => {}
            }
        }
    }
    let tight = Tolerance {
        f32: Tolerance::default().f32 / 4.0,
        f64: Tolerance::default().f64 / 4.0,
    };
    match run_limited(program, &nearby, STEPS) {
        Ok((found, _)) => results
            .iter()
            .zip(&found)
            .all(|(a, b)| difference(a, b, tight).is_none()),
        Err(_) => false,
    }
}

/// Inputs in words.
fn describe(inputs: &Inputs) -> String {
    let mut text = format!("sizes {:?}\n", inputs.sizes);
    for data in &inputs.params {
        let _ = writeln!(text, "{} {:?} {data}", data.elem.name(), data.shape);
    }
    text
}

/// Runs `f` without printing a message for each panic that it catches.
fn quietly<T>(f: impl FnOnce() -> T) -> T {
    thread_local! {
        static QUIET: Cell<bool> = const { Cell::new(false) };
    }
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                usual(info);
            }
        }));
    });
    let before = QUIET.replace(true);
    let result = f();
    QUIET.set(before);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::stages::point::PointOp;
    use crate::ir::{Block, Operation};
    use crate::ops::Prim;

    #[test]
    fn doing_nothing_keeps_the_meaning() {
        check_pass(50, |program| program);
        check_between(50, |program| program, |program: Program<Point>| program);
    }

    /// Makes every sum a difference.
    fn spoil(block: &mut Block<Point>) {
        for stmt in &mut block.stmts {
            if let PointOp::Prim(prim @ Prim::Add, _) = &mut stmt.op {
                *prim = Prim::Sub;
            }
            stmt.op.blocks_mut().into_iter().for_each(spoil);
        }
    }

    fn message(f: impl FnOnce()) -> String {
        let panic = quietly(|| catch_unwind(AssertUnwindSafe(f))).unwrap_err();
        panic.downcast_ref::<String>().cloned().unwrap_or_default()
    }

    #[test]
    fn a_wrong_pass_is_found_and_shown_on_a_small_program() {
        let text = message(|| {
            check_pass(200, |mut program| {
                spoil(&mut program.body);
                program
            });
        });
        assert!(text.contains("after the pass: result 0"), "{text}");
        assert!(text.contains(" = add "), "{text}");
        let before = text.split("---- before").next().unwrap_or_default();
        assert!(before.lines().count() < 16, "{text}");
    }

    #[test]
    fn a_pass_that_panics_or_gives_an_invalid_program_is_found() {
        let text = message(|| check_pass::<Point>(5, |_| panic!("not today")));
        assert!(text.contains("the pass panics: not today"), "{text}");
        let text = message(|| {
            check_pass(20, |mut program| {
                program.body.stmts.pop();
                program
            });
        });
        assert!(text.contains("invalid"), "{text}");
    }
}
