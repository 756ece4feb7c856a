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

/// Every function of the preludes that texts are made of, in every type.
#[allow(dead_code, reason = "not every test that has kernels compiles them")]
pub(crate) static LANGUAGE: Unit = Unit {
    name: "language.cu",
    text: include_str!("language.cu"),
    kernels: &[
        kernel("elementary_f32"),
        kernel("elementary_f64"),
        kernel("arithmetic_i8"),
        kernel("arithmetic_i16"),
        kernel("arithmetic_i32"),
        kernel("arithmetic_i64"),
        kernel("arithmetic_u8"),
        kernel("arithmetic_u16"),
        kernel("arithmetic_u32"),
        kernel("arithmetic_u64"),
    ],
    definitions: &[],
};

const fn kernel(name: &'static str) -> Kernel {
    Kernel { name, block: 256 }
}
