//! Kernels written by hand, for the emulated device and for NVRTC.

use pointful_runtime::cuda::{Kernel, Unit};

/// The kernels, with `BINS` bins.
pub(crate) static KERNELS: Unit = Unit {
    name: "kernels.cu",
    text: include_str!("kernels.cu"),
    kernels: &[
        Kernel {
            name: "saxpy",
            block: 256,
        },
        Kernel {
            name: "total",
            block: 256,
        },
        Kernel {
            name: "warp_total",
            block: 32,
        },
        Kernel {
            name: "histogram",
            block: 128,
        },
        Kernel {
            name: "life",
            block: 64,
        },
    ],
    definitions: &[("BINS", "5")],
};
