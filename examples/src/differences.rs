//! Finite differences, against which the examples' tests hold their derivatives.

/// The gradient of `f` at `x` by central differences, each of a step that suits the coordinate's
/// size.
pub fn gradient(x: &[f64], mut f: impl FnMut(&[f64]) -> f64) -> Vec<f64> {
    let mut at = x.to_vec();
    (0..x.len())
        .map(|k| {
            let step = 1e-5 * x[k].abs().max(1.0);
            at[k] = x[k] + step;
            let above = f(&at);
            at[k] = x[k] - step;
            let below = f(&at);
            at[k] = x[k];
            (above - below) / (2.0 * step)
        })
        .collect()
}

/// Holds two gradients to each other, relative to the largest coordinate.
///
/// # Panics
/// If they differ by more than `tolerance`, with both.
pub fn assert_close(exact: &[f64], approximate: &[f64], tolerance: f64) {
    assert_eq!(exact.len(), approximate.len());
    let size = approximate.iter().fold(1e-300, |m: f64, x| m.max(x.abs()));
    for (k, (a, b)) in exact.iter().zip(approximate).enumerate() {
        assert!(
            (a - b).abs() <= tolerance * size,
            "coordinate {k}: {a}, by differences {b}\n{exact:?}\n{approximate:?}"
        );
    }
}
