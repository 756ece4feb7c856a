//! Random programs give the same at every stage: as they are written, simplified, as definitions of
//! whole arrays, tidied, scheduled. Half of them are programs of Point, half are functions of the
//! language.
//!
//! `many_programs` is the long run: it is ignored otherwise, and says all that it finds.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use pointful_compiler::eval::ScalarValue;
use pointful_compiler::testing::functions::random_inputs;
use pointful_compiler::testing::source::{inputs_of, lowered};
use pointful_compiler::testing::twice::{Asked, Written};
use pointful_compiler::testing::{
    Checked, Options, Rng, check_derivative, check_second_derivative, check_stages, random_lowered,
    random_point, random_smooth, transformed,
};

/// What a check says of a seed: whether its program could be compared, or what is wrong.
type Check = fn(u64) -> Result<bool, String>;

fn program(seed: u64) -> Result<bool, String> {
    let (program, inputs) = random_point(seed, Options::default());
    check_stages(program, inputs)
}

fn function(seed: u64) -> Result<bool, String> {
    let (text, program, inputs) = random_lowered(seed);
    check_stages(program, inputs).map_err(|message| format!("{message}\n{text}"))
}

/// A function of loops with states, as it stands beside plain loops elsewhere.
fn twice(seed: u64) -> Result<bool, String> {
    let asked = Asked {
        seed,
        ..Asked::default()
    };
    let text = Written::new(&asked).function;
    let program = lowered(&text);
    let inputs = random_inputs(&program, &mut Rng::new(seed));
    check_stages(program, inputs).map_err(|message| format!("{message}\n{text}"))
}

fn derivative(seed: u64) -> Result<bool, String> {
    let (program, inputs) = random_smooth(seed, Options::default());
    let checked = check_derivative(&program, &inputs, seed)?;
    Ok(matches!(checked, Checked::Fine(_)))
}

/// A derivative of a program, perhaps mapped, as a program of its own.
fn repeated(seed: u64) -> Result<bool, String> {
    let options = Options {
        statements: 15,
        depth: 3,
        singles: false,
        ..Options::default()
    };
    let (program, inputs) = random_smooth(seed, options);
    let Some((program, inputs)) = transformed(&program, &inputs, &mut Rng::new(seed)) else {
        return Ok(false);
    };
    let checked = check_derivative(&program, &inputs, seed)?;
    Ok(matches!(checked, Checked::Fine(_)))
}

/// The derivative of a function of loops with states, or, of every third, that of its gradient.
fn slopes(seed: u64) -> Result<bool, String> {
    let asked = Asked {
        seed,
        ..Asked::default()
    };
    let written = Written::new(&asked);
    let text = match seed % 3 {
        0 => [
            &written.function,
            written.helper("loss").as_str(),
            &written.helper("gg"),
        ]
        .join("\n"),
        _ => written.function,
    };
    let program = lowered(&text);
    let rng = &mut Rng::new(seed);
    let sizes: Vec<usize> = (program.sizes.iter()).map(|_| 1 + rng.below(7)).collect();
    let mut inputs = inputs_of(&program, sizes.clone(), rng);
    let ends = program.params.iter().zip(&mut inputs.params);
    for (_, ends) in ends.filter(|(param, _)| param.name == "ends") {
        for end in &mut ends.values {
            *end = ScalarValue::Usize(rng.below(sizes[1] + 1));
        }
    }
    let checked = check_derivative(&program, &inputs, seed);
    let checked = checked.map_err(|message| format!("{message}\n{text}"))?;
    Ok(matches!(checked, Checked::Fine(_)))
}

/// What checks of many seeds found.
#[derive(Default)]
struct Found {
    compared: u64,
    wrong: Vec<(u64, String)>,
}

