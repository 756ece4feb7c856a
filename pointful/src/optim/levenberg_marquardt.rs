//! Least squares (Moré 1978; the damping by gains is Nielsen's, 1999).

use super::minimum::{Minimum, Reason};
use crate::{Float, VectorSpace};

/// Minimizes half the sum of squares of residuals, by their Jacobian.
///
/// The normal equations are solved densely, which is for some hundred unknowns at most.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LevenbergMarquardt {
    /// The norm of a gradient that is small enough: 1e-10.
    pub tolerance: f64,
    /// How many steps are tried at most: 500.
    pub iterations: usize,
}

impl Default for LevenbergMarquardt {
    fn default() -> Self {
        LevenbergMarquardt {
            tolerance: 1e-10,
            iterations: 500,
        }
    }
}

/// A point, with what its residuals say.
struct Point<P> {
    x: P,
    residuals: Vec<f64>,
    value: f64,
}

impl<P> Point<P> {
    fn of<R: VectorSpace>(x: P, residuals: &mut impl FnMut(&P) -> R) -> Self {
        let residuals = coordinates(&residuals(&x));
        let value = 0.5 * residuals.iter().map(|r| r * r).sum::<f64>();
        Point {
            x,
            residuals,
            value,
        }
    }
}

fn coordinates<V: VectorSpace>(x: &V) -> Vec<f64> {
    x.flatten().into_iter().map(Float::to_f64).collect()
}

impl LevenbergMarquardt {
    /// Looks for a minimum of half the sum of squares of the coordinates of `residuals`. Those of
    /// the Jacobian are its rows, one after the other, each with the derivatives of a residual by
    /// all unknowns: what `jacobian!` gives for one parameter. The value that is found is the half
    /// sum.
    ///
    /// # Panics
    /// If the Jacobian has not as many coordinates as residuals times unknowns.
    ///
    /// ```
    /// use pointful::optim::LevenbergMarquardt;
    /// use pointful::prelude::*;
    ///
    /// #[pointful]
    /// fn off<N: IndexSet>(x: &Table<Fin<2>, f64>, t: &Table<N, f64>, y: &Table<N, f64>) -> Table<N, f64> {
    ///     for n in N { x[0] * (x[1] * t[n]).exp() - y[n] }
    /// }
    ///
    /// let t = Table::<Dyn, f64>::from(vec![0.0, 1.0, 2.0]);
    /// let y = t.map(|t| 3.0 * (-0.5 * t).exp());
    /// let found = LevenbergMarquardt::default().minimize(
    ///     Table::from([1.0, 0.0]),
    ///     |x| off(x, &t, &y),
    ///     |x| jacobian!(off, wrt = x)(x, &t, &y),
    /// );
    /// assert!((found.x.as_slice()[1] + 0.5).abs() < 1e-9, "{found}");
    /// ```
    pub fn minimize<P: VectorSpace + Clone, R: VectorSpace, J: VectorSpace>(
        &self,
        start: P,
        mut residuals: impl FnMut(&P) -> R,
        mut jacobian: impl FnMut(&P) -> J,
    ) -> Minimum<P> {
        let unknowns = start.dimension();
        let mut at = Point::of(start, &mut residuals);
        let (mut iterations, mut evaluations) = (0, 1);
        // Relative to the curvature of each unknown.
        let (mut damping, mut growth) = (1e-3, 2.0);
        let mut equations = Equations::of(&at, coordinates(&jacobian(&at.x)), unknowns);
        let reason = loop {
            let norm = equations.gradient_norm();
            if !at.value.is_finite() || !norm.is_finite() {
                break Reason::NotFinite;
            }
            if norm <= self.tolerance {
                break Reason::Converged;
            }
            if damping > 1e30 {
                break Reason::Stalled;
            }
            if iterations == self.iterations {
                break Reason::Iterations;
            }
            iterations += 1;
            let gained = equations.step(damping).and_then(|step| {
                let mut change = step.iter();
                let mut x = at.x.clone();
                x.visit_mut(&mut |part| {
                    for (x, change) in part.iter_mut().zip(&mut change) {
                        *x += P::Scalar::from_f64(*change);
                    }
                });
                let next = Point::of(x, &mut residuals);
                evaluations += 1;
                let gain = (at.value - next.value) / equations.promised(&step, damping);
                (gain > 0.0 && next.value.is_finite()).then_some((next, gain))
            });
            if let Some((next, gain)) = gained {
                at = next;
                equations = Equations::of(&at, coordinates(&jacobian(&at.x)), unknowns);
                damping *= (1.0 - (2.0 * gain - 1.0).powi(3)).max(1.0 / 3.0);
                growth = 2.0;
            } else {
                damping *= growth;
                growth *= 2.0;
            }
        };
        Minimum {
            gradient_norm: equations.gradient_norm(),
            x: at.x,
            value: at.value,
            iterations,
            evaluations,
            reason,
        }
    }
}

