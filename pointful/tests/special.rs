//! Special functions of the standard library: values against many digits, derivatives against other
//! functions, differences and the derivatives of bodies, and what happens at the ends of domains.
//!
//! `REFERENCES=folder cargo test --release -p pointful --test special -- --nocapture` takes the
//! values of a folder that `special/reference.py` wrote, and prints the greatest errors.
#![deny(warnings)]
#![forbid(unsafe_code)]

use std::path::PathBuf;

use pointful::lib::{
    betainc, digamma, erf, erfc, erfinv, gammainc, gammaincc, ln_beta, ln_binomial, ln_gamma,
    normal_cdf, normal_quantile, polygamma,
};
use pointful::prelude::*;

/// Arguments, and the value as a sum of two doubles.
struct Reference {
    arguments: Vec<f64>,
    value: (f64, f64),
}

fn references(name: &str) -> Vec<Reference> {
    let folder = std::env::var_os("REFERENCES").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/special"),
        PathBuf::from,
    );
    let text = std::fs::read_to_string(folder.join(name).with_extension("txt")).expect("a file");
    let number = |word: &str| f64::from_bits(u64::from_str_radix(word, 16).expect("bits"));
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let all: Vec<_> = lines
        .map(|line| {
            let mut arguments: Vec<f64> = line.split(' ').map(number).collect();
            let low = arguments.pop().expect("a value");
            let high = arguments.pop().expect("a value");
            Reference {
                arguments,
                value: (high, low),
            }
        })
        .collect();
    assert!(all.len() >= 100, "{name}");
    all
}

/// The distance of a number from the next larger one in magnitude.
fn ulp(x: f64) -> f64 {
    let x = x.abs();
    f64::from_bits(x.to_bits() + 1) - x
}

fn ulp_of_single(x: f64) -> f64 {
    let x = x.abs() as f32;
    f64::from(f32::from_bits(x.to_bits() + 1)) - f64::from(x)
}

/// How far a function of doubles is from the references, in ulps of the larger of what it is and
/// what `scale` says.
fn worst(name: &str, f: impl Fn(&[f64]) -> f64, scale: impl Fn(&[f64]) -> f64) -> f64 {
    let mut worst = (0.0, vec![]);
    for Reference { arguments, value } in references(name) {
        let found = f(&arguments);
        let error = ((found - value.0) - value.1).abs();
        let error = error / ulp(value.0.abs().max(scale(&arguments)));
        assert!(
            error.is_finite(),
            "{name} of {arguments:?} is {found}, not {}",
            value.0
        );
        if error > worst.0 {
            worst = (error, arguments);
        }
    }
    println!("{name}: {:.2} ulp at {:?}", worst.0, worst.1);
    worst.0
}

/// The same of a function of `f32`, on the arguments that are numbers of it.
fn worst_of_single(name: &str, f: impl Fn(&[f32]) -> f32, scale: f64) -> f64 {
    let mut worst = (0.0, vec![]);
    for Reference { arguments, value } in references(name) {
        let singles: Vec<f32> = arguments.iter().map(|&x| x as f32).collect();
        let exact = singles
            .iter()
            .zip(&arguments)
            .all(|(s, x)| f64::from(*s) == *x);
        if !exact || value.0.abs() > f64::from(f32::MAX) {
            continue;
        }
        let error = (f64::from(f(&singles)) - value.0).abs();
        let error = error / ulp_of_single(value.0.abs().max(scale));
        if error > worst.0 {
            worst = (error, singles);
        }
    }
    println!("{name} of f32: {:.3} ulp at {:?}", worst.0, worst.1);
    worst.0
}

