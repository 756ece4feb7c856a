//! Weighs a pendulum from a film of its swing: its stiffness and friction, and how it was let go,
//! such that the angles that a Runge–Kutta integration gives are those that were seen. Gradients
//! run back through all steps of the integration. Prints what it finds, and draws measured and
//! fitted swing to `target/pictures/pendulum.png`.

use pointful::optim::Adam;
use pointful::prelude::*;
#[cfg(test)]
use pointful_examples::differences;
use pointful_examples::{figure, picture, progress};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// A picture of the film.
#[derive(Clone, Copy, IndexSet)]
pub struct Frame(usize);

/// What is to be found.
#[derive(Clone, Copy, Debug, IndexSet)]
pub enum Unknown {
    /// Gravity by length, 1/s².
    Stiffness,
    /// Friction, 1/s.
    Damping,
    /// The angle in the first frame.
    Angle,
    /// The angular speed then, 1/s.
    Speed,
}

/// Steps of the integration from one frame to the next.
const STEPS: usize = 4;

/// Rates of change of the angle and of the angular speed.
#[pointful]
fn rates(angle: f64, speed: f64, unknown: &Table<Unknown, f64>) -> (f64, f64) {
    let pull = unknown[Unknown::Stiffness] * angle.sin();
    (speed, -pull - unknown[Unknown::Damping] * speed)
}

/// Angle and angular speed a time `h` later, by the classical Runge–Kutta step.
#[pointful]
fn step(angle: f64, speed: f64, h: f64, unknown: &Table<Unknown, f64>) -> (f64, f64) {
    let (a1, s1) = rates(angle, speed, unknown);
    let (a2, s2) = rates(angle + 0.5 * h * a1, speed + 0.5 * h * s1, unknown);
    let (a3, s3) = rates(angle + 0.5 * h * a2, speed + 0.5 * h * s2, unknown);
    let (a4, s4) = rates(angle + h * a3, speed + h * s3, unknown);
    let angle = angle + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
    let speed = speed + h / 6.0 * (s1 + 2.0 * s2 + 2.0 * s3 + s4);
    (angle, speed)
}

/// The angle in every frame, where two frames are `interval` seconds apart.
#[pointful]
pub fn swing<F: IndexSet>(
    frames: Extent<F>,
    interval: f64,
    unknown: &Table<Unknown, f64>,
) -> Table<F, f64> {
    let mut angle = unknown[Unknown::Angle];
    let mut speed = unknown[Unknown::Speed];
    for _frame in frames {
        let seen = angle;
        for _step in 0..STEPS {
            (angle, speed) = step(angle, speed, interval / STEPS as f64, unknown);
        }
        seen
    }
}

/// The mean squared error of the angles.
#[pointful]
pub fn misfit<F: IndexSet>(
    measured: &Table<F, f64>,
    interval: f64,
    unknown: &Table<Unknown, f64>,
) -> f64 {
    let angles = swing(F, interval, unknown);
    mean(for f in F {
        (angles[f] - measured[f]).powi(2)
    })
}

/// A film of the pendulum that has these values, each angle off by about `noise`.
fn film(
    truth: &Table<Unknown, f64>,
    frames: usize,
    interval: f64,
    noise: f64,
) -> Table<Frame, f64> {
    let mut random = StdRng::seed_from_u64(1851);
    let mut angles = swing(Extent::<Frame>::new(frames), interval, truth);
    for angle in angles.as_mut_slice() {
        *angle += noise * random.random_range(-1.0..1.0);
    }
    angles
}

fn unknown(values: [f64; 4]) -> Table<Unknown, f64> {
    Table::from_vec(Extent::new(()), values.to_vec()).expect("as many values as unknowns")
}

/// Follows the gradient for `steps` steps: what is found, and the error before each step, told to
/// `report` as they come.
fn fit(
    measured: &Table<Frame, f64>,
    interval: f64,
    mut guess: Table<Unknown, f64>,
    steps: usize,
    mut report: impl FnMut(f64),
) -> Table<Unknown, f64> {
    let mut adam = Adam::new(0.02, &guess).epsilon(1e-12);
    for _ in 0..steps {
        let (error, slope) = value_and_grad!(misfit, wrt = unknown)(measured, interval, &guess);
        report(error);
        adam.step(&mut guess, &slope);
    }
    guess
}

