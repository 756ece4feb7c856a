//! The sum of the squared distances of points to the nearest centres, its gradient, and the product
//! with its Hessian that a step of Newton's method takes.

use pointful::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

use crate::{Failure, Inputs, Task};

/// An observed point.
#[derive(Clone, Copy, IndexSet)]
pub struct Point(usize);

/// A cluster.
#[derive(Clone, Copy, IndexSet)]
pub struct Cluster(usize);

/// A coordinate.
#[derive(Clone, Copy, IndexSet)]
pub struct Coordinate(usize);

/// The sum of the squared distances of all points to their nearest centres.
#[pointful]
pub fn cost<N: IndexSet, K: IndexSet, D: IndexSet>(
    points: &Table<(N, D), f32>,
    centres: &Table<(K, D), f32>,
) -> f32 {
    sum(for n in N {
        min(for k in K {
            sum(for d in D {
                (points[n][d] - centres[k][d]).powi(2)
            })
        })
    })
}

/// Fifty points, four centres, three dimensions.
pub(crate) fn small() -> Inputs {
    Inputs::made()
        .noise("points", Extent::<(Dyn, Dyn)>::new((50, 3)), 1, |x| {
            x as f32
        })
        .noise("centres", Extent::<(Dyn, Dyn)>::new((4, 3)), 2, |x| {
            x as f32
        })
}

struct Input {
    points: Table<(Point, Coordinate), f32>,
    centres: Table<(Cluster, Coordinate), f32>,
    ones: Table<(Cluster, Coordinate), f32>,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let centres: Table<(Cluster, Coordinate), f32> = inputs.table("centres")?;
    let input = Arc::new(Input {
        points: inputs.table("points")?,
        ones: Table::full(centres.extent(), 1.0),
        centres,
    });
    let [a, b, c, d, e, f] = [(); 6].map(|()| Arc::clone(&input));
    let gradient = &["value", "centres"];
    Ok(vec![
        Task::pointful("value", &["value"], move || cost(&a.points, &a.centres)),
        Task::pointful("gradient", gradient, move || {
            value_and_grad!(cost, wrt = centres)(&b.points, &b.centres)
        }),
        Task::pointful("hvp", &["curvature"], move || {
            hvp!(cost, wrt = centres)(&c.points, &c.centres, &c.ones)
        }),
        Task::hand("value", &["value"], move || {
            let dims = d.centres.extent().axes()[1];
            let points = d.points.as_slice().par_chunks(dims);
            points
                .map(|point| nearest(point, d.centres.as_slice()).1)
                .sum::<f32>()
        }),
        Task::hand("gradient", gradient, move || {
            let (value, slope, _) = slopes(&e);
            (value, slope)
        }),
        Task::hand("hvp", &["curvature"], move || {
            let dims = f.centres.extent().axes()[1];
            let (_, _, counts) = slopes(&f);
            let rows = counts.iter().zip(f.ones.as_slice().chunks(dims));
            rows.flat_map(|(&count, row)| row.iter().map(move |x| 2.0 * count * x))
                .collect::<Vec<f32>>()
        }),
    ])
}

/// Which centre is the nearest, and the square of its distance.
fn nearest(point: &[f32], centres: &[f32]) -> (usize, f32) {
    let mut best = (0, f32::INFINITY);
    for (k, centre) in centres.chunks_exact(point.len()).enumerate() {
        let distance = point
            .iter()
            .zip(centre)
            .map(|(x, y)| (x - y) * (x - y))
            .sum();
        if distance < best.1 {
            best = (k, distance);
        }
    }
    best
}

/// The cost, its slope, and how many points each centre has.
fn slopes(input: &Input) -> (f32, Vec<f32>, Vec<f32>) {
    let centres = input.centres.as_slice();
    let axes = input.centres.extent();
    let (clusters, dims) = (axes.axes()[0], axes.axes()[1]);
    let none = || (0.0, vec![0.0; clusters * dims], vec![0.0; clusters]);
    let points = input.points.as_slice();
    let piece = (points.len() / dims)
        .div_ceil(2 * rayon::current_num_threads())
        .max(1);
    points
        .par_chunks(piece * dims)
        .map(|points| {
            let mut sums = none();
            for point in points.chunks_exact(dims) {
                let (k, distance) = nearest(point, centres);
                sums.0 += distance;
                sums.2[k] += 1.0;
                let slope = &mut sums.1[k * dims..][..dims];
                for ((slope, x), y) in slope.iter_mut().zip(point).zip(&centres[k * dims..]) {
                    *slope += 2.0 * (y - x);
                }
            }
            sums
        })
        .reduce(none, |mut all, one| {
            all.0 += one.0;
            all.1.iter_mut().zip(one.1).for_each(|(all, one)| *all += one);
            all.2.iter_mut().zip(one.2).for_each(|(all, one)| *all += one);
            all
        })
}
