//! Adam (Kingma and Ba, 2015): steps against a gradient, each coordinate scaled by how large its slopes have been.

/// How far the averages of slopes and of their squares reach back.
const MEMORY: (f64, f64) = (0.9, 0.999);

/// The state of a descent.
pub struct Adam {
    rate: f64,
    steps: i32,
    slopes: Vec<f64>,
    squares: Vec<f64>,
}

impl Adam {
    /// A descent whose steps are about `rate` in each coordinate.
    pub fn new(rate: f64) -> Self {
        Adam {
            rate,
            steps: 0,
            slopes: Vec::new(),
            squares: Vec::new(),
        }
    }

    /// Moves `x` against its `gradient`.
    ///
    /// # Panics
    /// If their lengths differ, from each other or from those of the step before.
    pub fn step(&mut self, x: &mut [f64], gradient: &[f64]) {
        if self.steps == 0 {
            self.slopes = vec![0.0; x.len()];
            self.squares = vec![0.0; x.len()];
        }
        assert!(x.len() == gradient.len() && x.len() == self.slopes.len());
        self.steps += 1;
        // Both averages begin at zero, from which this frees them.
        let bias = (
            1.0 - MEMORY.0.powi(self.steps),
            1.0 - MEMORY.1.powi(self.steps),
        );
        for (k, &slope) in gradient.iter().enumerate() {
            self.slopes[k] += (1.0 - MEMORY.0) * (slope - self.slopes[k]);
            self.squares[k] += (1.0 - MEMORY.1) * (slope * slope - self.squares[k]);
            let size = (self.squares[k] / bias.1).sqrt();
            x[k] -= self.rate * self.slopes[k] / bias.0 / (size + 1e-12);
        }
    }
}

#[test]
fn finds_the_bottom_of_a_long_valley() {
    let mut adam = Adam::new(0.05);
    let mut x = [3.0, -2.0];
    for _ in 0..2000 {
        let slope = [2.0 * (x[0] - 1.0), 200.0 * (x[1] - 0.5)];
        adam.step(&mut x, &slope);
    }
    assert!(
        (x[0] - 1.0).abs() < 1e-3 && (x[1] - 0.5).abs() < 1e-3,
        "{x:?}"
    );
}
