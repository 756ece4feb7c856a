//! Numbers that are nearly those that are expected.

/// Asserts that all numbers are as expected within a part of 1 or of the larger.
#[track_caller]
pub(crate) fn all_close(found: &[f64], expected: &[f64], within: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let near = (found - expected).abs() <= within * (1.0 + expected.abs());
        assert!(near, "{found} is not {expected}");
    }
}
