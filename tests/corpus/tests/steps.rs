//! Points that go through loops of their own, several of them at once: the same bits as each for
//! itself, and as in plain Rust.

mod common;

use common::{Source, close, close_f32, floats, panic_of, vector};
use pointful_corpus::steps as corpus;
use pointful_runtime::{Dyn, Extent, Table};

/// Around the numbers of points that advance together: of `f64` and `f32`.
const LENGTHS: [usize; 13] = [0, 1, 2, 15, 16, 17, 31, 32, 33, 47, 64, 100, 1000];

/// Numbers between 0 and 1.
fn shares(seed: u64, len: usize) -> Vec<f64> {
    let mut source = Source::new(seed);
    (0..len)
        .map(|_| (source.next() + 128) as f64 / 257.0)
        .collect()
}

/// Small numbers that are not negative.
fn counts(seed: u64, len: usize, most: i64) -> Vec<usize> {
    let mut source = Source::new(seed);
    (0..len)
        .map(|_| ((source.next() + 128) % (most + 1)) as usize)
        .collect()
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

fn bits_of_single(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn steps_of_points_side_by_side_are_those_of_each() {
    for len in LENGTHS {
        for steps in [0, 1, 2, 100] {
            let x = shares(1, len);
            let found = corpus::logistic(&vector(&x), 3.7, steps);
            let expected: Vec<f64> = x
                .iter()
                .map(|&x| (0..steps).fold(x, |x, _| 3.7 * x * (1.0 - x)))
                .collect();
            assert_eq!(bits(found.as_slice()), bits(&expected), "{len} points");
            let x: Vec<f32> = x.iter().map(|&x| x as f32).collect();
            let found = corpus::logistic_single(&vector(&x), 3.7, steps);
            let expected: Vec<f32> = x
                .iter()
                .map(|&x| (0..steps).fold(x, |x, _| 3.7 * x * (1.0 - x)))
                .collect();
            assert_eq!(
                bits_of_single(found.as_slice()),
                bits_of_single(&expected),
                "{len} points"
            );
        }
    }
}

#[test]
fn each_point_goes_on_as_long_as_it_does() {
    for len in LENGTHS {
        let numbers: Vec<i64> = common::ints(2, len)
            .into_iter()
            .map(|n| n.abs() * 7)
            .collect();
        for limit in [0, 1, 500] {
            let (steps, highest) = corpus::hailstones(&vector(&numbers), limit);
            for (at, &n) in numbers.iter().enumerate() {
                let (mut at_, mut most, mut count) = (n, n, 0);
                while at_ > 1 && count < limit {
                    at_ = if at_ % 2 == 0 { at_ / 2 } else { 3 * at_ + 1 };
                    most = most.max(at_);
                    count += 1;
                }
                assert_eq!(
                    (steps.as_slice()[at], highest.as_slice()[at]),
                    (count, most)
                );
            }
        }
    }
}

#[test]
fn rows_of_any_length_escape() {
    for (rows, columns) in [(0, 5), (3, 0), (1, 1), (5, 15), (5, 16), (7, 17), (40, 61)] {
        let found = corpus::escape(
            Extent::<Dyn>::new(rows),
            Extent::<Dyn>::new(columns),
            3.0,
            60,
        );
        let pixel = 3.0 / columns as f64;
        for row in 0..rows {
            for column in 0..columns {
                let cx = (column as f64 - 0.5 * columns as f64) * pixel - 0.5;
                let cy = (row as f64 - 0.5 * rows as f64) * pixel;
                let (mut zx, mut zy, mut steps) = (0.0_f64, 0.0_f64, 0);
                while zx * zx + zy * zy <= 4.0 && steps < 60 {
                    (zx, zy) = (zx * zx - zy * zy + cx, 2.0 * zx * zy + cy);
                    steps += 1;
                }
                assert_eq!(found.as_slice()[row * columns + column], steps);
            }
        }
    }
}

#[test]
fn loops_are_as_long_as_each_point_says() {
    for len in LENGTHS {
        let (x, lengths) = (shares(3, len), counts(4, len, 50));
        let found = corpus::of_lengths(&vector(&x), &vector(&lengths));
        let expected: Vec<f64> = x
            .iter()
            .zip(&lengths)
            .map(|(&x, &length)| (0..length).fold(x, |y, k| 0.5 * y + x / (k as f64 + 1.0)))
            .collect();
        assert_eq!(bits(found.as_slice()), bits(&expected), "{len} points");
    }
}

#[test]
fn loops_in_loops_are_masked_apart() {
    for len in LENGTHS {
        for steps in [0, 1, 20] {
            let x: Vec<f64> = floats(5, len);
            let (found, rounds) = corpus::nested(&vector(&x), steps);
            for (at, &x) in x.iter().enumerate() {
                let (mut x, mut count) = (x, 0);
                for t in 0..steps {
                    let (mut y, mut k) = (x, 0);
                    while y.abs() > 0.25 && k < 9 {
                        y = 0.5 * y * y - 0.3;
                        k += 1;
                    }
                    for j in 0..t {
                        y = y * 0.9 + j as f64 * 0.001;
                    }
                    x = if y > 0.0 { x - y } else { 0.7 * x + 1.0 };
                    count += k;
                }
                assert_eq!(bits(&found.as_slice()[at..=at]), bits(&[x]), "point {at}");
                assert_eq!(rounds.as_slice()[at], count);
            }
        }
    }
}

#[test]
fn branches_with_loops_are_taken_by_those_who_take_them() {
    for len in LENGTHS {
        // All of them one way, all the other, and both.
        for (from, to) in [(0.1, 1.0), (-1.0, -0.1), (-1.0, 1.0)] {
            let x: Vec<f64> = shares(6, len)
                .into_iter()
                .map(|x| from + x * (to - from))
                .collect();
            let found = corpus::two_ways(&vector(&x), 30);
            let expected: Vec<f64> = x
                .iter()
                .map(|&x| {
                    let mut y = x;
                    if y > 0.0 {
                        (0..30).fold(y, |y, _| (y * y).sqrt() * 0.9 + 0.1)
                    } else {
                        let mut k = 0;
                        while y < 1.0 && k < 30 {
                            y = y * 0.5 + 0.6;
                            k += 1;
                        }
                        -y
                    }
                })
                .collect();
            assert_eq!(bits(found.as_slice()), bits(&expected), "{len} points");
        }
    }
}

#[test]
fn the_nearest_is_the_first_of_those() {
    for len in LENGTHS {
        for centres in [0, 1, 2, 20] {
            let x: Vec<f64> = floats(7, len);
            let (places, values): (Vec<f64>, Vec<f64>) = (floats(8, centres), floats(9, centres));
            let (value, at) = corpus::nearest(&vector(&x), &vector(&places), &vector(&values));
            for (point, &x) in x.iter().enumerate() {
                let (mut best, mut nearest) = (1e300, None);
                for (k, place) in places.iter().enumerate() {
                    let far = (x - place).abs();
                    if far < best {
                        (best, nearest) = (far, Some(k));
                    }
                }
                let expected = nearest.map_or(0.0, |k| values[k]);
                assert_eq!(value.as_slice()[point].to_bits(), expected.to_bits());
                assert_eq!(at.as_slice()[point], nearest.map_or(-1, |k| k as i64));
            }
        }
    }
}

#[test]
fn what_is_looked_up_on_the_way_is_each_points_own() {
    for len in LENGTHS {
        let members = 37;
        let weights = shares(10, members);
        let next: Vec<usize> = counts(11, members, 250)
            .into_iter()
            .map(|k| k % members)
            .collect();
        let first: Vec<usize> = counts(12, len, 250)
            .into_iter()
            .map(|k| k % members)
            .collect();
        let set = Extent::<Dyn>::new(members);
        let table = |numbers: &[usize]| {
            Table::from_fn_into(Extent::<Dyn>::new(numbers.len()), set, |Dyn(k)| {
                Dyn(numbers[k])
            })
        };
        for limit in [0.0, 3.0, 1e9] {
            let (sums, steps) =
                corpus::chains(&table(&first), &table(&next), &vector(&weights), limit);
            for (point, &first) in first.iter().enumerate() {
                let (mut at, mut sum, mut count) = (first, 0.0, 0);
                while sum < limit && count < 40 {
                    let w = weights[at];
                    sum += w + (w * w + 1.0).sqrt() * (w * 0.5 - 0.25) * (w + 2.0) / (w * w + 3.0)
                        - w * w * w * 0.01
                        + 0.3;
                    at = next[at];
                    count += 1;
                }
                assert_eq!(
                    (sums.as_slice()[point].to_bits(), steps.as_slice()[point]),
                    (sum.to_bits(), count)
                );
            }
        }
    }
}

#[test]
fn truth_values_and_bytes_are_carried() {
    for len in LENGTHS {
        let x: Vec<f32> = shares(13, len).into_iter().map(|x| x as f32).collect();
        let (ever, odd) = corpus::flags(&vector(&x), 300);
        for (point, &x) in x.iter().enumerate() {
            let (mut x, mut was, mut sum) = (x, false, 0_u8);
            for t in 0..300_u32 {
                x = 1.0 - 1.7 * x * x;
                was |= x > 0.99;
                if was {
                    sum = sum.wrapping_add((t & 3) as u8);
                }
            }
            assert_eq!((ever.as_slice()[point], odd.as_slice()[point]), (was, sum));
        }
    }
}

#[test]
fn a_point_is_the_same_alone() {
    for len in LENGTHS {
        let mut x = shares(14, len);
        for far in [false, true] {
            if far && let Some(x) = x.last_mut() {
                // Too far for what the piece bets on.
                *x = 1e9;
            }
            let found = corpus::waves(&vector(&x), 20);
            for (point, x) in x.iter().enumerate() {
                let alone = corpus::waves(&vector(&[*x]), 20);
                assert_eq!(
                    bits(&found.as_slice()[point..=point]),
                    bits(alone.as_slice())
                );
            }
        }
        let x: Vec<f64> = floats(15, len);
        let (value, (by_x, by_a)) = corpus::mean_square_grad(&vector(&x), 0.3, 50);
        let (mut values, mut slopes) = (0.0, 0.0);
        for (point, x) in x.iter().enumerate() {
            let (value, (alone, by_a)) = corpus::mean_square_grad(&vector(&[*x]), 0.3, 50);
            assert_eq!(
                bits(&by_x.as_slice()[point..=point]),
                bits(alone.as_slice())
            );
            values += value;
            slopes += by_a;
        }
        common::close(&[value, by_a], &[values, slopes]);
    }
}

#[test]
fn sums_do_not_depend_on_who_computes_them() {
    for len in LENGTHS.into_iter().chain([20_000]) {
        let x = vector(&shares(16, len));
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().expect("threads");
            pool.install(|| corpus::total(&x, 3.6, 40))
        };
        let found = on(1);
        for threads in [2, 5] {
            let other = on(threads);
            assert_eq!(
                bits(&[found.0, found.1, found.2]),
                bits(&[other.0, other.1, other.2])
            );
        }
        let (mut after, mut way, mut most) = (0.0, 0.0, f64::NEG_INFINITY);
        for &x in x.as_slice() {
            let mut x = x;
            for _ in 0..40 {
                x = 3.6 * x * (1.0 - x);
                way += x;
                most = most.max(x);
            }
            after += x;
        }
        common::close(&[found.0, found.1], &[after, way]);
        assert_eq!(found.2.to_bits(), most.to_bits());
    }
}

#[test]
fn only_who_looks_up_what_is_not_there_panics() {
    let table: Vec<f64> = floats(17, 20);
    for len in LENGTHS {
        let (x, mut lengths) = (shares(18, len), counts(19, len, 20));
        let found = corpus::looked_up(&vector(&x), &vector(&lengths), &vector(&table));
        let expected: Vec<f64> = x
            .iter()
            .zip(&lengths)
            .map(|(&x, &length)| {
                table[..length].iter().fold(x, |y, t| {
                    0.75 * y
                        + t * (y * y + 1.0).sqrt() / (1.0 + y * y)
                        + (0.1 * y - 0.2) * (0.3 * y + 0.5) * 0.125
                        + 0.01 * y
                })
            })
            .collect();
        assert_eq!(bits(found.as_slice()), bits(&expected), "{len} points");
        if let Some(last) = lengths.last_mut() {
            *last = 21;
            let message = panic_of(|| {
                corpus::looked_up(&vector(&x), &vector(&lengths), &vector(&table));
            });
            assert_eq!(message, "index 20 is out of range for `K` of 20 members");
        }
        // Nobody looks at a table without elements.
        let nobody = vec![0; len];
        let found = corpus::looked_up(&vector(&x), &vector(&nobody), &vector(&[]));
        assert_eq!(bits(found.as_slice()), bits(&x));
    }
}

#[test]
fn what_points_add_to_one_element_they_add_up_first() {
    for len in LENGTHS {
        for degree in [0, 1, 5, 40] {
            let (x, t, y) = (shares(1, degree), shares(2, len), shares(3, len));
            let mut slope = vec![0.0; degree];
            for (t, y) in t.iter().zip(&y) {
                let value = x.iter().rev().fold(0.0, |value, x| value * t + x);
                let mut power = -2.0 * (y - value);
                for slope in &mut slope {
                    *slope += power;
                    power *= t;
                }
            }
            let found = corpus::fit_back(&vector(&x), &vector(&t), &vector(&y));
            close(found.as_slice(), &slope);
        }
    }
}

#[test]
fn points_that_do_not_take_part_add_nothing() {
    for len in LENGTHS {
        let (x, y) = (shares(1, len), shares(2, 9));
        let [x, y] = [x, y].map(|x| x.iter().map(|&x| x as f32).collect::<Vec<_>>());
        let (mut most, mut left) = (vec![f32::NEG_INFINITY; 9], vec![0.0; 9]);
        for &x in &x {
            let mut x = x;
            for (j, y) in y.iter().enumerate() {
                left[j] += if x > 0.25 { x } else { 0.0 };
                most[j] = most[j].max(x);
                x *= y;
            }
        }
        let found = corpus::passed(&vector(&x), &vector(&y));
        assert_eq!(found.0.as_slice(), most);
        close_f32(found.1.as_slice(), &left);
    }
}
