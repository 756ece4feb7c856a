//! The posterior density of a mixture of Gaussians with a Wishart prior.

use std::f64::consts::{LN_2, PI};

use pointful::prelude::*;
use serde::{Deserialize, Serialize};

use super::lse::log_sum_exp;
use crate::protocol::{Answer, Failure, Request};
use crate::tables::{matrix, rows, vector};

/// An observation.
#[derive(Clone, Copy, IndexSet)]
pub struct Observation(usize);

/// A component of the mixture.
#[derive(Clone, Copy, IndexSet)]
pub struct Component(usize);

/// A coordinate.
#[derive(Clone, Copy, IndexSet)]
pub struct Coordinate(usize);

/// An element of a triangular matrix below its diagonal, column by column.
#[derive(Clone, Copy, IndexSet)]
pub struct Below(usize);

/// The parameters of a mixture.
#[pointful]
pub struct Mixture {
    /// The weights of the components, as logarithms up to a constant.
    pub alpha: Table<Component, f64>,
    /// The means.
    pub mu: Table<(Component, Coordinate), f64>,
    /// The diagonals of the triangular factors of the precision matrices, as logarithms.
    pub q: Table<(Component, Coordinate), f64>,
    /// What these factors have below the diagonal.
    pub l: Table<(Component, Below), f64>,
}

/// The Wishart distribution of the precision matrices.
#[pointful]
#[derive(Clone, Copy)]
pub struct Wishart {
    /// The factor of the identity in its scale matrix.
    pub gamma: f64,
    /// Its degrees of freedom, above one more than there are coordinates.
    pub m: f64,
    /// The logarithm of the density's constant factor.
    pub normaliser: f64,
}

/// The lower triangular factors of the precision matrices.
#[pointful]
fn factors(mixture: &Mixture) -> Table<(Component, Coordinate, Coordinate), f64> {
    let d = size(Coordinate);
    for (k, i, j) in _ {
        let (row, column) = (i.ordinal(), j.ordinal());
        if row == column {
            mixture.q[k][i].exp()
        } else if row > column {
            mixture.l[k][column * (2 * d - column - 1) / 2 + row - column - 1]
        } else {
            0.0
        }
    }
}

/// The logarithm of the density of the points `x`.
#[pointful]
pub fn log_likelihood(mixture: &Mixture, x: &Table<(Observation, Coordinate), f64>) -> f64 {
    let factor = factors(mixture);
    let height = for k in Component {
        mixture.alpha[k] + sum(mixture.q[k])
    };
    let total = sum(for n in Observation {
        log_sum_exp(&for k in Component {
            let square = sum(for i in Coordinate {
                sum(for j in Coordinate {
                    factor[k][i][j] * (x[n][j] - mixture.mu[k][j])
                })
                .powi(2)
            });
            height[k] - 0.5 * square
        })
    });
    let each = 0.5 * size(Coordinate) as f64 * (2.0 * PI).ln() + log_sum_exp(&mixture.alpha);
    total - size(Observation) as f64 * each
}

/// The logarithm of the density of the parameters.
#[pointful]
pub fn log_prior(mixture: &Mixture, prior: &Wishart) -> f64 {
    sum(for k in Component {
        let frobenius = sum((2.0 * mixture.q[k]).exp()) + sum(mixture.l[k].powi(2));
        prior.normaliser + prior.m * sum(mixture.q[k]) - 0.5 * prior.gamma.powi(2) * frobenius
    })
}

/// The logarithm of the posterior density.
#[pointful]
pub fn log_posterior(
    mixture: &Mixture,
    x: &Table<(Observation, Coordinate), f64>,
    prior: &Wishart,
) -> f64 {
    log_likelihood(mixture, x) + log_prior(mixture, prior)
}

define! {
    /// The gradient with respect to the mixture's parameters.
    pub fn gradient = grad!(log_posterior, wrt = mixture);
}

impl Wishart {
    /// That of precision matrices in `d` dimensions with `m` degrees of freedom more than needed.
    pub fn new(d: usize, gamma: f64, m: usize) -> Self {
        let n = d + m + 1;
        // The multivariate gamma function at n/2 is a product of gamma functions at halves of whole numbers.
        let pairs = (d * d.saturating_sub(1)) as f64;
        let ln_gamma =
            0.25 * pairs * PI.ln() + (0..d).map(|j| ln_gamma_of_half(n - j)).sum::<f64>();
        let normaliser = (n * d) as f64 * (gamma.ln() - 0.5 * LN_2) - ln_gamma;
        Self {
            gamma,
            m: m as f64,
            normaliser,
        }
    }
}

/// The logarithm of the gamma function at half of a positive whole number.
fn ln_gamma_of_half(twice: usize) -> f64 {
    let first = if twice.is_multiple_of(2) {
        0.0
    } else {
        0.5 * PI.ln()
    };
    let below = (1..twice).filter(|k| (twice - k).is_multiple_of(2));
    first + below.map(|k| (0.5 * k as f64).ln()).sum::<f64>()
}

#[derive(Deserialize)]
struct Input {
    d: usize,
    k: usize,
    n: usize,
    alpha: Vec<f64>,
    mu: Vec<Vec<f64>>,
    q: Vec<Vec<f64>>,
    l: Vec<Vec<f64>>,
    x: Vec<Vec<f64>>,
    gamma: f64,
    m: usize,
}

#[derive(Serialize)]
struct Gradient {
    alpha: Vec<f64>,
    mu: Vec<Vec<f64>>,
    q: Vec<Vec<f64>>,
    l: Vec<Vec<f64>>,
}

/// `objective` and `jacobian`.
pub fn evaluate(request: &Request<'_>) -> Result<Answer, Failure> {
    let input: Input = request.input()?;
    if input.x.len() != input.n || input.alpha.len() != input.k {
        return Err("`x` must have `n` rows and `alpha` must have `k` numbers".into());
    }
    let space = Extent::<Coordinate>::try_new(input.d)?;
    let below = Extent::<Below>::try_new(input.d * input.d.saturating_sub(1) / 2)?;
    let x = matrix("x", space, &input.x)?;
    let mixture = Mixture {
        alpha: vector(input.alpha)?,
        mu: matrix("mu", space, &input.mu)?,
        q: matrix("q", space, &input.q)?,
        l: matrix("l", below, &input.l)?,
    };
    let prior = Wishart::new(input.d, input.gamma, input.m);
    match request.function {
        "objective" => request.repeat(|| log_posterior(&mixture, &x, &prior), |value| value),
        "jacobian" => request.repeat(
            || gradient(&mixture, &x, &prior),
            |slope| Gradient {
                alpha: slope.alpha.into_vec(),
                mu: rows(&slope.mu),
                q: rows(&slope.q),
                l: rows(&slope.l),
            },
        ),
        _ => request.unknown(),
    }
}
