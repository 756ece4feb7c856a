//! Runs passes on random programs and compares what the programs compute before and after.

use std::cell::Cell;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use super::random::{Options, random_point};
use super::shrink::shrink;
use crate::eval::compare::{Tolerance, difference};
use crate::eval::{Data, EvalError, Evaluate, Inputs, ScalarValue, run_limited};
use crate::ir::Program;
use crate::ir::print::{Print, print};
use crate::ir::stages::point::Point;
use crate::ir::verify::{Verify, verify};

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
pub fn check_pass<B: Tested>(n: u64, pass: impl Fn(&Program<Point>) -> Program<B>) {
    check_seeds(0..n, Options::default(), Program::clone, pass);
}

/// As [`check_pass`], for a pass on what `before` makes of random programs.
///
/// # Panics
///
/// See [`check_pass`].
pub fn check_between<A: Tested, B: Tested>(
    n: u64,
    before: impl Fn(&Program<Point>) -> Program<A>,
    pass: impl Fn(&Program<A>) -> Program<B>,
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
    before: impl Fn(&Program<Point>) -> Program<A>,
    pass: impl Fn(&Program<A>) -> Program<B>,
) {
    let mut compared = 0;
    let total = seeds.end - seeds.start;
    for seed in seeds {
        let (program, inputs) = random_point(seed, options);
        match judge(&program, &inputs, &before, &pass) {
            Verdict::Same => compared += 1,
            Verdict::Unsuitable => {}
            Verdict::Wrong {
                mistake,
                message: first,
                ..
            } => {
                // Another mistake would lead away from this one.
                let fails = |program: &Program<Point>, inputs: &Inputs| {
                    let verdict = judge(program, inputs, &before, &pass);
                    matches!(verdict, Verdict::Wrong { mistake: m, .. } if m == mistake)
                };
                let (small, few) = quietly(|| shrink(program, inputs, SHRINKING, fails));
                let verdict = judge(&small, &few, &before, &pass);
                let Verdict::Wrong {
                    message, programs, ..
                } = verdict
                else {
                    panic!("seed {seed}: {first}; a second run does not show it");
                };
                panic!(
                    "seed {seed}: {message}\n(first seen as: {first})\n\n{programs}\n{}",
                    describe(&few)
                );
            }
        }
    }
    assert!(
        compared * 2 > total,
        "only {compared} of {total} programs could be compared"
    );
}

/// What comparing a program before and after gives.
enum Verdict {
    /// It computes the same.
    Same,
    /// It says nothing: rounding decides what it computes.
    Unsuitable,
    /// It does not.
    Wrong {
        /// What kind of thing is wrong.
        mistake: Mistake,
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

fn judge<A: Tested, B: Tested>(
    program: &Program<Point>,
    inputs: &Inputs,
    before: &impl Fn(&Program<Point>) -> Program<A>,
    pass: &impl Fn(&Program<A>) -> Program<B>,
) -> Verdict {
    let expected = match run_limited(program, inputs, STEPS) {
        Ok((results, _)) => Ok(results),
        Err(EvalError::Panic(message)) => Err(message),
        Err(EvalError::Input(_) | EvalError::Bug(_) | EvalError::StepLimit) => {
            return Verdict::Unsuitable;
        }
    };
    if let Ok(results) = &expected
        && !is_stable(program, inputs, results)
    {
        return Verdict::Unsuitable;
    }
    let mut programs = print(program);
    let compared = stage(
        "before the pass",
        program,
        before,
        inputs,
        &expected,
        &mut programs,
    )
    .and_then(|a| stage("after the pass", &a, pass, inputs, &expected, &mut programs));
    match compared {
        Ok(_) => Verdict::Same,
        Err((mistake, message)) => Verdict::Wrong {
            mistake,
            message,
            programs,
        },
    }
}

/// Applies a pass and checks what it gives.
fn stage<A: Tested, B: Tested>(
    when: &str,
    program: &Program<A>,
    pass: &impl Fn(&Program<A>) -> Program<B>,
    inputs: &Inputs,
    expected: &Result<Vec<Data>, String>,
    programs: &mut String,
) -> Result<Program<B>, (Mistake, String)> {
    let out = quietly(|| catch_unwind(AssertUnwindSafe(|| pass(program)))).map_err(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        let message = message.unwrap_or("something else than a text");
        let message = format!("{when}: the pass panics: {message}");
        (Mistake::Panic, message)
    })?;
    let _ = write!(programs, "---- {when}\n{}", print(&out));
    verify(&out).map_err(|error| (Mistake::Invalid, format!("{when}: invalid: {error}")))?;
    let found = run_limited(&out, inputs, STEPS * MORE_STEPS);
    match (expected, found) {
        // A program may fail less often than before: what nobody needs is not computed.
        (Err(_), Ok(_) | Err(EvalError::Panic(_))) => Ok(out),
        (Ok(expected), Ok((found, _))) => {
            if expected.len() != found.len() {
                let message = format!("{when}: another number of results");
                return Err((Mistake::Different, message));
            }
            for (k, (expected, found)) in expected.iter().zip(&found).enumerate() {
                if let Some(difference) = difference(expected, found, Tolerance::default()) {
                    let message = format!("{when}: result {k}: {difference}");
                    return Err((Mistake::Different, message));
                }
            }
            Ok(out)
        }
        (_, Err(error)) => {
            let mistake = match &error {
                EvalError::Panic(_) => Mistake::NewPanic,
                EvalError::Bug(_) | EvalError::Input(_) => Mistake::Meaningless,
                EvalError::StepLimit => Mistake::Endless,
            };
            Err((mistake, format!("{when}: {error}")))
        }
    }
}

/// Whether results stay what they are when inputs change as little as rounding might change them.
fn is_stable(program: &Program<Point>, inputs: &Inputs, results: &[Data]) -> bool {
    let mut nearby = inputs.clone();
    for data in &mut nearby.params {
        for (k, value) in data.values.iter_mut().enumerate() {
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            match value {
                ScalarValue::F32(x) => *x *= 1.0 + sign as f32 * 2e-6,
                ScalarValue::F64(x) => *x *= 1.0 + sign * 1e-12,
                ScalarValue::I32(_)
                | ScalarValue::I64(_)
                | ScalarValue::U8(_)
                | ScalarValue::U32(_)
                | ScalarValue::Usize(_)
                | ScalarValue::Bool(_) => {}
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
        check_pass(50, Program::clone);
        check_between(50, Program::clone, Program::<Point>::clone);
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
            check_pass(200, |program| {
                let mut out = program.clone();
                spoil(&mut out.body);
                out
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
            check_pass(20, |program| {
                let mut out = program.clone();
                out.body.stmts.pop();
                out
            });
        });
        assert!(text.contains("invalid"), "{text}");
    }
}
