//! The stages: which operations may occur at each.

pub mod bulk;
pub mod kernels;
pub mod point;
