//! Windows whose places are known when the program runs: everything in plain Rust, the derivatives
//! of what is linear too.

mod common;

use common::*;
use pointful_corpus::windows as corpus;
use pointful_runtime::{Dyn, Extent, Fin, Table};

const LENGTHS: [usize; 8] = [0, 1, 2, 7, 33, 64, 257, 3000];
const WIDTHS: [usize; 6] = [0, 1, 3, 8, 40, 300];

fn for_each_size(mut check: impl FnMut(usize, usize)) {
    for n in LENGTHS {
        for m in WIDTHS {
            check(n, m);
        }
    }
}

#[test]
fn sums_of_what_is_so_far_apart() {
    for_each_size(|n, lags| {
        let (x, w) = (floats::<f64>(1, n), floats::<f64>(2, lags));
        let expected: Vec<f64> = (0..lags)
            .map(|l| {
                let at = |t: usize| x.get(t + l).copied().unwrap_or(0.5);
                w[l] + (0..n).map(|t| x[t] * at(t)).sum::<f64>()
            })
            .collect();
        let found = on_threads(|| corpus::lagged(&vector(&x), &vector(&w)));
        close(found.as_slice(), &expected);
    });
}

fn filtered(x: &[f64], w: &[f64]) -> Vec<f64> {
    let terms = |t: usize| (0..w.len().min(t + 1)).map(move |k| w[k] * x[t - k]);
    (0..x.len()).map(|t| terms(t).sum()).collect()
}

#[test]
fn filters_that_begin_with_zeros_and_their_derivatives() {
    for_each_size(|n, taps| {
        let [x, w, c] = [(1, n), (2, taps), (3, n)].map(|(seed, len)| floats::<f64>(seed, len));
        let tables = [&x, &w, &c].map(|values| vector(values));
        let found = on_threads(|| corpus::filtered(&tables[0], &tables[1]));
        close(found.as_slice(), &filtered(&x, &w));
        let (by_x, by_w) = on_threads(|| corpus::filtered_back(&tables[0], &tables[1], &tables[2]));
        let at_x = |s: usize| {
            (0..taps)
                .filter(|k| s + k < n)
                .map(|k| w[k] * c[s + k])
                .sum()
        };
        let at_w = |k: usize| (k..n).map(|t| x[t - k] * c[t]).sum();
        close(by_x.as_slice(), &(0..n).map(at_x).collect::<Vec<f64>>());
        close(by_w.as_slice(), &(0..taps).map(at_w).collect::<Vec<f64>>());
    });
}

#[test]
fn every_end_and_any_distance() {
    for n in [1, 2, 7, 64, 500] {
        for taps in [0, 1, 3, 40] {
            let (x, w) = (floats::<f32>(1, n), floats::<f32>(2, taps));
            for by in [0, 1, -3, 70, -1000, 1 << 40, -(1 << 40)] {
                let (wrapped, clamped, mirrored) =
                    on_threads(|| corpus::at_the_ends(&vector(&x), &vector(&w), by));
                let (len, period) = (n as i64, (2 * (n as i64 - 1)).max(1));
                let each = |place: &dyn Fn(i64, i64) -> i64| -> Vec<f32> {
                    let sum = |t: i64| {
                        let terms = (0..taps).map(|k| w[k] * x[place(t, k as i64) as usize]);
                        terms.sum::<f32>()
                    };
                    (0..len).map(sum).collect()
                };
                close_f32(
                    wrapped.as_slice(),
                    &each(&|t, k| (t + k + by).rem_euclid(len)),
                );
                close_f32(
                    clamped.as_slice(),
                    &each(&|t, k| (t - k + by).clamp(0, len - 1)),
                );
                let folded = |t: i64, k: i64| {
                    let at = (t + k - by).rem_euclid(period);
                    at.min(period - at)
                };
                close_f32(mirrored.as_slice(), &each(&folded));
            }
        }
    }
}

#[test]
fn rows_that_lie_elsewhere() {
    for [rows, columns] in [[1, 1], [2, 5], [9, 1], [40, 33], [33, 300]] {
        let x = floats::<f64>(1, rows * columns);
        for by in [0, 2, -1, 1000, i64::MIN, i64::MAX] {
            let at = |r: usize, c: usize| x[r * columns + c];
            let near = |r: usize| (r as i64).wrapping_add(by).clamp(0, rows as i64 - 1) as usize;
            let expected: Vec<f64> = (0..rows)
                .map(|r| {
                    let terms = (0..columns - 1).map(|c| at(r, c + 1) * at(near(r), c));
                    at(r, 0) + terms.sum::<f64>() + 1.0
                })
                .collect();
            let found = on_threads(|| corpus::moved_rows(&matrix(rows, columns, &x), by));
            close(found.as_slice(), &expected);
        }
    }
}

