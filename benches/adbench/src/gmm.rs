//! A mixture of Gaussians: the logarithm of the posterior density of its parameters, given points,
//! under a Wishart prior.

use std::f64::consts::{LN_2, PI};
use std::path::Path;

use pointful::prelude::*;

use crate::noise::Noise;
use crate::read::{self, ReadError, Words};

/// A component of the mixture.
#[derive(Clone, Copy, Debug, IndexSet)]
pub struct Component(usize);

/// A coordinate of a point.
#[derive(Clone, Copy, Debug, IndexSet)]
pub struct Coordinate(usize);

/// A number of a factor of a precision matrix: the logarithms of its diagonal, then what is below,
/// column by column.
#[derive(Clone, Copy, Debug, IndexSet)]
pub struct Packed(usize);

/// A point.
#[derive(Clone, Copy, Debug, IndexSet)]
pub struct Sample(usize);

/// What is to be found.
#[pointful]
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    /// The logarithms of the components' weights, up to a constant.
    pub alpha: Table<Component, f64>,
    /// The components' means.
    pub mean: Table<(Component, Coordinate), f64>,
    /// The components' inverse covariances, each as a lower triangular factor.
    pub icf: Table<(Component, Packed), f64>,
}

/// The prior of an inverse covariance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wishart {
    /// Scales the factor.
    pub gamma: f64,
    /// By how much there are more degrees of freedom than dimensions and one.
    pub m: usize,
}

/// The logarithm of the sum of the exponentials of `x`, none of which overflows.
#[pointful]
fn log_sum_exp(x: &Table<Component, f64>) -> f64 {
    let top = max(x);
    top + sum(for k in _ {
        (x[k] - top).exp()
    })
    .ln()
}

/// The factors of the precision matrices: the lower triangle of one a component.
#[pointful]
fn factors(mixture: &Mixture) -> Table<(Component, Coordinate, Coordinate), f64> {
    let dims = size(Coordinate);
    for (k, i, j) in (Component, Coordinate, Coordinate) {
        let (row, column) = (i.ordinal(), j.ordinal());
        if column < row {
            mixture.icf[k][dims + column * (2 * dims - column - 1) / 2 + row - column - 1]
        } else if column == row {
            mixture.icf[k][row].exp()
        } else {
            0.0
        }
    }
}

/// The logarithms of the factors' determinants.
#[pointful]
fn log_determinants(mixture: &Mixture) -> Table<Component, f64> {
    for k in Component {
        sum(for i in Coordinate {
            mixture.icf[k][i.ordinal()]
        })
    }
}

/// The logarithm of the density of the points.
#[pointful]
pub fn log_likelihood(mixture: &Mixture, points: &Table<(Sample, Coordinate), f64>) -> f64 {
    let factor = factors(mixture);
    let log_det = log_determinants(mixture);
    let total = sum(for n in Sample {
        log_sum_exp(&for k in Component {
            let square = sum(for i in Coordinate {
                sum(for j in Coordinate {
                    factor[k][i][j] * (points[n][j] - mixture.mean[k][j])
                })
                .powi(2)
            });
            mixture.alpha[k] + log_det[k] - 0.5 * square
        })
    });
    let each = 0.5 * size(Coordinate) as f64 * (2.0 * PI).ln() + log_sum_exp(&mixture.alpha);
    total - size(Sample) as f64 * each
}

/// The negative logarithm of the prior density. `gamma` and `m` are the prior's, `normaliser` is
/// the logarithm of its constant factor.
#[pointful]
pub fn wishart(mixture: &Mixture, gamma: f64, m: f64, normaliser: f64) -> f64 {
    let factor = factors(mixture);
    let log_det = log_determinants(mixture);
    sum(for k in Component {
        let frobenius = sum(for (i, j) in _ {
            factor[k][i][j].powi(2)
        });
        0.5 * gamma.powi(2) * frobenius - m * log_det[k] - normaliser
    })
}

