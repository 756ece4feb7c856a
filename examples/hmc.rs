//! What coaching did in eight schools (Rubin 1981; Gelman et al., Bayesian Data Analysis, 5.5), by
//! Hamiltonian Monte Carlo: draws from the posterior of a hierarchical model, by trajectories that
//! follow the gradient of its logarithm. Many chains are drawn at a time. Prints means and central
//! intervals beside those of an integration on a grid, and draws the first chain and the
//! distribution of the mean effect to `target/pictures/hmc_chain.png` and
//! `target/pictures/hmc_mean.png`.

use std::f64::consts::TAU;

use pointful::prelude::*;
#[cfg(test)]
use pointful_examples::differences;
use pointful_examples::{figure, picture, progress};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// A school.
#[derive(Clone, Copy, IndexSet)]
pub struct School(usize);

/// What all schools have in common.
#[derive(Clone, Copy, IndexSet)]
pub enum Common {
    /// The mean of the effects of coaching.
    Mean,
    /// The logarithm of their standard deviation.
    LogSpread,
}

/// A chain of draws.
#[derive(Clone, Copy, IndexSet)]
pub struct Chain(usize);

/// What is drawn: beside what is common, how many standard deviations each school's effect is above
/// the mean.
#[pointful]
pub type Unknown = Either<Common, School>;

/// Results of the experiment in each school.
#[pointful]
pub struct Results {
    /// The estimated effect of coaching, points.
    pub effect: Table<School, f64>,
    /// Its standard error.
    pub error: Table<School, f64>,
}

/// The standard deviation of the mean effect before anything is known, and the scale of the
/// half-Cauchy distribution of the spread.
const PRIOR: f64 = 5.0;

/// The logarithm of the posterior density, but for a constant.
#[pointful]
pub fn log_posterior(at: &Table<Unknown, f64>, results: &Results) -> f64 {
    let mean = at[Either::Left(Common::Mean)];
    let log_spread = at[Either::Left(Common::LogSpread)];
    let spread = log_spread.exp();
    let schools = sum(for s in School {
        let above = at[Either::Right(s)];
        let effect = mean + spread * above;
        above.powi(2) + ((results.effect[s] - effect) / results.error[s]).powi(2)
    });
    let prior = 0.5 * (mean / PRIOR).powi(2) + (1.0 + (spread / PRIOR).powi(2)).ln();
    // The logarithm is what moves, so a unit of it counts as much as it is wide: its exponential.
    log_spread - prior - 0.5 * schools
}

/// Where one comes to, and with which momentum, in `steps` steps of the leapfrog method, each of
/// the time `h`.
#[pointful]
pub fn leapfrog(
    mut at: Table<Unknown, f64>,
    mut momentum: Table<Unknown, f64>,
    results: &Results,
    h: f64,
    steps: usize,
) -> (Table<Unknown, f64>, Table<Unknown, f64>) {
    let mut slope = grad!(log_posterior, wrt = at)(&at, results);
    for _step in 0..steps {
        momentum = momentum + 0.5 * h * slope;
        at = at + h * momentum;
        slope = grad!(log_posterior, wrt = at)(&at, results);
        momentum = momentum + 0.5 * h * slope;
    }
    (at, momentum)
}

/// The next draw of a chain, from a `momentum` of normal and a number `dice` of uniform
/// distribution: where the trajectory ends, or where it began if the end is so much less probable
/// that `dice` decides against it.
#[pointful]
pub fn draw(
    at: &Table<Unknown, f64>,
    momentum: &Table<Unknown, f64>,
    dice: f64,
    results: &Results,
    h: f64,
    steps: usize,
) -> Table<Unknown, f64> {
    let (there, arriving) = leapfrog(at.clone(), momentum.clone(), results, h, steps);
    let before = log_posterior(at, results) - 0.5 * sum(momentum * momentum);
    let after = log_posterior(&there, results) - 0.5 * sum(arriving * arriving);
    if dice.ln() < after - before {
        there
    } else {
        at.clone()
    }
}

