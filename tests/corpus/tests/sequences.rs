//! Products and kernels over the same rows: the same bits on any number of threads, for sizes that
//! are cut into tiles and for those that are not.

mod common;

use common::*;
use pointful_corpus::sequences as corpus;
use pointful_runtime::stats;

/// Rows, summed, columns, columns of a second product.
const SIZES: [[usize; 4]; 9] = [
    [0, 2, 3, 2],
    [3, 0, 2, 4],
    [2, 3, 0, 2],
    [3, 2, 4, 0],
    [1, 1, 1, 1],
    [7, 3, 9, 2],
    [300, 40, 33, 11],
    [257, 90, 120, 10],
    [1100, 65, 70, 9],
];

fn small(seed: u64, len: usize) -> Vec<f64> {
    floats::<f64>(seed, len).iter().map(|x| x / 8.0).collect()
}

#[test]
fn an_epilogue() {
    for [n, k, f, _] in SIZES {
        let (x, w) = (floats::<f32>(1, n * k), floats::<f32>(2, k * f));
        let found = on_threads(|| corpus::bent_product(&matrix(n, k, &x), &matrix(k, f, &w)));
        let wide = |values: &[f32], at: usize| f64::from(values[at]);
        let sums = product(
            [n, k, f],
            |i, p| wide(&x, i * k + p),
            |p, j| wide(&w, p * f + j),
        );
        let expected: Vec<f32> = sums.iter().map(|sum| sum.tanh() as f32).collect();
        close_f32(found.as_slice(), &expected);
    }
}

/// The loss of two layers, and its derivatives by the first weights, the inclinations, the second
/// weights, and what is seen.
fn layers(
    [n, k, f, c]: [usize; 4],
    x: &[f64],
    w: &[f64],
    b: &[f64],
    v: &[f64],
    y: &[f64],
) -> (f64, [Vec<f64>; 4]) {
    let sums = product([n, k, f], |i, p| x[i * k + p], |p, j| w[j * k + p]);
    let reached: Vec<f64> = sums
        .iter()
        .enumerate()
        .map(|(at, sum)| sum + b[at % f])
        .collect();
    let first: Vec<f64> = reached.iter().map(|r| r.max(0.0)).collect();
    let second = product([n, f, c], |i, p| first[i * f + p], |p, j| v[j * f + p]);
    let error: Vec<f64> = second.iter().zip(y).map(|(a, b)| 2.0 * (a - b)).collect();
    let loss = error.iter().map(|e| e * e / 4.0).sum();
    let back = product([n, c, f], |i, p| error[i * c + p], |p, j| v[p * f + j]);
    let back: Vec<f64> = back
        .iter()
        .zip(&reached)
        .map(|(d, &r)| if r >= 0.0 { *d } else { 0.0 })
        .collect();
    let dw = product([f, n, k], |j, i| back[i * f + j], |i, p| x[i * k + p]);
    let db = (0..f)
        .map(|j| (0..n).map(|i| back[i * f + j]).sum())
        .collect();
    let dv = product([c, n, f], |q, i| error[i * c + q], |i, j| first[i * f + j]);
    let dx = product([n, f, k], |i, j| back[i * f + j], |j, p| w[j * k + p]);
    (loss, [dw, db, dv, dx])
}

#[test]
fn layers_and_their_gradient() {
    for size in SIZES {
        let [n, k, f, c] = size;
        let (x, w, b, v, y) = (
            small(1, n * k),
            small(2, f * k),
            small(3, f),
            small(4, c * f),
            small(5, n * c),
        );
        let (loss, slopes) = layers(size, &x, &w, &b, &v, &y);
        let (x, w, b, v, y) = (
            matrix(n, k, &x),
            matrix(f, k, &w),
            vector(&b),
            matrix(c, f, &v),
            matrix(n, c, &y),
        );
        close(
            &[on_threads(|| corpus::layers(&x, &w, &b, &v, &y))],
            &[loss],
        );
        let found = on_threads(|| corpus::layers_back(&x, &w, &b, &v, &y));
        let found = [
            found.0.as_slice(),
            found.1.as_slice(),
            found.2.as_slice(),
            found.3.as_slice(),
        ];
        for (found, expected) in found.into_iter().zip(&slopes) {
            close(found, expected);
        }
    }
}