/// The posterior density's logarithm as the suite has it: it adds what it should subtract of the
/// prior.
#[pointful]
pub fn objective(
    mixture: &Mixture,
    points: &Table<(Sample, Coordinate), f64>,
    gamma: f64,
    m: f64,
    normaliser: f64,
) -> f64 {
    log_likelihood(mixture, points) + wishart(mixture, gamma, m, normaliser)
}

/// The logarithm of the prior's constant factor in `d` dimensions.
pub fn normaliser(prior: Wishart, d: usize) -> f64 {
    let n = d + prior.m + 1;
    // The multivariate gamma function at n/2 is a product of gamma functions at halves of whole numbers.
    let pairs = (d * d.saturating_sub(1)) as f64;
    let ln_gamma = 0.25 * pairs * PI.ln() + (0..d).map(|j| ln_gamma_of_half(n - j)).sum::<f64>();
    (n * d) as f64 * (prior.gamma.ln() - 0.5 * LN_2) - ln_gamma
}

/// The logarithm of the gamma function at half of a positive whole number, by Γ(x + 1) = x Γ(x)
/// from Γ(1) = 1 or Γ(½) = √π.
fn ln_gamma_of_half(twice: usize) -> f64 {
    let (start, mut value) = if twice.is_multiple_of(2) {
        (2, 0.0)
    } else {
        (1, 0.5 * PI.ln())
    };
    for k in (start..twice).step_by(2) {
        value += (0.5 * k as f64).ln();
    }
    value
}

/// What the objective takes.
#[derive(Clone, Debug)]
pub struct Input {
    /// Where the density is asked for.
    pub mixture: Mixture,
    /// What was observed.
    pub points: Table<(Sample, Coordinate), f64>,
    /// What is known before.
    pub prior: Wishart,
    /// The logarithm of the prior's constant factor.
    pub normaliser: f64,
}

/// How many numbers a factor in `d` dimensions has.
pub fn packed(d: usize) -> usize {
    d + d * d.saturating_sub(1) / 2
}

impl Input {
    /// Of one of the suite's files.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let text = read::text(path)?;
        let mut words = Words::new(&text);
        let [d, k, n]: [usize; 3] = [words.next("D")?, words.next("K")?, words.next("n")?];
        let mixture = Mixture {
            alpha: words.table(Extent::try_new(k)?, "an alpha")?,
            mean: words.table(Extent::try_new((k, d))?, "a mean")?,
            icf: words.table(Extent::try_new((k, packed(d)))?, "an element of a factor")?,
        };
        let points = words.table(Extent::try_new((n, d))?, "a coordinate")?;
        let prior = Wishart {
            gamma: words.next("gamma")?,
            m: words.next("m")?,
        };
        words.end()?;
        Ok(Input {
            mixture,
            points,
            prior,
            normaliser: normaliser(prior, d),
        })
    }

    /// Of `d` dimensions, `k` components, `n` points.
    pub fn made(d: usize, k: usize, n: usize) -> Self {
        let mut noise = Noise::new(1);
        let prior = Wishart { gamma: 1.0, m: 0 };
        let mut table = |rows: usize, columns: usize, scale: f64| {
            noise
                .vec(rows * columns)
                .into_iter()
                .map(|x| scale * x)
                .collect::<Vec<_>>()
        };
        let (alpha, mean) = (table(1, k, 1.0), table(k, d, 1.0));
        // Rows of a factor have up to `d` elements; their products with a point should not grow with `d`.
        let icf = table(k, packed(d), (d as f64).sqrt().recip());
        let points = table(n, d, 1.0);
        let full = "as many numbers as the table has elements";
        Input {
            mixture: Mixture {
                alpha: Table::from_vec(Extent::new(k), alpha).expect(full),
                mean: Table::from_vec(Extent::new((k, d)), mean).expect(full),
                icf: Table::from_vec(Extent::new((k, packed(d))), icf).expect(full),
            },
            points: Table::from_vec(Extent::new((n, d)), points).expect(full),
            prior,
            normaliser: normaliser(prior, d),
        }
    }

    /// The density's logarithm.
    pub fn objective(&self) -> f64 {
        objective(
            &self.mixture,
            &self.points,
            self.prior.gamma,
            self.prior.m as f64,
            self.normaliser,
        )
    }

    /// Its gradient by the mixture.
    pub fn gradient(&self) -> Mixture {
        grad!(objective, wrt = mixture)(
            &self.mixture,
            &self.points,
            self.prior.gamma,
            self.prior.m as f64,
            self.normaliser,
        )
    }
}

