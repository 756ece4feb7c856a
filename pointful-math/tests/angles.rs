//! Near angles without a branch against any angles, bit for bit.

use pointful_math::{Angles, Any, Near, cos, sin, tan};

/// From here on angles are far.
const FAR: f64 = 1_048_576.0;

type Function = (
    &'static str,
    fn(&mut Near, f64) -> f64,
    fn(&mut Any, f64) -> f64,
    fn(f64) -> f64,
);

const FUNCTIONS: [Function; 3] = [
    ("sin", Near::sin, Any::sin, sin),
    ("cos", Near::cos, Any::cos, cos),
    ("tan", Near::tan, Any::tan, tan),
];

/// Bits, of which every NaN has the same.
fn bits(x: f64) -> u64 {
    if x.is_nan() { f64::NAN } else { x }.to_bits()
}

/// Checks all functions at an angle and at its opposite.
#[track_caller]
fn check(x: f64) {
    for x in [x, -x] {
        for (name, near, any, function) in FUNCTIONS {
            let expected = function(x);
            let mut angles = Any;
            assert_eq!(bits(any(&mut angles, x)), bits(expected), "{name}({x:e})");
            assert!(!angles.missed());
            let mut angles = Near::default();
            let found = near(&mut angles, x);
            let far = x.is_finite() && x.abs() >= FAR;
            assert_eq!(angles.missed(), far, "{name}({x:e})");
            assert!(
                far || bits(found) == bits(expected),
                "{name}({x:e}) is {found:e}, not {expected:e}"
            );
        }
    }
}

#[test]
fn special_angles() {
    for x in [
        0.0,
        f64::INFINITY,
        f64::NAN,
        -f64::NAN,
        f64::MAX,
        f64::MIN_POSITIVE,
    ] {
        check(x);
    }
    // Quiet and signalling NaN of all sorts.
    for payload in [1, 0xf_ffff, 1 << 51, (1 << 52) - 1] {
        check(f64::from_bits(0x7ff << 52 | payload));
    }
}

#[test]
fn angles_on_both_sides_of_where_they_become_far() {
    for step in 0..2000 {
        check(f64::from_bits(FAR.to_bits() - step));
        check(f64::from_bits(FAR.to_bits() + step));
    }
}

#[test]
fn angles_of_every_magnitude() {
    let mut noise = 1_u64;
    for exponent in 0..2047_u64 {
        let samples = if cfg!(debug_assertions) { 8 } else { 1000 };
        for mantissa in 0..samples {
            noise = noise
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let low = match mantissa {
                0 => 0,
                1 => (1 << 52) - 1,
                _ => noise >> 12,
            };
            check(f64::from_bits(exponent << 52 | low));
        }
    }
}

#[test]
fn angles_next_to_multiples_of_a_right_angle() {
    // The last ones are beyond where angles become far.
    let most = 667_600_u64;
    let step = if cfg!(debug_assertions) { 97 } else { 1 };
    for k in (0..most).step_by(step).chain(most - 200..most) {
        let x = k as f64 * std::f64::consts::FRAC_PI_2;
        for off in 0..3 {
            check(f64::from_bits(x.to_bits() + off));
            check(f64::from_bits(x.to_bits().saturating_sub(off)));
        }
    }
}

#[test]
fn one_far_angle_among_many_is_noticed() {
    for at in 0..100 {
        let mut angles = Near::default();
        for k in 0..100 {
            let x = if k == at { 1e22 } else { f64::from(k) };
            match k % 3 {
                0 => angles.sin(x),
                1 => angles.cos(x),
                _ => angles.tan(x),
            };
        }
        assert!(angles.missed(), "the angle at {at}");
    }
}
