//! Array functions in plain Rust syntax, compiled to fused parallel code and differentiated at compile time.

#[doc(hidden)]
pub mod __private {
    //! The only paths that generated code may name.

    pub use pointful_macros::link;
    pub use pointful_runtime::private::*;

    /// The body of a function that was rejected; the errors say why.
    pub fn rejected() -> ! {
        panic!("this function was rejected when it was compiled")
    }
}

pub use pointful_macros::{IndexSet, explain, pointful};
pub use pointful_runtime::{
    Axes, Buf, Compound, Dyn, Either, Element, Error, Extent, Fin, Float, IndexSet, Members,
    Number, Plain, Product, StaticSet, Table, View, stats,
};

#[cfg(feature = "npy")]
pub use pointful_runtime::{NpyElement, NpyError};

pub mod prelude {
    //! What most programs use: types, traits and derives.

    pub use crate::{Dyn, Either, Extent, Fin, Float, IndexSet, Table, explain, pointful};
}
