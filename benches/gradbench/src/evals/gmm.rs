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

/// The lower triangular factors of the precision matrices: `q` the logarithms of their diagonals, `l` what is below.
#[pointful]
fn factors<K: IndexSet, D: IndexSet, L: IndexSet>(
    q: &Table<(K, D), f64>,
    l: &Table<(K, L), f64>,
) -> Table<(K, D, D), f64> {
    for (k, i, j) in _ {
        let (row, column) = (i.ordinal(), j.ordinal());
        if row == column {
            q[k][i].exp()
        } else if row > column {
            l[k][column * (2 * size(D) - column - 1) / 2 + row - column - 1]
        } else {
            0.0
        }
    }
}

/// The logarithm of the density of the points `x`.
#[pointful]
pub fn log_likelihood<N: IndexSet, K: IndexSet, D: IndexSet, L: IndexSet>(
    x: &Table<(N, D), f64>,
    alpha: &Table<K, f64>,
    mu: &Table<(K, D), f64>,
    q: &Table<(K, D), f64>,
    l: &Table<(K, L), f64>,
) -> f64 {
    let factor = factors(q, l);
    let height = for k in K {
        alpha[k]
            + sum(for d in D {
                q[k][d]
            })
    };
    let total = sum(for n in N {
        log_sum_exp(&for k in K {
            height[k]
                - 0.5
                    * sum(for i in D {
                        sum(for j in D {
                            factor[k][i][j] * (x[n][j] - mu[k][j])
                        })
                        .powi(2)
                    })
        })
    });
    total - size(N) as f64 * (0.5 * size(D) as f64 * (2.0 * PI).ln() + log_sum_exp(alpha))
}

/// The logarithm of the density of the parameters; `normaliser` that of the Wishart distribution.
#[pointful]
pub fn log_prior<K: IndexSet, D: IndexSet, L: IndexSet>(
    q: &Table<(K, D), f64>,
    l: &Table<(K, L), f64>,
    gamma: f64,
    m: f64,
    normaliser: f64,
) -> f64 {
    sum(for k in K {
        let frobenius = sum(for d in D {
            (2.0 * q[k][d]).exp()
        }) + sum(for t in L {
            l[k][t].powi(2)
        });
        normaliser
            + m * sum(for d in D {
                q[k][d]
            })
            - 0.5 * gamma.powi(2) * frobenius
    })
}

/// The logarithm of the posterior density.
#[pointful]
pub fn log_posterior<N: IndexSet, K: IndexSet, D: IndexSet, L: IndexSet>(
    x: &Table<(N, D), f64>,
    alpha: &Table<K, f64>,
    mu: &Table<(K, D), f64>,
    q: &Table<(K, D), f64>,
    l: &Table<(K, L), f64>,
    gamma: f64,
    m: f64,
    normaliser: f64,
) -> f64 {
    log_likelihood(x, alpha, mu, q, l) + log_prior(q, l, gamma, m, normaliser)
}

/// The gradient with respect to the mixture's parameters: alpha, mu, q, l.
#[pointful]
pub fn gradient<N: IndexSet, K: IndexSet, D: IndexSet, L: IndexSet>(
    x: &Table<(N, D), f64>,
    alpha: &Table<K, f64>,
    mu: &Table<(K, D), f64>,
    q: &Table<(K, D), f64>,
    l: &Table<(K, L), f64>,
    gamma: f64,
    m: f64,
    normaliser: f64,
) -> (
    Table<K, f64>,
    Table<(K, D), f64>,
    Table<(K, D), f64>,
    Table<(K, L), f64>,
) {
    grad!(log_posterior, wrt = (alpha, mu, q, l))(x, alpha, mu, q, l, gamma, m, normaliser)
}

/// The logarithm of the Wishart density's constant factor in `d` dimensions.
pub fn wishart_normaliser(d: usize, gamma: f64, m: usize) -> f64 {
    let n = d + m + 1;
    // The multivariate gamma function at n/2 is a product of gamma functions at halves of whole numbers.
    let pairs = (d * d.saturating_sub(1)) as f64;
    let ln_gamma = 0.25 * pairs * PI.ln() + (0..d).map(|j| ln_gamma_of_half(n - j)).sum::<f64>();
    (n * d) as f64 * (gamma.ln() - 0.5 * LN_2) - ln_gamma
}

/// The logarithm of the gamma function at half of a positive whole number.
fn ln_gamma_of_half(twice: usize) -> f64 {
    let first = if twice % 2 == 0 { 0.0 } else { 0.5 * PI.ln() };
    let below = (1..twice).filter(|k| (twice - k) % 2 == 0);
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
    let x: Table<(Observation, _), f64> = matrix("x", space, &input.x)?;
    let alpha: Table<Component, f64> = vector(input.alpha)?;
    let mu: Table<(Component, _), f64> = matrix("mu", space, &input.mu)?;
    let q: Table<(Component, _), f64> = matrix("q", space, &input.q)?;
    let l: Table<(Component, _), f64> = matrix("l", below, &input.l)?;
    let (gamma, m) = (input.gamma, input.m as f64);
    let normaliser = wishart_normaliser(input.d, gamma, input.m);
    match request.function {
        "objective" => request.repeat(
            || log_posterior(&x, &alpha, &mu, &q, &l, gamma, m, normaliser),
            |value| value,
        ),
        "jacobian" => request.repeat(
            || gradient(&x, &alpha, &mu, &q, &l, gamma, m, normaliser),
            |(alpha, mu, q, l)| Gradient {
                alpha: alpha.into_vec(),
                mu: rows(&mu),
                q: rows(&q),
                l: rows(&l),
            },
        ),
        _ => request.unknown(),
    }
}