/// Checks these seeds on so many threads.
fn each(seeds: Range<u64>, threads: usize, check: Check) -> Found {
    let next = AtomicU64::new(seeds.start);
    let found = Mutex::new(Found::default());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        break;
                    }
                    let result =
                        catch_unwind(AssertUnwindSafe(|| check(seed))).unwrap_or_else(|panic| {
                            let text = panic.downcast_ref::<String>().cloned();
                            Err(text.unwrap_or_else(|| "a panic".to_owned()))
                        });
                    let mut found = found.lock().expect("nobody panics here");
                    match result {
                        Ok(compared) => found.compared += u64::from(compared),
                        Err(message) => {
                            // A long run may be stopped before its end.
                            eprintln!(
                                "seed {seed}: {}",
                                message.lines().next().unwrap_or_default()
                            );
                            found.wrong.push((seed, message));
                        }
                    }
                }
            });
        }
    });
    let mut found = found.into_inner().expect("nobody panics here");
    found.wrong.sort();
    found
}

/// None of so many programs is wrong, on all processors, and at least so many of them can be
/// compared.
fn none_is_wrong(seeds: Range<u64>, check: Check, least: u64) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let found = each(seeds.clone(), threads, check);
    if let Some((seed, message)) = found.wrong.first() {
        panic!("{} are wrong; seed {seed}: {message}", found.wrong.len());
    }
    let compared = found.compared;
    assert!(
        compared >= least,
        "only {compared} of {seeds:?} could be compared"
    );
}

#[test]
fn programs_agree_at_every_stage() {
    none_is_wrong(0..500, program, 451);
}

#[test]
fn functions_agree_at_every_stage() {
    none_is_wrong(0..500, function, 451);
}

#[test]
fn functions_written_twice_agree_at_every_stage() {
    none_is_wrong(0..500, twice, 451);
}

#[test]
fn derivatives_of_derivatives() {
    none_is_wrong(0..60, repeated, 21);
}

#[test]
fn derivatives_of_functions_written_twice() {
    none_is_wrong(300..420, slopes, 41);
}

/// Second derivatives of a program: whether they are no zeros.
fn second(seed: u64) -> Result<bool, String> {
    let options = Options {
        statements: 15,
        depth: 3,
        singles: false,
        ..Options::default()
    };
    let (program, inputs) = random_smooth(seed, options);
    let number = check_second_derivative(&program, &inputs, seed)?;
    Ok(number.is_some_and(|number| number != 0.0))
}

#[test]
fn second_derivatives_are_the_same_in_all_orders() {
    none_is_wrong(0..150, second, 10);
}

/// `PROGRAMS` of each kind from the seed `FIRST`, and derivatives, on one processor; of one `KIND`,
/// if that is given.
#[test]
#[ignore = "takes minutes: see CONTRIBUTING.md"]
fn many_programs() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
    };
    let first = number("FIRST", 0);
    let seeds = first..first + number("PROGRAMS", 100_000);
    let kinds: [(&str, Check); 7] = [
        ("programs", program),
        ("functions", function),
        ("twice", twice),
        ("derivatives", derivative),
        ("repeated", repeated),
        ("slopes", slopes),
        ("second", second),
    ];
    let kind = std::env::var("KIND").ok();
    let asked = |name: &str| kind.as_deref().is_none_or(|kind| kind == name);
    assert!(
        kinds.iter().any(|(name, _)| asked(name)),
        "no such kind of programs"
    );
    let mut wrong = 0;
    for (name, check) in kinds.into_iter().filter(|(name, _)| asked(name)) {
        let found = each(seeds.clone(), 1, check);
        for (seed, message) in &found.wrong {
            // All of it, if only some are tried.
            let few = match seeds.end - seeds.start {
                ..=10 => message.as_str(),
                _ => message.lines().next().unwrap_or_default(),
            };
            println!("{name}, seed {seed}: {few}");
        }
        wrong += found.wrong.len();
        println!(
            "{name} {}..{}: {} agree, {} are wrong",
            seeds.start,
            seeds.end,
            found.compared,
            found.wrong.len()
        );
    }
    assert_eq!(wrong, 0, "some are wrong");
}
