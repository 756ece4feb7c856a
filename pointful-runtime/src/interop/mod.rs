//! Exchange of data with other crates.

mod ndarray;
