//! Files of mixtures of Gaussians, as the ADBench suite has them: parameters to begin with, points,
//! a prior.

use crate::data;

/// What such a file holds.
pub struct Mixture {
    /// Coordinates of a point.
    pub dims: usize,
    /// Clusters.
    pub clusters: usize,
    /// Points.
    pub count: usize,
    /// Weights, means, and factors of the inverse covariances, one after the other.
    pub parameters: Vec<f64>,
    /// The points, one after the other.
    pub points: Vec<f64>,
    /// How narrow the clusters are by a distribution that their covariances come from, and by how
    /// many more degrees of freedom than needed.
    pub prior: [f64; 2],
}

/// A file of `examples/data`.
///
/// # Panics
/// If it is not there, or not such a file.
pub fn read(name: &str) -> Mixture {
    let text = std::fs::read_to_string(data(name)).expect("the data is shipped");
    let mut numbers = text
        .split_whitespace()
        .map(|word| word.parse::<f64>().expect("the file holds numbers"));
    let mut next = |n: usize| {
        let some: Vec<f64> = numbers.by_ref().take(n).collect();
        assert!(some.len() == n, "the file is too short");
        some
    };
    let head = next(3);
    let (dims, clusters, count) = (head[0] as usize, head[1] as usize, head[2] as usize);
    Mixture {
        dims,
        clusters,
        count,
        parameters: next(clusters * (1 + dims + dims * (dims + 1) / 2)),
        points: next(count * dims),
        prior: [next(1)[0], next(1)[0]],
    }
}
