//! Derives: `#[derive(IndexSet)]`.

mod index_set;

pub use index_set::{index_set, is_refused};
