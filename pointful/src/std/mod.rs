//! The standard library: small functions of arrays, written in pointful.
//!
//! They are imported by name, `use pointful::lib::{dot, softmax};`, and are called from bodies,
//! where they fuse with what is around them, or from plain Rust. They are generic in the float,
//! `f32` or `f64`, and in index sets, and what gives floats can be differentiated.
//!
//! ```
//! use pointful::lib::{dot, logsumexp, matvec};
//! use pointful::prelude::*;
//!
//! #[pointful]
//! fn cross_entropy<C: IndexSet, D: IndexSet>(w: &Table<(C, D), f64>, x: &Table<D, f64>, class: C) -> f64 {
//!     let scores = matvec(w, x);
//!     logsumexp(scores) - scores[class]
//! }
//!
//! let w = Table::from_vec(Extent::<(Fin<2>, Fin<3>)>::default(), vec![0.0; 6])?;
//! let x = Table::from_vec(Extent::<Fin<3>>::default(), vec![1.0, 2.0, 3.0])?;
//! assert_eq!(dot(&x, &x), 14.0);
//! let slopes = grad!(cross_entropy, wrt = w)(&w, &x, Fin::<2>::from_ordinal(0, Extent::default()));
//! assert_eq!(slopes.as_slice(), [-0.5, -1.0, -1.5, 0.5, 1.0, 1.5]);
//! # Ok::<(), pointful::Error>(())
//! ```
//!
//! # Axes
//!
//! A parameter over one set `N` takes the whole index set of its argument, of any rank: `norm` of a
//! matrix is the root of the sum of all its squares. What is meant of each row is written so:
//! `for i in I { softmax(x[i]) }`. A parameter over `(I, J)` has two axes, and a body may pass
//! more: axes in front are lifted over, so that `matmul` of two tables over `(B, I, K)` and
//! `(B, K, J)` is a table over `(B, I, J)`. What takes a number, as `relu` does, applies to each
//! element of a table.

mod convolution;
mod cumulative;
mod dense;
mod interpolation;
mod linear;
mod norms;
mod numbers;
mod order;
mod random;
mod roots;
mod scores;
mod special;
mod statistics;

pub use convolution::*;
pub use cumulative::*;
pub use dense::*;
pub use interpolation::*;
pub use linear::*;
pub use norms::*;
pub use numbers::*;
pub use order::*;
pub use random::*;
pub use roots::*;
pub use scores::*;
pub use special::*;
pub use statistics::*;
