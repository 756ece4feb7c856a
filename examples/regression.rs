//! Finds out from a trial how much of a drug is enough: how far blood pressure falls with the dose
//! (linear regression), and which share of the patients is cured by it (logistic regression).
//! Newton's method fits both, by slopes and curvatures that nobody derives; the inverse of a
//! curvature says how sure one can be of what was found. Prints what the fits find beside the truth
//! behind the trial, and the dose that cures half of the patients; draws to
//! `target/pictures/regression_fall.png` and `target/pictures/regression_cure.png`.

use plotters::prelude::SeriesLabelPosition;
use pointful::lib::softplus;
use pointful::prelude::*;
#[cfg(test)]
use pointful_examples::differences;
use pointful_examples::{figure, picture, progress};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// Who takes part in the trial.
#[derive(Clone, Copy, IndexSet)]
pub struct Patient(usize);

/// What a response depends on.
#[derive(Clone, Copy, Debug, IndexSet)]
pub enum Term {
    /// One for everybody.
    Base,
    /// How often the dose, of which one milligramme is the least, has been doubled.
    Doublings,
    /// Age, in decades from fifty years.
    Decades,
}

/// A response as far as it is linear in the terms.
#[pointful]
fn response<T: IndexSet>(terms: &Table<T, f64>, weights: &Table<T, f64>) -> f64 {
    sum(for t in T {
        terms[t] * weights[t]
    })
}

/// Half the sum of the squares of what the responses miss.
#[pointful]
pub fn misfit<P: IndexSet, T: IndexSet>(
    terms: &Table<(P, T), f64>,
    falls: &Table<P, f64>,
    weights: &Table<T, f64>,
) -> f64 {
    0.5 * sum(for p in P {
        (response(&terms[p], weights) - falls[p]).powi(2)
    })
}

/// How unlikely it was that these patients and no others are cured, where the odds of a patient are
/// `exp(response)` to one: the logarithm, negative.
#[pointful]
pub fn surprise<P: IndexSet, T: IndexSet>(
    terms: &Table<(P, T), f64>,
    cured: &Table<P, bool>,
    weights: &Table<T, f64>,
) -> f64 {
    sum(for p in P {
        let z = response(&terms[p], weights);
        softplus(z) - if cured[p] { z } else { 0.0 }
    })
}

/// The inverse of a positive definite matrix, by Gauss and Jordan's elimination in place.
#[pointful]
pub fn inverse<N: IndexSet>(mut a: Table<(N, N), f64>) -> Table<(N, N), f64> {
    for p in N {
        let pivot = a[p][p];
        let row = for j in N {
            if j == p { 1.0 / pivot } else { a[p][j] / pivot }
        };
        let column = for i in N {
            a[i][p]
        };
        for (i, j) in (N, N) {
            let kept = if j == p { 0.0 } else { a[i][j] };
            a[i][j] = if i == p {
                row[j]
            } else {
                kept - column[i] * row[j]
            };
        }
    }
    a
}

/// The weights after a step along `inverse` times the slope.
#[pointful]
fn step<T: IndexSet>(
    weights: &Table<T, f64>,
    inverse: &Table<(T, T), f64>,
    slope: &Table<T, f64>,
    length: f64,
) -> Table<T, f64> {
    for t in T {
        let along = sum(for s in T {
            inverse[t][s] * slope[s]
        });
        weights[t] - length * along
    }
}

type Weights = Table<Term, f64>;

/// A minimum.
struct Minimum {
    weights: Weights,
    value: f64,
    /// The inverse of the curvature there.
    inverse: Table<(Term, Term), f64>,
}

/// Newton's method from zero on, for at most `rounds` steps; the values are told to `report` as
/// they come. A step that goes too far is halved.
fn newton(
    rounds: usize,
    value_and_slope: impl Fn(&Weights) -> (f64, Weights),
    curvature: impl Fn(&Weights) -> Table<(Term, Term), f64>,
    mut report: impl FnMut(f64),
) -> Minimum {
    let mut weights = Table::zeros(Extent::<Term>::new(()));
    for _ in 0..rounds {
        let (value, slope) = value_and_slope(&weights);
        report(value);
        let inverse = inverse(curvature(&weights));
        let lengths = (0..20).map(|halved| 0.5f64.powi(halved));
        let better = lengths
            .map(|length| step(&weights, &inverse, &slope, length))
            .find(|moved| value_and_slope(moved).0 < value);
        match better {
            Some(moved) => weights = moved,
            None => break,
        }
    }
    Minimum {
        value: value_and_slope(&weights).0,
        inverse: inverse(curvature(&weights)),
        weights,
    }
}

/// What was measured.
struct Trial {
    terms: Table<(Patient, Term), f64>,
    falls: Table<Patient, f64>,
    cured: Table<Patient, bool>,
}

impl Trial {
    fn falls(&self, report: impl FnMut(f64)) -> Minimum {
        let (terms, falls) = (&self.terms, &self.falls);
        newton(
            100,
            |w| value_and_grad!(misfit, wrt = weights)(terms, falls, w),
            |w| hessian!(misfit, wrt = weights)(terms, falls, w),
            report,
        )
    }