#[test]
fn doubles_are_as_good_as_documented() {
    const NONE: fn(&[f64]) -> f64 = |_| 0.0;
    const ONE: fn(&[f64]) -> f64 = |_| 1.0;
    let check = |name: &str, most: f64, f: &dyn Fn(&[f64]) -> f64, scale: fn(&[f64]) -> f64| {
        let found = worst(name, f, scale);
        assert!(found <= most, "{name}: {found}");
    };
    check("erf", 1.0, &|x| erf(x[0]), NONE);
    check("erfc", 3.0, &|x| erfc(x[0]), NONE);
    check("erfinv", 3.0, &|x| erfinv(x[0]), NONE);
    check("normal_cdf", 3.5, &|x| normal_cdf(x[0]), NONE);
    check("normal_quantile", 3.5, &|x| normal_quantile(x[0]), NONE);
    check("ln_gamma", 4.5, &|x| ln_gamma(x[0]), NONE);
    check("digamma", 4.5, &|x| digamma(x[0]), NONE);
    check("polygamma", 8.0, &|x| polygamma(x[0] as usize, x[1]), NONE);
    check("ln_beta", 5.0, &|x| ln_beta(x[0], x[1]), ONE);
    let choices: fn(&[f64]) -> f64 = |x| x[0].ln().max(1.0);
    check("ln_binomial", 10.0, &|x| ln_binomial(x[0], x[1]), choices);
    check("gammainc", 40.0, &|x| gammainc(x[0], x[1]), NONE);
    check("gammaincc", 40.0, &|x| gammaincc(x[0], x[1]), NONE);
    check("betainc", 40.0, &|x| betainc(x[0], x[1], x[2]), NONE);
    check("ln_gamma_of_negative", 10.0, &|x| ln_gamma(x[0]), ONE);
    check("digamma_of_negative", 7.0, &|x| digamma(x[0]), ONE);
}

/// Those by shapes, which are no formulas of other functions.
#[test]
fn derivatives_are_as_good_as_documented() {
    let check = |name: &str, most: f64, f: &dyn Fn(&[f64]) -> f64| {
        let found = worst(name, f, |_| 0.0);
        assert!(found <= most, "{name}: {found}");
    };
    check("gammainc_by_a", 100.0, &|x| grad!(gammainc)(x[0], x[1]).0);
    check("gammainc_by_a", 100.0, &|x| -grad!(gammaincc)(x[0], x[1]).0);
    let of_beta = |x: &[f64]| grad!(betainc)(x[0], x[1], x[2]);
    check("betainc_by_a", 100.0, &|x| of_beta(x).0);
    check("betainc_by_b", 100.0, &|x| of_beta(x).1);
}

#[test]
fn singles_are_rounded_once() {
    for found in [
        worst_of_single("erf", |x| erf(x[0]), 0.0),
        worst_of_single("erfc", |x| erfc(x[0]), 0.0),
        worst_of_single("erfinv", |x| erfinv(x[0]), 0.0),
        worst_of_single("normal_cdf", |x| normal_cdf(x[0]), 0.0),
        worst_of_single("normal_quantile", |x| normal_quantile(x[0]), 0.0),
        worst_of_single("ln_gamma", |x| ln_gamma(x[0]), 0.0),
        worst_of_single("digamma", |x| digamma(x[0]), 0.0),
        worst_of_single("polygamma", |x| polygamma(x[0] as usize, x[1]), 0.0),
        worst_of_single("ln_beta", |x| ln_beta(x[0], x[1]), 1e-6),
        worst_of_single("ln_binomial", |x| ln_binomial(x[0], x[1]), 1e-6),
        worst_of_single("gammainc", |x| gammainc(x[0], x[1]), 0.0),
        worst_of_single("gammaincc", |x| gammaincc(x[0], x[1]), 0.0),
        worst_of_single("gammainc_by_a", |x| grad!(gammainc)(x[0], x[1]).0, 0.0),
        worst_of_single("betainc", |x| betainc(x[0], x[1], x[2]), 0.0),
        worst_of_single("betainc_by_a", |x| grad!(betainc)(x[0], x[1], x[2]).0, 0.0),
        worst_of_single("ln_gamma_of_negative", |x| ln_gamma(x[0]), 1e-6),
        worst_of_single("digamma_of_negative", |x| digamma(x[0]), 1e-6),
    ] {
        assert!(found <= 0.501, "{found}");
    }
}

