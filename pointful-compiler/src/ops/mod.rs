//! Operations on scalars: what they are called, what types they take and give.

mod prim;

pub use prim::{Prim, PrimError, Unknown};
