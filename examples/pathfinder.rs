//! Rodinia's pathfinder: the cheapest ways down a wall, each step straight or by one column aside;
//! rows in order, columns in parallel.

use pointful::prelude::*;
use pointful_examples::{data, futhark};

/// A row of the wall, from the top.
#[derive(Clone, Copy, IndexSet)]
pub struct Row(usize);

/// A column of the wall.
#[derive(Clone, Copy, IndexSet)]
pub struct Column(usize);

/// How many bits the numbers of the sequence have.
const BITS: usize = 30;

/// The `n`th number of Sobol's sequence in one dimension: bit `k` of `n`'s Gray code stands for
/// `2^(29 - k)`.
#[pointful]
fn sobol(n: u32) -> u32 {
    let gray = n ^ (n >> 1);
    let mut number = 0u32;
    for k in 0..BITS {
        if gray >> k & 1 == 1 {
            number ^= 1u32 << (BITS - 1 - k);
        }
    }
    number
}

/// A wall: what it costs to be at each of its places.
#[pointful]
pub fn wall(rows: Extent<Row>, columns: Extent<Column>) -> Table<(Row, Column), i32> {
    for (r, c) in (rows, columns) {
        let place = r.ordinal() * size(Column) + c.ordinal();
        (sobol(place as u32 + 1) % 10) as i32
    }
}

/// What the cheapest way costs from anywhere in the first row to each place of the last.
#[pointful]
pub fn cheapest(wall: &Table<(Row, Column), i32>) -> Table<Column, i32> {
    let mut cost = wall[0];
    for r in 1..size(Row) {
        cost = for c in _ {
            wall[r][c]
                + cost[(c - 1).clamp()]
                    .min(cost[c])
                    .min(cost[(c + 1).clamp()])
        };
    }
    cost
}

/// The suite's medium problem.
fn input() -> Table<(Row, Column), i32> {
    let bytes = std::fs::read(data("pathfinder_medium.in")).expect("the data is shipped");
    let values = futhark::parse(&bytes).expect("the data is well-formed");
    let size = |k: usize| values[k].data[0] as usize;
    wall(Extent::new(size(1)), Extent::new(size(0)))
}

fn main() {
    let wall = input();
    let (rows, columns) = wall.extent().size();
    let cost = cheapest(&wall);
    let least = cost.iter().min().expect("the wall has columns");
    println!("{rows} rows, {columns} columns: the cheapest way costs {least}");
}

#[test]
fn gives_the_published_output() {
    let bytes = std::fs::read(data("pathfinder_medium.out")).unwrap();
    let expected = futhark::parse(&bytes).unwrap();
    let found: Vec<f64> = cheapest(&input()).iter().map(|&c| f64::from(c)).collect();
    assert_eq!(found, expected[0].data);
}

#[test]
fn one_row_and_one_column() {
    let cost = |rows: usize, columns: usize, wall: &[i32]| {
        let extent = Extent::new((rows, columns));
        cheapest(&Table::from_vec(extent, wall.to_vec()).unwrap()).into_vec()
    };
    assert_eq!(cost(1, 3, &[1, 2, 3]), [1, 2, 3]);
    assert_eq!(cost(3, 1, &[1, 2, 3]), [6]);
    assert_eq!(cost(2, 3, &[5, 1, 9, 1, 1, 1]), [2, 2, 2]);
}
