//! Which vector instructions there are, and kernels compiled for each level of them.

use std::ops::Range;
use std::sync::OnceLock;

use crate::kernel::{Kernel, Sequential};

/// A level of CPU features that kernels are compiled for; each includes the ones before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// What the target the program was compiled for guarantees.
    Baseline,
    /// x86-64 with 256-bit integers and fused multiply-add.
    Avx2,
    /// x86-64 with 512-bit vectors of every width of element.
    Avx512,
}

/// The environment variable that lowers the level, for tests and measurements.
const OVERRIDE: &str = "POINTFUL_CPU";

impl Level {
    /// The level kernels run at: the highest this processor has and the environment allows.
    /// Determined once.
    #[inline]
    pub(crate) fn current() -> Level {
        static CURRENT: OnceLock<Level> = OnceLock::new();
        *CURRENT.get_or_init(|| {
            let wish = std::env::var(OVERRIDE).ok();
            Level::chosen(wish.as_deref(), Level::detected())
        })
    }

    /// The highest level this processor has.
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    fn detected() -> Level {
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2");
        let avx512 = avx2
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        match (avx2, avx512) {
            (_, true) => Level::Avx512,
            (true, false) => Level::Avx2,
            (false, false) => Level::Baseline,
        }
    }

    /// Debug builds compile each kernel once, and other architectures have what they need in their
    /// baseline.
    #[cfg(not(all(target_arch = "x86_64", not(debug_assertions))))]
    fn detected() -> Level {
        Level::Baseline
    }

    /// What the environment asks for, as far as the processor has it.
    fn chosen(wish: Option<&str>, detected: Level) -> Level {
        let limit = match wish {
            None | Some("") => Level::Avx512,
            Some("baseline") => Level::Baseline,
            Some("avx2") => Level::Avx2,
            Some("avx512") => Level::Avx512,
            Some(other) => {
                panic!("{OVERRIDE} is `{other}`, but must be `baseline`, `avx2` or `avx512`")
            }
        };
        detected.min(limit)
    }

    /// Runs one piece of a kernel, compiled for this level.
    #[inline(always)]
    pub(crate) fn run<K: Kernel>(self, kernel: &K, range: Range<usize>, acc: &mut K::Acc) {
        let part = Part {
            rows: 1,
            columns: range,
            shared: false,
        };
        self.run_part(kernel, part, acc);
    }

    /// Runs some columns of a kernel's rows, compiled for this level.
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    #[inline(always)]
    pub(crate) fn run_part<K: Kernel>(self, kernel: &K, part: Part, acc: &mut K::Acc) {
        match self {
            Level::Baseline => run_baseline(kernel, part, acc),
            // SAFETY: `detected` found every feature that the function enables, and `chosen` only lowers the level.
            Level::Avx2 => unsafe { run_avx2(kernel, part, acc) },
            // SAFETY: as above.
            Level::Avx512 => unsafe { run_avx512(kernel, part, acc) },
        }
    }

    /// Runs some columns of a kernel's rows.
    #[cfg(not(all(target_arch = "x86_64", not(debug_assertions))))]
    #[inline(always)]
    pub(crate) fn run_part<K: Kernel>(self, kernel: &K, part: Part, acc: &mut K::Acc) {
        match self {
            Level::Baseline | Level::Avx2 | Level::Avx512 => run_baseline(kernel, part, acc),
        }
    }
}

/// Runs what the host does one step after the other, compiled for the processor at hand. Wider
/// vectors than those of AVX2 are for kernels: a third version would take longer to compile than it
/// saves.
#[inline(always)]
pub fn multiversion<S: Sequential>(steps: &S) -> S::Results {
    match Level::current() {
        Level::Baseline => sequential_baseline(steps),
        #[cfg(not(all(target_arch = "x86_64", not(debug_assertions))))]
        Level::Avx2 | Level::Avx512 => sequential_baseline(steps),
        // SAFETY: `detected` found every feature that the function enables.
        #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
        Level::Avx2 | Level::Avx512 => unsafe { sequential_avx2(steps) },
    }
}

