//! Random programs give the same at every stage: as they are written, simplified, as definitions of whole arrays, tidied, scheduled.
//! Half of them are programs of Point, half are functions of the language.

use std::sync::atomic::{AtomicU64, Ordering};

use pointful_compiler::testing::{Options, check_stages, random_lowered, random_point};

/// Programs of each kind.
const PROGRAMS: u64 = 500;

/// Checks each of these programs on as many threads as there are; gives how many could be compared.
fn each(check: impl Fn(u64) -> bool + Sync) -> u64 {
    let (next, compared) = (AtomicU64::new(0), AtomicU64::new(0));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= PROGRAMS {
                        break;
                    }
                    if check(seed) {
                        compared.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    compared.into_inner()
}

#[test]
fn programs_agree_at_every_stage() {
    let compared = each(|seed| {
        let (program, inputs) = random_point(seed, Options::default());
        check_stages(program, inputs).unwrap_or_else(|message| panic!("seed {seed}: {message}"))
    });
    assert!(
        compared * 10 > PROGRAMS * 9,
        "only {compared} of {PROGRAMS}"
    );
}

#[test]
fn functions_agree_at_every_stage() {
    let compared = each(|seed| {
        let (text, program, inputs) = random_lowered(seed);
        check_stages(program, inputs)
            .unwrap_or_else(|message| panic!("seed {seed}: {message}\n{text}"))
    });
    assert!(
        compared * 10 > PROGRAMS * 9,
        "only {compared} of {PROGRAMS}"
    );
}
