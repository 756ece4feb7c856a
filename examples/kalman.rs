//! Estimates underlying inflation: a Kalman filter with a local linear trend for the logarithm of
//! consumer prices in the United States, 1959 to 2009. The noise variances are fitted by maximum
//! likelihood, with the gradient through all steps of the filter. Prints the estimates, and draws
//! the filtered slope with its band before and after the fit to `target/pictures/kalman.png`.

use std::f64::consts::TAU;

use pointful::lib::{dot, matmul, matvec, outer, transpose};
use pointful::optim::{Lbfgs, Minimum};
use pointful::prelude::*;
#[cfg(test)]
use pointful_examples::differences;
use pointful_examples::{data, figure, picture};

/// A quarter of a year.
#[derive(Clone, Copy, IndexSet)]
pub struct Quarter(usize);

/// A coordinate of the hidden state.
#[derive(Clone, Copy, PartialEq, IndexSet)]
pub enum State {
    /// The logarithm of prices, percent.
    Level,
    /// Inflation, percent per quarter.
    Slope,
}

/// A linear Gaussian state-space model with one observation at a time.
#[pointful]
pub struct StateSpace<S: IndexSet> {
    /// The transition matrix.
    pub transition: Table<(S, S), f64>,
    /// The covariance of the process noise.
    pub process_noise: Table<(S, S), f64>,
    /// The observation vector.
    pub observation: Table<S, f64>,
    /// The variance of the observation noise.
    pub noise: f64,
}

/// A normal distribution of the state.
#[pointful]
#[derive(Clone)]
pub struct Gaussian<S: IndexSet> {
    /// Its mean.
    pub mean: Table<S, f64>,
    /// Its covariance.
    pub covariance: Table<(S, S), f64>,
}

/// The filtered distributions, one after each observation, and the log-likelihood of all.
#[pointful]
pub fn kalman_filter<T: IndexSet, S: IndexSet>(
    model: &StateSpace<S>,
    prior: &Gaussian<S>,
    observations: &Table<T, f64>,
) -> (Tables<T, Gaussian<S>>, f64) {
    let f = model.transition;
    let mut state = prior;
    let mut log_likelihood = 0.0;
    let filtered_states = for t in T {
        let mean = matvec(f, state.mean);
        let covariance = matmul(matmul(f, state.covariance), transpose(f)) + model.process_noise;
        let cross = matvec(covariance, model.observation);
        let variance = dot(model.observation, cross) + model.noise;
        let innovation = observations[t] - dot(model.observation, mean);
        log_likelihood -= 0.5 * ((TAU * variance).ln() + innovation.powi(2) / variance);
        state = Gaussian {
            mean: mean + innovation / variance * cross,
            covariance: covariance - outer(cross, cross) / variance,
        };
        state
    };
    (filtered_states, log_likelihood)
}

/// Logarithms of standard deviations, percent.
#[pointful]
#[derive(Clone, Debug)]
pub struct Deviations {
    /// Of the observation noise.
    pub noise: f64,
    /// Of the noise of the level.
    pub level: f64,
    /// Of the noise of the slope.
    pub slope: f64,
}

/// A level that rises by a slope; both are random walks beside that.
#[pointful]
pub fn local_linear_trend(deviations: &Deviations) -> StateSpace<State> {
    StateSpace {
        transition: for (to, from) in (State, State) {
            match (to, from) {
                (State::Slope, State::Level) => 0.0,
                _ => 1.0,
            }
        },
        process_noise: for (a, b) in (State, State) {
            match (a, b) {
                (State::Level, State::Level) => (2.0 * deviations.level).exp(),
                (State::Slope, State::Slope) => (2.0 * deviations.slope).exp(),
                _ => 0.0,
            }
        },
        observation: for s in State {
            if s == State::Level { 1.0 } else { 0.0 }
        },
        noise: (2.0 * deviations.noise).exp(),
    }
}

/// The filtered distributions and the log-likelihood of prices. The prior has standard deviations
/// of 10 percent for the level and 3 percent per quarter for the slope.
#[pointful]
pub fn filter_prices<T: IndexSet>(
    deviations: &Deviations,
    prices: &Table<T, f64>,
) -> (Tables<T, Gaussian<State>>, f64) {
    let mut prior = Gaussian {
        mean: for _s in State {
            0.0
        },
        covariance: for (_a, _b) in (State, State) {
            0.0
        },
    };
    prior.mean[State::Level] = prices[0];
    prior.covariance[State::Level][State::Level] = 10.0 * 10.0;
    prior.covariance[State::Slope][State::Slope] = 3.0 * 3.0;
    kalman_filter(local_linear_trend(deviations), prior, prices)
}

/// The negative log-likelihood.
#[pointful]
pub fn negative_log_likelihood<T: IndexSet>(
    deviations: &Deviations,
    prices: &Table<T, f64>,
) -> f64 {
    -filter_prices(deviations, prices).1
}

/// Half a percent each.
fn guess() -> Deviations {
    let half = 0.5_f64.ln();
    Deviations {
        noise: half,
        level: half,
        slope: half,
    }
}

