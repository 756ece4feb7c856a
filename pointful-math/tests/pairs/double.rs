//! Pairs of `f64` against arbitrary precision.

use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;

use crate::generate::{DOUBLE, power};
use crate::{Function, Worst};

/// Errors are measured to a thousandth of a unit or so: bits of the reference beyond those of the
/// format.
const PRECISION: usize = 128;

/// The greatest error that is allowed, in units of the last place. Powers and angles are rounded
/// twice where they are subnormal, or nearly so.
const fn bound(function: Function) -> f64 {
    match function {
        Function::Powf => 0.9,
        Function::Atan2 => 0.8,
        Function::Hypot => 0.501,
    }
}

type Exact = FBig<HalfEven, 2>;

fn exact(x: f64) -> Exact {
    Exact::try_from(x)
        .expect("a finite number")
        .with_precision(PRECISION)
        .value()
}

/// The result of a function, of finite numbers of which no rule speaks; `None` if it is beyond all
/// borders.
fn reference(function: Function, a: f64, b: f64) -> Option<Exact> {
    Some(match function {
        Function::Powf => {
            let size = b * a.abs().log2();
            if !(-1100.0..1100.0).contains(&size) {
                return None;
            }
            let magnitude = exact(a.abs()).powf(&exact(b));
            if a < 0.0 && b.rem_euclid(2.0) == 1.0 {
                -magnitude
            } else {
                magnitude
            }
        }
        Function::Atan2 => exact(a).atan2(&exact(b)),
        Function::Hypot => exact(a).hypot(&exact(b)),
    })
}

/// How far a result is from the exact one in units of the last place; zero where it is the nearest
/// number.
fn error(got: f64, wanted: &Exact) -> f64 {
    let nearest = wanted.to_f64().value();
    if got == nearest {
        return 0.0;
    }
    if got.is_nan() || got.is_sign_negative() != nearest.is_sign_negative() {
        return f64::INFINITY;
    }
    // Infinity counts as the number it is rounded from.
    let got = if got.is_infinite() {
        let half = exact(power(1023).copysign(got));
        half.clone() + half
    } else {
        exact(got)
    };
    let exponent = nearest.abs().clamp(f64::MIN_POSITIVE, f64::MAX).to_bits() >> 52;
    // Of subnormal numbers, differences and units are found further up.
    let up = if exponent < 500 { 1000 } else { 0 };
    let difference = ((wanted - got) * exact(power(up))).to_f64().value();
    difference.abs() / power(exponent as i32 - 1023 - 52 + up)
}

/// Notes the error of a pair.
fn note(worst: &mut Worst, function: Function, a: f64, b: f64) {
    let of_rule = a == 0.0 || b == 0.0 || !a.is_finite() || !b.is_finite();
    let of_power = function == Function::Powf && a < 0.0 && b.fract() != 0.0;
    if of_rule || of_power {
        return;
    }
    let got = function.of_doubles(a, b);
    let error = match reference(function, a, b) {
        Some(wanted) => error(got, &wanted),
        None => {
            let limit = if b * a.abs().log2() > 0.0 {
                f64::INFINITY
            } else {
                0.0
            };
            let odd = a < 0.0 && b.rem_euclid(2.0) == 1.0;
            let expected = if odd { -limit } else { limit };
            if got.to_bits() == expected.to_bits() {
                0.0
            } else {
                f64::INFINITY
            }
        }
    };
    worst.note(error, (a, b));
}

/// Powers of all signs that there are: others are of the magnitude.
fn signed(function: Function, a: f64, b: f64) -> f64 {
    if function == Function::Powf && b.fract() != 0.0 {
        a.abs()
    } else {
        a
    }
}

/// On a grid of exponents this far apart, and on so many hard pairs for each of these seeds.
fn check(step: usize, seeds: std::ops::Range<u64>, count: usize) {
    for function in Function::ALL {
        let mut worst = Worst::default();
        DOUBLE.grid(step, |a, b| {
            note(&mut worst, function, signed(function, a, b), b)
        });
        worst.at_most(bound(function), function, "grid");

        let mut worst = Worst::default();
        let values = DOUBLE.special();
        for (&a, &b) in values
            .iter()
            .flat_map(|a| values.iter().map(move |b| (a, b)))
        {
            note(&mut worst, function, a, b);
        }
        worst.at_most(bound(function), function, "special");

        let parts: Vec<_> = seeds
            .clone()
            .map(|seed| {
                std::thread::spawn(move || {
                    let mut worst = Worst::default();
                    DOUBLE.hard(function, seed, count, |a, b| {
                        note(&mut worst, function, signed(function, a, b), b)
                    });
                    worst
                })
            })
            .collect();
        let worst = parts
            .into_iter()
            .map(|part| part.join().expect("an error"))
            .fold(Worst::default(), Worst::or);
        worst.at_most(bound(function), function, "hard pairs");
    }
}

#[test]
fn pairs_of_doubles() {
    if cfg!(debug_assertions) {
        check(211, 1..2, 600);
    } else {
        check(61, 1..3, 5000);
    }
}

#[test]
#[ignore = "many minutes in a release build"]
fn many_pairs_of_doubles() {
    check(11, 1..9, 250_000);
}
