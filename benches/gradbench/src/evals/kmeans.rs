//! The step of Newton's method towards better cluster centres.

use pointful::prelude::*;
use serde::Deserialize;

use crate::protocol::{Answer, Failure, Request};
use crate::tables::{matrix, rows, width};

/// An observed point.
#[derive(Clone, Copy, IndexSet)]
pub struct Point(usize);

/// A cluster.
#[derive(Clone, Copy, IndexSet)]
pub struct Cluster(usize);

/// The sum of the squared distances of all points to their nearest centres.
#[pointful]
pub fn cost<N: IndexSet, K: IndexSet, D: IndexSet>(
    points: &Table<(N, D), f64>,
    centres: &Table<(K, D), f64>,
) -> f64 {
    sum(for n in N {
        min(for k in K {
            sum(for d in D {
                (points[n][d] - centres[k][d]).powi(2)
            })
        })
    })
}

/// The gradient divided by the Hessian, which is diagonal: its product with a vector of ones is all
/// of it.
#[pointful]
pub fn direction<N: IndexSet, K: IndexSet, D: IndexSet>(
    points: &Table<(N, D), f64>,
    centres: &Table<(K, D), f64>,
) -> Table<(K, D), f64> {
    let slope = |c: &Table<(K, D), f64>| grad!(cost, wrt = centres)(points, c);
    let (gradient, hessian) = jvp!(slope)(
        centres,
        &for (_k, _d) in (K, D) {
            1.0
        },
    );
    for (k, d) in _ {
        gradient[k][d] / hessian[k][d]
    }
}

#[derive(Deserialize)]
struct Input {
    points: Vec<Vec<f64>>,
    centroids: Vec<Vec<f64>>,
}

/// `cost` and `dir`.
pub fn evaluate(request: &Request<'_>) -> Result<Answer, Failure> {
    let Input { points, centroids } = request.input()?;
    let space = width::<Dyn>(&points);
    let points: Table<(Point, _), f64> = matrix("points", space, &points)?;
    let centres: Table<(Cluster, _), f64> = matrix("centroids", space, &centroids)?;
    match request.function {
        "cost" => request.repeat(|| cost(&points, &centres), |value| value),
        "dir" => request.repeat(|| direction(&points, &centres), |table| rows(&table)),
        _ => request.unknown(),
    }
}
