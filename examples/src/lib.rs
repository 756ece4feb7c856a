//! What the examples share: the benchmark suites' data, pictures and figures, progress bars, a way
//! down a gradient, and finite differences to check gradients by.

use std::path::PathBuf;

pub mod differences;
pub mod figure;
pub mod futhark;
pub mod mixture;
pub mod progress;

/// A file of `examples/data`.
pub fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("data")
        .join(name)
}

/// Where an example leaves a picture: `target/pictures`.
///
/// # Panics
/// If the folder cannot be made.
pub fn picture(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/pictures");
    std::fs::create_dir_all(&folder).expect("the folder for pictures can be made");
    folder
        .canonicalize()
        .expect("the folder is there")
        .join(name)
}
