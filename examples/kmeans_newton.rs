//! Finds the centres of clusters by Newton's method, of which nobody derives the derivatives: as
//! the cost of a centre does not depend on the other centres, its Hessian is a diagonal, which one
//! product with a vector of ones reads off. Prints the cost, and draws clusters and cost to
//! `target/pictures`.

use pointful::prelude::*;
#[cfg(test)]
use pointful_examples::differences;
use pointful_examples::{figure, mixture, picture, progress};

/// An observed point.
#[derive(Clone, Copy, IndexSet)]
pub struct Point(usize);

/// A cluster.
#[derive(Clone, Copy, IndexSet)]
pub struct Cluster(usize);

/// A point's coordinates.
type Plane = Fin<2>;

#[pointful]
fn distance<D: IndexSet>(a: &Table<D, f64>, b: &Table<D, f64>) -> f64 {
    sum(for d in D {
        (a[d] - b[d]).powi(2)
    })
}

/// The nearest centre of every point.
#[pointful]
pub fn nearest<N: IndexSet, K: IndexSet, D: IndexSet>(
    points: &Table<(N, D), f64>,
    centres: &Table<(K, D), f64>,
) -> Table<N, K> {
    for n in N {
        argmin(for k in K {
            distance(&points[n], &centres[k])
        })
    }
}

/// The sum of the squared distances of all points to their nearest centres.
#[pointful]
pub fn cost<N: IndexSet, K: IndexSet, D: IndexSet>(
    points: &Table<(N, D), f64>,
    centres: &Table<(K, D), f64>,
) -> f64 {
    sum(for n in N {
        min(for k in K {
            distance(&points[n], &centres[k])
        })
    })
}

/// The cost and, after one of Newton's steps, the centres. A centre without points has no curvature
/// and stays.
#[pointful]
pub fn newton<N: IndexSet, K: IndexSet, D: IndexSet>(
    points: &Table<(N, D), f64>,
    centres: &Table<(K, D), f64>,
) -> (f64, Table<(K, D), f64>) {
    let (now, slope) = value_and_grad!(cost, wrt = centres)(points, centres);
    let ones = for (_k, _d) in (K, D) {
        1.0
    };
    let curvature = hvp!(cost, wrt = centres)(points, centres, &ones);
    let moved = for (k, d) in _ {
        if curvature[k][d] > 0.0 {
            centres[k][d] - slope[k][d] / curvature[k][d]
        } else {
            centres[k][d]
        }
    };
    (now, moved)
}

/// The shipped points and, to begin with, as many of them as there are clusters.
fn input() -> (Table<(Point, Plane), f64>, Table<(Cluster, Plane), f64>) {
    let file = mixture::read("gmm_d2_K5.txt");
    let first = file.points[..file.clusters * file.dims].to_vec();
    let points = Table::from_vec(Extent::new((file.count, ())), file.points);
    let centres = Table::from_vec(Extent::new((file.clusters, ())), first);
    (
        points.expect("two coordinates a point"),
        centres.expect("two coordinates a centre"),
    )
}

/// Up to `rounds` steps, until the cost stops falling: the centres and the cost before each step,
/// told to `report` as they come.
fn cluster(
    points: &Table<(Point, Plane), f64>,
    mut centres: Table<(Cluster, Plane), f64>,
    rounds: usize,
    mut report: impl FnMut(f64),
) -> (Table<(Cluster, Plane), f64>, Vec<f64>) {
    let mut costs: Vec<f64> = Vec::new();
    for _ in 0..rounds {
        let (now, moved) = newton(points, &centres);
        report(now);
        let done = costs.last().is_some_and(|&last| now >= last);
        costs.push(now);
        if done {
            break;
        }
        centres = moved;
    }
    (centres, costs)
}

