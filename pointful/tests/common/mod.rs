//! Tables to compute with, and how their numbers are compared.

use pointful::prelude::*;

pub(crate) fn list(values: &[f64]) -> Table<Dyn, f64> {
    Table::from(values.to_vec())
}

/// Numbers of both signs.
pub(crate) fn noise(n: usize, seed: f64) -> Vec<f64> {
    (0..n)
        .map(|k| ((k as f64 + seed) * 12.9898).sin() * 3.0)
        .collect()
}

pub(crate) fn matrix(rows: usize, columns: usize) -> Table<(Dyn, Dyn), f64> {
    let extent = Extent::<(Dyn, Dyn)>::new((rows, columns));
    Table::from_vec(extent, noise(rows * columns, 0.3)).expect("its length")
}

#[track_caller]
pub(crate) fn close(left: f64, right: f64) {
    assert!(
        (left - right).abs() <= 1e-6 * (1.0 + right.abs()),
        "{left} {right}"
    );
}
