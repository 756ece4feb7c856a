//! The incomplete beta function: Didonato and Morris' continued fraction (1992) on the side of the
//! mean where it is small, and a series at an end whose density is infinite.
//!
//! The fraction takes a number of steps that grows as the cube root of the smaller of `a` and `b`.
//! Where that is too many, the beginning of the uniform expansion (Temme 1982) is as good.
//!
//! Derivatives by `a` and `b` are those of the fraction and of the series, term by term (Boik and
//! Robinson-Cox 1998).

use std::f64::consts::{PI, TAU};

use super::error_function::scaled_erfc;
use super::gamma::{ln_gamma_after_one, ln_gamma_step, right_ln_gamma, stirling_rest};
use super::powers::{curvature, excess, ln_ratio, ln_slope, lost_by_difference, parts};
use super::psi::{digamma_of, digamma_step, ln_less_digamma};
use crate::prelude::*;

/// `a (1 - x) - b x`, which is zero at the mean, as if rounded once.
#[pointful]
fn below_mean(a: f64, b: f64, x: f64) -> f64 {
    let y = 1.0 - x;
    let (left, right) = (a * y, b * x);
    let lost = a.mul_add(y, -left) - b.mul_add(x, -right) + a * lost_by_difference(1.0, x);
    (left - right) + lost
}

/// `xᵃ (1 - x)ᵇ / B(a, b)` for `a` and `b` from 3: powers of quotients by the mean, which both are
/// about 1 there, and what Stirling's formula leaves.
///
/// Far from the mean one is large and the other is small, and so they are taken in parts. What
/// rounding takes from both quotients is given back, since the exponents would multiply it.
#[pointful]
fn kernel_of_large(a: f64, b: f64, x: f64) -> f64 {
    let y = 1.0 - x;
    let total = a + b;
    let (by_a, by_b) = (x * total, y * total);
    let (of_a, of_b) = (by_a / a, by_b / b);
    let lost_by_a = ((-of_a).mul_add(a, by_a) + x.mul_add(total, -by_a)) / by_a;
    let lost_by_b = ((-of_b).mul_add(b, by_b) + y.mul_add(total, -by_b)) / by_b;
    let lost = a * lost_by_a
        + b * (lost_by_b + lost_by_difference(1.0, x) / y)
        + lost_by_difference(a, -b);
    let below = below_mean(a, b, x);
    let energy = a * excess(-below / a, of_a) + b * excess(below / b, of_b);
    let larger = (a * of_a.ln()).abs().max((b * of_b.ln()).abs());
    let parts = parts(larger);
    let part = of_a.powf(a / parts) * of_b.powf(b / parts);
    let power = (part + part * (lost / parts)).powf(parts);
    let power = if energy > 800.0 {
        0.0
    } else if energy < parts {
        (-energy).exp()
    } else {
        power
    };
    let rest = stirling_rest(total) - stirling_rest(a) - stirling_rest(b);
    power * rest.exp() * (a / TAU * (b / total)).sqrt()
}

/// `xᵃ (1 - x)ᵇ / B(a, b)`
#[pointful]
fn kernel_of(a: f64, b: f64, x: f64) -> f64 {
    let y = 1.0 - x;
    let lost = lost_by_difference(1.0, x) / y;
    let total = a + b;
    if a.max(b) < 3.0 {
        let ln_gammas = right_ln_gamma(1.0 + a) + right_ln_gamma(1.0 + b);
        let factor = a * (b / total) * (right_ln_gamma(1.0 + total) - ln_gammas).exp();
        x.powf(a) * y.powf(b) * factor
    } else if a.min(b) < 3.0 {
        // p is the smaller, with the base u, and v is the other base.
        let of_a = a < b;
        let (p, q) = if of_a { (a, b) } else { (b, a) };
        let (u, v) = if of_a { (x, y) } else { (y, x) };
        let ln_gamma = if p < 1.0 {
            ln_gamma_after_one(p)
        } else {
            right_ln_gamma(1.0 + p)
        };
        let rest = stirling_rest(total) - stirling_rest(q) - ln_gamma;
        let rest = rest + ((q - 0.5) * (p / q).ln_1p() - p) + if of_a { b * lost } else { 0.0 };
        // The power alone may be too small.
        let half = v.powf(0.5 * q);
        p * (u * total).powf(p) * half * rest.exp() * half
    } else {
        kernel_of_large(a, b, x)
    }
}

