//! Measuring two things against each other on a noisy machine: alternating in one run, medians and
//! ratios.

use std::time::{Duration, Instant};

/// What was measured of two ways to do the same.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// Median time of the first.
    pub ours: Duration,
    /// Median time of the second.
    pub theirs: Duration,
    /// Median of the ratios of neighbouring runs, first over second: below 1 the first is faster.
    pub ratio: f64,
    /// The ratios' quartiles.
    pub quartiles: (f64, f64),
}

/// Runs both `rounds` times, alternating, after one round to warm up.
pub fn compare<A, B>(
    rounds: usize,
    mut ours: impl FnMut() -> A,
    mut theirs: impl FnMut() -> B,
) -> Comparison {
    let time = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    let mut pairs = Vec::new();
    for round in 0..=rounds {
        let a = time(&mut || {
            std::hint::black_box(ours());
        });
        let b = time(&mut || {
            std::hint::black_box(theirs());
        });
        if round > 0 {
            pairs.push((a, b));
        }
    }
    let mut first: Vec<Duration> = pairs.iter().map(|p| p.0).collect();
    let mut second: Vec<Duration> = pairs.iter().map(|p| p.1).collect();
    let mut ratios: Vec<f64> = pairs
        .iter()
        .map(|(a, b)| a.as_secs_f64() / b.as_secs_f64())
        .collect();
    first.sort();
    second.sort();
    ratios.sort_by(f64::total_cmp);
    let at = |part: usize| ratios[(ratios.len() - 1) * part / 4];
    Comparison {
        ours: first[first.len() / 2],
        theirs: second[second.len() / 2],
        ratio: at(2),
        quartiles: (at(1), at(3)),
    }
}
