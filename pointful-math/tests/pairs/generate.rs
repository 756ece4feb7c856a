//! Pairs of numbers that are hard for one function or another.

use crate::Function;

/// A format of floats, of which all are `f64` as well.
#[derive(Clone, Copy)]
pub(crate) struct Format {
    /// Bits behind the point.
    pub(crate) mantissa: u32,
    /// The exponent of the largest numbers, and of the smallest normal ones.
    pub(crate) most: i32,
    pub(crate) least: i32,
}

pub(crate) const DOUBLE: Format = Format {
    mantissa: 52,
    most: 1023,
    least: -1022,
};

pub(crate) const SINGLE: Format = Format {
    mantissa: 23,
    most: 127,
    least: -126,
};

/// Deterministic numbers.
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In `0..below`.
    pub(crate) fn below(&mut self, below: u64) -> u64 {
        self.bits() % below
    }

    /// Evenly spread in a range.
    pub(crate) fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / (1_u64 << 53) as f64)
    }

    fn sign(&mut self) -> f64 {
        if self.bits() & 1 == 0 { 1.0 } else { -1.0 }
    }
}

/// 2ᵏ, also where that is subnormal.
pub(crate) fn power(k: i32) -> f64 {
    let half = k / 2;
    2.0_f64.powi(half) * 2.0_f64.powi(k - half)
}

impl Format {
    pub(crate) const fn smallest(self) -> i32 {
        self.least - self.mantissa as i32
    }

    /// The number of this format next to an `f64`.
    pub(crate) fn round(self, x: f64) -> f64 {
        if self.mantissa == 23 {
            f64::from(x as f32)
        } else {
            x
        }
    }

    /// A few places further in the format.
    fn moved(self, x: f64, places: i64) -> f64 {
        if self.mantissa == 23 {
            let bits = i64::from((x as f32).to_bits()) + places;
            f64::from(f32::from_bits(bits as u32))
        } else {
            f64::from_bits((x.to_bits() as i64 + places) as u64)
        }
    }

    /// A number with this exponent: its mantissa all zeros, all ones, or any, by `kind`. Subnormal
    /// ones have fewer bits.
    fn number(self, exponent: i32, kind: u64, noise: &mut Noise) -> f64 {
        let units = 1_u64 << self.mantissa;
        let mantissa = match kind {
            0 => 0,
            1 => units - 1,
            _ => noise.below(units),
        };
        let shift = (self.least - exponent).max(0);
        let whole = (units + mantissa) >> shift;
        let unit = power(exponent - self.mantissa as i32 + shift);
        noise.sign() * (whole as f64 * unit)
    }

    /// Any finite number, all magnitudes alike.
    fn any(self, noise: &mut Noise) -> f64 {
        let exponents = (self.most - self.smallest() + 1) as u64;
        let exponent = self.smallest() + noise.below(exponents) as i32;
        self.number(exponent, 2, noise)
    }

    /// Every pair of exponents of a coarse grid, with all three kinds of mantissas.
    pub(crate) fn grid(self, step: usize, mut take: impl FnMut(f64, f64)) {
        let mut noise = Noise(1);
        let exponents = || (self.smallest()..=self.most).rev().step_by(step);
        for (a, b) in exponents().flat_map(|a| exponents().map(move |b| (a, b))) {
            for kinds in 0..9 {
                let (x, y) = (
                    self.number(a, kinds / 3, &mut noise),
                    self.number(b, kinds % 3, &mut noise),
                );
                take(x, y);
            }
        }
    }

    /// Pairs at and around which something changes in a function, or its results are about to leave
    /// the format.
    pub(crate) fn hard(
        self,
        function: Function,
        seed: u64,
        count: usize,
        mut take: impl FnMut(f64, f64),
    ) {
        let mut noise = Noise(seed);
        for k in 0..count {
            let (a, b) = match function {
                Function::Powf => self.hard_power(k % 6, &mut noise),
                Function::Atan2 => self.hard_angle(k % 6, &mut noise),
                Function::Hypot => self.hard_length(k % 5, &mut noise),
            };
            let (a, b) = (self.round(a), self.round(b));
            if a.is_finite() && b.is_finite() {
                take(a, b);
            }
        }
    }

