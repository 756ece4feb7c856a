//! Clusters by Lloyd's steps: prints how the cost falls and draws the clusters to
//! `target/pictures/kmeans.png`.

use pointful::prelude::*;
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

/// One of Lloyd's steps: every centre moves to the mean of the points nearest to it; one without
/// points stays.
#[pointful]
pub fn step<N: IndexSet, K: IndexSet, D: IndexSet>(
    points: &Table<(N, D), f64>,
    centres: &Table<(K, D), f64>,
) -> Table<(K, D), f64> {
    let mut count = Accum::zero();
    let mut total = Accum::zero();
    for n in N {
        let k = argmin(for k in K {
            distance(&points[n], &centres[k])
        });
        count[k] += 1.0;
        for d in D {
            total[k][d] += points[n][d];
        }
    }
    let (count, total) = (count.get(), total.get());
    for (k, d) in _ {
        if count[k] > 0.0 {
            total[k][d] / count[k]
        } else {
            centres[k][d]
        }
    }
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

/// Steps until the cost falls by less than a millionth; calls `report` with each cost.
fn cluster(
    points: &Table<(Point, Plane), f64>,
    mut centres: Table<(Cluster, Plane), f64>,
    mut report: impl FnMut(usize, f64),
) -> Table<(Cluster, Plane), f64> {
    let mut last = cost(points, &centres);
    report(0, last);
    for round in 1.. {
        centres = step(points, &centres);
        let now = cost(points, &centres);
        report(round, now);
        if last - now < 1e-6 * last {
            break;
        }
        last = now;
    }
    centres
}

fn main() {
    let (points, start) = input();
    let bar = progress::bar("steps", 100);
    let mut costs = Vec::new();
    let centres = cluster(&points, start.clone(), |round, cost| {
        bar.suspend(|| println!("step {round:2}: cost {cost:.6}"));
        bar.inc(1);
        costs.push((round as f64, cost));
    });
    bar.abandon();
    let panel = |title: &str, centres: &Table<(Cluster, Plane), f64>| {
        let clusters = nearest(&points, centres);
        figure::clusters(
            title,
            points.as_slice(),
            &clusters.ordinals(),
            centres.as_slice(),
        )
    };
    let panels = [
        panel("Five points as centres", &start),
        panel("After the last step", &centres),
        figure::Chart::new("How the cost falls", "step", "sum of squared distances").line(
            "",
            figure::BLUE,
            costs,
        ),
    ];
    let path = picture("kmeans.png");
    figure::charts(&path, 3, &panels).expect("the picture can be written");
    println!("centres {centres}\n{}", path.display());
}

#[test]
fn the_cost_falls_to_a_fixed_point() {
    let (points, start) = input();
    let mut costs = Vec::new();
    let centres = cluster(&points, start, |_, cost| costs.push(cost));
    assert!(
        costs
            .windows(2)
            .all(|pair| pair[1] <= pair[0] * (1.0 + 1e-12)),
        "{costs:?}"
    );
    assert!(costs[costs.len() - 1] < 0.6 * costs[0], "{costs:?}");
    let again = step(&points, &centres);
    let moved = again
        .as_slice()
        .iter()
        .zip(centres.as_slice())
        .fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    assert!(moved < 1e-2, "the centres still move by {moved}");
}

#[test]
fn agrees_with_plain_loops() {
    let (points, centres) = input();
    let expected: f64 = points
        .as_slice()
        .chunks(2)
        .map(|p| {
            let to = |c: &[f64]| (p[0] - c[0]).powi(2) + (p[1] - c[1]).powi(2);
            centres
                .as_slice()
                .chunks(2)
                .map(to)
                .fold(f64::INFINITY, f64::min)
        })
        .sum();
    assert!((cost(&points, &centres) - expected).abs() <= 1e-12 * expected);
}

#[test]
fn only_results_and_the_centres_side_by_side_are_stored() {
    let structure = |text: &'static str| text.lines().next().unwrap_or_default();
    assert_eq!(
        structure(explain!(nearest)),
        "nearest: kernels 2, allocations 2, copies 0, swaps 0, host loops 0"
    );
    assert_eq!(
        structure(explain!(cost)),
        "cost: kernels 2, allocations 1, copies 0, swaps 0, host loops 0"
    );
    // Both sums are accumulated by the loop that finds the nearest centre.
    assert_eq!(
        structure(explain!(step)),
        "step: kernels 3, allocations 3, copies 0, swaps 0, host loops 0"
    );
}
