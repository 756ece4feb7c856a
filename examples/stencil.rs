//! Parboil's stencil: heat that spreads in a box, each cell from its six neighbours and itself;
//! what is on the border stays.

use pointful::prelude::*;
use pointful_examples::{data, futhark};

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
pub fn spread(start: Table<(X, Y, Z), f32>, steps: usize) -> Table<(X, Y, Z), f32> {
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

/// The suite's small problem: number of steps, and a box in which all slices are the same.
fn input() -> (usize, Table<(X, Y, Z), f32>) {
    let bytes = std::fs::read(data("stencil_small.in")).expect("the data is shipped");
    let values = futhark::parse(&bytes).expect("the data is well-formed");
    let (slices, slice) = (values[1].data[0] as usize, &values[2]);
    let extent = Extent::new((slices, slice.dims[0], slice.dims[1]));
    let cells = slice.to_f32().repeat(slices);
    let start = Table::from_vec(extent, cells).expect("as many numbers as cells");
    (values[0].data[0] as usize, start)
}

fn main() {
    let (steps, start) = input();
    let total = |t: &Table<(X, Y, Z), f32>| t.iter().map(|&x| f64::from(x)).sum::<f64>();
    println!("before: {:.3}", total(&start));
    println!("after {steps} steps: {:.3}", total(&spread(start, steps)));
}

#[test]
fn gives_the_published_output() {
    let (steps, start) = input();
    let (slices, height, width) = start.extent().size();
    let result = spread(start, steps);
    let bytes = std::fs::read(data("stencil_small.out")).unwrap();
    let expected = futhark::parse(&bytes).unwrap();
    // It is the first slice, which is on the border.
    assert_eq!(expected[0].dims, [height, width]);
    for (found, known) in result.iter().zip(expected[0].to_f32()) {
        assert!((found - known).abs() < 1e-6, "{found}, published {known}");
    }
    assert_eq!(slices, 128);
}

/// The same by loops over the cells inside.
#[test]
fn agrees_with_plain_loops() {
    for [nx, ny, nz] in [[3, 3, 3], [5, 4, 7], [1, 4, 4], [2, 2, 2], [0, 3, 3]] {
        let at = |x: usize, y: usize, z: usize| (x * ny + y) * nz + z;
        let mut heat: Vec<f32> = (0..nx * ny * nz).map(|k| (k as f32 * 0.7).sin()).collect();
        let start = Table::from_vec(Extent::new((nx, ny, nz)), heat.clone()).unwrap();
        for _ in 0..3 {
            let old = heat.clone();
            for x in 1..nx.saturating_sub(1) {
                for y in 1..ny.saturating_sub(1) {
                    for z in 1..nz.saturating_sub(1) {
                        let around = old[at(x, y, z + 1)]
                            + old[at(x, y, z - 1)]
                            + old[at(x, y + 1, z)]
                            + old[at(x, y - 1, z)]
                            + old[at(x + 1, y, z)]
                            + old[at(x - 1, y, z)];
                        heat[at(x, y, z)] = around * NEIGHBOUR + old[at(x, y, z)] * CENTRE;
                    }
                }
            }
        }
        for (found, known) in spread(start, 3).iter().zip(&heat) {
            assert!((found - known).abs() < 1e-6, "{found}, by loops {known}");
        }
    }
}
