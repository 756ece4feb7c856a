//! Describes a cloud of points by a few Gaussian distributions of any orientation: follows the
//! gradient of the logarithm of the density that they give the points, up, in the parametrisation
//! and on data of the ADBench suite. Prints how that has risen, and draws points and distributions
//! to `target/pictures/gmm.png`.

#[cfg(test)]
use std::f64::consts::PI;
use std::f64::consts::TAU;

use pointful::lib::logsumexp;
use pointful::optim::Adam;
use pointful::prelude::*;
#[cfg(test)]
use pointful_examples::differences;
use pointful_examples::{figure, mixture, picture, progress};
#[cfg(test)]
use rand::{Rng, SeedableRng, rngs::StdRng};

/// An observed point.
#[derive(Clone, Copy, IndexSet)]
pub struct Point(usize);

/// One of the Gaussian distributions.
#[derive(Clone, Copy, IndexSet)]
pub struct Cluster(usize);

/// One of a point's coordinates.
#[derive(Clone, Copy, IndexSet)]
pub struct Coordinate(usize);

/// An entry of a triangular matrix with as many rows as there are coordinates: first those of the
/// diagonal, then, column by column, those below.
#[derive(Clone, Copy, IndexSet)]
pub struct Entry(usize);

/// What is fitted.
#[pointful]
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    /// The logarithms of the clusters' weights, up to a number that is the same for all.
    pub alphas: Table<Cluster, f64>,
    /// The clusters' means.
    pub means: Table<(Cluster, Coordinate), f64>,
    /// Of each cluster the lower triangular factor `Q` of its inverse covariance `QᵀQ`; of the
    /// diagonal the logarithms.
    pub factors: Table<(Cluster, Entry), f64>,
}

/// The clusters' factors as matrices. Above the diagonal they are zero.
#[pointful]
pub fn matrices(
    factors: &Table<(Cluster, Entry), f64>,
    coordinates: Extent<Coordinate>,
) -> Table<(Cluster, Coordinate, Coordinate), f64> {
    let n = coordinates.len();
    for (k, i, j) in (Cluster, Coordinate, Coordinate) {
        let (i, j) = (i.ordinal(), j.ordinal());
        if i < j {
            0.0
        } else if i == j {
            factors[k][i].exp()
        } else {
            // In front of the entries of column j are n of the diagonal and n - 1, n - 2, … of the columns before.
            factors[k][n + j * (2 * n - j - 1) / 2 + i - j - 1]
        }
    }
}

/// The logarithm of the probability density of the points.
#[pointful]
pub fn log_likelihood(points: &Table<(Point, Coordinate), f64>, mixture: &Mixture) -> f64 {
    let matrices = matrices(&mixture.factors, Coordinate);
    let weights = for k in Cluster {
        mixture.alphas[k]
            + sum(for i in Coordinate {
                mixture.factors[k][i.ordinal()]
            })
    };
    let fits = sum(for p in Point {
        let shares = for k in Cluster {
            let squares = sum(for i in Coordinate {
                let white = sum(for j in ..=i {
                    matrices[k][i][j] * (points[p][j] - mixture.means[k][j])
                });
                white.powi(2)
            });
            weights[k] - 0.5 * squares
        };
        logsumexp(&shares)
    });
    let each = logsumexp(&mixture.alphas) + 0.5 * size(Coordinate) as f64 * TAU.ln();
    fits - size(Point) as f64 * each
}

fn table<I: IndexSet>(size: I::Size, elements: &[f64]) -> Table<I, f64> {
    Table::from_vec(Extent::new(size), elements.to_vec()).expect("as many numbers as that")
}

impl Mixture {
    /// From the numbers of all its tables, one after the other.
    fn from_slice(clusters: usize, coordinates: usize, numbers: &[f64]) -> Self {
        let entries = coordinates * (coordinates + 1) / 2;
        let (alphas, rest) = numbers.split_at(clusters);
        let (means, factors) = rest.split_at(clusters * coordinates);
        Mixture {
            alphas: table(clusters, alphas),
            means: table((clusters, coordinates), means),
            factors: table((clusters, entries), factors),
        }
    }
}

/// A file of the suite.
struct Input {
    points: Table<(Point, Coordinate), f64>,
    /// Where the search begins.
    start: Mixture,
    /// How narrow the clusters are by a distribution that their covariances come from, and by how
    /// many more degrees of freedom than needed.
    #[cfg(test)]
    prior: [f64; 2],
}

