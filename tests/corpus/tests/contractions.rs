//! Products of matrices through a library: in each orientation, in batches, in a loop of the host,
//! and in derivatives; in pieces and out of them.

mod common;

use common::*;
use pointful_corpus::functions as corpus;
use pointful_runtime::{Dyn, Extent, Table};

/// Rows, summed, columns.
const SIZES: [[usize; 3]; 8] = [
    [0, 2, 3],
    [3, 0, 2],
    [2, 3, 0],
    [1, 1, 1],
    [2, 7, 1],
    [7, 3, 9],
    [130, 65, 33],
    [600, 40, 200],
];

#[test]
fn products() {
    for size in SIZES {
        let [m, k, n] = size;
        let (a, b) = (floats::<f64>(1, m * k), floats::<f64>(2, k * n));
        let (left, right) = (matrix(m, k, &a), matrix(k, n, &b));
        let found = on_threads(|| corpus::matmul(&left, &right));
        let expected = product(size, |i, p| a[i * k + p], |p, j| b[p * n + j]);
        close(found.as_slice(), &expected);
    }
}

#[test]
fn batches() {
    for [t, d, s] in SIZES {
        for h in [0, 1, 3] {
            let (a, b) = (floats::<f64>(3, t * h * d), floats::<f64>(4, s * h * d));
            let table = |n: usize, values: &[f64]| {
                Table::<(Dyn, Dyn, Dyn), f64>::from_vec(Extent::new((n, h, d)), values.to_vec())
                    .expect("as many values")
            };
            let (q, k) = (table(t, &a), table(s, &b));
            let found = on_threads(|| corpus::attention_scores(&q, &k));
            let expected: Vec<f64> = (0..h)
                .flat_map(|head| {
                    let scores = product(
                        [t, d, s],
                        |i, p| a[(i * h + head) * d + p],
                        |p, j| b[(j * h + head) * d + p],
                    );
                    scores.into_iter().map(|score| 0.5 * score)
                })
                .collect();
            close(found.as_slice(), &expected);
        }
    }
}

#[test]
fn batches_that_their_derivatives_keep() {
    for [t, d, s] in SIZES {
        for h in [0, 1, 3] {
            let small = |seed, len| -> Vec<f64> {
                let all = floats::<f64>(seed, len);
                all.iter().map(|x| x / 8.0).collect()
            };
            let (a, b) = (small(3, t * h * d), small(4, s * h * d));
            let table = |n: usize, values: &[f64]| {
                Table::<(Dyn, Dyn, Dyn), f64>::from_vec(Extent::new((n, h, d)), values.to_vec())
                    .expect("as many values")
            };
            let (q, k) = (table(t, &a), table(s, &b));
            let (by_q, by_k) = on_threads(|| {
                let (by_q, by_k) = corpus::sines_slope(&q, &k);
                (by_q.as_slice().to_vec(), by_k.as_slice().to_vec())
            });
            let (mut expected_q, mut expected_k) = (vec![0.0; a.len()], vec![0.0; b.len()]);
            for head in 0..h {
                let left = |i: usize, p: usize| a[(i * h + head) * d + p];
                let right = |j: usize, p: usize| b[(j * h + head) * d + p];
                let scores = product([t, d, s], left, |p, j| right(j, p));
                let slopes: Vec<f64> = scores.iter().map(|score| score.cos()).collect();
                let by_left = product([t, s, d], |i, j| slopes[i * s + j], right);
                let by_right = product([s, t, d], |j, i| slopes[i * s + j], left);
                for p in 0..d {
                    (0..t).for_each(|i| expected_q[(i * h + head) * d + p] = by_left[i * d + p]);
                    (0..s).for_each(|j| expected_k[(j * h + head) * d + p] = by_right[j * d + p]);
                }
            }
            close(&by_q, &expected_q);
            close(&by_k, &expected_k);
        }
    }
}

#[test]
fn powers() {
    for n in [0, 1, 2, 9, 40] {
        let a: Vec<f64> = floats::<f64>(5, n * n).iter().map(|x| x / 8.0).collect();
        let table = matrix(n, n, &a);
        let mut expected: Vec<f64> = (0..n * n)
            .map(|at| f64::from(u8::from(at / n == at % n)))
            .collect();
        for times in 0..4 {
            let found = on_threads(|| corpus::power(&table, times));
            close(found.as_slice(), &expected);
            let before = expected.clone();
            expected = product([n, n, n], |i, k| before[i * n + k], |k, j| a[k * n + j]);
        }
    }
}

