//! Pairs of `f32` against functions of `f64`.

use crate::generate::{Noise, SINGLE};
use crate::{Function, Worst};

/// The greatest error that is allowed, in units of the last place: little more than of the nearest
/// number.
const fn bound(function: Function) -> f64 {
    match function {
        Function::Powf => 0.502,
        Function::Atan2 => 0.501,
        Function::Hypot => 0.500_001,
    }
}

/// How far a result is from the exact one in units of the last place of `f32`; zero where it is the
/// nearest number.
fn error(got: f32, exact: f64) -> f64 {
    let nearest = exact as f32;
    if got.to_bits() == nearest.to_bits() || (got.is_nan() && nearest.is_nan()) {
        return 0.0;
    }
    if got.is_nan() || nearest.is_nan() || got.is_sign_negative() != nearest.is_sign_negative() {
        return f64::INFINITY;
    }
    // Infinity counts as the number it is rounded from.
    let finite = |x: f32| {
        if x.is_infinite() {
            2.0_f64.powi(128).copysign(f64::from(x))
        } else {
            f64::from(x)
        }
    };
    let exponent = nearest.abs().clamp(f32::MIN_POSITIVE, f32::MAX).to_bits() >> 23;
    let ulp = 2.0_f64.powi(exponent as i32 - 127 - 23);
    (finite(got) - exact).abs() / ulp
}

fn note(worst: &mut Worst, function: Function, a: f64, b: f64) {
    let got = function.of_singles(a as f32, b as f32);
    worst.note(error(got, function.of_the_system(a, b)), (a, b));
}

/// Powers of negative numbers are of integers.
fn signed(function: Function, a: f64, b: f64) -> f64 {
    if function == Function::Powf && b.fract() != 0.0 {
        a.abs()
    } else {
        a
    }
}

/// The worst of so many pairs: three of four hard ones, the others of any bits.
fn worst_of(function: Function, seed: u64, count: usize) -> Worst {
    let mut worst = Worst::default();
    SINGLE.hard(function, seed, count - count / 4, |a, b| {
        note(&mut worst, function, signed(function, a, b), b)
    });
    let mut noise = Noise(!seed);
    for _ in 0..count / 4 {
        let bits = noise.bits();
        let [a, b] = [bits, bits >> 32].map(|bits| f64::from(f32::from_bits(bits as u32)));
        note(&mut worst, function, signed(function, a, b), b);
    }
    worst
}

fn check(step: usize, parts: u64, count: usize) {
    for function in Function::ALL {
        let mut worst = Worst::default();
        SINGLE.grid(step, |a, b| {
            note(&mut worst, function, signed(function, a, b), b)
        });
        worst.at_most(bound(function), function, "grid of f32");

        let mut worst = Worst::default();
        let values = SINGLE.special();
        for (&a, &b) in values
            .iter()
            .flat_map(|a| values.iter().map(move |b| (a, b)))
        {
            note(&mut worst, function, a, b);
        }
        worst.at_most(bound(function), function, "special f32");

        let parts: Vec<_> = (0..parts)
            .map(|seed| std::thread::spawn(move || worst_of(function, seed, count)))
            .collect();
        let worst = parts
            .into_iter()
            .map(|part| part.join().expect("an error"))
            .fold(Worst::default(), Worst::or);
        worst.at_most(bound(function), function, "pairs of f32");
    }
}

#[test]
fn pairs_of_singles() {
    if cfg!(debug_assertions) {
        check(5, 1, 40_000);
    } else {
        check(1, 2, 1_000_000);
    }
}

#[test]
#[ignore = "minutes in a release build"]
fn two_hundred_million_pairs_of_singles() {
    check(1, 8, 25_000_000);
}