fn input(name: &str) -> Input {
    let file = mixture::read(name);
    Input {
        start: Mixture::from_slice(file.clusters, file.dims, &file.parameters),
        points: table((file.count, file.dims), &file.points),
        #[cfg(test)]
        prior: file.prior,
    }
}

/// Goes up for so many steps; the logarithm of the density before each, by the number of points, is
/// told to `report`.
fn fit(
    points: &Table<(Point, Coordinate), f64>,
    mut mixture: Mixture,
    steps: usize,
    mut report: impl FnMut(f64),
) -> Mixture {
    let count = points.extent().split().0.len() as f64;
    let mut adam = Adam::new(0.05, &mixture).epsilon(1e-12);
    for _ in 0..steps {
        let (value, mut up) = value_and_grad!(log_likelihood, wrt = mixture)(points, &mixture);
        report(value / count);
        up.scale(-1.0);
        adam.step(&mut mixture, &up);
    }
    mixture
}

fn main() {
    let Input { points, start, .. } = input("gmm_d2_K5.txt");
    let steps = 1000;
    let bar = progress::bar("fit", steps);
    let (mut first, mut last) = (None, 0.0);
    let found = fit(&points, start, steps, |value| {
        bar.set_message(format!("{value:.6}"));
        bar.inc(1);
        first.get_or_insert(value);
        last = value;
    });
    bar.abandon();
    let first = first.expect("there are steps");
    println!("logarithm of the density of a point: {first:.6} to begin with, {last:.6} in the end");
    println!("means {}", found.means);
    let path = picture("gmm.png");
    draw(&path, &points, &found).expect("the picture can be written");
    println!("{}", path.display());
}

/// Draws points in the plane, and of each cluster where its density has fallen to a tenth of that
/// at its mean.
fn draw(
    path: &std::path::Path,
    points: &Table<(Point, Coordinate), f64>,
    mixture: &Mixture,
) -> Result<(), Box<dyn std::error::Error>> {
    let pairs = |of: &[f64]| of.chunks(2).map(|p| (p[0], p[1])).collect::<Vec<_>>();
    let title = "A mixture of Gaussians: a tenth of the density at each mean";
    let dots = pairs(points.as_slice());
    let chart = figure::Chart::new(title, "x₁", "x₂").dots("points", figure::INK, dots);
    let means = mixture.means.as_slice().chunks(2);
    let clusters = means.zip(mixture.factors.as_slice().chunks(3));
    let chart = clusters
        .enumerate()
        .fold(chart, |chart, (k, (mean, factor))| {
            let radius = (2.0 * 10.0f64.ln()).sqrt();
            let edge = (0..=100).map(|k| {
                let angle = f64::from(k) / 100.0 * TAU;
                // Solves the triangular system for a point of a circle.
                let x = radius * angle.cos() / factor[0].exp();
                let y = (radius * angle.sin() - factor[2] * x) / factor[1].exp();
                (mean[0] + x, mean[1] + y)
            });
            chart.line("", figure::colour(k), edge)
        })
        .crosses("means", pairs(mixture.means.as_slice()));
    figure::charts(path, 1, &[chart])
}

/// What the suite adds to the density of the points for the covariances, up to a constant.
#[cfg(test)]
#[pointful]
fn prior(mixture: &Mixture, coordinates: Extent<Coordinate>, gamma: f64, m: f64) -> f64 {
    sum(for (k, e) in (Cluster, Entry) {
        let q = mixture.factors[k][e];
        if e.ordinal() < coordinates.len() {
            0.5 * (gamma * q.exp()).powi(2) - m * q
        } else {
            0.5 * (gamma * q).powi(2)
        }
    })
}

/// What the suite calls the objective, up to that constant.
#[cfg(test)]
#[pointful]
fn objective(
    points: &Table<(Point, Coordinate), f64>,
    mixture: &Mixture,
    #[constant] gamma: f64,
    #[constant] m: f64,
) -> f64 {
    log_likelihood(points, mixture) + prior(mixture, Coordinate, gamma, m)
}

/// The constant: by `k` clusters of `d` coordinates.
#[cfg(test)]
fn constant(k: usize, d: usize, [gamma, m]: [f64; 2]) -> f64 {
    // Of half a natural number.
    let ln_gamma = |mut twice: usize| {
        let mut sum = 0.0;
        while twice > 2 {
            twice -= 2;
            sum += (0.5 * twice as f64).ln();
        }
        sum + if twice == 1 { 0.5 * PI.ln() } else { 0.0 }
    };
    let freedom = d + m as usize + 1;
    let scale = gamma.ln() - 0.5 * 2f64.ln();
    let multivariate =
        0.25 * (d * (d - 1)) as f64 * PI.ln() + (0..d).map(|j| ln_gamma(freedom - j)).sum::<f64>();
    -(k as f64) * ((freedom * d) as f64 * scale - multivariate)
}

