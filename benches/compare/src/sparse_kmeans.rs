//! The cost of clusters of sparse points: each point's square distance to the nearest centre. The
//! points are in compressed rows.

use pointful::prelude::*;
use pointful_adbench::noise::Noise;
use rayon::prelude::*;
use std::rc::Rc;

use crate::{Failure, Inputs, Task};

/// A point.
#[derive(Clone, Copy, IndexSet)]
pub struct Point(usize);

/// A coordinate of a point.
#[derive(Clone, Copy, IndexSet)]
pub struct Coordinate(usize);

/// A centre.
#[derive(Clone, Copy, IndexSet)]
pub struct Centre(usize);

/// A number of a point that is not zero; those of a point are next to each other.
#[derive(Clone, Copy, IndexSet)]
pub struct Entry(usize);

/// Where the numbers of each point begin, then where the last end.
#[derive(Clone, Copy, IndexSet)]
pub struct Bound(usize);

/// The sum of the square distances of all points from the centres that are nearest to them.
#[pointful]
pub fn cost(
    bounds: &Table<Bound, usize>,
    coordinate: &Table<Entry, Coordinate>,
    value: &Table<Entry, f32>,
    centres: &Table<(Centre, Coordinate), f32>,
    points: Extent<Point>,
) -> f32 {
    let square = for k in Centre {
        sum(for d in Coordinate { centres[k][d].powi(2) })
    };
    sum(for p in points {
        min(for k in Centre {
            square[k]
                + sum(for e in bounds[p.ordinal()]..bounds[p.ordinal() + 1] {
                    value[e] * (value[e] - 2.0 * centres[k][coordinate[e]])
                })
        })
    })
}

/// The inputs, as slices.
#[derive(Clone, Copy)]
struct Slices<'a> {
    bounds: &'a [usize],
    coordinate: &'a [usize],
    value: &'a [f32],
    centres: &'a [f32],
    dimensions: usize,
}

impl Slices<'_> {
    fn squares(&self) -> Vec<f32> {
        let rows = self.centres.chunks_exact(self.dimensions);
        rows.map(|row| row.iter().map(|x| x * x).sum()).collect()
    }

    /// Which centre is nearest to a point, and the square of its distance.
    fn nearest(&self, squares: &[f32], point: usize) -> (usize, f32) {
        let row = self.bounds[point]..self.bounds[point + 1];
        let (coordinate, value) = (&self.coordinate[row.clone()], &self.value[row]);
        let mut best = (0, f32::INFINITY);
        let centres = self.centres.chunks_exact(self.dimensions).zip(squares);
        for (k, (centre, square)) in centres.enumerate() {
            let terms = coordinate.iter().zip(value);
            let far = square + terms.map(|(&d, x)| x * (x - 2.0 * centre[d])).sum::<f32>();
            if far < best.1 {
                best = (k, far);
            }
        }
        best
    }

    fn cost(&self) -> f32 {
        let squares = self.squares();
        let points = (0..self.bounds.len() - 1).into_par_iter();
        points.map(|p| self.nearest(&squares, p).1).sum()
    }

    /// The cost and its slope: each point adds to the sum and the count of its cluster.
    fn gradient(&self) -> (f32, Vec<f32>) {
        let squares = self.squares();
        let none = || {
            let slope = vec![0.0f32; self.centres.len()];
            (0.0f32, vec![0.0f32; squares.len()], slope)
        };
        let points = self.bounds.len() - 1;
        let piece = points.div_ceil(2 * rayon::current_num_threads()).max(1);
        let (cost, counts, mut slope) = (0..points)
            .into_par_iter()
            .fold_chunks(piece, none, |mut sums, point| {
                let (k, far) = self.nearest(&squares, point);
                sums.0 += far;
                sums.1[k] += 1.0;
                for e in self.bounds[point]..self.bounds[point + 1] {
                    sums.2[k * self.dimensions + self.coordinate[e]] -= 2.0 * self.value[e];
                }
                sums
            })
            .reduce(none, |mut all, one| {
                all.0 += one.0;
                all.1.iter_mut().zip(one.1).for_each(|(all, one)| *all += one);
                all.2.iter_mut().zip(one.2).for_each(|(all, one)| *all += one);
                all
            });
        for (k, slope) in slope.chunks_exact_mut(self.dimensions).enumerate() {
            let centre = &self.centres[k * self.dimensions..];
            for (slope, x) in slope.iter_mut().zip(centre) {
                *slope += 2.0 * counts[k] * x;
            }
        }
        (cost, slope)
    }
}

/// Thirty points, four centres, six dimensions.
pub(crate) fn small() -> Inputs {
    let mut noise = Noise::new(1);
    let mut bounds = vec![0i32];
    for point in 0..30 {
        bounds.push(bounds[point] + noise.below(5) as i32);
    }
    let entries = Extent::<Dyn>::new(bounds[30] as usize);
    let bounds = Table::<Dyn, i32>::from(bounds);
    Inputs::made()
        .with("bounds", &bounds)
        .noise("coordinate", entries, 2, |x| (3.0 + 3.0 * x) as i32)
        .noise("value", entries, 3, |x| x as f32)
        .noise("centres", Extent::<(Dyn, Dyn)>::new((4, 6)), 4, |x| x as f32)
}

struct Input {
    bounds: Table<Bound, usize>,
    coordinate: Table<Entry, Coordinate>,
    value: Table<Entry, f32>,
    centres: Table<(Centre, Coordinate), f32>,
    points: Extent<Point>,
}

impl Input {
    fn by_hand<R>(&self, run: impl FnOnce(Slices<'_>) -> R) -> R {
        run(Slices {
            bounds: self.bounds.as_slice(),
            coordinate: &self.coordinate.ordinals(),
            value: self.value.as_slice(),
            centres: self.centres.as_slice(),
            dimensions: self.centres.extent().size().1,
        })
    }
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let centres: Table<(Centre, Coordinate), f32> = inputs.table("centres")?;
    let bounds: Table<Bound, usize> = inputs.numbers("bounds")?;
    let input = Rc::new(Input {
        points: Extent::new(bounds.extent().len() - 1),
        bounds,
        coordinate: inputs.indices("coordinate", Extent::new(centres.extent().size().1))?,
        value: inputs.table("value")?,
        centres,
    });
    let [a, b, c, d] = [(); 4].map(|()| Rc::clone(&input));
    Ok(vec![
        Task::pointful("value", &["value"], move || {
            cost(&a.bounds, &a.coordinate, &a.value, &a.centres, a.points)
        }),
        Task::pointful("gradient", &["value", "centres"], move || {
            value_and_grad!(cost, wrt = centres)(
                &b.bounds,
                &b.coordinate,
                &b.value,
                &b.centres,
                b.points,
            )
        }),
        Task::hand("value", &["value"], move || {
            c.by_hand(|slices| slices.cost())
        }),
        Task::hand("gradient", &["value", "centres"], move || {
            d.by_hand(|slices| slices.gradient())
        }),
    ])
}