#[pointful(jvp = kernel_jvp)]
fn kernel(a: f64, b: f64, x: f64) -> f64 {
    kernel_of(a, b, x)
}

#[pointful]
fn kernel_jvp(a: f64, b: f64, x: f64, by_a: f64, by_b: f64, by_x: f64) -> f64 {
    let below = below_mean(a, b, x);
    let of_a = ln_less_psis(a, b, x, below);
    let of_b = ln_less_psis(b, a, 1.0 - x, -below);
    kernel_of(a, b, x) * (by_a * of_a + by_b * of_b + by_x * (below / (x * (1.0 - x))))
}

/// `ln x - ψ(a) + ψ(a + b)`, where `below` is `a (1 - x) - b x`.
#[pointful]
fn ln_less_psis(a: f64, b: f64, x: f64, below: f64) -> f64 {
    if a < 12.0 {
        x.ln() + digamma_step(a, b)
    } else {
        let of_ratio = ln_ratio(-below / a, x * (a + b) / a);
        of_ratio + (ln_less_digamma(a) - ln_less_digamma(a + b))
    }
}

/// `I_x(a, b)`, divided by the kernel, for `x` up to the mean: the sum of the differences of the
/// fraction's convergents.
#[pointful]
fn fraction(a: f64, b: f64, x: f64, y: f64, below: f64) -> f64 {
    let mut n = 0.0;
    let mut inverse = (a + 1.0) / (a * (below + 1.0));
    let mut difference = inverse;
    let mut total = inverse;
    while difference.abs() > 1e-17 * total {
        n += 1.0;
        let (before, after) = (a + 2.0 * n - 1.0, a + 2.0 * n + 1.0);
        let above = (a + n - 1.0) * x / before * ((a + b + n - 1.0) * x / before) * n * (b - n);
        let rising = (a + n) / after * (below + 1.0 + n * (1.0 + y));
        let next = 1.0 / (n + n * (b - n) * x / before + rising + above * inverse);
        difference *= -above * inverse * next;
        inverse = next;
        total += difference;
    }
    total
}

/// The fraction and its derivatives by `a` and `b`.
#[pointful]
fn fraction_by_both(a: f64, b: f64, x: f64, y: f64, below: f64) -> (f64, f64, f64) {
    let mut n = 0.0;
    let mut inverse = (a + 1.0) / (a * (below + 1.0));
    // ∂below/∂a = y, ∂below/∂b = -x
    let mut inverse_a = inverse * (1.0 / (a + 1.0) - 1.0 / a - y / (below + 1.0));
    let mut inverse_b = inverse * x / (below + 1.0);
    let (mut difference, mut total) = (inverse, inverse);
    let (mut difference_a, mut total_a) = (inverse_a, inverse_a);
    let (mut difference_b, mut total_b) = (inverse_b, inverse_b);
    // Of whole `b` one difference is zero, but its derivative is not.
    while difference.abs() > 1e-18 * total
        || difference_a.abs() + difference_b.abs() > 1e-18 * (total_a.abs() + total_b.abs())
    {
        n += 1.0;
        let (before, after) = (a + 2.0 * n - 1.0, a + 2.0 * n + 1.0);
        let common = (a + n - 1.0) * x / before * ((a + b + n - 1.0) * x / before) * n;
        let above = common * (b - n);
        let above_a = above * (1.0 / (a + n - 1.0) + 1.0 / (a + b + n - 1.0) - 2.0 / before);
        let above_b = common + above / (a + b + n - 1.0);
        let share = (a + n) / after;
        let far = below + 1.0 + n * (1.0 + y);
        let of_b = n * (b - n) * x / before;
        let denominator = n + of_b + share * far;
        let denominator_a = share * (far / (a + n) - far / after + y) - of_b / before;
        let denominator_b = n * x / before - share * x;
        let next = 1.0 / (denominator + above * inverse);
        let next_a = -next * next * (denominator_a + above_a * inverse + above * inverse_a);
        let next_b = -next * next * (denominator_b + above_b * inverse + above * inverse_b);
        let factor = -above * inverse * next;
        let factor_a = -(above_a * inverse * next + above * (inverse_a * next + inverse * next_a));
        let factor_b = -(above_b * inverse * next + above * (inverse_b * next + inverse * next_b));
        difference_a = factor_a * difference + factor * difference_a;
        difference_b = factor_b * difference + factor * difference_b;
        difference *= factor;
        (inverse, inverse_a, inverse_b) = (next, next_a, next_b);
        total += difference;
        total_a += difference_a;
        total_b += difference_b;
    }
    (total, total_a, total_b)
}

