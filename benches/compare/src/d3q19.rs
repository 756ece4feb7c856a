//! A fluid in three dimensions by the lattice Boltzmann method, with obstacles: at each place 19
//! densities, one for each velocity.

use pointful::prelude::*;
use pointful_adbench::noise::Noise;
use rayon::prelude::*;
use std::rc::Rc;

use crate::{Failure, Inputs, Task};

/// A coordinate of a place.
#[derive(Clone, Copy, IndexSet)]
pub struct X(usize);

/// A coordinate of a place.
#[derive(Clone, Copy, IndexSet)]
pub struct Y(usize);

/// A coordinate of a place.
#[derive(Clone, Copy, IndexSet)]
pub struct Z(usize);

/// A velocity. First rest, then the six faces of a cube, then its twelve edges; what is opposite
/// comes next.
#[pointful]
pub type Way = Fin<19>;

/// By how many places along the first axis each velocity moves.
pub const ALONG_X: [i64; 19] = [0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0];
/// Along the second.
pub const ALONG_Y: [i64; 19] = [0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1];
/// Along the third.
pub const ALONG_Z: [i64; 19] = [0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1];
/// The velocity that goes the other way.
pub const BACK: [usize; 19] = [0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15, 18, 17];
/// The share of rest, of a face and of an edge in a fluid at rest.
const SHARES: [f32; 3] = [1.0 / 3.0, 1.0 / 18.0, 1.0 / 36.0];
/// The shares of the velocities in a fluid at rest.
pub const WEIGHT: [f32; 19] = {
    let mut weight = [SHARES[2]; 19];
    weight[0] = SHARES[0];
    let mut q = 1;
    while q < 7 {
        weight[q] = SHARES[1];
        q += 1;
    }
    weight
};
/// How fast the fluid relaxes.
pub const OMEGA: f32 = 1.2;

/// What is there after `steps` steps.
#[pointful]
pub fn flow(
    start: &Table<(X, Y, Z, Way), f32>,
    solid: &Table<(X, Y, Z), bool>,
    steps: usize,
) -> Table<(X, Y, Z, Way), f32> {
    let mut f = start;
    for _step in 0..steps {
        f = for (x, y, z) in _ {
            let came = for q in Way {
                let (i, j, k): (i64, i64, i64) = (ALONG_X[q], ALONG_Y[q], ALONG_Z[q]);
                f[(x - i).wrap()][(y - j).wrap()][(z - k).wrap()][q]
            };
            if solid[x][y][z] {
                for q in Way {
                    let back: usize = BACK[q];
                    came[back]
                }
            } else {
                let density = sum(came);
                let u = sum(for q in Way { ALONG_X[q] as f32 * came[q] }) / density;
                let v = sum(for q in Way { ALONG_Y[q] as f32 * came[q] }) / density;
                let w = sum(for q in Way { ALONG_Z[q] as f32 * came[q] }) / density;
                let square = u * u + v * v + w * w;
                for q in Way {
                    let along = ALONG_X[q] as f32 * u + ALONG_Y[q] as f32 * v + ALONG_Z[q] as f32 * w;
                    let rest = 1.0 + 3.0 * along + 4.5 * along * along - 1.5 * square;
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
    start: &Table<(X, Y, Z, Way), f32>,
    solid: &Table<(X, Y, Z), bool>,
    steps: usize,
) -> f32 {
    let f = flow(start, solid, steps);
    sum(for (x, y, z) in _ {
        let u = sum(for q in Way { let step: i64 = ALONG_X[q]; step as f32 * f[x][y][z][q] });
        let v = sum(for q in Way { let step: i64 = ALONG_Y[q]; step as f32 * f[x][y][z][q] });
        let w = sum(for q in Way { let step: i64 = ALONG_Z[q]; step as f32 * f[x][y][z][q] });
        u * u + v * v + w * w
    })
}

/// The same by rows in parallel.
fn by_hand(
    start: &[[f32; 19]],
    solid: &[bool],
    [nx, ny, nz]: [usize; 3],
    steps: usize,
) -> Vec<[f32; 19]> {
    let mut f = start.to_vec();
    let mut next = f.clone();
    let wrap = |k: usize, by: i64, n: usize| match by {
        1 if k == 0 => n - 1,
        1 => k - 1,
        -1 if k + 1 == n => 0,
        -1 => k + 1,
        _ => k,
    };
    for _ in 0..steps {
        next.par_chunks_mut(nz).enumerate().for_each(|(row, new)| {
            let (x, y) = (row / ny, row % ny);
            for (z, out) in new.iter_mut().enumerate() {
                let mut came = [0.0; 19];
                for q in 0..19 {
                    let from = wrap(x, ALONG_X[q], nx) * ny + wrap(y, ALONG_Y[q], ny);
                    came[q] = f[from * nz + wrap(z, ALONG_Z[q], nz)][q];
                }
                if solid[row * nz + z] {
                    *out = BACK.map(|q| came[q]);
                    continue;
                }
                let (mut density, mut u, mut v, mut w) = (0.0, 0.0, 0.0, 0.0);
                for q in 0..19 {
                    density += came[q];
                    u += ALONG_X[q] as f32 * came[q];
                    v += ALONG_Y[q] as f32 * came[q];
                    w += ALONG_Z[q] as f32 * came[q];
                }
                (u, v, w) = (u / density, v / density, w / density);
                let square = u * u + v * v + w * w;
                for q in 0..19 {
                    let along =
                        ALONG_X[q] as f32 * u + ALONG_Y[q] as f32 * v + ALONG_Z[q] as f32 * w;
                    let rest = 1.0 + 3.0 * along + 4.5 * along * along - 1.5 * square;
                    out[q] = came[q] + OMEGA * (WEIGHT[q] * density * rest - came[q]);
                }
            }
        });
        std::mem::swap(&mut f, &mut next);
    }
    f
}

/// A fluid of 3 by 4 by 3 places, some of them solid.
pub(crate) fn small() -> Inputs {
    let extent = Extent::<(Dyn, Dyn, Dyn)>::new((3, 4, 3));
    let solid = extent.len();
    let mut place = 0;
    let mut fluid = Noise::new(1);
    let at = Extent::<(Dyn, Dyn, Dyn, Way)>::new((3, 4, 3, ()));
    let start = Table::from_fn(at, |_| {
        place += 1;
        WEIGHT[(place - 1) % 19] * (1.0 + 0.1 * fluid.unit() as f32)
    });
    let mut rock = Noise::new(2);
    let solid = (0..solid).map(|_| rock.unit() < 0.2).collect();
    Inputs::made()
        .with("start", &start)
        .with("solid", &Table::from_vec(extent, solid).expect("one a place"))
        .steps(3)
}

struct Input {
    start: Table<(X, Y, Z, Way), f32>,
    solid: Table<(X, Y, Z), bool>,
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
            let (nx, ny, nz) = d.solid.extent().size();
            by_hand(start, solid, [nx, ny, nz], d.steps)
        }),
    ])
}
