//! Dynamic programs, by diagonals where both loops are long, in plain Rust cell by cell.

mod common;

use common::{close, close_f32, floats, vector};
use pointful_corpus::diagonals as corpus;
use pointful_runtime::{Dyn, Table};

/// Members of both sets: short ones, and around where diagonals begin; long enough for several
/// pieces.
const SIZES: [(usize, usize); 9] = [
    (0, 3),
    (2, 0),
    (1, 1),
    (5, 40),
    (31, 33),
    (32, 32),
    (33, 70),
    (100, 34),
    (300, 280),
];

/// The table whose cell `(i, j)` is a function of those above, to the left and between, if there
/// are any; rows from the last to the first with `back`.
fn table(
    (n, k): (usize, usize),
    back: bool,
    cell: impl Fn(usize, usize, [Option<f64>; 3]) -> f64,
) -> Vec<f64> {
    let mut t = vec![0.0; n * k];
    for row in 0..n {
        let i = if back { n - 1 - row } else { row };
        for j in 0..k {
            let above = (row > 0).then(|| if back { i + 1 } else { i.wrapping_sub(1) });
            let up = above.map(|above| t[above * k + j]);
            let left = (j > 0).then(|| t[i * k + j - 1]);
            let corner = above.filter(|_| j > 0).map(|above| t[above * k + j - 1]);
            t[i * k + j] = cell(i, j, [up, left, corner]);
        }
    }
    t
}

#[test]
fn tables_are_filled_in() {
    for (n, k) in SIZES {
        let (x, y): (Vec<f64>, Vec<f64>) = (floats(1, n), floats(2, k));
        let (xs, ys) = (vector(&x), vector(&y));
        let expected = table((n, k), false, |i, j, [up, left, corner]| {
            (0.4 * up.unwrap_or(x[i]) - 0.4 * left.unwrap_or(y[j])).sin()
                + 0.2 * corner.unwrap_or(0.25)
        });
        close(corpus::filled(&xs, &ys).as_slice(), &expected);
        let expected = table((n, k), true, |i, j, [down, left, _]| {
            (x[i] * y[j] + 0.5 * down.unwrap_or(0.5) * left.unwrap_or(-0.5)).tanh()
        });
        close(corpus::filled_back(&xs, &ys).as_slice(), &expected);
        let (x, y): (Vec<f32>, Vec<f32>) = (
            x.iter().map(|&x| x as f32).collect(),
            y.iter().map(|&y| y as f32).collect(),
        );
        let expected = table((n, k), false, |i, j, [up, left, _]| {
            let (up, left) = (up.unwrap_or(x[i].into()), left.unwrap_or(y[j].into()));
            f64::from((0.3 * up as f32 - 0.3 * left as f32).exp())
        });
        let expected: Vec<f32> = expected.iter().map(|&x| x as f32).collect();
        close_f32(
            corpus::single(&vector(&x), &vector(&y)).as_slice(),
            &expected,
        );
    }
}

#[test]
fn rows_are_made_of_rows() {
    for (n, k) in SIZES {
        let (x, y): (Vec<f64>, Vec<f64>) = (floats(3, n), floats(4, k));
        let (xs, ys) = (vector(&x), vector(&y));
        let gamma = 0.7;
        let costs = table((n, k), false, |i, j, [up, left, corner]| {
            let first = if i == 0 && j == 0 { 0.0 } else { f64::INFINITY };
            let before = [
                corner.unwrap_or(first),
                up.unwrap_or(f64::INFINITY),
                left.unwrap_or(f64::INFINITY),
            ];
            let least = before.into_iter().fold(f64::INFINITY, f64::min);
            let near: f64 = before.iter().map(|x| ((least - x) / gamma).exp()).sum();
            (x[i] - y[j]).powi(2) + least - gamma * near.ln()
        });
        let found = corpus::warping(&xs, &ys, gamma);
        match n {
            0 => assert!(found.as_slice().iter().all(|&x| x == f64::INFINITY)),
            _ => close(found.as_slice(), &costs[(n - 1) * k..]),
        }

        let (mut u, mut last) = (y.clone(), Vec::new());
        for &x in &x {
            let mut r = x.exp();
            for u in &mut u {
                *u = (0.4 * *u + 0.3 * r).cos();
                r = 0.5 * r + 0.3 * *u;
            }
            last.push(r);
        }
        let (found, row) = corpus::kept(&xs, &ys);
        close(found.as_slice(), &last);
        close(row.as_slice(), &u);

        let (mut row, mut s) = (y.clone(), 0.0);
        for &x in &x {
            let mut left = x;
            for (row, y) in row.iter_mut().zip(&y) {
                left = (0.5 * left + 0.4 * *row).sin();
                s += left * y;
                *row = left;
            }
        }
        close(&[corpus::total(&xs, &ys)], &[s]);
    }
}

type Slopes = (f64, (Table<Dyn, f64>, Table<Dyn, f64>, f64));

/// Compares a gradient along one direction with a difference.
fn by_difference(gradient: impl Fn(&Table<Dyn, f64>, &Table<Dyn, f64>, f64) -> Slopes) {
    for (n, k) in SIZES {
        let (x, y): (Vec<f64>, Vec<f64>) = (floats(5, n), floats(6, k));
        let (dx, dy): (Vec<f64>, Vec<f64>) = (floats(7, n), floats(8, k));
        let at = |by: f64| {
            let moved = |x: &[f64], d: &[f64]| -> Vec<f64> {
                x.iter().zip(d).map(|(x, d)| x + by * d).collect()
            };
            let (x, y) = (moved(&x, &dx), moved(&y, &dy));
            gradient(&vector(&x), &vector(&y), 0.7 + 0.3 * by)
        };
        let (_, (x_slope, y_slope, gamma_slope)) = at(0.0);
        let along = |slopes: &[f64], d: &[f64]| -> f64 {
            slopes.iter().zip(d).map(|(slope, d)| slope * d).sum()
        };
        let slope =
            along(x_slope.as_slice(), &dx) + along(y_slope.as_slice(), &dy) + 0.3 * gamma_slope;
        let step = 1e-6;
        let difference = (at(step).0 - at(-step).0) / (2.0 * step);
        assert!(
            (slope - difference).abs() <= 1e-5 * (1.0 + slope.abs()),
            "{n} by {k}: {slope}, by differences {difference}"
        );
    }
}

#[test]
fn gradients_go_both_ways() {
    by_difference(corpus::rows_apart_grad);
    by_difference(corpus::cells_apart_grad);
}
