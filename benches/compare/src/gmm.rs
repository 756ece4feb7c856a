//! A mixture of Gaussians, as the ADBench suite has it: `pointful_adbench::gmm`.

use pointful::prelude::*;
use pointful_adbench::gmm::{self, Mixture, Wishart};
use rayon::prelude::*;
use std::f64::consts::PI;
use std::sync::Arc;

use crate::{Failure, Inputs, Task};

const PRIOR: Wishart = Wishart { gamma: 1.0, m: 0 };

/// Seven points, three components, four dimensions.
pub(crate) fn small() -> Inputs {
    let (n, k, d) = (7, 3, 4);
    let packed = gmm::packed(d);
    Inputs::made()
        .noise("alpha", Extent::<Dyn>::new(k), 1, |x| x)
        .noise("mean", Extent::<(Dyn, Dyn)>::new((k, d)), 2, |x| x)
        .noise("icf", Extent::<(Dyn, Dyn)>::new((k, packed)), 3, |x| {
            0.5 * x
        })
        .noise("points", Extent::<(Dyn, Dyn)>::new((n, d)), 4, |x| x)
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let mixture = Mixture {
        alpha: inputs.table("alpha")?,
        mean: inputs.table("mean")?,
        icf: inputs.table("icf")?,
    };
    let points: Table<(gmm::Sample, gmm::Coordinate), f64> = inputs.table("points")?;
    let d = Extent::<gmm::Coordinate>::new(points.extent().axes()[1]).len();
    let input = Arc::new(gmm::Input {
        mixture,
        points,
        prior: PRIOR,
        normaliser: gmm::normaliser(PRIOR, d),
    });
    let gradient = &["value", "alpha", "mean", "icf"];
    let [a, b, c, e] = [(); 4].map(|()| Arc::clone(&input));
    Ok(vec![
        Task::pointful("value", &["value"], move || a.objective()),
        Task::pointful("gradient", gradient, move || {
            let slope = value_and_grad!(gmm::objective, wrt = mixture);
            let prior = b.prior;
            let (value, slope) = slope(
                &b.mixture,
                &b.points,
                prior.gamma,
                prior.m as f64,
                b.normaliser,
            );
            (value, slope.alpha, slope.mean, slope.icf)
        }),
        Task::hand("value", &["value"], move || ByHand::new(&c).value()),
        Task::hand("gradient", gradient, move || ByHand::new(&e).gradient()),
    ])
}

/// The objective in loops over slices.
struct ByHand<'a> {
    input: &'a gmm::Input,
    alpha: &'a [f64],
    mean: &'a [f64],
    icf: &'a [f64],
    points: &'a [f64],
    /// Dimensions.
    d: usize,
    /// Components.
    k: usize,
    /// Their lower triangular factors, with zeros above.
    factor: Vec<f64>,
    /// The sums of the logarithms of their diagonals, and the weights.
    constant: Vec<f64>,
}

/// What is added up of the points: the logarithms of their densities, and the slopes by weights,
/// means and factors.
type Slopes = (f64, Vec<f64>, Vec<f64>, Vec<f64>);

impl<'a> ByHand<'a> {
    fn new(input: &'a gmm::Input) -> Self {
        let alpha = input.mixture.alpha.as_slice();
        let icf = input.mixture.icf.as_slice();
        let k = alpha.len();
        let d = input.mixture.mean.len() / k;
        let packed = gmm::packed(d);
        let mut factor = vec![0.0; k * d * d];
        for (icf, factor) in icf.chunks(packed).zip(factor.chunks_mut(d * d)) {
            let mut below = d;
            for column in 0..d {
                factor[column * d + column] = icf[column].exp();
                for row in column + 1..d {
                    factor[row * d + column] = icf[below];
                    below += 1;
                }
            }
        }
        let log_det = icf.chunks(packed).map(|icf| icf[..d].iter().sum::<f64>());
        ByHand {
            input,
            alpha,
            mean: input.mixture.mean.as_slice(),
            icf,
            points: input.points.as_slice(),
            d,
            k,
            factor,
            constant: log_det.zip(alpha).map(|(det, alpha)| det + alpha).collect(),
        }
    }

