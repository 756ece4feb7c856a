//! A fluid in two dimensions by the lattice Boltzmann method, with obstacles: at each place nine
//! densities, one for each velocity.

use pointful::prelude::*;
use pointful_adbench::noise::Noise;
use rayon::prelude::*;
use std::rc::Rc;

use crate::{Failure, Inputs, Task};

/// A row of places.
#[derive(Clone, Copy, IndexSet)]
pub struct Row(usize);

/// A column of places.
#[derive(Clone, Copy, IndexSet)]
pub struct Column(usize);

/// A velocity.
#[pointful]
pub type Way = Fin<9>;

/// By how many rows each velocity moves.
pub const DOWN: [i64; 9] = [0, 0, 1, 0, -1, 1, 1, -1, -1];
/// By how many columns.
pub const RIGHT: [i64; 9] = [0, 1, 0, -1, 0, 1, -1, -1, 1];
/// The velocity that goes the other way.
pub const BACK: [usize; 9] = [0, 3, 4, 1, 2, 7, 8, 5, 6];
/// The shares of the velocities in a fluid at rest.
pub const WEIGHT: [f64; 9] = [
    4.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 36.0,
    1.0 / 36.0,
    1.0 / 36.0,
    1.0 / 36.0,
];
/// How fast the fluid relaxes.
pub const OMEGA: f64 = 1.2;

/// What is there after `steps` steps.
#[pointful]
pub fn flow(
    start: &Table<(Row, Column, Way), f64>,
    solid: &Table<(Row, Column), bool>,
    steps: usize,
) -> Table<(Row, Column, Way), f64> {
    let mut f = start;
    for _step in 0..steps {
        f = for (r, c) in _ {
            let came = for q in Way {
                let (down, right): (i64, i64) = (DOWN[q], RIGHT[q]);
                f[(r - down).wrap()][(c - right).wrap()][q]
            };
            if solid[r][c] {
                for q in Way {
                    let back: usize = BACK[q];
                    came[back]
                }
            } else {
                let density = sum(came);
                let v = sum(for q in Way { DOWN[q] as f64 * came[q] }) / density;
                let u = sum(for q in Way { RIGHT[q] as f64 * came[q] }) / density;
                for q in Way {
                    let along = DOWN[q] as f64 * v + RIGHT[q] as f64 * u;
                    let rest = 1.0 + 3.0 * along + 4.5 * along * along - 1.5 * (u * u + v * v);
                    came[q] + OMEGA * (WEIGHT[q] * density * rest - came[q])
                }
            }
        };
    }
    f
}

/// How much of the fluid moves, after `steps` steps.
#[pointful]
pub fn loss(
    start: &Table<(Row, Column, Way), f64>,
    solid: &Table<(Row, Column), bool>,
    steps: usize,
) -> f64 {
    let f = flow(start, solid, steps);
    sum(for (r, c) in _ {
        let v = sum(for q in Way { let step: i64 = DOWN[q]; step as f64 * f[r][c][q] });
        let u = sum(for q in Way { let step: i64 = RIGHT[q]; step as f64 * f[r][c][q] });
        u * u + v * v
    })
}

/// The same by rows in parallel.
fn by_hand(start: &[[f64; 9]], solid: &[bool], columns: usize, steps: usize) -> Vec<[f64; 9]> {
    let rows = solid.len() / columns;
    let mut f = start.to_vec();
    let mut next = f.clone();
    for _ in 0..steps {
        next.par_chunks_mut(columns)
            .enumerate()
            .for_each(|(r, row)| {
                for (c, out) in row.iter_mut().enumerate() {
                    let wrap = |k: usize, by: i64, n: usize| match by {
                        1 => if k == 0 { n - 1 } else { k - 1 },
                        -1 => if k + 1 == n { 0 } else { k + 1 },
                        _ => k,
                    };
                    let mut came = [0.0; 9];
                    for q in 0..9 {
                        came[q] = f[wrap(r, DOWN[q], rows) * columns + wrap(c, RIGHT[q], columns)][q];
                    }
                    if solid[r * columns + c] {
                        *out = BACK.map(|q| came[q]);
                        continue;
                    }
                    let (mut density, mut v, mut u) = (0.0, 0.0, 0.0);
                    for q in 0..9 {
                        density += came[q];
                        v += DOWN[q] as f64 * came[q];
                        u += RIGHT[q] as f64 * came[q];
                    }
                    (v, u) = (v / density, u / density);
                    for q in 0..9 {
                        let along = DOWN[q] as f64 * v + RIGHT[q] as f64 * u;
                        let rest = 1.0 + 3.0 * along + 4.5 * along * along - 1.5 * (u * u + v * v);
                        out[q] = came[q] + OMEGA * (WEIGHT[q] * density * rest - came[q]);
                    }
                }
            });
        std::mem::swap(&mut f, &mut next);
    }
    f
}

/// A fluid of 5 by 4 places, some of them solid.
pub(crate) fn small() -> Inputs {
    let extent = Extent::<(Dyn, Dyn)>::new((5, 4));
    let solid = extent.len();
    let mut place = 0;
    let mut fluid = Noise::new(1);
    let at = Extent::<(Dyn, Dyn, Way)>::new((5, 4, ()));
    let start = Table::from_fn(at, |_| {
        place += 1;
        WEIGHT[(place - 1) % 9] * (1.0 + 0.1 * fluid.unit())
    });
    let mut rock = Noise::new(2);
    let solid = (0..solid).map(|_| rock.unit() < 0.2).collect();
    Inputs::made()
        .with("start", &start)
        .with("solid", &Table::from_vec(extent, solid).expect("one a place"))
        .steps(3)
}

struct Input {
    start: Table<(Row, Column, Way), f64>,
    solid: Table<(Row, Column), bool>,
    steps: usize,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let input = Rc::new(Input {
        start: inputs.table("start")?,
        solid: inputs.table("solid")?,
        steps: inputs.number("steps")?,
    });
    let [a, b, c, d] = [(); 4].map(|()| Rc::clone(&input));
    Ok(vec![
        Task::pointful("run", &["fluid"], move || flow(&a.start, &a.solid, a.steps)),
        Task::pointful("value", &["value"], move || loss(&b.start, &b.solid, b.steps)),
        Task::pointful("gradient", &["value", "start"], move || {
            value_and_grad!(loss, wrt = start)(&c.start, &c.solid, c.steps)
        }),
        Task::hand("run", &["fluid"], move || {
            let (start, solid) = (d.start.as_slice().as_chunks().0, d.solid.as_slice());
            by_hand(start, solid, d.solid.extent().size().1, d.steps)
        }),
    ])
}
