//! The objectives of the ADBench suite (Šrajer, Kukelova, Fitzgibbon 2018), with the suite's data
//! and data like it.
//!
//! Each module has the objective, its derivative as the suite asks for it, and inputs: read from a
//! file, or made to a size.

use std::path::PathBuf;

pub mod ba;
pub mod gmm;
pub mod hand;
pub mod lstm;
pub mod noise;
pub mod read;

/// The path of a shipped file.
pub fn data(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "data", name].iter().collect()
}
