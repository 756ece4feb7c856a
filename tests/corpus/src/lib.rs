//! Programs and functions as the compiler emitted and rustc compiled them.

#![allow(
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    unused,
    reason = "lints of a user's crate do not see what macros make; here it is a file like any other"
)]

use pointful_runtime::{Dyn, Extent, Fin, IndexSet, Table};

/// The programs of `build/programs.rs`.
pub mod programs {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/programs.rs"));
}

/// The functions of `functions.rs`.
pub mod functions {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/functions.rs"));
}
