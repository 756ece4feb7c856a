//! What emission runs together, twice or ahead reads what it would have read one iteration after
//! the other: compared with plain loops at lengths on both sides of all numbers of lanes, strips
//! and tiles.

mod common;

use common::{Source, close, close_f32, floats, matrix, on_threads, vector};
use pointful_corpus::states as corpus;
use pointful_runtime::{Dyn, Extent, IndexSet, Table};

const LENGTHS: [usize; 27] = [
    0, 1, 2, 3, 7, 8, 9, 11, 12, 13, 15, 16, 17, 20, 31, 32, 33, 48, 63, 64, 65, 70, 100, 127, 128,
    129, 1030,
];

fn places(seed: u64, len: usize, bins: usize) -> Vec<usize> {
    let mut source = Source::new(seed);
    (0..len)
        .map(|_| (source.next() + 128) as usize % bins.max(1))
        .collect()
}

fn of_places(places: &[usize], bins: usize) -> Table<Dyn, Dyn> {
    Table::from_indices(
        Extent::new(places.len()),
        Extent::new(bins),
        places.to_vec(),
    )
    .expect("valid")
}

fn greatest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The place of the first element that no other is better than.
fn first(values: &[f64], better: impl Fn(f64, f64) -> bool) -> usize {
    let mut at = 0;
    for (place, &value) in values.iter().enumerate() {
        if better(value, values[at]) {
            at = place;
        }
    }
    at
}

fn prefix_sums(x: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    x.iter()
        .map(|x| {
            sum += x;
            sum
        })
        .collect()
}

#[test]
fn a_state_under_an_extremum_goes_on_from_where_it_was() {
    for len in LENGTHS.into_iter().filter(|&len| len > 0) {
        for x in [vec![1.0; len], floats(len as u64, len)] {
            let sums = prefix_sums(&x);
            let (top, at) = on_threads(|| corpus::greatest_prefix(&vector(&x)));
            close(&[top], &[greatest(&sums)]);
            assert_eq!(
                at.ordinal(Extent::new(len)),
                first(&sums, |x, y| x > y),
                "{len}"
            );

            let mut y = 0.0f32;
            let single: Vec<f32> = x.iter().map(|&x| x as f32).collect();
            let track: Vec<f32> = single
                .iter()
                .map(|x| {
                    y = 0.5 * y + x;
                    y
                })
                .collect();
            let (most, fewest) = corpus::filtered(&vector(&single));
            close_f32(
                &[most, fewest],
                &[
                    track.iter().copied().fold(f32::NEG_INFINITY, f32::max),
                    track.iter().copied().fold(f32::INFINITY, f32::min),
                ],
            );

            let (mut at, mut speed) = (0.0, 0.0);
            let track: Vec<f64> = x
                .iter()
                .map(|x| {
                    speed = 0.9 * speed + x;
                    at += 0.1 * speed;
                    at
                })
                .collect();
            let (most, fewest, beyond) = corpus::furthest(&vector(&x));
            close(&[most, fewest], &[greatest(&track), least(&track)]);
            assert_eq!(beyond, track.iter().any(|&at| at > 1.0));

            let (mut top, mut level) = (0.0, 0.0);
            let falls: Vec<f64> = x
                .iter()
                .map(|x| {
                    level += x;
                    top = f64::max(top, level);
                    top - level
                })
                .collect();
            let (most, all, end) = corpus::drawdown(&vector(&x));
            close(
                &[most, all, end],
                &[greatest(&falls), falls.iter().sum(), level],
            );

            let mut best = 0.0;
            let new: Vec<f64> = x
                .iter()
                .filter(|&&x| {
                    let is = x > best;
                    best = f64::max(best, x);
                    is
                })
                .copied()
                .collect();
            let (count, sum) = corpus::records(&vector(&x));
            assert_eq!(count, new.len());
            close(&[sum], &[new.iter().sum()]);

            let mut u = x.clone();
            for k in 1..len {
                u[k] = 0.5 * u[k - 1] + 0.5 * u[k];
            }
            let (mut low, mut back) = (0.0, u.clone());
            for k in (0..len).rev() {
                low = 0.25 * low + u[k];
                back[k] = low;
            }
            let (found, top, at) = corpus::smoothed_twice(&vector(&x));
            close(found.as_slice(), &u);
            close(&[top], &[greatest(&back)]);
            assert_eq!(at.ordinal(Extent::new(len)), first(&back, |x, y| x < y));
        }
    }
}

