//! Array functions in plain Rust syntax, compiled to fused parallel code and differentiated at compile time.
//!
//! A function marked [`#[pointful]`](macro@pointful) keeps its signature; its body is array code over typed index sets.
//! `for i in N { e }` is the table of `e` over all members of `N`, `for i in _` infers the set from how `i` is used, and
//! `sum`, `max`, `argmin` and their like reduce.
//!
//! ```
//! use pointful::prelude::*;
//!
//! #[pointful]
//! pub fn matmul<I: IndexSet, K: IndexSet, J: IndexSet>(
//!     a: &Table<(I, K), f64>,
//!     b: &Table<(K, J), f64>,
//! ) -> Table<(I, J), f64> {
//!     for (i, j) in _ { sum(for k in _ { a[i][k] * b[k][j] }) }
//! }
//!
//! let extent = Extent::<(Fin<2>, Fin<2>)>::new(((), ()));
//! let a = Table::from_vec(extent, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
//! assert_eq!(matmul(&a, &a).as_slice(), [7.0, 10.0, 15.0, 22.0]);
//! ```
//!
//! # Calling other functions
//!
//! A body may call any function marked `#[pointful]` that its module can name, of any module or crate, and use any constant and
//! index set of its module. Beside a function `f` stands a macro `f!`, its *companion*, by which other functions' expansions
//! come to its text; an import of the function brings both. So where rustc says
//!
//! ```text
//! error: cannot find macro `g` in this scope
//! ```
//!
//! at a call of `g` in a body, either `g` is not marked `#[pointful]`, or `g` calls, perhaps through others, the function that calls
//! it: functions are inlined, so they cannot be recursive.
//!
//! A function that names constants also emits a hidden type of its own name, which carries them. Where such a function
//! and its module have the same name (`mod solve; pub use solve::solve;`), one of them must be renamed.

// The standard library's expansions name this crate as users' expansions do.
extern crate self as pointful;

#[doc(hidden)]
pub mod __private;

pub use pointful_macros::{
    IndexSet, define, explain, grad, hessian, hvp, jacobian, jvp, linearize, pointful,
    value_and_grad, vjp, vmap,
};
pub use pointful_runtime::{
    Axes, Buf, Compound, Dyn, Either, Element, Error, Extent, Fin, Float, IndexSet, Members,
    Number, Plain, Product, StaticSet, Table, View, stats,
};

#[cfg(feature = "npy")]
pub use pointful_runtime::{NpyElement, NpyError};

pub mod prelude;
