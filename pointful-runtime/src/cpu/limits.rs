//! Sizes from which on work is shared, noted or cut into tiles. Tests lower them, so that few
//! points run as many would.

/// A limit as it is usually, or as much lower as tests ask.
#[cfg(not(feature = "testing"))]
pub(crate) fn limit(usual: u64) -> u64 {
    usual
}

#[cfg(feature = "testing")]
pub(crate) use lowered::limit;

#[cfg(feature = "testing")]
pub(crate) mod lowered {
    use std::sync::atomic::{AtomicU32, Ordering};

    static BITS: AtomicU32 = AtomicU32::new(0);

    pub(crate) fn limit(usual: u64) -> u64 {
        usual >> BITS.load(Ordering::Relaxed)
    }

    /// From now on all limits of the process are a `2^bits`th of what they are usually.
    pub fn lower(bits: u32) {
        BITS.store(bits, Ordering::Relaxed);
    }
}