/// What NaN, infinities, zeros and ends of domains give.
#[test]
fn ends_of_domains() {
    const INFINITY: f64 = f64::INFINITY;
    for f in [
        erf,
        erfc,
        erfinv,
        normal_cdf,
        normal_quantile,
        ln_gamma,
        digamma,
    ] {
        assert!(f(f64::NAN).is_nan());
    }
    let least = f64::from_bits(1);
    assert_eq!([erf(-INFINITY), erf(INFINITY), erf(0.0)], [-1.0, 1.0, 0.0]);
    assert!(erf(-0.0).is_sign_negative() && erfinv(-0.0).is_sign_negative());
    assert_eq!([erf(least), erf(6.0), erfc(-INFINITY)], [least, 1.0, 2.0]);
    assert_eq!([erfc(INFINITY), erfc(28.0), erfc(-0.0)], [0.0, 0.0, 1.0]);
    assert!(erfc(27.0) > 0.0);
    assert_eq!([erfinv(-1.0), erfinv(1.0)], [-INFINITY, INFINITY]);
    assert!(erfinv(1.0 + f64::EPSILON).is_nan() && erfinv(-INFINITY).is_nan());
    assert_eq!(
        [normal_cdf(-INFINITY), normal_cdf(INFINITY), normal_cdf(0.0)],
        [0.0, 1.0, 0.5]
    );
    assert!(normal_cdf(-38.4) > 0.0);
    assert_eq!(
        [normal_quantile(0.0), normal_quantile(1.0)],
        [-INFINITY, INFINITY]
    );
    assert!(normal_quantile(-least).is_nan() && normal_quantile(1.5).is_nan());
    assert!((normal_quantile(least) + 38.467405617144344).abs() < 1e-13);
    for pole in [0.0, -0.0, -1.0, -2.0, -1e300, INFINITY, -INFINITY] {
        assert_eq!(ln_gamma(pole), INFINITY, "{pole}");
    }
    assert_eq!([ln_gamma(1.0), ln_gamma(2.0)], [0.0, 0.0]);
    assert_eq!(ln_gamma(least), -least.ln());
    assert_eq!(
        [digamma(0.0), digamma(-0.0), digamma(INFINITY)],
        [-INFINITY, INFINITY, INFINITY]
    );
    assert!(
        [-1.0, -7.0, -INFINITY]
            .map(digamma)
            .into_iter()
            .all(f64::is_nan)
    );
    assert_eq!(
        [polygamma(1, 0.0), polygamma(2, 0.0)],
        [INFINITY, -INFINITY]
    );
    assert_eq!(polygamma(0, 2.5), digamma(2.5));
    assert!(polygamma(1, -0.5).is_nan() && polygamma(2, f64::NAN).is_nan());
    assert_eq!(polygamma(3, INFINITY), 0.0);
    assert_eq!(
        [ln_beta(1.0, 1.0), ln_beta(0.0, 3.0), ln_beta(0.0, 0.0)],
        [0.0, INFINITY, INFINITY]
    );
    assert_eq!(ln_beta(2.0, INFINITY), -INFINITY);
    for (a, b) in [
        (-1.0, 2.0),
        (2.0, -1.0),
        (f64::NAN, 1.0),
        (1.0, f64::NAN),
        (-0.5, 20.0),
    ] {
        assert!(ln_beta(a, b).is_nan(), "{a} {b}");
    }
    assert_eq!(
        [
            ln_binomial(7.0, 0.0),
            ln_binomial(7.0, 7.0),
            ln_binomial(0.0, 0.0)
        ],
        [0.0; 3]
    );
    for (n, k) in [(3.0, 4.0), (3.0, -1.0), (f64::NAN, 1.0), (3.0, f64::NAN)] {
        assert!(ln_binomial(n, k).is_nan(), "{n} {k}");
    }
    for x in [0.5, 3.0, 1e300] {
        assert_eq!([gammainc(x, 0.0), gammaincc(x, 0.0)], [0.0, 1.0]);
        assert_eq!([gammainc(x, INFINITY), gammaincc(x, INFINITY)], [1.0, 0.0]);
        assert_eq!([gammainc(INFINITY, x), gammaincc(INFINITY, x)], [0.0, 1.0]);
        assert_eq!([gammainc(0.0, x), gammaincc(0.0, x)], [1.0, 0.0]);
        assert_eq!([betainc(x, 2.0, 0.0), betainc(2.0, x, 1.0)], [0.0, 1.0]);
        assert_eq!([betainc(0.0, x, 0.3), betainc(x, 0.0, 0.3)], [1.0, 0.0]);
        assert_eq!(
            [betainc(x, INFINITY, 0.3), betainc(INFINITY, x, 0.3)],
            [1.0, 0.0]
        );
    }
    for (a, x) in [
        (-1.0, 2.0),
        (2.0, -1.0),
        (0.0, 0.0),
        (INFINITY, INFINITY),
        (f64::NAN, 1.0),
        (1.0, f64::NAN),
    ] {
        assert!(gammainc(a, x).is_nan() && gammaincc(a, x).is_nan());
        if a != INFINITY {
            assert!(grad!(gammainc)(a, x).0.is_nan(), "{a} {x}");
        }
    }
    for (a, b, x) in [
        (-1.0, 2.0, 0.5),
        (2.0, -1.0, 0.5),
        (2.0, 2.0, -0.1),
        (2.0, 2.0, 1.1),
        (0.0, 0.0, 0.5),
        (INFINITY, INFINITY, 0.5),
        (f64::NAN, 2.0, 0.5),
        (2.0, f64::NAN, 0.5),
        (2.0, 2.0, f64::NAN),
    ] {
        assert!(betainc(a, b, x).is_nan(), "{a} {b} {x}");
        if a != INFINITY {
            assert!(grad!(betainc)(a, b, x).0.is_nan(), "{a} {b} {x}");
        }
    }
    assert_eq!(
        [0.5, 1.0, 2.0].map(|a| grad!(gammainc)(a, 0.0)),
        [(0.0, INFINITY), (0.0, 1.0), (0.0, 0.0)]
    );
    assert_eq!(
        [0.5, 1.0, 2.0].map(|a| grad!(betainc)(a, 3.0, 0.0)),
        [(0.0, 0.0, INFINITY), (0.0, 0.0, 3.0), (0.0, 0.0, 0.0)]
    );
    assert_eq!(
        [0.5, 1.0, 2.0].map(|b| grad!(betainc)(3.0, b, 1.0)),
        [(0.0, 0.0, INFINITY), (0.0, 0.0, 3.0), (0.0, 0.0, 0.0)]
    );
    // Minus the exponential integral.
    near(grad!(gammainc)(0.0, 1.0).0, -0.219_383_934_395_520_27, 20.0);
    near(
        grad!(gammainc)(0.0, 3.0).0,
        -0.013_048_381_094_197_037,
        20.0,
    );
    // Too small, and next to too small.
    assert_eq!([gammaincc(2.0, 1e4), gammainc(1e4, 1.0)], [0.0, 0.0]);
    assert_eq!(betainc(1e5, 2.0, 1e-4), 0.0);
    near(gammaincc(1.0, 708.0), (-708.0_f64).exp(), 3.0);
    near(gammainc(least, least), 1.0, 1.0);
    // Singles, whose ends lie elsewhere.
    assert_eq!(
        [gammainc(0.5_f32, f32::MAX), gammaincc(1.0_f32, 100.0)],
        [1.0, 3.8e-44]
    );
    assert_eq!(betainc(1e5_f32, 2.0, 0.5), 0.0);
    assert_eq!(
        [erf(f32::INFINITY), erfc(11.0_f32), erfinv(1.0_f32)],
        [1.0, 0.0, f32::INFINITY]
    );
    assert_eq!(ln_gamma(f32::MAX), f32::INFINITY);
}

