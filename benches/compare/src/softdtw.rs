//! How far two series are apart when time may be stretched: dynamic time warping with a smooth
//! minimum.

use std::sync::Arc;

use pointful::prelude::*;

use crate::{Failure, Inputs, Task};

/// A moment of the first series.
#[derive(Clone, Copy, IndexSet)]
pub struct Here(usize);

/// A moment of the second.
#[derive(Clone, Copy, IndexSet)]
pub struct There(usize);

/// A minimum of three numbers, of which at most two are infinite. Next to others that are within
/// `gamma` of it, it is less than the least.
#[pointful]
fn soft_min(a: f64, b: f64, c: f64, gamma: f64) -> f64 {
    let least = a.min(b).min(c);
    let near = |x: f64| ((least - x) / gamma).exp();
    least - gamma * (near(a) + near(b) + near(c)).ln()
}

/// The soft minimum over all ways to walk along both series of the sum of square distances.
#[pointful]
pub fn distance(x: &Table<Here, f64>, y: &Table<There, f64>, gamma: f64) -> f64 {
    // What the cheapest ways to here and all of there cost.
    let mut row = for _j in There {
        f64::INFINITY
    };
    let mut corner = 0.0;
    for i in Here {
        let mut diagonal = corner;
        let mut left = f64::INFINITY;
        row = for j in There {
            let best = soft_min(diagonal, row[j], left, gamma);
            diagonal = row[j];
            left = (x[i] - y[j]).powi(2) + best;
            left
        };
        corner = f64::INFINITY;
    }
    row[size(There) - 1]
}

/// Six moments and eight.
pub(crate) fn small() -> Inputs {
    Inputs::made()
        .noise("x", Extent::<Dyn>::new(6), 1, |x| x)
        .noise("y", Extent::<Dyn>::new(8), 2, |x| x)
        .with("gamma", &Table::<Dyn, f64>::from(vec![0.3]))
}

struct Input {
    x: Table<Here, f64>,
    y: Table<There, f64>,
    gamma: f64,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let gamma: Table<Dyn, f64> = inputs.table("gamma")?;
    let input = Arc::new(Input {
        x: inputs.table("x")?,
        y: inputs.table("y")?,
        gamma: *gamma.iter().next().ok_or("a number is missing")?,
    });
    let [a, b, c, d] = [(); 4].map(|()| Arc::clone(&input));
    Ok(vec![
        Task::pointful("value", &["value"], move || distance(&a.x, &a.y, a.gamma)),
        Task::pointful("gradient", &["value", "x", "y"], move || {
            let slope = value_and_grad!(distance, wrt = (x, y));
            let (value, (x, y)) = slope(&b.x, &b.y, b.gamma);
            (value, x, y)
        }),
        Task::hand("value", &["value"], move || c.costs().1),
        Task::hand("gradient", &["value", "x", "y"], move || d.gradient()),
    ])
}

/// By hand on one core: each cell waits for the one before.
impl Input {
    /// What it costs to get to each cell, around which there is a border that costs all, and to
    /// the last one.
    fn costs(&self) -> (Vec<f64>, f64) {
        let (x, y) = (self.x.as_slice(), self.y.as_slice());
        let width = y.len() + 2;
        let mut cost = vec![f64::INFINITY; (x.len() + 2) * width];
        cost[0] = 0.0;
        for (i, x) in x.iter().enumerate() {
            for (j, y) in y.iter().enumerate() {
                let at = (i + 1) * width + j + 1;
                let ways = [cost[at - width - 1], cost[at - width], cost[at - 1]];
                let least = ways[0].min(ways[1]).min(ways[2]);
                let near = ways.map(|way| ((least - way) / self.gamma).exp());
                let best = least - self.gamma * near.iter().sum::<f64>().ln();
                cost[at] = (x - y).powi(2) + best;
            }
        }
        let last = cost[x.len() * width + y.len()];
        (cost, last)
    }

    fn gradient(&self) -> (f64, Vec<f64>, Vec<f64>) {
        let (x, y) = (self.x.as_slice(), self.y.as_slice());
        let (cost, last) = self.costs();
        let width = y.len() + 2;
        // How much of the whole goes through each cell: to the next ones as much as they take.
        let mut share = vec![0.0; cost.len()];
        let (mut by_x, mut by_y) = (vec![0.0; x.len()], vec![0.0; y.len()]);
        for i in (0..x.len()).rev() {
            for j in (0..y.len()).rev() {
                let at = (i + 1) * width + j + 1;
                let mut through = 0.0;
                if (i, j) == (x.len() - 1, y.len() - 1) {
                    through = 1.0;
                }
                for (next, a, b) in [(1, i, j + 1), (width, i + 1, j), (width + 1, i + 1, j + 1)] {
                    if a < x.len() && b < y.len() {
                        let best = cost[at + next] - (x[a] - y[b]).powi(2);
                        through += share[at + next] * ((best - cost[at]) / self.gamma).exp();
                    }
                }
                share[at] = through;
                by_x[i] += 2.0 * through * (x[i] - y[j]);
                by_y[j] -= 2.0 * through * (x[i] - y[j]);
            }
        }
        (last, by_x, by_y)
    }
}
