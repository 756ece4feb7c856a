//! Inputs and comparisons.

#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "each test crate uses its part of it"
)]

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pointful_runtime::{Dyn, Extent, Plain, Table};

/// Numbers of one input, the same at every run: small, of both signs, none of them special.
pub struct Source(u64);

impl Source {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> i64 {
        // The generator of splitmix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % 257) as i64 - 128
    }
}

pub fn floats<T: From<f32>>(seed: u64, len: usize) -> Vec<T> {
    let mut source = Source(seed);
    (0..len)
        .map(|_| T::from(source.next() as f32 / 64.0))
        .collect()
}

/// `Σ left · right` of rows and columns.
pub fn product(
    [rows, summed, columns]: [usize; 3],
    left: impl Fn(usize, usize) -> f64,
    right: impl Fn(usize, usize) -> f64,
) -> Vec<f64> {
    let at = |at: usize| (at / columns, at % columns);
    let sum = |(i, j): (usize, usize)| (0..summed).map(|k| left(i, k) * right(k, j)).sum();
    (0..rows * columns).map(at).map(sum).collect()
}

pub fn ints(seed: u64, len: usize) -> Vec<i64> {
    let mut source = Source(seed);
    (0..len).map(|_| source.next()).collect()
}

pub fn vector<T: Plain>(values: &[T]) -> Table<Dyn, T> {
    Table::from(values.to_vec())
}

pub fn matrix<T: Plain>(rows: usize, columns: usize, values: &[T]) -> Table<(Dyn, Dyn), T> {
    Table::from_vec(Extent::new((rows, columns)), values.to_vec()).expect("as many values")
}

/// On pools of one, two and five threads the same bits.
pub fn on_threads<R: PartialEq + Send>(run: impl Fn() -> R + Sync) -> R {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads can be made").install(&run)
    };
    let one = on(1);
    // A thread of no pool works itself, and is helped.
    assert!(one == on(2) && one == on(5) && one == run());
    one
}

#[track_caller]
pub fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (position, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let tolerance = 1e-10 * (1.0 + expected.abs());
        assert!(
            found == expected || (found - expected).abs() <= tolerance,
            "element {position} is {found}, not {expected}"
        );
    }
}

#[track_caller]
pub fn close_f32(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (position, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let tolerance = 1e-4 * (1.0 + expected.abs());
        assert!(
            found == expected || (found - expected).abs() <= tolerance,
            "element {position} is {found}, not {expected}"
        );
    }
}

/// The message of the panic that a call ends in.
#[track_caller]
pub fn panic_of<R: Debug>(call: impl FnOnce() -> R) -> String {
    let payload = catch_unwind(AssertUnwindSafe(call)).expect_err("a panic");
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => payload
            .downcast::<&str>()
            .map(|message| message.to_string())
            .expect("a message"),
    }
}
