//! Idiom recognition: loops for which the runtime has a better one.

pub mod transpose;

pub use transpose::transpose;