fn main() {
    let (points, start) = input();
    let bar = progress::bar("Newton steps", 100);
    let (centres, costs) = cluster(&points, start, 100, |cost| {
        bar.set_message(format!("cost {cost:.6}"));
        bar.inc(1);
    });
    bar.abandon();
    println!(
        "cost {:.6} after {} steps",
        costs[costs.len() - 1],
        costs.len() - 1
    );
    println!("centres {centres}");
    let (clusters, curve) = (
        picture("kmeans_newton.png"),
        picture("kmeans_newton_cost.png"),
    );
    let of = nearest(&points, &centres);
    let found = figure::clusters(
        "Clusters by Newton's method",
        points.as_slice(),
        &of.ordinals(),
        centres.as_slice(),
    );
    figure::charts(&clusters, 1, &[found]).expect("the picture can be written");
    let falling = figure::Chart::new("How the cost falls", "step", "sum of squared distances")
        .line("", figure::BLUE, (0..).map(f64::from).zip(costs));
    figure::charts(&curve, 1, &[falling]).expect("the picture can be written");
    println!("{}\n{}", clusters.display(), curve.display());
}

/// One of Lloyd's steps in plain loops: every centre moves to the mean of its points, which is what
/// a Newton step is here.
#[cfg(test)]
fn lloyd(points: &[f64], centres: &[f64]) -> Vec<f64> {
    let (mut total, mut count) = (vec![0.0; centres.len()], vec![0.0; centres.len()]);
    for p in points.chunks(2) {
        let to = |c: &[f64]| (p[0] - c[0]).powi(2) + (p[1] - c[1]).powi(2);
        let distances: Vec<f64> = centres.chunks(2).map(to).collect();
        let k = (0..distances.len())
            .min_by(|&a, &b| distances[a].total_cmp(&distances[b]))
            .expect("there are clusters");
        for d in 0..2 {
            total[2 * k + d] += p[d];
            count[2 * k + d] += 1.0;
        }
    }
    (0..centres.len())
        .map(|k| {
            if count[k] > 0.0 {
                total[k] / count[k]
            } else {
                centres[k]
            }
        })
        .collect()
}

#[test]
fn a_newton_step_is_one_of_lloyds() {
    let (points, mut centres) = input();
    // A sixth centre far from every point: it has no curvature.
    let mut six = centres.as_slice().to_vec();
    six.extend([1e3, -1e3]);
    centres = Table::from_vec(Extent::new((6, ())), six).unwrap();
    for _ in 0..3 {
        let (_, moved) = newton(&points, &centres);
        let expected = lloyd(points.as_slice(), centres.as_slice());
        for (a, b) in moved.as_slice().iter().zip(&expected) {
            assert!(
                (a - b).abs() <= 1e-12 * b.abs().max(1.0),
                "{moved} {expected:?}"
            );
        }
        centres = moved;
    }
    assert_eq!(centres.as_slice()[10..], [1e3, -1e3]);
}

#[test]
fn the_cost_falls_to_a_fixed_point() {
    let (points, start) = input();
    let (centres, costs) = cluster(&points, start, 200, |_| ());
    let falls = costs
        .windows(2)
        .all(|pair| pair[1] <= pair[0] * (1.0 + 1e-12));
    assert!(falls && costs.len() < 200, "{costs:?}");
    assert!(costs[costs.len() - 1] < 0.6 * costs[0], "{costs:?}");
    let (_, again) = newton(&points, &centres);
    for (a, b) in again.as_slice().iter().zip(centres.as_slice()) {
        assert!(
            (a - b).abs() <= 1e-9,
            "a centre still moves from {b} to {a}"
        );
    }
}

#[cfg(test)]
#[pointful]
fn slope(
    points: &Table<(Point, Fin<2>), f64>,
    centres: &Table<(Cluster, Fin<2>), f64>,
) -> Table<(Cluster, Fin<2>), f64> {
    grad!(cost, wrt = centres)(points, centres)
}

#[test]
fn the_gradient_is_that_of_differences() {
    let (points, centres) = input();
    let by_differences = differences::gradient(centres.as_slice(), |at| {
        cost(
            &points,
            &Table::from_vec(centres.extent(), at.to_vec()).unwrap(),
        )
    });
    differences::assert_close(slope(&points, &centres).as_slice(), &by_differences, 1e-8);
}
