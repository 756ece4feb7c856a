//! The posterior density of a mixture of Gaussians with a Wishart prior.

use pointful::prelude::*;
use pointful_adbench::gmm::{
    Coordinate, Mixture, Sample, Wishart, log_likelihood, normaliser, packed, wishart,
};
use serde::{Deserialize, Serialize};

use crate::protocol::{Answer, Failure, Request};
use crate::tables::{matrix, rows, vector};

/// The logarithm of the posterior density. `ADBench`'s objective has the prior's with the other
/// sign.
#[pointful]
pub fn log_posterior(
    mixture: &Mixture,
    points: &Table<(Sample, Coordinate), f64>,
    gamma: f64,
    m: f64,
    normaliser: f64,
) -> f64 {
    log_likelihood(mixture, points) - wishart(mixture, gamma, m, normaliser)
}

define! {
    /// The gradient with respect to the mixture's parameters.
    pub fn gradient = grad!(log_posterior, wrt = mixture);
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
    let (d, k) = (input.d, input.k);
    if input.x.len() != input.n || input.alpha.len() != k || input.l.len() != input.q.len() {
        return Err("`x` must have `n` rows; `alpha`, `q` and `l` one for each of `k`".into());
    }
    let space = Extent::<Coordinate>::try_new(d)?;
    let points = matrix("x", space, &input.x)?;
    let factors: Vec<_> = (input.q.iter().zip(&input.l))
        .map(|(q, l)| [q.as_slice(), l].concat())
        .collect();
    let mixture = Mixture {
        alpha: vector(input.alpha)?,
        mean: matrix("mu", space, &input.mu)?,
        icf: matrix("q` and `l", Extent::try_new(packed(d))?, &factors)?,
    };
    let prior = Wishart {
        gamma: input.gamma,
        m: input.m,
    };
    let constant = normaliser(prior, d);
    let m = prior.m as f64;
    match request.function {
        "objective" => request.repeat(
            || log_posterior(&mixture, &points, prior.gamma, m, constant),
            |value| value,
        ),
        "jacobian" => request.repeat(
            || gradient(&mixture, &points, prior.gamma, m, constant),
            |slope| {
                let factors = rows(&slope.icf);
                let (q, l) = factors
                    .iter()
                    .map(|row| (row[..d].to_vec(), row[d..].to_vec()))
                    .unzip();
                Gradient {
                    alpha: slope.alpha.into_vec(),
                    mu: rows(&slope.mean),
                    q,
                    l,
                }
            },
        ),
        _ => request.unknown(),
    }
}
