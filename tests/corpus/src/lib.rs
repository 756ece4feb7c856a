//! The programs of `build/programs.rs`, as the emitter and rustc compiled them.

#![deny(unsafe_op_in_unsafe_fn)]
#![allow(
    clippy::all,
    reason = "the lints of the user's crate do not see what macros make; here it is a file"
)]
#![allow(unused, clippy::undocumented_unsafe_blocks, reason = "as above")]

use pointful_runtime::{Dyn, Extent, Fin, Table};

include!(concat!(env!("OUT_DIR"), "/programs.rs"));
