//! What the machine can do: how fast memory is read, how fast it is read and written, and how fast
//! matrices are multiplied. What other rows take is seen against it.

use std::sync::Arc;

use pointful::prelude::*;
use rayon::prelude::*;

use crate::matmul::{Column, Inner, Row};
use crate::{Failure, Inputs, Task};

/// A place in memory.
#[derive(Clone, Copy, IndexSet)]
pub struct Place(usize);

/// Reads all of it.
#[pointful]
pub fn read<T: Float>(x: &Table<Place, T>) -> T {
    sum(x)
}

/// Reads all of it, and writes as much.
#[pointful]
pub fn scale<T: Float>(x: &Table<Place, T>) -> Table<Place, T> {
    for i in Place { x[i] + x[i] }
}

/// A product of matrices.
#[pointful]
pub fn product<T: Float>(
    left: &Table<(Row, Inner), T>,
    right: &Table<(Inner, Column), T>,
) -> Table<(Row, Column), T> {
    for (i, j) in _ {
        sum(for k in _ {
            left[i][k] * right[k][j]
        })
    }
}

/// Seventeen places; three by four by five.
pub(crate) fn small() -> Inputs {
    Inputs::made()
        .noise("x", Extent::<Dyn>::new(17), 1, |x| x)
        .noise("left", Extent::<(Dyn, Dyn)>::new((3, 4)), 2, |x| x)
        .noise("right", Extent::<(Dyn, Dyn)>::new((4, 5)), 3, |x| x)
}

/// Sums that a loop adds to at a time.
const LANES: usize = 32;

macro_rules! tasks {
    ($T:ty, $inputs:expr) => {{
        let x: Table<Place, $T> = $inputs.table("x")?;
        let left: Table<(Row, Inner), $T> = $inputs.table("left")?;
        let right: Table<(Inner, Column), $T> = $inputs.table("right")?;
        let input = Arc::new((x, left, right));
        let [a, b, c, d, e] = [(); 5].map(|()| Arc::clone(&input));
        vec![
            Task::pointful("read", &["sum"], move || read(&a.0)),
            Task::pointful("scale", &["twice"], move || scale(&b.0)),
            Task::pointful("product", &["product"], move || product(&c.1, &c.2)),
            Task::hand("read", &["sum"], move || {
                let pieces = d.0.as_slice().par_chunks(1 << 16);
                let sums = pieces.map(|piece| {
                    let (lines, rest) = piece.as_chunks::<LANES>();
                    let mut sums: [$T; LANES] = [0.0; LANES];
                    for line in lines {
                        sums.iter_mut().zip(line).for_each(|(sum, x)| *sum += x);
                    }
                    sums.iter().sum::<$T>() + rest.iter().sum::<$T>()
                });
                sums.sum::<$T>()
            }),
            Task::hand("scale", &["twice"], move || {
                e.0.as_slice()
                    .par_iter()
                    .map(|&x| x + x)
                    .collect::<Vec<$T>>()
            }),
        ]
    }};
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    Ok(if inputs.is_single("x") {
        tasks!(f32, inputs)
    } else {
        tasks!(f64, inputs)
    })
}
