//! The same computations in pointful and in hand-written Rust, on the inputs that other systems
//! get: see `README.md` beside this crate.
//!
//! A module a workload: its functions as a user of pointful writes them, the same by hand, and
//! small inputs for the tests. [`WORKLOADS`] lists them; what other systems do is in `workloads/`
//! under the same name.

mod inputs;
mod task;

pub use inputs::Inputs;
pub use task::{By, Task};

/// Why a workload cannot be run.
pub type Failure = Box<dyn std::error::Error>;

/// Something to compute.
#[derive(Clone, Copy)]
pub struct Workload {
    /// What it is called here and in `workloads/`.
    pub name: &'static str,
    /// Inputs that are quickly computed with.
    pub small: fn() -> Inputs,
    /// What can be computed of inputs.
    pub open: fn(&Inputs) -> Result<Vec<Task>, Failure>,
}

macro_rules! workloads {
    ($($name:ident,)*) => {
        $(pub mod $name;)*

        /// All there are.
        pub const WORKLOADS: &[Workload] = &[
            $(Workload { name: stringify!($name), small: $name::small, open: $name::open },)*
        ];
    };
}

// One a line, in alphabetical order.
workloads! {
    asian_option,
    attention,
    ba,
    batchnorm,
    blackscholes,
    convnet,
    d2q9,
    d3q19,
    embedding,
    filterbank,
    gmm,
    gp,
    histogram,
    hmm,
    hotspot,
    kmeans,
    layernorm,
    logistic,
    lorenz,
    lstm,
    machine,
    matmul,
    message_passing,
    mlp,
    mriq,
    nbody,
    neural_ode,
    pathfinder,
    rsbench,
    softdtw,
    sparse_kmeans,
    stencil,
    xsbench,
}