#[test]
fn states_of_rows_go_on_from_where_they_were() {
    for len in LENGTHS.into_iter().filter(|&len| len > 0) {
        for rows in [1, 3, 17] {
            let x: Vec<f64> = floats(len as u64, rows * len);
            let (tops, at, sums) = on_threads(|| corpus::prefixes(&matrix(rows, len, &x)));
            for (row, x) in x.chunks(len).enumerate() {
                let found = prefix_sums(x);
                close(&[tops.as_slice()[row]], &[greatest(&found)]);
                close(&[sums.as_slice()[row]], &[found.iter().sum()]);
                assert_eq!(at.ordinals()[row], first(&found, |x, y| x < y));
            }
        }
    }
}

#[test]
fn what_a_loop_changes_is_changed_once_and_read_when_it_is() {
    for len in LENGTHS {
        for bins in [1, 2, 9] {
            let at = places(len as u64, len, bins);
            let mut counts = vec![0.0; bins];
            for &at in &at {
                counts[at] += 1.0;
            }
            let (count, top) = corpus::fullest(&of_places(&at, bins), Extent::<Dyn>::new(bins));
            close(count.as_slice(), &counts);
            let expected = if len == 0 {
                f64::NEG_INFINITY
            } else {
                greatest(&counts)
            };
            assert_eq!(top, expected, "{len} steps into {bins}");

            let x: Vec<f64> = floats::<f64>(1, len).iter().map(|x| 0.1 * x).collect();
            let start: Vec<f64> = (0..bins).map(|bin| 5.0 + (bin * len / 2) as f64).collect();
            let (mut left, mut paid) = (start.clone(), 0.0);
            for (x, &at) in x.iter().zip(&at) {
                if left[at] < 2.0 {
                    paid += (1..=12).map(|k| (x * f64::from(k)).exp()).sum::<f64>();
                }
                left[at] -= 1.0;
            }
            let (found, total) = corpus::spent(&vector(&x), &of_places(&at, bins), vector(&start));
            close(found.as_slice(), &left);
            close(&[total], &[paid]);

            let v: Vec<f64> = floats(2, bins);
            let mut h = v.clone();
            let expected: Vec<f64> = x
                .iter()
                .zip(&at)
                .map(|(x, &at)| {
                    let s = (x + 0.1 * h[at]).sin();
                    h[at] = x.sin();
                    if h[at] < 0.5 { 0.5 * s } else { s }
                })
                .collect();
            let found =
                on_threads(|| corpus::chosen(&vector(&x), &vector(&v), &of_places(&at, bins)));
            close(found.as_slice(), &expected);
        }
        let (mut s, mut total) = (0.25f64, 0.0);
        let x: Vec<f64> = floats(3, len);
        for &x in &x {
            let r = (1.0 + s * s + x * x).ln();
            total += if s < 0.5 {
                0.5 * r
            } else if x > s {
                r
            } else {
                -r
            };
            s = 0.3 * s + x;
        }
        let found = on_threads(|| corpus::likelihood(&vector(&x)));
        close(&[found.0, found.1], &[s, total]);
    }
}

#[test]
fn tables_of_rows_are_changed_once_and_read_when_they_are() {
    for len in LENGTHS.into_iter().filter(|&len| len > 0) {
        for (rows, bins) in [(1, 3), (18, 4), (5, 17)] {
            let x: Vec<f64> = floats(len as u64, rows * len);
            let at = places(7, rows * len, bins);
            let of = Table::<(Dyn, Dyn), Dyn>::from_indices(
                Extent::new((rows, len)),
                Extent::new(bins),
                at.clone(),
            )
            .expect("valid");
            let (counts, tops) =
                on_threads(|| corpus::by_rows(&matrix(rows, len, &x), &of, Extent::new(bins)));
            for row in 0..rows {
                let (mut h, mut g, mut seen) = (vec![0.0; bins], vec![0.0; bins], Vec::new());
                for k in row * len..(row + 1) * len {
                    h[at[k]] = 0.5 * h[at[k]] + x[k];
                    seen.push(if g[at[k]] < 1.0 { x[k].exp() } else { g[at[k]] });
                    g[at[k]] += x[k].abs();
                }
                close(&counts.as_slice()[row * bins..(row + 1) * bins], &h);
                close(
                    &[tops.as_slice()[row]],
                    &[greatest(&seen) + seen.iter().sum::<f64>()],
                );
            }
        }
    }
}