/// `Γ(x + 1) = x Γ(x)`, and what follows for its derivatives.
#[test]
fn recurrences() {
    for k in 1..400 {
        let x = f64::from(k) * 0.171;
        let close =
            |a: f64, b: f64| assert!((a - b).abs() <= 4e-15 * (1.0 + b.abs()), "{x}: {a} {b}");
        close(ln_gamma(x + 1.0), ln_gamma(x) + x.ln());
        close(digamma(x + 1.0), digamma(x) + 1.0 / x);
        if x < 0.9 {
            let angle = PI * x;
            close(digamma(1.0 - x), digamma(x) + PI / angle.tan());
        }
        close(polygamma(2, x), polygamma(2, x + 1.0) - 2.0 / x.powi(3));
        close(normal_quantile(normal_cdf(-0.1 * x)), -0.1 * x);
        close(erf(x) + erfc(x), 1.0);
        for y in [0.1 * x, x, 2.0 * x] {
            close(gammainc(x, y) + gammaincc(x, y), 1.0);
            let step = (x * y.ln() - y - ln_gamma(x + 1.0)).exp();
            let after = gammainc(x + 1.0, y) + step;
            assert!((gammainc(x, y) - after).abs() < 1e-13, "{x} {y}");
            let part = y / (1.0 + x + y);
            close(betainc(x, y, part), 1.0 - betainc(y, x, 1.0 - part));
        }
    }
}

const PI: f64 = std::f64::consts::PI;

#[track_caller]
fn near(found: f64, expected: f64, ulps: f64) {
    let error = (found - expected).abs() / ulp(expected);
    assert!(error <= ulps, "{found} is {error} ulp from {expected}");
}

