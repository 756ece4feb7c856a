//! Fits a spectrum of two overlapping peaks on an exponential background by the method of Levenberg
//! and Marquardt with the exact Jacobian. The data are NIST's (Statistical Reference Datasets,
//! Gauss3), with certified parameters and standard errors. Prints both, with the areas of the
//! peaks, and draws the initial guess, the fit and the residuals to
//! `target/pictures/levenberg_marquardt.png`.

use std::f64::consts::PI;

use pointful::lib::{dot, inverse, matmul, matvec, transpose};
use pointful::optim::{LevenbergMarquardt, Minimum};
use pointful::prelude::*;
use pointful_examples::{data, figure, picture};

/// A channel of the spectrometer.
#[derive(Clone, Copy, IndexSet)]
pub struct Channel(usize);

/// A parameter of the background.
#[derive(Clone, Copy, IndexSet)]
pub enum Background {
    /// Its height at the first channel, counts.
    Height,
    /// Its rate of decay, per channel.
    Decay,
}

/// A parameter of a peak.
#[derive(Clone, Copy, IndexSet)]
pub enum Shape {
    /// Counts.
    Height,
    /// Channel.
    Centre,
    /// Channels.
    Width,
}

/// A parameter of the spectrum.
#[pointful]
pub type Parameter = Either<Background, (Fin<2>, Shape)>;

/// The counts of the background at a place.
#[pointful]
pub fn background(p: &Table<Parameter, f64>, x: f64) -> f64 {
    p[Either::Left(Background::Height)] * (-p[Either::Left(Background::Decay)] * x).exp()
}

/// The counts of a peak at a place.
#[pointful]
pub fn peak(p: &Table<Parameter, f64>, which: Fin<2>, x: f64) -> f64 {
    let from = x - p[Either::Right((which, Shape::Centre))];
    let scaled = from / p[Either::Right((which, Shape::Width))];
    p[Either::Right((which, Shape::Height))] * (-scaled * scaled).exp()
}

/// The counts at a place.
#[pointful]
pub fn spectrum(p: &Table<Parameter, f64>, x: f64) -> f64 {
    let peaks = for which in Fin::<2> {
        peak(p, which, x)
    };
    background(p, x) + sum(peaks)
}

/// The model's counts less the measured ones, for each channel.
#[pointful]
pub fn residuals<N: IndexSet>(
    p: &Table<Parameter, f64>,
    x: &Table<N, f64>,
    counts: &Table<N, f64>,
) -> Table<N, f64> {
    spectrum(p, x) - counts
}

/// The covariance of the estimates: the residual variance times `(Jᵀ J)⁻¹`.
#[pointful]
pub fn covariance<N: IndexSet>(
    p: &Table<Parameter, f64>,
    x: &Table<N, f64>,
    counts: &Table<N, f64>,
) -> Table<(Parameter, Parameter), f64> {
    let j = jacobian!(residuals, wrt = p)(p, x, counts);
    let r = residuals(p, x, counts);
    let variance = dot(r, r) / (size(N) - size(Parameter)) as f64;
    variance * inverse(matmul(transpose(j), j))
}

/// The area of a peak, counts times channels.
#[pointful]
pub fn area(p: &Table<Parameter, f64>, which: Fin<2>) -> f64 {
    p[Either::Right((which, Shape::Height))] * p[Either::Right((which, Shape::Width))] * PI.sqrt()
}

/// The area's standard error, by the delta method.
#[pointful]
pub fn area_error(
    p: &Table<Parameter, f64>,
    covariance: &Table<(Parameter, Parameter), f64>,
    which: Fin<2>,
) -> f64 {
    let by_p = grad!(area)(p, which);
    dot(by_p, matvec(covariance, by_p)).sqrt()
}

/// The channels' numbers and their counts.
fn measured() -> (Table<Channel, f64>, Table<Channel, f64>) {
    let text = std::fs::read_to_string(data("gauss3.txt")).expect("the data are there");
    let column = |k: usize| {
        let numbers = text
            .lines()
            .map(|line| line.split(' ').nth(k)?.parse().ok());
        numbers.collect::<Option<_>>().expect("two numbers a line")
    };
    (column(0), column(1))
}

/// Read off by eye.
fn initial_guess() -> Table<Parameter, f64> {
    let numbers = vec![90.0, 0.005, 80.0, 100.0, 15.0, 80.0, 155.0, 15.0];
    Table::from_vec(Extent::default(), numbers).expect("eight numbers")
}

