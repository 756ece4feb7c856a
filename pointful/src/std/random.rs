//! Random numbers that are functions of a key: Threefry of Salmon, Moraes, Dror and Shaw (2011).
//!
//! A key is not changed by what is drawn with it, so a number depends on nothing but its key: not
//! on threads, on the order of loops, or on what else is drawn, and the way back of a derivative
//! meets the numbers of the way there. Two numbers drawn with one key are one number, so each place
//! draws with a key of its own, which [`fold`](fn@fold) makes of a key and of where one is:
//!
//! ```
//! use pointful::lib::{Key, fold, key, normal};
//! use pointful::prelude::*;
//!
//! #[pointful]
//! fn noisy<N: IndexSet>(x: &Table<N, f64>, spread: f64, key: Key) -> Table<N, f64> {
//!     for i in N { x[i] + spread * normal(fold(key, i.ordinal())) }
//! }
//!
//! let x = Table::<Dyn, f64>::zeros(1000);
//! let y = noisy(&x, 2.0, key(7));
//! assert_eq!(y, noisy(&x, 2.0, key(7)));
//! let moments = (y.iter().sum::<f64>() / 1000.0, y.iter().map(|y| y * y).sum::<f64>() / 1000.0);
//! assert!(moments.0.abs() < 0.2 && (moments.1 - 4.0).abs() < 0.5);
//! ```

use super::special::normal_quantile;
use crate::prelude::*;

/// What random numbers are functions of: made by [`key`](fn@key), [`fold`](fn@fold) and
/// [`split`](fn@split).
#[pointful]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    /// The first word.
    pub high: u32,
    /// The second word.
    pub low: u32,
}

/// Four rounds, by their rotations.
#[pointful]
fn four_rounds(x: u32, y: u32, rotations: (u32, u32, u32, u32)) -> (u32, u32) {
    let x = x + y;
    let y = y.rotate_left(rotations.0) ^ x;
    let x = x + y;
    let y = y.rotate_left(rotations.1) ^ x;
    let x = x + y;
    let y = y.rotate_left(rotations.2) ^ x;
    let x = x + y;
    let y = y.rotate_left(rotations.3) ^ x;
    (x, y)
}

/// Threefry-2x32 with 20 rounds: two words of a counter, mixed by a key. Different counters give
/// different words.
///
/// ```
/// use pointful::lib::{key, threefry};
///
/// assert_eq!(threefry(key(0), 0, 0), (0x6b200159, 0x99ba4efe));
/// ```
#[pointful]
pub fn threefry(key: Key, high: u32, low: u32) -> (u32, u32) {
    let (a, b) = (key.high, key.low);
    let c = 0x1bd1_1bda ^ a ^ b;
    let (x, y) = four_rounds(high + a, low + b, (13, 15, 26, 6));
    let (x, y) = four_rounds(x + b, y + c + 1, (17, 29, 16, 24));
    let (x, y) = four_rounds(x + c, y + a + 2, (13, 15, 26, 6));
    let (x, y) = four_rounds(x + a, y + b + 3, (17, 29, 16, 24));
    let (x, y) = four_rounds(x + b, y + c + 4, (13, 15, 26, 6));
    (x + c, y + a + 5)
}

/// The key of a seed.
#[pointful]
pub fn key(seed: u64) -> Key {
    Key {
        high: (seed >> 32) as u32,
        low: seed as u32,
    }
}

/// The key of a number, as of a member of an index set or of a step, that is made of a key.
#[pointful]
pub fn fold(key: Key, number: usize) -> Key {
    let number = number as u64;
    let (high, low) = threefry(key, (number >> 32) as u32, number as u32);
    Key { high, low }
}

/// Two keys made of one: `fold` of 0 and of 1.
#[pointful]
pub fn split(key: Key) -> (Key, Key) {
    (fold(key, 0), fold(key, 1))
}

/// 64 random bits.
#[pointful]
pub fn bits(key: Key) -> u64 {
    let (high, low) = threefry(key, 0, 0);
    ((high as u64) << 32) | low as u64
}

/// One of the 2⁵³ numbers that are equally far from each other in `0..1`, without both ends.
#[pointful]
fn between(key: Key) -> f64 {
    ((bits(key) >> 11) as f64 + 0.5) / 9_007_199_254_740_992.0
}

/// A number of `0..1`, with 0, without 1: a multiple of 2⁻⁵³, and as an `f32` the number next to it.
///
/// ```
/// use pointful::lib::{key, uniform};
///
/// let (x, y): (f64, f32) = (uniform(key(3)), uniform(key(3)));
/// assert!((0.0..1.0).contains(&x) && (x - y as f64).abs() < 1e-7);
/// ```
#[pointful]
pub fn uniform<T: Float>(key: Key) -> T {
    let x = ((bits(key) >> 11) as f64 / 9_007_199_254_740_992.0) as T;
    // Next to the last of them is 1 among numbers of `f32`.
    if x < 1.0 { x } else { 0.999_999_94 }
}

/// A number of the standard normal distribution, by its quantile. None is beyond 8.3.
///
/// ```
/// use pointful::lib::{key, normal};
///
/// let x: f64 = normal(key(3));
/// assert!(x.abs() < 8.3);
/// ```
#[pointful]
pub fn normal<T: Float>(key: Key) -> T {
    normal_quantile(between(key)) as T
}

/// A number of the exponential distribution with mean 1. None is beyond 37.4.
///
/// ```
/// use pointful::lib::{exponential, key};
///
/// let x: f64 = exponential(key(3));
/// assert!(x > 0.0);
/// ```
#[pointful]
pub fn exponential<T: Float>(key: Key) -> T {
    (-between(key).ln()) as T
}

/// An integer of `low..high`, without `high`. One of `n` integers is likelier than another by
/// `n / 2⁶⁴` at most.
///
/// # Panics
/// If `low` is not less than `high`.
///
/// ```
/// use pointful::lib::{integers, key};
///
/// assert!((1..7).contains(&integers(key(3), 1, 7)));
/// ```
#[pointful]
pub fn integers(key: Key, low: i64, high: i64) -> i64 {
    assert!(
        low < high,
        "no integer is at least {low} and less than {high}"
    );
    low + (bits(key) % (high - low) as u64) as i64
}

/// A member of an index set, drawn with probabilities in proportion to the exponentials of scores:
/// those of [`softmax`](fn@super::softmax), which need not be known. A score of minus infinity is
/// never drawn if another is.
///
/// ```
/// use pointful::lib::{categorical, key};
/// use pointful::prelude::*;
///
/// let scores = Table::<Fin<3>, f64>::from([f64::NEG_INFINITY, 0.0, 1.0]);
/// assert_ne!(categorical(key(3), &scores), Fin::new(0));
/// ```
#[pointful]
pub fn categorical<N: IndexSet, T: Float>(key: Key, scores: &Table<N, T>) -> N {
    // The largest score is each member's with that probability if Gumbel's numbers are added.
    argmax(for i in N {
        scores[i] as f64 - (-between(fold(key, i.ordinal())).ln()).ln()
    })
}
