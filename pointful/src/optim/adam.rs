//! Adam (Kingma and Ba, 2015) and AdamW (Loshchilov and Hutter, 2019).

use crate::{Float, VectorSpace};

/// Steps against a gradient, each coordinate scaled by how large its slopes have been.
///
/// ```
/// use pointful::optim::{Adam, Schedule};
///
/// let mut x = [3.0, -2.0];
/// let rates = Schedule::Cosine { first: 0.05, last: 0.0, steps: 2000 };
/// let mut adam = Adam::new(rates.rate(0), &x);
/// for step in 0..2000 {
///     adam.rate = rates.rate(step);
///     let slope = [2.0 * (x[0] - 1.0), 200.0 * (x[1] - 0.5)];
///     adam.step(&mut x, &slope);
/// }
/// assert!((x[0] - 1.0_f64).abs() < 1e-3 && (x[1] - 0.5).abs() < 1e-3);
/// ```
#[derive(Clone, Debug)]
pub struct Adam<P> {
    /// How far a step goes in each coordinate, about.
    pub rate: f64,
    memory: (f64, f64),
    epsilon: f64,
    decay: f64,
    steps: i32,
    /// The averages of slopes and of their squares.
    averages: (P, P),
}

impl<P: VectorSpace + Clone> Adam<P> {
    /// A descent from `x` whose steps are about `rate` in each coordinate.
    pub fn new(rate: f64, x: &P) -> Self {
        Adam {
            rate,
            memory: (0.9, 0.999),
            epsilon: 1e-8,
            decay: 0.0,
            steps: 0,
            averages: (x.zeros_like(), x.zeros_like()),
        }
    }

    /// How far the averages of slopes and of their squares reach back: 0.9 and 0.999 if nothing is
    /// said.
    #[must_use]
    pub fn memory(mut self, slopes: f64, squares: f64) -> Self {
        self.memory = (slopes, squares);
        self
    }

    /// What is added to the root of the average square, so that slopes much smaller than it make
    /// small steps: 1e-8 if nothing is said.
    #[must_use]
    pub fn epsilon(mut self, epsilon: f64) -> Self {
        self.epsilon = epsilon;
        self
    }

    /// AdamW: each step takes the part `rate * decay` from every coordinate, beside what the
    /// gradient does.
    #[must_use]
    pub fn decay(mut self, decay: f64) -> Self {
        self.decay = decay;
        self
    }

    /// Moves `x` against its `gradient`.
    ///
    /// # Panics
    /// If the shape of either is not that of the beginning.
    pub fn step(&mut self, x: &mut P, gradient: &P) {
        let of = P::Scalar::from_f64;
        self.steps = self.steps.saturating_add(1);
        let (slopes, squares) = &mut self.averages;
        let part = of(1.0 - self.memory.0);
        slopes.update_with(gradient, |mean, slope| mean + part * (slope - mean));
        let part = of(1.0 - self.memory.1);
        squares.update_with(gradient, |mean, slope| mean + part * (slope * slope - mean));
        // Both averages begin at zero, from which this frees them.
        let bias = |memory: f64| of(1.0 - memory.powi(self.steps));
        let (bias, bias_of_squares) = (bias(self.memory.0), bias(self.memory.1));
        let epsilon = of(self.epsilon);
        let step = slopes.map_with(squares, |slope, square| {
            slope / bias / ((square / bias_of_squares).sqrt() + epsilon)
        });
        x.scale(of(1.0 - self.rate * self.decay));
        x.axpy(of(-self.rate), &step);
    }
}