    fn cures(&self, report: impl FnMut(f64)) -> Minimum {
        let (terms, cured) = (&self.terms, &self.cured);
        newton(
            100,
            |w| value_and_grad!(surprise, wrt = weights)(terms, cured, w),
            |w| hessian!(surprise, wrt = weights)(terms, cured, w),
            report,
        )
    }
}

/// The weights behind the trial: of the fall in pressure, in mmHg, and of the logarithm of the odds
/// of a cure.
const TRUTH: [[f64; 3]; 2] = [[4.0, 2.5, -1.0], [-3.0, 1.0, -0.5]];
/// The doses, one milligramme doubled so often.
const DOUBLINGS: usize = 7;
/// The standard deviation of a fall, in mmHg.
const NOISE: f64 = 4.0;

/// A trial with so many patients for each dose.
fn trial(each: usize, seed: u64) -> Trial {
    let mut random = StdRng::seed_from_u64(seed);
    let (mut terms, mut falls, mut cured) = (Vec::new(), Vec::new(), Vec::new());
    for patient in 0..each * DOUBLINGS {
        let x = [
            1.0,
            (patient % DOUBLINGS) as f64,
            random.random_range(-2.5..2.5),
        ];
        let [fall, odds] = TRUTH.map(|w| (0..3).map(|t| w[t] * x[t]).sum::<f64>());
        // Twelve uniform numbers have the variance one.
        let noise: f64 = (0..12).map(|_| random.random_range(-0.5..0.5)).sum();
        terms.extend(x);
        falls.push(fall + NOISE * noise);
        cured.push(random.random::<f64>() < 1.0 / (1.0 + (-odds).exp()));
    }
    let patients = Extent::<Patient>::new(falls.len());
    let both = Extent::join((patients, Extent::new(())));
    Trial {
        terms: Table::from_vec(both, terms).expect("three terms a patient"),
        falls: Table::from_vec(patients, falls).expect("one fall a patient"),
        cured: Table::from_vec(patients, cured).expect("one outcome a patient"),
    }
}

/// The standard errors of what was found, if the variance of what was measured is `variance` times
/// that of the model.
fn errors(found: &Minimum, variance: f64) -> [f64; 3] {
    [0, 1, 2].map(|t| (variance * found.inverse.as_slice()[4 * t]).sqrt())
}

fn main() {
    let trial = trial(60, 7);
    let patients = trial.falls.extent().len();
    let bar = progress::bar("Newton steps", 20);
    let report = |value: f64| {
        bar.set_message(format!("{value:.6}"));
        bar.inc(1);
    };
    let falls = trial.falls(report);
    let cures = trial.cures(report);
    bar.abandon();
    let variance = 2.0 * falls.value / (patients - 3) as f64;
    let fits = [
        ("fall in mmHg", &falls, variance),
        ("logarithm of the odds of a cure", &cures, 1.0),
    ];
    for ((what, found, variance), truth) in fits.into_iter().zip(TRUTH) {
        println!("{what}:");
        let errors = errors(found, variance);
        for (k, term) in found.weights.indices().enumerate() {
            let (name, is) = (format!("{term:?}"), found.weights[term]);
            println!(
                "  {name:9} {is:7.3} ± {:.3}, in truth {:6.3}",
                errors[k], truth[k]
            );
        }
    }
    println!("half of those of fifty are cured by {:.1} mg", half(&cures));
    for path in draw(&trial, &falls, &cures).expect("the pictures can be written") {
        println!("{}", path.display());
    }
}

/// The dose that cures half of the patients of fifty years, in milligrammes.
fn half(cures: &Minimum) -> f64 {
    (-cures.weights[Term::Base] / cures.weights[Term::Doublings]).exp2()
}

/// Draws what was measured and, for patients of fifty years, what was found, over the doublings of
/// the dose.
fn draw(
    trial: &Trial,
    falls: &Minimum,
    cures: &Minimum,
) -> Result<[std::path::PathBuf; 2], Box<dyn std::error::Error>> {
    let doublings = || trial.terms.as_slice().chunks(3).map(|x| x[1]);
    let at = |found: &Minimum, dose: f64| {
        found.weights[Term::Base] + found.weights[Term::Doublings] * dose
    };
    let doses = || (0..=100).map(|k| f64::from(k) * (DOUBLINGS - 1) as f64 / 100.0);
    let measured: Vec<_> = doublings()
        .zip(trial.falls.as_slice().iter().copied())
        .collect();
    let line: Vec<_> = doses().map(|dose| (dose, at(falls, dose))).collect();
    let share = |dose: usize| {
        let outcomes = trial.cured.as_slice().iter().skip(dose).step_by(DOUBLINGS);
        let cured = outcomes.clone().filter(|cured| **cured).count();
        (dose as f64, cured as f64 / outcomes.count() as f64)
    };
    let shares: Vec<_> = (0..DOUBLINGS).map(share).collect();
    let sigmoid: Vec<_> = doses()
        .map(|dose| (dose, 1.0 / (1.0 + (-at(cures, dose)).exp())))
        .collect();
    let paths = [
        picture("regression_fall.png"),
        picture("regression_cure.png"),
    ];
    let doses = "doublings of the dose";
    let fall = figure::Chart::new("Fall of the pressure", doses, "fall in mmHg")
        .dots("patients", figure::INK, measured)
        .line("fitted, at fifty years", figure::BLUE, line)
        .legend(SeriesLabelPosition::UpperLeft);
    let cure = figure::Chart::new("Cured patients", doses, "share")
        .dots("all ages", figure::INK, shares)
        .line("fitted, at fifty years", figure::BLUE, sigmoid)
        .legend(SeriesLabelPosition::UpperLeft);
    for (path, chart) in paths.iter().zip([fall, cure]) {
        figure::charts(path, 1, &[chart])?;
    }
    Ok(paths)
}