#[cfg(test)]
mod tests {
    use pointful_examples::differences;

    use super::*;
    use crate::data;

    fn flat(mixture: &Mixture) -> Vec<f64> {
        let (alpha, mean, icf) = (&mixture.alpha, &mixture.mean, &mixture.icf);
        [alpha.as_slice(), mean.as_slice(), icf.as_slice()].concat()
    }

    fn differs(input: &Input) {
        let mut moved = input.clone();
        let at = flat(&input.mixture);
        let approximate = differences::gradient(&at, |at| {
            let (alpha, rest) = at.split_at(moved.mixture.alpha.len());
            let (mean, icf) = rest.split_at(moved.mixture.mean.len());
            moved.mixture.alpha.as_mut_slice().copy_from_slice(alpha);
            moved.mixture.mean.as_mut_slice().copy_from_slice(mean);
            moved.mixture.icf.as_mut_slice().copy_from_slice(icf);
            moved.objective()
        });
        differences::assert_close(&flat(&input.gradient()), &approximate, 1e-7);
    }

    /// The suite's own answers.
    #[test]
    fn known_value_and_gradient() {
        let input = Input::read(&data("gmm_test.txt")).expect("the data is shipped");
        let text = read::text(&data("gmm_test_answer.txt")).expect("the data is shipped");
        let mut words = Words::new(&text);
        let value = input.objective();
        let known: f64 = words.next("the value").expect("a number");
        assert!((value / known - 1.0).abs() < 1e-10, "{value}, not {known}");
        for (k, &found) in flat(&input.gradient()).iter().enumerate() {
            let known: f64 = words.next("a slope").expect("a number");
            assert!(
                (found / known - 1.0).abs() < 1e-10,
                "number {k}: {found}, not {known}"
            );
        }
        words.end().expect("as many as there are");
    }

    #[test]
    fn gradients_by_differences() {
        for (d, k, n) in [(1, 1, 1), (1, 3, 2), (2, 1, 7), (3, 4, 0), (4, 3, 30)] {
            differs(&Input::made(d, k, n));
        }
    }

    #[test]
    fn a_larger_file() {
        let input = Input::read(&data("gmm_d10_K25.txt")).expect("the data is shipped");
        let gradient = input.gradient();
        // The density does not change when all weights do.
        let total: f64 = gradient.alpha.iter().sum();
        assert!(total.abs() < 1e-9, "{total}");
        // Along the gradient, it changes by the gradient's squared length.
        let slope: f64 = flat(&gradient).iter().map(|x| x * x).sum();
        let step = 1e-6 / slope.sqrt();
        let along = |t: f64| {
            let mut moved = input.clone();
            let mixture = &mut moved.mixture;
            let pairs = [
                (&mut mixture.alpha.as_mut_slice(), gradient.alpha.as_slice()),
                (&mut mixture.mean.as_mut_slice(), gradient.mean.as_slice()),
                (&mut mixture.icf.as_mut_slice(), gradient.icf.as_slice()),
            ];
            for (x, g) in pairs {
                x.iter_mut().zip(g).for_each(|(x, g)| *x += t * g);
            }
            moved.objective()
        };
        let found = (along(step) - along(-step)) / (2.0 * step);
        assert!((found / slope - 1.0).abs() < 1e-5, "{found} and {slope}");
    }

    #[test]
    fn gamma_at_halves() {
        let known = [
            (1, 0.572_364_942_924_700_1),
            (2, 0.0),
            (3, -0.120_782_237_635_245_22),
            (6, LN_2),
            (9, 2.453_736_570_842_442_3),
        ];
        for (twice, value) in known {
            assert!(
                (ln_gamma_of_half(twice) - value).abs() < 1e-14,
                "at {twice}/2"
            );
        }
    }
}
