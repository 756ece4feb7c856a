//! Rodinia's pathfinder: the cheapest ways down a wall, each step straight or by one column aside;
//! rows in order, columns in parallel.

use pointful::prelude::*;
use rayon::prelude::*;
use std::rc::Rc;

use crate::{Failure, Inputs, Task};

/// A row of the wall, from the top.
#[derive(Clone, Copy, IndexSet)]
pub struct Row(usize);

/// A column of the wall.
#[derive(Clone, Copy, IndexSet)]
pub struct Column(usize);

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

/// The same by pieces of a row in parallel.
fn by_hand(wall: &[i32], columns: usize) -> Vec<i32> {
    /// How many columns are a task.
    const PIECE: usize = 8192;
    let mut cost = wall[..columns].to_vec();
    let mut next = cost.clone();
    for row in wall.chunks_exact(columns).skip(1) {
        next.par_chunks_mut(PIECE)
            .enumerate()
            .for_each(|(k, piece)| {
                let first = k * PIECE;
                let last = first + piece.len() - 1;
                let edge = |c: usize| {
                    let least = cost[c.saturating_sub(1)].min(cost[c]);
                    row[c] + least.min(cost[(c + 1).min(columns - 1)])
                };
                piece[0] = edge(first);
                piece[last - first] = edge(last);
                if let Some(inner) = piece.get_mut(1..last - first) {
                    let (west, here) = (&cost[first..last], &cost[first + 1..last]);
                    let (east, stone) = (&cost[first + 2..last + 1], &row[first + 1..last]);
                    for (c, out) in inner.iter_mut().enumerate() {
                        *out = stone[c] + west[c].min(here[c]).min(east[c]);
                    }
                }
            });
        std::mem::swap(&mut cost, &mut next);
    }
    cost
}

/// Three rows of 70 columns.
pub(crate) fn small() -> Inputs {
    Inputs::made().noise("wall", Extent::<(Dyn, Dyn)>::new((3, 70)), 1, |x| {
        (5.0 + 5.0 * x) as i32
    })
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let wall: Rc<Table<(Row, Column), i32>> = Rc::new(inputs.table("wall")?);
    let [a, b] = [(); 2].map(|()| Rc::clone(&wall));
    Ok(vec![
        Task::pointful("run", &["cost"], move || cheapest(&a)),
        Task::hand("run", &["cost"], move || {
            by_hand(b.as_slice(), b.extent().size().1)
        }),
    ])
}
