//! Functions of `f64` against arbitrary precision.
//!
//! `cargo test --release -p pointful-math --test double -- --ignored` takes many more samples.

use dashu_float::FBig;
use dashu_float::ops::CubicRoot;
use dashu_float::round::mode::HalfEven;
use pointful_math as math;

type Exact = FBig<HalfEven, 2>;

/// Bits of the reference.
const PRECISION: usize = 160;

fn exact(x: f64) -> Exact {
    Exact::try_from(x)
        .expect("a finite number")
        .with_precision(PRECISION)
        .value()
}

/// How far `got` is from `wanted` in units of its last place.
fn error(got: f64, wanted: &Exact) -> f64 {
    let nearest = wanted.to_f64().value();
    if got == nearest {
        // Within half a unit; how much exactly does not matter.
        return 0.0;
    }
    if !got.is_finite() {
        return f64::INFINITY;
    }
    let exponent = nearest.abs().clamp(f64::MIN_POSITIVE, f64::MAX).to_bits() >> 52;
    // Of subnormal numbers, differences and units are found further up.
    let up = if exponent < 500 { 1000 } else { 0 };
    let difference = ((wanted - exact(got)) * exact(2.0_f64.powi(up)))
        .to_f64()
        .value();
    difference.abs() / 2.0_f64.powi(exponent as i32 - 1023 - 52 + up)
}

/// Deterministic numbers in `0..1`.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Evenly spread in a range.
    fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }

    /// Of all magnitudes between two powers of two, of either sign.
    fn magnitude(&mut self, low: i32, high: i32) -> f64 {
        let exponent = self.within(f64::from(low), f64::from(high)).floor() as i32;
        let sign = if self.next() < 0.5 { -1.0 } else { 1.0 };
        // In two factors, so that the smallest numbers are reached.
        sign * (1.0 + self.next())
            * 2.0_f64.powi(exponent / 2)
            * 2.0_f64.powi(exponent - exponent / 2)
    }
}

type Reference = fn(&Exact) -> Exact;

/// A function, its reference, its bound in ulp, and where it is sampled: ranges, and powers of two.
struct Unary {
    name: &'static str,
    function: fn(f64) -> f64,
    reference: Reference,
    bound: f64,
    ranges: &'static [(f64, f64)],
    magnitudes: (i32, i32),
    domain: fn(f64) -> bool,
}

fn two() -> Exact {
    exact(2.0)
}

