//! Forecasts atmospheric carbon dioxide (Rasmussen and Williams 2006, 5.4.3): a Gaussian process is
//! fitted to the monthly means of Mauna Loa until 1990 by maximizing its marginal likelihood, and
//! predicts the next eleven years. Prints the hyperparameters and the error of the forecast, and
//! draws mean and band before and after the fit to `target/pictures/gaussian_process.png`.

use std::f64::consts::{PI, TAU};

use plotters::prelude::SeriesLabelPosition::UpperLeft;
use pointful::lib::{cholesky, dot, solve_lower};
use pointful::optim::{Lbfgs, Minimum};
use pointful::prelude::*;
#[cfg(test)]
use pointful_examples::differences;
use pointful_examples::{data, figure, picture};

/// A month that has been observed.
#[derive(Clone, Copy, IndexSet)]
pub struct Month(usize);

/// A time for which something is predicted.
#[derive(Clone, Copy, IndexSet)]
pub struct Time(usize);

/// Logarithms of the hyperparameters: amplitudes in ppm, length scales in years.
#[pointful]
#[derive(Clone, Debug)]
pub struct Hyperparameters {
    /// The amplitude of the long-term trend.
    pub trend: f64,
    /// Its length scale.
    pub trend_length: f64,
    /// The amplitude of the seasonal cycle.
    pub season: f64,
    /// The length scale on which the cycle changes.
    pub season_length: f64,
    /// The smoothness of the cycle within a year, in radians.
    pub smoothness: f64,
    /// The amplitude of medium-term deviations, a rational quadratic.
    pub deviation: f64,
    /// Their length scale.
    pub deviation_length: f64,
    /// The shape parameter of the rational quadratic.
    pub shape: f64,
    /// The standard deviation of the noise.
    pub noise: f64,
}

/// The covariance function of two times `apart` years from each other, without noise.
#[pointful]
pub fn kernel(h: &Hyperparameters, apart: f64) -> f64 {
    let square = apart * apart;
    let turned = (PI * apart).sin();
    let trend = (2.0 * h.trend - 0.5 * square * (-2.0 * h.trend_length).exp()).exp();
    let season = (2.0 * h.season
        - 0.5 * square * (-2.0 * h.season_length).exp()
        - 2.0 * turned * turned * (-2.0 * h.smoothness).exp())
    .exp();
    let shape = h.shape.exp();
    let scaled = 0.5 * square * (-2.0 * h.deviation_length).exp() / shape;
    trend + season + (2.0 * h.deviation - shape * (1.0 + scaled).ln()).exp()
}

/// The Cholesky factor of the covariance of observations at times `t`.
#[pointful]
pub fn factor<N: IndexSet>(h: &Hyperparameters, t: &Table<N, f64>) -> Table<(N, N), f64> {
    let noise = (2.0 * h.noise).exp();
    cholesky(for (i, j) in (N, N) {
        kernel(h, t[i] - t[j]) + if i == j { noise } else { 0.0 }
    })
}

/// The negative logarithm of the marginal likelihood of observations `y` with mean zero.
#[pointful]
pub fn negative_log_likelihood<N: IndexSet>(
    h: &Hyperparameters,
    t: &Table<N, f64>,
    y: &Table<N, f64>,
) -> f64 {
    let l = factor(h, t);
    let z = solve_lower(l, y);
    let half_log_det = sum(for i in N {
        l[i][i].ln()
    });
    0.5 * dot(z, z) + half_log_det + 0.5 * TAU.ln() * size(N) as f64
}

/// The predictive mean at the times `at`, and its standard deviation.
#[pointful]
pub fn predict<N: IndexSet, Q: IndexSet>(
    h: &Hyperparameters,
    t: &Table<N, f64>,
    y: &Table<N, f64>,
    at: &Table<Q, f64>,
) -> (Table<Q, f64>, Table<Q, f64>) {
    let l = factor(h, t);
    let z = solve_lower(l, y);
    for q in Q {
        let covariances = for i in N {
            kernel(h, at[q] - t[i])
        };
        let v = solve_lower(l, covariances);
        let variance = kernel(h, 0.0) + (2.0 * h.noise).exp() - dot(v, v);
        (dot(v, z), variance.sqrt())
    }
}

/// Round numbers.
fn initial_guess() -> Hyperparameters {
    Hyperparameters {
        trend: 20_f64.ln(),
        trend_length: 10_f64.ln(),
        season: 0.0,
        season_length: 20_f64.ln(),
        smoothness: 0.0,
        deviation: 0.0,
        deviation_length: 0.0,
        shape: 0.0,
        noise: 0.0,
    }
}

fn fit(
    t: &Table<Month, f64>,
    y: &Table<Month, f64>,
    start: Hyperparameters,
) -> Minimum<Hyperparameters> {
    let lbfgs = Lbfgs {
        tolerance: 1e-2,
        ..Lbfgs::default()
    };
    lbfgs.minimize(start, |h| {
        value_and_grad!(negative_log_likelihood, wrt = h)(h, t, y)
    })
}

/// The months' middles, in years, and their means, ppm.
fn observations() -> Vec<(f64, f64)> {
    let text = std::fs::read_to_string(data("co2_mauna_loa.txt")).expect("the data are there");
    text.lines()
        .map(|line| {
            let numbers: Vec<f64> = line.split(' ').flat_map(str::parse).collect();
            (numbers[0] + (numbers[1] - 0.5) / 12.0, numbers[2])
        })
        .collect()
}

