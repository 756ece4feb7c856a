//! Newton's method with conjugate gradients (Nocedal and Wright 2006, algorithm 7.1).

use super::minimum::{Minimum, Reason};
use super::wolfe::{Point, search};
use crate::{Float, VectorSpace};

/// Minimizes by gradients and products of the Hessian with vectors. Near a minimum the number of
/// right digits doubles with each step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NewtonCg {
    /// The norm of a gradient that is small enough: 1e-8.
    pub tolerance: f64,
    /// How many steps are taken at most: 200.
    pub iterations: usize,
}

impl Default for NewtonCg {
    fn default() -> Self {
        NewtonCg {
            tolerance: 1e-8,
            iterations: 200,
        }
    }
}

impl NewtonCg {
    /// Looks for a minimum of a function that gives value and gradient, by the products of its
    /// Hessian at a point with a vector: `|x, v| hvp!(f)(x, v)`.
    ///
    /// # Panics
    /// If the shape of a gradient or product is not that of `start`.
    pub fn minimize<P: VectorSpace + Clone>(
        &self,
        start: P,
        mut f: impl FnMut(&P) -> (P::Scalar, P),
        mut product: impl FnMut(&P, &P) -> P,
    ) -> Minimum<P> {
        let mut at = Point::of(start, &mut f);
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
            let direction = direction(&at, |v| product(&at.x, v));
            let (found, asked) = search(&at, &direction, 1.0, &mut f);
            evaluations += asked;
            let Some(next) = found else {
                break Reason::Stalled;
            };
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

/// The step of Newton's method, as exactly as the gradient is small, or what is found of it where
/// the function curves downwards: a direction of descent in any case.
fn direction<P: VectorSpace + Clone>(at: &Point<P>, mut product: impl FnMut(&P) -> P) -> P {
    let of = P::Scalar::from_f64;
    let norm = at.gradient_norm();
    let enough = norm * norm.sqrt().min(0.1);
    let mut step = at.x.zeros_like();
    let mut rest = at.gradient.map(|slope| -slope);
    let mut way = rest.clone();
    let mut square = rest.dot(&rest).to_f64();
    for k in 0..2 * at.x.dimension() {
        let curved = product(&way);
        let curvature = way.dot(&curved).to_f64();
        if curvature.is_nan() || curvature <= 0.0 {
            return if k == 0 { rest } else { step };
        }
        let length = square / curvature;
        step.axpy(of(length), &way);
        rest.axpy(of(-length), &curved);
        let next = rest.dot(&rest).to_f64();
        if next.sqrt() <= enough {
            break;
        }
        way.scale(of(next / square));
        way.axpy(P::Scalar::from_f64(1.0), &rest);
        square = next;
    }
    step
}
