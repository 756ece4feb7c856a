//! Deterministic numbers for inputs that no file holds.

/// An endless sequence of numbers that look random (splitmix64).
#[derive(Clone, Debug)]
pub struct Noise {
    state: u64,
}

impl Noise {
    /// The sequence of that number.
    pub fn new(seed: u64) -> Self {
        Noise { state: seed }
    }

    /// The next, in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The next `n`, in `[-1, 1)`.
    pub fn vec(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| 2.0 * self.unit() - 1.0).collect()
    }

    /// The next as a number below `n`.
    ///
    /// # Panics
    /// If `n` is zero.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "no number is below zero");
        ((self.unit() * n as f64) as usize).min(n - 1)
    }
}