/// The normal equations at a point: `JᵀJ` and `Jᵀr`.
struct Equations {
    square: Vec<f64>,
    gradient: Vec<f64>,
    /// The scale of each unknown's damping: the curvature by it.
    scale: Vec<f64>,
}

impl Equations {
    fn of<P>(at: &Point<P>, jacobian: Vec<f64>, n: usize) -> Self {
        let expected = at.residuals.len() * n;
        assert_eq!(
            jacobian.len(),
            expected,
            "a Jacobian of {} residuals by {n} unknowns has {expected} coordinates",
            at.residuals.len()
        );
        let mut square = vec![0.0; n * n];
        let mut gradient = vec![0.0; n];
        for (row, r) in jacobian.chunks_exact(n.max(1)).zip(&at.residuals) {
            for (i, a) in row.iter().enumerate() {
                gradient[i] += a * r;
                for (sum, b) in square[i * n..].iter_mut().zip(row) {
                    *sum += a * b;
                }
            }
        }
        let largest = (0..n).map(|i| square[i * n + i]).fold(0.0, f64::max);
        // An unknown that nothing depends on stays where it is.
        let least = if largest > 0.0 { 1e-12 * largest } else { 1.0 };
        let scale = (0..n).map(|i| square[i * n + i].max(least)).collect();
        Equations {
            square,
            gradient,
            scale,
        }
    }

    fn gradient_norm(&self) -> f64 {
        self.gradient.iter().map(|g| g * g).sum::<f64>().sqrt()
    }

    /// The step with this damping, by Cholesky's factors; nothing if there are none.
    fn step(&self, damping: f64) -> Option<Vec<f64>> {
        let n = self.gradient.len();
        let mut l = self.square.clone();
        for i in 0..n {
            l[i * n + i] += damping * self.scale[i];
        }
        for i in 0..n {
            for j in 0..=i {
                let inner: f64 = (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum();
                let rest = l[i * n + j] - inner;
                l[i * n + j] = if i != j {
                    rest / l[j * n + j]
                } else if rest > 0.0 {
                    rest.sqrt()
                } else {
                    return None;
                };
            }
        }
        let mut x: Vec<f64> = self.gradient.iter().map(|g| -g).collect();
        for i in 0..n {
            let inner: f64 = (0..i).map(|k| l[i * n + k] * x[k]).sum();
            x[i] = (x[i] - inner) / l[i * n + i];
        }
        for i in (0..n).rev() {
            let inner: f64 = (i + 1..n).map(|k| l[k * n + i] * x[k]).sum();
            x[i] = (x[i] - inner) / l[i * n + i];
        }
        Some(x)
    }

    /// By how much the linear model says that a step lowers the value.
    fn promised(&self, step: &[f64], damping: f64) -> f64 {
        let terms = step.iter().zip(&self.gradient).zip(&self.scale);
        terms
            .map(|((s, g), scale)| 0.5 * s * (damping * scale * s - g))
            .sum()
    }
}