/// `ln(xᵃ / (a B(a, b)))` for `a < 1`, small with `a`.
#[pointful]
fn ln_first(a: f64, b: f64, x: f64) -> f64 {
    ln_gamma_step(b, a, x) - ln_gamma_after_one(a)
}

/// `I_x(a, b)` and one less it for `a < 1`, `x ≤ 0.6` and `b x ≤ 1`, by the series in powers of `x`.
#[pointful]
fn series(a: f64, b: f64, x: f64) -> (f64, f64) {
    let mut n = 0.0;
    let mut term = 1.0;
    let mut total = 0.0;
    while term.abs() > 1e-18 {
        n += 1.0;
        term *= (n - b) * x / n;
        total += term / (a + n);
    }
    let exponent = ln_first(a, b, x);
    let first = exponent.exp();
    (
        first * (1.0 + a * total),
        -(exponent.exp_m1() + first * a * total),
    )
}

/// The derivatives of the series by `a` and `b`.
#[pointful]
fn series_by_both(a: f64, b: f64, x: f64) -> (f64, f64) {
    let mut n = 0.0;
    let (mut term, mut of_term) = (1.0, 0.0);
    let (mut total, mut total_a, mut total_b) = (0.0, 0.0, 0.0);
    // Of whole `b` the terms end, but not their derivatives.
    while term.abs() + of_term.abs() > 1e-18 {
        n += 1.0;
        let quotient = x / n;
        of_term = (of_term * (n - b) - term) * quotient;
        term *= (n - b) * quotient;
        let share = 1.0 / (a + n);
        total += term * share;
        total_a -= term * share * share;
        total_b += of_term * share;
    }
    let first = ln_first(a, b, x).exp();
    let exponent_a = x.ln() + (digamma_of(a + b) - digamma_of(a + 1.0));
    let by_a = exponent_a * (1.0 + a * total) + total + a * total_a;
    let by_b = digamma_step(b, a) * (1.0 + a * total) + a * total_b;
    (first * by_a, first * by_b)
}

/// Whether the series in powers of `x` is good.
#[pointful]
fn is_at_end(a: f64, b: f64, x: f64) -> bool {
    a < 1.0 && x <= 0.6 && b * x <= 1.0
}

/// From where on the expansion for large `a` and `b` is taken.
const LARGE: f64 = 1e12;

/// `E / below²` with `E = -ln(((a + b) x / a)ᵃ ((a + b) (1 - x) / b)ᵇ)`.
#[pointful]
fn energy_slope(a: f64, b: f64, below: f64) -> f64 {
    curvature(-below / a) / a + curvature(below / b) / b
}

/// What the normal distribution lacks, beside `exp(-E)`: the skewness.
#[pointful]
fn skewness(a: f64, b: f64) -> f64 {
    (1.0 - a / b) / (3.0 * (TAU * a * (1.0 + a / b)).sqrt())
}

/// `I_x(a, b)` for `a` and `b` from `LARGE`.
#[pointful]
fn expansion(a: f64, b: f64, below: f64) -> f64 {
    let root = below.abs() * energy_slope(a, b, below).sqrt();
    let normal = 0.5 * scaled_erfc(root);
    let skewness = skewness(a, b);
    let tail = (-root * root).exp() * (normal + if below < 0.0 { -skewness } else { skewness });
    if below.abs() > 0.3 * a.min(b) {
        // Millions of deviations away.
        if below < 0.0 { 1.0 } else { 0.0 }
    } else if below < 0.0 {
        1.0 - tail
    } else {
        tail
    }
}

/// The derivative of the expansion by `a`; that by `b` is minus that with all exchanged.
#[pointful]
fn expansion_by_a(a: f64, b: f64, below: f64) -> f64 {
    let slope = energy_slope(a, b, below);
    let ln_slope = ln_slope(-below / a) / a;
    // The derivative of E by `a` is -ln((a + b) x / a).
    let bracket = ln_slope / (2.0 * (PI * slope).sqrt()) + skewness(a, b) * below * ln_slope;
    if below.abs() > 0.3 * a.min(b) {
        0.0
    } else {
        -(-below * below * slope).exp() * bracket
    }
}

