//! Optimisers in plain Rust, over anything that is a vector: a float, a table, a struct of all that
//! is learnt.
//!
//! They take values and derivatives from closures, as `value_and_grad!`, `hvp!` and `jacobian!`
//! make them:
//!
//! ```
//! use pointful::optim::{Lbfgs, Reason};
//! use pointful::prelude::*;
//!
//! #[pointful]
//! fn rosenbrock<N: IndexSet>(x: &Table<N, f64>) -> f64 {
//!     sum(for i in N.skip(1) { 100.0 * (x[i] - x[i - 1].powi(2)).powi(2) + (1.0 - x[i - 1]).powi(2) })
//! }
//!
//! let start = Table::<Fin<2>, f64>::from([-1.2, 1.0]);
//! let found = Lbfgs::default().minimize(start, |x| value_and_grad!(rosenbrock)(x));
//! assert_eq!(found.reason, Reason::Converged);
//! assert!((found.x.as_slice()[1] - 1.0).abs() < 1e-6, "{found:?}");
//! ```
//!
//! [`Sgd`] and [`Adam`] are steps, for loops of one's own, with rates by a [`Schedule`]. [`Lbfgs`],
//! [`NewtonCg`] and [`LevenbergMarquardt`] run until they are done and say why in a [`Minimum`].

mod adam;
mod lbfgs;
mod levenberg_marquardt;
mod minimum;
mod newton_cg;
mod schedule;
mod sgd;
mod wolfe;

pub use adam::Adam;
pub use lbfgs::Lbfgs;
pub use levenberg_marquardt::LevenbergMarquardt;
pub use minimum::{Minimum, Reason};
pub use newton_cg::NewtonCg;
pub use schedule::Schedule;
pub use sgd::Sgd;
