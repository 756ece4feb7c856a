//! Batting averages of 18 baseball players from their first 45 at-bats in 1970 (Efron and Morris
//! 1975), by a hierarchical binomial model that shrinks them towards each other. It is sampled by
//! Hamiltonian Monte Carlo in the non-centred parametrization; all chains are one function of a
//! key. Prints the error of raw and hierarchical estimates against the rest of the season, and
//! draws them to `target/pictures/hierarchical.png`.

use plotters::prelude::SeriesLabelPosition::LowerRight;
use pointful::lib::{Key, dot, fold, key, normal, sigmoid, softplus, split, uniform};
use pointful::prelude::*;
#[cfg(test)]
use pointful_examples::differences;
use pointful_examples::{figure, picture};

/// A player.
#[derive(Clone, Copy, IndexSet)]
pub struct Player(usize);

/// A parameter of the population.
#[derive(Clone, Copy, IndexSet)]
pub enum Population {
    /// The mean of the players' log-odds of a hit.
    Mean,
    /// The logarithm of their standard deviation.
    LogSpread,
}

/// A chain of draws.
#[derive(Clone, Copy, IndexSet)]
pub struct Chain(usize);

/// A draw of a chain.
#[derive(Clone, Copy, IndexSet)]
pub struct Round(usize);

/// A coordinate: beside the population's, how many standard deviations a player is above the mean.
#[pointful]
pub type Coordinate = Either<Population, Player>;

/// A player's log-odds of a hit.
#[pointful]
pub fn log_odds(at: &Table<Coordinate, f64>, player: Player) -> f64 {
    let spread = at[Either::Left(Population::LogSpread)].exp();
    at[Either::Left(Population::Mean)] + spread * at[Either::Right(player)]
}

/// The log-posterior, but for a constant: each player's `hits` in `at_bats` are binomial. The
/// priors of mean and spread are `Normal(-1, 1)` and `HalfNormal(1)`.
#[pointful]
pub fn log_posterior(at: &Table<Coordinate, f64>, hits: &Table<Player, f64>, at_bats: f64) -> f64 {
    let log_spread = at[Either::Left(Population::LogSpread)];
    let players = sum(for p in Player {
        let x = log_odds(at, p);
        hits[p] * x - at_bats * softplus(x) - 0.5 * at[Either::Right(p)].powi(2)
    });
    let mean = at[Either::Left(Population::Mean)] + 1.0;
    // The last term is the Jacobian's: the prior is one of the spread, not of its logarithm.
    players - 0.5 * mean.powi(2) - 0.5 * (2.0 * log_spread).exp() + log_spread
}

/// The next draw of a chain: twelve leapfrog steps, and the acceptance test of Metropolis.
#[pointful]
pub fn draw(
    start: &Table<Coordinate, f64>,
    hits: &Table<Player, f64>,
    at_bats: f64,
    key: Key,
) -> Table<Coordinate, f64> {
    let (of_momentum, others) = split(key);
    let (of_step, of_acceptance) = split(others);
    // Random step sizes avoid trajectories that return to their start.
    let h = 0.05 + 0.3 * uniform(of_step);
    let initial_momentum = for u in Coordinate {
        normal(fold(of_momentum, u.ordinal()))
    };
    let mut momentum = initial_momentum;
    let mut at = start.clone();
    let mut slope = grad!(log_posterior, wrt = at)(at, hits, at_bats);
    for _step in 0..12 {
        momentum += 0.5 * h * slope;
        at += h * momentum;
        slope = grad!(log_posterior, wrt = at)(at, hits, at_bats);
        momentum += 0.5 * h * slope;
    }
    let before =
        log_posterior(start, hits, at_bats) - 0.5 * dot(initial_momentum, initial_momentum);
    let after = log_posterior(at, hits, at_bats) - 0.5 * dot(momentum, momentum);
    let threshold: f64 = uniform(of_acceptance);
    if threshold.ln() < after - before {
        at
    } else {
        start.clone()
    }
}