/// The experiment's results (Rubin 1981).
fn results() -> Results {
    let schools = |numbers: [f64; 8]| {
        Table::from_vec(Extent::new(8), numbers.to_vec()).expect("a number for each school")
    };
    Results {
        effect: schools([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0]),
        error: schools([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0]),
    }
}

/// Draws from `chains` chains, of each the first `warm_up` left out and then `rounds`: for each
/// draw the mean effect and the spread, the chains of a round one after the other. After each round
/// `report` is called.
fn sample(
    results: &Results,
    chains: usize,
    warm_up: usize,
    rounds: usize,
    mut report: impl FnMut(),
) -> Vec<[f64; 2]> {
    let mut random = StdRng::seed_from_u64(1981);
    let extent = Extent::<(Chain, Unknown)>::new((chains, ((), results.effect.len())));
    let mut at = Table::from_fn(extent, |_| normal(&mut random));
    let mut draws = Vec::new();
    for round in 0..warm_up + rounds {
        let momentum = Table::from_fn(extent, |_| normal(&mut random));
        let dice = Table::from_fn(Extent::<Chain>::new(chains), |_| random.random::<f64>());
        // Trajectories of different lengths do not come back to where they began, round after round.
        let h = random.random_range(0.1..0.4);
        at = vmap!(draw, over = (at, momentum, dice))(&at, &momentum, &dice, results, h, 10);
        if round >= warm_up {
            let rows = at.as_slice().chunks(2 + results.effect.len());
            draws.extend(rows.map(|row| [row[0], row[1].exp()]));
        }
        report();
    }
    draws
}

/// A number of normal distribution, by the method of Box and Muller.
fn normal(random: &mut StdRng) -> f64 {
    let (u, v) = (random.random::<f64>(), random.random::<f64>());
    (-2.0 * (1.0 - u).ln()).sqrt() * (TAU * v).cos()
}

/// The posterior of mean and spread on a grid: with the effects integrated out, each result is
/// normal with variance `error² + spread²` around the mean. Gives both and their weight.
fn integrate(results: &Results) -> Vec<([f64; 2], f64)> {
    let mut cells = Vec::new();
    for spread in (0..400).map(|k| (-8.0 + 0.03 * f64::from(k)).exp()) {
        for mean in (0..400).map(|k| -20.0 + 0.12 * f64::from(k)) {
            let mut log =
                spread.ln() - 0.5 * (mean / PRIOR).powi(2) - (1.0 + (spread / PRIOR).powi(2)).ln();
            for (effect, error) in results.effect.iter().zip(&results.error) {
                let variance = error * error + spread * spread;
                log -= 0.5 * (variance.ln() + (effect - mean).powi(2) / variance);
            }
            cells.push(([mean, spread], log));
        }
    }
    let most = cells.iter().map(|cell| cell.1).fold(f64::MIN, f64::max);
    let weight = |log: f64| (log - most).exp();
    let total: f64 = cells.iter().map(|cell| weight(cell.1)).sum();
    cells
        .into_iter()
        .map(|(at, log)| (at, weight(log) / total))
        .collect()
}

/// The mean of weighted numbers, and an interval that leaves out a fortieth of the weight on each
/// side.
fn summary(mut weighted: Vec<(f64, f64)>) -> [f64; 3] {
    weighted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = weighted.iter().map(|x| x.1).sum();
    let mean = weighted.iter().map(|x| x.0 * x.1).sum::<f64>() / total;
    let quantile = |part: f64| {
        let mut below = 0.0;
        let at = weighted.iter().position(|x| {
            below += x.1;
            below >= part * total
        });
        weighted[at.expect("the whole is more than the part")].0
    };
    [mean, quantile(0.025), quantile(0.975)]
}

/// Summaries of mean and spread, as drawn and as integrated.
fn compare(draws: &[[f64; 2]], grid: &[([f64; 2], f64)]) -> [[[f64; 3]; 2]; 2] {
    [0, 1].map(|k| {
        let drawn = draws.iter().map(|draw| (draw[k], 1.0));
        let integrated = grid.iter().map(|(at, weight)| (at[k], *weight));
        [summary(drawn.collect()), summary(integrated.collect())]
    })
}