fn fit(prices: &Table<Quarter, f64>) -> Minimum<Deviations> {
    let lbfgs = Lbfgs {
        tolerance: 1e-5,
        ..Lbfgs::default()
    };
    lbfgs.minimize(guess(), |d| {
        value_and_grad!(negative_log_likelihood, wrt = deviations)(d, prices)
    })
}

/// The years of all quarters, and a hundred times the logarithm of prices.
fn observations() -> (Vec<f64>, Table<Quarter, f64>) {
    let text = std::fs::read_to_string(data("cpi_us.txt")).expect("the data are there");
    let rows = text.lines().map(|line| {
        let numbers: Vec<f64> = line.split(' ').flat_map(str::parse).collect();
        (
            numbers[0] + (numbers[1] - 0.5) / 4.0,
            100.0 * numbers[2].ln(),
        )
    });
    let (years, prices): (Vec<f64>, Vec<f64>) = rows.unzip();
    (years, prices.into_iter().collect())
}

fn main() {
    let (years, prices) = observations();
    let fitted = fit(&prices);
    println!("{} quarters: {fitted}", prices.len());
    for (name, d) in [("initial guess", &guess()), ("fitted", &fitted.x)] {
        let (_, log_likelihood) = filter_prices(d, &prices);
        println!(
            "{name}: log-likelihood {log_likelihood:.2}; standard deviations: observation {:.3} %, \
             level {:.3} %, slope {:.3} % per quarter",
            d.noise.exp(),
            d.level.exp(),
            d.slope.exp(),
        );
    }
    let path = picture("kalman.png");
    draw(&path, &years, &prices, &fitted.x).expect("the picture can be written");
    println!("{}", path.display());
}

/// Draws the filtered slope with the initial guess and with the fitted deviations.
fn draw(
    path: &std::path::Path,
    years: &[f64],
    prices: &Table<Quarter, f64>,
    fitted: &Deviations,
) -> Result<(), Box<dyn std::error::Error>> {
    // Percent per year.
    let rises = prices.as_slice().windows(2).map(|p| 4.0 * (p[1] - p[0]));
    let rises: Vec<_> = years[1..].iter().copied().zip(rises).collect();
    let chart = |title: &str, deviations: &Deviations| {
        let (filtered_states, _) = filter_prices(deviations, prices);
        // The band of the first year is the prior's.
        let slope: Vec<_> = (4..years.len())
            .map(|q| {
                let mean = filtered_states.mean[(Quarter(q), State::Slope)];
                let variance = filtered_states.covariance[(Quarter(q), State::Slope, State::Slope)];
                (years[q], 4.0 * mean, 4.0 * 1.96 * variance.sqrt())
            })
            .collect();
        let band = slope.iter().map(|(t, s, d)| (*t, s - d, s + d));
        let line = slope.iter().map(|(t, s, _)| (*t, *s));
        figure::Chart::new(title, "year", "inflation / (% per year)")
            .heights(-11.0..19.0)
            .dots(
                "observed change of prices",
                figure::INK,
                rises.iter().copied(),
            )
            .band("95 % band", figure::BLUE, band)
            .line("filtered slope", figure::BLUE, line)
    };
    figure::charts(
        path,
        2,
        &[
            chart("Initial guess", &guess()),
            chart("Maximum likelihood", fitted),
        ],
    )
}

/// The optimum by statsmodels (`UnobservedComponents`, a local linear trend) and SciPy's method of
/// Nelder and Mead.
#[test]
fn the_fit_is_that_of_statsmodels() {
    let (_, prices) = observations();
    let fitted = fit(&prices);
    assert!((fitted.value - 181.23034023233862).abs() < 1e-8, "{fitted}");
    let Deviations {
        noise,
        level,
        slope,
    } = fitted.x;
    for (logarithm, deviation) in [(noise, 0.01988), (level, 0.457714), (slope, 0.217151)] {
        assert!(
            (logarithm.exp() - deviation).abs() < 1e-3 * deviation,
            "{fitted:?}"
        );
    }
}

/// By statsmodels, with the deviations that are guessed and without its shortcut to a steady state.
#[test]
fn the_last_state_is_that_of_statsmodels() {
    let (_, prices) = observations();
    let (filtered_states, log_likelihood) = filter_prices(&guess(), &prices);
    assert!(
        (log_likelihood + 249.0055720128278).abs() < 1e-9,
        "{log_likelihood:.12}"
    );
    let last = Quarter(prices.len() - 1);
    let slope = filtered_states.mean[(last, State::Slope)];
    let variance = filtered_states.covariance[(last, State::Slope, State::Slope)];
    assert!((slope - 0.520786793).abs() < 1e-8 && (variance - 0.48678074).abs() < 1e-8);
}

#[test]
fn the_gradient_is_that_of_differences() {
    let (_, prices) = observations();
    let slope = grad!(negative_log_likelihood, wrt = deviations)(&guess(), &prices);
    let by_differences = differences::gradient(&guess().flatten(), |at| {
        negative_log_likelihood(&guess().unflatten(at).unwrap(), &prices)
    });
    differences::assert_close(&slope.flatten(), &by_differences, 1e-8);
}
