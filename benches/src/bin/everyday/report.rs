//! Rows of a table of times, of results that agree.

use pointful::prelude::*;
use pointful_benches::compare;

/// A result as numbers.
pub(crate) trait Numbers {
    fn numbers(&self) -> Vec<f64>;
}

impl Numbers for f64 {
    fn numbers(&self) -> Vec<f64> {
        vec![*self]
    }
}

impl Numbers for f32 {
    fn numbers(&self) -> Vec<f64> {
        vec![f64::from(*self)]
    }
}

impl<T: Copy + Into<f64>> Numbers for Vec<T> {
    fn numbers(&self) -> Vec<f64> {
        self.iter().map(|&x| x.into()).collect()
    }
}

impl<I: IndexSet> Numbers for Table<I, f32> {
    fn numbers(&self) -> Vec<f64> {
        self.as_slice().iter().map(|&x| x.into()).collect()
    }
}

impl<I: IndexSet> Numbers for Table<I, f64> {
    fn numbers(&self) -> Vec<f64> {
        self.as_slice().to_vec()
    }
}

impl<A: Numbers, B: Numbers> Numbers for (A, B) {
    fn numbers(&self) -> Vec<f64> {
        [self.0.numbers(), self.1.numbers()].concat()
    }
}

/// A table of times.
pub(crate) struct Report {
    rounds: usize,
}

impl Report {
    pub(crate) fn new(rounds: usize) -> Self {
        println!("| what | pointful, ms | plain loops, ms | ratio |\n|---|---|---|---|");
        Self { rounds }
    }

    /// A row. Panics if the results differ by more than what `f32` rounds.
    pub(crate) fn row<A: Numbers, B: Numbers>(
        &mut self,
        what: &str,
        mut ours: impl FnMut() -> A,
        mut theirs: impl FnMut() -> B,
    ) {
        let (found, expected) = (ours().numbers(), theirs().numbers());
        assert_eq!(found.len(), expected.len(), "{what}");
        let scale = expected.iter().fold(1e-6, |most: f64, x| most.max(x.abs()));
        for (found, expected) in found.iter().zip(&expected) {
            assert!(
                (found - expected).abs() <= 1e-3 * scale,
                "{what}: {found}, not {expected}"
            );
        }
        let times = compare(self.rounds, ours, theirs);
        let (ours, theirs) = (
            times.ours.as_secs_f64() * 1e3,
            times.theirs.as_secs_f64() * 1e3,
        );
        let (low, high) = times.quartiles;
        println!(
            "| {what} | {ours:.3} | {theirs:.3} | {:.2} ({low:.2} to {high:.2}) |",
            times.ratio
        );
    }
}

/// Numbers from -1 to 1, the same at every run.
pub(crate) fn noise<T: FromNoise>(seed: usize, len: usize) -> Vec<T> {
    (0..len)
        .map(|at| {
            let hash = (at + 1)
                .wrapping_mul(2 * seed + 1)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15);
            T::from_noise((hash >> 40) as f64 / f64::from(1 << 23) - 1.0)
        })
        .collect()
}

/// A float of an `f64`.
pub(crate) trait FromNoise {
    fn from_noise(x: f64) -> Self;
}

impl FromNoise for f32 {
    fn from_noise(x: f64) -> Self {
        x as f32
    }
}

impl FromNoise for f64 {
    fn from_noise(x: f64) -> Self {
        x
    }
}

/// Scattered places below a length.
pub(crate) fn places(seed: usize, count: usize, below: usize) -> Vec<usize> {
    (0..count)
        .map(|at| (at + seed).wrapping_mul(2_654_435_761) / 64 % below)
        .collect()
}
