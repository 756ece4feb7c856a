//! The hyperbolic tangents of a product of matrices, and the gradient of their sum by both factors,
//! in either precision.

use std::sync::Arc;

use pointful::prelude::*;
use rayon::prelude::*;

use crate::{Failure, Inputs, Task};

/// A row of the result.
#[derive(Clone, Copy, IndexSet)]
pub struct Row(usize);

/// What is summed over.
#[derive(Clone, Copy, IndexSet)]
pub struct Inner(usize);

/// A column of the result.
#[derive(Clone, Copy, IndexSet)]
pub struct Column(usize);

/// Each element of the product, bent.
#[pointful]
pub fn bent<T: Float>(
    left: &Table<(Row, Inner), T>,
    right: &Table<(Inner, Column), T>,
) -> Table<(Row, Column), T> {
    for (i, j) in _ {
        sum(for k in _ {
            left[i][k] * right[k][j]
        })
        .tanh()
    }
}

/// The sum of them all.
#[pointful]
pub fn total<T: Float>(left: &Table<(Row, Inner), T>, right: &Table<(Inner, Column), T>) -> T {
    sum(bent(left, right))
}

/// Three by four by five.
pub(crate) fn small() -> Inputs {
    Inputs::made()
        .noise("left", Extent::<(Dyn, Dyn)>::new((3, 4)), 1, |x| x)
        .noise("right", Extent::<(Dyn, Dyn)>::new((4, 5)), 2, |x| x)
}

macro_rules! tasks {
    ($T:ty, $inputs:expr) => {{
        let left: Table<(Row, Inner), $T> = $inputs.table("left")?;
        let right: Table<(Inner, Column), $T> = $inputs.table("right")?;
        let input = Arc::new((left, right));
        let [a, b, c, d] = [(); 4].map(|()| Arc::clone(&input));
        let by_hand = |(left, right): &(Table<_, $T>, Table<_, $T>)| {
            let columns = right.extent().axes()[1];
            let (left, right) = (left.as_slice(), right.as_slice());
            let inner = right.len() / columns;
            let mut out: Vec<$T> = vec![0.0; left.len() / inner * columns];
            out.par_chunks_mut(columns).enumerate().for_each(|(i, row)| {
                for k in 0..inner {
                    let factor = left[i * inner + k];
                    for (o, r) in row.iter_mut().zip(&right[k * columns..]) {
                        *o += factor * r;
                    }
                }
                row.iter_mut().for_each(|o| *o = o.tanh());
            });
            out
        };
        vec![
            Task::pointful("bent", &["bent"], move || bent(&a.0, &a.1)),
            Task::pointful("value", &["value"], move || total(&b.0, &b.1)),
            Task::pointful("gradient", &["value", "left", "right"], move || {
                let (value, (left, right)) = value_and_grad!(total)(&c.0, &c.1);
                (value, left, right)
            }),
            Task::hand("bent", &["bent"], move || by_hand(&d)),
        ]
    }};
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    Ok(if inputs.is_single("left") {
        tasks!(f32, inputs)
    } else {
        tasks!(f64, inputs)
    })
}
