//! L-BFGS (Nocedal and Wright 2006, algorithms 7.4 and 7.5).

use std::collections::VecDeque;

use super::minimum::{Minimum, Reason};
use super::wolfe::{Point, search};
use crate::{Float, VectorSpace};

/// Minimizes by gradients, with curvature from the last steps. Each step satisfies the strong
/// conditions of Wolfe.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Lbfgs {
    /// How many steps are remembered: 10.
    pub memory: usize,
    /// The norm of a gradient that is small enough: 1e-8.
    pub tolerance: f64,
    /// How many steps are taken at most: 1000.
    pub iterations: usize,
}

impl Default for Lbfgs {
    fn default() -> Self {
        Lbfgs {
            memory: 10,
            tolerance: 1e-8,
            iterations: 1000,
        }
    }
}

/// How a step changed the gradient.
struct Change<P> {
    step: P,
    gradient: P,
    /// Their scalar product, which is positive.
    product: f64,
}

impl Lbfgs {
    /// Looks for a minimum of a function that gives value and gradient.
    ///
    /// # Panics
    /// If a gradient's shape is not that of `start`.
    pub fn minimize<P: VectorSpace + Clone>(
        &self,
        start: P,
        mut f: impl FnMut(&P) -> (P::Scalar, P),
    ) -> Minimum<P> {
        let mut at = Point::of(start, &mut f);
        let mut changes: VecDeque<Change<P>> = VecDeque::new();
        let (mut iterations, mut evaluations) = (0, 1);
        let reason = loop {
            if !at.is_finite() {
                break Reason::NotFinite;
            }
            if at.gradient_norm() <= self.tolerance {
                break Reason::Converged;
            }
            if iterations == self.iterations {
                break Reason::Iterations;
            }
            let mut direction = direction(&changes, &at.gradient);
            if direction.dot(&at.gradient).to_f64() >= 0.0 {
                changes.clear();
                direction = at.gradient.map(|slope| -slope);
            }
            // Without curvature the length of a step is a guess: at most 1.
            let first = if changes.is_empty() {
                at.gradient_norm().recip().min(1.0)
            } else {
                1.0
            };
            let (found, asked) = search(&at, &direction, first, &mut f);
            evaluations += asked;
            let Some(next) = found else {
                if changes.is_empty() {
                    break Reason::Stalled;
                }
                // Perhaps what is remembered misleads.
                changes.clear();
                continue;
            };
            let step = next.x.map_with(&at.x, |to, from| to - from);
            let gradient = next.gradient.map_with(&at.gradient, |to, from| to - from);
            let product = step.dot(&gradient).to_f64();
            if product > 0.0 {
                if changes.len() >= self.memory.max(1) {
                    changes.pop_front();
                }
                changes.push_back(Change {
                    step,
                    gradient,
                    product,
                });
            }
            at = next;
            iterations += 1;
        };
        Minimum {
            gradient_norm: at.gradient_norm(),
            x: at.x,
            value: at.value,
            iterations,
            evaluations,
            reason,
        }
    }
}

/// The inverse of the Hessian that changes suggest, times the gradient, turned round.
fn direction<P: VectorSpace + Clone>(changes: &VecDeque<Change<P>>, gradient: &P) -> P {
    let of = P::Scalar::from_f64;
    let mut direction = gradient.map(|slope| -slope);
    let mut parts = Vec::with_capacity(changes.len());
    for change in changes.iter().rev() {
        let part = change.step.dot(&direction).to_f64() / change.product;
        direction.axpy(of(-part), &change.gradient);
        parts.push(part);
    }
    if let Some(last) = changes.back() {
        let square = last.gradient.dot(&last.gradient).to_f64();
        direction.scale(of(last.product / square));
    }
    for (change, part) in changes.iter().zip(parts.into_iter().rev()) {
        let back = change.gradient.dot(&direction).to_f64() / change.product;
        direction.axpy(of(part - back), &change.step);
    }
    direction
}
