//! Programs and functions as the compiler emitted and rustc compiled them.

#![allow(
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    unused,
    reason = "lints of a user's crate do not see what macros make; here it is a file like any other"
)]

use pointful_runtime::{Dyn, Either, Extent, Fin, IndexSet, Table};

/// The programs of `build/programs.rs`.
pub mod programs {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/programs.rs"));
}

/// The functions of `functions.rs`.
pub mod functions {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/functions.rs"));
}

/// The functions of `derivatives.rs`.
pub mod derivatives {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/derivatives.rs"));
}

/// The functions of `angles.rs`.
pub mod angles {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/angles.rs"));
}

/// The functions of `diagonals.rs`.
pub mod diagonals {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/diagonals.rs"));
}

/// The functions of `steps.rs`.
pub mod steps {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/steps.rs"));
}

/// The functions of `stencils.rs`.
pub mod stencils {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/stencils.rs"));
}

/// The functions of `sequences.rs`.
pub mod sequences {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/sequences.rs"));
}

/// The functions of `scatters.rs`.
pub mod scatters {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/scatters.rs"));
}

/// The functions of `windows.rs`.
pub mod windows {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/windows.rs"));
}

/// The functions of `states.rs`.
pub mod states {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/states.rs"));
}

/// How long the compiler took for the functions of `build/speed.rs`, and how much it emitted.
pub mod speed {
    include!(concat!(env!("OUT_DIR"), "/speed.rs"));
}

/// Random programs, each with inputs and with what the interpreter says comes out.
pub mod random {
    use super::*;

    /// A result as numbers.
    trait Flat {
        fn flat(&self) -> Vec<f64>;
    }

    macro_rules! flat {
        ($($T:ty)*) => {$(
            impl Flat for $T {
                fn flat(&self) -> Vec<f64> {
                    vec![*self as f64]
                }
            }
            impl<I: IndexSet> Flat for Table<I, $T> {
                fn flat(&self) -> Vec<f64> {
                    self.as_slice().iter().map(|&x| x as f64).collect()
                }
            }
        )*};
    }
    flat!(f32 f64 i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

    impl Flat for bool {
        fn flat(&self) -> Vec<f64> {
            vec![f64::from(u8::from(*self))]
        }
    }
    impl<I: IndexSet> Flat for Table<I, bool> {
        fn flat(&self) -> Vec<f64> {
            self.as_slice()
                .iter()
                .map(|&x| f64::from(u8::from(x)))
                .collect()
        }
    }
    impl Flat for Dyn {
        fn flat(&self) -> Vec<f64> {
            vec![self.0 as f64]
        }
    }
    impl<const N: usize> Flat for Fin<N> {
        fn flat(&self) -> Vec<f64> {
            vec![self.get() as f64]
        }
    }
    impl<I: IndexSet> Flat for Table<I, Dyn> {
        fn flat(&self) -> Vec<f64> {
            self.ordinals().iter().map(|&x| x as f64).collect()
        }
    }
    impl<I: IndexSet, const N: usize> Flat for Table<I, Fin<N>> {
        fn flat(&self) -> Vec<f64> {
            self.ordinals().iter().map(|&x| x as f64).collect()
        }
    }

    include!(concat!(env!("OUT_DIR"), "/random.rs"));
}