/// How weight is distributed over `bins` bins of a width, the first of which begins at `low`:
/// points in their middles.
fn density(weighted: &[(f64, f64)], low: f64, width: f64, bins: usize) -> Vec<(f64, f64)> {
    let total: f64 = weighted.iter().map(|x| x.1).sum();
    let mut heights = vec![0.0; bins];
    for (x, weight) in weighted {
        let bin = ((x - low) / width).floor();
        if bin >= 0.0 && bin < bins as f64 {
            heights[bin as usize] += weight / total / width;
        }
    }
    let middles = (0..).map(|k| low + (f64::from(k) + 0.5) * width);
    middles.zip(heights).collect()
}

fn main() {
    let (chains, warm_up, rounds) = (32, 200, 2000);
    let results = results();
    let bar = progress::bar("draw", warm_up + rounds);
    let draws = sample(&results, chains, warm_up, rounds, || bar.inc(1));
    bar.abandon();
    let grid = integrate(&results);
    for (name, [drawn, integrated]) in ["mean", "spread"].iter().zip(compare(&draws, &grid)) {
        let say = |[mean, low, high]: [f64; 3]| format!("{mean:5.2} ({low:5.2} to {high:5.2})");
        println!("{name:6} {}, integrated {}", say(drawn), say(integrated));
    }
    let (chain, mean) = (picture("hmc_chain.png"), picture("hmc_mean.png"));
    let first = draws.iter().step_by(chains).map(|draw| draw[0]);
    let first: Vec<_> = (0..).map(f64::from).zip(first).take(500).collect();
    let trace = figure::Chart::new(
        "Hamiltonian Monte Carlo: the mean in one chain",
        "draw",
        "effect of coaching, points",
    )
    .thin("", figure::BLUE, first);
    figure::charts(&chain, 1, &[trace]).expect("the picture can be written");
    // Four cells of the grid to a bin.
    let histogram = |weighted: Vec<_>| density(&weighted, -8.06, 0.48, 50);
    let drawn = histogram(draws.iter().map(|draw| (draw[0], 1.0)).collect());
    let integrated = histogram(grid.iter().map(|(at, w)| (at[0], *w)).collect());
    let posterior = figure::Chart::new(
        "Posterior density of the mean",
        "effect of coaching, points",
        "density",
    )
    .dots("drawn", figure::ORANGE, drawn)
    .line("integrated", figure::BLUE, integrated);
    figure::charts(&mean, 1, &[posterior]).expect("the picture can be written");
    println!("{}\n{}", chain.display(), mean.display());
}

#[test]
fn means_and_intervals_are_those_of_integration() {
    let results = results();
    let draws = sample(&results, 32, 100, 400, || ());
    assert_eq!(draws.len(), 32 * 400);
    let [mean, spread] = compare(&draws, &integrate(&results));
    for ([drawn, integrated], tolerances) in [(mean, [0.15, 0.4, 0.4]), (spread, [0.2, 0.1, 1.0])] {
        for k in 0..3 {
            let off = (drawn[k] - integrated[k]).abs();
            assert!(off < tolerances[k], "{drawn:?}, integrated {integrated:?}");
        }
    }
}

#[cfg(test)]
fn unknown(values: &[f64]) -> Table<Unknown, f64> {
    Table::from_vec(Extent::new(((), values.len() - 2)), values.to_vec()).unwrap()
}

#[cfg(test)]
const AT: [f64; 10] = [3.0, 1.5, 0.5, -1.0, 0.2, 2.0, -0.3, 0.0, 1.0, -0.7];
#[cfg(test)]
const MOMENTUM: [f64; 10] = [-0.5, 0.8, 1.0, 0.1, -1.3, 0.4, 0.0, -2.0, 0.6, 0.9];

#[test]
fn the_gradient_is_that_of_differences() {
    let results = results();
    let slope = grad!(log_posterior, wrt = at)(&unknown(&AT), &results);
    let by_differences = differences::gradient(&AT, |at| log_posterior(&unknown(at), &results));
    differences::assert_close(slope.as_slice(), &by_differences, 1e-8);
}

