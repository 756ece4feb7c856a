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

#[derive(IndexSet)]
struct Column(usize);

#[derive(Clone, Debug, IndexSet)]
enum Side {
    Left,
    Right,
}

#[pointful]
fn sided(x: &Table<(Column, Side), f64>) -> f64 {
    sum(for c in Column { x[c][Side::Left] - x[c][Side::Right] })
}

fn main() {
    let n = Extent::<(Column, Side)>::new((2, ()));
    sided(&Table::from_fn(n, |_| 1.0));
}