/// Independent chains, without the first `warm_up` draws of each.
#[pointful]
pub fn sample<C: IndexSet, R: IndexSet>(
    chains: Extent<C>,
    rounds: Extent<R>,
    warm_up: usize,
    hits: &Table<Player, f64>,
    at_bats: f64,
    key: Key,
) -> Table<(C, R, Coordinate), f64> {
    for c in chains {
        let (of_start, key) = split(fold(key, c.ordinal()));
        // A large spread would make the posterior too steep for the step sizes.
        let mut at = for u in Coordinate {
            match u {
                Either::Left(_) => -1.0,
                Either::Right(_) => normal(fold(of_start, u.ordinal())),
            }
        };
        for round in 0..warm_up {
            at = draw(at, hits, at_bats, fold(key, round));
        }
        for r in rounds {
            at = draw(at, hits, at_bats, fold(key, warm_up + r.ordinal()));
            at
        }
    }
}

/// The batting averages in each draw.
#[pointful]
pub fn averages<C: IndexSet, R: IndexSet>(
    draws: &Table<(C, R, Coordinate), f64>,
) -> Table<(Player, C, R), f64> {
    for (p, c, r) in _ {
        sigmoid(log_odds(draws[c][r], p))
    }
}

/// The population's batting average at the mean, and the spread, in each draw.
#[pointful]
pub fn population<C: IndexSet, R: IndexSet>(
    draws: &Table<(C, R, Coordinate), f64>,
) -> (Table<(C, R), f64>, Table<(C, R), f64>) {
    for (c, r) in _ {
        let at = |population: Population| draws[c][r][Either::Left(population)];
        (
            sigmoid(at(Population::Mean)),
            at(Population::LogSpread).exp(),
        )
    }
}

/// Players, their hits in the first 45 at-bats, and the batting average in the rest of the season.
const PLAYERS: [(&str, f64, f64); 18] = [
    ("Clemente", 18.0, 0.346),
    ("Robinson", 17.0, 0.298),
    ("Howard", 16.0, 0.276),
    ("Johnstone", 15.0, 0.222),
    ("Berry", 14.0, 0.273),
    ("Spencer", 14.0, 0.270),
    ("Kessinger", 13.0, 0.263),
    ("Alvarado", 12.0, 0.210),
    ("Santo", 11.0, 0.269),
    ("Swoboda", 11.0, 0.230),
    ("Unser", 10.0, 0.264),
    ("Williams", 10.0, 0.256),
    ("Scott", 10.0, 0.303),
    ("Petrocelli", 10.0, 0.264),
    ("Rodriguez", 10.0, 0.226),
    ("Campaneris", 9.0, 0.286),
    ("Munson", 8.0, 0.316),
    ("Alvis", 7.0, 0.200),
];
const AT_BATS: f64 = 45.0;

fn hits() -> Table<Player, f64> {
    PLAYERS.iter().map(|player| player.1).collect()
}

/// The mean of numbers and their central 95 % interval.
fn summary(numbers: &[f64]) -> [f64; 3] {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
    [
        mean,
        sorted[sorted.len() / 40],
        sorted[sorted.len() - 1 - sorted.len() / 40],
    ]
}

fn main() {
    let (chains, rounds) = (Extent::<Chain>::new(64), Extent::<Round>::new(1000));
    let draws = sample(chains, rounds, 300, &hits(), AT_BATS, key(1970));
    let (mean, spread) = population(&draws);
    for (what, numbers) in [
        ("population batting average", &mean),
        ("spread of the log-odds", &spread),
    ] {
        let [mean, low, high] = summary(numbers.as_slice());
        println!("{what}: {mean:.3}, 95 % interval {low:.3} to {high:.3}");
    }
    let averages = averages(&draws);
    let players = averages.as_slice().chunks(mean.len());
    let estimates: Vec<_> = players.map(summary).collect();
    let all = PLAYERS.iter().map(|p| p.1 / AT_BATS).sum::<f64>() / PLAYERS.len() as f64;
    let rmse = |estimate: &dyn Fn(usize) -> f64| {
        let squares = (0..PLAYERS.len()).map(|p| (estimate(p) - PLAYERS[p].2).powi(2));
        (squares.sum::<f64>() / PLAYERS.len() as f64).sqrt()
    };
    println!(
        "RMSE of the rest of the season: raw averages {:.3}, pooled {:.3}, hierarchical {:.3}",
        rmse(&|p| PLAYERS[p].1 / AT_BATS),
        rmse(&|_| all),
        rmse(&|p| estimates[p][0])
    );
    let path = picture("hierarchical.png");
    draw_players(&path, &estimates, all).expect("the picture can be written");
    println!("{}", path.display());
}