/// The observations before a year: times, values less their mean, and that mean.
fn before(year: f64, all: &[(f64, f64)]) -> (Table<Month, f64>, Table<Month, f64>, f64) {
    let known: Vec<_> = all.iter().filter(|p| p.0 < year).collect();
    let mean = known.iter().map(|p| p.1).sum::<f64>() / known.len() as f64;
    (
        known.iter().map(|p| p.0).collect(),
        known.iter().map(|p| p.1 - mean).collect(),
        mean,
    )
}

fn main() {
    let all = observations();
    let (t, y, mean) = before(1991.0, &all);
    let found = fit(&t, &y, initial_guess());
    println!("{} months: {found}", t.len());
    let h = &found.x;
    println!(
        "amplitudes and length scales: trend {:.0} ppm and {:.0} years, season {:.1} ppm and {:.0} years,",
        h.trend.exp(),
        h.trend_length.exp(),
        h.season.exp(),
        h.season_length.exp()
    );
    println!(
        "medium term {:.2} ppm and {:.1} years; noise {:.2} ppm",
        h.deviation.exp(),
        h.deviation_length.exp(),
        h.noise.exp()
    );
    let later: Vec<_> = all.iter().filter(|p| p.0 > 1991.0).collect();
    let at: Table<Time, f64> = later.iter().map(|p| p.0).collect();
    for (name, h) in [("initial guess", &initial_guess()), ("fitted", h)] {
        let (predicted, deviation) = predict(h, &t, &y, &at);
        let off = |k: usize| predicted.as_slice()[k] + mean - later[k].1;
        let squares: f64 = (0..later.len()).map(|k| off(k).powi(2)).sum();
        let inside = (0..later.len()).filter(|&k| off(k).abs() < 1.96 * deviation.as_slice()[k]);
        println!(
            "{name}: RMSE of 1991 to 2001 {:.2} ppm, {} of {} months in the 95 % band",
            (squares / later.len() as f64).sqrt(),
            inside.count(),
            later.len()
        );
    }
    let path = picture("gaussian_process.png");
    draw(&path, &all, h).expect("the picture can be written");
    println!("{}", path.display());
}

/// Draws the prediction with the initial guess and with the fitted hyperparameters.
fn draw(
    path: &std::path::Path,
    all: &[(f64, f64)],
    found: &Hyperparameters,
) -> Result<(), Box<dyn std::error::Error>> {
    let (t, y, mean) = before(1991.0, all);
    let at: Table<Time, f64> = (0..648).map(|q| 1975.0 + f64::from(q) / 24.0).collect();
    let chart = |title: &str, h: &Hyperparameters| {
        let (predicted, deviation) = predict(h, &t, &y, &at);
        let points = || at.iter().zip(predicted.iter().zip(&deviation));
        let shown = |from, to| all.iter().copied().filter(move |p| from < p.0 && p.0 < to);
        figure::Chart::new(title, "year", "carbon dioxide / ppm")
            .legend(UpperLeft)
            .heights(316.0..392.0)
            .band(
                "95 % predictive band",
                figure::BLUE,
                points().map(|(t, (e, d))| (*t, e + mean - 1.96 * d, e + mean + 1.96 * d)),
            )
            .line(
                "predictive mean",
                figure::BLUE,
                points().map(|(t, (e, _))| (*t, e + mean)),
            )
            .dots("training data", figure::INK, shown(1975.0, 1991.0))
            .dots("held out", figure::ORANGE, shown(1991.0, 2002.0))
    };
    figure::charts(
        path,
        2,
        &[
            chart("Initial guess", &initial_guess()),
            chart("Maximum marginal likelihood", found),
        ],
    )
}

/// SciPy's `multivariate_normal.logpdf`, and the conditional distribution by `numpy.linalg.solve`.
#[test]
fn likelihood_and_prediction_are_those_of_the_dense_distribution() {
    let t = Table::<Fin<5>, f64>::from([0.0, 0.25, 1.1, 2.4, 3.0]);
    let y = Table::from([-1.0, 2.0, 0.5, -3.0, 4.0]);
    let likelihood = negative_log_likelihood(&initial_guess(), &t, &y);
    assert!(
        (likelihood - 20.470378175949243).abs() < 1e-10,
        "{likelihood}"
    );
    let (predicted, deviation) =
        predict(&initial_guess(), &t, &y, &Table::<Fin<1>, f64>::from([1.7]));
    assert!(
        (predicted[0] + 0.4611878178019868).abs() < 1e-10,
        "{predicted}"
    );
    assert!(
        (deviation[0] - 1.6272398914860893).abs() < 1e-10,
        "{deviation}"
    );
}

#[test]
fn the_gradient_is_that_of_differences() {
    let (t, y, _) = before(1963.0, &observations());
    let slope = grad!(negative_log_likelihood, wrt = h)(&initial_guess(), &t, &y);
    let by_differences = differences::gradient(&initial_guess().flatten(), |at| {
        negative_log_likelihood(&initial_guess().unflatten(at).unwrap(), &t, &y)
    });
    differences::assert_close(&slope.flatten(), &by_differences, 1e-7);
}

#[test]
fn a_fit_predicts_the_next_year() {
    let all = observations();
    let (t, y, mean) = before(1968.0, &all);
    let h = fit(&t, &y, initial_guess()).x;
    let later = &all[t.len()..t.len() + 12];
    let at: Table<Time, f64> = later.iter().map(|p| p.0).collect();
    let (predicted, deviation) = predict(&h, &t, &y, &at);
    for ((e, d), (_, seen)) in predicted.iter().zip(&deviation).zip(later) {
        assert!(
            (e + mean - seen).abs() < 1.0 && *d < 1.0,
            "{e} + {mean} ± {d}, {seen}"
        );
    }
}
