//! Devices: passes over kernels that only they want, and what is printed for them.

pub mod cuda;
pub mod map;
mod missing;

pub use map::map;
pub use missing::Missing;