fn unary() -> Vec<Unary> {
    let everywhere: fn(f64) -> bool = |_| true;
    let positive: fn(f64) -> bool = |x| x > 0.0;
    let unit: fn(f64) -> bool = |x| x.abs() < 1.0;
    macro_rules! functions {
        ($($name:ident $bound:literal $ranges:expr, $magnitudes:expr, $domain:ident, $reference:expr;)*) => {
            vec![$(Unary {
                name: stringify!($name),
                function: math::$name,
                reference: $reference,
                bound: $bound,
                ranges: &$ranges,
                magnitudes: $magnitudes,
                domain: $domain,
            },)*]
        };
    }
    let beyond_minus_one: fn(f64) -> bool = |x| x > -1.0;
    let from_one: fn(f64) -> bool = |x| x > 1.0;
    functions! {
        exp 1.0 [(-745.0, 709.0), (-1.0, 1.0), (-745.2, -707.0)], (-60, 10), everywhere, Exact::exp;
        exp2 1.0 [(-1074.0, 1023.9), (-1.0, 1.0), (-1075.0, -1021.0)], (-60, 10), everywhere, |x| (x * two().ln()).exp();
        exp_m1 1.1 [(-60.0, 709.0), (-2.0, 2.0)], (-1074, 9), everywhere, Exact::exp_m1;
        ln 1.0 [(0.4, 2.5), (0.99, 1.01), (0.5, 100.0)], (-1074, 1024), positive, Exact::ln;
        log2 1.0 [(0.4, 2.5), (0.99, 1.01), (0.5, 100.0)], (-1074, 1024), positive, |x| x.ln() / two().ln();
        log10 1.0 [(0.4, 2.5), (0.99, 1.01), (0.5, 2000.0)], (-1074, 1024), positive, |x| x.ln() / exact(10.0).ln();
        ln_1p 1.0 [(-0.999, 2.5), (-0.01, 0.01), (-0.5, 100.0)], (-1074, 1024), beyond_minus_one, Exact::ln_1p;
        sin 1.0 [(-10.0, 10.0), (-1e6, 1e6), (3.1, 3.2)], (-1074, 1024), everywhere, Exact::sin;
        cos 1.0 [(-10.0, 10.0), (-1e6, 1e6), (1.5, 1.6)], (-1074, 1024), everywhere, Exact::cos;
        tan 1.0 [(-10.0, 10.0), (-1e6, 1e6), (1.5, 1.6)], (-1074, 1024), everywhere, Exact::tan;
        asin 1.0 [(-1.0, 1.0), (0.49, 0.51), (0.99, 1.0)], (-1074, 0), unit, Exact::asin;
        acos 1.0 [(-1.0, 1.0), (0.49, 0.51), (0.99, 1.0), (-1.0, -0.99)], (-1074, 0), unit, Exact::acos;
        atan 1.0 [(-3.0, 3.0), (0.4, 0.43), (0.99, 1.01)], (-1074, 1024), everywhere, Exact::atan;
        sinh 1.0 [(-710.0, 710.0), (-2.0, 2.0), (-30.0, 30.0)], (-1074, 9), everywhere, Exact::sinh;
        cosh 1.0 [(-710.0, 710.0), (-2.0, 2.0), (-30.0, 30.0)], (-1074, 9), everywhere, Exact::cosh;
        tanh 1.0 [(-20.0, 20.0), (-2.0, 2.0), (-0.1, 0.1)], (-1074, 10), everywhere, Exact::tanh;
        asinh 1.5 [(-10.0, 10.0), (-1.0, 1.0), (-1e9, 1e9)], (-1074, 1024), everywhere, Exact::asinh;
        acosh 1.5 [(1.0, 10.0), (1.0, 1.1), (1.0, 1e9)], (0, 1024), from_one, Exact::acosh;
        atanh 1.5 [(-1.0, 1.0), (0.3, 0.5), (0.99, 1.0)], (-1074, 0), unit, Exact::atanh;
        cbrt 1.0 [(-10.0, 10.0), (1.0, 8.0)], (-1074, 1024), everywhere, |x| CubicRoot::cbrt(x);
    }
}

/// Arguments that lie closest to multiples of π/2, and others that are large.
const ANGLES: [f64; 12] = [
    6_381_956_970_095_103.0 * 7.067_388_259_113_537e239, // 2⁷⁹⁷: the closest of all doubles
    5.319_372_648_326_541e255,
    1e22,
    1.0e300,
    f64::MAX,
    std::f64::consts::PI,
    std::f64::consts::FRAC_PI_2,
    std::f64::consts::FRAC_PI_4,
    3.0 * std::f64::consts::FRAC_PI_4,
    16_777_215.999_999_998,
    16_777_216.0,
    4_294_967_296.5,
];

fn check(samples: usize) {
    for unary in unary() {
        let mut noise = Noise(7);
        let mut arguments: Vec<f64> = unary
            .ranges
            .iter()
            .flat_map(|&(low, high)| {
                (0..samples)
                    .map(|_| noise.within(low, high))
                    .collect::<Vec<_>>()
            })
            .collect();
        let (low, high) = unary.magnitudes;
        arguments.extend((0..samples).map(|_| noise.magnitude(low, high)));
        arguments.extend((0..samples / 4).map(|_| noise.magnitude(-30, 5)));
        arguments.extend(
            ANGLES
                .iter()
                .filter(|x| x.abs() < 2.0_f64.powi(high.min(1023))),
        );
        arguments.extend(
            [
                5e-324,
                -5e-324,
                f64::MIN_POSITIVE,
                0.5,
                0.25,
                1.5,
                2.0,
                3.0,
                8.0,
            ]
            .iter()
            .filter(|x| x.abs() < 2.0_f64.powi(high.min(1023))),
        );
        let mut worst = (0.0, 0.0);
        for x in arguments
            .into_iter()
            .filter(|&x| (unary.domain)(x) && x != 0.0 && x.is_finite())
        {
            let error = error((unary.function)(x), &(unary.reference)(&exact(x)));
            if error > worst.0 {
                worst = (error, x);
            }
        }
        println!("{}: {:.4} ulp at {:e}", unary.name, worst.0, worst.1);
        assert!(
            worst.0 <= unary.bound,
            "{} is {} ulp off at {:e}",
            unary.name,
            worst.0,
            worst.1
        );
    }
}

