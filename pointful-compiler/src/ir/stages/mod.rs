//! The stages: which operations may occur at each.

pub mod bulk;
pub mod cpu;
pub mod gpu;
pub mod imperative;
pub mod kernels;
pub mod point;