/// Draws each player's raw average, posterior and rest of the season.
fn draw_players(
    path: &std::path::Path,
    estimates: &[[f64; 3]],
    all: f64,
) -> Result<(), Box<dyn std::error::Error>> {
    let last = PLAYERS.len() as f64;
    let height = |p: usize| last - p as f64;
    let each = |of: &dyn Fn(usize) -> f64| -> Vec<_> {
        (0..PLAYERS.len()).map(|p| (of(p), height(p))).collect()
    };
    let bars = estimates.iter().enumerate();
    let chart = figure::Chart::new(
        "Shrinkage of batting averages, first 45 at-bats of 1970",
        "batting average / hits per at-bat",
        "",
    )
    .without_heights()
    .heights(0.0..last + 1.0)
    .legend(LowerRight)
    .thin(
        "pooled average",
        figure::GREY,
        [(all, 0.0), (all, last + 1.0)],
    )
    .bars(
        "",
        figure::BLUE,
        bars.map(|(p, [_, low, high])| (height(p), *low, *high)),
    )
    .dots(
        "raw average",
        figure::INK,
        each(&|p| PLAYERS[p].1 / AT_BATS),
    )
    .dots(
        "posterior mean, 95 % interval",
        figure::BLUE,
        each(&|p| estimates[p][0]),
    )
    .dots(
        "rest of the season",
        figure::ORANGE,
        each(&|p| PLAYERS[p].2),
    );
    let names = PLAYERS.iter().enumerate();
    let chart = names.fold(chart, |chart, (p, (name, ..))| {
        chart.text(0.12, height(p), *name)
    });
    figure::draw(path, (900, 560), |root| chart.draw(root))
}

/// By integration over mean and spread on a grid, and over each player by 60 points of Gauss and
/// Hermite (SciPy).
#[test]
fn means_are_those_of_integration() {
    let (chains, rounds) = (Extent::<Chain>::new(16), Extent::<Round>::new(300));
    let draws = sample(chains, rounds, 100, &hits(), AT_BATS, key(1970));
    let averages = averages(&draws);
    let of = |p: usize| summary(&averages.as_slice()[4800 * p..4800 * (p + 1)])[0];
    assert!((of(0) - 0.2937768604298187).abs() < 0.003, "{}", of(0));
    assert!((of(17) - 0.24326601691934413).abs() < 0.003, "{}", of(17));
    let spread = summary(population(&draws).1.as_slice())[0];
    assert!((spread - 0.16647912459903877).abs() < 0.015, "{spread}");
}

#[test]
fn the_gradient_is_that_of_differences() {
    let extent = Extent::<Coordinate>::new(((), PLAYERS.len()));
    let at: Vec<_> = (0..extent.len()).map(|u| (u as f64).sin() - 0.5).collect();
    let of = |at: &[f64]| Table::from_vec(extent, at.to_vec()).expect("a number for each");
    let slope = grad!(log_posterior, wrt = at)(&of(&at), &hits(), AT_BATS);
    let by_differences = differences::gradient(&at, |at| log_posterior(&of(at), &hits(), AT_BATS));
    differences::assert_close(slope.as_slice(), &by_differences, 1e-8);
}

#[test]
fn draws_do_not_depend_on_other_chains() {
    let of = |chains| {
        sample(
            Extent::<Chain>::new(chains),
            Extent::<Round>::new(3),
            2,
            &hits(),
            AT_BATS,
            key(1),
        )
    };
    let (one, many) = (of(1), of(5));
    assert_eq!(one.as_slice(), &many.as_slice()[..one.len()]);
}