#[inline(never)]
fn sequential_baseline<S: Sequential>(steps: &S) -> S::Results {
    steps.run()
}

#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
#[target_feature(enable = "avx2,fma,bmi1,bmi2")]
fn sequential_avx2<S: Sequential>(steps: &S) -> S::Results {
    steps.run()
}

/// Some columns of a kernel's first rows, or, of one row that is all of its points, a range of
/// them.
pub(crate) struct Part {
    pub(crate) rows: usize,
    pub(crate) columns: Range<usize>,
    /// Whether other pieces combine into the same tables.
    pub(crate) shared: bool,
}

impl Part {
    /// Each kernel's body is compiled once at each level.
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: &K, acc: &mut K::Acc) {
        match K::BY_COLUMNS {
            true => kernel.run_columns(self.rows, self.columns, self.shared, acc),
            false => kernel.run(self.columns, acc),
        }
    }
}

#[inline(never)]
fn run_baseline<K: Kernel>(kernel: &K, part: Part, acc: &mut K::Acc) {
    part.run(kernel, acc);
}

#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
#[target_feature(enable = "avx2,fma,bmi1,bmi2")]
fn run_avx2<K: Kernel>(kernel: &K, part: Part, acc: &mut K::Acc) {
    part.run(kernel, acc);
}

#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn run_avx512<K: Kernel>(kernel: &K, part: Part, acc: &mut K::Acc) {
    part.run(kernel, acc);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_only_lowers() {
        for detected in [Level::Baseline, Level::Avx2, Level::Avx512] {
            assert_eq!(Level::chosen(None, detected), detected);
            assert_eq!(Level::chosen(Some(""), detected), detected);
            assert_eq!(Level::chosen(Some("baseline"), detected), Level::Baseline);
            assert_eq!(
                Level::chosen(Some("avx2"), detected),
                detected.min(Level::Avx2)
            );
            assert_eq!(Level::chosen(Some("avx512"), detected), detected);
        }
    }

    /// A polynomial, a fused operation and a sum in independent lanes: what levels could round
    /// differently.
    struct Rounding<'a>(&'a [f64]);

    impl Kernel for Rounding<'_> {
        type Acc = [f64; 8];

        fn identity(&self) -> [f64; 8] {
            [0.0; 8]
        }

        #[inline(always)]
        fn run(&self, range: Range<usize>, lanes: &mut [f64; 8]) {
            for chunk in self.0[range].chunks_exact(8) {
                for (lane, &x) in lanes.iter_mut().zip(chunk) {
                    *lane +=
                        ((x * 0.3 + 0.7) * x - 1.1) * x + (x.mul_add(x, -0.1) / 3.0).abs().sqrt();
                }
            }
        }

        fn merge(&self, earlier: &mut [f64; 8], later: [f64; 8]) {
            for (a, b) in earlier.iter_mut().zip(later) {
                *a += b;
            }
        }
    }

    #[test]
    fn every_level_gives_the_same_bits() {
        let x: Vec<f64> = (0..4000)
            .map(|i| f64::from(i * i % 977) / 91.0 - 5.0)
            .collect();
        let kernel = Rounding(&x);
        let bits = |level: Level| {
            let mut lanes = kernel.identity();
            level.run(&kernel, 0..x.len(), &mut lanes);
            lanes.map(f64::to_bits)
        };
        // A debug build has the baseline only; a release build has what this processor has.
        for level in [Level::Avx2, Level::Avx512] {
            if level <= Level::detected() {
                assert_eq!(bits(level), bits(Level::Baseline), "{level:?}");
            }
        }
        assert!(
            bits(Level::Baseline)
                .iter()
                .all(|&lane| f64::from_bits(lane).is_finite())
        );
    }

    #[test]
    #[should_panic(expected = "POINTFUL_CPU is `sse9`, but must be `baseline`, `avx2` or `avx512`")]
    fn an_unknown_level_is_refused() {
        Level::chosen(Some("sse9"), Level::Avx2);
    }
}
