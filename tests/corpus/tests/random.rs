//! Random programs and their derivatives, compiled, compute what the interpreter says, with the
//! same bits on any number of threads, whatever memory holds that nobody has written.

use std::sync::{Mutex, PoisonError};

use pointful_corpus::random::{CALLS, DERIVATIVES};
use pointful_runtime::memory;

type Call = fn() -> Vec<(Vec<f64>, Vec<f64>)>;

/// What memory holds is the same for all threads, so one test runs at a time.
static MEMORY: Mutex<()> = Mutex::new(());

fn check(calls: &[Call]) {
    let _alone = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    for (number, call) in calls.iter().enumerate() {
        let on = |threads: usize, unwritten: Option<u16>| {
            memory::hold_unwritten(unwritten);
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("threads");
            pool.install(call)
        };
        let results = on(1, None);
        for (threads, unwritten) in [(1, Some(0)), (2, None), (5, Some(0))] {
            for ((found, _), (alone, _)) in on(threads, unwritten).iter().zip(&results) {
                let bits =
                    |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(
                    bits(found),
                    bits(alone),
                    "program {number}, {threads} threads"
                );
            }
        }
        for (result, (found, expected)) in results.into_iter().enumerate() {
            assert_eq!(
                found.len(),
                expected.len(),
                "program {number}, result {result}"
            );
            for (at, (&found, &expected)) in found.iter().zip(&expected).enumerate() {
                let same = found == expected
                    || (found.is_nan() && expected.is_nan())
                    || (found - expected).abs() <= 1e-3 * (1.0 + expected.abs());
                assert!(
                    same,
                    "program {number}, result {result}, element {at}: {found}, not {expected}"
                );
            }
        }
    }
}

#[test]
fn random_programs_compute_what_they_mean() {
    assert!(CALLS.len() >= 200, "only {} programs ran", CALLS.len());
    check(CALLS);
}

#[test]
fn random_derivatives_compute_what_they_mean() {
    assert!(
        DERIVATIVES.len() >= 12,
        "only {} derivatives ran",
        DERIVATIVES.len()
    );
    check(DERIVATIVES);
}