#[test]
fn functions_of_one_number_are_right_on_a_sample() {
    check(if cfg!(debug_assertions) { 40 } else { 400 });
}

#[test]
#[ignore = "minutes in a release build"]
fn functions_of_one_number_are_right_on_many() {
    check(20_000);
}

/// Zeros, infinities, NaN and what overflows.
const SPECIAL: [f64; 25] = [
    0.0,
    0.5,
    1.0,
    1.5,
    2.0,
    3.0,
    4.0,
    5e-324,
    1e-310,
    f64::MIN_POSITIVE,
    f64::EPSILON,
    1e-20,
    0.999_999_999_999_999_9,
    1.000_000_000_000_000_2,
    100.0,
    709.9,
    710.5,
    746.0,
    1025.0,
    9_007_199_254_740_991.0,
    9_007_199_254_740_992.0,
    1e200,
    f64::MAX,
    f64::INFINITY,
    f64::NAN,
];

/// Equal as IEEE 754 has it where it says something: class and sign; a few units otherwise.
fn agrees(got: f64, wanted: f64) -> bool {
    if got.is_nan() || wanted.is_nan() {
        return got.is_nan() && wanted.is_nan();
    }
    let close = (got - wanted).abs() <= 1e-14 * wanted.abs() || (got - wanted).abs() <= 1e-323;
    got == wanted && got.is_sign_negative() == wanted.is_sign_negative()
        || close && got.is_finite() && wanted.is_finite() && got != 0.0 && wanted != 0.0
}

#[test]
fn special_arguments_are_as_in_the_standard_library() {
    let with_signs = || SPECIAL.into_iter().chain(SPECIAL.map(|x| -x));
    let functions: [(&str, fn(f64) -> f64, fn(f64) -> f64); 20] = [
        ("exp", math::exp, f64::exp),
        ("exp2", math::exp2, f64::exp2),
        ("exp_m1", math::exp_m1, f64::exp_m1),
        ("ln", math::ln, f64::ln),
        ("log2", math::log2, f64::log2),
        ("log10", math::log10, f64::log10),
        ("ln_1p", math::ln_1p, f64::ln_1p),
        ("sin", math::sin, f64::sin),
        ("cos", math::cos, f64::cos),
        ("tan", math::tan, f64::tan),
        ("asin", math::asin, f64::asin),
        ("acos", math::acos, f64::acos),
        ("atan", math::atan, f64::atan),
        ("sinh", math::sinh, f64::sinh),
        ("cosh", math::cosh, f64::cosh),
        ("tanh", math::tanh, f64::tanh),
        ("asinh", math::asinh, f64::asinh),
        ("acosh", math::acosh, f64::acosh),
        ("atanh", math::atanh, f64::atanh),
        ("cbrt", math::cbrt, f64::cbrt),
    ];
    for (name, function, reference) in functions {
        for x in with_signs() {
            // The standard library's own formulas overflow, or cancel next to zero and one.
            let a = x.abs();
            let inaccurate = match name {
                "asinh" => !(1e-5..1e154).contains(&a),
                "acosh" => !(1.1..1e154).contains(&x),
                "atanh" => a < 1e-5 || (a < 1.0 && a > 0.9),
                _ => false,
            };
            if inaccurate {
                continue;
            }
            let (got, wanted) = (function(x), reference(x));
            assert!(
                agrees(got, wanted),
                "{name}({x:e}) is {got:e}, not {wanted:e}"
            );
        }
    }
    for x in [
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1e-300,
        -1e300,
    ] {
        assert!(agrees(
            math::asinh(x),
            if x.abs() > 1.0 && x.is_finite() {
                -691.468_675_078_773_6
            } else {
                x
            }
        ));
    }
    assert!(
        math::acosh(1.0) == 0.0
            && math::acosh(0.5_f64).is_nan()
            && math::acosh(f64::INFINITY) == f64::INFINITY
    );
}