#[test]
fn trajectories_lead_back_and_keep_their_energy() {
    let results = results();
    let (at, momentum) = (unknown(&AT), unknown(&MOMENTUM));
    let energy = |at: &Table<Unknown, f64>, momentum: &Table<Unknown, f64>| {
        let squares = momentum.iter().map(|p| p * p);
        0.5 * squares.sum::<f64>() - log_posterior(at, &results)
    };
    let change = |h: f64, steps: usize| {
        let (there, arriving) = leapfrog(at.clone(), momentum.clone(), &results, h, steps);
        let (back, backwards) = leapfrog(there.clone(), arriving.map(|p| -p), &results, h, steps);
        differences::assert_close(back.as_slice(), at.as_slice(), 1e-12);
        differences::assert_close(backwards.map(|p| -p).as_slice(), momentum.as_slice(), 1e-12);
        (energy(&there, &arriving) - energy(&at, &momentum)).abs()
    };
    // The method is of second order: steps of half the length are off by a quarter.
    let (long, short) = (change(0.02, 40), change(0.01, 80));
    assert!(
        short > 0.0 && (long / short - 4.0).abs() < 0.2,
        "{long} {short}"
    );
    assert_eq!(change(0.1, 0), 0.0);
}

/// The derivative of a trajectory, along which gradients are taken, is symplectic: `Jᵀ Ω J = Ω`,
/// where `Ω` pairs places with momenta.
#[test]
fn trajectories_are_symplectic() {
    let results = results();
    let jacobian = jacobian!(leapfrog, wrt = (at, momentum));
    let ((aa, am), (ma, mm)) = jacobian(unknown(&AT), unknown(&MOMENTUM), &results, 0.2, 7);
    // An entry of `Aᵀ D - Cᵀ B`, for rows of ten.
    let n = AT.len();
    let pair = |a: &[f64], d: &[f64], c: &[f64], b: &[f64], i: usize, j: usize| -> f64 {
        let term = |k: usize| a[n * k + i] * d[n * k + j] - c[n * k + i] * b[n * k + j];
        (0..n).map(term).sum()
    };
    let (aa, am, ma, mm) = (aa.as_slice(), am.as_slice(), ma.as_slice(), mm.as_slice());
    for (i, j) in (0..n * n).map(|k| (k / n, k % n)) {
        let one = if i == j { 1.0 } else { 0.0 };
        assert!((pair(aa, mm, ma, am, i, j) - one).abs() < 1e-9);
        assert!(pair(aa, ma, ma, aa, i, j).abs() < 1e-9);
        assert!(pair(am, mm, mm, am, i, j).abs() < 1e-9);
    }
}

#[test]
fn chains_are_drawn_alike_alone_and_together() {
    let results = results();
    let rows = [AT, MOMENTUM, AT].concat();
    let chains = |n: usize| Extent::<(Chain, Unknown)>::new((n, ((), 8)));
    let at = Table::from_vec(chains(3), rows).unwrap();
    let momentum = Table::from_fn(chains(3), |(chain, _)| chain.0 as f64 - 0.5);
    let dice = Table::from_vec(Extent::<Chain>::new(3), vec![0.0, 0.5, 1.0]).unwrap();
    let draws = vmap!(draw, over = (at, momentum, dice))(&at, &momentum, &dice, &results, 0.2, 10);
    for k in 0..3 {
        let row = |t: &Table<(Chain, Unknown), f64>| unknown(&t.as_slice()[10 * k..10 * (k + 1)]);
        let alone = draw(
            &row(&at),
            &row(&momentum),
            dice.as_slice()[k],
            &results,
            0.2,
            10,
        );
        assert_eq!(alone, row(&draws));
    }
    let none = Table::zeros(chains(0));
    let dice = Table::zeros(Extent::<Chain>::new(0));
    let draws = vmap!(draw, over = (at, momentum, dice))(&none, &none, &dice, &results, 0.2, 10);
    assert_eq!(draws, none);
}