#[test]
fn value_and_gradient_are_those_that_the_suite_gives() {
    let Input {
        points,
        start,
        prior,
    } = input("gmm_d2_K3.txt");
    let (value, gradient) =
        value_and_grad!(objective, wrt = mixture)(&points, &start, prior[0], prior[1]);
    let value = value + constant(3, 2, prior);
    assert!((value - 8.073_804_080_049_758).abs() < 1e-12, "{value}");
    let expected = [
        0.108_662_855_508_652_46,
        -0.741_270_039_523_898_5,
        0.632_607_184_015_246_1,
        1.116_925_765_327_870_1,
        0.163_333_013_551_455_27,
        -0.021_998_982_407_119_314,
        0.227_778_292_254_236_1,
        1.209_630_256_128_321_9,
        -0.060_637_592_073_395_634,
        2.585_299_940_511_622_4,
        0.112_632_694_524_213_79,
        0.385_744_309_849_611_8,
        0.073_518_057_318_230_55,
        5.418_363_627_155_952,
        -0.321_494_409_677_446_47,
        1.718_923_097_750_049_4,
        0.860_091_090_790_866_9,
        -0.994_640_930_466_322_8,
    ];
    differences::assert_close(&gradient.flatten(), &expected, 1e-13);
}

#[test]
fn the_gradient_is_that_of_differences() {
    // Three coordinates, so that columns below the diagonal differ in length.
    for (k, d, n) in [(1, 1, 2), (2, 3, 7), (3, 2, 20)] {
        let wave = |count: usize, by: f64| -> Vec<f64> {
            (1..=count).map(|k| (by * k as f64).sin()).collect()
        };
        let points = table((n, d), &wave(n * d, 1.3));
        let at = wave(k + k * d + k * d * (d + 1) / 2, 0.7);
        let mixture = Mixture::from_slice(k, d, &at);
        let by_differences = differences::gradient(&at, |at| {
            log_likelihood(&points, &Mixture::from_slice(k, d, at))
        });
        let gradient = grad!(log_likelihood, wrt = mixture)(&points, &mixture);
        differences::assert_close(&gradient.flatten(), &by_differences, 1e-7);
    }
}

#[test]
fn the_density_of_the_shipped_points_rises() {
    let Input { points, start, .. } = input("gmm_d2_K5.txt");
    let mut values = Vec::new();
    fit(&points, start, 150, |value| values.push(value));
    assert!(values[0] < -5.0 && values[149] > -2.875, "{values:?}");
}

#[test]
fn finds_the_mixture_that_points_come_from() {
    // A wide cluster of a quarter of the points, and one that is long and lies askew.
    let (means, factors) = ([-3.0, 1.0, 2.0, 0.0], [-0.5, -0.2, 0.0, 1.0, 0.0, 2.0]);
    let mut random = StdRng::seed_from_u64(5);
    let mut points = Vec::new();
    for p in 0..800 {
        let k = usize::from(p % 4 > 0);
        // Twelve uniform numbers have the variance one.
        let [x, y] = [(); 2].map(|()| (0..12).map(|_| random.random_range(-0.5..0.5)).sum::<f64>());
        let [q, r, l] = [0, 1, 2].map(|e| factors[3 * k + e]);
        let x = x / f64::exp(q);
        points.extend([
            means[2 * k] + x,
            means[2 * k + 1] + (y - l * x) / f64::exp(r),
        ]);
    }
    let start = [0.0, 0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let start = Mixture::from_slice(2, 2, &start);
    let found = fit(&table((800, 2), &points), start, 300, |_| ());
    let alphas = found.alphas.as_slice();
    let share = 1.0 / (1.0 + (alphas[1] - alphas[0]).exp());
    assert!((share - 0.25).abs() < 0.02, "{share}");
    for (found, truth) in [
        (&found.means.as_slice(), &means[..]),
        (&found.factors.as_slice(), &factors),
    ] {
        for (found, truth) in found.iter().zip(truth) {
            assert!((found - truth).abs() < 0.25, "{found}, in truth {truth}");
        }
    }
}
