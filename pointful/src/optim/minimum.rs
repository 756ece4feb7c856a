//! What is found, and why no more was looked for.

use std::fmt;

/// Why an optimiser stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// The gradient is as small as was asked for.
    Converged,
    /// No step makes the value smaller: as near as the precision allows, or the derivatives are not
    /// those of the function.
    Stalled,
    /// As many iterations as are allowed.
    Iterations,
    /// The value or the gradient at the start is not finite.
    NotFinite,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Converged => "the gradient is small enough",
            Self::Stalled => "no step makes the value smaller",
            Self::Iterations => "as many iterations as are allowed",
            Self::NotFinite => "the value or gradient at the start is not finite",
        })
    }
}

/// What an optimiser found.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Minimum<P> {
    /// Where it is.
    pub x: P,
    /// The value there.
    pub value: f64,
    /// The Euclidean norm of the gradient there.
    pub gradient_norm: f64,
    /// How many steps were taken.
    pub iterations: usize,
    /// How often the function was asked for values.
    pub evaluations: usize,
    /// Why it stopped.
    pub reason: Reason,
}

impl<P> fmt::Display for Minimum<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "value {:e}, gradient {:e}, after {} iterations and {} evaluations: {}",
            self.value, self.gradient_norm, self.iterations, self.evaluations, self.reason
        )
    }
}