/// Gravity by a length of one metre, and a pendulum let go at rest.
const TRUTH: [f64; 4] = [9.81, 0.15, 1.2, 0.0];
/// What one might guess who only looked at the film.
const GUESS: [f64; 4] = [9.0, 0.0, 1.0, 0.0];

fn main() {
    let (frames, interval, steps) = (Extent::<Frame>::new(200), 0.04, 1000);
    let measured = film(&unknown(TRUTH), frames.len(), interval, 0.05);
    let bar = progress::bar("fit", steps);
    let found = fit(&measured, interval, unknown(GUESS), steps, |error| {
        bar.set_message(format!("error {error:.6}"));
        bar.inc(1);
    });
    bar.abandon();
    for (k, which) in found.indices().enumerate() {
        let (is, was) = (found[which], TRUTH[k]);
        println!("{:10} {is:7.4}, in truth {was:7.4}", format!("{which:?}"));
    }
    let curve = |t: &Table<Frame, f64>| -> Vec<(f64, f64)> {
        let times = (0..).map(|k| f64::from(k) * interval);
        times.zip(t.as_slice().iter().copied()).collect()
    };
    let path = picture("pendulum.png");
    let (seen, fitted) = (curve(&measured), curve(&swing(frames, interval, &found)));
    let guessed = curve(&swing(frames, interval, &unknown(GUESS)));
    let title = "A pendulum on film";
    let chart = figure::Chart::new(title, "time in seconds", "angle in radians")
        .dots("measured", figure::INK, seen)
        .thin("first guess", figure::ORANGE, guessed)
        .line("fitted", figure::BLUE, fitted);
    figure::charts(&path, 1, &[chart]).expect("the picture can be written");
    println!("{}", path.display());
}

#[test]
fn finds_the_pendulum_that_was_filmed() {
    let truth = unknown(TRUTH);
    let measured = film(&truth, 60, 0.05, 0.0);
    let found = fit(&measured, 0.05, unknown(GUESS), 600, |_| ());
    assert!(misfit(&measured, 0.05, &found) < 1e-6, "{found}");
    for (found, truth) in found.as_slice().iter().zip(TRUTH) {
        assert!((found - truth).abs() < 0.02, "{found}, in truth {truth}");
    }
}

#[test]
fn a_swing_without_friction_keeps_its_energy() {
    let free = unknown([9.81, 0.0, 1.2, 0.0]);
    let angles = swing(Extent::<Frame>::new(2000), 0.01, &free);
    // Twice in a period it is as far out as it was let go.
    let widest = angles.as_slice()[500..]
        .iter()
        .fold(0.0f64, |m, a| m.max(a.abs()));
    assert!((widest - 1.2).abs() < 1e-4, "{widest}");
}

#[test]
fn the_gradient_is_that_of_differences() {
    let measured = film(&unknown(TRUTH), 40, 0.05, 0.1);
    for at in [GUESS, [12.0, 0.4, 2.5, -3.0]] {
        let slope = grad!(misfit, wrt = unknown)(&measured, 0.05, &unknown(at));
        let error_at = |x: &[f64]| misfit(&measured, 0.05, &unknown(x.try_into().unwrap()));
        differences::assert_close(
            slope.as_slice(),
            &differences::gradient(&at, error_at),
            1e-7,
        );
    }
}

#[test]
fn a_film_of_no_frames_or_one() {
    let error_and_slope = |frames| {
        let measured = film(&unknown(TRUTH), frames, 0.05, 0.0);
        value_and_grad!(misfit, wrt = unknown)(&measured, 0.05, &unknown(GUESS))
    };
    let (error, slope) = error_and_slope(1);
    assert!((error - 0.04).abs() < 1e-15);
    assert_eq!(slope.as_slice()[..2], [0.0, 0.0]);
    assert!((slope.as_slice()[2] + 0.4).abs() < 1e-15);
    let (none, slope) = error_and_slope(0);
    assert!(none.is_nan());
    assert_eq!(slope.as_slice(), [0.0; 4]);
}