fn fit(x: &Table<Channel, f64>, counts: &Table<Channel, f64>) -> Minimum<Table<Parameter, f64>> {
    let method = LevenbergMarquardt {
        tolerance: 1e-6,
        ..LevenbergMarquardt::default()
    };
    method.minimize(
        initial_guess(),
        |p| residuals(p, x, counts),
        |p| jacobian!(residuals, wrt = p)(p, x, counts),
    )
}

/// The standard errors of all parameters.
fn errors(covariance: &Table<(Parameter, Parameter), f64>) -> Vec<f64> {
    let all = covariance.as_slice().iter().step_by(9);
    all.map(|variance| variance.sqrt()).collect()
}

fn main() {
    let (x, counts) = measured();
    let found = fit(&x, &counts);
    println!("{} channels: {found}", x.len());
    let covariance = covariance(&found.x, &x, &counts);
    let names = [
        ("background", "counts"),
        ("decay", "per channel"),
        ("height", "counts"),
        ("centre", "channels"),
        ("width", "channels"),
    ];
    let numbers = found.x.iter().zip(errors(&covariance)).enumerate();
    for (k, (value, error)) in numbers {
        let (name, unit) = names[if k < 5 { k } else { k - 3 }];
        println!("{name:10} {value:9.5} ± {error:.5} {unit}");
    }
    for which in [0, 1].map(Fin::new) {
        println!(
            "area of the peak at channel {:.0}: {:.0} ± {:.0} counts · channels",
            found.x[Either::Right((which, Shape::Centre))],
            area(&found.x, which),
            area_error(&found.x, &covariance, which)
        );
    }
    let path = picture("levenberg_marquardt.png");
    draw(&path, &x, &counts, &found.x).expect("the picture can be written");
    println!("{}", path.display());
}

/// Draws the spectrum with the initial guess, the fit and its components, and the residuals.
fn draw(
    path: &std::path::Path,
    x: &Table<Channel, f64>,
    counts: &Table<Channel, f64>,
    found: &Table<Parameter, f64>,
) -> Result<(), Box<dyn std::error::Error>> {
    let curve = |f: &dyn Fn(f64) -> f64| -> Vec<_> { x.iter().map(|&x| (x, f(x))).collect() };
    let part = |k: usize| curve(&|x| peak(found, Fin::new(k), x));
    let fit = figure::Chart::new("Two peaks on a background", "channel", "counts")
        .dots(
            "measured",
            figure::GREY,
            x.iter().copied().zip(counts.iter().copied()),
        )
        .line(
            "initial guess",
            figure::ORANGE,
            curve(&|x| spectrum(&initial_guess(), x)),
        )
        .line("fit", figure::BLUE, curve(&|x| spectrum(found, x)))
        .thin("background", figure::INK, curve(&|x| background(found, x)))
        .thin("peaks", figure::GREEN, part(0))
        .thin("", figure::GREEN, part(1));
    let left = residuals(found, x, counts);
    let left = figure::Chart::new("Residuals of the fit", "channel", "measured − fit / counts")
        .heights(-10.0..10.0)
        .thin("", figure::INK, curve(&|_| 0.0))
        .dots(
            "",
            figure::BLUE,
            x.iter().copied().zip(left.iter().map(|r| -r)),
        );
    figure::charts(path, 2, &[fit, left])
}

/// To eight of the eleven digits that NIST certifies.
#[test]
fn parameters_and_errors_are_those_that_are_certified() {
    let (x, counts) = measured();
    let found = fit(&x, &counts);
    let certified = [
        (9.8940368970E+01, 5.3005192833E-01),
        (1.0945879335E-02, 1.2554058911E-04),
        (1.0069553078E+02, 8.1256587317E-01),
        (1.1163619459E+02, 3.5317859757E-01),
        (2.3300500029E+01, 3.6584783023E-01),
        (7.3705031418E+01, 1.2091239082E+00),
        (1.4776164251E+02, 4.0488183351E-01),
        (1.9668221230E+01, 3.7806634336E-01),
    ];
    let errors = errors(&covariance(&found.x, &x, &counts));
    for ((value, error), (c, e)) in found.x.iter().zip(&errors).zip(certified) {
        assert!(
            (value - c).abs() < 1e-8 * c && (error - e).abs() < 1e-8 * e,
            "{found}"
        );
    }
    assert!((2.0 * found.value - 1.2444846360E+03).abs() < 1e-6);
}
