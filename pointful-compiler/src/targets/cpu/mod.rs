//! The host's processor: passes over kernels that only its caches and vectors want.

pub mod distribute;
pub mod idioms;
pub mod loop_skewing;
pub mod multiversioning;
pub mod online_softmax;
pub mod outline;
pub mod pack_operands;
pub mod parallelization;
pub mod privatize;
pub mod rust;
pub mod serial_version;
pub mod speculate;
pub mod split;
mod statements;
pub mod tiling;
pub mod time_tiling;
pub mod vectorize;
mod versioning;

pub use distribute::distribute;
pub use loop_skewing::loop_skewing;
pub use multiversioning::multiversioning;
pub use online_softmax::online_softmax;
pub use outline::outline;
pub use pack_operands::pack_operands;
pub use parallelization::parallelization;
pub use serial_version::serial_version;
pub use split::split;
pub use tiling::tiling;
pub use time_tiling::time_tiling;
