//! Random programs, compiled, compute what the interpreter says.

use pointful_corpus::random::CALLS;

#[test]
fn random_programs_compute_what_they_mean() {
    assert!(CALLS.len() >= 16, "only {} programs ran", CALLS.len());
    for (number, call) in CALLS.iter().enumerate() {
        for (result, (found, expected)) in call().into_iter().enumerate() {
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
