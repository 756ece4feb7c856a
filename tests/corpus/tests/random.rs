//! Random programs and their derivatives, compiled, compute what the interpreter says, with the same bits on any number of threads.

use pointful_corpus::random::{CALLS, DERIVATIVES};

type Call = fn() -> Vec<(Vec<f64>, Vec<f64>)>;

fn check(calls: &[Call]) {
    for (number, call) in calls.iter().enumerate() {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("threads");
            pool.install(call)
        };
        let results = on(1);
        for threads in [2, 5] {
            for ((found, _), (alone, _)) in on(threads).iter().zip(&results) {
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
