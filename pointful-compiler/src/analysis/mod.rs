//! Analyses: what holds of a program. Passes ask them; they change nothing.

pub(crate) mod accesses;
pub(crate) mod affine;
pub(crate) mod angles;
pub(crate) mod cost;
pub(crate) mod dataflow;
pub(crate) mod dependence;
pub(crate) mod effects;
pub(crate) mod indices;
pub(crate) mod moves;
pub(crate) mod numbers;
pub(crate) mod parts;
pub(crate) mod pinned;
pub(crate) mod uniformity;
