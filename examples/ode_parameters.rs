//! Parameters of an ordinary differential equation: the Lotka–Volterra model of hares and lynxes is
//! fitted to the pelts that the Hudson's Bay Company bought from 1900 to 1920 (Hewitt 1921). The
//! gradient runs back through the steps of a Runge–Kutta method, with checkpoints. Prints the
//! parameters, and draws both populations before and after the fit to
//! `target/pictures/ode_parameters.png`.

use std::f64::consts::TAU;

use pointful::optim::{Lbfgs, Minimum};
use pointful::prelude::*;
#[cfg(test)]
use pointful_examples::differences;
use pointful_examples::{figure, picture};

/// A species.
#[derive(Clone, Copy, IndexSet)]
pub enum Species {
    /// The prey.
    Hare,
    /// The predator.
    Lynx,
}

/// A time of the trajectory.
#[derive(Clone, Copy, IndexSet)]
pub struct Time(usize);

/// Populations, as thousands of pelts.
#[pointful]
pub type Pelts = Table<Species, f64>;

/// Logarithms of the parameters.
#[pointful]
#[derive(Clone, Debug)]
pub struct Parameters {
    /// Birth rate of hares, per year: α.
    pub birth: f64,
    /// Predation rate, per year and thousand lynxes: β.
    pub predation: f64,
    /// Death rate of lynxes, per year: γ.
    pub death: f64,
    /// Growth rate of lynxes, per year and thousand hares: δ.
    pub growth: f64,
    /// Initial populations.
    pub start: Pelts,
}

/// The right-hand side: how populations change per year.
#[pointful]
pub fn derivative(p: &Parameters, n: &Pelts) -> Pelts {
    let met = n[Species::Hare] * n[Species::Lynx];
    for s in Species {
        match s {
            Species::Hare => p.birth.exp() * n[s] - p.predation.exp() * met,
            Species::Lynx => p.growth.exp() * met - p.death.exp() * n[s],
        }
    }
}

/// A step of the classical Runge–Kutta method, of `h` years.
#[pointful]
pub fn rk4_step(p: &Parameters, n: &Pelts, h: f64) -> Pelts {
    let a = derivative(p, n);
    let b = derivative(p, n + 0.5 * h * a);
    let c = derivative(p, n + 0.5 * h * b);
    let d = derivative(p, n + h * c);
    n + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
}

/// Populations at times `apart` years from each other, with `steps` steps between two of them.
#[pointful]
pub fn populations<T: IndexSet>(
    p: &Parameters,
    times: Extent<T>,
    apart: f64,
    steps: usize,
) -> Table<(T, Species), f64> {
    let mut n = p.start.exp();
    // Each year's steps are computed again on the way back.
    #[checkpoint(every = 1)]
    for _t in times {
        let now = n;
        for _step in 0..steps {
            n = rk4_step(p, n, apart / steps as f64);
        }
        now
    }
}

/// The sum of the squared residuals of the logarithms.
#[pointful]
pub fn squared_residuals<T: IndexSet>(p: &Parameters, observed: &Table<(Species, T), f64>) -> f64 {
    let n = populations(p, observed[Species::Hare].extent(), 1.0, 50);
    sum(for (s, t) in _ {
        (n[t][s] / observed[s][t]).ln().powi(2)
    })
}

/// Thousand pelts of hares and lynxes, each year from 1900 on.
const PELTS: [[f64; 21]; 2] = [
    [
        30.0, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22.0, 25.4, 27.1, 40.3, 57.0, 76.6, 52.3,
        19.5, 11.2, 7.6, 14.6, 16.2, 24.7,
    ],
    [
        4.0, 6.1, 9.8, 35.2, 59.4, 41.7, 19.0, 13.0, 8.3, 9.1, 7.4, 8.0, 12.3, 19.5, 45.7, 51.1,
        29.7, 15.8, 9.7, 10.1, 8.6,
    ],
];

fn observed() -> Table<(Species, Time), f64> {
    Table::from_vec(Extent::new(((), 21)), PELTS.concat()).expect("a number for each")
}

/// From the equilibrium, which is near the mean of the data, and the period of small oscillations
/// about it, `2π / √(αγ)`, which is about ten years. Rates that are far off lead to other local
/// minima.
fn initial_guess() -> Parameters {
    let rate = 0.1 * TAU;
    let [hares, lynxes] = PELTS.map(|pelts| pelts.iter().sum::<f64>() / 21.0);
    Parameters {
        birth: rate.ln(),
        predation: (rate / lynxes).ln(),
        death: rate.ln(),
        growth: (rate / hares).ln(),
        start: Table::from_fn(Extent::default(), |s| PELTS[s as usize][0].ln()),
    }
}

