//! What most programs use: types, traits, derives and macros. It has no functions, so that none
//! meets a user's.

pub use crate::{
    Accum, Dyn, Either, Extent, Fin, Float, IndexSet, Ragged, Table, Tables, VectorSpace,
};
#[cfg(any(feature = "cuda", feature = "emulated"))]
pub use crate::{Device, ToDevice};
// From where they are defined, because this crate has its own name, too, which is that of a macro.
pub use pointful_macros::{
    define, explain, grad, hessian, hvp, jacobian, jvp, linearize, pointful, try_call,
    value_and_grad, vjp, vmap,
};
