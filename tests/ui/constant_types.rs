//! Constants of other types than the body needs, and lengths that are others.

use pointful::prelude::*;

const BITS: u32 = 5;
const WEIGHTS: [f32; 3] = [1.0, 2.0, 3.0];
const WIDTH: usize = 4;
const SCALE: f32 = 0.5;
const NAME: &str = "half";
const SHARES: [u8; 3] = [1, 2, 3];

#[pointful]
fn counted() -> usize {
    let mut total = 0;
    for k in 0..BITS {
        total += k;
    }
    total
}

#[pointful]
fn weighted(x: &Table<Fin<3>, f64>) -> f64 {
    sum(for i in Fin::<3> { x[i] * WEIGHTS[i] })
}

#[pointful]
fn both<N: IndexSet>(x: &Table<Fin<WIDTH>, N>, y: &Table<Fin<3>, f64>, z: &Table<Fin<4>, f64>) -> f64 {
    sum(for i in Fin::<WIDTH> { y[i] * z[i] })
}

// What is cast to an integer may be any integer, but no float.
#[pointful]
fn scaled(x: f64) -> f64 {
    x * SCALE as i64 as f64
}

#[pointful]
fn named(x: f64) -> f64 {
    x * NAME as f64
}

// Of another length.
#[pointful]
fn shared<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(for q in Fin::<2> { SHARES[q] as f64 }) * sum(x)
}

fn main() {}
