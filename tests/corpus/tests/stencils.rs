//! Several steps of a loop at once: the same bits as step by step, on any number of threads, for
//! sizes that are cut into tiles and for those that are not.

mod common;

use common::*;
use pointful_corpus::stencils as corpus;
use pointful_runtime::{Dyn, Extent, Table, stats};

/// Rows and columns.
const GRIDS: [[usize; 2]; 9] = [
    [0, 3],
    [3, 0],
    [1, 1],
    [2, 5],
    [5, 2],
    [64, 70],
    [257, 300],
    [700, 33],
    [40, 4000],
];

const STEPS: [usize; 5] = [0, 1, 2, 17, 40];

fn spread(u: &[f64], [rows, columns]: [usize; 2], steps: usize) -> Vec<f64> {
    let mut u = u.to_vec();
    for _ in 0..steps {
        let before = u.clone();
        let at = |r: usize, c: usize| before[r * columns + c];
        for r in 1..rows.max(1) - 1 {
            for c in 1..columns.max(1) - 1 {
                u[r * columns + c] = 0.5 * at(r, c)
                    + 0.1 * (at(r + 1, c) + at(r - 1, c))
                    + 0.2 * at(r, c + 1)
                    + 0.05 * at(r, c - 1);
            }
        }
    }
    u
}

#[test]
fn neighbours_in_rows_and_columns() {
    for grid in GRIDS {
        let [rows, columns] = grid;
        let u = floats::<f64>(1, rows * columns);
        for steps in STEPS {
            let found = on_threads(|| corpus::spread(&matrix(rows, columns, &u), steps));
            close(found.as_slice(), &spread(&u, grid, steps));
        }
    }
}

#[test]
fn steps_are_launched_several_at_a_time() {
    let u = matrix(257, 300, &floats::<f64>(1, 257 * 300));
    let launches = |steps| stats::measure(|| corpus::spread(&u, steps)).1.launches;
    // Eight at a time, for eight tiles that lose a quarter of their rows at each end.
    assert_eq!(launches(41) - launches(1), 5);
    let waves = |steps| stats::measure(|| corpus::waves(&u, &u, steps)).1.launches;
    assert!(waves(41) - waves(1) < 20);
    let [t, s, f, c] = NETWORKS[NETWORKS.len() - 1];
    let zeros = |dims: [usize; 3]| cube(dims, &vec![0.0; dims.iter().product()]);
    let [input, feedback] = [
        matrix(c, f, &vec![0.1; c * f]),
        matrix(c, c, &vec![0.1; c * c]),
    ];
    let batch = (zeros([t, s, f]), zeros([t, s, c]));
    let (_, counted) = stats::measure(|| corpus::recurrent(&input, &feedback, &batch.0, &batch.1));
    // The factors as they are wanted, and all steps.
    assert_eq!(counted.launches, 3);
    // Too few rows, and rows that count around.
    let few = matrix(3, 40_000, &floats::<f64>(1, 120_000));
    let launches = |steps| stats::measure(|| corpus::spread(&few, steps)).1.launches;
    assert_eq!(launches(41) - launches(1), 40);
    let ring = vector(&floats::<f64>(1, 100_000));
    let launches = |steps| stats::measure(|| corpus::around(&ring, steps)).1.launches;
    assert_eq!(launches(41) - launches(1), 40);
}

#[test]
fn gradients_go_back_through_the_same_neighbours() {
    for grid in GRIDS {
        let [rows, columns] = grid;
        let (u, w) = (
            floats::<f64>(1, rows * columns),
            floats::<f64>(2, rows * columns),
        );
        let [u_table, w_table] = [&u, &w].map(|x| matrix(rows, columns, x));
        for steps in STEPS {
            let back = on_threads(|| corpus::spread_back(&u_table, &w_table, steps));
            // It is linear: the adjoint law with itself.
            let forth = spread(&u, grid, steps);
            let inner = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
            close(&[inner(&u, back.as_slice())], &[inner(&forth, &w)]);
        }
    }
}

#[test]
fn neighbours_beyond_the_ends() {
    for len in [0, 1, 2, 3, 7, 1000, 60_000] {
        let x = floats::<f32>(1, len);
        for steps in STEPS {
            let mut expected = x.clone();
            for t in 0..steps {
                let before = expected.clone();
                let at = |n: i64, mirrors: bool| {
                    let last = len as i64 - 1;
                    let mut n = n;
                    while mirrors && !(0..=last).contains(&n) {
                        n = if n < 0 { -n } else { 2 * last - n };
                        if last == 0 {
                            n = 0;
                        }
                    }
                    before[n.clamp(0, last) as usize]
                };
                for n in 0..len {
                    let near = at(n as i64 - 2, true) - 0.25 * at(n as i64 + 3, false);
                    expected[n] = 0.5 * before[n] + 0.3 * near - 0.001 * t as f32;
                }
            }
            let found = on_threads(|| corpus::bent(&vector(&x), steps));
            assert_eq!(found.as_slice(), expected);
        }
    }
}