#[pointful]
fn betainc_of(a: f64, b: f64, x: f64) -> f64 {
    let y = 1.0 - x;
    let below = below_mean(a, b, x);
    if !(a >= 0.0 && b >= 0.0 && x >= 0.0 && x <= 1.0)
        || (a == 0.0 && b == 0.0)
        || (a.is_infinite() && b.is_infinite())
    {
        f64::NAN
    } else if x == 0.0 {
        0.0
    } else if x == 1.0 {
        1.0
    } else if a == 0.0 || b.is_infinite() {
        1.0
    } else if b == 0.0 || a.is_infinite() {
        0.0
    } else if is_at_end(b, a, y) {
        let (_upper, lower) = series(b, a, y);
        lower
    } else if is_at_end(a, b, x) {
        let (lower, _upper) = series(a, b, x);
        lower
    } else if a.min(b) > LARGE {
        expansion(a, b, below)
    } else if below >= 0.0 {
        kernel(a, b, x) * fraction(a, b, x, y, below)
    } else {
        1.0 - kernel(a, b, x) * fraction(b, a, y, x, -below)
    }
}

/// The derivatives by `a` and `b`.
#[pointful]
fn by_both_of(a: f64, b: f64, x: f64) -> (f64, f64) {
    let y = 1.0 - x;
    let below = below_mean(a, b, x);
    if !(a > 0.0 && b > 0.0 && x >= 0.0 && x <= 1.0) {
        (f64::NAN, f64::NAN)
    } else if x == 0.0 || x == 1.0 || a.is_infinite() || b.is_infinite() {
        (0.0, 0.0)
    } else if is_at_end(b, a, y) {
        let (by_b, by_a) = series_by_both(b, a, y);
        (-by_a, -by_b)
    } else if is_at_end(a, b, x) {
        series_by_both(a, b, x)
    } else if a.min(b) > LARGE {
        (expansion_by_a(a, b, below), -expansion_by_a(b, a, -below))
    } else {
        let kernel = kernel(a, b, x);
        let of_a = ln_less_psis(a, b, x, below);
        let of_b = ln_less_psis(b, a, y, -below);
        if below >= 0.0 {
            let (total, total_a, total_b) = fraction_by_both(a, b, x, y, below);
            (
                kernel * (total * of_a + total_a),
                kernel * (total * of_b + total_b),
            )
        } else {
            let (total, total_b, total_a) = fraction_by_both(b, a, y, x, -below);
            (
                -kernel * (total * of_a + total_a),
                -kernel * (total * of_b + total_b),
            )
        }
    }
}

/// The derivative by `x`, `xᵃ⁻¹ (1 - x)ᵇ⁻¹ / B(a, b)`.
#[pointful]
fn density(a: f64, b: f64, x: f64) -> f64 {
    let (of_end, of_other) = if x < 0.5 { (a, b) } else { (b, a) };
    if !(a > 0.0 && b > 0.0 && x >= 0.0 && x <= 1.0) {
        f64::NAN
    } else if x == 0.0 || x == 1.0 {
        if of_end < 1.0 {
            f64::INFINITY
        } else if of_end == 1.0 {
            of_other
        } else {
            0.0
        }
    } else if a.is_infinite() || b.is_infinite() {
        0.0
    } else {
        kernel(a, b, x) / x / (1.0 - x)
    }
}

/// The regularised incomplete beta function `I_x(a, b)`: the integral of `tᵃ⁻¹ (1 - t)ᵇ⁻¹` from 0 to
/// `x`, divided by `B(a, b)`.
///
/// ```
/// use pointful::lib::betainc;
/// use pointful::prelude::*;
///
/// assert!((betainc(2.0, 3.0, 0.3) - 0.3483).abs() < 1e-15);
/// let (by_a, by_b, by_x) = grad!(betainc)(2.0, 3.0, 0.3);
/// assert!((by_a + 0.24609372774672361).abs() < 1e-15);
/// assert!((by_b - 0.12954506096487164).abs() < 1e-15);
/// assert!((by_x - 1.764).abs() < 1e-14);
/// ```
#[pointful(jvp = betainc_jvp)]
pub fn betainc<T: Float>(a: T, b: T, x: T) -> T {
    betainc_of(a as f64, b as f64, x as f64) as T
}

#[pointful]
fn betainc_jvp<T: Float>(a: T, b: T, x: T, by_a: T, by_b: T, by_x: T) -> T {
    let (p, q, y) = (a as f64, b as f64, x as f64);
    let (of_a, of_b) = by_both_of(p, q, y);
    by_a * (of_a as T) + by_b * (of_b as T) + by_x * (density(p, q, y) as T)
}