/// Rows and columns of a window, and of its places.
const WINDOWS: [[usize; 4]; 8] = [
    [1, 1, 1, 1],
    [3, 3, 4, 5],
    [2, 5, 1, 70],
    [5, 1, 33, 8],
    [0, 3, 4, 4],
    [3, 3, 0, 4],
    [4, 9, 40, 100],
    [30, 20, 3, 2],
];

#[test]
fn windows_inside_and_their_derivatives() {
    for [a, b, p, q] in WINDOWS {
        // Exactly as large as it must be, and larger.
        for more in [0, 3] {
            let (h, w) = (
                (p + a).saturating_sub(1) + more,
                (q + b).saturating_sub(1) + more,
            );
            let [x, k, c] =
                [(1, h * w), (2, a * b), (3, p * q)].map(|(seed, len)| floats::<f64>(seed, len));
            let tables = [matrix(h, w, &x), matrix(a, b, &k), matrix(p, q, &c)];
            let (mut value, mut by_x, mut by_k) = (0.0, vec![0.0; h * w], vec![0.0; a * b]);
            for at in 0..p * q * a * b {
                let (place, own) = (at / (a * b), at % (a * b));
                let there = (place / q + own / b) * w + place % q + own % b;
                value += c[place] * k[own] * x[there];
                by_x[there] += c[place] * k[own];
                by_k[own] += c[place] * x[there];
            }
            let found = on_threads(|| corpus::inside_back(&tables[0], &tables[1], &tables[2]));
            close(&[found.0], &[value]);
            close(found.1.0.as_slice(), &by_x);
            close(found.1.1.as_slice(), &by_k);
        }
    }
}

#[test]
fn a_window_that_does_not_fit_says_where() {
    let [x, k] = [(6, 40), (3, 3)].map(|(h, w)| matrix(h, w, &floats::<f64>(1, h * w)));
    for (places, wrong, of) in [([5, 38], 6, 6), ([4, 39], 40, 40)] {
        let c = matrix(places[0], places[1], &vec![1.0; places[0] * places[1]]);
        let message = panic_of(|| corpus::inside(&x, &k, &c));
        assert!(
            message.contains(&format!("index {wrong} is out of range")),
            "{message}"
        );
        assert!(message.contains(&format!("of {of} member")), "{message}");
    }
    // Nothing is asked where there is nothing.
    let none = matrix::<f64>(0, 1000, &[]);
    assert_eq!(corpus::inside(&x, &k, &none), 0.0);
}

#[test]
fn channels_and_their_derivatives() {
    for [o, c, p, q] in [
        [1, 1, 1, 1],
        [2, 3, 4, 40],
        [3, 0, 2, 2],
        [0, 2, 2, 2],
        [4, 2, 30, 33],
    ] {
        let (h, w) = (p + 2, q + 1);
        let [x, k, y] = [(1, c * h * w), (2, o * c * 6), (3, o * p * q)]
            .map(|(seed, len)| floats::<f32>(seed, len));
        let x_table: Table<(Dyn, Dyn, Dyn), f32> =
            Table::from_vec(Extent::new((c, h, w)), x.clone()).expect("as many values");
        let k_table: Table<(Dyn, Dyn, Fin<3>, Fin<2>), f32> =
            Table::from_vec(Extent::new((o, c, (), ())), k.clone()).expect("as many values");
        let y_table: Table<(Dyn, Dyn, Dyn), f32> =
            Table::from_vec(Extent::new((o, p, q)), y.clone()).expect("as many values");
        // Of each product: its place, its weight, and what it reads.
        let mut products = Vec::new();
        for place in 0..o * p * q {
            for own in 0..c * 6 {
                let (from, a, b) = (own / 6, own / 2 % 3, own % 2);
                let there = (from * h + place / q % p + a) * w + place % q + b;
                products.push((place, place / (p * q) * c * 6 + own, there));
            }
        }
        let [x, k] = [&x, &k].map(|all| all.iter().map(|&v| f64::from(v)).collect::<Vec<f64>>());
        let mut off: Vec<f64> = y.iter().map(|&y| -f64::from(y)).collect();
        for &(place, own, there) in &products {
            off[place] += k[own] * x[there];
        }
        let (mut by_x, mut by_k) = (vec![0.0; x.len()], vec![0.0; k.len()]);
        for &(place, own, there) in &products {
            by_x[there] += 2.0 * off[place] * k[own];
            by_k[own] += 2.0 * off[place] * x[there];
        }
        let value: f64 = off.iter().map(|off| off * off).sum();
        let found = on_threads(|| corpus::channels_back(&x_table, &k_table, &y_table));
        let near = |found: &[f32], expected: &[f64]| {
            let scale = expected.iter().fold(1.0, |most: f64, v| most.max(v.abs()));
            for (found, expected) in found.iter().zip(expected) {
                assert!((f64::from(*found) - expected).abs() <= 1e-4 * scale);
            }
            assert_eq!(found.len(), expected.len());
        };
        near(&[found.0], &[value]);
        near(found.1.0.as_slice(), &by_x);
        near(found.1.1.as_slice(), &by_k);
    }
}