#[test]
fn attention() {
    for [n, k, m, f] in SIZES {
        let (q, key, v) = (small(1, n * k), small(2, m * k), small(3, m * f));
        let scores = product([n, k, m], |i, p| q[i * k + p], |p, j| key[j * k + p]);
        let tops: Vec<f64> = (0..n)
            .map(|i| {
                scores[i * m..][..m]
                    .iter()
                    .copied()
                    .fold(f64::NEG_INFINITY, f64::max)
            })
            .collect();
        let raised: Vec<f64> = scores
            .iter()
            .enumerate()
            .map(|(at, s)| (s - tops[at / m]).exp())
            .collect();
        let all: Vec<f64> = (0..n).map(|i| raised[i * m..][..m].iter().sum()).collect();
        let mixed = product([n, m, f], |i, p| raised[i * m + p], |p, j| v[p * f + j]);
        let mixed: Vec<f64> = mixed
            .iter()
            .enumerate()
            .map(|(at, x)| x / all[at / f])
            .collect();
        // Without keys each row is nothing over nothing.
        if m > 0 {
            let (q, key, v) = (matrix(n, k, &q), matrix(m, k, &key), matrix(m, f, &v));
            let (found, logs) = on_threads(|| corpus::attention(&q, &key, &v));
            close(found.as_slice(), &mixed);
            close(&[logs], &[all.iter().map(|x| x.ln()).sum()]);
        }
    }
}

#[test]
fn neighbours_of_what_is_multiplied() {
    for [n, k, f, _] in SIZES {
        let (x, w) = (small(1, n * k), small(2, k * f));
        let y = product([n, k, f], |i, p| x[i * k + p], |p, j| w[p * f + j]);
        let at = |row: usize, j: usize| y[row.min(n - 1) * f + j];
        let near = |i: usize, j: usize| (at(i + 1, j) - at(i.saturating_sub(2), j)).exp();
        let blurred = |i: usize, j: usize| near((i + 1).min(n - 1), j) + y[i * f + j] * near(i, j);
        let expected: Vec<f64> = (0..n * f).map(|at| blurred(at / f, at % f)).collect();
        let sums: Vec<f64> = (0..f).map(|j| (0..n).map(|i| y[i * f + j]).sum()).collect();
        let (found, found_sums) =
            on_threads(|| corpus::blurred_product(&matrix(n, k, &x), &matrix(k, f, &w)));
        close(found.as_slice(), &expected);
        close(found_sums.as_slice(), &sums);
    }
}

#[test]
fn what_all_rows_are_needed_for_comes_after() {
    for [n, k, f, _] in SIZES {
        let (x, w) = (small(1, n * k), small(2, k * f));
        let y = product([n, k, f], |i, p| x[i * k + p], |p, j| w[p * f + j]);
        let y: Vec<f64> = y.iter().map(|y| y.tanh()).collect();
        let mean = |j: usize| (0..n).map(|i| y[i * f + j]).sum::<f64>() / n as f64;
        let expected: Vec<f64> = (0..n * f).map(|at| y[at] - mean(at % f)).collect();
        let found = on_threads(|| corpus::centred_product(&matrix(n, k, &x), &matrix(k, f, &w)));
        close(found.as_slice(), &expected);
    }
}

#[test]
fn much_work_is_one_launch() {
    let [n, k, f] = [1100, 300, 70];
    let (x, w) = (
        matrix(n, k, &floats::<f32>(1, n * k)),
        matrix(k, f, &floats::<f32>(2, k * f)),
    );
    let (_, counts) = stats::measure(|| corpus::bent_product(&x, &w));
    assert_eq!(counts.launches, 1);
    assert_eq!(counts.allocations, 1, "the product is where the result is");
}