#[test]
fn steps_of_the_host_read_what_they_find() {
    for len in LENGTHS.into_iter().filter(|&len| len > 0) {
        let ones = vec![1.0; len];
        for steps in [0, 1, 2, 3, 9] {
            let x: Vec<f64> = floats(4, len);
            let mut h = ones.clone();
            let mut s = x.clone();
            for _ in 0..steps {
                let top = h[first(&h, |x, y| x > y)];
                s.iter_mut().for_each(|s| *s *= 0.5);
                h = vec![top; len];
            }
            let expected: Vec<f64> = s.iter().zip(&h).map(|(s, h)| s + h).collect();
            let found = corpus::halved(&vector(&x), &vector(&ones), steps);
            close(found.as_slice(), &expected);

            let (a, b) = (first(&x, |x, y| x > y), first(&x, |x, y| x < y));
            let (mut y, mut total) = (x.clone(), 0.0);
            for _ in 0..steps {
                total += y[if y.iter().sum::<f64>() > 1.0 { a } else { b }];
                y.iter_mut().for_each(|y| *y = *y * 0.5 + 1.0);
            }
            close(&[corpus::last_read(&vector(&x), steps)], &[total]);

            let mut rate = 0.1;
            let mut factor = 1.0;
            for _ in 0..steps {
                factor *= 1.0 - rate;
                rate *= 0.9;
            }
            let found = corpus::descent_grad(&vector(&x), 0.1, steps);
            close(found.as_slice(), &vec![factor; len]);

            let mut y = ones.clone();
            y[len - 1] = 0.75;
            let mut slope = ones.clone();
            let mut squared = y.clone();
            for _ in 0..steps {
                if squared.iter().sum::<f64>() > 1.0 {
                    for (slope, y) in slope.iter_mut().zip(&mut squared) {
                        *slope *= 2.0 * *y;
                        *y *= *y;
                    }
                }
            }
            let found = corpus::squared_grad(&vector(&y), steps);
            close(found.as_slice(), &slope);

            let w: Vec<f64> = floats(5, steps);
            let factor: f64 = prefix_sums(&w).iter().product();
            let expected: Vec<f64> = x.iter().map(|x| x * factor).collect();
            close(
                corpus::scaled(&vector(&x), &vector(&w)).as_slice(),
                &expected,
            );

            if steps > 0 {
                let mut w = w.clone();
                w[steps / 2] = 0.5;
                let expected: Vec<f64> = x
                    .iter()
                    .map(|&x| w.iter().fold(x, |x, w| x * w + 1.0))
                    .collect();
                let from = Dyn::from_ordinal(steps / 2, Extent::new(steps));
                let (found, changed) = corpus::scaled_by_owned(&vector(&x), vector(&w), from);
                close(found.as_slice(), &expected);
                close(changed.as_slice(), &w);
            }
        }
    }
}

fn circle(y: [f64; 8], f: f64, steps: usize) -> [f64; 8] {
    let right = |y: &[f64; 8]| -> [f64; 8] {
        std::array::from_fn(|i| (y[(i + 1) % 8] - y[(i + 6) % 8]) * y[(i + 7) % 8] - y[i] + f)
    };
    let moved = |y: &[f64; 8], h: f64, by: &[f64; 8]| -> [f64; 8] {
        std::array::from_fn(|i| y[i] + h * by[i])
    };
    (0..steps).fold(y, |y, _| {
        let half = moved(&y, 0.005, &right(&y));
        moved(&y, 0.01, &right(&half))
    })
}

/// States of a few numbers, which stay in variables.
#[test]
fn small_states_go_on_as_loops_of_plain_rust() {
    let y: [f64; 8] = std::array::from_fn(|i| 1.0 + 0.25 * i as f64);
    let m = [[0.9, 0.1, 0.0], [0.0, 0.8, 0.2], [0.1, 0.0, 0.7]];
    for steps in [0, 1, 2, 7, 100] {
        let found = corpus::in_a_circle(&Table::from(y), 3.0, steps);
        close(found.as_slice(), &circle(y, 3.0, steps));

        let total = |y: [f64; 8], f: f64| circle(y, f, steps).iter().sum::<f64>();
        let (slope, by_f) = corpus::in_a_circle_grad(&Table::from(y), 3.0, steps);
        let h = 1e-5;
        let near = |found: f64, up: f64, down: f64| {
            let expected = (up - down) / (2.0 * h);
            assert!(
                (found - expected).abs() < 1e-6 * expected.abs().max(1.0),
                "{found}, {expected}"
            );
        };
        for (k, &slope) in slope.as_slice().iter().enumerate() {
            let moved = |by: f64| std::array::from_fn(|i| y[i] + if i == k { by } else { 0.0 });
            near(slope, total(moved(h), 3.0), total(moved(-h), 3.0));
        }
        near(by_f, total(y, 3.0 + h), total(y, 3.0 - h));

        let z: Vec<f64> = (0..steps).map(|t| (t as f64 * 0.7).sin()).collect();
        let mut p = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let mut expected = 0.0;
        for z in &z {
            let mut next = [[0.0; 3]; 3];
            for (i, row) in next.iter_mut().enumerate() {
                for (j, next) in row.iter_mut().enumerate() {
                    let terms = (0..9).map(|n| m[i][n / 3] * p[n / 3][n % 3] * m[j][n % 3]);
                    *next = terms.sum::<f64>() + if i == j { 0.1 } else { 0.0 };
                }
            }
            let s = next[0][0] + 1.0;
            p = std::array::from_fn(|i| {
                std::array::from_fn(|j| next[i][j] - next[0][i] * next[0][j] / s)
            });
            expected += z * z / s + s.ln();
        }
        let (found, total) = corpus::covariance(&vector(&z), &Table::from(m));
        close(found.as_slice(), p.as_flattened());
        close(&[total], &[expected]);
    }
}