fn fit(observed: &Table<(Species, Time), f64>) -> Minimum<Parameters> {
    let lbfgs = Lbfgs {
        tolerance: 1e-5,
        ..Lbfgs::default()
    };
    lbfgs.minimize(initial_guess(), |p| {
        value_and_grad!(squared_residuals, wrt = p)(p, observed)
    })
}

fn main() {
    let found = fit(&observed());
    println!("{found}");
    let p = &found.x;
    println!(
        "hares: birth rate {:.3} per year, predation rate {:.4} per year and thousand lynxes",
        p.birth.exp(),
        p.predation.exp()
    );
    println!(
        "lynxes: death rate {:.3} per year, growth rate {:.4} per year and thousand hares",
        p.death.exp(),
        p.growth.exp()
    );
    // 42 data and six parameters.
    let off = (found.value / 36.0).sqrt();
    println!("residual standard deviation {:.2} of the logarithm", off);
    let path = picture("ode_parameters.png");
    draw(&path, p).expect("the picture can be written");
    println!("{}", path.display());
}

/// Draws the data and trajectories before and after the fit, and the phase plane.
fn draw(path: &std::path::Path, found: &Parameters) -> Result<(), Box<dyn std::error::Error>> {
    let [hares, lynxes] = PELTS;
    let years = || (0..21).map(|t| 1900.0 + f64::from(t));
    let orbit = |p: &Parameters| -> Vec<(f64, f64)> {
        let n = populations(p, Extent::<Time>::new(401), 0.05, 5);
        n.as_slice().chunks(2).map(|n| (n[0], n[1])).collect()
    };
    let against_years = |title: &str, p: &Parameters| {
        let times = || (0..401).map(|t| 1900.0 + 0.05 * f64::from(t));
        figure::Chart::new(title, "year", "pelts / (thousand per year)")
            .heights(0.0..105.0)
            .line(
                "hares",
                figure::BLUE,
                times().zip(orbit(p).into_iter().map(|n| n.0)),
            )
            .line(
                "lynxes",
                figure::ORANGE,
                times().zip(orbit(p).into_iter().map(|n| n.1)),
            )
            .dots("hares, data", figure::BLUE, years().zip(hares))
            .dots("lynxes, data", figure::ORANGE, years().zip(lynxes))
    };
    let plane = figure::Chart::new(
        "Phase plane",
        "hares / (thousand per year)",
        "lynxes / (thousand per year)",
    )
    .line("initial guess", figure::GREY, orbit(&initial_guess()))
    .line("fit", figure::GREEN, orbit(found))
    .dots("data", figure::INK, hares.into_iter().zip(lynxes));
    figure::charts(
        path,
        3,
        &[
            against_years("Initial guess", &initial_guess()),
            against_years("Least squares fit", found),
            plane,
        ],
    )
}

/// By SciPy's `least_squares`, with `solve_ivp` (`DOP853`).
#[test]
fn the_fit_is_that_of_scipy() {
    let found = fit(&observed());
    assert!((found.value - 2.0186611552112206).abs() < 1e-8, "{found}");
    let expected = [
        0.540158987,
        0.0271653569,
        0.796386050,
        0.0236946388,
        34.6024243,
        5.84450612,
    ];
    for (p, expected) in found.x.flatten().into_iter().zip(expected) {
        assert!(
            (p.exp() - expected).abs() < 1e-5 * expected,
            "{:?}",
            found.x
        );
    }
}

#[test]
fn the_gradient_is_that_of_differences() {
    let slope = grad!(squared_residuals, wrt = p)(&initial_guess(), &observed());
    let by_differences = differences::gradient(&initial_guess().flatten(), |at| {
        squared_residuals(&initial_guess().unflatten(at).unwrap(), &observed())
    });
    differences::assert_close(&slope.flatten(), &by_differences, 1e-7);
}

/// The invariant of the equations.
#[test]
fn the_invariant_is_conserved() {
    let p = initial_guess();
    let n = populations(&p, Extent::<Time>::new(50), 0.5, 50);
    let [birth, predation, death, growth] = [p.birth, p.predation, p.death, p.growth].map(f64::exp);
    let conserved = n
        .as_slice()
        .chunks(2)
        .map(|n| growth * n[0] - death * n[0].ln() + predation * n[1] - birth * n[1].ln());
    let conserved: Vec<f64> = conserved.collect();
    assert!(
        conserved.iter().all(|v| (v - conserved[0]).abs() < 1e-7),
        "{conserved:?}"
    );
}