    /// Writes, for each component, how far `point` is from its mean, and that by its factor; then
    /// the logarithm of the point's density with it. Gives the logarithm of the sum of the
    /// densities.
    fn densities(&self, point: &[f64], far: &mut [f64], by: &mut [f64], log: &mut [f64]) -> f64 {
        let d = self.d;
        for k in 0..self.k {
            let (far, by) = (&mut far[k * d..][..d], &mut by[k * d..][..d]);
            let mean = &self.mean[k * d..][..d];
            for j in 0..d {
                far[j] = point[j] - mean[j];
            }
            let mut square = 0.0;
            for (i, by) in by.iter_mut().enumerate() {
                let row = &self.factor[(k * d + i) * d..][..=i];
                *by = row.iter().zip(&*far).map(|(q, x)| q * x).sum();
                square += *by * *by;
            }
            log[k] = self.constant[k] - 0.5 * square;
        }
        log_sum_exp(log)
    }

    fn scratch(&self) -> [Vec<f64>; 3] {
        [
            vec![0.0; self.k * self.d],
            vec![0.0; self.k * self.d],
            vec![0.0; self.k],
        ]
    }

    /// The objective, given the sum of the logarithms of the points' densities.
    fn objective(&self, total: f64) -> f64 {
        let n = (self.points.len() / self.d) as f64;
        let each = 0.5 * self.d as f64 * (2.0 * PI).ln() + log_sum_exp(self.alpha);
        let squares: f64 = self.factor.iter().map(|q| q * q).sum();
        let log_det: f64 = self.constant.iter().sum::<f64>() - self.alpha.iter().sum::<f64>();
        let Wishart { gamma, m } = self.input.prior;
        let prior = 0.5 * gamma * gamma * squares
            - m as f64 * log_det
            - self.k as f64 * self.input.normaliser;
        total - n * each + prior
    }

    fn value(&self) -> f64 {
        let points = self.points.par_chunks(self.d);
        let total = points
            .map_init(
                || self.scratch(),
                |[far, by, log], point| self.densities(point, far, by, log),
            )
            .sum();
        self.objective(total)
    }

    fn gradient(&self) -> (f64, Vec<f64>, Vec<f64>, Vec<f64>) {
        let (d, k) = (self.d, self.k);
        let none = || {
            (
                0.0,
                vec![0.0; k],
                vec![0.0; k * d],
                vec![0.0; k * d * d],
            )
        };
        let n = self.points.len() / d;
        let piece = n.div_ceil(2 * rayon::current_num_threads()).max(1);
        let pieces: Vec<Slopes> = self
            .points
            .par_chunks(piece * d)
            .map(|points| {
                let mut sums = none();
                let [mut far, mut by, mut log] = self.scratch();
                for point in points.chunks(d) {
                    let value = self.densities(point, &mut far, &mut by, &mut log);
                    sums.0 += value;
                    for k in 0..k {
                        let weight = (log[k] - value).exp();
                        sums.1[k] += weight;
                        for i in 0..d {
                            let at = k * d + i;
                            let t = weight * by[at];
                            let row = &self.factor[at * d..][..=i];
                            let far = &far[k * d..][..=i];
                            let mean = &mut sums.2[k * d..][..=i];
                            let factor = &mut sums.3[at * d..][..=i];
                            for j in 0..=i {
                                mean[j] += t * row[j];
                                factor[j] -= t * far[j];
                            }
                        }
                    }
                }
                sums
            })
            .collect();
        let (total, mut alpha, mean, by_factor) =
            pieces.into_iter().fold(none(), |mut all, one| {
                let add = |all: &mut [f64], one: &[f64]| {
                    all.iter_mut().zip(one).for_each(|(all, one)| *all += one);
                };
                all.0 += one.0;
                add(&mut all.1, &one.1);
                add(&mut all.2, &one.2);
                add(&mut all.3, &one.3);
                all
            });
        let Wishart { gamma, m } = self.input.prior;
        let mut icf = vec![0.0; self.icf.len()];
        for (k, icf) in icf.chunks_mut(gmm::packed(d)).enumerate() {
            let mut below = d;
            for column in 0..d {
                let at = (k * d + column) * d + column;
                let q = self.factor[at];
                icf[column] = alpha[k] + by_factor[at] * q + gamma * gamma * q * q - m as f64;
                for row in column + 1..d {
                    let at = (k * d + row) * d + column;
                    icf[below] = by_factor[at] + gamma * gamma * self.factor[at];
                    below += 1;
                }
            }
        }
        let all = log_sum_exp(self.alpha);
        for (slope, alpha) in alpha.iter_mut().zip(self.alpha) {
            *slope -= n as f64 * (alpha - all).exp();
        }
        (self.objective(total), alpha, mean, icf)
    }
}

fn log_sum_exp(x: &[f64]) -> f64 {
    let top = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    top + x.iter().map(|x| (x - top).exp()).sum::<f64>().ln()
}
