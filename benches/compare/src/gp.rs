//! The log marginal likelihood of a Gaussian process, by Cholesky's factorization in loops of
//! one's own, and its gradient by what the kernel is made with.

use std::f64::consts::PI;
use std::sync::Arc;

use pointful::prelude::*;
use rayon::prelude::*;

use crate::{Failure, Inputs, Task};

/// Something observed.
#[derive(Clone, Copy, IndexSet)]
pub struct Point(usize);

/// What it was observed at.
#[derive(Clone, Copy, IndexSet)]
pub struct Feature(usize);

/// Logarithms of what the kernel is made with.
#[pointful]
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// How far points are related, along each feature.
    pub lengths: Table<Feature, f64>,
    /// How far the function goes from its mean.
    pub amplitude: f64,
    /// How far observations are from the function.
    pub noise: f64,
}

/// The lower triangular matrix whose product with its transpose is `a`.
#[pointful]
fn cholesky<N: IndexSet>(a: &Table<(N, N), f64>) -> Table<(N, N), f64> {
    let mut l = for (_i, _j) in _ {
        0.0
    };
    for j in N {
        let pivot = (a[j][j] - sum(for k in ..j { l[j][k].powi(2) })).sqrt();
        l[j][j] = pivot;
        for i in (j..).skip(1) {
            l[i][j] = (a[i][j] - sum(for k in ..j { l[i][k] * l[j][k] })) / pivot;
        }
    }
    l
}

/// Solves `l · z = b` for a lower triangular matrix.
#[pointful]
fn solved<N: IndexSet>(l: &Table<(N, N), f64>, b: &Table<N, f64>) -> Table<N, f64> {
    let mut z = for _i in N {
        0.0
    };
    for i in N {
        z[i] = (b[i] - sum(for j in ..i { l[i][j] * z[j] })) / l[i][i];
    }
    z
}

/// How likely what was observed is.
#[pointful]
pub fn log_likelihood(
    kernel: &Kernel,
    x: &Table<(Point, Feature), f64>,
    y: &Table<Point, f64>,
) -> f64 {
    let scale = (-kernel.lengths).exp();
    let variance = (2.0 * kernel.amplitude).exp();
    let noise = (2.0 * kernel.noise).exp();
    let covariance = for (p, q) in (Point, Point) {
        let apart = sum(for f in Feature {
            (scale[f] * (x[p][f] - x[q][f])).powi(2)
        });
        variance * (-0.5 * apart).exp() + if p == q { noise } else { 0.0 }
    };
    let l = cholesky(covariance);
    let z = solved(l, y);
    let log_determinant = sum(for p in Point { l[p][p].ln() });
    -0.5 * sum(z * z) - log_determinant - 0.5 * size(Point) as f64 * (2.0 * PI).ln()
}

/// Nine points with two features.
pub(crate) fn small() -> Inputs {
    let one = |x: f64| Table::<Dyn, f64>::from(vec![x]);
    Inputs::made()
        .noise("x", Extent::<(Dyn, Dyn)>::new((9, 2)), 1, |x| 2.0 * x)
        .noise("y", Extent::<Dyn>::new(9), 2, |x| x)
        .noise("lengths", Extent::<Dyn>::new(2), 3, |x| 0.3 * x)
        .with("amplitude", &one(0.2))
        .with("noise", &one(-1.0))
}

struct Input {
    kernel: Kernel,
    x: Table<(Point, Feature), f64>,
    y: Table<Point, f64>,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let one = |name| -> Result<f64, Failure> {
        let table: Table<Dyn, f64> = inputs.table(name)?;
        Ok(*table.iter().next().ok_or("a number is missing")?)
    };
    let input = Arc::new(Input {
        kernel: Kernel {
            lengths: inputs.table("lengths")?,
            amplitude: one("amplitude")?,
            noise: one("noise")?,
        },
        x: inputs.table("x")?,
        y: inputs.table("y")?,
    });
    let [a, b, c] = [(); 3].map(|()| Arc::clone(&input));
    let slopes = &["value", "lengths", "amplitude", "noise"];
    Ok(vec![
        Task::pointful("value", &["value"], move || {
            log_likelihood(&a.kernel, &a.x, &a.y)
        }),
        Task::pointful("gradient", slopes, move || {
            let slope = value_and_grad!(log_likelihood, wrt = kernel);
            let (value, s) = slope(&b.kernel, &b.x, &b.y);
            (value, s.lengths, s.amplitude, s.noise)
        }),
        Task::hand("value", &["value"], move || by_hand(&c)),
    ])
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn by_hand(input: &Input) -> f64 {
    let (n, features) = input.x.extent().size();
    let scale = input.kernel.lengths.as_slice().iter().map(|l| (-l).exp());
    let scale: Vec<f64> = scale.collect();
    let variance = (2.0 * input.kernel.amplitude).exp();
    let noise = (2.0 * input.kernel.noise).exp();
    let x = input.x.as_slice();
    let row = |p: usize| &x[p * features..][..features];
    // Below the diagonal, and upon it; becomes the factor.
    let mut l = vec![0.0; n * n];
    l.par_chunks_exact_mut(n).enumerate().for_each(|(p, line)| {
        for (q, entry) in line[..=p].iter_mut().enumerate() {
            let terms = row(p).iter().zip(row(q)).zip(&scale);
            let apart: f64 = terms.map(|((a, b), s)| (s * (a - b)).powi(2)).sum();
            *entry = variance * (-0.5 * apart).exp();
        }
        line[p] += noise;
    });
    for j in 0..n {
        let (upper, lower) = l.split_at_mut((j + 1) * n);
        let pivots = &mut upper[j * n..];
        let pivot = (pivots[j] - dot(&pivots[..j], &pivots[..j])).sqrt();
        pivots[j] = pivot;
        let rest = lower.par_chunks_exact_mut(n).with_min_len(64);
        rest.for_each(|line| line[j] = (line[j] - dot(&line[..j], &pivots[..j])) / pivot);
    }
    let mut z: Vec<f64> = Vec::with_capacity(n);
    let mut log_determinant = 0.0;
    for (line, y) in l.chunks_exact(n).zip(input.y.as_slice()) {
        let at = z.len();
        z.push((y - dot(&line[..at], &z)) / line[at]);
        log_determinant += line[at].ln();
    }
    -0.5 * dot(&z, &z) - log_determinant - 0.5 * n as f64 * (2.0 * PI).ln()
}
