//! The only paths that generated code may name.

pub use pointful_macros::__link;
pub use pointful_runtime::private::*;

/// The body of a function that has errors: the program does not compile, so this never runs.
pub fn failed(function: &str) -> ! {
    panic!("`{function}` was not compiled")
}

/// The body of a function that only other `#[pointful]` functions can call.
pub fn only_inlined(function: &str) -> ! {
    panic!(
        "`{function}` takes functions or is generic in its float type: so far it can be called by other `#[pointful]` functions only"
    )
}