/// First and second derivatives are formulas of which each factor is right to a few ulps.
#[test]
fn derivatives_are_as_good_as_values() {
    for k in -80..=80 {
        let x = 0.1 * f64::from(k) + 0.01;
        // Of exp(-x²) by a square of halves.
        let bell = (-x * x).exp() * 2.0 / PI.sqrt();
        let most = 10.0 + 2.0 * x * x;
        near(grad!(erf)(x), bell, most);
        near(grad!(erfc)(x), -bell, most);
        near(grad!(grad!(erf))(x), -2.0 * x * bell, most);
        let density = (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
        near(grad!(normal_cdf)(x), density, most);
        near(grad!(grad!(normal_cdf))(x), -x * density, most);
        let third = grad!(grad!(grad!(normal_cdf)))(x) / density;
        assert!((third - (x * x - 1.0)).abs() < 1e-14 * (1.0 + x.powi(4)));
        near(hessian!(normal_cdf)(x), -x * density, most);
        near(jvp!(grad!(normal_cdf))(x, 2.0).1, -2.0 * x * density, most);
    }
    for k in 1..100 {
        let p = 0.01 * f64::from(k);
        let x = normal_quantile(p);
        let slope = (2.0 * PI).sqrt() * (0.5 * x * x).exp();
        near(grad!(normal_quantile)(p), slope, 10.0);
        if x != 0.0 {
            near(grad!(grad!(normal_quantile))(p), x * slope * slope, 20.0);
        }
        let third = (1.0 + 2.0 * x * x) * slope.powi(3);
        near(grad!(grad!(grad!(normal_quantile)))(p), third, 1e4);
        let y = erfinv(p);
        let slope = 0.5 * PI.sqrt() * (y * y).exp();
        near(grad!(erfinv)(p), slope, 10.0);
        near(grad!(grad!(erfinv))(p), 2.0 * y * slope * slope, 20.0);
        near(
            grad!(grad!(grad!(erfinv)))(p),
            (2.0 + 8.0 * y * y) * slope.powi(3),
            1e4,
        );
    }
    for k in 1..200 {
        let x = 0.13 * f64::from(k);
        assert_eq!(grad!(ln_gamma)(x), digamma(x));
        near(grad!(grad!(ln_gamma))(x), polygamma(1, x), 8.0);
        near(grad!(digamma)(x), polygamma(1, x), 8.0);
        near(grad!(grad!(digamma))(x), polygamma(2, x), 8.0);
        near(grad!(grad!(grad!(digamma)))(x), polygamma(3, x), 1e3);
        assert_eq!(grad!(polygamma, wrt = x)(2, x), polygamma(3, x));
        near(
            grad!(grad!(polygamma, wrt = x), wrt = x)(2, x),
            polygamma(4, x),
            1e3,
        );
        let y = 0.7 + 0.3 * x;
        let total = digamma(x + y);
        assert_eq!(
            grad!(ln_beta)(x, y),
            (digamma(x) - total, digamma(y) - total)
        );
    }
}

/// The derivatives that stand beside functions against the difference quotient of these.
#[test]
fn derivatives_are_slopes() {
    let slope = |f: &dyn Fn(f64) -> f64, x: f64| {
        let h = 1e-3;
        let even = |h: f64| (f(x + h) - f(x - h)) / (2.0 * h);
        // Of sixth order.
        1.5 * even(h) - 0.6 * even(2.0 * h) + 0.1 * even(3.0 * h)
    };
    let close = |found: f64, f: &dyn Fn(f64) -> f64, x: f64| {
        let expected = slope(f, x);
        assert!(
            (found - expected).abs() < 1e-8 * (1.0 + expected.abs()),
            "{x}: {found} {expected}"
        );
    };
    for x in [0.1, 0.4, 0.9, 1.46, 2.2, 5.5, 11.99, 30.0] {
        close(grad!(erf)(x), &erf, x);
        close(grad!(erfc)(-x), &erfc, -x);
        close(grad!(normal_cdf)(-x), &normal_cdf, -x);
        if x < 0.95 {
            close(grad!(normal_quantile)(x), &normal_quantile, x);
            close(grad!(erfinv)(x - 0.5), &erfinv, x - 0.5);
        }
        if x > 0.3 {
            close(grad!(ln_gamma)(x), &ln_gamma, x);
            close(grad!(digamma)(x), &digamma, x);
            close(grad!(polygamma, wrt = x)(1, x), &|x| polygamma(1, x), x);
            close(grad!(ln_beta)(x, 3.0).0, &|x| ln_beta(x, 3.0), x);
            close(grad!(ln_beta)(3.0, x).1, &|x| ln_beta(3.0, x), x);
            close(
                grad!(ln_binomial)(x + 2.0, x).0,
                &|n| ln_binomial(n, x),
                x + 2.0,
            );
            close(
                grad!(ln_binomial)(x + 2.0, x).1,
                &|k| ln_binomial(x + 2.0, k),
                x,
            );
        }
    }
    // Where the gamma function is negative, too.
    for x in [-0.3, -0.7, -1.5, -4.2, -20.4] {
        close(grad!(ln_gamma)(x), &ln_gamma, x);
        close(grad!(digamma)(x), &digamma, x);
    }
}

/// Second derivatives by all arguments against differences of the first, of sixth order.
#[test]
fn second_derivatives_by_shapes() {
    fn slopes<const K: usize>(f: impl Fn(f64) -> [f64; K], x: f64, h: f64) -> [f64; K] {
        let even = |h: f64| {
            let (after, before) = (f(x + h), f(x - h));
            std::array::from_fn(|k| (after[k] - before[k]) / (2.0 * h))
        };
        let [one, two, three]: [[f64; K]; 3] = [even(h), even(2.0 * h), even(3.0 * h)];
        std::array::from_fn(|k| 1.5 * one[k] - 0.6 * two[k] + 0.1 * three[k])
    }
    fn close<const K: usize>(found: [f64; K], expected: [f64; K], at: &[f64]) {
        let most = expected.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        for (found, expected) in found.iter().zip(&expected) {
            assert!(
                (found - expected).abs() < 3e-9 * most,
                "{at:?}: {found} {expected}"
            );
        }
    }
    // Of each region, of whole shapes, and where the regions meet.
    for (a, x) in [
        (2.5, 1.7),
        (2.0, 3.3),
        (0.3, 0.4),
        (0.3, 3.0),
        (1.0, 1.0),
        (3.0, 3.0),
        (25.0, 60.0),
        (25.0, 10.0),
        (30.0, 29.0),
        (30.0, 30.0),
        (30.0, 33.0),
        (1e4, 1.01e4),
    ] {
        let h = 1e-3 * f64::sqrt(a).min(x);
        let ((aa, ax), (xa, xx)) = hessian!(gammainc)(a, x);
        let gradient = |a, x| <[f64; 2]>::from(grad!(gammainc)(a, x));
        close([aa, ax], slopes(|a| gradient(a, x), a, h), &[a, x]);
        close([xa, xx], slopes(|x| gradient(a, x), x, h), &[a, x]);
        let density = gradient(a, x)[1];
        let error = (xx - density * ((a - 1.0) / x - 1.0)).abs();
        assert!(error <= 1e-14 * density * (1.0 + a / x), "{a} {x}");
        let ((upper, _), _) = hessian!(gammaincc)(a, x);
        assert_eq!(upper, -aa);
    }
    for (a, b, x) in [
        (2.5_f64, 1.7, 0.3),
        (2.0, 3.0, 0.3),
        (2.0, 3.0, 0.5),
        (1.0, 1.0, 0.7),
        (0.3, 0.4, 0.5),
        (0.3, 5.0, 0.1),
        (0.3, 5.0, 0.3),
        (5.0, 0.4, 0.9),
        (30.0, 40.0, 0.4),
        (1e3, 1e3, 0.51),
    ] {
        let h = 1e-3 * f64::min(a, b).sqrt().min(0.1);
        let ((aa, ab, ax), (ba, bb, bx), (xa, xb, xx)) = hessian!(betainc)(a, b, x);
        let gradient = |a, b, x| <[f64; 3]>::from(grad!(betainc)(a, b, x));
        let at = [a, b, x];
        close([aa, ab, ax], slopes(|a| gradient(a, b, x), a, h), &at);
        close([ba, bb, bx], slopes(|b| gradient(a, b, x), b, h), &at);
        let h = h / (a + b);
        close([xa, xb, xx], slopes(|x| gradient(a, b, x), x, h), &at);
    }
}

/// References by integrals of 40 digits: where only the beginning of an expansion is left.
#[test]
fn huge_shapes() {
    for (a, b, x, expected) in [(
        3e12,
        2e12,
        0.599999123643908,
        [
            3.16713639771487e-5,
            -4.886811500545e-11,
            7.33020386774953e-11,
        ],
    )] {
        let (by_a, by_b, _) = grad!(betainc)(a, b, x);
        for (found, expected) in [betainc(a, b, x), by_a, by_b].into_iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 3e-11, "{found} {expected}");
        }
    }
    // The median is a third below the mean, and deviations are a root.
    let (a, deviation) = (1e20, 1e10);
    assert!((gammainc(a, a) - 0.5 - 1.0 / (3.0 * (2.0 * PI).sqrt() * deviation)).abs() < 1e-15);
    // What is added to `a` is rounded; the difference is what was added.
    let (above, below) = (a + 3.0 * deviation, a - 2.0 * deviation);
    near(
        gammaincc(a, above),
        normal_cdf((a - above) / deviation),
        1e7,
    );
    let by_a = grad!(gammainc)(a, below).0 * deviation;
    let slope = grad!(normal_cdf)((below - a) / deviation);
    assert!((by_a / slope + 1.0).abs() < 1e-8, "{by_a} {slope}");
}

