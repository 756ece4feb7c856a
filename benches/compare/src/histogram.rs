//! How much weight there is in each class, and the gradient by the weights of how far that is from
//! what was expected.

use std::sync::Arc;

use pointful::prelude::*;
use rayon::prelude::*;

use crate::{Failure, Inputs, Task};

/// An observation.
#[derive(Clone, Copy, IndexSet)]
pub struct Observation(usize);

/// A class of them.
#[derive(Clone, Copy, IndexSet)]
pub struct Class(usize);

/// The total weight of the observations of each class.
#[pointful]
pub fn histogram(
    class: &Table<Observation, Class>,
    weights: &Table<Observation, f64>,
) -> Table<Class, f64> {
    let mut total = Accum::zero();
    for n in Observation {
        total[class[n]] += weights[n];
    }
    total.get()
}

/// The sum of the squared differences between these and what was expected.
#[pointful]
pub fn misfit(
    class: &Table<Observation, Class>,
    weights: &Table<Observation, f64>,
    expected: &Table<Class, f64>,
) -> f64 {
    let found = histogram(class, weights);
    sum(for k in Class {
        (found[k] - expected[k]).powi(2)
    })
}

/// Twenty observations of five classes, of which one is empty.
pub(crate) fn small() -> Inputs {
    let class: Vec<i32> = (0..20).map(|n| (n * n) % 4).collect();
    Inputs::made()
        .with("class", &Table::<Dyn, i32>::from(class))
        .noise("weights", Extent::<Dyn>::new(20), 2, |x| x)
        .noise("expected", Extent::<Dyn>::new(5), 3, |x| x)
}

struct Input {
    class: Table<Observation, Class>,
    weights: Table<Observation, f64>,
    expected: Table<Class, f64>,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let expected: Table<Class, f64> = inputs.table("expected")?;
    let input = Arc::new(Input {
        class: inputs.indices("class", expected.extent())?,
        weights: inputs.table("weights")?,
        expected,
    });
    let [a, b, c, d] = [(); 4].map(|()| Arc::clone(&input));
    Ok(vec![
        Task::pointful("histogram", &["histogram"], move || {
            histogram(&a.class, &a.weights)
        }),
        Task::pointful("value", &["value"], move || {
            misfit(&b.class, &b.weights, &b.expected)
        }),
        Task::pointful("gradient", &["value", "weights"], move || {
            value_and_grad!(misfit, wrt = weights)(&c.class, &c.weights, &c.expected)
        }),
        Task::hand("histogram", &["histogram"], move || by_hand(&d)),
    ])
}

/// Each thread has a histogram of its own.
fn by_hand(input: &Input) -> Vec<f64> {
    let classes = input.expected.len();
    let class = input.class.ordinals();
    let piece = class.len().div_ceil(rayon::current_num_threads()).max(1);
    class
        .par_chunks(piece)
        .zip(input.weights.as_slice().par_chunks(piece))
        .map(|(class, weights)| {
            let mut total = vec![0.0; classes];
            for (k, weight) in class.iter().zip(weights) {
                total[*k] += weight;
            }
            total
        })
        .reduce_with(|mut all, one| {
            all.iter_mut().zip(one).for_each(|(all, one)| *all += one);
            all
        })
        .unwrap_or_else(|| vec![0.0; classes])
}
