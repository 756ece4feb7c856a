//! Adam (Kingma and Ba, 2015): steps against a gradient, each coordinate scaled by how large its
//! slopes have been.

use pointful::prelude::*;

/// How far the averages of slopes and of their squares reach back.
const MEMORY: (f64, f64) = (0.9, 0.999);

/// A descent of vectors of some type: a table, or a struct of all that is learnt.
pub struct Adam<P> {
    rate: f64,
    steps: i32,
    /// The averages of slopes and of their squares.
    averages: (P, P),
}

impl<P: VectorSpace<Scalar = f64> + Clone> Adam<P> {
    /// A descent from `x` whose steps are about `rate` in each coordinate.
    pub fn new(rate: f64, x: &P) -> Self {
        Adam {
            rate,
            steps: 0,
            averages: (x.zeros_like(), x.zeros_like()),
        }
    }

    /// Moves `x` against its `gradient`.
    ///
    /// # Panics
    /// If the shape of either is not that of the beginning.
    pub fn step(&mut self, x: &mut P, gradient: &P) {
        self.steps += 1;
        let (slopes, squares) = &mut self.averages;
        slopes.update_with(gradient, |mean, slope| {
            mean + (1.0 - MEMORY.0) * (slope - mean)
        });
        squares.update_with(gradient, |mean, slope| {
            mean + (1.0 - MEMORY.1) * (slope * slope - mean)
        });
        // Both averages begin at zero, from which this frees them.
        let bias = (
            1.0 - MEMORY.0.powi(self.steps),
            1.0 - MEMORY.1.powi(self.steps),
        );
        let step = slopes.map_with(squares, |slope, square| {
            slope / bias.0 / ((square / bias.1).sqrt() + 1e-12)
        });
        x.axpy(-self.rate, &step);
    }
}

#[test]
fn finds_the_bottom_of_a_long_valley() {
    let mut x = [3.0, -2.0];
    let mut adam = Adam::new(0.05, &x);
    for _ in 0..2000 {
        let slope = [2.0 * (x[0] - 1.0), 200.0 * (x[1] - 0.5)];
        adam.step(&mut x, &slope);
    }
    assert!(
        (x[0] - 1.0).abs() < 1e-3 && (x[1] - 0.5).abs() < 1e-3,
        "{x:?}"
    );
}
