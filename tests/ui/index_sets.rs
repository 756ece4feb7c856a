//! Structs that are no index sets, and functions that name them.

use pointful::prelude::*;

#[derive(Clone, Copy, IndexSet)]
struct Pixel {
    id: usize,
}

#[derive(Clone, Copy, IndexSet)]
struct Row(usize);

#[derive(Clone, Copy, IndexSet)]
struct Cell {
    row: Row,
    col: u32,
}

#[pointful]
fn total(x: &Table<Pixel, f64>) -> f64 {
    sum(for p in Pixel { x[p] })
}

#[pointful]
fn twice(x: &Table<Pixel, f64>) -> f64 {
    2.0 * total(x)
}

fn main() {}