    fn hard_power(self, kind: usize, noise: &mut Noise) -> (f64, f64) {
        let logarithm = |x: f64| {
            let away = x.abs() - 1.0;
            if away.abs() < 0.1 {
                away.ln_1p()
            } else {
                x.abs().ln()
            }
        };
        let (smallest, most) = (f64::from(self.smallest()), f64::from(self.most) + 1.0);
        let exponent =
            |noise: &mut Noise| noise.within(smallest - 2.0, most + 1.0) * std::f64::consts::LN_2;
        match kind {
            // Results at the borders: of what is finite, normal, and not zero.
            0 | 1 => {
                let border = [most, f64::from(self.least), smallest, smallest - 1.0]
                    [noise.below(4) as usize];
                let x = if kind == 0 {
                    self.any(noise).abs()
                } else {
                    noise.within(0.3, 3.0)
                };
                let y = border * std::f64::consts::LN_2 / logarithm(self.round(x));
                (x, self.moved(self.round(y), noise.below(9) as i64 - 4))
            }
            // A base next to one, and a huge exponent.
            2 => {
                let size = noise.below(u64::from(self.mantissa));
                let places = 1 + noise.below(1 << size);
                let x = self.moved(
                    1.0,
                    if noise.bits() & 1 == 0 {
                        places as i64
                    } else {
                        -(places as i64)
                    },
                );
                (x, exponent(noise) / logarithm(x))
            }
            // Results of every size.
            3 => {
                let x = self.any(noise).abs();
                (x, exponent(noise) / logarithm(x))
            }
            // Powers of negative numbers are of integers.
            4 => {
                let x = self.number(noise.below(20) as i32 - 10, 2, noise);
                (x, (exponent(noise) / logarithm(x)).round())
            }
            // Results next to one.
            _ => {
                let x = self.any(noise).abs();
                let small = noise.below(u64::from(self.mantissa) + 4) as i32;
                (
                    x,
                    noise.sign() * power(-small) * noise.within(1.0, 2.0) / logarithm(x),
                )
            }
        }
    }

    fn hard_angle(self, kind: usize, noise: &mut Noise) -> (f64, f64) {
        let middle = |noise: &mut Noise| noise.below(40) as i32 - 20;
        match kind {
            // Near an axis, or not quite.
            0 => {
                let exponent = middle(noise);
                let ratio = noise.below(2 * u64::from(self.mantissa) + 16) as i32;
                let (far, near) = (
                    self.number(exponent, 2, noise),
                    self.number(exponent - ratio, 2, noise),
                );
                if noise.bits() & 1 == 0 {
                    (far, near)
                } else {
                    (near, far)
                }
            }
            // Next to the angles at which another formula begins: π/8, π/4 and 3π/8.
            1 => {
                let x = self.number(middle(noise), 2, noise);
                let ratio = [
                    std::f64::consts::SQRT_2 - 1.0,
                    1.0,
                    std::f64::consts::SQRT_2 + 1.0,
                ];
                let y = self.round(x * ratio[noise.below(3) as usize]);
                (noise.sign() * self.moved(y, noise.below(17) as i64 - 8), x)
            }
            // Quotients at the borders of what is normal, and of what is not zero.
            2 | 3 => {
                let border = if kind == 2 {
                    self.least
                } else {
                    self.smallest()
                };
                let up = noise.below((self.most + border + 1 - self.smallest()) as u64) as i32;
                let off = noise.below(5) as i32 - 2;
                let exponent = self.smallest() + up;
                let (a, b) = (noise.below(3), noise.below(3));
                let y = self.number(exponent, a, noise);
                (
                    y,
                    self.number((exponent - border + off).min(self.most), b, noise)
                        .abs(),
                )
            }
            4 => (self.any(noise), self.any(noise)),
            _ => (
                self.number(middle(noise), 2, noise),
                self.number(middle(noise), 2, noise),
            ),
        }
    }

    fn hard_length(self, kind: usize, noise: &mut Noise) -> (f64, f64) {
        let units = 1_u64 << self.mantissa;
        let largest = (2.0 - power(-(self.mantissa as i32))) * power(self.most);
        match kind {
            // Lengths at the border of what is finite.
            0 => {
                let angle = noise.within(0.0, std::f64::consts::FRAC_PI_2);
                let (x, y) = (
                    self.round(largest * angle.cos()),
                    self.round(largest * angle.sin()),
                );
                (self.moved(x, noise.below(9) as i64 - 4), y)
            }
            // One that hardly matters beside the other.
            1 => {
                let exponent =
                    self.smallest() + noise.below((self.most - self.smallest() + 1) as u64) as i32;
                let ratio = noise.below(u64::from(self.mantissa) + 4) as i32;
                let (a, b) = (noise.below(3), noise.below(3));
                (
                    self.number(exponent, a, noise),
                    self.number((exponent - ratio).max(self.smallest()), b, noise),
                )
            }
            // Small multiples of the smallest number.
            2 => {
                let most = 1 << (1 + noise.below(u64::from(self.mantissa)));
                let unit = power(self.smallest());
                (
                    noise.below(most) as f64 * unit,
                    noise.below(most.min(units)) as f64 * unit,
                )
            }
            3 => (self.any(noise), self.any(noise)),
            _ => {
                let exponent = noise.below(9) as i32 - 4;
                (self.number(exponent, 2, noise), self.number(0, 2, noise))
            }
        }
    }
}
