//! Targets: what a processor wants of the fused loops.

pub mod cpu;
pub mod gpu;