#[test]
fn rows_in_a_ring() {
    for len in [1, 2, 1000, 60_000] {
        let x = floats::<f64>(1, len);
        let mut expected = x.clone();
        for _ in 0..20 {
            let before = expected.clone();
            for n in 0..len {
                expected[n] = 0.5 * before[(n + len - 1) % len] + 0.5 * before[n];
            }
        }
        let found = on_threads(|| corpus::around(&vector(&x), 20));
        close(found.as_slice(), &expected);
    }
}

#[test]
fn several_kernels_a_step_and_a_sum() {
    for [rows, columns] in GRIDS {
        let (u, v) = (
            floats::<f64>(1, rows * columns),
            floats::<f64>(2, rows * columns),
        );
        for steps in STEPS {
            let (mut eu, mut ev, mut moved) = (u.clone(), v.clone(), 0.0);
            for _ in 0..steps {
                let up = |r: usize| r.saturating_sub(1) * columns;
                let down = |r: usize| (r + 1).min(rows - 1) * columns;
                let each = |value: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
                    (0..rows * columns)
                        .map(|at| value(at / columns, at % columns))
                        .collect()
                };
                let bend =
                    each(&|r, c| eu[down(r) + c] + eu[up(r) + c] - 2.0 * eu[r * columns + c]);
                let pull = each(&|r, c| bend[up(r) + c] + bend[down(r) + c]);
                ev = each(&|r, c| {
                    let at = r * columns + c;
                    0.99 * ev[at] + 0.1 * bend[at] - 0.01 * pull[at]
                });
                eu = each(&|r, c| eu[r * columns + c] + 0.1 * ev[r * columns + c]);
                moved += ev.iter().map(|v| v * v).sum::<f64>();
            }
            let found = on_threads(|| {
                corpus::waves(
                    &matrix(rows, columns, &u),
                    &matrix(rows, columns, &v),
                    steps,
                )
            });
            close(found.0.as_slice(), &eu);
            close(found.1.as_slice(), &ev);
            close(&[found.2], &[moved]);
        }
    }
}

fn cube(dims: [usize; 3], values: &[f64]) -> Table<(Dyn, Dyn, Dyn), f64> {
    Table::from_vec(Extent::new((dims[0], dims[1], dims[2])), values.to_vec())
        .expect("as many values")
}

/// Steps, sequences, features, cells.
const NETWORKS: [[usize; 4]; 6] = [
    [0, 3, 2, 2],
    [3, 0, 2, 2],
    [4, 1, 1, 1],
    [5, 7, 3, 9],
    [6, 64, 20, 30],
    [30, 150, 16, 33],
];

#[test]
fn products_in_steps() {
    for [t, s, f, c] in NETWORKS {
        let small = |seed, len| {
            floats::<f64>(seed, len)
                .iter()
                .map(|x| 0.1 * x)
                .collect::<Vec<_>>()
        };
        let (input, feedback) = (small(1, c * f), small(2, c * c));
        let (features, targets) = (small(3, t * s * f), small(4, t * s * c));
        let loss = |input: &[f64], feedback: &[f64], features: &[f64]| {
            let (mut state, mut total) = (vec![0.0; s * c], 0.0);
            for t in 0..t {
                let before = state.clone();
                for q in 0..s {
                    for k in 0..c {
                        let came: f64 = (0..f)
                            .map(|j| input[k * f + j] * features[(t * s + q) * f + j])
                            .sum();
                        let back: f64 = (0..c)
                            .map(|j| feedback[k * c + j] * before[q * c + j])
                            .sum();
                        state[q * c + k] = (came + back).tanh();
                        total += (state[q * c + k] - targets[(t * s + q) * c + k]).powi(2);
                    }
                }
            }
            total
        };
        let tables = (
            matrix(c, f, &input),
            matrix(c, c, &feedback),
            cube([t, s, f], &features),
            cube([t, s, c], &targets),
        );
        let found = on_threads(|| corpus::recurrent(&tables.0, &tables.1, &tables.2, &tables.3));
        close(&[found], &[loss(&input, &feedback, &features)]);
        let slope =
            on_threads(|| corpus::recurrent_slope(&tables.0, &tables.1, &tables.2, &tables.3));
        // Against differences in one direction, which all have a part in.
        let along = |x: &[f64], h: f64| {
            x.iter()
                .enumerate()
                .map(|(n, x)| x + h * (n as f64).sin())
                .collect::<Vec<_>>()
        };
        let moved = |h: f64| {
            loss(
                &along(&input, h),
                &along(&feedback, h),
                &along(&features, h),
            )
        };
        let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        let part = |slope: &[f64]| {
            slope
                .iter()
                .enumerate()
                .map(|(n, x)| x * (n as f64).sin())
                .sum::<f64>()
        };
        let total = part(slope.0.as_slice()) + part(slope.1.as_slice()) + part(slope.2.as_slice());
        assert!(
            (total - difference).abs() <= 1e-5 * (1.0 + difference.abs()),
            "{total} {difference}"
        );
    }
}
