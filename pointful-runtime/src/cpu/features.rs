//! Which vector instructions there are, and kernels compiled for each level of them.

use std::ops::Range;
use std::sync::OnceLock;

use crate::kernel::Kernel;

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
    /// The level kernels run at: the highest this processor has and the environment allows. Determined once.
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

    /// Debug builds compile each kernel once, and other architectures have what they need in their baseline.
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
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    #[inline(always)]
    pub(crate) fn run<K: Kernel>(self, kernel: &K, range: Range<usize>, acc: &mut K::Acc) {
        match self {
            Level::Baseline => run_baseline(kernel, range, acc),
            // SAFETY: `detected` found every feature that the function enables, and `chosen` only lowers the level.
            Level::Avx2 => unsafe { run_avx2(kernel, range, acc) },
            // SAFETY: as above.
            Level::Avx512 => unsafe { run_avx512(kernel, range, acc) },
        }
    }

    /// Runs one piece of a kernel.
    #[cfg(not(all(target_arch = "x86_64", not(debug_assertions))))]
    #[inline(always)]
    pub(crate) fn run<K: Kernel>(self, kernel: &K, range: Range<usize>, acc: &mut K::Acc) {
        match self {
            Level::Baseline | Level::Avx2 | Level::Avx512 => run_baseline(kernel, range, acc),
        }
    }
}

#[inline(never)]
fn run_baseline<K: Kernel>(kernel: &K, range: Range<usize>, acc: &mut K::Acc) {
    kernel.run(range, acc);
}

#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
#[target_feature(enable = "avx2,fma,bmi1,bmi2")]
fn run_avx2<K: Kernel>(kernel: &K, range: Range<usize>, acc: &mut K::Acc) {
    kernel.run(range, acc);
}

#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn run_avx512<K: Kernel>(kernel: &K, range: Range<usize>, acc: &mut K::Acc) {
    kernel.run(range, acc);
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

    #[test]
    #[should_panic(expected = "POINTFUL_CPU is `sse9`, but must be `baseline`, `avx2` or `avx512`")]
    fn an_unknown_level_is_refused() {
        Level::chosen(Some("sse9"), Level::Avx2);
    }
}