#[pointful]
fn errors<N: IndexSet, T: Float>(x: &Table<N, T>) -> Table<N, T> {
    for i in N {
        let p = 0.1 + 0.5 * normal_cdf(x[i]);
        erf(x[i]) * erfc(x[i]) + erfinv(p) * normal_quantile(p)
    }
}

#[pointful]
fn gammas<N: IndexSet, T: Float>(x: &Table<N, T>) -> Table<N, T> {
    for i in N {
        let y = x[i] * x[i] + 0.2;
        ln_gamma(y) * ln_beta(y, 1.0 + y)
    }
}

#[pointful]
fn polygammas<N: IndexSet, T: Float>(x: &Table<N, T>) -> Table<N, T> {
    for i in N {
        polygamma(2, x[i] * x[i] + 0.2)
    }
}

#[pointful]
fn incomplete_gammas<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in N {
        let y = x[i] * x[i] + 0.2;
        gammainc(10.0 * y, 1.0 + 8.0 * y)
    }
}

#[pointful]
fn incomplete_betas<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in N {
        let y = x[i] * x[i] + 0.2;
        betainc(y, 1.0 + y, 0.3)
    }
}

#[pointful]
fn pulled_back<N: IndexSet>(x: &Table<N, f64>, w: &Table<N, f64>) -> Table<N, f64> {
    vjp!(errors)(x, w).1
}

