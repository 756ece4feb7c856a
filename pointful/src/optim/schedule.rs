//! Rates that change with steps.

use std::f64::consts::PI;

/// How the rate of a descent changes with its steps.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Schedule {
    /// The same rate always.
    Constant(f64),
    /// `first` times `factor` to the power of the step.
    Exponential {
        /// The rate of step 0.
        first: f64,
        /// What each step multiplies by.
        factor: f64,
    },
    /// From `first` to `last` along half a period of a cosine, and `last` from there on.
    Cosine {
        /// The rate of step 0.
        first: f64,
        /// The rate of step `steps` and all that follow.
        last: f64,
        /// How long it takes.
        steps: usize,
    },
    /// From 0 in a straight line to `rate` at step `rising`, then along a cosine to 0 at `steps`.
    Warm {
        /// The largest rate.
        rate: f64,
        /// How many steps it rises.
        rising: usize,
        /// The step from which on the rate is 0.
        steps: usize,
    },
}

impl Schedule {
    /// The rate of a step; the first one is step 0.
    pub fn rate(&self, step: usize) -> f64 {
        match *self {
            Self::Constant(rate) => rate,
            Self::Exponential { first, factor } => first * factor.powf(step as f64),
            Self::Cosine { first, last, steps } => {
                if step >= steps {
                    return last;
                }
                let turned = (PI * step as f64 / steps as f64).cos();
                last + 0.5 * (first - last) * (1.0 + turned)
            }
            Self::Warm {
                rate,
                rising,
                steps,
            } => {
                if step < rising {
                    return rate * step as f64 / rising as f64;
                }
                let falling = Self::Cosine {
                    first: rate,
                    last: 0.0,
                    steps: steps.saturating_sub(rising),
                };
                falling.rate(step - rising)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Schedule::{Constant, Cosine, Exponential, Warm};

    #[test]
    fn rates_by_steps() {
        assert_eq!(Constant(0.5).rate(7), 0.5);
        let halves = Exponential {
            first: 1.0,
            factor: 0.5,
        };
        assert_eq!([halves.rate(0), halves.rate(3)], [1.0, 0.125]);
        let cosine = Cosine {
            first: 1.0,
            last: 0.5,
            steps: 10,
        };
        assert_eq!(
            [0, 5, 10, 99].map(|k| cosine.rate(k)),
            [1.0, 0.75, 0.5, 0.5]
        );
        let warm = Warm {
            rate: 2.0,
            rising: 4,
            steps: 8,
        };
        assert_eq!(
            [0, 2, 4, 6, 8, 9].map(|k| warm.rate(k)),
            [0.0, 1.0, 2.0, 1.0, 0.0, 0.0]
        );
    }
}
