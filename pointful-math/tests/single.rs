//! Functions of `f32` against those of `f64` in the standard library, whose own errors are far
//! below what is asked for.
//!
//! `cargo test --release -p pointful-math --test single -- --ignored` takes every bit pattern there
//! is.

use pointful_math as math;

/// The greatest error that is allowed of functions that are computed as `f64`, in units of the last
/// place.
const BOUND: f64 = 0.51;

/// How far `got` is from `exact` in units of the last place of `f32`; zero where it is the nearest
/// number.
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

type Unary = (&'static str, fn(f32) -> f32, fn(f64) -> f64, f64);

const UNARY: [Unary; 20] = [
    ("exp", math::exp, f64::exp, 0.91),
    ("exp2", math::exp2, f64::exp2, BOUND),
    ("exp_m1", math::exp_m1, f64::exp_m1, BOUND),
    ("ln", math::ln, f64::ln, 0.88),
    ("log2", math::log2, f64::log2, BOUND),
    ("log10", math::log10, f64::log10, BOUND),
    ("ln_1p", math::ln_1p, f64::ln_1p, BOUND),
    ("sin", math::sin, f64::sin, 0.93),
    ("cos", math::cos, f64::cos, 0.93),
    ("tan", math::tan, f64::tan, BOUND),
    ("asin", math::asin, f64::asin, BOUND),
    ("acos", math::acos, f64::acos, BOUND),
    ("atan", math::atan, f64::atan, BOUND),
    ("sinh", math::sinh, f64::sinh, BOUND),
    ("cosh", math::cosh, f64::cosh, BOUND),
    ("tanh", math::tanh, f64::tanh, 0.9),
    ("asinh", math::asinh, precise_asinh, BOUND),
    ("acosh", math::acosh, precise_acosh, BOUND),
    ("atanh", math::atanh, f64::atanh, BOUND),
    ("cbrt", math::cbrt, f64::cbrt, BOUND),
];

/// The standard library's loses small arguments.
fn precise_asinh(x: f64) -> f64 {
    let a = x.abs();
    let result = (a + a * a / (1.0 + (1.0 + a * a).sqrt()))
        .ln_1p()
        .copysign(x);
    if a.is_infinite() { x } else { result }
}

/// The standard library's loses what is next to one.
fn precise_acosh(x: f64) -> f64 {
    let t = x - 1.0;
    if x < 1.0 {
        f64::NAN
    } else if x.is_infinite() {
        x
    } else {
        (t + (t * (t + 2.0)).sqrt()).ln_1p()
    }
}

/// The worst error over bit patterns `first, first + step, …`, and where it is.
fn worst(first: u32, step: u64, (_, function, reference, _): Unary) -> (f64, f32) {
    let mut worst = (0.0, 0.0);
    let mut bits = u64::from(first);
    while bits <= u64::from(u32::MAX) {
        let x = f32::from_bits(bits as u32);
        let error = error(function(x), reference(f64::from(x)));
        if error > worst.0 {
            worst = (error, x);
        }
        bits += step;
    }
    worst
}

fn every(step: u64) {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get()) as u64;
    for unary in UNARY {
        let (error, x) = std::thread::scope(|scope| {
            let parts: Vec<_> = (0..threads)
                .map(|part| scope.spawn(move || worst((part * step) as u32, step * threads, unary)))
                .collect();
            parts
                .into_iter()
                .map(|part| part.join().expect("a number"))
                .fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a })
        });
        println!("{}: {error:.4} ulp at {x:e}", unary.0);
        assert!(
            error <= unary.3,
            "{} is {error} ulp off at {x:e} ({:#x})",
            unary.0,
            x.to_bits()
        );
    }
}

#[test]
fn functions_of_one_number_are_right_on_a_sample() {
    // A prime, so that all bits vary.
    every(if cfg!(debug_assertions) {
        100_003
    } else {
        1009
    });
}

#[test]
#[ignore = "minutes in a release build"]
fn functions_of_one_number_are_right_everywhere() {
    every(1);
}
