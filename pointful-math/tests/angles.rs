//! Functions of near angles against those of any angles, bit for bit.

use pointful_math::{Angles, Any, Elementary, Near, cos, sin, tan};

/// What the tests know of a float.
trait Float: Elementary + std::ops::Neg<Output = Self> + std::fmt::LowerExp {
    /// From here on angles are far.
    const FAR: Self;
    /// How many bits a mantissa has, and how many exponents there are.
    const MANTISSA: u32;
    const EXPONENTS: u64;

    fn is_far(self) -> bool;
    fn of_bits(bits: u64) -> Self;
    /// Bits, of which every NaN has the same.
    fn bits(self) -> u64;
    fn rounded(x: f64) -> Self;
}

macro_rules! float {
    ($float:ident, $bits:ident, $far:literal, $mantissa:literal, $exponents:literal) => {
        impl Float for $float {
            const FAR: Self = $far;
            const MANTISSA: u32 = $mantissa;
            const EXPONENTS: u64 = $exponents;

            fn is_far(self) -> bool {
                self.is_finite() && self.abs() >= $far
            }

            fn of_bits(bits: u64) -> Self {
                Self::from_bits($bits::try_from(bits).expect("as many bits"))
            }

            fn bits(self) -> u64 {
                u64::from(if self.is_nan() { Self::NAN } else { self }.to_bits())
            }

            fn rounded(x: f64) -> Self {
                x as Self
            }
        }
    };
}

float!(f32, u32, 4096.0, 23, 255);
float!(f64, u64, 1_048_576.0, 52, 2047);

type Function<T> = (
    &'static str,
    fn(&mut Near, T) -> T,
    fn(&mut Any, T) -> T,
    fn(T) -> T,
);

fn functions<T: Float>() -> [Function<T>; 3] {
    [
        ("sin", Near::sin, Any::sin, sin),
        ("cos", Near::cos, Any::cos, cos),
        ("tan", Near::tan, Any::tan, tan),
    ]
}

/// Checks all functions at an angle and at its opposite.
#[track_caller]
fn check<T: Float>(x: T) {
    for x in [x, -x] {
        for (name, near, any, function) in functions::<T>() {
            let expected = function(x);
            let mut angles = Any;
            assert_eq!(any(&mut angles, x).bits(), expected.bits(), "{name}({x:e})");
            assert!(!angles.missed());
            let mut angles = Near::default();
            let found = near(&mut angles, x);
            assert_eq!(angles.missed(), x.is_far(), "{name}({x:e})");
            assert!(
                x.is_far() || found.bits() == expected.bits(),
                "{name}({x:e}) is {found:e}, not {expected:e}"
            );
        }
    }
}

fn special<T: Float>() {
    for x in [
        0.0,
        f64::INFINITY,
        f64::NAN,
        -f64::NAN,
        f64::MAX,
        f64::from(f32::MAX),
        f64::from(f32::MIN_POSITIVE),
        f64::MIN_POSITIVE,
    ] {
        check(T::rounded(x));
    }
    // Quiet and signalling NaN of all sorts.
    let quiet = 1 << (T::MANTISSA - 1);
    for payload in [1, quiet / 2 - 1, quiet, 2 * quiet - 1] {
        check(T::of_bits(T::EXPONENTS << T::MANTISSA | payload));
    }
}

#[test]
fn special_angles() {
    special::<f32>();
    special::<f64>();
}

fn zeros_and_smallest<T: Float>() {
    for bits in [0, 1, 2, 1 << (T::MANTISSA - 1), 1 << T::MANTISSA] {
        let x = T::of_bits(bits);
        for x in [x, -x] {
            for function in [sin, tan] {
                assert_eq!(function(x).bits(), x.bits(), "{x:e}");
            }
            assert_eq!(cos(x).bits(), T::rounded(1.0).bits(), "{x:e}");
        }
    }
}

#[test]
fn the_smallest_angles_are_their_own_sine_and_tangent() {
    zeros_and_smallest::<f32>();
    zeros_and_smallest::<f64>();
}

fn around_far<T: Float>() {
    for step in 0..2000 {
        check(T::of_bits(T::FAR.bits() - step));
        check(T::of_bits(T::FAR.bits() + step));
    }
}

#[test]
fn angles_on_both_sides_of_where_they_become_far() {
    around_far::<f32>();
    around_far::<f64>();
}

fn every_magnitude<T: Float>(samples: u64) {
    let mut noise = 1_u64;
    for exponent in 0..T::EXPONENTS {
        for mantissa in 0..samples {
            noise = noise
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let low = match mantissa {
                0 => 0,
                1 => (1 << T::MANTISSA) - 1,
                _ => noise >> (64 - T::MANTISSA),
            };
            check(T::of_bits(exponent << T::MANTISSA | low));
        }
    }
}

#[test]
fn angles_of_every_magnitude() {
    let samples = if cfg!(debug_assertions) { 8 } else { 1000 };
    every_magnitude::<f32>(8 * samples);
    every_magnitude::<f64>(samples);
}

/// The last ones are beyond where angles become far.
fn next_to_right_angles<T: Float>(most: u64, step: usize) {
    for k in (0..most).step_by(step).chain(most - 200..most) {
        let x = T::rounded(k as f64 * std::f64::consts::FRAC_PI_2);
        for off in 0..3 {
            check(T::of_bits(x.bits() + off));
            check(T::of_bits(x.bits().saturating_sub(off)));
        }
    }
}

#[test]
fn angles_next_to_multiples_of_a_right_angle() {
    next_to_right_angles::<f32>(2700, 1);
    next_to_right_angles::<f64>(667_600, if cfg!(debug_assertions) { 97 } else { 1 });
}

fn noticed<T: Float>() {
    for at in 0..100 {
        let mut angles = Near::default();
        for k in 0..100 {
            let x = if k == at { 1e22 } else { f64::from(k) };
            let x = T::rounded(x);
            match k % 3 {
                0 => angles.sin(x),
                1 => angles.cos(x),
                _ => angles.tan(x),
            };
        }
        assert!(angles.missed(), "the angle at {at}");
    }
}

#[test]
fn one_far_angle_among_many_is_noticed() {
    noticed::<f32>();
    noticed::<f64>();
}