#[test]
fn finds_the_truth_behind_the_trial() {
    let trial = trial(100, 11);
    let falls = trial.falls(|_| ());
    let cures = trial.cures(|_| ());
    let variance = 2.0 * falls.value / (trial.falls.extent().len() - 3) as f64;
    assert!((variance.sqrt() - NOISE).abs() < 0.3, "{variance}");
    for ((found, variance), truth) in [(&falls, variance), (&cures, 1.0)].into_iter().zip(TRUTH) {
        let errors = errors(found, variance);
        for (k, truth) in truth.into_iter().enumerate() {
            let off = (found.weights.as_slice()[k] - truth).abs();
            assert!(
                errors[k] < 0.6 && off < 3.0 * errors[k],
                "{}",
                found.weights
            );
        }
    }
    assert!((half(&cures) - 8.0).abs() < 2.0, "{}", half(&cures));
}

#[test]
fn a_quadratic_takes_one_step_and_a_likelihood_few() {
    let trial = trial(30, 3);
    let mut values = Vec::new();
    trial.falls(|value| values.push(value));
    // What a second step still finds is rounding.
    assert!(
        values[1..]
            .iter()
            .all(|v| (v / values[1] - 1.0).abs() < 1e-12),
        "{values:?}"
    );
    values.clear();
    let cures = trial.cures(|value| values.push(value));
    assert!((values[0] - 210.0 * 2.0f64.ln()).abs() < 1e-10);
    assert!(
        values.len() < 12 && values.is_sorted_by(|a, b| a >= b),
        "{values:?}"
    );
    let (_, slope) =
        value_and_grad!(surprise, wrt = weights)(&trial.terms, &trial.cured, &cures.weights);
    assert!(slope.as_slice().iter().all(|s| s.abs() < 1e-6), "{slope}");
}

#[test]
fn the_derivatives_are_those_of_differences() {
    let trial = trial(5, 1);
    let table = |w: &[f64]| Table::from_vec(Extent::<Term>::new(()), w.to_vec()).unwrap();
    let (terms, falls, cured) = (&trial.terms, &trial.falls, &trial.cured);
    for at in [[0.0, 0.0, 0.0], [-2.0, 0.7, 0.3], [5.0, -2.0, 3.0]] {
        let w = table(&at);
        let by_differences = differences::gradient(&at, |x| misfit(terms, falls, &table(x)));
        let slope = grad!(misfit, wrt = weights)(terms, falls, &w);
        differences::assert_close(slope.as_slice(), &by_differences, 1e-7);
        let by_differences = differences::gradient(&at, |x| surprise(terms, cured, &table(x)));
        let slope = grad!(surprise, wrt = weights)(terms, cured, &w);
        differences::assert_close(slope.as_slice(), &by_differences, 1e-7);
        let hessian = hessian!(surprise, wrt = weights)(terms, cured, &w);
        for (k, row) in hessian.as_slice().chunks(3).enumerate() {
            let slope = |x: &[f64]| grad!(surprise, wrt = weights)(terms, cured, &table(x));
            let by_differences = differences::gradient(&at, |x| slope(x).as_slice()[k]);
            differences::assert_close(row, &by_differences, 1e-6);
        }
    }
}

#[test]
fn a_matrix_by_its_inverse_is_the_identity() {
    for n in [0, 1, 2, 7, 40] {
        let square = Extent::<(Dyn, Dyn)>::new((n, n));
        let entry = |i: usize, j: usize| {
            let near = 1.0 / (1.0 + i.abs_diff(j) as f64);
            near + if i == j { 1.0 } else { 0.0 }
        };
        let entries: Vec<f64> = (0..n * n).map(|k| entry(k / n, k % n)).collect();
        let inverse = inverse(Table::from_vec(square, entries).unwrap());
        for k in 0..n * n {
            let (i, j) = (k / n, k % n);
            let product: f64 = (0..n)
                .map(|m| entry(i, m) * inverse.as_slice()[m * n + j])
                .sum();
            let identity = if i == j { 1.0 } else { 0.0 };
            assert!((product - identity).abs() < 1e-12, "{i} {j}: {product}");
        }
    }
}
