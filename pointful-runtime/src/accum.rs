//! Accumulators in signatures.

use std::convert::Infallible;
use std::marker::PhantomData;

/// An accumulator of a `T`, as a `#[pointful]` function takes it from another one: `&mut Accum<T>`.
///
/// Accumulators exist in bodies only, so there are no values of this type in plain Rust.
#[derive(Debug)]
pub struct Accum<T> {
    never: Infallible,
    held: PhantomData<T>,
}

impl<T> Accum<T> {
    /// What is nowhere gives anything.
    #[doc(hidden)]
    pub fn never(&self) -> ! {
        let _ = self.held;
        match self.never {}
    }
}