fn list(f: fn(f64) -> f64) -> Table<Dyn, f64> {
    Table::from_fn(Extent::new(37), |Dyn(k)| f(k as f64))
}

/// `⟨J v, w⟩ = ⟨v, Jᵀ w⟩`, and points of tables are points alone.
#[test]
fn forwards_and_backwards_agree() {
    let x = list(|k| (k * 0.7).sin() * 2.0);
    let (v, w) = (list(|k| (k * 1.3).cos()), list(|k| (k * 2.1).sin()));
    let of_errors = (jvp!(errors)(&x, &v), vjp!(errors)(&x, &w), errors(&x));
    let of_gammas = (jvp!(gammas)(&x, &v), vjp!(gammas)(&x, &w), gammas(&x));
    let of_polygammas = (
        jvp!(polygammas)(&x, &v),
        vjp!(polygammas)(&x, &w),
        polygammas(&x),
    );
    for (forwards, backwards, value) in [of_errors, of_gammas, of_polygammas] {
        assert_eq!((&forwards.0, &backwards.0), (&value, &value));
        let (left, right) = (forwards.1.dot(&w), v.dot(&backwards.1));
        assert!(
            (left - right).abs() < 1e-12 * (1.0 + left.abs()),
            "{left} {right}"
        );
    }
    for (x, y) in x.iter().zip(gammas(&x).iter()) {
        let x = x * x + 0.2;
        assert_eq!(ln_gamma(x) * ln_beta(x, 1.0 + x), *y);
    }
}

