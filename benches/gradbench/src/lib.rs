//! The twelve evaluations of the GradBench suite, each the module of [`evals`] of its name, and the
//! suite's [`protocol`].

pub mod evals;
pub mod protocol;
pub mod tables;