#[test]
fn layers_and_their_derivative() {
    for [batch, inputs, hidden] in [[1, 2, 3], [0, 4, 2], [5, 9, 8], [150, 30, 20]] {
        let outputs = 11;
        let small =
            |seed, len| -> Vec<f32> { floats::<f32>(seed, len).iter().map(|x| x / 4.0).collect() };
        let table = |rows, columns, values: &[f32]| matrix::<f32>(rows, columns, values);
        let (x, w, v, seed) = (
            small(6, batch * inputs),
            small(7, inputs * hidden),
            small(8, outputs * hidden),
            small(9, outputs * batch),
        );
        let tables = (
            table(batch, inputs, &x),
            table(inputs, hidden, &w),
            table(outputs, hidden, &v),
            table(outputs, batch, &seed),
        );
        let found = on_threads(|| corpus::layers(&tables.0, &tables.1, &tables.2));
        let [wide_x, wide_w, wide_v, wide_seed] =
            [&x, &w, &v, &seed].map(|all| all.iter().copied().map(f64::from).collect::<Vec<_>>());
        let h: Vec<f64> = product(
            [batch, inputs, hidden],
            |b, i| wide_x[b * inputs + i],
            |i, h| wide_w[i * hidden + h],
        )
        .into_iter()
        .map(f64::tanh)
        .collect();
        let narrow = |all: &[f64]| all.iter().map(|&x| x as f32).collect::<Vec<_>>();
        let out = product(
            [outputs, hidden, batch],
            |o, k| wide_v[o * hidden + k],
            |k, b| h[b * hidden + k],
        );
        close_f32(found.as_slice(), &narrow(&out));
        let (dx, dw, dv) =
            on_threads(|| corpus::layers_back(&tables.0, &tables.1, &tables.2, &tables.3));
        let dv_expected = product(
            [outputs, batch, hidden],
            |o, b| wide_seed[o * batch + b],
            |b, k| h[b * hidden + k],
        );
        close_f32(dv.as_slice(), &narrow(&dv_expected));
        let dz: Vec<f64> = product(
            [batch, outputs, hidden],
            |b, o| wide_seed[o * batch + b],
            |o, k| wide_v[o * hidden + k],
        )
        .iter()
        .zip(&h)
        .map(|(d, h)| d * (1.0 - h * h))
        .collect();
        let dw_expected = product(
            [inputs, batch, hidden],
            |i, b| wide_x[b * inputs + i],
            |b, k| dz[b * hidden + k],
        );
        close_f32(dw.as_slice(), &narrow(&dw_expected));
        let dx_expected = product(
            [batch, hidden, inputs],
            |b, k| dz[b * hidden + k],
            |k, i| wide_w[i * hidden + k],
        );
        close_f32(dx.as_slice(), &narrow(&dx_expected));
    }
}

#[test]
fn products_inside_of_a_kernel() {
    // Up to several tiles, of which the last is not full.
    for [points, k, d] in [
        [0, 2, 3],
        [3, 1, 0],
        [1, 1, 1],
        [2, 3, 2],
        [7, 2, 9],
        [130, 3, 12],
        [1000, 2, 5],
    ] {
        let f = floats::<f64>(10, k * d * d);
        let (x, m) = (floats::<f64>(11, points * d), floats::<f64>(12, k * d));
        let [f, x, m] = [f, x, m].map(|all| all.iter().map(|x| x / 8.0).collect::<Vec<_>>());
        let cubes = |values: &[f64]| {
            Table::<(Dyn, Dyn, Dyn), f64>::from_vec(Extent::new((k, d, d)), values.to_vec())
                .expect("as many values")
        };
        let (table, means) = (matrix(points, d, &x), matrix(k, d, &m));
        let value = |f: &[f64], m: &[f64]| -> f64 {
            let each = (0..points).map(|n| {
                let scale = 1.0 + (0..d).map(|j| x[n * d + j].powi(2)).sum::<f64>();
                let y = |k: usize| -> f64 {
                    let rows = (0..d).map(|i| {
                        let terms =
                            (0..d).map(|j| f[(k * d + i) * d + j] * (x[n * d + j] - m[k * d + j]));
                        terms.sum::<f64>().powi(2)
                    });
                    -rows.sum::<f64>() / scale
                };
                let all: Vec<f64> = (0..k).map(y).collect();
                let top = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                top + all.iter().map(|y| (y - top).exp()).sum::<f64>().ln()
            });
            each.sum()
        };
        let found = on_threads(|| corpus::densities(&cubes(&f), &table, &means));
        close(&[found], &[value(&f, &m)]);
        let (df, dm) = on_threads(|| {
            let (df, dm) = corpus::densities_slope(&cubes(&f), &table, &means);
            (df.as_slice().to_vec(), dm.as_slice().to_vec())
        });
        // Along a direction, by differences.
        let (along_f, along_m) = (floats::<f64>(13, k * d * d), floats::<f64>(14, k * d));
        let at = |h: f64| {
            let moved = |all: &[f64], along: &[f64]| -> Vec<f64> {
                all.iter().zip(along).map(|(x, d)| x + h * d).collect()
            };
            value(&moved(&f, &along_f), &moved(&m, &along_m))
        };
        let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let slope = dot(&df, &along_f) + dot(&dm, &along_m);
        assert!(
            (slope - difference).abs() <= 1e-6 * (1.0 + difference.abs() + points as f64),
            "{slope} and {difference} at {:?}",
            [points, k, d]
        );
    }
}
