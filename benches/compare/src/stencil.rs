//! Parboil's stencil: heat that spreads in a box, each cell from its six neighbours and itself;
//! what is on the border stays.

use pointful::prelude::*;
use rayon::prelude::*;
use std::rc::Rc;

use crate::{Failure, Inputs, Task};

/// A cell's coordinate along the first edge of the box.
#[derive(Clone, Copy, IndexSet)]
pub struct X(usize);

/// Along the second.
#[derive(Clone, Copy, IndexSet)]
pub struct Y(usize);

/// Along the third.
#[derive(Clone, Copy, IndexSet)]
pub struct Z(usize);

/// The weight of a cell itself.
const CENTRE: f32 = 1.0 / 6.0;
/// The weight of each neighbour.
const NEIGHBOUR: f32 = 1.0 / 36.0;

/// What is in the box after `steps` steps.
#[pointful]
pub fn spread(start: &Table<(X, Y, Z), f32>, steps: usize) -> Table<(X, Y, Z), f32> {
    let mut heat = start;
    for _step in 0..steps {
        heat = for (x, y, z) in _ {
            let inside = x.ordinal() > 0
                && x.ordinal() + 1 < size(X)
                && y.ordinal() > 0
                && y.ordinal() + 1 < size(Y)
                && z.ordinal() > 0
                && z.ordinal() + 1 < size(Z);
            if inside {
                let around = heat[x][y][z + 1]
                    + heat[x][y][z - 1]
                    + heat[x][y + 1][z]
                    + heat[x][y - 1][z]
                    + heat[x + 1][y][z]
                    + heat[x - 1][y][z];
                around * NEIGHBOUR + heat[x][y][z] * CENTRE
            } else {
                heat[x][y][z]
            }
        };
    }
    heat
}

/// The sum of the squares of what is in the box after `steps` steps.
#[pointful]
pub fn loss(start: &Table<(X, Y, Z), f32>, steps: usize) -> f32 {
    let heat = spread(start, steps);
    sum(for (x, y, z) in _ {
        heat[x][y][z].powi(2)
    })
}

/// The same by slices in parallel.
fn by_hand(start: &[f32], [nx, ny, nz]: [usize; 3], steps: usize) -> Vec<f32> {
    let mut heat = start.to_vec();
    // The border is the same in both.
    let mut next = heat.clone();
    let slice = ny * nz;
    for _ in 0..steps {
        next.par_chunks_mut(slice)
            .enumerate()
            .filter(|(x, _)| (1..nx - 1).contains(x))
            .for_each(|(x, new)| {
                let at = |x: usize, y: usize| &heat[x * slice + y * nz..][..nz];
                for y in 1..ny.max(1) - 1 {
                    let (west, east) = (at(x - 1, y), at(x + 1, y));
                    let (up, here, down) = (at(x, y - 1), at(x, y), at(x, y + 1));
                    let row = &mut new[y * nz..][..nz];
                    for z in 1..nz.max(1) - 1 {
                        let around =
                            here[z + 1] + here[z - 1] + down[z] + up[z] + east[z] + west[z];
                        row[z] = around * NEIGHBOUR + here[z] * CENTRE;
                    }
                }
            });
        std::mem::swap(&mut heat, &mut next);
    }
    heat
}

/// A box of 5 by 4 by 6.
pub(crate) fn small() -> Inputs {
    let extent = Extent::<(Dyn, Dyn, Dyn)>::new((5, 4, 6));
    Inputs::made()
        .noise("start", extent, 1, |x| x as f32)
        .steps(3)
}

struct Input {
    start: Table<(X, Y, Z), f32>,
    steps: usize,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let input = Rc::new(Input {
        start: inputs.table("start")?,
        steps: inputs.number("steps")?,
    });
    let [a, b, c, d] = [(); 4].map(|()| Rc::clone(&input));
    Ok(vec![
        Task::pointful("run", &["heat"], move || spread(&a.start, a.steps)),
        Task::pointful("value", &["value"], move || loss(&b.start, b.steps)),
        Task::pointful("gradient", &["value", "start"], move || {
            value_and_grad!(loss, wrt = start)(&c.start, c.steps)
        }),
        Task::hand("run", &["heat"], move || {
            let (nx, ny, nz) = d.start.extent().size();
            by_hand(d.start.as_slice(), [nx, ny, nz], d.steps)
        }),
    ])
}
