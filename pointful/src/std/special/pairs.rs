//! Logarithms of the beta function and of binomial coefficients, by what Stirling's formula leaves
//! of three gamma functions rather than by these, whose largest parts cancel.

use super::gamma::{right_ln_gamma, stirling_rest};
use super::psi::digamma;
use crate::prelude::*;

/// `½ ln 2π`
const HALF_LN_OF_TAU: f64 = 0.918_938_533_204_672_8;

/// `ln Γ(x)` for `x ≥ 0`.
#[pointful]
fn ln_gamma_from_zero(x: f64) -> f64 {
    let small = x < 0.75;
    let value = right_ln_gamma(if small { 1.0 + x } else { x });
    value - (if small { x } else { 1.0 }).ln()
}

#[pointful]
fn ln_beta_of(a: f64, b: f64) -> f64 {
    let (p, q) = if a < b { (a, b) } else { (b, a) };
    let total = p + q;
    let of_p = ln_gamma_from_zero(p);
    let rests = stirling_rest(q) - stirling_rest(total);
    let of_rest = (-p / total).ln_1p();
    let value = if q < 3.0 {
        of_p + (ln_gamma_from_zero(q) - ln_gamma_from_zero(total))
    } else if p < 3.0 {
        of_p + rests - p * (total.ln() - 1.0) + (q - 0.5) * of_rest
    } else {
        let halves = HALF_LN_OF_TAU - 0.5 * q.ln();
        halves + (stirling_rest(p) + rests) + (p - 0.5) * (p / total).ln() + q * of_rest
    };
    if p == 0.0 && q >= 0.0 {
        f64::INFINITY
    } else if q == f64::INFINITY && p > 0.0 {
        f64::NEG_INFINITY
    } else {
        value
    }
}

#[pointful]
fn ln_binomial_of(n: f64, k: f64) -> f64 {
    let value = -(n + 1.0).ln() - ln_beta_of(n - k + 1.0, k + 1.0);
    if !(k >= 0.0 && k <= n) {
        f64::NAN
    } else if k == 0.0 || k == n {
        0.0
    } else {
        value
    }
}

/// The logarithm of the beta function, `Γ(a) Γ(b) / Γ(a + b)`.
///
/// Both arguments are positive; of zero it is infinity, of negative numbers NaN. The error is at
/// most 5 ulp of the larger of 1 and the result, also where one argument is much larger than the
/// other. The derivative is a difference of [`digamma`](fn@super::digamma)s.
///
/// ```
/// use pointful::lib::ln_beta;
///
/// assert!((ln_beta(2.0, 3.0) + 12.0_f64.ln()).abs() < 1e-15);
/// assert!((ln_beta(1e9, 1.0) + 1e9_f64.ln()).abs() < 1e-14);
/// ```
#[pointful(jvp = ln_beta_jvp)]
pub fn ln_beta<T: Float>(a: T, b: T) -> T {
    ln_beta_of(a as f64, b as f64) as T
}

#[pointful]
fn ln_beta_jvp<T: Float>(a: T, b: T, by_a: T, by_b: T) -> T {
    let (x, y) = (a as f64, b as f64);
    let total = digamma(x + y);
    by_a * ((digamma(x) - total) as T) + by_b * ((digamma(y) - total) as T)
}

/// The logarithm of a binomial coefficient: in how many ways `k` of `n` can be chosen.
///
/// Both are numbers, so that there are derivatives, with `0 ≤ k ≤ n`; elsewhere it is NaN. The error
/// is at most 10 ulp of the larger of `ln n` and the result.
///
/// ```
/// use pointful::lib::ln_binomial;
///
/// assert!((ln_binomial(5.0, 2.0) - 10.0_f64.ln()).abs() < 1e-15);
/// assert_eq!(ln_binomial(5.0, 0.0), 0.0);
/// ```
#[pointful(jvp = ln_binomial_jvp)]
pub fn ln_binomial<T: Float>(n: T, k: T) -> T {
    ln_binomial_of(n as f64, k as f64) as T
}

#[pointful]
fn ln_binomial_jvp<T: Float>(n: T, k: T, by_n: T, by_k: T) -> T {
    let (n, k) = (n as f64, k as f64);
    let others = digamma(n - k + 1.0);
    by_n * ((digamma(n + 1.0) - others) as T) + by_k * ((others - digamma(k + 1.0)) as T)
}
