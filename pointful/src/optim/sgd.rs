//! Descent with momentum.

use crate::{Float, VectorSpace};

/// Stochastic gradient descent with momentum: steps against an average of gradients.
///
/// ```
/// use pointful::optim::Sgd;
///
/// let mut x = [3.0, -2.0];
/// let mut sgd = Sgd::new(0.1, &x).momentum(0.5);
/// for _ in 0..100 {
///     let slope = x.map(|x| 2.0 * (x - 1.0));
///     sgd.step(&mut x, &slope);
/// }
/// assert!(x.iter().all(|x| (x - 1.0_f64).abs() < 1e-9));
/// ```
#[derive(Clone, Debug)]
pub struct Sgd<P> {
    /// How far a step goes, times the gradient.
    pub rate: f64,
    momentum: f64,
    velocity: P,
}

impl<P: VectorSpace + Clone> Sgd<P> {
    /// A descent from `x`, without momentum.
    pub fn new(rate: f64, x: &P) -> Self {
        Sgd {
            rate,
            momentum: 0.0,
            velocity: x.zeros_like(),
        }
    }

    /// How much of one step the next one keeps, from 0 to 1.
    #[must_use]
    pub fn momentum(mut self, momentum: f64) -> Self {
        self.momentum = momentum;
        self
    }

    /// Moves `x` against its `gradient`.
    ///
    /// # Panics
    /// If the shape of either is not that of the beginning.
    pub fn step(&mut self, x: &mut P, gradient: &P) {
        self.velocity.scale(P::Scalar::from_f64(self.momentum));
        self.velocity.axpy(P::Scalar::from_f64(1.0), gradient);
        x.axpy(P::Scalar::from_f64(-self.rate), &self.velocity);
    }
}