/// Points of tables, whose loops advance together, are points alone, and so are their derivatives.
#[test]
fn incomplete_functions_of_tables_are_those_of_points() {
    let x = list(|k| (k * 0.7).sin() * 2.0);
    let w = list(|k| (k * 2.1).sin());
    let (gammas, by_gammas) = vjp!(incomplete_gammas)(&x, &w);
    let (betas, by_betas) = vjp!(incomplete_betas)(&x, &w);
    for (k, (x, w)) in x.iter().zip(w.iter()).enumerate() {
        let y = x * x + 0.2;
        let (a, z) = (10.0 * y, 1.0 + 8.0 * y);
        assert_eq!(gammas.as_slice()[k], gammainc(a, z));
        let (by_a, by_z) = grad!(gammainc)(a, z);
        let expected = w * 2.0 * x * (10.0 * by_a + 8.0 * by_z);
        let error = (by_gammas.as_slice()[k] - expected).abs();
        assert!(error < 1e-14 * (1.0 + expected.abs()), "{x}");
        assert_eq!(betas.as_slice()[k], betainc(y, 1.0 + y, 0.3));
        let (by_a, by_b, _) = grad!(betainc)(y, 1.0 + y, 0.3);
        let expected = w * 2.0 * x * (by_a + by_b);
        let error = (by_betas.as_slice()[k] - expected).abs();
        assert!(error < 1e-14 * (1.0 + expected.abs()), "{x}");
    }
}

/// Forwards and backwards, and singles.
#[test]
fn incomplete_functions_forwards_and_backwards() {
    for (a, x) in [(0.3, 0.4), (2.5, 1.5), (2.5, 7.0), (40.0, 45.0)] {
        let (value, (by_a, by_x)) = value_and_grad!(gammainc)(a, x);
        let forwards = jvp!(gammainc)(a, x, 0.75, -2.0);
        assert_eq!(forwards.0, value);
        near(forwards.1, 0.75 * by_a - 2.0 * by_x, 16.0);
        let (of_a, of_x) = grad!(gammaincc)(a, x);
        assert_eq!((of_a, of_x), (-by_a, -by_x));
        near(jvp!(gammaincc)(a, x, 0.75, -2.0).1, -forwards.1, 1.0);
        let (a, x) = (a as f32, x as f32);
        let (of_a, of_x) = grad!(gammainc)(a, x);
        let (by_a, by_x) = grad!(gammainc)(f64::from(a), f64::from(x));
        assert_eq!((of_a, of_x), (by_a as f32, by_x as f32));
    }
    for (a, b, x) in [(0.3, 0.4, 0.5), (2.5, 3.0, 0.25), (2.5, 3.0, 0.75)] {
        let (value, (by_a, by_b, by_x)) = value_and_grad!(betainc)(a, b, x);
        let forwards = jvp!(betainc)(a, b, x, 0.75, 0.5, -2.0);
        assert_eq!(forwards.0, value);
        near(forwards.1, 0.75 * by_a + 0.5 * by_b - 2.0 * by_x, 16.0);
        let (a, b, x) = (a as f32, b as f32, x as f32);
        let of_a = grad!(betainc)(a, b, x).0;
        let by_a = grad!(betainc)(f64::from(a), f64::from(b), f64::from(x)).0;
        assert_eq!(of_a, by_a as f32);
    }
}

/// Derivatives forwards over backwards against differences, and those of `f32` against those of
/// `f64`.
#[test]
fn second_derivatives_and_singles_agree() {
    let x = list(|k| (k * 0.7).sin() * 2.0);
    let (v, w) = (list(|k| (k * 1.3).cos()), list(|k| (k * 2.1).sin()));
    let (_, turned) = jvp!(pulled_back, wrt = x)(&x, &w, &v);
    let h = 1e-5;
    let moved = |h: f64| x.map_with(&v, |x, v| x + h * v);
    let (after, before) = (pulled_back(&moved(h), &w), pulled_back(&moved(-h), &w));
    for k in 0..37 {
        let expected = (after.as_slice()[k] - before.as_slice()[k]) / (2.0 * h);
        let found = turned.as_slice()[k];
        assert!(
            (found - expected).abs() < 1e-7 * (1.0 + expected.abs()),
            "{found} {expected}"
        );
    }
    let single = |t: &Table<Dyn, f64>| Table::<Dyn, f32>::from_fn(t.extent(), |i| t[i] as f32);
    let (_, of_single) = vjp!(errors)(&single(&x), &single(&w));
    for (found, expected) in of_single.iter().zip(pulled_back(&x, &w).iter()) {
        assert!((f64::from(*found) - expected).abs() < 1e-5 * (1.0 + expected.abs()));
    }
}