/// A factorization by rows, one by columns, and sweeps over every other element: loops that assign
/// and whose iterations do not wait for each other, about the length from which on sums in them are
/// loops.
#[test]
fn assigned_elements_are_those_of_plain_rust() {
    for n in [0_usize, 1, 2, 7, 15, 16, 17, 18, 40, 130] {
        let a: Vec<f64> = (0..n * n)
            .map(|at| {
                let (i, j) = (at / n, at % n);
                1.0 / (1.0 + i.abs_diff(j) as f64) + if i == j { n as f64 } else { 0.0 }
            })
            .collect();
        let mut w = a.clone();
        for k in 0..n {
            for i in k + 1..n {
                w[i * n + k] /= w[k * n + k];
                for j in k + 1..n {
                    w[i * n + j] -= w[i * n + k] * w[k * n + j];
                }
            }
        }
        let mut l = vec![0.0; n * n];
        for j in 0..n {
            for i in j..n {
                let sum: f64 = (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum();
                let rest: f64 = a[i * n + j] - sum;
                l[i * n + j] = if i == j {
                    rest.sqrt()
                } else {
                    rest / l[j * n + j]
                };
            }
        }
        let square = Table::<(Dyn, Dyn), f64>::from_vec((n, n), a).expect("so many elements");
        let (found, lower) = corpus::factored(&square);
        close(found.as_slice(), &w);
        close(lower.as_slice(), &l);

        let f: Vec<f64> = (0..n).map(|i| (i as f64 * 0.3).cos()).collect();
        let mut u = vec![1.0; n];
        for _ in 0..3 {
            for i in (1..n).step_by(2).chain((0..n).step_by(2)) {
                let last = n - 1;
                u[i] = 0.5 * (u[i.saturating_sub(1)] + u[(i + 1).min(last)] + f[i]);
            }
        }
        let found = corpus::red_and_black(&vector(&vec![1.0; n]), &vector(&f), 3);
        close(found.as_slice(), &u);
    }
}

/// What follows a state that is linearized where it is: the function and its Jacobian share a sine.
#[test]
fn a_filter_by_jacobians_has_slopes() {
    let x0 = [0.3, -0.2];
    for steps in [0, 1, 2, 7, 30] {
        let z: Vec<f64> = (0..steps).map(|t| (t as f64 * 0.7).sin()).collect();
        let (by_start, by_seen) = corpus::tracked_grad(&Table::from(x0), &vector(&z));
        let (h, value) = (1e-6, |x: [f64; 2], z: &[f64]| {
            corpus::tracked(&Table::from(x), &vector(z))
        });
        let near = |found: f64, up: f64, down: f64| {
            let expected = (up - down) / (2.0 * h);
            assert!(
                (found - expected).abs() < 1e-6 * expected.abs().max(1.0),
                "{found}, {expected}"
            );
        };
        for k in 0..2 {
            let moved = |by: f64| std::array::from_fn(|i| x0[i] + if i == k { by } else { 0.0 });
            near(
                by_start.as_slice()[k],
                value(moved(h), &z),
                value(moved(-h), &z),
            );
        }
        for t in 0..steps {
            let moved = |by: f64| -> Vec<f64> {
                z.iter()
                    .enumerate()
                    .map(|(k, &z)| z + if k == t { by } else { 0.0 })
                    .collect()
            };
            near(
                by_seen.as_slice()[t],
                value(x0, &moved(h)),
                value(x0, &moved(-h)),
            );
        }
    }
}
